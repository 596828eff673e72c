"""Calibration of predictive distributions: how often their intervals hold the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from redelve.errors import StatisticsError
from redelve.findings.loss_tables import Numbers
from redelve.findings.task import MethodFinding, analyse_task
from redelve.run.results import Record, Results, TaskFacts

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
