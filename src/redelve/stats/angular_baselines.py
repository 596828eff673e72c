"""What the best constant answer loses where targets are angles (`anova` has the baselines of other targets).

An angular attribute of DELVE has a unit, the value of one turn (360 for degrees, 24 for hours); 350° is then
20° from 10°. The best guess minimises the same loss that it is judged by, found exactly and not by search.
"""

from __future__ import annotations

from math import log, pi

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.anova import real_targets
from redelve.stats.mean_squares import FloatArray


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
