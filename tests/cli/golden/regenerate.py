"""Texts that commands print, kept to the letter.

`python -m tests.cli.golden.regenerate` writes them anew. A scene runs commands in a fresh delve
directory and returns a text. Look at what changed before you keep it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from redelve.cli.main import main as run_main
from tests.cli.golden.transcripts import NINE_DIGITS
from tests.cli.workbench import Workbench, dataset, prototask, under
from tests.conftest import Result

FOLDER = Path(__file__).parent
Scene = Callable[[Workbench], str]
SCENES: dict[str, Scene] = {}


def scene(name: str) -> Callable[[Scene], Scene]:
    def register(function: Scene) -> Scene:
        SCENES[name] = function
        return function

    return register


def plain(name: str, command: str, *argv: str) -> None:
    """A scene of one command, on data that every root has."""
    SCENES[name] = lambda bench: bench.do(command, *argv).out


plain("dinfo-demo", "dinfo", "/demo")
plain("dinfo-a-demo", "dinfo", "-a", "/demo")
plain("dinfo-demo-age", "dinfo", "/demo/age")
plain("dinfo-demo-age-std.128", "dinfo", "/demo/age/std.128")
plain("dinfo-t-a-demo", "dinfo", "-t", "-a", "/demo")
plain("dinfo-t-a-demo-age", "dinfo", "-t", "-a", "/demo/age")
for each in ("dgenorder", "dgenproto", "dinfo", "mgendata", "minfo", "mloss", "mstats"):
    plain(f"help-{each}", each, "-h")


@scene("dinfo-keys")
def dinfo_keys(bench: Workbench) -> str:
    paths = ("/demo", "/demo/colour", "/demo/colour/std.32")
    return "".join(bench.do("dinfo", "-q", *more, path).out for path in paths for more in ((), ("-a",)))


@scene("dinfo-all-features")
def dinfo_all_features(bench: Workbench) -> str:
    """What is printed only if there is something to print."""
    attributes = (
        "X c (-Inf,0) (0,+Inf) ? # Anything but zero",
        "GRADE u low middle high",
        "HOUR u [0,24) # Time of day",
        "A-VERY-LONG-NAME ? 0..9 ?lost ?torn # Digit",
    )
    files = dataset(
        attributes, [], extra="Title: All kinds\nDonor: nobody\nCommonality indexes are present\n"
    )
    prior = (
        "dependency LM\n1 L real centre=2 missing=impute\n2 NLMH ordinal passive=high order=high,low,middle\n"
        "3 MH angular unit=24\n4 NL integer\n"
    )
    strata = prototask(
        prior,
        Inputs="1 HOUR 4",
        Targets="GRADE",
        Test_Set_Size="6",
        Training_Set_Sizes="3 6",
        Training_Set_Selection="stratified",
        Sponsor="nobody",
    )
    bench.write(under("data/kinds", {**files, **under("grade", strata)}))
    paths = ("/kinds", "/kinds/grade", "/kinds/grade/std.3")
    return "\n".join(bench.do("dinfo", "-a", path).out for path in paths)


@scene("minfo-task")
def minfo_task(bench: Workbench) -> str:
    return bench.do("minfo", cwd=bench.task("mymethod", "demo/age/std.256")).out


@scene("minfo-task-other-codings")
def minfo_task_other_codings(bench: Workbench) -> str:
    bench.write({"codings": "AGE copy\n1 0/1 passive=male\nCOLOUR therm scale=linear\nINCOME ignore\n"})
    folder = bench.task("mymethod", "demo/age/std.256", "-c", str(bench.root / "codings"))
    return bench.do("minfo", cwd=folder).out + "\n" + (folder / "Coding-used").read_text()


@scene("minfo-lin-1-demo")
def minfo_lin_1_demo(bench: Workbench) -> str:
    bench.write({"methods/lin-1/demo/age/": "", "methods/lin-1/demo/income/": ""})
    return bench.do("minfo", "/lin-1/demo").out


@scene("mgendata-progress")
def mgendata_progress(bench: Workbench) -> str:
    bench.do("mgendir", "-q", "./demo/age/std.256", cwd=bench.method("lin-1"))
    return bench.do("mgendata", "./demo/age/std.256", cwd=bench.method("lin-1")).err


@scene("mgendata-files")
def mgendata_files(bench: Workbench) -> str:
    """The beginning of every kind of file."""
    folder = bench.task("lin-1", "demo/age/std.512")
    names = ("Coding-used", "Test-set-stats", "normalize.1", "train.1", "test.1", "targets.1")
    parts = []
    for name in names:
        lines = (folder / name).read_text().splitlines(keepends=True)
        parts.append(f"==> {name}, {len(lines)} lines\n{''.join(lines[:12])}")
    return "\n".join(parts)


@scene("mloss-progress")
def mloss_progress(bench: Workbench) -> str:
    folder = bench.task("lin-1", "demo/age/std.256")
    for number in range(4):
        (folder / f"cguess.{number}").write_text("0.5\n" * 256)
    return bench.do("mloss", cwd=folder).err


@scene("mstats-one-method")
def mstats_one_method(bench: Workbench) -> str:
    bench.write(NINE_DIGITS.files())
    return bench.do("mstats", "-l", "S", "/lin-1/demo/age/std.128").out


@scene("mstats-two-methods")
def mstats_two_methods(bench: Workbench) -> str:
    bench.write(NINE_DIGITS.files())
    return bench.do("mstats", "-c", "knn-cv-1", "-l", "S", "/lin-1/demo/age/std.128").out


# Made up so that there is variation of every kind, and nothing that calls for a note.
FIRST = [[(5 * case + case * case * number) % 17 + 2 * number for case in range(60)] for number in range(6)]
SECOND = [
    [(5 * case + case * number) % 13 + number * number % 5 for case in range(60)] for number in range(6)
]


def small_root(bench: Workbench, *losses: Sequence[Sequence[float]], **keys: str) -> None:
    """A task with losses of methods m0, m1 … on six training sets."""
    spec = {"Inputs": "X", "Targets": "Y", "Test_Set_Size": "60", "Training_Set_Sizes": "5", **keys}
    data = dataset(["X u [0,99]", "Y u [0,9]"], [], order="informative")
    numbers = prototask("1 NLMH real\n2 NLMH real\n", **spec)
    bench.write(under("data/small", {**data, **under("y", numbers)}))
    for method, table in enumerate(losses):
        folder = f"methods/m{method}/small/y/std.5"
        bench.write({f"{folder}/Test-set-stats": "L -1\nQ undefined\nA 2\nZ undefined\nS 4\n"})
        for number, row in enumerate(table):
            bench.write({f"{folder}/loss.S.{number}": "".join(f"{loss}\n" for loss in row)})


@scene("mstats-common-one-method")
def mstats_common_one_method(bench: Workbench) -> str:
    small_root(bench, FIRST, Test_Set_Selection="common")
    return bench.do("mstats", "/m0/small/y/std.5").out


@scene("mstats-common-two-methods")
def mstats_common_two_methods(bench: Workbench) -> str:
    small_root(bench, FIRST, SECOND, Test_Set_Selection="common")
    return bench.do("mstats", "-c", "m1", "/m0/small/y/std.5").out


@scene("mstats-note")
def mstats_note(bench: Workbench) -> str:
    small_root(bench, FIRST, Maximum_Dependency_Range="3")
    return bench.do("mstats", "/m0/small/y/std.5").out


@scene("mstats-several-runs")
def mstats_several_runs(bench: Workbench) -> str:
    small_root(bench, FIRST, Test_Set_Selection="common")
    folder = bench.method("m0") / "small/y/std.5"
    for number, row in enumerate(FIRST):
        again = (loss + case * case % 7 - number % 2 for case, loss in enumerate(row))
        (folder / f"again.S.{number}").write_text("".join(f"{loss}\n" for loss in again))
    return bench.do("mstats", "-i", "loss again", cwd=folder).out


def run_here(name: str, argv: Sequence[str], cwd: Path | None = None) -> Result:
    """Run a command in this process, without pytest."""
    out, err = io.StringIO(), io.StringIO()
    here = contextlib.chdir(cwd) if cwd else contextlib.nullcontext()
    with here, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_main([name, *argv])
    return Result(out.getvalue(), err.getvalue(), code)


def main() -> None:
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name, play in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            os.environ["REDELVE_HOME"] = f"{folder}/home"
            os.environ.pop("DELVE_PATH", None)
            (FOLDER / f"{name}.txt").write_text(play(Workbench.at(Path(folder), run_here)))
            sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
