"""redelve assess, report, methods, csv, check-method: what newcomers type, and what they mistype."""

import errno
import io
import re
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from redelve.cli.main import VERBS, main
from redelve.methods.contract import METHODS
from redelve.store import Archive
from tests.conftest import Result, RunCommand

pytestmark = pytest.mark.usefixtures("empty_figures")  # but those of `first_time` are drawn
QUICK = ["-q", "-m", "constant,lin-1"]


def write_table(folder: Path) -> Path:
    """Five hundred houses."""
    rows = ["area,rooms,town,price"]
    for n in range(500):
        area, rooms, town = 30 + (n * 37) % 170, 1 + n % 6, ("Bonn", "Oslo", "Rome")[n % 3]
        rows.append(f"{area},{rooms},{town},{3 * area + 20 * rooms + (n * 7919) % 101}")
    path = folder / "houses.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path)


def assess(run_command: RunCommand, table: Path, *words: str) -> Result:
    return run_command("assess", [table.name, "-t", "price", *QUICK, *words], table.parent)


@pytest.fixture(scope="module")
def first_time(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The table, assessed for the first time as commands do it, and what was printed; for tests to copy."""
    table = write_table(tmp_path_factory.mktemp("assessed"))
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr("redelve.cli.assess.ISOLATED", True)
        patch.chdir(table.parent)
        patch.setenv("REDELVE_HOME", str(tmp_path_factory.mktemp("home")))
        code = main(["assess", table.name, "-t", "price", *QUICK])
    return table, Result(out.getvalue(), err.getvalue(), code)


@pytest.fixture
def assessed(first_time: tuple[Path, Result], tmp_path: Path) -> Path:
    """The table in a place of the test's own, beside what came of its first assessment."""
    shutil.copytree(first_time[0].parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / first_time[0].name


def test_a_table_becomes_a_report(first_time: tuple[Path, Result]) -> None:
    table, done = first_time
    assert (done.code, done.err) == (0, "")
    assert "lin-1 is the best of these methods" in done.out
    assert done.out.endswith("Report: houses-assessment/report.html\n")
    page = (table.parent / "houses-assessment" / "report.html").read_text(encoding="utf-8")
    assert "<html" in page
    assert "redelve assess" in page
    records = Archive.open(table.parent / "houses-assessment" / "archive").load().records
    assert not any(record.environment["isolation"].startswith("none") for record in records)


def test_what_was_understood_is_shown_and_can_be_changed(run_command: RunCommand, table: Path) -> None:
    loud = run_command("assess", [table.name, "-t", "price", "-m", "constant"], table.parent)
    assert "price  target, integer" in re.sub(" +", " ", loud.out).replace("price target", "price  target")
    description = table.parent / "houses-assessment" / "houses.toml"
    assert str(Path("houses-assessment") / "houses.toml") in loud.out
    text = description.read_text()
    description.write_text(text.replace('use = "input"\ntype = "nominal"', 'use = "ignore"'))
    again = run_command("assess", [table.name, "-t", "price", "-m", "constant"], table.parent)
    assert "town   ignore" in again.out
    assert description.read_text() != text


def test_the_same_command_again_does_nothing_twice(
    run_command: RunCommand, first_time: tuple[Path, Result], assessed: Path
) -> None:
    archive = assessed.parent / "houses-assessment" / "archive"
    before = {path: path.stat().st_mtime_ns for path in archive.rglob("*.parquet")}
    assert before
    assert assess(run_command, assessed).out == first_time[1].out
    assert {path: path.stat().st_mtime_ns for path in archive.rglob("*.parquet")} == before


def test_more_methods_are_added_to_what_is_there(run_command: RunCommand, assessed: Path) -> None:
    words = [assessed.name, "-t", "price", "-q", "-m", "knn-cv-1"]
    more = run_command("assess", words, assessed.parent)
    assert more.code == 0
    assert more.out.startswith("3 methods")
    page = (assessed.parent / "houses-assessment" / "report.html").read_text()
    assert all(name in more.out and name in page for name in ("constant", "lin-1", "knn-cv-1"))
    report = run_command("report", ["houses-assessment/archive"], assessed.parent)
    assert all(name in report.out for name in ("constant", "lin-1", "knn-cv-1"))


def test_a_method_that_came_to_nothing_does_not_come_back(run_command: RunCommand, assessed: Path) -> None:
    words = [assessed.name, "-t", "price", "-q", "-s", "32", "-l", "A"]
    assert run_command("assess", [*words, "-p", "typo=./kn"], assessed.parent).code == 3
    later = run_command("assess", [*words, "-m", "constant"], assessed.parent)
    assert later.code == 0
    assert "typo" not in later.out
    assert "lin-1" in later.out  # whose losses by A were there


def test_a_second_target_has_a_description_and_a_report_of_its_own(
    run_command: RunCommand, assessed: Path
) -> None:
    folder = assessed.parent / "houses-assessment"
    first = (folder / "houses.toml").read_text()
    changed = re.sub(
        r'(\[columns\.rooms\]\n(#.*\n)*)use = "input"\ntype.*\nrange.*\n', r'\1use = "ignore"\n', first
    )
    assert changed != first
    (folder / "houses.toml").write_text(changed)
    words = [assessed.name, "-t", "town", "-m", "constant", "--cv", "3"]
    done = run_command("assess", words, assessed.parent)
    assert done.code == 0
    assert "/houses/town" in done.out
    assert "rooms  ignore" in done.out  # as its owner said of the first target
    assert (folder / "houses.toml").read_text() == changed
    assert 'target = "town"' in (folder / "houses-town.toml").read_text()
    assert (folder / "report-town.html").exists()
    again = run_command("assess", [*words[:-2], "-q"], assessed.parent)  # as the file now says
    assert "1 task, 3 of 3 jobs done" in again.out
    assert run_command("assess", [assessed.name, *QUICK, "-s", "32"], assessed.parent).code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--cv", "4"], "4 of 4 jobs done"),
        (["--cv", "4x2"], "8 of 8 jobs done"),
        (["--design", "holdout"], "1 of 1 job done"),
        (["--design", "time", "--gap", "20"], "6 of 6 jobs done"),
    ],
)
def test_a_design_by_name(run_command: RunCommand, table: Path, words: list[str], told: str) -> None:
    done = run_command("assess", [table.name, "-t", "price", "-q", "-m", "constant", *words], table.parent)
    assert done.code == 0
    assert told in done.out
    same = run_command("assess", [table.name, "-q", "-m", "constant"], table.parent)
    assert same.out == done.out  # the design stands in the description


