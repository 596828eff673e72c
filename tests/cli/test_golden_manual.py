"""The examples of DELVE's manual (sections 1.3, 3.1, 4, 7 and appendix C), and our own layout to the letter.

Scanning has spoilt the columns of the manual's text, so its lines are compared with single blanks and without
empty lines. The texts in `golden/` are compared as they are; `golden/regenerate.py` makes them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from redelve.data.catalogue import CATALOGUE
from redelve.model.designs import random_order
from tests.cli.golden import transcripts
from tests.cli.golden.regenerate import FOLDER, SCENES
from tests.cli.golden.transcripts import Transcript
from tests.cli.workbench import Workbench, awk, under
from tests.conftest import RunCommand, make_root, write_tree


def collapsed(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line]


# Our own layout


@pytest.mark.parametrize("name", SCENES)
def test_output_is_as_it_was(name: str, bench: Workbench) -> None:
    assert SCENES[name](bench) == (FOLDER / f"{name}.txt").read_text()


def test_every_golden_text_has_its_scene() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(SCENES)


# dinfo and minfo

DEMO = """
Dataset: /demo
Origin: artificial
Usage: development
Order: uninformative
Number of attributes: 5
Prototasks:
    age
    colour
    income
    sex
    siblings
"""

ALL_OF_DEMO = """
Dataset: /demo
Origin: artificial
Usage: development
Order: uninformative
Number of attributes: 5
Attributes:
  # name      c/u range      description
  1 SEX       u  male female  Sex of the person
  2 AGE       u  [0,Inf)      Age of the person in years
  3 SIBLINGS u  0..Inf        Number of siblings the person has
  4 INCOME    u  [0,Inf)      The person's annual income (dollars)
  5 COLOUR    u  pink blue red green purple
                          The person's favourite colour

Prototasks:
  age
  colour
  income
  sex
  siblings
"""

AGE = """
Prototask: /demo/age
Origin: artificial
Cases: all
Order: retain
Test set size: 1024
Training set sizes: 32 64 128 256 512
Test set selection: hierarchical
Maximum number of instances: 8
Inputs:
  # name      c/u range      description
  1 SEX       u male female  Sex of the person
  3 SIBLINGS  u 0..Inf       Number of siblings the person has
  4 INCOME    u [0,Inf)      The person's annual income (dollars)
  5 COLOUR    u pink blue red green purple
                               The person's favourite colour
Targets:
  # name      c/u range      description
  2 AGE       u [0,Inf)      Age of the person in years
Tasks:
  std.32
  std.64
  std.128
  std.256
  std.512
"""

AGE_128 = """
Task: /demo/age/std.128
Training set size: 128
Inputs:
  col attr name      type  relevance  def coding  options
  1   1  SEX         binary  nlmh      -1/+1      -
  2   3  SIBLINGS    integer nlmh      nm-abs     -
  3   4  INCOME       real    nlmh      nm-abs     -
  4   5  COLOUR:pink  nominal nlmh      1-of-n     -
  5   5  COLOUR:blue                ...
  6   5  COLOUR:red                ...
  7   5  COLOUR:green                ...
  8   5  COLOUR:purple                ...
Targets:
  col attr name      type  noise-lev def coding  options
  1   2  AGE         real    nlmh      nm-abs     -
"""

AGE_256_AS_USED = """
Task: /demo/age/std.256
Training set size: 256
Inputs:
  col attr name      type  relevance  coding  options
    1   1  SEX       binary  nlmh     -1/+1   -
    2   3  SIBLINGS  integer nlmh     nm-abs  -
    3   4  INCOME     real    nlmh     nm-abs  -
    4   5  COLOUR:pink  nominal nlmh     1-of-n  -
    5   5  COLOUR:blue                ...
    6   5  COLOUR:red                ...
    7   5  COLOUR:green                ...
    8   5  COLOUR:purple                ...
Targets:
  col attr name      type  relevance  coding  options
    1   2  AGE       real    nlmh     nm-abs  -
"""

DEMO_AS_USED = """
Dataset: /demo
Origin: artificial
Usage: development
Order: uninformative
Number of attributes: 5
Prototasks:
    age
    income
