"""redelve apply: a built-in method as a program that follows DELVE's file protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.commands.options import Command, Given, UsageError, run
from redelve.commands.progress import QUIET, Progress, reporter
from redelve.errors import FormatError, LocationError, SpecError
from redelve.roots import active

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from redelve.library import MethodTask
    from redelve.methods.linear import GaussianPrediction

    Numbers = NDArray[np.float64]

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
    from redelve.formats.files import AtomicFiles
    from redelve.numbers import tcl

    numbers = [number for number in range(len(work.names)) if f"train.{number}" in work.names]
    if not numbers:
        raise LocationError(f'no file "train.0" under "{work.address}": run mgendata first')
    prior = work.source.task.prior
    is_real = all(prior.attribute(number).type == "real" for number in work.source.task.prototask.targets)
    with AtomicFiles() as files:
        for number in numbers:
            progress(f"  training on train.{number}...")
            test = _matrix(work, f"test.{number}")
            prediction = _trained(_matrix(work, f"train.{number}"), test, number)
            lines = ("".join(f" {tcl(value)}" for value in row) + "\n" for row in prediction.mean.tolist())
            files.write(directory / f"cguess.{number}", lines)
            if is_real:
                targets = _matrix(work, f"targets.{number}", prediction.mean.shape)
                logs = prediction.log_density(targets)
                files.write(directory / f"clptarg.L.{number}", (f"{tcl(value)}\n" for value in logs.tolist()))


def _matrix(work: MethodTask, name: str, shape: tuple[int, ...] | None = None) -> Numbers:
    from redelve.formats.delve.cases import read_matrix

    path = work.find(name)
    if path is None:
        raise LocationError(f'no file "{name}" under "{work.address}": run mgendata first')
    matrix = read_matrix(path)
    if not matrix.size or (shape is not None and matrix.shape != shape):
        wanted = "some" if shape is None else f"{shape[0]} cases with {shape[1]}"
        got = f"{matrix.shape[0]} cases with {matrix.shape[1]}"
        raise FormatError(path, None, f"expected {wanted} values but got {got}: run mgendata again")
    return matrix


def _trained(training: Numbers, test: Numbers, number: int) -> GaussianPrediction:
    import numpy as np

    from redelve.methods.linear import lin_1

    width = test.shape[1]
    if training.shape[1] <= width:
        raise SpecError(f"train.{number} has no more columns than test.{number}: run mgendata again")
    try:
        with np.errstate(over="raise", invalid="raise"):
            return lin_1(training[:, :width], training[:, width:], test)
    except (FloatingPointError, np.linalg.LinAlgError):
        raise SpecError(f"train.{number} or test.{number} holds numbers too large to compute with") from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, apply, argv)