def test_a_design_by_name_comes_before_that_of_the_file(run_command: RunCommand, assessed: Path) -> None:
    words = [assessed.name, "-t", "price", "-m", "constant", "--design", "cv"]
    done = run_command("assess", words, assessed.parent)
    assert "10 of 10 jobs done" in done.out
    assert "(this command comes before houses-assessment" in done.out


def test_two_files_of_one_name_are_refused_before_anything_is_written(
    run_command: RunCommand, table: Path
) -> None:
    other = table.parent / "other"
    other.mkdir()
    (other / "houses.csv").write_text("area,price\n" + "".join(f"{n},{n % 7}\n" for n in range(90)))
    words = [table.name, "other/houses.csv", "-t", "price", *QUICK]
    done = run_command("assess", words, table.parent)
    assert done.code == 1
    assert 'two different tables are called "houses": houses.csv and other/houses.csv' in done.err
    assert done.err.count("\n") == 1
    assert not (table.parent / "houses-assessment").exists()
    shutil.copy(table, other)
    assert run_command("assess", words, table.parent).code == 0


def test_a_margin_and_planned_comparisons_can_be_given(run_command: RunCommand, assessed: Path) -> None:
    words = [assessed.name, "-t", "price", *QUICK, "--margin", "1%", "--compare", "constant:lin-1"]
    done = run_command("assess", words, assessed.parent)
    assert (done.code, done.err) == (0, "")
    assert "Only the planned comparison was tested" in done.out
    assert "the margin of 1 %" in " ".join(done.out.split())
    report = run_command("report", ["houses-assessment/archive", "-d", "1e9"], assessed.parent)
    assert "equivalent to lin-1 within the margin of 1e+09" in " ".join(report.out.split())


def test_a_file_of_proben1_will_do(run_command: RunCommand, tmp_path: Path) -> None:
    head = "bool_in=0\nreal_in=2\nbool_out=2\nreal_out=0\n"
    head += "training_examples=60\nvalidation_examples=30\ntest_examples=30\n"
    rows = [f"0.{n % 97:02} 0.{n * 7 % 89:02} {n % 3 // 2} {1 - n % 3 // 2}\n" for n in range(120)]
    (tmp_path / "own1.dt").write_text(head + "".join(rows))
    done = run_command("assess", ["own1.dt", "-m", "constant,knn-cv-1", "-r", "2"], tmp_path)
    assert done.code == 0, done.err
    assert "90 training cases, 30 test cases" in done.out
    assert "V001" in done.out
    (tmp_path / "own1.dt").write_text(head + "".join(rows[:100]))
    assert "own1.dt" in run_command("assess", ["own1.dt", "-q"], tmp_path).err


