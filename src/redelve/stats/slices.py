"""Where is one method worse than another? Differences in subgroups of the cases, with one error rate for all.

Intervals hold all together in 95 % of data sets, by Bonferroni's inequality: it asks nothing of how slices
overlap or depend. A slice is claimed exactly where its interval leaves out zero. Which slices are tested
follows from their numbers of cases alone, never from their losses.

The interval of one slice turns round the self-normalised statistic z(δ) = Σ(d − δ) / √Σ(d − δ)², which is
normal for large slices (Logan, Mallows, Rice and Shepp 1973, Annals of Probability 1:788–809) and at δ = 0
is McNemar's for errors. In small slices far out in the tails, where a family of many tests looks, it errs
less than the t-test (Efron 1969, JASA 64:1278–1302, on why), and skewness against a difference takes from it
what it makes likely (`skewed_means`). For independent right and wrong answers it is
Tango's score interval (1998, Statistics in Medicine 17:891–908), which also serves where no case differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.agreement import are_errors
from redelve.stats.families import ROUNDING, PairSquares, unmoderated
from redelve.stats.mean_squares import FloatArray
from redelve.stats.skewed_means import allowed_t, beyond_chance, skewed_interval
from redelve.stats.units import Labels, pool_units, weighted

LEAST_UNITS = 20
"""A slice with fewer independent cases is described and not tested: no interval could be trusted."""
LEVEL = 0.05
STEPS = 60


@dataclass(frozen=True)
class SliceDifference:
    """Two methods on some of the cases: mean loss of the first less that of the second.

    Where the slice has too few independent cases to be tested, there is neither interval nor p-value; where
    the differences do not vary, none either. `p_value` allows for all slices that are tested together.
    """

    cases: int
    units: int
    difference: float
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None

    @property
    def worse(self) -> int:
        """1 if the first method is shown to be worse here, −1 if the second is, 0 if neither."""
        if self.low is None or self.high is None:
            return 0
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


def compare_slices(
    first: ArrayLike,
    second: ArrayLike,
    members: Sequence[NDArray[np.bool_]],
    *,
    groups: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    level: float = LEVEL,
) -> tuple[SliceDifference, ...]:
    """Two methods on slices of one sample of cases; members[s] says which cases are in slice s.

    >>> import numpy as np
    >>> loss = np.repeat([1.0, 0.0, 1.0, 0.0], [30, 10, 10, 30])
    >>> here = np.arange(80) < 40
    >>> [one.worse for one in compare_slices(loss, 1 - loss, [here, ~here])]
    [1, -1]
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    labels = None if groups is None else np.asarray(groups)
    weight = None if weights is None else np.asarray(weights, dtype=np.float64)
    if one.ndim != 1 or one.shape != two.shape or any(len(each) != one.size for each in members):
        raise StatisticsError("the losses of two methods and the members of slices are for the same cases")
    are_plain = labels is None and weight is None and are_errors(one, two)
    values = [_values(one - two, np.asarray(each), labels, weight) for each in members]
    tested = sum(len(each) >= LEAST_UNITS for each in values)
    return tuple(
        _of_values(each, int(np.sum(inside)), (level, tested), are_errors=are_plain)
        for each, inside in zip(values, members, strict=True)
    )


def slices_of_squares(
    squares: PairSquares, cases: Sequence[int], units: Sequence[int], *, level: float = LEVEL
) -> tuple[SliceDifference, ...]:
    """Two methods on slices, each analysed by the design of a task with several training sets or folds.

    The squares have a pair for every slice; those with too few independent cases do not count.
    """
    large = np.asarray(units) >= LEAST_UNITS
    chosen = np.flatnonzero(large)
    found = [
        SliceDifference(count, apart, float(difference), _known(error))
        for count, apart, difference, error in zip(
            cases, units, squares.differences, squares.standard_errors, strict=True
        )
    ]
    if not chosen.size:
        return tuple(found)
    family = unmoderated(_some(squares, chosen))
    several = zip(chosen.tolist(), family.half_widths(level), family.p_values(), strict=True)
    for place, half, p in several:
        one = found[place]
        if np.isfinite(half) and np.isfinite(p):
            ends = (one.difference - float(half), one.difference + float(half))
            found[place] = SliceDifference(
                one.cases, one.units, one.difference, one.standard_error, *ends, float(p)
            )
    return tuple(found)


