"""Means of skewed values: t that allows for the skewness, never less cautious than t itself.

Where one model always scores 0.9 and another 1 nine times in ten, else 0, differences are rarely −0.9. A
sample that happens to have few of those has too high a mean and too small a variance at once, and t claims a
difference that is none in 12 % of samples of 50 questions. Studentised means of n values with skewness γ err
by κ(2t² + 1)/6, κ = γ/√n, which Hall's transformation removes (1992, Journal of the Royal Statistical Society
B 54:221–228): g(t) = t + κt²/3 + κ²t³/27 + κ/6. It rises, so its tests have intervals, in closed form. Of
values that count differently κ is Σe³/(Σe²)^(3/2), e being what each adds to the mean's error.

Only skewness that makes false claims likelier counts, that against the difference, and only what is beyond
twice its standard error √(6/n) in Gaussian samples: where differences are symmetric, power is that of t. It
cannot allow for what is so rare that a sample has none of it.

Two models with nothing but right and wrong answers differ as often in either direction if they are equally
good. Their t keeps its level as it is: their skewness counts as 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redelve.stats.mean_squares import FloatArray

Places = NDArray[np.int64]
BY_CHANCE = 2.0
"""So many standard errors of a Gaussian sample's skewness count as none."""
CANCELLED = 1e-6
"""Squares below this part of what they are the difference of lose digits: cubes are computed one by one."""
NONE = 1e-9
"""A skewness of the mean that is none."""


def pair_skewness(residuals: FloatArray, squares: FloatArray, first: Places, second: Places) -> FloatArray:
    """κ of the mean difference of every pair of rows, whose differences have these sums of squares.

    One matrix product serves all pairs: Σ(a − b)³ = Σa³ − 3Σa²b + 3Σab² − Σb³.

    >>> rows = np.array([[3.0, -1.0, -1.0, -1.0], [0.0, 0.0, 0.0, 0.0]])
    >>> pair_skewness(rows, np.array([12.0]), np.array([0]), np.array([1])).round(4).tolist()
    [0.5774]
    """
    mixed = np.square(residuals) @ residuals.T
    own = np.diagonal(mixed)
    cubes = own[first] - own[second] - 3 * (mixed[first, second] - mixed[second, first])
    whole = np.square(residuals).sum(axis=1)
    for place in np.flatnonzero(squares <= CANCELLED * (whole[first] + whole[second])):
        cubes[place] = ((residuals[first[place]] - residuals[second[place]]) ** 3).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        found = cubes / squares**1.5
    return np.asarray(np.where(squares > 0, found, 0.0))


def beyond_chance(skewness: FloatArray, units: FloatArray | float) -> FloatArray:
    """What is left of κ without that which so many symmetric values may have by chance.

    >>> beyond_chance(np.array([-0.3, -0.05, 0.3]), 50.0).round(3).tolist()
    [-0.202, -0.0, 0.202]
    """
    left = np.maximum(np.abs(skewness) - BY_CHANCE * np.sqrt(6.0) / units, 0.0)
    return np.asarray(np.sign(skewness) * left)


def allowed_t(t: FloatArray, skewness: FloatArray) -> FloatArray:
    """The distance |t| from no difference, less what skewness against it makes likely.

    >>> allowed_t(np.array([4.0, -4.0, 4.0]), np.array([-0.6, -0.6, 0.0])).round(4).tolist()
    [1.5533, 4.0, 4.0]
    """
    bend = np.minimum(np.sign(t) * skewness, 0.0) / 3
    distance = np.abs(t)
    with np.errstate(over="ignore", invalid="ignore"):
        turned = distance + bend * distance**2 + bend**2 * distance**3 / 3 + bend / 2
    return np.asarray(np.where(bend < -NONE, np.clip(turned, 0.0, distance), distance))


def skewed_reach(reach: FloatArray | float, skewness: FloatArray) -> FloatArray:
    """How many standard errors below the mean a difference is rejected, where `reach` of t are needed.

    >>> skewed_reach(1.55333, np.array([-0.6, 0.6])).round(3).tolist()
    [4.0, 1.553]
    """
    bend = np.minimum(skewness, 0.0) / 3
    is_bent = bend < -NONE
    bend = np.where(is_bent, bend, -1.0)
    turned = (np.cbrt(1 + 3 * bend * (reach - bend / 2)) - 1) / bend
    return np.asarray(np.where(is_bent, np.maximum(turned, reach), reach))


def skewed_interval(mean: float, width: float, error: float, skewness: float) -> tuple[float, float]:
    """An interval that goes half its width to either side of a mean, with what skewness adds.

    >>> low, high = skewed_interval(0.0, 1.55333, 1.0, -0.6)
    >>> round(low, 3), round(high, 3)
    (-4.0, 1.553)
    """
    below, above = (error * skewed_reach(width / error, np.array([skewness, -skewness]))).tolist()
    return mean - below, mean + above


def two_valued(values: FloatArray, first: Places, second: Places) -> NDArray[np.bool_]:
    """Which pairs of rows have nothing but the same two values, as right and wrong.

    >>> rows = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.9, 0.9, 0.9]])
    >>> two_valued(rows, np.array([0, 0, 0]), np.array([1, 2, 3])).tolist()
    [True, True, False]
    """
    lows, highs = values.min(axis=1), values.max(axis=1)
    is_two = ((values == lows[:, None]) | (values == highs[:, None])).all(axis=1)
    low, high = np.minimum(lows[first], lows[second]), np.maximum(highs[first], highs[second])
    sides = [one[side] for one in (lows, highs) for side in (first, second)]
    are_same = np.logical_and.reduce([(one == low) | (one == high) for one in sides])
    return np.asarray(is_two[first] & is_two[second] & are_same)
