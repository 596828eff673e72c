"""Two methods on slices of a task's cases, each analysed by the task's own design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from redelve.errors import StatisticsError
from redelve.findings.by_method import losses_of
from redelve.findings.case_columns import CaseColumn
from redelve.findings.paired_cases import Mask, flat_pairs, restricted
from redelve.findings.task import squares_of_pairs
from redelve.run.results import TaskFacts, TaskResults
from redelve.stats.families import PairSquares, joined
from redelve.stats.slices import SliceDifference, compare_slices, slices_of_squares


@dataclass(frozen=True)
class NamedSlice:
    """Some of the cases, by the value that a column has there, and how two methods differ on them."""

    column: str
    value: str
    found: SliceDifference
    first_mean: float
    second_mean: float

    @property
    def is_range(self) -> bool:
        """Whether its value says the column's name as well: "age ≤ 30"."""
        return self.column in self.value and any(sign in self.value for sign in (" ≤ ", " > "))


def slices_by(
    work: TaskResults, names: tuple[str, str], code: str, columns: Mapping[str, CaseColumn]
) -> tuple[NamedSlice, ...]:
    """Every slice of every column; all of them are tested together."""
    cut = [
        (name, value, {number: labels == value for number, labels in enumerate(column.values)})
        for name, column in columns.items()
        for value in column.slices
    ]
    if not cut:
        return ()
    found = _compared(work, names, code, [masks for _, _, masks in cut])
    made = []
    for (column, value, masks), one in zip(cut, found, strict=True):
        flat = flat_pairs(restricted(work, masks, code), names, code)
        means = [float(losses @ flat.share) for losses in (flat.first, flat.second)]
        made.append(NamedSlice(column, value, one, means[0], means[1]))
    return tuple(made)


def _compared(
    work: TaskResults, names: tuple[str, str], code: str, masks: Sequence[Mapping[int, Mask]]
) -> tuple[SliceDifference, ...]:
    """Every slice by the analysis of the task's design."""
    facts = work.facts
    tables = {name: losses.by_instance for name, losses in losses_of(work, code).items()}
    runs = max(len(tables[name][0]) for name in names)
    if len(facts.instances) == 1 and (facts.is_fixed or runs == 1):
        (one,) = facts.instances
        means = [np.mean([record.losses[code] for record in work.records[name]], axis=0) for name in names]
        return compare_slices(
            means[0], means[1], [mask[0] for mask in masks], groups=one.units, weights=one.weights
        )
    several = [restricted(work, mask, code) for mask in masks]
    squares = _of_all([_squares(one, names, code, facts) for one in several], several, names, code)
    counts = [len(np.unique(flat_pairs(one, names, code).names)) for one in several]
    return slices_of_squares(squares, counts, [_units(one.facts) for one in several])


def _squares(work: TaskResults, names: tuple[str, str], code: str, whole: TaskFacts) -> PairSquares | None:
    """What the two differ by on a slice, and what that varies; None where a single training set tests it."""
    if len(work.facts.instances) < min(2, len(whole.instances)):
        return None
    try:
        return squares_of_pairs(work.facts, losses_of(work, code), [names])
    except StatisticsError:
        return None


def _of_all(
    found: Sequence[PairSquares | None], several: Sequence[TaskResults], names: tuple[str, str], code: str
) -> PairSquares:
    """The slices in one; of those that can not be analysed the difference alone is known."""
    nothing = np.full(1, np.nan)
    has_shared = any(one is not None and one.shared is not None for one in found)
    every = []
    for known, work in zip(found, several, strict=True):
        one = known
        if one is None:
            flat = flat_pairs(work, names, code)
            difference = np.array([float((flat.first - flat.second) @ flat.share)])
            one = PairSquares(difference, nothing, nothing, nothing, nothing, nothing if has_shared else None)
        every.append(one)
    return joined(every)


def _units(facts: TaskFacts) -> int:
    """How many independent cases there are."""
    labels = [
        (one.case_numbers if one.names is None else one.names) if one.units is None else one.units
        for one in facts.instances
    ]
    return int(np.unique(np.concatenate(labels)).size)