"""


class TestInformation:
    @pytest.mark.parametrize(
        ("argv", "expected"),
        [
            (["/demo"], DEMO),  # section 1.3, appendix C
            (["-a", "/demo"], ALL_OF_DEMO),  # figure 3.2
            (["/demo/age"], AGE),  # figure 4.2
            (["/demo/age/std.128"], AGE_128),  # figures 4.3 and 7.2
            (["-q", "/demo"], "dataset origin usage order number-of-attributes prototasks"),
            (["-t", "-k", "prototasks", "/demo"], "age colour income sex siblings"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_dinfo(self, argv: list[str], expected: str, run_command: RunCommand) -> None:
        result = run_command("dinfo", argv)
        assert collapsed(result.out) == collapsed(expected)
        assert (result.err, result.code) == ("", 0)

    @pytest.mark.parametrize("argv", [["."], []])
    def test_dinfo_in_a_directory_with_the_dpath(self, argv: list[str], bench: Workbench) -> None:
        here = bench.root / "data" / "demo"
        here.mkdir()
        assert collapsed(bench.do("dinfo", *argv, cwd=here).out) == collapsed(DEMO)

    def test_dinfo_takes_the_method_from_an_mpath(self, bench: Workbench) -> None:
        bench.write({"methods/lin-1/demo/age/std.128/": ""})
        assert collapsed(bench.do("dinfo", "/lin-1/demo/age/std.128").out) == collapsed(AGE_128)
        here = bench.method("lin-1") / "demo/age/std.128"
        assert collapsed(bench.do("dinfo", cwd=here).out) == collapsed(AGE_128)

    def test_the_delve_path_can_be_asked_for(self, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
        others = [write_tree(bench.root.parent / f"delve-{n}", {"data/": "", "methods/": ""}) for n in "ab"]
        monkeypatch.setenv("DELVE_PATH", os.pathsep.join(map(str, others)))
        shown = bench.do("dinfo", "-t", "-k", "delve_path", "/", cwd=bench.root.parent).out
        assert shown.split() == list(map(str, others))

    def test_minfo_in_a_task_directory(self, bench: Workbench) -> None:
        folder = bench.task("mymethod", "demo/age/std.256")
        assert collapsed(bench.do("minfo", cwd=folder).out) == collapsed(AGE_256_AS_USED)

    @pytest.mark.parametrize("argv", [["/lin-1/demo"], ["."], []])
    def test_minfo_tells_only_what_the_method_was_run_on(self, argv: list[str], bench: Workbench) -> None:
        bench.write({"methods/lin-1/demo/age/": "", "methods/lin-1/demo/income/": ""})
        here = bench.method("lin-1") / "demo"
        assert collapsed(bench.do("minfo", *argv, cwd=here).out) == collapsed(DEMO_AS_USED)

    def test_minfo_for_programs(self, bench: Workbench) -> None:
        bench.write({"methods/lin-1/demo/age/": "", "methods/lin-1/demo/income/": ""})
        assert bench.do("minfo", "-t", "-k", "prototasks", "/lin-1/demo").out == "age income\n"


# Progress

MGENDATA = """
  segmenting cases...
  splitting test inputs and targets...
  encoding instance 0 training data...
  encoding instance 0 test inputs...
  encoding instance 0 test targets...
  encoding instance 1 training data...
  encoding instance 1 test inputs...
  encoding instance 1 test targets...
  encoding instance 2 training data...
  encoding instance 2 test inputs...
  encoding instance 2 test targets...
  encoding instance 3 training data...
  encoding instance 3 test inputs...
  encoding instance 3 test targets...
"""

MLOSS = """
  decoding cguess.S.0...
  decoding targets.0...
  creating loss.S.0...
  decoding cguess.S.1...
  decoding targets.1...
  creating loss.S.1...
  decoding cguess.S.2...
  decoding targets.2...
  creating loss.S.2...
  decoding cguess.S.3...
  decoding targets.3...
  creating loss.S.3...
"""

DGENPROTO = """
generating: /usr/local/lib/delve/data/demo/age/Prototask.data
  extracting cases...
  creating file...
generating: /usr/local/lib/delve/data/demo/colour/Prototask.data
  extracting cases...
  creating file...
generating: /usr/local/lib/delve/data/demo/income/Prototask.data
  extracting cases...
  creating file...
generating: /usr/local/lib/delve/data/demo/sex/Prototask.data
  extracting cases...
  creating file...
generating: /usr/local/lib/delve/data/demo/siblings/Prototask.data
  extracting cases...
  creating file...
"""

DGENORDER = """
generating: /data/people/height/Random-order
  counting cases...
  creating file...
