"""redelve apply: a built-in method as a program that follows DELVE's file protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.commands.options import Command, Given, UsageError, run
from redelve.commands.progress import QUIET, Progress, reporter
from redelve.errors import LocationError
from redelve.roots import active

if TYPE_CHECKING:
    from redelve.library import MethodTask

COMMAND = Command(
    "redelve apply",
    "Train a built-in method on every train.n of a task directory and write its predictions beside them.",
    "method [ -q ] [ path ]",
    (QUIET,),
    least=1,
    most=2,
)
METHODS = ("lin-1",)


def apply(given: Given) -> str:
    """Write cguess.n, and clptarg.L.n where all targets are real."""
    from redelve.commands.work import method_tasks
    from redelve.library import Library

    if given.arguments[0] not in METHODS:
        raise UsageError(f'unknown method "{given.arguments[0]}": known are {", ".join(METHODS)}')
    progress = reporter(is_quiet=given.has("q"))
    path = given.arguments[1] if len(given.arguments) > 1 else "."
    for directory, shown, work in method_tasks(Library(active()), path):
        if shown != ".":
            progress(shown)
        _apply(work, directory, progress)
    return ""


def _apply(work: MethodTask, directory: Path, progress: Progress) -> None:
    from redelve.formats.delve.cases import read_matrix
    from redelve.formats.files import AtomicFiles
    from redelve.methods.linear import lin_1
    from redelve.numbers import tcl

    numbers = sorted(int(name[6:]) for name in work.names if name.startswith("train.") and name[6:].isdigit())
    if not numbers:
        raise LocationError(f'no file "train.0" under "{work.address}": run mgendata first')
    prior = work.source.task.prior
    is_real = all(prior.attribute(number).type == "real" for number in work.source.task.prototask.targets)
    with AtomicFiles() as files:
        for number in numbers:
            progress(f"  training on train.{number}...")
            training, test = (
                read_matrix(work.find(f"{root}.{number}") or root) for root in ("train", "test")
            )
            width = test.shape[1]
            prediction = lin_1(training[:, :width], training[:, width:], test)
            lines = ("".join(f" {tcl(value)}" for value in row) + "\n" for row in prediction.mean.tolist())
            files.write(directory / f"cguess.{number}", lines)
            if is_real:
                logs = prediction.log_density(read_matrix(work.find(f"targets.{number}") or "targets"))
                files.write(directory / f"clptarg.L.{number}", (f"{tcl(value)}\n" for value in logs.tolist()))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, apply, argv)
