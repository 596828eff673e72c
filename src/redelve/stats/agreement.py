"""How far two methods err on the same cases, and which cases make the difference between them.

Losses are paired by case. Intervals are for new cases: dependent cases, which carry the same label, count as
one unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, isfinite, sqrt, tanh

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray, t_quantile
from redelve.stats.units import Labels

LEVEL = 0.95


@dataclass(frozen=True)
class Association:
    """How strongly two methods' losses go together, from −1 to 1, with an interval where there is one."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class SharedErrors:
    """Of how many cases both methods are right, one alone is wrong, or both are wrong."""

    both_right: int
    first_wrong: int
    second_wrong: int
    both_wrong: int

    @property
    def cases(self) -> int:
        """All cases."""
        return self.both_right + self.first_wrong + self.second_wrong + self.both_wrong

    @property
    def agreement(self) -> float:
        """The share of cases on which both are right or both are wrong."""
        return (self.both_right + self.both_wrong) / self.cases


def are_errors(*losses: FloatArray) -> bool:
    """Whether every loss is 0 or 1."""
    return all(bool(((one == 0) | (one == 1)).all()) for one in losses)


def shared_errors(first: ArrayLike, second: ArrayLike) -> SharedErrors:
    """The table of right and wrong, of losses that are 0 or 1.

    >>> shared_errors([0, 1, 1, 0], [0, 1, 0, 0])
    SharedErrors(both_right=2, first_wrong=1, second_wrong=0, both_wrong=1)
    """
    one, two = _paired(first, second)
    if not are_errors(one, two):
        raise StatisticsError("right and wrong are told by losses of 0 and 1 alone: got others")
    both, alone = float(one @ two), float(one.sum())
    other = float(two.sum())
    return SharedErrors(
        round(one.size - alone - other + both), round(alone - both), round(other - both), round(both)
    )


def loss_correlation(
    first: ArrayLike, second: ArrayLike, groups: ArrayLike | None = None, *, level: float = LEVEL
) -> Association:
    """The correlation of two methods' losses over cases: of errors φ, of other losses that of their ranks.

    Ranks, because a few large losses would decide all else. The interval is Fisher's z ± t standard errors,
    these by leaving out one unit after the other (Efron and Stein 1981, Annals of Statistics 9:586–596); of
    ranks at least √((1 + r²/2)/(n − 3)) (Bonett and Wright 2000, Psychometrika 65:23–28). Of errors, a unit
    of mean size is added to each of the four cells before, as Agresti and Coull (1998, American Statistician
    52:119–126) do for a share: without it, intervals of rare errors miss far too often.

    >>> round(loss_correlation([0, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1]).value, 4)
    0.3333
    """
    pair = _paired(first, second)
    if are_errors(*pair):
        return _jackknifed(pair, groups, _correlation, level)
    from scipy.stats import rankdata

    ranks = tuple(rankdata(losses) - (losses.size + 1) / 2 for losses in pair)
    return _jackknifed((ranks[0], ranks[1]), groups, _correlation, level)


def error_kappa(
    first: ArrayLike, second: ArrayLike, groups: ArrayLike | None = None, *, level: float = LEVEL
) -> Association:
    """Cohen's κ of right and wrong: agreement beyond what two independent methods would have (Cohen 1960).

    1 means that both err on the same cases, 0 that they err as if neither knew of the other. The interval is
    that of `loss_correlation`.

    >>> round(error_kappa([0, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1]).value, 4)
    0.3333
    """
    one, two = _paired(first, second)
    if not are_errors(one, two):
        raise StatisticsError("κ is for losses of 0 and 1 alone: ask for the correlation of these")
    return _jackknifed((one, two), groups, _kappa, level)


def contributions(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """What each case adds to the difference of the mean losses; their sum is the difference.

    >>> contributions([1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0]).tolist()
    [0.25, 0.0, 0.5, -0.25]
    """
    one, two = _paired(first, second)
    share = np.ones(one.size) if weights is None else np.asarray(weights, dtype=np.float64)
    return np.asarray((one - two) * share / share.sum())


def turning_cases(parts: ArrayLike) -> int:
    """The smallest number of cases without which the difference would vanish or turn round; 0 if it is 0.

    Exact for a mean, where the cases that carry most go first (Broderick, Giordano and Meager 2020,
    arXiv:2011.14999, ask this of any estimate).

    >>> turning_cases([0.25, 0.0, 0.5, -0.25])
    1
    """
    values = np.asarray(parts, dtype=np.float64)
    total = float(values.sum())
    if total == 0 or not isfinite(total):
        return 0
    carried = np.cumsum(np.sort(values * np.sign(total))[::-1])
    enough = carried >= abs(total) * (1 - 1e-12)
    return int(np.argmax(enough)) + 1


def _paired(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != two.shape or one.size < 2:
        raise StatisticsError(
            f"two methods' losses of the same cases were expected, two or more: got {one.shape} and "
            f"{two.shape}"
        )
    return one, two


Statistic = Callable[[FloatArray], FloatArray]
"""A number from the sums of 1, x, y, x², y² and xy, of many samples at once: the last axis has the six."""


def _correlation(sums: FloatArray) -> FloatArray:
    count, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = np.maximum(count * xx - x * x, 0.0) * np.maximum(count * yy - y * y, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((count * xy - x * y) / np.sqrt(spread))


def _kappa(sums: FloatArray) -> FloatArray:
    count, x, y, _, _, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = x / count, y / count
        by_chance = one * two + (1 - one) * (1 - two)
        return np.asarray((1 - (x + y - 2 * xy) / count - by_chance) / (1 - by_chance))


def _jackknifed(
    pair: tuple[FloatArray, FloatArray], groups: ArrayLike | None, statistic: Statistic, level: float
) -> Association:
    """The statistic, and an interval by leaving out one unit after the other."""
    units = _sums(*pair) if groups is None else _summed(_sums(*pair), np.asarray(groups))
    value = float(statistic(units.sum(axis=0)))
    if not isfinite(value):
        return Association(None)
    value = float(np.clip(value, -1.0, 1.0))
    least = 0.0
    if are_errors(*pair):
        units = np.concatenate([units, pair[0].size / len(units) * _sums(*CELLS)])
    elif len(units) > FEWEST:
        least = sqrt((1 + value**2 / 2) / (len(units) - 3))
    whole, count = units.sum(axis=0), len(units)
    middle, each = float(statistic(whole)), statistic(whole - units)
    if count <= FEWEST or not np.isfinite(each).all() or max(np.abs(each).max(), abs(middle)) >= 1:
        return Association(value)
    error = max(float(np.sqrt((count - 1) * np.arctanh(each).var())), least)
    reach = float(t_quantile(count - 1, level)) * error
    low, high = tanh(atanh(middle) - reach), tanh(atanh(middle) + reach)
    return Association(value, min(low, value), max(high, value))


CELLS = (np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0]))
"""A case for each of: both right, one alone wrong, both wrong."""
FEWEST = 4
"""So many units have no interval yet."""


def _sums(one: FloatArray, two: FloatArray) -> FloatArray:
    """The six parts of the sums, of every case."""
    return np.stack([np.ones(one.size), one, two, one * one, two * two, one * two], axis=1)


def _summed(table: FloatArray, labels: Labels) -> FloatArray:
    """The sums of every unit."""
    if labels.shape != table.shape[:1]:
        raise StatisticsError(f"{labels.size} labels of units for {len(table)} cases: give one for each")
    found, index = np.unique(labels, return_inverse=True)
    return np.stack([np.bincount(index, column, found.size) for column in table.T], axis=1)
