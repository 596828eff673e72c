"""The losses of task directories: predictions decoded, and the loss of every test case (manual 7.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses import Loss, applicable_losses
from redelve.data.delve.method_tasks import MethodTask, method_tasks
from redelve.data.delve.prediction_files import (
    PREDICTIONS,
    InstanceScoring,
    TaskDirectory,
    prediction_stem,
    score,
)
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import active
from redelve.data.delve.task_files import silent
from redelve.data.files import AtomicFiles
from redelve.errors import LocationError, PredictionError
from redelve.model.prototask import used_attributes

Tell = Callable[[str], None]


def write_task_losses(
    path: str,
    *,
    codes: Sequence[str] | None = None,
    instances: Sequence[int] | None = None,
    progress: Tell = silent,
    warn: Tell = silent,
) -> int:
    """Write decoded predictions and losses in the task directories that `path` stands for.

    Parameters
    ----------
    path
        A task directory, or one above several.
    codes
        The losses to compute; those that apply if left out.
    instances
        The instances to evaluate; all if left out.
    progress, warn
        What is called with a line about what is being done, and about what is left out.

    Returns
    -------
    int
        How many files of losses were made. Those of a task appear together or not at all.

    Raises
    ------
    RedelveError
        No predictions were found, they do not fit the task, or a loss does not fit the only task.
    """
    tasks = method_tasks(Library(active()), path)
    asked = _Asked(codes, instances, progress, warn, is_alone=len(tasks) == 1)
    made = 0
    for directory, shown, work in tasks:
        if shown != ".":
            progress(shown)
        count = _evaluate(work, directory, asked)
        if not count and not asked.is_alone:
            warn(f'no losses for "{work.address}": it has no predictions')
        made += count
    if not made:
        place = tasks[0][2].address if asked.is_alone else path
        raise PredictionError(f'no predictions were found under "{place}": write files such as cguess.0')
    return made


@dataclass(frozen=True)
class _Asked:
    """What is wanted of each task; of several some may have no predictions yet, or be for other losses."""

    codes: Sequence[str] | None
    instances: Sequence[int] | None
    progress: Tell
    warn: Tell
    is_alone: bool


def _evaluate(work: MethodTask, directory: Path, asked: _Asked) -> int:
    """Compute the losses of one task; how many files of losses were made."""
    if not any(name.partition(".")[0] in PREDICTIONS for name in work.names):
        return 0
    place = task_directory(work)
    if not work.evidence.is_there:
        asked.warn(
            f"{work.address} has neither Cases-used nor Test-set-stats: whether it was made for these cases "
            "cannot be checked"
        )
    work.refuse_other_data()
    instances = _numbers(work, place, asked.instances)
    scorings = [InstanceScoring(place, number) for number in instances]
    made = 0
    with AtomicFiles() as files:
        for loss in _losses(work, place, asked):
            stem = prediction_stem(loss, place, instances)
            if stem is None:
                _warn_of_none(loss, asked)
                continue
            for scoring in scorings:
                for name, text in score(place, loss, stem, scoring, asked.progress):
                    files.write(directory / name, text)
                made += 1
    return made


def _warn_of_none(loss: Loss, asked: _Asked) -> None:
    if asked.codes is not None:
        root = "guess" if loss.takes == "guesses" else "prob or ptarg"
        asked.warn(f"no {root} files for loss {loss.code}, which is left out")


def task_directory(work: MethodTask) -> TaskDirectory:
    """A method's task directory as the scoring sees it."""
    source = work.source
    _, targets = used_attributes(source.dataset, source.task.prototask)

    def raw_targets(number: int) -> list[NDArray[np.object_]]:
        instances = dict(enumerate(work.instances or source.instances(work.case_lists)))
        if number not in instances:
            raise LocationError(f"{work.address} has no instance {number}: it has {len(instances)}")
        columns = source.data.cases.columns[len(source.data.inputs) :]
        return [column.texts()[instances[number].testing] for column in columns]

    return TaskDirectory(source.task, targets, work.codings_used(), work.names, work.find, raw_targets)


def _numbers(work: MethodTask, place: TaskDirectory, wanted: Sequence[int] | None) -> list[int]:
    """All instances of the task; where its cases are not at hand, those with targets, or else predictions."""
    found: dict[str, set[int]] = {root: set() for root in ("targets", *PREDICTIONS)}
    for name in place.names:
        root, _, tail = name.partition(".")
        ending = tail.rpartition(".")[2]
        if root in found and ending.isascii() and ending.isdigit():
            found[root].add(int(ending))
    numbers = found["targets"] or set().union(*found.values())
    if work.instances is not None:
        numbers |= set(range(len(work.instances)))
    for number in wanted or ():
        if number not in numbers:
            raise LocationError(
                f"there is no instance {number}: known are {' '.join(map(str, sorted(numbers)))}"
            )
    return sorted(numbers) if wanted is None else list(wanted)


def _losses(work: MethodTask, place: TaskDirectory, asked: _Asked) -> Iterator[Loss]:
    if asked.codes is None:
        yield from applicable_losses(place.target_list)
        return
    for code in asked.codes:
        loss = work.loss(code)
        reason = loss.why_not(place.target_list)
        if reason is None:
            yield loss
        elif asked.is_alone:
            raise PredictionError(reason)
        else:
            asked.warn(reason)
