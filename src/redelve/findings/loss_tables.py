"""Which losses belong together: per task and method a table of runs by test cases for every instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from redelve.answers.losses import primary_loss_for
from redelve.errors import StatisticsError
from redelve.model.dataset import Numbers
from redelve.model.designs.folds import outer_folds
from redelve.run.results import Record, Results, TaskFacts, TaskResults
from redelve.stats.resampled import NestedCV, nested_cross_validation
from redelve.stats.units import pool_units


@dataclass(frozen=True)
class MethodLosses:
    """One method's losses on one task: for each instance that has any, a table of runs by cases (or units).

    All instances have the same number of runs. `missing` are the instances without losses.
    """

    method: str
    by_instance: Mapping[int, Numbers]
    missing: tuple[int, ...]
    runs: int

    def of(self, instances: Sequence[int]) -> list[Numbers]:
        """The tables of the given instances."""
        return [self.by_instance[number] for number in instances]


def primary_loss(facts: TaskFacts) -> str:
    """The loss a task is judged by unless the user chooses: squared error, or zero-one for categories."""
    return primary_loss_for(facts.targets)


def is_folded(facts: TaskFacts) -> bool:
    """Whether cases train in one instance and test in another."""
    return facts.scheme in ("cross-validation", "nested-cross-validation")


def loss_codes(results: Results, address: str) -> tuple[str, ...]:
    """The losses that some record of a task has, in their order."""
    return tuple(results.on(address).losses)


def losses_on(results: Results, address: str, code: str) -> dict[str, MethodLosses]:
    """The losses of every method that has some on this task."""
    return losses_of(results.on(address), code)


def losses_of(work: TaskResults, code: str) -> dict[str, MethodLosses]:
    """The losses of every method that has some."""
    found = [_method_losses(records, work.facts, name, code) for name, records in work.records.items()]
    usable = {losses.method: losses for losses in found if losses.by_instance}
    if not usable:
        raise StatisticsError(
            f'there are no losses "{code}" on {work.facts.address}: it has {", ".join(work.losses)}'
        )
    return usable


def _method_losses(records: Sequence[Record], facts: TaskFacts, name: str, code: str) -> MethodLosses:
    rows: dict[int, list[Numbers]] = {}
    for record in records:
        if code in record.losses:
            rows.setdefault(record.job.instance, []).append(_units(record, facts, code))
    runs = min((len(tables) for tables in rows.values()), default=0)
    tables = {number: np.stack(found[:runs]) for number, found in rows.items()}
    missing = tuple(number for number in range(len(facts.instances)) if number not in tables)
    return MethodLosses(name, tables, missing, runs)


def _units(record: Record, facts: TaskFacts, code: str) -> Numbers:
    """The losses, dependent cases pooled into one value per unit."""
    instance, losses = facts.instances[record.job.instance], record.losses[code]
    if instance.units is None or is_folded(facts):
        return losses
    return pool_units([losses], [instance.units])[0]


def outer_instances(facts: TaskFacts) -> int:
    """How many of a task's instances, the first ones, are folds; in plain cross-validation all are."""
    if facts.scheme != "nested-cross-validation":
        return len(facts.instances)
    return facts.repetitions * outer_folds(len(facts.instances), facts.repetitions)


def nested_estimate(facts: TaskFacts, losses: MethodLosses) -> NestedCV:
    """The expected loss with the standard error of Bates, Hastie and Tibshirani (2024)."""
    outer_count = outer_instances(facts)
    folds = outer_count // facts.repetitions
    outer = [losses.by_instance[number].mean(axis=0) for number in range(outer_count)]
    by_repetition, inner = [], []
    position = outer_count
    for repetition in range(facts.repetitions):
        start = repetition * folds
        members = [facts.instances[start + k].case_numbers for k in range(folds)]
        parts: list[list[Numbers]] = [[] for _ in range(folds)]
        for left, right in combinations(range(folds), 2):
            tested = facts.instances[position].case_numbers
            table = losses.by_instance[position].mean(axis=0)
            parts[left].append(table[np.isin(tested, members[right])])
            parts[right].append(table[np.isin(tested, members[left])])
            position += 1
        inner.append([np.concatenate(part) for part in parts])
        by_repetition.append(outer[start : start + folds])
    return nested_cross_validation(inner, by_repetition)