def test_an_address_of_the_catalogue_will_do(run_command: RunCommand, tmp_path: Path) -> None:
    done = run_command("assess", ["demo/age", "-s", "32,64", *QUICK, "-o", "here"], tmp_path)
    assert done.code == 0, done.err
    assert "/demo/age" in done.out
    assert (tmp_path / "here" / "report.html").exists()


def test_a_program_takes_part(run_command: RunCommand, table: Path) -> None:
    awk = "awk '{ print 0 }' test.0 > cguess.0"
    done = assess(run_command, table, "-p", f'zero=sh -c "{awk}"', "-o", "out")
    assert done.code == 0, done.err
    assert "zero" in done.out


MINE = """from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer


def numbers(frame):
    return frame[["area", "rooms"]]


def make():
    return make_pipeline(FunctionTransformer(numbers), LinearRegression())


class Broken(LogisticRegression):
    def fit(self, X, y):
        raise RuntimeError("no licence")
"""


@pytest.fixture
def two_targets(run_command: RunCommand, table: Path) -> Path:
    """A folder with a number and with classes to predict, and two methods of one's own beside it."""
    (table.parent / "my_own_methods.py").write_text(MINE)
    words = ["-q", "--cv", "2", "-o", "found"]
    for target, methods in (("price", "constant,my_own_methods.py:make"), ("town", "constant")):
        done = run_command("assess", [table.name, "-t", target, "-m", methods, *words], table.parent)
        assert done.code == 0
    return table.parent


def test_methods_of_ones_own_file_are_assessed_and_added_where_they_can_work(
    run_command: RunCommand, two_targets: Path
) -> None:
    shown = run_command("report", ["found", "-t", "/houses/price/std.250"], two_targets)
    assert "my_own_methods is the best of these methods" in shown.out
    done = run_command("add", ["found", "my_own_methods.py:Broken", "-q"], two_targets)
    assert done.code == 3  # all is told, but a method came to nothing
    assert "/houses/price/std.250 is left out: Broken is a classifier" in done.err
    assert "Broken failed in all 2 jobs: RuntimeError: no licence" in done.out
    judged = run_command("report", ["found", "-t", "/houses/town/std.250", "-l", "log_loss"], two_targets)
    told = " ".join(judged.out.split())
    assert "Broken has no results here and could not be judged: its jobs failed." in told


def test_a_metric_that_suits_another_target_names_the_way_out(
    run_command: RunCommand, two_targets: Path
) -> None:
    done = run_command("report", ["found", "-l", "roc_auc_ovr"], two_targets)
    assert done.code == 1
    assert "is for categorical targets" in done.err
    assert "choose another loss, or only tasks that it suits" in done.err


