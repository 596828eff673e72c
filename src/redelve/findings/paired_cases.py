"""The losses of two methods on the same cases, and the same on some of the cases alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from redelve.errors import StatisticsError
from redelve.findings.by_method import is_folded, outer_instances, test_ratio
from redelve.findings.case_columns import CaseColumn, Values
from redelve.model.dataset import Numbers
from redelve.run.results import InstanceFacts, Record, TaskResults

Mask = NDArray[np.bool_]
"""Which cases of an instance."""


@dataclass(frozen=True, eq=False)
class PairedCases:
    """The losses of two methods on the same cases: a row for every case, whatever it was tested by."""

    names: Values
    """What the cases are called: their own names, or their numbers in the data."""
    first: Numbers
    second: Numbers
    """Mean losses over all training sets and runs that test the case."""
    parts: Numbers
    """What the case adds to the difference."""
    answers: NDArray[np.int64]
    """How many losses of each method the case has."""
    columns: Mapping[str, Values]
    """What else is known of it: truths, and the columns that slices are made by."""

    @property
    def by_part(self) -> NDArray[np.int64]:
        """The cases on which the two differ: those that add most first, of equal ones those for it."""
        differing = np.flatnonzero(self.parts != 0)
        parts = self.parts[differing] * (np.sign(self.parts.sum()) or 1.0)
        return differing[np.lexsort((parts < 0, -np.abs(parts)))]


def in_common(work: TaskResults, names: tuple[str, str], code: str) -> TaskResults:
    """The work with the instances alone on which both have losses; pairs of folds are left out."""
    facts = work.facts
    has = [{record.job.instance for record in work.records[name] if code in record.losses} for name in names]
    shared = [number for number in range(outer_instances(facts)) if number in has[0] & has[1]]
    if not shared:
        raise StatisticsError(
            f"{names[0]} and {names[1]} have no losses on the same cases of {facts.address}: nothing can be "
            "compared"
        )
    masks = [np.ones(len(facts.instances[number].case_numbers), dtype=np.bool_) for number in shared]
    return restricted(work, dict(zip(shared, masks, strict=True)), code)


def restricted(work: TaskResults, masks: Mapping[int, Mask], code: str) -> TaskResults:
    """The same on some of the cases; instances without any are left out."""
    kept = [number for number, mask in masks.items() if mask.any()]
    instances = tuple(_some_cases(work.facts.instances[number], masks[number]) for number in kept)
    scheme = work.facts.scheme
    facts = replace(
        work.facts,
        instances=instances,
        scheme="cross-validation" if scheme == "nested-cross-validation" else scheme,
        test_ratio=test_ratio(work.facts) if is_folded(work.facts) else None,
    )
    records = {
        name: [
            _cut(one, kept, masks, code) for one in some if one.job.instance in kept and code in one.losses
        ]
        for name, some in work.records.items()
    }
    return replace(work, facts=facts, records=records)


def _some_cases(one: InstanceFacts, mask: Mask) -> InstanceFacts:
    """What losses need to be analysed; truths stay only where all cases do."""
    if mask.all():
        return one
    return replace(
        one,
        case_numbers=one.case_numbers[mask],
        truths=(),
        units=None if one.units is None else one.units[mask],
        names=None if one.names is None else one.names[mask],
        weights=None if one.weights is None else one.weights[mask],
        columns={},
    )


def _cut(record: Record, kept: Sequence[int], masks: Mapping[int, Mask], code: str) -> Record:
    number = record.job.instance
    job = replace(record.job, instance=kept.index(number))
    return replace(record, job=job, losses={code: record.losses[code][masks[number]]}, answer=None)


@dataclass(frozen=True, eq=False)
class FlatPairs:
    """A row for every loss of the two: by instance, run and case."""

    first: Numbers
    second: Numbers
    share: Numbers
    """What part the row has of the difference."""
    names: Values
    units: Values
    place: NDArray[np.int64]
    """The row's place among the cases of all instances, one after the other."""


def flat_pairs(work: TaskResults, names: tuple[str, str], code: str) -> FlatPairs:
    """Every loss of the two methods, of runs that both have."""
    facts = work.facts
    parts = []
    starts = np.cumsum([0, *(len(one.case_numbers) for one in facts.instances)])
    for number, one in enumerate(facts.instances):
        tables = [
            [record.losses[code] for record in work.records[name] if record.job.instance == number]
            for name in names
        ]
        count = len(one.case_numbers)
        weights = np.ones(count) if one.weights is None else one.weights
        label = one.case_numbers if one.names is None else one.names
        runs = min(map(len, tables))
        share = weights / weights.sum() / runs / len(facts.instances)
        for first, second in zip(*tables, strict=False):
            units = label if one.units is None else one.units
            parts.append((first, second, share, label, units, starts[number] + np.arange(count)))
    return FlatPairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def paired_cases(flat: FlatPairs, columns: Mapping[str, CaseColumn]) -> PairedCases:
    """A row for every case."""
    names, first_row, index = np.unique(flat.names, return_index=True, return_inverse=True)
    answers = np.bincount(index)
    known = {name: np.concatenate(one.values)[flat.place[first_row]] for name, one in columns.items()}
    return PairedCases(
        names,
        np.bincount(index, flat.first) / answers,
        np.bincount(index, flat.second) / answers,
        np.asarray(np.bincount(index, (flat.first - flat.second) * flat.share), dtype=np.float64),
        answers,
        known,
    )
