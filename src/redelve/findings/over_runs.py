"""Several runs on one training and one test set, as PROBEN1 reports them (Prechelt 1994, section 2.8).

The unit is a run. What is found here is about seeds on this partition, beside the task's own comparisons,
which are for new test cases as well; neither says anything of other training sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from redelve.errors import StatisticsError
from redelve.findings.loss_tables import Numbers
from redelve.findings.task import Contest, TaskFindings
from redelve.run.results import Results, TaskFacts
from redelve.stats.many_runs import RunsComparison, RunSummary, compare_runs, summarise_runs

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
    contests = (one for one in found.contests if {one.first, one.second} == set(names.values()))
    return RunPair(first.method, second.method, compared, next(contests, None), tuple(caveats))


def _named(text: str, names: Mapping[str, str]) -> str:
    """A caveat with the methods called by their names."""
    which, separator, rest = text.partition(": ")
    return f"{names[which]}{separator}{rest}" if which in names else text
