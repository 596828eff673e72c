"""Standardised losses: relative to a method that knows the distribution of the targets but no inputs.

The baselines are those of the manual, section 8.3, found from the targets of the test cases. Losses of
several targets are summed over the targets, so their baselines are summed too.

An angular attribute of DELVE has a unit, the value of one turn (360 for degrees, 24 for hours); 350° is then
20° from 10°. The best guess minimises the same loss that it is judged by, found exactly and not by search.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def baseline_ranked_probability(targets: ArrayLike) -> float | None:
    """Loss C of predicting the targets' own distribution: half their mean distance from each other."""
    ordered = np.sort(real_targets(targets))
    count = ordered.size
    if count < 2:
        return None
    return float((ordered * (2 * np.arange(1, count + 1) - count - 1)).sum() / count**2)


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


def baseline_squared_angular(targets: ArrayLike, unit: float) -> float | None:
    """Loss S of the best single angle: squared shortest arcs to the intrinsic mean, divisor n − 1.

    The circle is cut at one of the n gaps between sorted targets; within a cut the mean is best (Hotz and
    Huckemann 2015), and running sums tell which cut is the best of all.

    >>> round(baseline_squared_angular([350.0, 10.0, 0.0], 360.0), 6)
    100.0
    """
    angles = _sorted_turns(targets, unit)
    if angles.size < 2:
        return None
    cut = np.arange(angles.size)
    before = np.concatenate(([0.0], np.cumsum(angles)[:-1]))
    centre = angles.mean() + cut / angles.size
    spread = angles @ angles + 2 * before + cut - angles.size * centre**2
    best = int(np.argmin(spread))
    unrolled = np.concatenate((angles[best:], angles[:best] + 1.0))
    return float(unrolled.var(ddof=1)) * unit**2


def baseline_absolute_angular(targets: ArrayLike, unit: float) -> float | None:
    """Loss A of the best single angle: shortest arcs to the circular median, divisor n − 1.

    The sum of arcs is piecewise linear with its low corners at targets, so it is enough to try these; running
    sums give the sum of arcs from each.

    >>> round(baseline_absolute_angular([350.0, 10.0, 0.0], 360.0), 6)
    10.0
    """
    angles = _sorted_turns(targets, unit)
    n = angles.size
    if n < 2:
        return None
    twice = np.concatenate((angles, angles + 1.0))
    sums = np.concatenate(([0.0], np.cumsum(twice)))
    start = np.arange(n)
    half = np.searchsorted(twice, angles + 0.5, side="right")
    ahead = sums[half] - sums[start] - (half - start) * angles
    behind = (n - (half - start)) * (angles + 1.0) - (sums[start + n] - sums[half])
    best = angles[int(np.argmin(ahead + behind))]
    arcs = np.abs(angles - best)
    return float(np.minimum(arcs, 1.0 - arcs).sum()) / (n - 1) * unit


def baseline_log_angular(targets: ArrayLike, unit: float) -> float | None:
    """Minus the loss L of the von Mises density fitted by maximum likelihood (Mardia and Jupp 2000).

    The density is per unit of the target, as losses are. None if all targets are the same angle.
    """
    from scipy.special import i0e

    phases = 2 * pi * _sorted_turns(targets, unit)
    direction = np.arctan2(np.sin(phases).mean(), np.cos(phases).mean())
    dispersion = float(2 * np.square(np.sin((phases - direction) / 2)).mean())
    if dispersion < 1e-30:
        return None
    concentration = _concentration(dispersion)
    return -concentration * dispersion - log(unit) - log(float(i0e(concentration)))


def _concentration(dispersion: float) -> float:
    """The κ for which 1 − I₁(κ)/I₀(κ), which falls as κ grows, is the dispersion 1 − R̄; by bisection."""
    low, high = -30.0, 80.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _dispersion(float(np.exp(middle))) > dispersion else (low, middle)
    return float(np.exp((low + high) / 2))


def _dispersion(concentration: float) -> float:
    """1 − I₁(κ)/I₀(κ), by its asymptotic series where the difference would cancel."""
    from scipy.special import i0e, i1e

    if concentration > 1e4:
        return 1 / (2 * concentration) + 1 / (8 * concentration**2) + 1 / (8 * concentration**3)
    return 1 - float(i1e(concentration) / i0e(concentration))


def _sorted_turns(targets: ArrayLike, unit: float) -> FloatArray:
    """Targets as sorted fractions of a turn, in [0, 1)."""
    if not (np.isfinite(unit) and unit > 0):
        raise StatisticsError(
            f"the unit of an angular target is the length of a full turn, above 0: got {unit}"
        )
    turns = np.mod(real_targets(targets) / unit, 1.0)
    turns[turns == 1.0] = 0.0
    return np.sort(turns)