def test_a_loss_that_is_not_always_computed_is_when_it_is_asked_for(
    run_command: RunCommand, table: Path
) -> None:
    done = assess(run_command, table, "-l", "A9N", "-o", "out")
    assert done.code == 0, done.err
    assert "no-guess penalty 9" in done.out
    for code in ("S", "A9N"):
        assert run_command("report", ["out/archive", "-l", code], table.parent).code == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "an argument is missing"),
        (["absent.csv"], "absent.csv"),
        (["houses.csv"], "(-t price on the command line); there are area, rooms, town, price"),
        (["houses.csv", "-t", "prise"], "prise"),
        (["houses.csv", "-t", "price", "-m", "lin1"], 'did you mean "lin-1"?'),
        (["houses.csv", "-t", "town", "-m", "lin-1"], "lin-1"),
        (["houses.csv", "-t", "price", "-s", "33"], "has no training-set size 33"),
        (["houses.csv", "-t", "price", "-s", "many"], 'whole numbers above 0, not "many"'),
        (["houses.csv", "-t", "price", "-r", "0"], 'whole numbers above 0, not "0"'),
        (
            ["houses.csv", "-t", "price", "-l", "Q", "-m", "constant", "-q"],
            'loss Q is for categorical targets, but target "price" is integer; choose another',
        ),
        (
            ["houses.csv", "-t", "price", "-l", "X", "-m", "constant", "-q"],
            'unknown loss "X": known are A, S,',
        ),
        (
            ["houses.csv", "-t", "town", "-l", "A0.2N", "-m", "constant", "-q"],
            "loss A0.2N is for integer, real",
        ),
        (
            ["houses.csv", "-t", "price", "--margin", "two", "-q"],
            'a margin is a number above zero: got "two"',
        ),
        (
            ["houses.csv", "-t", "town", "-m", "constant", "--margin", "1", "-q", "-o", "never"],
            "a margin of 1 is as much as the score or loss can vary, 1",
        ),
        (["houses.csv", "-t", "price", "--compare", "lin-1", "-q"], "pairs of names, as mine:theirs"),
        (
            ["houses.csv", "-t", "price", "-m", "constant,lin-1", "-c", "constant:lin1", "-q"],
            'did you mean "lin-1"?',
        ),
        (["houses.csv", "-t", "price", "-T", "-5"], 'a number above 0, not "-5"'),
        (["houses.csv", "-t", "price", "-M", "lots"], 'a number above 0, not "lot'),
        (["houses.csv", "-t", "price", "-f", "ignore"], "choose leave-out or baseline"),
        (["houses.csv", "-t", "price", "-e", "cloud"], "cloud"),
        (["houses.csv", "-t", "price", "-p", "nameless"], "give a name and a command"),
        (["houses.txt", "-t", "price"], "is no table that can be read"),
        (["nowhere/at-all"], 'dataset "/nowhere" not found: `dls /` lists those there are'),
        (["dmeo/age"], 'dataset "/dmeo" not found (did you mean "demo"?)'),
        (["."], '"." is a folder, and no dataset is called so: give a table in it, a file that ends in .csv'),
        (["../"], '"../" is a folder, and no dataset is called so'),
        (["houses.csv", "-t", "price", "-g", "owner"], "owner"),
    ],
)
def test_mistakes_are_told_in_a_line(
    run_command: RunCommand, table: Path, words: list[str], complaint: str
) -> None:
    (table.parent / "houses.txt").write_text("no table")
    done = run_command("assess", words, table.parent)
    assert done.code in (1, 2)
    assert complaint in done.err
    assert "Traceback" not in done.err
    assert done.err.splitlines()[0].startswith("redelve assess: ")
    assert not (table.parent / "never/archive").exists()
    told = [line for line in done.err.splitlines() if "warning: column" not in line]  # rooms do tell the town
    assert len(told) == (1 if done.code == 1 else 2)


class TestReport:
    def test_a_report_can_be_written_later_and_by_another_loss(
        self, run_command: RunCommand, assessed: Path
    ) -> None:
        words = ["houses-assessment/archive", "-l", "A", "-m", "lin-1,constant", "-o", "later.md"]
        done = run_command("report", words, assessed.parent)
        assert done.code == 0, done.err
        assert "absolute error" in done.out
        assert (assessed.parent / "later.md").exists()

    def test_no_archive_is_no_report(self, run_command: RunCommand, tmp_path: Path) -> None:
        done = run_command("report", ["nothing"], tmp_path)
        assert done.code == 1
        assert "nothing" in done.err


class TestMethods:
    def test_every_method_is_listed_with_what_it_does(self, run_command: RunCommand) -> None:
        from redelve.methods.contract import METHODS

        lines = run_command("methods", []).out.splitlines()
        assert [line.split()[0] for line in lines] == list(METHODS)

    def test_one_method_is_told_in_full(self, run_command: RunCommand) -> None:
        assert len(run_command("methods", ["lin-1"]).out.splitlines()) > 3

    def test_an_unknown_one_is_not(self, run_command: RunCommand) -> None:
        done = run_command("methods", ["lin1"])
        assert done.code == 1
        assert 'did you mean "lin-1"?' in done.err


