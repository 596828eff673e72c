"""What methods cost: time to learn and to answer, memory, and who is beaten in both loss and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from redelve.findings.task import TaskFindings
from redelve.run.results import Record, Results


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
