"""What results hold of each method on a task: tables of losses, costs, runs with other seeds.

A table has runs by test cases, for every instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from redelve.answers.losses import Loss, primary_loss_for
from redelve.errors import StatisticsError
from redelve.findings.failures import on_one_line
from redelve.model.dataset import Numbers
from redelve.model.designs.folds import outer_folds
from redelve.run.results import Record, Results, TaskFacts, TaskResults
from redelve.stats.many_runs import RunsComparison, RunSummary, compare_runs, summarise_runs
from redelve.stats.resampled import NestedCV, nested_cross_validation
from redelve.stats.units import pool_units

if TYPE_CHECKING:
    from redelve.findings.claims import Contest
    from redelve.findings.task import TaskFindings


@dataclass(frozen=True)
class MethodLosses:
    """One method's losses on one task: for each instance that has any, a table of runs by cases (or units).

    All instances have the same number of runs. `missing` are the instances without losses.
    """

    method: str
    by_instance: Mapping[int, Numbers]
    missing: tuple[int, ...]
    runs: int
    code: str = ""
    """The loss that they are of."""
    metric: Loss | None = None
    """The loss itself, where it is a metric that is no mean of cases and these are pseudo-values."""

    def of(self, instances: Sequence[int]) -> list[Numbers]:
        """The tables of the given instances."""
        return [self.by_instance[number] for number in instances]


def primary_loss(facts: TaskFacts) -> str:
    """The loss a task is judged by unless the user chooses: squared error, or zero-one for categories."""
    return primary_loss_for(facts.targets)


def judge_of(work: TaskResults, loss: str | None = None) -> str:
    """The loss that a task is judged by: the one asked for, or the primary one, or the first there is."""
    codes = tuple(work.losses)
    chosen = loss or work.primary
    return chosen if chosen in codes or not codes else codes[0]


def judged_results(results: Results, loss: str | None = None) -> Results:
    """The results with no other loss than the one that each task is judged by."""
    judges = {address: judge_of(results.on(address), loss) for address in results.tasks}
    records = []
    for record in results.records:
        judge = judges[record.job.task]
        kept = {code: losses for code, losses in record.losses.items() if code == judge}
        records.append(replace(record, losses=kept))
    return replace(results, records=tuple(records))


def is_folded(facts: TaskFacts) -> bool:
    """Whether cases train in one instance and test in another."""
    return facts.scheme in ("cross-validation", "nested-cross-validation", "time")


def loss_codes(results: Results, address: str) -> tuple[str, ...]:
    """The losses that some record of a task has, in their order."""
    return tuple(results.on(address).losses)


def losses_on(results: Results, address: str, code: str) -> dict[str, MethodLosses]:
    """The losses of every method that has some on this task."""
    return losses_of(results.on(address), code)


def losses_of(work: TaskResults, code: str) -> dict[str, MethodLosses]:
    """The losses of every method that has some."""
    judge = work.losses[code].loss if code in work.losses else None
    metric = None if judge is None or judge.mean_of_cases else judge
    found = [
        _method_losses(records, work.facts, name, code, metric) for name, records in work.records.items()
    ]
    usable = {losses.method: losses for losses in found if losses.by_instance}
    if not usable:
        raise StatisticsError(_no_losses(work, code))
    return usable


def _no_losses(work: TaskResults, code: str) -> str:
    """What there is in place of the losses asked for: others, or failures."""
    if work.losses:
        return f'there are no losses "{code}" on {work.facts.address}: it has {", ".join(work.losses)}'
    failed = [one for records in work.records.values() for one in records if one.status != "done"]
    told = f": {failed[0].job.method} {failed[0].status}: {on_one_line(failed[0].message)}" if failed else ""
    return f"no method has losses on {work.facts.address}{told}"


def _method_losses(
    records: Sequence[Record], facts: TaskFacts, name: str, code: str, metric: Loss | None
) -> MethodLosses:
    rows: dict[int, list[Numbers]] = {}
    for record in records:
        if code in record.losses:
            rows.setdefault(record.job.instance, []).append(_units(record, facts, code, metric))
    runs = min((len(tables) for tables in rows.values()), default=0)
    tables = {number: np.stack(found[:runs]) for number, found in rows.items()}
    missing = tuple(number for number in range(len(facts.instances)) if number not in tables)
    return MethodLosses(name, tables, missing, runs, code, metric)


def _units(record: Record, facts: TaskFacts, code: str, metric: Loss | None) -> Numbers:
    """The losses, dependent cases pooled into one value per unit."""
    instance, losses = facts.instances[record.job.instance], record.losses[code]
    if is_folded(facts):
        return losses
    units = instance.units if metric is None else metric.unit_numbers(instance.truths[0], instance.units)
    return losses if units is None else pool_units([losses], [units])[0]


def outer_instances(facts: TaskFacts) -> int:
    """How many of a task's instances, the first ones, are folds; in plain cross-validation all are."""
    if facts.scheme != "nested-cross-validation":
        return len(facts.instances)
    return facts.repetitions * outer_folds(len(facts.instances), facts.repetitions)


