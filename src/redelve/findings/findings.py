"""Everything that results have to say, for a report: each task, tasks together, curves over sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from redelve.errors import StatisticsError
from redelve.findings.by_method import judge_of, losses_of, no_such_loss
from redelve.findings.claims import Contest, StandardLoss, prototask_of
from redelve.findings.curves import CurvePoint, LearningCurve, Losses, more_data_of, why_no_more_data
from redelve.findings.failures import failed_jobs_of
from redelve.findings.margin import Margin, MarginLike
from redelve.findings.planned import planned_pairs
from redelve.findings.racing import judged_tasks, refuse_another_question
from redelve.findings.task import (
    MethodFinding,
    TaskFindings,
    claimed,
    comparisons_on,
    described,
    finding_of,
)
from redelve.findings.tasks_together import AcrossTasks, across_tasks
from redelve.findings.validity import Note, check_results
from redelve.model.dataset import Numbers
from redelve.registry import Registry
from redelve.run.results import Record, Results, TaskFacts
from redelve.stats.many_runs import RunsComparison, RunSummary, compare_runs, summarise_runs

OUTSIDE = "outside"
LEVELS = (0.5, 0.9)
"""The central predictive intervals whose coverage a report shows."""


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
            work = marked.on(address)
            standard = StandardLoss(None, work.losses[OUTSIDE].is_shift)
            for losses in losses_of(work, OUTSIDE).values():
                one = finding_of(work, losses, standard, (0.0, 1.0))
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
    """The runs on a task; None where there are several training sets, or no method has several runs.

    Several answers of fixed models are no runs: nobody was trained, and they are averaged case by case.
    """
    if len(found.task.instances) != 1 or found.task.is_fixed:
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
    with np.errstate(invalid="ignore"):  # ∞ and −∞ have no mean
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


VIEWS: Registry[Callable[[Any], str]] = Registry("view in a notebook")
VIEWS.add("findings", "redelve.report.notebook:findings_html")


@dataclass(frozen=True)
class Findings:
    """Findings of every task by its primary loss, of the other losses beside it, and of tasks together."""

    results: Results
    tasks: tuple[TaskFindings, ...]
    other_losses: tuple[TaskFindings, ...]
    curves: tuple[LearningCurve, ...]
    across: AcrossTasks | None
    costs: tuple[MethodCosts, ...]
    notes: tuple[Note, ...]
    runs: tuple[ManyRuns, ...]
    """Of tasks with one training and one test set and several runs: what differs between seeds."""
    coverage: tuple[Coverage, ...]
    """Of central predictive intervals at each of `LEVELS`."""

    def __repr__(self) -> str:
        words = ", ".join(dict.fromkeys(task.loss_words for task in self.tasks))
        return f"<Findings on {len(self.tasks)} tasks, judged by {words}; {len(self.notes)} validity notes>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return VIEWS["findings"](self)

    def task(self, address: str) -> TaskFindings:
        """What was found on a task by its primary loss."""
        for found in self.tasks:
            if found.task.address == address:
                return found
        why = [f"{one.method}: {one.reason}" for one in failed_jobs_of(self.results) if one.task == address]
        told = f"; first failure of {why[0]}" if why else ""
        raise StatisticsError(f"nothing was found on {address}: no method has losses there{told}")


def learning_curves(
    findings: Sequence[TaskFindings], losses: Losses | None = None
) -> tuple[LearningCurve, ...]:
    """A curve for every method and prototask that has results, sizes in increasing order.

    What twice the data would do takes the losses themselves, by address and method.
    """
    tasks: dict[tuple[str, str, str], list[TaskFindings]] = {}
    for task in findings:
        for one in task.methods:
            if one.mean is not None:
                key = (prototask_of(task.task.address), one.method, task.loss)
                tasks.setdefault(key, []).append(task)
    several = sum(len(sizes) > 1 for sizes in tasks.values())
    found = []
    for (prototask, method, loss), sizes in tasks.items():
        ordered = sorted(sizes, key=lambda task: task.task.training_set_size)
        points = tuple(_point(task, task.method(method)) for task in ordered)
        more = more_data_of(ordered, method, losses or {}, several) if len(ordered) > 1 else None
        is_unknown = more is None and len(ordered) > 1
        why = why_no_more_data(ordered, method, losses or {}) if is_unknown else ""
        found.append(LearningCurve(method, prototask, loss, points, more, ordered[0].judged_by, why))
    return tuple(found)


def _point(task: TaskFindings, one: MethodFinding) -> CurvePoint:
    assert one.mean is not None
    low, high = one.bounds or (None, None)
    return CurvePoint(
        task.task.address,
        task.task.training_set_size,
        one.mean,
        one.standard_error,
        low,
        high,
        one.standardised,
        one.standardised_error,
    )


def find(
    results: Results,
    loss: str | None = None,
    *,
    planned: Sequence[tuple[str, str]] | None = None,
    margin: MarginLike | None = None,
) -> Findings:
    """Analyse everything; `loss` is the one to judge by, else squared error or zero-one.

    Comparisons are those of all pairs of methods, or the `planned` ones alone, which then pay for no others.
    With a `margin`, such as 0.5 or "2%", they say who is equivalent within it, or not worse by more.
    """
    compared, others = [], []
    pairs = None if planned is None else planned_pairs(planned, results.methods)
    for address in results.tasks:
        work = results.on(address)
        codes = tuple(work.losses)
        if not codes:
            continue
        if loss is not None and loss not in codes:
            raise StatisticsError(no_such_loss(work, loss))
        chosen = judge_of(work, loss)
        compared.append(comparisons_on(work, chosen, pairs))
        others += [described(work, code) for code in codes if code != chosen]
    if not results.records:
        raise StatisticsError("there is nothing to analyse: there are no records of jobs")
    within = None if margin is None else Margin.of(margin)
    if within is not None:
        within.refuse_all([task.work.losses[task.code].limits for task in compared])
    if results.races:
        refuse_another_question(results, compared, within, is_planned=pairs is not None)
    judged = judged_tasks(results.races, compared, within) if results.races else claimed(compared, within)
    is_alone = len({prototask_of(task.address) for task in compared}) < 2
    return Findings(
        results,
        judged,
        tuple(others),
        learning_curves(judged, {task.work.facts.address: task.losses for task in compared}),
        None if is_alone else across_tasks(judged, compared, within),
        tuple(cost for task in judged for cost in costs_of(results, task)),
        check_results(results, pairs, loss),
        tuple(runs for task in judged if (runs := many_runs(results, task)) is not None),
        tuple(one for level in LEVELS for one in coverage_of(results, level)),
    )