class TestCheckMethod:
    def test_a_built_in_method_keeps_to_the_contract(self, run_command: RunCommand) -> None:
        done = run_command("check-method", ["constant"])
        assert done.code == 0, done.out

    def test_an_estimator_is_named_by_its_module(self, run_command: RunCommand) -> None:
        done = run_command("check-method", ["sklearn.linear_model:Absent"])
        assert done.code == 2
        assert "give file.py:function or module:function" in done.err

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["broken.py:make"], 'can\'t load "make" from broken.py (SyntaxError'),
            (["broken:make"], 'can\'t load "make" from broken (SyntaxError'),
            ([":make"], 'can\'t load "make" from  (ValueError: Empty module name)'),
            (["-p", "prog 'unclosed"], 'option "-p" needs a command, not "prog \'unclosed": No closing'),
        ],
    )
    def test_what_cannot_be_loaded_is_told(
        self,
        run_command: RunCommand,
        tmp_path: Path,
        words: list[str],
        told: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (tmp_path / "broken.py").write_text("def make(:\n")
        monkeypatch.syspath_prepend(tmp_path)
        done = run_command("check-method", words, tmp_path)
        assert done.code == 2
        assert done.err.startswith(f"redelve check-method: {told}")

    def test_a_file_holds_the_method(
        self, run_command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "held_here.py").write_text("def make():\n    return 'constant'\n")
        monkeypatch.setattr(sys, "path", [*sys.path])
        assert run_command("check-method", ["held_here.py:make"], tmp_path).code == 0

    def test_nothing_given_is_nothing_to_check(self, run_command: RunCommand) -> None:
        assert "no method is given" in run_command("check-method", []).err


def test_csv_writes_a_line_of_names_and_one_for_each_case(run_command: RunCommand) -> None:
    lines = run_command("csv", ["demo"]).out.splitlines()
    assert lines[0] == "SEX,AGE,SIBLINGS,INCOME,COLOUR"
    assert len(lines) == 2049
    assert 'dataset "/nowhere" not found' in run_command("csv", ["nowhere"]).err


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "-h"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: redelve {verb}")


def test_a_method_that_cannot_be_loaded_does_not_hide_the_others(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHODS._items, "broken", "nowhere_at_all:X")
    listed = run_command("methods", [])
    assert listed.code == 0
    assert 'method "broken" cannot be loaded from nowhere_at_all:X' in listed.out
    assert "lin-1" in listed.out


def test_parts_on_machines_apart_are_merged_into_the_whole(run_command: RunCommand, tmp_path: Path) -> None:
    words = ["demo/age/std.256", *QUICK]
    counts = []
    for part in (1, 2, 3):
        done = run_command("assess", [*words, "-o", f"part{part}", "--shard", f"{part}/3"], tmp_path)
        assert f"Part {part}/3 is done: " in done.out
        assert not list((tmp_path / f"part{part}").glob("*.html"))
        counts.append(len(Archive.open(tmp_path / f"part{part}").load().records))
    run_command("assess", [*words, "-o", "whole"], tmp_path)
    whole = {one.digest for one in Archive.open(tmp_path / "whole").load().records}
    assert sum(counts) == len(whole)
    assert max(counts) - min(counts) <= 1
    ours = Archive.open(tmp_path / "part1")
    for part in (2, 3):
        ours.merge(Archive.open(tmp_path / f"part{part}"))
    assert {one.digest for one in ours.load().records} == whole


def test_a_part_of_a_table_s_jobs_has_nothing_to_do_with_missing_values(
    run_command: RunCommand, tmp_path: Path
) -> None:
    rows = "".join(f"{number % 7},{-999 if number % 9 == 0 else number},{number}\n" for number in range(40))
    (tmp_path / "d.csv").write_text(f"a,b,y\n{rows}")
    words = ["d.csv", "-t", "y", "-m", "constant", "-q", "--missing", "-999", "--shard", "1/2"]
    done = run_command("assess", words, tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Part 1/2 is done: ")


@pytest.mark.parametrize("part", ["0/3", "4/3", "2", "a/b", "1/0"])
def test_what_is_no_part_is_refused(run_command: RunCommand, tmp_path: Path, part: str) -> None:
    refused = run_command("assess", ["demo/age/std.256", *QUICK, "--shard", part], tmp_path)
    assert refused.code == 1
    assert "give which part of how many" in refused.err


def test_a_finished_assessment_on_a_disk_that_can_only_be_read_is_told_again(
    run_command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["demo/age/std.256", *QUICK, "-o", "out"]
    first = run_command("assess", words, tmp_path)

    def refused(path: object, *_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr("redelve.store.layout.locked", refused)
    monkeypatch.setattr("redelve.store.look_files.locked", refused)
    monkeypatch.setattr("redelve.assessment.Assessment.report", lambda self, path, command: refused(path))
    again = run_command("assess", words, tmp_path)
    assert again.code == 0
    assert again.out == first.out.replace(
        "Report: out/report.html",
        "No report was written: out/report.html: the disk can only be read: choose another place",
    )
    more = run_command("assess", [*words, "--runs", "2"], tmp_path)
    assert (more.code, more.out) == (1, "")
    assert "the disk can only be read" in more.err


def test_a_program_with_an_open_quotation_is_refused(run_command: RunCommand, tmp_path: Path) -> None:
    refused = run_command("assess", ["demo/age/std.256", "-p", "x='unclosed"], tmp_path)
    assert refused.code == 2
    assert "x='unclosed\" is no program: no closing quotation" in refused.err
