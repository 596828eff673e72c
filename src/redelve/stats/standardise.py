"""Standardised losses: relative to a method that knows the distribution of the targets but no inputs.

The baselines are those of the manual, section 8.3, found from the targets of the test cases. Losses of
several targets are summed over the targets, so their baselines are summed too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray


def baseline_squared(targets: ArrayLike) -> float | None:
    """Loss S of guessing the mean: the variance, with divisor n − 1; None for a single target value.

    >>> baseline_squared([1.0, 2.0, 4.0, 5.0])
    3.3333333333333335
    """
    values = real_targets(targets)
    return float(values.var(ddof=1)) if values.size > 1 else None


def baseline_absolute(targets: ArrayLike) -> float | None:
    """Loss A of guessing the median: the mean distance from it, with DELVE's divisor n − 1."""
    values = real_targets(targets)
    return float(np.abs(values - np.median(values)).sum()) / (values.size - 1) if values.size > 1 else None


def baseline_zero_one(targets: ArrayLike) -> float:
    """Loss Z of guessing the most frequent class: 1 − its share."""
    return 1 - float(class_shares(targets).max())


def baseline_squared_probability(targets: ArrayLike) -> float:
    """Loss Q of predicting every class with its share p: 1 − Σp²."""
    shares = class_shares(targets)
    return 1 - float(shares @ shares)


def baseline_log_discrete(targets: ArrayLike) -> float:
    """Minus the loss L of predicting every class with its share: Σ p ln p, to be added to a mean loss."""
    shares = class_shares(targets)
    return float(shares @ np.log(shares))


def baseline_log_gaussian(targets: ArrayLike) -> float | None:
    """Minus the loss L of a Gaussian with the targets' mean and variance: −½(ln(2π·variance) + 1)."""
    variance = baseline_squared(targets)
    return -0.5 * (log(2 * pi * variance) + 1) if variance else None


@dataclass(frozen=True)
class StandardLoss:
    """How losses are made comparable between tasks (manual 8.3): divided by the loss of the best constant
    answer or, for log loss, shifted by it; None: undefined.
    """

    baseline: float | None
    is_shift: bool = False

    def mean(self, value: float | None) -> float | None:
        """A standardised expected loss: 1 (shifted: 0) is what the best constant answer loses."""
        if value is None or self.baseline is None:
            return None
        return value - self.baseline if self.is_shift else self.spread(value)

    def spread(self, value: float | None) -> float | None:
        """A standardised difference, standard error or standard deviation."""
        if value is None or self.baseline is None:
            return None
        if self.is_shift:
            return value
        return value / self.baseline if self.baseline else None


def standardise_ratio(value: float | None, baselines: Sequence[float | None]) -> float | None:
    """A mean, difference, standard error or standard deviation of loss S, A, Z or Q over its baseline.

    `baselines` holds one per target. None where value or baseline is undefined or the baselines sum to zero.
    """
    total = _total(baselines)
    return value / total if value is not None and total else None


def standardise_log(mean: float | None, baselines: Sequence[float | None]) -> float | None:
    """A mean of loss L less that of the baseline; differences, standard errors and deviations stay raw."""
    total = _total(baselines)
    return mean + total if mean is not None and total is not None else None


def _total(baselines: Sequence[float | None]) -> float | None:
    if not baselines:
        raise StatisticsError("standardising needs the baseline of at least one target: got none")
    known = [baseline for baseline in baselines if baseline is not None]
    return sum(known) if len(known) == len(baselines) else None


def real_targets(targets: ArrayLike) -> FloatArray:
    """Targets as a vector of finite numbers, or an error that names the first which is not."""
    values = np.asarray(targets, dtype=np.float64).ravel()
    if not values.size:
        raise StatisticsError("a baseline needs targets: got none")
    if not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise StatisticsError(f"target {place} (counted from 0) is not a finite number: {values[place]}")
    return values


def class_shares(targets: ArrayLike) -> FloatArray:
    """Share of each class that occurs."""
    values = np.asarray(targets).ravel()
    if not values.size:
        raise StatisticsError("a baseline needs targets: got none")
    if values.dtype.kind == "f":
        real_targets(values)
    counts = np.unique(values, return_counts=True)[1]
    return np.asarray(counts / values.size, dtype=np.float64)