def is_grouped(facts: TaskFacts) -> bool:
    """Whether cases are cross-validated of which some belong together."""
    if not is_folded(facts):
        return False
    units = [one.units for one in facts.instances[: outer_instances(facts)]]
    return any(one is not None and np.unique(one).size < one.size for one in units)


def nested_estimate(facts: TaskFacts, losses: MethodLosses) -> NestedCV:
    """The expected loss with the standard error of Bates, Hastie and Tibshirani (2024)."""
    outer_count = outer_instances(facts)
    folds = outer_count // facts.repetitions
    outer = [losses.by_instance[number].mean(axis=0) for number in range(outer_count)]
    by_repetition = [outer[start : start + folds] for start in range(0, outer_count, folds)]
    return nested_cross_validation(inner_losses(facts, losses), by_repetition)


def inner_losses(facts: TaskFacts, losses: MethodLosses) -> list[list[Numbers]]:
    """By repetition and fold left aside: the losses of all other cases, which its pairs of folds tell."""
    position = outer_instances(facts)
    folds = position // facts.repetitions
    inner = []
    for start in range(0, position, folds):
        members = [facts.instances[start + k].case_numbers for k in range(folds)]
        parts: list[list[Numbers]] = [[] for _ in range(folds)]
        for left, right in combinations(range(folds), 2):
            tested = facts.instances[position].case_numbers
            table = losses.by_instance[position].mean(axis=0)
            parts[left].append(table[np.isin(tested, members[right])])
            parts[right].append(table[np.isin(tested, members[left])])
            position += 1
        inner.append([np.concatenate(part) for part in parts])
    return inner


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


# Several runs on one training and one test set, as PROBEN1 reports them (Prechelt 1994, section 2.8). The
# unit is a run. What is found is about seeds on this partition, beside the task's own comparisons, which are
# for new test cases as well; neither says anything of other training sets.

Validation = Mapping[str, Mapping[int, float]]
"""By method and number of the run: an error on cases that the run did not learn from, nor was tested on."""
NO_LOGS = "errors are compared as they are, since not all of them are above 0 and have a logarithm"


@dataclass(frozen=True, eq=False)
class MethodRuns:
    """A method's runs: the mean loss of each, by its number, and their statistics."""

    method: str
    errors: Mapping[int, float]
    summary: RunSummary

    @property
    def values(self) -> Numbers:
        """The mean losses in the order of the runs."""
        return np.array(list(self.errors.values()))


@dataclass(frozen=True)
class RunPair:
    """Two methods' runs compared by PROBEN1's t-test, and the task's own comparison beside it."""

    first: str
    second: str
    comparison: RunsComparison
    contest: Contest | None
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class ManyRuns:
    """All methods' runs on a task with one training and one test set, by one loss."""

    task: TaskFacts
    loss: str
    methods: tuple[MethodRuns, ...]
    pairs: tuple[RunPair, ...]

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be said beside the comparisons, each once."""
        return tuple(dict.fromkeys(text for pair in self.pairs for text in pair.caveats))


def many_runs(results: Results, found: TaskFindings, validation: Validation | None = None) -> ManyRuns | None:
    """The runs on a task; None where there are several training sets, or no method has several runs."""
    if len(found.task.instances) != 1:
        return None
    known = validation or {}
    methods = tuple(
        made
        for one in found.methods
        if (made := _runs_of(results, found, one.method, known.get(one.method))) is not None
    )
    if not any(one.summary.runs > 1 for one in methods):
        return None
    several = [one for one in methods if one.summary.runs > 1]
    pairs = tuple(_pair(found, *both) for both in combinations(several, 2))
    return ManyRuns(found.task, found.loss, methods, pairs)


def _runs_of(
    results: Results, found: TaskFindings, method: str, validation: Mapping[int, float] | None
) -> MethodRuns | None:
    errors = {
        record.job.run: float(record.losses[found.loss].mean())
        for record in results.of(method, found.task.address)
        if found.loss in record.losses
    }
    if not errors or not np.isfinite(list(errors.values())).all():
        return None
    criteria = None
    if validation is not None:
        if lacking := [run for run in errors if run not in validation]:
            raise StatisticsError(
                f"{method} has no validation error for run {lacking[0]} on {found.task.address}: give one "
                "for every run, or none"
            )
        criteria = [validation[run] for run in errors]
    return MethodRuns(method, errors, summarise_runs(list(errors.values()), criteria))


def _pair(found: TaskFindings, first: MethodRuns, second: MethodRuns) -> RunPair:
    has_logs = bool((first.values > 0).all() and (second.values > 0).all())
    compared = compare_runs(first.values, second.values, log=has_logs)
    names = {"first method": first.method, "second method": second.method}
    caveats = [_named(text, names) for text in compared.caveats]
    caveats += [] if has_logs else [f"{first.method}, {second.method}: {NO_LOGS}"]
    contest = found.by_pair.get(frozenset(names.values()))
    return RunPair(first.method, second.method, compared, contest, tuple(caveats))


def _named(text: str, names: Mapping[str, str]) -> str:
    """A caveat with the methods called by their names."""
    which, separator, rest = text.partition(": ")
    return f"{names[which]}{separator}{rest}" if which in names else text
