"""mloss: decode predictions and compute the loss of every test case (manual 7.5, C)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli.losses_given import split_codes
from redelve.cli.options import Command, Given, Option, UsageError, run
from redelve.cli.progress_lines import QUIET, Progress, reporter
from redelve.data.delve.roots import active
from redelve.errors import LocationError, PredictionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from redelve.answers.losses import Loss
    from redelve.data.delve.method_tasks import MethodTask
    from redelve.data.delve.prediction_files import TaskDirectory

COMMAND = Command(
    "mloss",
    "Decode the predictions in a task directory, or in all below a path, and write every test case's loss.",
    "[ -i instances ] [ -l losses ] [ -q ] [ path ]",
    (
        Option("i", "the instances to evaluate, such as 0,3 (default: all)", "instances", long="instances"),
        Option("l", "the losses to compute: any of A S L Q Z, Z0.2N, Mfile", "losses", long="losses"),
        QUIET,
    ),
)
PREDICTIONS = ("cguess", "guess", "prob", "lprob", "ptarg", "lptarg", "cptarg", "clptarg")


def mloss(given: Given) -> str:
    """Write decoded prediction files and loss files; those of a task appear together or not at all."""
    from redelve.data.delve.method_tasks import method_tasks
    from redelve.data.delve.reading import Library

    progress = reporter(is_quiet=given.has("q"))
    wanted = _instances(given.value("i"))
    codes = None if given.value("l") is None else split_codes(given.value("l") or "")
    tasks = method_tasks(Library(active()), given.path())
    made = 0
    for directory, shown, work in tasks:
        if shown != ".":
            progress(shown)
        count = evaluate(work, directory, codes, wanted, progress, is_alone=len(tasks) == 1)
        if not count and len(tasks) > 1:
            _warn(f'no losses for "{work.address}": it has no predictions')
        made += count
    if not made:
        place = tasks[0][2].address if len(tasks) == 1 else given.path()
        raise PredictionError(f'no predictions were found under "{place}": write files such as cguess.0')
    return ""


def _instances(text: str | None) -> list[int] | None:
    if text is None or text.strip() == "all":
        return None
    words = text.replace(",", " ").split()
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise UsageError(f'bad instance "{word}": give numbers from 0, or all')
    return sorted({int(word) for word in words})


def evaluate(
    work: MethodTask,
    directory: Path,
    codes: list[str] | None,
    wanted: list[int] | None,
    progress: Progress,
    *,
    is_alone: bool = True,
) -> int:
    """Compute the losses of one task; how many files of losses were made.

    Of several tasks that are evaluated together some may have no predictions yet, or be for other losses.
    """
    if not any(name.partition(".")[0] in PREDICTIONS for name in work.names):
        return 0
    from redelve.data.delve.prediction_files import InstanceScoring, prediction_stem, score
    from redelve.data.files import AtomicFiles

    place = task_directory(work)
    instances = _numbers(place, wanted)
    scorings = [InstanceScoring(place, number) for number in instances]
    made = 0
    with AtomicFiles() as files:
        for loss in _losses(work, place, codes, is_alone=is_alone):
            stem = prediction_stem(loss, place, instances)
            if stem is None:
                _warn_of_none(loss, is_asked_for=codes is not None)
                continue
            for scoring in scorings:
                for name, text in score(place, loss, stem, scoring, progress):
                    files.write(directory / name, text)
                made += 1
    return made


def _warn_of_none(loss: Loss, *, is_asked_for: bool) -> None:
    root = "guess" if loss.takes == "guesses" else "prob or ptarg"
    if is_asked_for:
        _warn(f"no {root} files for loss {loss.code}, which is left out")


def _warn(message: str) -> None:
    sys.stderr.write(f"mloss: warning: {message}\n")


def task_directory(work: MethodTask) -> TaskDirectory:
    """A method's task directory as the scoring sees it."""
    from redelve.data.delve.prediction_files import TaskDirectory
    from redelve.model.prototask import used_attributes

    source = work.source
    _, targets = used_attributes(source.dataset, source.task.prototask)

    def raw_targets(number: int) -> list[NDArray[np.object_]]:
        instances = {instance.number: instance for instance in source.instances(work.case_lists)}
        if number not in instances:
            raise LocationError(f"{work.address} has no instance {number}: it has {len(instances)}")
        columns = source.data.cases.columns[len(source.data.inputs) :]
        return [column.texts()[instances[number].testing] for column in columns]

    return TaskDirectory(
        source.task,
        targets,
        work.codings_used(),
        work.names,
        work.find,
        raw_targets,
    )


def _numbers(place: TaskDirectory, wanted: list[int] | None) -> list[int]:
    """The instances that have targets, or else predictions."""
    found: dict[str, set[int]] = {root: set() for root in ("targets", *PREDICTIONS)}
    for name in place.names:
        root, _, tail = name.partition(".")
        ending = tail.rpartition(".")[2]
        if root in found and ending.isascii() and ending.isdigit():
            found[root].add(int(ending))
    numbers = found["targets"] or set().union(*found.values())
    for number in wanted or ():
        if number not in numbers:
            raise LocationError(
                f"there is no instance {number}: known are {' '.join(map(str, sorted(numbers)))}"
            )
    return sorted(numbers) if wanted is None else wanted


def _losses(
    work: MethodTask, place: TaskDirectory, codes: list[str] | None, *, is_alone: bool
) -> Iterator[Loss]:
    from redelve.answers.losses import applicable_losses

    if codes is None:
        yield from applicable_losses(place.target_list)
        return
    for code in codes:
        loss = work.loss(code)
        reason = loss.why_not(place.target_list)
        if reason is None:
            yield loss
        elif is_alone:
            raise PredictionError(reason)
        else:
            _warn(reason)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, mloss, argv)
