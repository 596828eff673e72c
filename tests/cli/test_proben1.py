"""A user's own .dt file from the command line: what is refused, what is only said; redelve proben1."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from redelve.data.proben1.dt_files import read_dt
from redelve.errors import FormatError
from tests.conftest import RunCommand
from tests.data.proben1.genuine import FOLDER, needs_genuine

HEAD = (
    "bool_in=0\nreal_in=2\nbool_out=2\nreal_out=0\n"
    "training_examples=60\nvalidation_examples=30\ntest_examples=30\n"
)
ROWS = tuple(f"0.{n % 97:02} 0.{n * 7 % 89:02} {n % 3 // 2} {1 - n % 3 // 2}\n" for n in range(120))
GOOD = HEAD + "".join(ROWS)
HUGE = "9" * 400


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def outputs(choose: Callable[[int], str], header: str = HEAD) -> str:
    """The file with other outputs."""
    return header + "".join(f"{' '.join(row.split()[:2])} {choose(n)}\n" for n, row in enumerate(ROWS))


def inputs(choose: Callable[[str], str]) -> str:
    """The file with other inputs."""
    return HEAD + "".join(f"{choose(row)} {' '.join(row.split()[2:])}\n" for row in ROWS)


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "own1.dt: the file is empty"),
    "blank": ("\n \n", "the file is empty"),
    "a table": ("a,b\n1,2\n", "line 1: the header lacks bool_in, real_in"),
    "unknown key": (
        changed("real_in", "real_im"),
        'line 2: unknown header key "real_im" (did you mean "real_in"?)',
    ),
    "missing key": (changed("real_in=2\n", ""), "the header lacks real_in"),
    "repeated key": (changed("real_in=2\n", "real_in=2\n" * 2), "line 3: real_in is given twice"),
    "fractional count": (
        changed("=60", "=60.5"),
        'expected a whole number for training_examples but got "60.5"',
    ),
    "negative count": (changed("=60", "=-60"), 'expected a whole number for training_examples but got "-60"'),
    "huge count": (changed("=60", "=99999999999"), "but there are 120 lines of data"),
    "absurd count": (
        changed("=60", f"={HUGE}"),
        'expected a whole number for training_examples but got "999',
    ),
    "huge width": (changed("real_in=2", "real_in=999999999999"), "line 8: expected 1000000000001 numbers"),
    "no inputs": (changed("real_in=2", "real_in=0"), "there are no inputs"),
    "no training": (
        changed("=60", "=0").replace("test_examples=30", "test_examples=90"),
        "nothing to learn from",
    ),
    "no test": (changed("=60", "=90").replace("test_examples=30", "test_examples=0"), "nothing to assess"),
    "cut off": (
        HEAD + "".join(ROWS[:100]),
        "line 107: the header tells of 60 + 30 + 30 = 120 examples, but there",
    ),
    "too long": (GOOD + ROWS[0], "line 128: the header tells of"),
    "NaN": (changed(ROWS[3], "NaN 0.1 0 1\n"), 'line 11: input 1 is "NaN": a .dt file has no missing values'),
    "question mark": (changed(ROWS[3], "0.1 ? 0 1\n"), 'line 11: input 2 is "?"'),
    "infinite": (changed(ROWS[3], "0.1 0.2 inf 1\n"), 'line 11: output 1 is "inf"'),
    "too large": (changed(ROWS[3], "1e999 0.2 0 1\n"), 'line 11: input 1 is "1e999"'),
    "decimal comma": (changed(ROWS[3], "0,5 0.2 0 1\n"), 'line 11: input 1 is "0,5"'),
    "extra column": (changed(ROWS[3], f"0.3 {ROWS[3]}"), "line 11: expected 4 numbers"),
    "extra columns everywhere": (HEAD + "".join(f"0.3 {row}" for row in ROWS), "line 8: expected 4 numbers"),
    "short line": (changed(ROWS[3], "0.3 0 1\n"), "line 11: expected 4 numbers"),
    "Latin-1": (f"# café\n{GOOD}".encode("latin-1"), "line 1: byte 0xe9 is neither ASCII nor UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), "NUL byte: this is not a text file"),
    "binary": (bytes(range(256)), "NUL byte"),
    "constant inputs": (inputs(lambda _: "0.5 0.5"), "every input is constant in the training data"),
    "one class in training": (
        outputs(lambda n: "1 0" if n < 90 else "0 1"),
        "all 90 training and validation examples have the outputs 1 0: shuffle the examples",
    ),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("command", ["assess", "proben1"])
def test_a_bad_file_is_told_in_a_line(
    run_command: RunCommand, tmp_path: Path, command: str, what: str
) -> None:
    """Exit code 1 and one line, in standard error or, for `check`, in what it prints."""
    content, complaint = BAD[what]
    (tmp_path / "own1.dt").write_bytes(content if isinstance(content, bytes) else content.encode())
    words = ["own1.dt", "-m", "constant"] if command == "assess" else ["check", "own1.dt"]
    done = run_command(command, words, tmp_path)
    assert done.code == 1
    said = done.err or done.out
    first = said.splitlines()[0]
    assert complaint in first
    assert "own1" in first
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) == (1 if done.err else 0)
    assert not (tmp_path / "own1-assessment").exists()


@pytest.mark.parametrize("what", ["empty", "huge count", "huge width", "no inputs"])
def test_no_memory_is_taken_for_what_a_header_claims(tmp_path: Path, what: str) -> None:
    (tmp_path / "own1.dt").write_text(str(BAD[what][0]))
    tracemalloc.start()
    with pytest.raises(FormatError):
        read_dt(tmp_path / "own1.dt")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_check_tells_every_violation(run_command: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "own1.dt").write_text(changed(ROWS[3], "NaN x 0 1\n"))
    done = run_command("proben1", ["check", "own1.dt"], tmp_path)
    assert (done.code, done.err) == (1, "")
    assert [line.partition(" is ")[0] for line in done.out.splitlines()] == [
        "own1.dt, line 11: input 1",
        "own1.dt, line 11: input 2",
    ]


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (inputs(lambda row: f"0.5 {row.split()[1]}"), "in1 is constant in the training data"),
        (
            outputs(
                lambda n: ("1 0 0", "0 1 0")[n % 2] if n < 100 else "0 0 1",
                HEAD.replace("bool_out=2", "bool_out=3"),
            ),
            "the training set (60 examples) has no case of class c3: nothing can be learnt of it there",
        ),
        (
            changed(ROWS[3], "1.5 0.2 0 1\n"),
            "input values outside 0…1: 1, the first 1.5 of input 1 in line 11",
        ),
    ],
)
def test_what_can_be_worked_with_is_only_said(
    run_command: RunCommand, tmp_path: Path, text: str, remark: str
) -> None:
    """Constant inputs and classes without training cases are remarks, as PROBEN1's own files have them."""
    (tmp_path / "own1.dt").write_text(text)
    checked = run_command("proben1", ["check", "own1.dt"], tmp_path)
    assert (checked.code, checked.err) == (0, "")
    assert remark in checked.out