def _some(squares: PairSquares, chosen: NDArray[np.int64]) -> PairSquares:
    return PairSquares(
        squares.differences[chosen],
        squares.between[chosen],
        squares.within[chosen],
        squares.training_sets[chosen],
        squares.test_cases[chosen],
        None if squares.shared is None else squares.shared[chosen],
        None if squares.case_df is None else squares.case_df[chosen],
    )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _values(
    differences: FloatArray, inside: NDArray[np.bool_], labels: Labels | None, weights: FloatArray | None
) -> FloatArray:
    """A value for every unit of a slice, whose mean is the slice's difference."""
    found = differences[inside]
    if not found.size:
        raise StatisticsError("a slice has no case: leave it out")
    if weights is not None:
        found = weighted(found, weights[inside])
    return found if labels is None else pool_units([found], [labels[inside]])[0]


def _of_values(
    values: FloatArray, cases: int, family: tuple[float, int], *, are_errors: bool
) -> SliceDifference:
    """A slice's difference; `family` is the level and how many slices share it."""
    from scipy.special import ndtr, ndtri

    count, mean = len(values), float(values.mean())
    error = float(values.std(ddof=1)) / sqrt(count) if count > 1 else None
    if error is not None and np.ptp(values) <= ROUNDING * np.abs(values).max():
        error = 0.0
    if count < LEAST_UNITS or error is None:
        return SliceDifference(cases, count, mean, error)
    quantile = -float(ndtri(family[0] / family[1] / 2))
    skewness = 0.0 if are_errors else _skewness(values)
    p = min(2 * float(ndtr(-abs(_self_normalised(values, skewness)))) * family[1], 1.0)
    if are_errors:
        low, high = score_interval(int((values > 0).sum()), int((values < 0).sum()), count, quantile)
        return SliceDifference(cases, count, mean, error, low, high, p)
    if error == 0:
        return SliceDifference(cases, count, mean, error)
    spare = count - quantile**2
    reach = quantile * float(values.std()) / sqrt(spare) if spare > 0 else inf
    low, high = skewed_interval(mean, reach, float(values.std()) / sqrt(count), skewness)
    return SliceDifference(cases, count, mean, error, low, high, p)


def _skewness(values: FloatArray) -> float:
    """κ of the mean, beyond what chance makes of it."""
    spread, centred = float(values.std()), values - values.mean()
    raw = float((centred**3).mean()) / (spread**3 * sqrt(values.size)) if spread else 0.0
    return float(beyond_chance(np.array([raw]), values.size)[0])


def _self_normalised(values: FloatArray, skewness: float) -> float:
    """z, of what is left of t = z/√(1 − z²/n) without what skewness makes likely."""
    spread, mean, count = float(values.std()), float(values.mean()), values.size
    if not spread:
        return sqrt(count) if mean else 0.0
    t = float(allowed_t(np.array([sqrt(count) * mean / spread]), np.array([skewness]))[0])
    return t / sqrt(1 + t**2 / count)


def score_interval(first_only: int, second_only: int, cases: int, quantile: float) -> tuple[float, float]:
    """Tango's interval of a difference of two error rates on the same cases.

    It holds the differences δ whose score statistic is within ± `quantile` of the normal distribution:
    (b − c − nδ) / √(n(2q + δ(1 − δ))), with q what the share c/n would be most likely if δ were true.

    >>> low, high = score_interval(40, 20, 160, 1.959964)
    >>> round(low, 4), round(high, 4)
    (0.0309, 0.2181)
    """
    estimate = (first_only - second_only) / cases

    def root(end: float) -> float:
        inner, outer = estimate, end
        for _ in range(STEPS):
            middle = (inner + outer) / 2
            if abs(_score(first_only, second_only, cases, middle)) < quantile:
                inner = middle
            else:
                outer = middle
        return (inner + outer) / 2

    return root(-1.0), root(1.0)


def _score(b: int, c: int, n: int, delta: float) -> float:
    """Tango (1998), equation 7."""
    linear = -b - c + (2 * n - b + c) * delta
    likely = (sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0.0)) - linear) / (4 * n)
    variance = n * (2 * likely + delta * (1 - delta))
    away = b - c - n * delta
    return away / sqrt(variance) if variance > 0 else inf if away else 0.0
