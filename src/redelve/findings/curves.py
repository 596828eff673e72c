"""Learning curves: expected losses by training-set size, and whether twice the data would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from redelve.answers.losses import Loss
from redelve.findings.by_method import MethodLosses, is_folded
from redelve.findings.claims import LEVEL, SHARE_SOUGHT
from redelve.findings.task import MethodFinding, TaskFindings
from redelve.model.dataset import Numbers
from redelve.stats.extrapolation import (
    MOST_SIZES,
    SizeMeans,
    WhyUnknown,
    at_twice_the_data,
    means_by_case,
    means_by_set,
    why_unknown,
)
from redelve.text_numbers import per_cent, per_cents, significant

WORTH = SHARE_SOUGHT
"""The fall of the loss that makes twice the data worth having: a share of it, or an amount of log loss.

A log loss that falls by 0.02 gives what happens a probability higher by 2 %.
"""
PLACES = 4
"""Log losses are written no finer."""
Losses = Mapping[str, Mapping[str, MethodLosses]]
"""By address and method."""


@dataclass(frozen=True)
class CurvePoint:
    """The expected loss at one training-set size."""

    address: str
    training_set_size: int
    mean: float
    standard_error: float | None
    low: float | None
    high: float | None
    standardised: float | None
    standardised_error: float | None


@dataclass(frozen=True)
class MoreData:
    """By how much the loss is expected to fall from the largest training sets to sets twice as large.

    `low` and `high` are an interval of 95 %, for all curves of a report at once. A fall is a share of the
    loss at the largest size; an amount where the loss has no natural zero. `fall` takes three sizes; it is
    None for two.
    """

    training_set_size: int
    sizes: tuple[int, ...]
    fall: float | None
    low: float
    high: float
    curves: int

    @property
    def verdict(self) -> str:
        """`yes` or `no` where the whole interval says so, else `cannot be told`."""
        return "yes" if self.low >= WORTH else "no" if self.high < WORTH else "cannot be told"


@dataclass(frozen=True)
class LearningCurve:
    """One method on one prototask."""

    method: str
    prototask: str
    loss: str
    points: tuple[CurvePoint, ...]
    more_data: MoreData | None = None
    """What twice the data would do; None where that cannot be told at all."""
    judged_by: Loss | None = None
    """The loss itself; None where only its code is known."""
    why_unknown: str = ""
    """Why nothing can be told of twice the data, where several sizes do not tell."""

    @property
    def is_shift(self) -> bool:
        """Whether the loss has no natural zero."""
        return self.judged_by is not None and self.judged_by.is_shift

    @property
    def falls(self) -> str:
        """What falls as methods get better: of a metric whose best value is 1, what it lacks."""
        return "loss" if self.judged_by is None else self.judged_by.what_falls

    @property
    def would_more_data_help(self) -> str:
        """The verdict on twice the data, with its reason; empty where nothing can be told."""
        found = self.more_data
        if found is None:
            return ""
        lead = f"{found.verdict}: at twice the data the {self.falls}"
        together = f", all {found.curves} curves at once" if found.curves > 1 else ""
        ends = self._range(found.low, found.high)
        if found.verdict == "yes" and found.fall is not None:
            by = self.amount(found.fall)
            return f"{lead} is expected to fall by {by} (95 % interval {ends}{together})"
        if found.verdict == "yes":
            return f"{lead} is expected to fall by {ends} (95 % interval{together})"
        if found.verdict == "no" and found.high > 0:
            most = self.amount(found.high)
            most = most if most.startswith("less") else f"{most} at most"
            return f"{lead} is expected to fall by {most} (95 % interval{together})"
        if found.verdict == "no":
            return f"{lead} is expected not to fall (95 % interval{together})"
        may = f"change by {self._range(-found.high, -found.low, is_change=True)}"
        few = "; two sizes tell little" if len(found.sizes) < 3 else ""
        return f"{lead} may {f'fall by {ends}' if found.low > 0 else may} (95 % interval{together}){few}"

    def amount(self, fall: float) -> str:
        """A fall in words: per cent of the loss, or an amount where the loss has no natural zero."""
        if not self.is_shift:
            return per_cent(fall)
        text = significant(fall, PLACES)
        return text if text != "0" or fall <= 0 else f"less than {10**-PLACES:.{PLACES}f}"

    def _range(self, low: float, high: float, *, is_change: bool = False) -> str:
        if not self.is_shift:
            return per_cents(low, high, is_change=is_change)
        ends = [significant(end, PLACES) for end in (low, high)]
        signs = [
            "+" if is_change and end > 0 and text != "0" else ""
            for end, text in zip((low, high), ends, strict=True)
        ]
        return " to ".join(map(str.__add__, signs, ends))


REASONS: Mapping[WhyUnknown, str] = {
    "nothing lost": "its loss at the largest size is 0, and of nothing there are no shares",
    "unsteady": "its loss at the largest size is too uncertain for shares of it",
    "no variance": "from size to size its loss changes alike, or not at all, on every training set, so there "
    "is no error to judge by",
    "no shape fits": "no curve fits its losses",
}


def why_no_more_data(tasks: Sequence[TaskFindings], method: str, losses: Losses) -> str:
    """Why nothing can be told of twice the data, where `more_data_of` has nothing."""
    means = _means_of(tasks[-MOST_SIZES:], method, losses)
    if means is None:
        return "its losses are not finite, or have no standard errors for new training sets"
    return REASONS[why_unknown(means, is_relative=not tasks[-1].judged_by.is_shift)]


def more_data_of(tasks: Sequence[TaskFindings], method: str, losses: Losses, curves: int) -> MoreData | None:
    """What is expected at twice the largest size; None for one size, or where nothing is known of errors."""
    largest = tasks[-MOST_SIZES:]
    if len(largest) < 2:
        return None
    means = _means_of(largest, method, losses)
    if means is None:
        return None
    is_relative = not largest[-1].judged_by.is_shift
    found = at_twice_the_data(means, level=LEVEL / curves, is_relative=is_relative)
    low, high, fall = float(found.low), float(found.high), float(found.fall)
    if isnan(low):
        return None
    return MoreData(2 * found.sizes[-1], found.sizes, None if isnan(fall) else fall, low, high, curves)


def _means_of(tasks: Sequence[TaskFindings], method: str, losses: Losses) -> SizeMeans | None:
    return _size_means(tasks, method, [losses.get(task.task.address, {}).get(method) for task in tasks])


def _size_means(
    tasks: Sequence[TaskFindings], method: str, losses: Sequence[MethodLosses | None]
) -> SizeMeans | None:
    """Means at every size and how they vary together: by training sets where these share test cases."""
    findings = [task.method(method) for task in tasks]
    if any(len(task.task.instances) < 2 for task in tasks):
        return None  # one training set says nothing of others
    known = [one for one in losses if one is not None]
    if len(known) == len(tasks) and not any(is_folded(task.task) for task in tasks):
        instances = sorted(set.intersection(*(set(one.by_instance) for one in known)))
        if len(instances) > 1 and _is_same_tests(tasks, instances):
            return _paired(tasks, [[table.mean(axis=0) for table in one.of(instances)] for one in known])
    return _apart(tasks, findings)


def _is_same_tests(tasks: Sequence[TaskFindings], instances: Sequence[int]) -> bool:
    """Whether every training set is tested on the same cases at every size."""
    first, *others = [[task.task.instances[number].case_numbers for number in instances] for task in tasks]
    return all(
        np.array_equal(mine, theirs) for other in others for mine, theirs in zip(first, other, strict=True)
    )


def _paired(tasks: Sequence[TaskFindings], tables: Sequence[Sequence[Numbers]]) -> SizeMeans | None:
    sizes = [task.task.training_set_size for task in tasks]
    if any(not np.isfinite(row).all() for table in tables for row in table):
        return None
    if tasks[0].task.scheme == "common":
        return means_by_case(sizes, np.array(tables))
    return means_by_set(sizes, np.array([[row.mean() for row in table] for table in tables]))


def _apart(tasks: Sequence[TaskFindings], findings: Sequence[MethodFinding]) -> SizeMeans | None:
    """Sizes taken as independent, each with its own standard error, on the fewest degrees of freedom."""
    errors = [one.standard_error for one in findings]
    df = [one.estimate.degrees_of_freedom for one in findings if one.estimate is not None]
    if not all(errors) or len(df) < len(findings) or not all(df):
        return None
    squared = np.square(np.array(errors, dtype=np.float64))
    means = np.array([one.mean for one in findings], dtype=np.float64)
    sizes = tuple(task.task.training_set_size for task in tasks)
    return SizeMeans(sizes, means, np.diag(squared), float(min(number for number in df if number)))