def test_a_class_missing_from_training_is_a_validity_note(run_command: RunCommand, tmp_path: Path) -> None:
    """Methods work all the same, and the report says what they could not learn."""
    head = HEAD.replace("bool_out=2", "bool_out=3")
    text = outputs(lambda n: ("1 0 0", "0 1 0")[n % 2] if n < 100 else "0 0 1", head)
    (tmp_path / "own1.dt").write_text(text)
    done = run_command("assess", ["own1.dt", "-q", "-m", "constant,knn-cv-1", "-r", "2"], tmp_path)
    assert done.code == 0, done.err
    page = (tmp_path / "own1-assessment/report.html").read_text(encoding="utf-8")
    assert "has no case of class c3" in page
    assert "V016" in page
    assert "Runs with different seeds" in page
    assert "min, median, max" in done.out


class TestExport:
    def test_a_task_of_the_catalogue_is_written_in_three_orders(
        self, run_command: RunCommand, tmp_path: Path
    ) -> None:
        done = run_command("proben1", ["export", "demo/age", "-o", "made"], tmp_path)
        assert done.code == 0, done.err
        names = sorted(path.name for path in (tmp_path / "made").iterdir())
        assert names == [f"demo-age{number}.{end}" for number in (1, 2, 3) for end in ("dt", "txt")]
        assert "1024 + 512 + 512 examples" in done.out
        assert "input 3: INCOME" in (tmp_path / "made/demo-age1.txt").read_text(encoding="utf-8")
        again = run_command("proben1", ["check", *(f"made/demo-age{n}.dt" for n in (1, 2, 3))], tmp_path)
        assert again.code == 0, again.out

    def test_a_table_an_instance_and_a_file_will_do(self, run_command: RunCommand, tmp_path: Path) -> None:
        rows = [f"{n * 37 % 101},{('a', 'b', 'c')[n % 3]},{n * 7 % 2}" for n in range(200)]
        (tmp_path / "own.csv").write_text("\n".join(["x,kind,y", *rows]) + "\n")
        words = ["export", "own.csv", "-t", "y", "-n", "1", "-o", "own1.dt", "-r", "nominal=binary"]
        done = run_command("proben1", words, tmp_path)
        assert "own1.dt and own1.txt: 3 inputs, 2 outputs, 100 + 50 + 50 examples" in done.out, done.err
        done = run_command("proben1", ["export", "own1.dt", "-n", "0", "-o", "again"], tmp_path)
        assert "own1-class0.dt" in done.out
        done = run_command("proben1", ["export", "demo/age/std.128", "-i", "1"], tmp_path)
        assert "demo-age-instance1.dt" in done.out
        assert "85 + 43 + 128 examples" in done.out

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            ([], "an argument is missing"),
            (["nonsense"], 'unknown action "nonsense"'),
            (["names", "x"], "too many arguments"),
            (["check"], "an argument is missing: a .dt file"),
            (["check", "absent.dt"], "absent.dt"),
            (["export"], "an argument is missing: what to export"),
            (["export", "nowhere/at-all"], 'dataset "/nowhere" not found'),
            (["export", "demo"], "several prototasks: give one, as in /demo/"),
            (["export", "demo/age", "-i", "0"], "several training-set sizes"),
            (["export", "demo/age/std.128", "-i", "99"], "has the instances 0 to"),
            (["export", "demo/age/std.128", "-i", "0", "-n", "1"], "contradict each other"),
            (["export", "demo/age", "-n", "one"], 'needs whole numbers, as in 1,2,3: got "one"'),
            (["export", "demo/age", "-r", "colour=red"], '"colour=red" is no rule'),
            (["export", "demo/age", "-r", "ordinal=steps"], 'bad rule ordinal="steps"'),
            (["export", "demo/age", "-o", "one.dt"], "is one file, but several are to be written"),
            (["download", "glass1"], "give the address of a mirror"),
            (["download", "-s", "https://nowhere.invalid"], "which file"),
            (["download", "glas1", "-s", "https://nowhere.invalid"], 'did you mean "glass1"?'),
        ],
    )
    def test_mistakes_are_told_in_a_line(
        self, run_command: RunCommand, tmp_path: Path, words: list[str], complaint: str
    ) -> None:
        done = run_command("proben1", words, tmp_path)
        assert done.code in (1, 2)
        assert complaint in done.err
        assert done.err.startswith("redelve proben1: ")
        assert not list(tmp_path.glob("*.dt"))


