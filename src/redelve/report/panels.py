"""Findings as a report goes through them: prototask by prototask, training sets from small to large."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite

from redelve.findings import Findings, LearningCurve, MethodFinding, TaskFindings
from redelve.stats.estimates import Analysis
from redelve.stats.multiple import guarded_p_value
from redelve.stats.seed_runs import RunsAnalysis, RunsTerms


@dataclass(frozen=True)
class Panel:
    """One prototask: its tasks by training-set size and its curves; methods in the order of the results."""

    prototask: str
    tasks: tuple[TaskFindings, ...]
    curves: tuple[LearningCurve, ...]
    methods: tuple[str, ...]

    @property
    def key(self) -> str:
        """The prototask's name, fit for files and anchors."""
        return slug(self.prototask)

    @property
    def largest(self) -> TaskFindings:
        """The task with the most training cases."""
        return self.tasks[-1]

    @property
    def is_standardised(self) -> bool:
        """Whether every loss of the panel has a standardised value."""
        found = [one for task in self.tasks for one in task.methods if one.mean is not None]
        return bool(found) and all(one.standardised is not None for one in found)

    def curve(self, method: str) -> LearningCurve | None:
        """A method's learning curve."""
        return next((curve for curve in self.curves if curve.method == method), None)


def panels(findings: Findings) -> tuple[Panel, ...]:
    """A panel for every prototask and loss."""
    grouped: dict[str, list[TaskFindings]] = {}
    for task in findings.tasks:
        grouped.setdefault(task.task.address.rpartition("/")[0], []).append(task)
    return tuple(
        Panel(
            prototask,
            tuple(sorted(tasks, key=lambda task: task.task.training_set_size)),
            tuple(curve for curve in findings.curves if curve.prototask == prototask),
            tuple(findings.results.methods),
        )
        for prototask, tasks in grouped.items()
    )


def slug(text: str) -> str:
    """A name of letters, digits and hyphens only.

    >>> slug("/kin-8nm/dist/std.64")
    'kin-8nm-dist-std-64'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower() or "x"


def task_label(task: TaskFindings) -> str:
    """`std.64 (64 training cases)`, short for tables."""
    return task.task.address.rpartition("/")[2]


def better_p(task: TaskFindings, first: str, second: str) -> float | None:
    """The cautious p-value of one comparison if the first method lost less; else None."""
    contest = next((one for one in task.contests if {one.first, one.second} == {first, second}), None)
    if contest is None or contest.difference is None or not isfinite(contest.difference):
        return None
    sign = 1 if contest.first == first else -1
    return guarded_p_value(contest.test) if sign * contest.difference < 0 else None


def variance_shares(finding: MethodFinding) -> dict[str, float]:
    """Which part of the squared standard error each source has; empty where that cannot be told.

    Manual eqs. 3 and 12, with runs as in docs/statistics.md; negative variances count as zero.
    """
    found = finding.estimate
    if isinstance(found, RunsAnalysis):
        parts = _runs_parts(found)
    elif isinstance(found, Analysis):
        parts = _parts(found, "seeds" if finding.is_one_partition else "training sets")
    else:
        parts = {}
    total = sum(parts.values())
    if not isfinite(total) or total <= 0:
        return {}
    return {source: part / total for source, part in parts.items()}


def _square(deviation: float | None) -> float:
    return 0.0 if deviation is None else deviation**2


def _parts(found: Analysis, groups: str) -> dict[str, float]:
    if found.standard_error is None:
        return {}
    sets, cases = found.training_sets, found.effective_test_cases
    parts = {groups: _square(found.sd_training) / sets}
    if found.sd_test_cases is not None:
        parts["test cases"] = _square(found.sd_test_cases) / cases
        return {**parts, "residual": _square(found.sd_residual) / (sets * cases)}
    return {**parts, "test cases and residual": _square(found.sd_residual) / (sets * cases)}


def _runs_parts(found: RunsAnalysis) -> dict[str, float]:
    variances = found.variances
    if variances is None:
        return {}
    sets, cases, runs = found.averaged.training_sets, found.averaged.effective_test_cases, found.runs
    parts = {
        "training sets": max(variances.training_sets, 0.0) / sets,
        "seeds": max(variances.seeds, 0.0) / (sets * runs),
    }
    return {
        **parts,
        **_case_parts(variances, sets, cases),
        "residual": max(variances.residual, 0.0) / (sets * runs * cases),
    }


def _case_parts(variances: RunsTerms, sets: int, cases: float) -> dict[str, float]:
    if variances.interaction is None:
        return {"test cases": max(variances.test_cases, 0.0) / (sets * cases)}
    return {
        "test cases": max(variances.test_cases, 0.0) / cases,
        "training set × test case": max(variances.interaction, 0.0) / (sets * cases),
    }
