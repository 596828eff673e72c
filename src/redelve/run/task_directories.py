"""A method's work in DELVE's task directories: from train.n and test.n to prediction files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from redelve.data.delve.case_files import read_matrix
from redelve.data.delve.figure_files import write_losses
from redelve.data.delve.method_tasks import MethodTask, method_tasks
from redelve.data.delve.number_columns import format_columns
from redelve.data.delve.prediction_files import answer_files
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import active
from redelve.data.files import AtomicFiles
from redelve.errors import FormatError, LocationError, SpecError
from redelve.methods.builtin.linear import GaussianPrediction, lin_1
from redelve.methods.contract import METHODS
from redelve.model import Assignment
from redelve.model.dataset import Numbers
from redelve.run.experiment import assignment_targets, split
from redelve.seeds import generator

Progress = Callable[[str], None]


def apply_method(name: str, path: str, progress: Progress) -> None:
    """Train the method on every train.n of the task directories that `path` stands for; write predictions.

    `lin-1` learns from the files as they are encoded, the others from the cases themselves.
    """
    for directory, shown, work in method_tasks(Library(active()), path):
        if shown != ".":
            progress(shown)
        if name == "lin-1":
            _apply_lin_1(work, directory, progress)
        else:
            _apply_any(name, work, directory, progress)


def _instance_numbers(work: MethodTask) -> list[int]:
    numbers = [number for number in range(len(work.names)) if f"train.{number}" in work.names]
    if not numbers:
        raise LocationError(f'no file "train.0" under "{work.address}": run mgendata first')
    return numbers


def _apply_any(name: str, work: MethodTask, directory: Path, progress: Progress) -> None:
    """Learn from the task's own cases, encoded as the method's summary says; write guess.n and its kin."""
    source, method = work.source, METHODS[name]
    instances = source.instances(work.case_lists)
    task = Assignment(source.dataset, source.task, source.data, instances, "hierarchical")
    if (reason := method.why_not(assignment_targets(task))) is not None:
        raise SpecError(f"{work.address}: {reason}")
    with AtomicFiles() as files:
        for number in _instance_numbers(work):
            if number >= len(instances):
                raise SpecError(f"train.{number} is of no instance of the task: run mgendata again")
            if f"cguess.{number}" in work.names:
                raise SpecError(f"cguess.{number} is there, which mloss would take instead: remove it first")
            progress(f"  training on instance {number}...")
            training, inputs, truths = split(task, instances[number])
            rng = generator("apply", name, source.task.address, number)
            answer = method.learn(training, rng).predict(inputs)
            for stem, text in answer_files(answer, truths):
                files.write(directory / f"{stem}.{number}", text)


def _apply_lin_1(work: MethodTask, directory: Path, progress: Progress) -> None:
    """Learn from the files, whatever their encodings; write cguess.n, clptarg.L.n if all targets are real."""
    numbers = _instance_numbers(work)
    prior = work.source.task.prior
    is_real = all(prior.attribute(number).type == "real" for number in work.source.task.prototask.targets)
    with AtomicFiles() as files:
        for number in numbers:
            progress(f"  training on train.{number}...")
            test = _matrix(work, f"test.{number}")
            prediction = _trained(_matrix(work, f"train.{number}"), test, number)
            files.write(directory / f"cguess.{number}", format_columns(list(prediction.mean.T)))
            if is_real:
                targets = _matrix(work, f"targets.{number}", prediction.mean.shape)
                logs = prediction.log_density(targets)
                files.write(directory / f"clptarg.L.{number}", write_losses(logs.tolist()))


def _matrix(work: MethodTask, name: str, shape: tuple[int, ...] | None = None) -> Numbers:
    path = work.require(name)
    matrix = read_matrix(path)
    if not matrix.size or (shape is not None and matrix.shape != shape):
        wanted = "some" if shape is None else f"{shape[0]} cases with {shape[1]}"
        got = f"{matrix.shape[0]} cases with {matrix.shape[1]}"
        raise FormatError(path, None, f"expected {wanted} values but got {got}: run mgendata again")
    return matrix


def _trained(training: Numbers, test: Numbers, number: int) -> GaussianPrediction:
    width = test.shape[1]
    if training.shape[1] <= width:
        raise SpecError(f"train.{number} has no more columns than test.{number}: run mgendata again")
    try:
        with np.errstate(over="raise", invalid="raise"):
            return lin_1(training[:, :width], training[:, width:], test)
    except (FloatingPointError, np.linalg.LinAlgError):
        raise SpecError(f"train.{number} or test.{number} holds numbers too large to compute with") from None