"""


class TestProgress:
    """Progress goes to standard error, line by line; standard output stays free for results."""

    def test_mgendata_here(self, bench: Workbench) -> None:
        bench.do("mgendir", "-q", "demo/age/std.256", cwd=bench.method("mymethod"))
        result = bench.do("mgendata", cwd=bench.method("mymethod") / "demo/age/std.256")
        assert (result.err, result.out) == (MGENDATA.lstrip("\n"), "")

    def test_mgendata_elsewhere(self, bench: Workbench) -> None:
        bench.do("mgendir", "-q", "demo/age/std.256", cwd=bench.method("lin-1"))
        result = bench.do("mgendata", "./demo/age/std.256", cwd=bench.method("lin-1"))
        assert (result.err, result.out) == (f"./demo/age/std.256{MGENDATA}", "")

    def test_mloss(self, bench: Workbench) -> None:
        folder = bench.task("mymethod", "demo/age/std.256")
        awk('{ print "0.0" }', folder, "cguess.S.{}", "test.{}")
        result = bench.do("mloss", "-l", "S", cwd=folder)
        assert (result.err, result.out) == (MLOSS.lstrip("\n"), "")

    def test_dgenproto(
        self, tmp_path: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        archive = make_root(tmp_path / "usr/local/lib/delve", under("data/demo", CATALOGUE["demo"]()))
        monkeypatch.setenv("DELVE_PATH", str(archive))
        before = (archive / "data/demo/age/Prototask.data").read_text()
        (archive / "data/demo/age/Prototask.data").unlink()
        result = run_command("dgenproto", ["-i", str(archive / "data/demo")], tmp_path)
        assert (result.out, result.code) == ("", 0)
        assert result.err.replace(str(tmp_path), "") == DGENPROTO.lstrip("\n")
        assert (archive / "data/demo/age/Prototask.data").read_text() == before

    @pytest.mark.parametrize("command", ["mgendata", "mloss"])
    def test_quiet(self, command: str, bench: Workbench) -> None:
        folder = bench.task("mymethod", "demo/age/std.256")
        awk('{ print "0.0" }', folder, "cguess.{}", "test.{}")
        result = bench.do(command, "-q", cwd=folder)
        assert (result.err, result.out) == ("", "")


class TestNewPrototask:
    """Section 4.4: from an empty directory to a prototask."""

    SPEC = (
        "Cases: no missing\nInputs: SEX AGE\nOrder: Random-order\nOrigin: natural\nTargets: HEIGHT\n"
        "Test-Set-Size: 10\nTraining-Set-Sizes: 5 10\nTest-Set-Selection: common\n"
        "Maximum-Number-Of-Instances: 8\n"
    )
    PRIOR = "1 NLMH binary\n2 NLMH integer\n3 NLMH real\n"

    @pytest.fixture
    def prototask(self, bench: Workbench) -> Path:
        attributes = "1 SEX u m f\n2 AGE u 0..120 ?\n3 HEIGHT u (0,Inf)\n"
        cases = "".join(f"{'mf'[n % 2]} {n if n != 9 else '?'} {150 + n / 4:.2f}\n" for n in range(1, 42))
        spec = f"Origin: natural\nUsage: ?\nOrder: informative\nAttributes:\n{attributes}"
        bench.write({"data/people/Dataset.spec": spec, "data/people/Dataset.data": cases})
        folder = bench.root / "data/people/height"
        folder.mkdir()
        write_tree(folder, {"Prototask.spec": self.SPEC, "std.prior": self.PRIOR})
        return folder

    def test_dgenorder(self, bench: Workbench, prototask: Path) -> None:
        result = bench.do("dgenorder", cwd=prototask)
        assert result.err.replace(str(bench.root), "") == DGENORDER.lstrip("\n")
        order = [int(line) for line in (prototask / "Random-order").read_text().split()]
        assert order == random_order(40).tolist()

    def test_dgenorder_takes_true_paths_of_any_kind(self, bench: Workbench, prototask: Path) -> None:
        for path, cwd in ((str(prototask), bench.root), ("people/height", bench.root / "data")):
            bench.do("dgenorder", "-q", path, cwd=cwd)
            assert (prototask / "Random-order").is_file()
            (prototask / "Random-order").unlink()
        assert "true path" in bench.fail("dgenorder", "/people/height")
        assert "true path" in bench.fail("dgenorder", "data/people")

    def test_dcheck_finds_nothing_wrong(self, bench: Workbench, prototask: Path) -> None:
        bench.do("dgenorder", "-q", cwd=prototask)
        assert bench.do("dcheck", cwd=prototask).out == "/people/height: no problems found\n"

    def test_dgenproto_puts_the_chosen_cases_into_the_order(self, bench: Workbench, prototask: Path) -> None:
        bench.do("dgenorder", "-q", cwd=prototask)
        result = bench.do("dgenproto", cwd=prototask)
        assert collapsed(result.err.replace(str(bench.root), "")) == [
            "generating: /data/people/height/Prototask.data",
            "extracting cases...",
            "creating file...",
        ]
        known = [
            line for line in (prototask.parent / "Dataset.data").read_text().split("\n") if "?" not in line
        ]
        order = [int(line) for line in (prototask / "Random-order").read_text().split()]
        data = (prototask / "Prototask.data").read_text().splitlines()
        assert data == [known[number - 1] for number in order]

    def test_dgenproto_goes_on_after_errors_if_told_to(self, bench: Workbench, prototask: Path) -> None:
        write_tree(prototask.parent / "age", {"Prototask.spec": "Cases: all\n"})
        assert "age" in bench.run("dgenproto", ["-q"], prototask.parent).err
        bench.do("dgenorder", "-q", cwd=prototask)
        result = bench.run("dgenproto", ["-q", "-i"], prototask.parent)
        assert result.code == 1
        assert "1 prototask data file could not be made" in result.err
        assert (prototask / "Prototask.data").is_file()

    def test_dgenproto_speaks_only_of_what_it_makes(self, bench: Workbench, prototask: Path) -> None:
        """All datasets of the directory, but none that only another active directory has."""
        bench.do("dgenorder", "-q", cwd=prototask)
        shown = bench.do("dgenproto", "data").err
        assert [line for line in shown.splitlines() if line.startswith("generating")] == [
            f"generating: {prototask}/Prototask.data"
        ]
        assert "no prototask directory" in bench.fail("dgenproto", "data/demo")


# mstats

TUTORIAL_ONE = """
/mymethod/demo/age/std.256
Loss: S (Squared error)

	Raw value	Standardized
