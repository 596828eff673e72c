"""The loss files of DELVE's directories, taken in as Results: what `mstats` has analysed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses import Loss, in_order
from redelve.data.delve.cases_used import difference
from redelve.data.delve.figure_files import LETTERS, read_losses
from redelve.data.delve.method_tasks import MethodTask
from redelve.errors import LocationError, RedelveError, StatisticsError
from redelve.model import Instance, Scheme
from redelve.model.dataset import Numbers
from redelve.model.designs import commonality_units, describe, prototask_caveats
from redelve.run.results import InstanceFacts, Job, Results, TaskFacts
from redelve.stats.units import refuse_shared_units
from redelve.store.delve import imported_facts, imported_record

Runs = list[list[Numbers]]
"""A method's losses: for each run those of every instance."""


def codes_there(work: MethodTask, base: str = "loss") -> list[str]:
    """The codes of the losses that have files, in their order."""
    pattern = re.compile(rf"{re.escape(base)}\.(.+)\.(0|[1-9][0-9]*)")
    found = {match[1] for name in work.names if (match := pattern.fullmatch(name))}
    return list(in_order(found))


def about_other_data(work: MethodTask) -> str | None:
    """What to say of losses on other data than the active ones; None where that is not so, or not known."""
    try:
        told = work.other_data
    except RedelveError:  # data that cannot be read or drawn from tell nothing of these losses
        return None
    if told is None:
        return None
    return f"the losses of {work.address} are of other data than those of this name that are active ({told})"


def losses_as_results(
    work: MethodTask, loss: Loss, *, bases: Sequence[str] = ("loss",), other: MethodTask | None = None
) -> Results:
    """A method's losses on a task, and those of another one on the same instances.

    Several base names of files are several runs with different seeds; the other method may have fewer.
    """
    runs = {work: _runs(work, loss, bases)}
    if other is not None:
        there = [base for base in bases if loss.code in codes_there(other, base)] or bases[:1]
        runs[other] = _runs(other, loss, there)
        _check_same_instances(work, other, loss, [runs[work][0], runs[other][0]])
    sizes = [len(losses) for losses in runs[work][0]]
    if len(sizes) < 2:
        raise StatisticsError("can't do analysis of variance with fewer than two training sets: got 1")
    task = _facts(work, loss, sizes)
    task = replace(task, notes=(*task.notes, *_caveats(runs, len(sizes))))
    methods = {one.name: one for one in (imported_facts(each.address.method or "") for each in runs)}
    records = tuple(
        imported_record(task, methods[each.address.method or ""], job, {loss.code: losses})
        for each, found in runs.items()
        for job, losses in _jobs(each, found)
    )
    return Results({task.address: task}, methods, records)


def _caveats(works: Collection[MethodTask], present: int) -> Iterator[str]:
    """What the files leave open: instances without losses, and whether two methods saw the same cases."""
    expected = max(map(_instance_count, works))
    if present < expected:
        absent = ", ".join(map(str, range(present, expected)))
        yield f"the task has {expected} instances: there are no losses of {absent}"
    unknown = [one.address.method or "" for one in works if not one.evidence.is_there]
    if len(works) > 1 and unknown:
        yield (
            f"{' and '.join(unknown)} without Cases-used and Test-set-stats: whether the losses are of the "
            "same cases cannot be checked"
        )


def _instance_count(work: MethodTask) -> int:
    """How many instances the task has: as recorded, or as the active data have them; 0 if nothing tells."""
    if work.evidence.used is not None:
        return len(work.evidence.used)
    try:
        return len(work.instances or ())
    except RedelveError:  # data that no instance can be drawn of tell nothing of these losses
        return 0


def _jobs(work: MethodTask, runs: Runs) -> Iterator[tuple[Job, Numbers]]:
    for run, rows in enumerate(runs):
        for instance, losses in enumerate(rows):
            yield Job(str(work.address.data), work.address.method or "", instance, run), losses


# The files


def _runs(work: MethodTask, loss: Loss, bases: Sequence[str]) -> Runs:
    runs = [_rows(work, loss, base) for base in bases]
    counts = sorted({len(rows) for rows in runs})
    if len(counts) > 1:
        raise StatisticsError(f"the runs have different numbers of instances: {_words(counts)}")
    if any(len({len(row) for row in rows}) > 1 for rows in zip(*runs, strict=True)):
        raise StatisticsError("the runs have different numbers of test cases on the same instance")
    return runs


def _rows(work: MethodTask, loss: Loss, base: str) -> list[Numbers]:
    """The losses of every instance; instances count from 0 without gaps."""
    code, targets = loss.code, work.source.targets
    pattern = re.compile(rf"{re.escape(base)}\.{re.escape(code)}\.(0|[1-9][0-9]*)")
    numbers = sorted(int(match[1]) for name in work.names if (match := pattern.fullmatch(name)))
    if not numbers:
        raise LocationError(f'no loss files "{base}.{code}.*" under "{work.address}": run mloss first')
    if numbers != list(range(len(numbers))):
        absent = min(set(range(numbers[-1])) - set(numbers))
        raise LocationError(
            f'loss file "{base}.{code}.{absent}" is missing under "{work.address}": run mloss'
        )
    rows = [read_losses(work.require(f"{base}.{code}.{number}"), loss, targets) for number in numbers]
    _check_sizes(work, f"{base}.{code}.*", [len(row) for row in rows])
    return rows


