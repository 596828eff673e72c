"""What is known of methods beside their losses: what they cost, how often their intervals hold the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from redelve.errors import StatisticsError
from redelve.findings.loss_tables import Numbers
from redelve.findings.task import MethodFinding, TaskFindings, analyse_task
from redelve.run.results import Record, Results, TaskFacts


@dataclass(frozen=True)
class MethodCosts:
    """A method's costs on a task: medians over its jobs, which one slow moment of the machine does not move.

    `on_front` is True where no other method has both a smaller mean loss and a smaller training time.
    """

    method: str
    task: str
    jobs: int
    training_seconds: float | None
    prediction_seconds: float | None
    cpu_seconds: float | None
    peak_memory: float | None
    mean_loss: float | None
    on_front: bool
    machines: int
    """How many kinds of machine did the jobs: times of different machines cannot be compared."""


def costs_of(results: Results, findings: TaskFindings) -> tuple[MethodCosts, ...]:
    """The costs of every method on a task."""
    address = findings.task.address
    times = {one.method: _seconds(results.of(one.method, address)) for one in findings.methods}
    losses = {one.method: one.mean for one in findings.methods}
    return tuple(
        _method_costs(
            name, address, results.of(name, address), losses[name], _is_on_front(name, losses, times)
        )
        for name in times
    )


def _done(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.status == "done"]


def _seconds(records: Sequence[Record]) -> float | None:
    return _median([record.costs.training_seconds for record in _done(records)])


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _is_on_front(name: str, losses: dict[str, float | None], times: dict[str, float | None]) -> bool:
    mine, my_time = losses[name], times[name]
    if mine is None or my_time is None:
        return False
    return not any(
        loss is not None
        and (time := times[other]) is not None
        and loss <= mine
        and time <= my_time
        and (loss < mine or time < my_time)
        for other, loss in losses.items()
        if other != name
    )


def _method_costs(
    name: str, address: str, records: Sequence[Record], loss: float | None, on_front: bool
) -> MethodCosts:
    done = _done(records)
    machines = {(one.environment.get("processor"), one.environment.get("machine")) for one in done}
    return MethodCosts(
        name,
        address,
        len(done),
        _median([record.costs.training_seconds for record in done]),
        _median([record.costs.prediction_seconds for record in done]),
        _median([record.costs.cpu_seconds for record in done]),
        _median([record.costs.peak_memory for record in done]),
        loss,
        on_front,
        len(machines),
    )


OUTSIDE = "outside"


@dataclass(frozen=True)
class Coverage:
    """The share of test cases inside the central interval of a level, with its standard error."""

    method: str
    task: str
    level: float
    share: float
    standard_error: float | None
    finding: MethodFinding


def coverage_of(results: Results, level: float = 0.9) -> tuple[Coverage, ...]:
    """Coverage of every method that gave predictive distributions, analysed like a loss.

    A case counts as covered if all its targets lie in the central intervals of their distributions. The
    standard error is that of the task's design, so it allows for training sets, not for test cases alone.
    """
    if not 0 < level < 1:
        raise StatisticsError(f"the level of an interval lies between 0 and 1, as 0.9: got {level}")
    marked = replace(
        results,
        records=tuple(
            replace(record, losses={OUTSIDE: _outside(record, results.task(record.job.task), level)})
            for record in results.records
            if record.answer is not None
            and record.answer.distributions is not None
            and record.fallback is None
        ),
    )
    found = []
    for address in marked.tasks:
        if any(record.job.task == address for record in marked.records):
            for one in analyse_task(marked, address, OUTSIDE).methods:
                if one.mean is not None:
                    found.append(Coverage(one.method, address, level, 1 - one.mean, one.standard_error, one))
    return tuple(found)


def _outside(record: Record, facts: TaskFacts, level: float) -> Numbers:
    assert record.answer is not None
    assert record.answer.distributions is not None
    truths = facts.instances[record.job.instance].truths
    pairs = zip(truths, record.answer.distributions.distributions, strict=True)
    inside = [distribution.covers(truth.values, level) for truth, distribution in pairs]
    outside: Numbers = 1.0 - np.logical_and.reduce(inside).astype(np.float64)
    return outside