def test_the_problems_are_listed(
    run_command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDELVE_PROBEN1", str(tmp_path))
    lines = run_command("proben1", ["names"]).out.splitlines()
    assert len(lines) == 15
    assert lines[6].split()[:3] == ["glass", "classification", "9"]
    assert lines[14].endswith("Function of the thyroid (not at hand)")


def test_a_damaged_file_does_not_stop_the_list(
    run_command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDELVE_PROBEN1", str(tmp_path))
    (tmp_path / "glass2.dt").write_text("bool_in=0\n")
    done = run_command("proben1", ["names"])
    assert done.code == 0
    told = f"Types of glass (can't be used: {tmp_path}/glass2.dt: its content (SHA-256 "
    assert told in done.out.splitlines()[6]
    assert len(done.out.splitlines()) == 15


@needs_genuine
class TestGenuine:
    def test_files_at_hand_are_listed(self, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REDELVE_PROBEN1", str(FOLDER))
        assert "(glass1,2,3 at hand)" in run_command("proben1", ["names"]).out

    @pytest.mark.parametrize("by_name", [True, False])
    def test_glass1_is_assessed_by_its_name_or_its_path(
        self, run_command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_name: bool
    ) -> None:
        monkeypatch.setenv("REDELVE_PROBEN1", str(FOLDER))
        name = "proben1:glass1" if by_name else str(FOLDER / "glass1.dt")
        done = run_command("assess", [name, "-q", "-m", "constant,knn-cv-1", "-o", "out"], tmp_path)
        assert done.code == 0, done.err
        assert "/glass1/class" in done.out
        page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
        assert "taken from the PROBEN1 benchmark set" in page
        assert "Errors as PROBEN1 measures them" in page
