"""Findings as data frames, for those who want the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from redelve.answers.losses import in_order
from redelve.findings.claims import Contest
from redelve.findings.failures import FailedJobs, failed_jobs_of
from redelve.findings.findings import Coverage, Findings, ManyRuns, MethodRuns
from redelve.findings.margin import MarginOverTasks
from redelve.findings.over_tasks import PairOverTasks
from redelve.findings.task import MethodFinding, TaskFindings

if TYPE_CHECKING:
    import pandas as pd

    from redelve.run.results import Record, Results, TaskFacts

OVER_TASKS = (
    "first",
    "second",
    "tasks",
    "difference",
    "standard_error",
    "low",
    "high",
    "adjusted_p_value",
    "winner",
    "between",
    "new_low",
    "new_high",
    "margin_difference",
    "margin_low",
    "margin_high",
    "equivalent",
    "not_worse",
)
"""Columns of pairs over tasks; those of a margin are in its own terms, shares or amounts."""


def findings_frame(found: Findings) -> pd.DataFrame:
    """A row for every task and method; one without results says why in its column `reason`."""
    import pandas as pd

    reasons: dict[tuple[str, str], FailedJobs] = {}
    for one in failed_jobs_of(found.results):
        reasons.setdefault((one.task, one.method), one)
    known = {task.task.address: task for task in found.tasks}
    rows = []
    for address, facts in found.results.tasks.items():
        task = known.get(address)
        by_name = {one.method: one for one in task.methods} if task else {}
        for name in found.results.methods:
            failure = reasons.get((address, name))
            if task is not None and name in by_name:
                own = by_name[name].why_none or by_name[name].why_no_interval
                reason = own or None if failure is None else failure.reason
                rows.append({**_row(task, by_name[name]), "reason": reason})
            elif task is not None and name in task.without:
                rows.append(_row_without(task, name, found.results.of(name, address)))
            elif failure is not None:
                rows.append(_lost_row(facts, None if task is None else task.loss, failure))
    return pd.DataFrame(rows)


def _lost_row(facts: TaskFacts, loss: str | None, failure: FailedJobs) -> dict[str, object]:
    """The row of a method that came to nothing on a task."""
    return {
        "task": facts.address,
        "training_set_size": facts.training_set_size,
        "loss": loss,
        "method": failure.method,
        **dict.fromkeys(("mean", "standard_error", "low", "high", "standardised", "standardised_error")),
        "may_be_best": None,
        "instances": 0,
        "runs": 0,
        "failed": failure.jobs_in_all,
        "reason": failure.reason,
    }


def _row_without(task: TaskFindings, name: str, records: Sequence[Record]) -> dict[str, object]:
    """The row of a method whose losses are not all numbers."""
    failed = sum(one.status != "done" for one in records)
    lost = FailedJobs(name, task.task.address, "failed", task.without[name], failed, failed, 0)
    return {
        **_lost_row(task.task, task.loss, lost),
        "instances": len({one.job.instance for one in records if task.loss in one.losses}),
        "runs": len({one.job.run for one in records if task.loss in one.losses}),
    }


def _row(task: TaskFindings, method: MethodFinding) -> dict[str, object]:
    ends = sorted(map(task.judged_by.metric_value, method.bounds)) if method.bounds else (None, None)
    low, high = ends
    deviations = {f"sd {source}": value for source, value in method.deviations.items()}
    return {
        "task": task.task.address,
        "training_set_size": task.task.training_set_size,
        "loss": task.loss,
        "method": method.method,
        "mean": None if method.mean is None else task.judged_by.metric_value(method.mean),
        "standard_error": method.standard_error,
        "low": low,
        "high": high,
        "standardised": method.standardised,
        "standardised_error": method.standardised_error,
        "may_be_best": None if task.is_planned else method.method in task.best_group,
        "instances": method.instances,
        "runs": method.runs,
        "failed": method.failed,
        **deviations,
    }


def contests_frame(contests: Sequence[tuple[str, str, Contest]]) -> pd.DataFrame:
    """A row for every comparison, given with its task's address and loss."""
    import pandas as pd

    return pd.DataFrame([_contest_row(*one) for one in contests])


def _contest_row(address: str, loss: str, contest: Contest) -> dict[str, object]:
    sign = -1.0 if contest.judged_by is not None and contest.judged_by.higher_is_better else 1.0
    ends = None if contest.bounds is None else sorted(sign * end + 0.0 for end in contest.bounds)
    low, high = ends or (None, None)
    return {
        "task": address,
        "loss": loss,
        "first": contest.first,
        "second": contest.second,
        "difference": None if contest.difference is None else sign * contest.difference,
        "standard_error": contest.standard_error,
        "low": low,
        "high": high,
        "p_value": contest.p_value,
        "adjusted_p_value": contest.adjusted_p_value,
        "winner": contest.winner,
        "margin": None if contest.verdict is None else contest.verdict.amount,
        "equivalent": None if contest.verdict is None else contest.is_equivalent,
        "not_worse": None if contest.verdict is None else ", ".join(contest.not_worse),
        "advice": contest.advice,
    }


