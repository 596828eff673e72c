"""A small good delve directory with every kind of file in it, for tests that damage one thing at a time."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

from redelve.cli.main import main
from tests.conftest import Result, make_root

SPEC = """\
# made up
Origin: artificial
Usage: development
Order: uninformative
Title: A few people
Attributes:
 1 SEX    u male female
 2 AGE    u [0,150]         # years
 3 KIDS   u 0..20
 4 HOURS  u [0,24) ? ?lost  # of sleep
 5 COLOUR u red green blue
"""
AGES = [31, 4, 67.5, 22, 18, 45, 80.25, 9, 53, 27, 36, 71, 12, 60, 48.5, 25, 33, 5, 90, 41]
HOURS = ["8", "?", "7.5", "6", "9.25", "?lost", "23", "0", "7", "5.5"]


def rows(count: int = 40) -> list[str]:
    """The lines of Dataset.data."""
    return [
        f"{('male', 'female')[case * 7 % 5 % 2]} {AGES[case % 20]} {case * 3 % 7} {HOURS[case % 10]} "
        f"{('red', 'green', 'blue')[case % 3]}"
        for case in range(count)
    ]


REGRESSION = """\
Cases: all
Inputs: SEX 3 4 COLOUR
Order: Random-order
Origin: artificial
Targets: AGE
Test-Set-Size: 16
Training-Set-Sizes: 4 6
Test-Set-Selection: hierarchical
Maximum-Number-Of-Instances: 4
"""
CLASSIFICATION = """\
Cases: Some-cases
Inputs: 1 2
Order: retain
Origin: cultivated
Targets: 5
Test-Set-Size: 12
Training-Set-Sizes: 6 9
Test-Set-Selection: common
Maximum-Number-Of-Instances: 3
"""
COSTS = "0 1 2\n1 0 1\n4 4 0\n0.5 0.5 0.5\n"
CODINGS = "SEX 0/1 passive=male\nCOLOUR 1-of-n passive=red\nAGE nm-sqr\n"
INSTANCES = "train 0: 1 3 5 7..12\ntest 0: 20..25\ntrain 1: 13..19 2 4\ntest 1: 26..31\n"

FILES: Mapping[str, str] = {
    "data/tiny/Dataset.spec": SPEC,
    "data/tiny/Dataset.data": "".join(f"{row}\n" for row in rows()),
    "data/tiny/y/Prototask.spec": REGRESSION,
    "data/tiny/y/std.prior": "1 NLMH binary\n3 NLMH integer\n4 LM real\nCOLOUR NLMH nominal\n2 NLMH real\n",
    "data/tiny/c/Prototask.spec": CLASSIFICATION,
    "data/tiny/c/std.prior": "1 NLMH binary passive=male\n2 NLMH real\n5 NLMH nominal\n",
    "data/tiny/c/Some-cases": "".join(f"{number}\n" for number in range(2, 40)),
    "data/tiny/c/costs": COSTS,
    "methods/m/codings": CODINGS,
    "methods/x/instances": INSTANCES,
}


def run_main(name: str, argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> Result:
    """Run a command (`redelve` too) in this process; an exit by exception is let through."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd),
        patch.dict(os.environ, env or {}),
    ):
        code = main(list(argv) if name == "redelve" else [name, *argv])
    return Result(out.getvalue(), err.getvalue(), code)


def build(folder: Path) -> Path:
    """The tree: a dataset, two prototasks, methods `m` and `n` on both and `x` with instances of its own."""
    root = make_root(folder / "delve", FILES)
    data = root / "data" / "tiny"
    _do("dgenorder", ["-q"], data / "y")
    _do("dgenproto", ["-q"], data)
    for method in ("m", "n"):
        for task in ("y/std.4", "c/std.6"):
            place = _task(
                root, method, task, ["-c", f"{root}/methods/m/codings"] if task == "y/std.4" else []
            )
            _predict(place, 0.1 if method == "m" else -0.2)
            _do("mloss", ["-q"], place)
    _do("mloss", ["-q", "-l", "Mcosts"], root / "methods/m/tiny/c/std.6")
    place = _task(root, "x", "y/std.4", ["-n", f"{root}/methods/x/instances"])
    _predict(place, 0.3)
    _do("mloss", ["-q"], place)
    return root


def _task(root: Path, method: str, task: str, options: Sequence[str]) -> Path:
    (root / "methods" / method).mkdir(exist_ok=True)
    _do("mgendir", ["-q", f"tiny/{task}"], root / "methods" / method)
    place = root / "methods" / method / "tiny" / task
    _do("mgendata", ["-q", *options], place)
    return place


def _predict(place: Path, shift: float) -> None:
    """Guesses (and probabilities where the target is a colour) that are neither good nor constant."""
    is_colour = place.parent.name == "c"
    for path in sorted(place.glob("targets.*")):
        cases = range(len(path.read_text().splitlines()))
        number = path.suffix
        if is_colour:
            guesses = "".join(("red\n", "blue\n", "green\n")[(case + (shift > 0)) % 3] for case in cases)
            (place / f"guess{number}").write_text(guesses)
            (place / f"prob{number}").write_text("".join(f"1 {1 + case} 2\n" for case in cases))
        else:
            (place / f"cguess.S{number}").write_text(
                "".join(f" {shift * (case % 5 - 2)}\n" for case in cases)
            )
            (place / f"clptarg.L{number}").write_text("".join(f"{-1 - shift * case}\n" for case in cases))


def _do(name: str, argv: Sequence[str], cwd: Path) -> None:
    result = run_main(name, argv, cwd, {"DELVE_PATH": ""})
    assert result.code == 0, f"{name} {' '.join(argv)} in {cwd}: {result.err}"


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file's bytes and every directory, by path, hidden ones too."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
