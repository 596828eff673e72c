"""Which losses belong together: per task and method a table of runs by test cases for every instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses import in_order, primary_loss_for
from redelve.errors import StatisticsError
from redelve.run.results import Record, Results, TaskFacts
from redelve.stats.units import pool_units

Numbers = NDArray[np.float64]


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


def loss_codes(results: Results, address: str) -> tuple[str, ...]:
    """The losses that some record of a task has, in their order."""
    found = {code for record in results.records if record.job.task == address for code in record.losses}
    return in_order(found)


def losses_on(results: Results, address: str, code: str) -> dict[str, MethodLosses]:
    """The losses of every method that has some on this task."""
    facts = results.task(address)
    found = {name: _method_losses(results.of(name, address), facts, name, code) for name in results.methods}
    usable = {name: losses for name, losses in found.items() if losses.by_instance}
    if not usable:
        raise StatisticsError(
            f'there are no losses "{code}" on {address}: it has {", ".join(loss_codes(results, address))}'
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
    if instance.units is None or facts.is_cross_validation:
        return losses
    return pool_units([losses], [instance.units])[0]