def over_tasks_frame(pairs: Sequence[PairOverTasks]) -> pd.DataFrame:
    """A row for every pair of methods over tasks."""
    import pandas as pd

    return pd.DataFrame([_pair_row(pair) for pair in pairs], columns=OVER_TASKS)


def _pair_row(pair: PairOverTasks) -> tuple[object, ...]:
    within = pair.within
    judged = None if within is None or within.why_not else within
    return (
        pair.first,
        pair.second,
        pair.tasks,
        *_in_scores(pair, (pair.difference,)),
        pair.standard_error,
        *_in_scores(pair, pair.claim.bounds),
        pair.claim.adjusted_p_value,
        pair.winner,
        pair.between,
        *_in_scores(pair, pair.prediction),
        *_margin_numbers(pair, judged),
        None if judged is None else pair.is_equivalent,
        None if judged is None else ", ".join(pair.not_worse),
    )


def _in_scores(pair: PairOverTasks, ends: Sequence[float] | None) -> list[float | None]:
    """Differences in the direction of the score that they are of; two unknown ones where there is none."""
    if ends is None:
        return [None, None]
    is_turned = pair.judged_by is not None and pair.judged_by.higher_is_better
    return [*sorted(-end for end in ends)] if is_turned else [*ends]


def _margin_numbers(pair: PairOverTasks, within: MarginOverTasks | None) -> list[float | None]:
    """Difference and interval in terms of the margin; shares are those of losses."""
    if within is None:
        return [None, None, None]
    if within.verdict.margin.is_relative or within.difference is None:
        return [within.difference, *(within.bounds or (None, None))]
    return [*_in_scores(pair, (within.difference,)), *_in_scores(pair, within.bounds)]


def coverage_frame(found: Sequence[Coverage]) -> pd.DataFrame:
    """A row for every task and method that gave predictive distributions."""
    import pandas as pd

    rows = [
        {
            "task": one.task,
            "method": one.method,
            "level": one.level,
            "coverage": one.share,
            "standard_error": one.standard_error,
        }
        for one in found
    ]
    return pd.DataFrame(rows, columns=["task", "method", "level", "coverage", "standard_error"])


def runs_frame(found: Sequence[ManyRuns]) -> pd.DataFrame:
    """A row for every task and method: statistics over runs that differ by their seeds alone."""
    import pandas as pd

    return pd.DataFrame([_runs_row(task, one) for task in found for one in task.methods])


def _runs_row(task: ManyRuns, one: MethodRuns) -> dict[str, object]:
    summary = one.summary
    return {
        "task": task.task.address,
        "loss": task.loss,
        "method": one.method,
        "runs": summary.runs,
        "mean": summary.mean,
        "standard_deviation": summary.standard_deviation,
        "best_run": None if summary.best is None else list(one.errors)[summary.best.run],
        "best": None if summary.best is None else summary.best.test_error,
        "minimum": summary.minimum,
        "lower_quartile": summary.quartiles[1],
        "median": summary.median,
        "upper_quartile": summary.quartiles[3],
        "maximum": summary.maximum,
    }


def jobs_frame(results: Results) -> pd.DataFrame:
    """A row for every job: what came of it, what it took, and what its method told of its training."""
    import pandas as pd

    return pd.DataFrame([_job_row(record) for record in results.records])


def _job_row(record: Record) -> dict[str, object]:
    job, costs = record.job, record.costs
    return {
        "task": job.task,
        "method": job.method,
        "instance": job.instance,
        "run": job.run,
        "status": record.status,
        "message": record.message,
        "training_seconds": costs.training_seconds,
        "prediction_seconds": costs.prediction_seconds,
        "peak_memory": costs.peak_memory,
        **{f"told.{name}": value for name, value in record.told.items()},
    }


def cases_frame(results: Results) -> pd.DataFrame:
    """A row for every job and test case, with a column for each loss: all there is to analyse."""
    import pandas as pd

    parts = []
    for record in results.records:
        if record.losses:
            numbers = results.task(record.job.task).instances[record.job.instance].case_numbers
            columns = {f"loss.{code}": record.losses[code] for code in in_order(record.losses)}
            part = pd.DataFrame({"case": numbers, **columns})
            part.insert(0, "run", record.job.run)
            part.insert(0, "instance", record.job.instance)
            part.insert(0, "method", record.job.method)
            part.insert(0, "task", record.job.task)
            parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