def _check_sizes(work: MethodTask, names: str, sizes: list[int]) -> None:
    """Refuse losses that cannot all be of the task's present instances."""
    listed = [len(testing) for _, testing in work.case_lists or ()]
    known = len(listed) or sum(re.fullmatch(r"normalize\.\d+", name) is not None for name in work.names)
    if known and len(sizes) > known:
        raise StatisticsError(
            f'{work.address} has {known} instances but {len(sizes)} loss files "{names}": '
            "remove those left over from other instances, and run mloss again"
        )
    if sizes != (listed or sizes[:1] * len(sizes))[: len(sizes)]:
        expected = f"as long as the test sets ({_words(listed)})" if listed else "equally long"
        raise StatisticsError(
            f'the loss files "{names}" of {work.address} are not {expected}: {_words(sizes)}'
        )


def _check_same_instances(
    work: MethodTask, other: MethodTask, loss: Loss, rows: Sequence[Sequence[Numbers]]
) -> None:
    if work.case_lists != other.case_lists:
        raise StatisticsError(
            f"{work.address.method} and {other.address.method} were run on different instances of "
            f"{work.address.data}: only losses on the same training and test sets can be compared"
        )
    found = difference(work.evidence, other.evidence)
    if found is not None:
        raise StatisticsError(
            f"{work.address.method} and {other.address.method} were run on different data under the name "
            f"{work.address.data} ({found}): their losses are of other cases and cannot be compared; run "
            "both on the same data"
        )
    first, second = ([len(row) for row in each] for each in rows)
    if first != second:
        raise StatisticsError(
            f"{work.address.method} has {_shape(first)} of loss {loss.code}, {other.address.method} "
            f"{_shape(second)}: run mgendata and mloss for both on the same instances"
        )


def _shape(sizes: list[int]) -> str:
    return f"{len(sizes)} instances with {_words(sorted(set(sizes)))} losses"


def _words(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


# The task


@dataclass(frozen=True)
class _FileDesign:
    """What the analysis must know of the instances: how their sets relate, which cases are dependent."""

    scheme: Scheme
    instances: tuple[InstanceFacts, ...]
    notes: tuple[str, ...]
    training_overlap: bool = False
    test_overlap: bool = False


def _facts(work: MethodTask, loss: Loss, sizes: Sequence[int]) -> TaskFacts:
    """What is known of the task; neither its cases nor the truths are read unless that is needed."""
    task, design = work.source.task, _design(work, sizes)
    return TaskFacts(
        address=str(work.address.data),
        digest="",
        data_digest="",
        training_set_size=task.training_set_size,
        scheme=design.scheme,
        repetitions=1,
        targets=work.source.targets,
        instances=design.instances,
        baselines={loss.code: _baseline(work, loss)},
        notes=design.notes,
        training_overlap=design.training_overlap,
        test_overlap=design.test_overlap,
    )


def _design(work: MethodTask, sizes: Sequence[int]) -> _FileDesign:
    """The design of a method's instances; cases are read only where it cannot be told without them."""
    source, prototask = work.source, work.source.task.prototask
    if work.case_lists is None and not source.dataset.has_commonality:
        alike = (_instance_facts(source.task.training_set_size, size) for size in sizes)
        return _FileDesign(prototask.scheme, tuple(alike), prototask_caveats(prototask))
    if source.dataset.has_commonality:
        work.refuse_other_data()  # which cases belong together is told by the active data
    instances = source.instances(work.case_lists)
    facts = describe(instances, source.commonality, dependency_range=prototask.dependency_range)
    return _FileDesign(
        "common" if facts.test_sets == "common" else "hierarchical",
        _units_told(work, instances, sizes, is_common=facts.test_sets == "common"),
        (*facts.caveats(), *prototask_caveats(prototask)),
        facts.training_sets == "overlapping",
        facts.test_sets == "overlapping",
    )


def _units_told(
    work: MethodTask, instances: Sequence[Instance], sizes: Sequence[int], *, is_common: bool
) -> tuple[InstanceFacts, ...]:
    """The instances with the units that their test cases belong to, which no two test sets may share."""
    if len(sizes) > len(instances):
        raise StatisticsError(
            f"{work.address} has {len(instances)} instances but {len(sizes)} loss files of a kind: "
            "remove those left over from other instances, and run mloss again"
        )
    commonality = work.source.commonality
    units = None if commonality is None else commonality_units(instances, commonality)
    if units is not None and not is_common:
        refuse_shared_units(units[: len(sizes)])
    return tuple(
        _instance_facts(len(one.training), len(one.testing), None if units is None else units[number])
        for number, one in enumerate(instances)
    )


def _instance_facts(
    training_set_size: int, test_cases: int, units: NDArray[np.int64] | None = None
) -> InstanceFacts:
    """What loss files tell of an instance; its cases are numbered as they stand there."""
    return InstanceFacts("", training_set_size, np.arange(1, test_cases + 1), (), units)


def _baseline(work: MethodTask, loss: Loss) -> float | None:
    """The loss of the best constant answer, by which the loss is standardised (manual 8.3)."""
    if loss.letter not in LETTERS:
        work.refuse_other_data()  # the true values are those of the active data
        return loss.baseline(work.source.test_truths(work.source.instances(work.case_lists)))
    stats = work.evidence.stats
    if stats is None:
        return None
    entries = stats[loss.letter]  # log probabilities for log loss
    known = [min(-entry if loss.is_shift else entry, loss.silence) for entry in entries if entry is not None]
    return sum(known, start=-0.0) if len(known) == len(entries) else None