Estimated expected loss:	520.43	1.06461
Standard error for estimate:	41.7	0.0853028
SD from training sets & stochastic training:	49.1004	0.100441
SD from test cases & stoch. pred. & interactions:	1078.63	2.20648

Based on 4 disjoint training sets, each containing 256 cases and
4 disjoint test sets, each containing 256 cases.
"""

TUTORIAL_TWO = """
/mymethod/demo/age/std.256
Loss: S (Squared error)

	Raw value	Standardized
Estimated expected loss for mymethod:	520.43	1.06461
Estimated expected loss for /lin-1:	397.82	0.813792
Estimated expected difference:	122.61	0.250815
Standard error for difference estimate:	26.9735	0.0551778
SD from training sets & stochastic training:	44.5182	0.0910678
SD from test cases & stoch. pred. & interactions:	487.52	0.997285

Significance of difference (t-test), p = 0.0199425

Based on 4 disjoint training sets, each containing 256 cases and
4 disjoint test sets, each containing 256 cases.
"""

ABSOLUTE_ONE = """
/lin-1/demo/age/std.128
Loss: A (Absolute error)

	Raw value	Standardized
Estimated expected loss:	15.0988	0.893246
Standard error for estimate:	0.667719	0.0395023
SD from training sets & stochastic training:	1.49368	0.0883662
SD from test cases & stoch. pred. & interactions:	13.0755	0.773547

Based on 8 disjoint training sets, each containing 128 cases and
8 disjoint test sets, each containing 128 cases.
"""

ABSOLUTE_TWO = """
/lin-1/demo/age/std.128
Loss: A (Absolute error)

	Raw value	Standardized
Estimated expected loss for lin-1:	15.0988	0.893246
Estimated expected loss for /knn-cv-1:	13.2854	0.785965
Estimated expected difference:	1.8134	0.107281
Standard error for difference estimate:	0.350707	0.0207478
SD from training sets & stochastic training:	0.505922	0.0299304
SD from test cases & stoch. pred. & interactions:	9.65323	0.571086

Significance of difference (t-test), p = 0.00129409

Based on 8 disjoint training sets, each containing 128 cases and
8 disjoint test sets, each containing 128 cases.
"""

SQUARED_ONE = """
/lin-1/demo/age/std.128
Loss: S (Squared error)

	Raw value	Standardized
Estimated expected loss:	400.73	0.819745
Standard error for estimate:	28.6111	0.0585277
SD from training sets & stochastic training:	40.898	0.0836622
SD from test cases & stoch. pred. & interactions:	790.029	1.61611

Based on 8 disjoint training sets, each containing 128 cases and
8 disjoint test sets, each containing 128 cases.
"""

SQUARED_TWO = """
/lin-1/demo/age/std.128
Loss: S (Squared error)

	Raw value	Standardized
Estimated expected loss for lin-1:	400.73	0.819745
Estimated expected loss for /knn-cv-1:	368.003	0.752798
Estimated expected difference:	32.727	0.0669473
Standard error for difference estimate:	14.075	0.0287922
SD from training sets & stochastic training:	27.6978	0.0566594
SD from test cases & stoch. pred. & interactions:	323.515	0.661792

Significance of difference (t-test), p = 0.052988

Based on 8 disjoint training sets, each containing 128 cases and
8 disjoint test sets, each containing 128 cases.
"""

NUMBER = re.compile(r"(?<![\w.-])-?\d+\.\d+(?!\S)")


def worded(text: str) -> list[str]:
    """The text with every figure replaced, so that layout and words remain."""
    return [NUMBER.sub("#", line) for line in collapsed(text)]


def figures(text: str) -> list[float]:
    return [float(number) for line in collapsed(text) for number in NUMBER.findall(line)]


class TestStatistics:
    @pytest.mark.parametrize(
        ("transcript", "argv", "expected"),
        [
            (transcripts.TUTORIAL, [], TUTORIAL_ONE),
            (transcripts.TUTORIAL, ["-c", "lin-1"], TUTORIAL_TWO),
            (transcripts.ABSOLUTE, [], ABSOLUTE_ONE),
            (transcripts.ABSOLUTE, ["-c", "knn-cv-1"], ABSOLUTE_TWO),
            (transcripts.NINE_DIGITS, [], SQUARED_ONE),
            (transcripts.NINE_DIGITS, ["-c", "/knn-cv-1"], SQUARED_TWO),
        ],
    )
    def test_manual_sections_1_3_and_8_3_and_appendix(
        self, transcript: Transcript, argv: list[str], expected: str, bench: Workbench
    ) -> None:
        """Words and layout to the letter; figures to six digits, which were rounded on the way, too."""
        bench.write(transcript.files())
        mpath = f"/{transcript.method}{transcript.task}"
        out = bench.do("mstats", "-l", transcript.loss, *argv, mpath).out
        assert worded(out) == worded(expected)
        assert figures(out) == pytest.approx(figures(expected), rel=5e-6)

    def test_figures_to_nine_digits(self, bench: Workbench) -> None:
        bench.write(transcripts.NINE_DIGITS.files())
        out = bench.do("mstats", "-l", "S", "/lin-1/demo/age/std.128").out
        assert collapsed(out)[3:7] == [
            "Estimated expected loss: 400.729718 0.81974466",
            "Standard error for estimate: 28.611146 0.0585278134",
            "SD from training sets & stochastic training: 40.8979934 0.0836621548",
            "SD from test cases & stoch. pred. & interactions: 790.028701 1.61610627",
        ]

    def test_figures_of_a_comparison_to_nine_digits(self, bench: Workbench) -> None:
        bench.write(transcripts.NINE_DIGITS.files())
        out = bench.do("mstats", "-c", "knn-cv-1", "-l", "S", "/lin-1/demo/age/std.128").out
        assert collapsed(out)[3:10] == [
            "Estimated expected loss for lin-1: 400.729718 0.81974466",
            "Estimated expected loss for /knn-cv-1: 368.002767 0.752797434",
            "Estimated expected difference: 32.7269508 0.0669472264",
            "Standard error for difference estimate: 14.0749681 0.0287921744",
            "SD from training sets & stochastic training: 27.6978006 0.0566594468",
            "SD from test cases & stoch. pred. & interactions: 323.514631 0.661791176",
            "Significance of difference (t-test), p = 0.0529880206",
        ]

    def test_columns(self, bench: Workbench) -> None:
        """Counted from 0: colons in 48, raw values end in 61, standardised ones in 75."""
        bench.write(transcripts.NINE_DIGITS.files())
        lines = bench.do("mstats", "-c", "knn-cv-1", "/lin-1/demo/age/std.128").out.split("\n")
        assert lines[2].index("Raw value") == 54
        assert lines[2].index("Standardized") == 66
        assert (lines[3], len(lines[2])) == ("", 78)
        valued = [line for line in lines[4:] if ": " in line]
        assert len(valued) == 6
        for line in valued:
            assert (line.index(":"), len(line), line[62:64]) == (48, 76, "  ")
            assert line[61].isdigit()
        assert lines[8] == lines[11] == lines[13] == ""
        assert lines[12].startswith("    Significance of difference (t-test), p = ")
        assert lines[14].startswith("    Based on 8 disjoint training sets, ")
        assert lines[15].startswith("             8 disjoint test sets, ")
        assert lines[16:] == [""]


class TestTutorial:
    """Section 1.3 from the beginning to the end."""

    def test_from_dls_to_a_comparison(self, bench: Workbench) -> None:
        own = bench.method("mymethod")
        assert collapsed(bench.do("dls", "/", cwd=own).out) == ["demo"]
        assert bench.do("mgendir", "demo/age", cwd=own).out.split() == [
            "demo",
            *(f"demo/age{task}" for task in ("", "/std.32", "/std.64", "/std.128", "/std.256", "/std.512")),
        ]
        folder = own / "demo/age/std.256"
        bench.do("mgendata", cwd=folder)
        assert sorted(bench.do("mls", cwd=folder).out.split()) == sorted(
            ["Cases-used", "Coding-used", "Test-set-stats"]  # the first is redelve's own
            + [f"{root}.{n}" for root in ("normalize", "targets", "test", "train") for n in range(4)]
        )
        awk(' { print "0.0" } ', folder, "cguess.S.{}", "test.{}")
        bench.do("mloss", "-l", "S", cwd=folder)
        assert {f"{root}.S.{n}" for root in ("guess", "loss") for n in range(4)} <= {
            path.name for path in folder.iterdir()
        }
        assert worded(bench.do("mstats", "-l", "S", cwd=folder).out) == worded(TUTORIAL_ONE)
        lin = bench.task("lin-1", "demo/age/std.256")
        bench.do("apply", "lin-1", "-q", cwd=lin)
        bench.do("mloss", "-q", cwd=lin)
        assert worded(bench.do("mstats", "-l", "S", "-c", "lin-1", cwd=folder).out) == worded(TUTORIAL_TWO)

    def test_the_script_in_examples(self, bench: Workbench) -> None:
        """The same as programs that a shell calls by name."""
        programs = Path(sys.executable).parent
        if not (programs / "mstats").exists():
            pytest.skip("redelve's programs are not installed beside Python")
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        script = Path(__file__).parents[2] / "examples/tutorial.sh"
        run = subprocess.run(
            ["sh", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        blocks = run.stdout.split("/mymethod/demo/age/std.256\n")[1:]
        for block, expected in zip(blocks, (TUTORIAL_ONE, TUTORIAL_TWO), strict=True):
            lines = worded(f"/mymethod/demo/age/std.256\n{block}")
            assert lines[: len(worded(expected))] == worded(expected)

    def test_losses_for_another_method_go_to_ones_own_directory(
        self, bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The archive may have decoded guesses only, and may not be written to."""
        archive = Workbench.at(tmp_path / "archive", bench.run)
        theirs = archive.task("lin-1", "demo/age/std.256")
        for number in range(4):
            (theirs / f"guess.{number}").write_text("30\n" * 256)
        for root in ("train", "test", "targets", "normalize"):
            for path in theirs.glob(f"{root}.*"):
                path.unlink()
        before = sorted(path.name for path in theirs.iterdir())
        builtin = bench.do("root").out.strip()
        monkeypatch.setenv("DELVE_PATH", f"{archive.root}:{builtin}:{bench.root}")
        bench.do("mgendir", "-q", "demo/age", cwd=bench.method("lin-1"))
        own = bench.method("lin-1") / "demo/age/std.256"
        bench.do("mloss", "-q", cwd=own)
        assert sorted(path.name for path in theirs.iterdir()) == before
        assert len(list(own.glob("loss.S.*"))) == 4
        out = bench.do("mstats", "-l", "S", "/lin-1/demo/age/std.256", cwd=tmp_path).out
        assert "Based on 4 disjoint training sets" in out
        assert "undefined" not in out
