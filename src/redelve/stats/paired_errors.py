"""Two classifiers on the same test cases: the difference of their balanced errors, class by class.

A case that both get right or both get wrong tells nothing (McNemar 1947, Psychometrika 12:153–157); what
counts is how the others are divided within each class. That alone tests whether two classifiers differ in any
class. Two that have the same BER may differ in every class, the one better here and the other there; then a
class with few cases, in which they happen to agree, must not pass for one in which they are equal. So every
test asks the interval of the difference, too. `Outcomes` does this for many classifiers at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.balanced_errors import NORMAL, BalancedErrors, balanced_errors, same_cases, wilson
from redelve.stats.estimates import Interval, check_level
from redelve.stats.mean_squares import FloatArray, t_quantile

EXACT_LIMIT = 1 << 20
"""Up to so many ways of dividing the cases on which both differ, all of them are gone through."""
ROUNDING = 1e-12
LARGEST_QUANTILE, HALVINGS, AT_ONCE = 10.0, 12, 1 << 13
"""Where a p-value is sought, how finely, and for how many pairs at once."""
FEW_CASES = 30
FEW = (
    "only {count} cases are answered differently in a way that matters: p-value and interval are rough, and "
    "cautious"
)
ALIKE = "both are right and wrong on the same cases: there is nothing to test"


@dataclass(frozen=True)
class ErrorComparison:
    """Two classifiers' balanced errors on the same cases; the difference is the first less the second.

    `first_only[c]` cases of class c are wrong by the first classifier alone, `second_only[c]` by the second
    alone. The two-sided `p_value` is for the hypothesis that both have the same expected BER, in whichever
    classes they make it, and `any_class_p_value` for no difference in any class (with one class McNemar's
    exact test); None where they never differ.
    """

    first: BalancedErrors
    second: BalancedErrors
    first_only: tuple[int, ...]
    second_only: tuple[int, ...]
    standard_error: float
    p_value: float | None
    any_class_p_value: float | None
    method: Literal["exact", "normal"]
    caveats: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """The first BER minus the second."""
        return self.first.ber - self.second.ber

    def interval(self, level: float = 0.95) -> Interval:
        """Confidence interval for the difference that is sound with few differing cases, too.

        Wilson's (1927) interval of either's share of cases that it alone has wrong, in each class, put
        together by the method of variance estimates recovery for dependent shares (Zou and Donner 2008).
        """
        check_level(level)
        z = float(t_quantile(NORMAL, level))
        cells, counts = (np.array(self.first_only), np.array(self.second_only)), np.array(self.first.counts)
        below, above = (float(difference_reach(*pair, counts, z)) for pair in (cells, cells[::-1]))
        return max(self.difference - below, -1.0), min(self.difference + above, 1.0)


def compare_balanced_errors(truths: ArrayLike, first: ArrayLike, second: ArrayLike) -> ErrorComparison:
    """Whether two classifiers have different balanced error rates, from their answers to the same cases.

    For no difference in any class the p-value is exact while that is quick: the cases on which they differ
    fall to either like tosses of a coin, in each class; then by z = d / √((1/K²) Σ_c n_c/m_c²), n_c differing
    cases among m_c. For the same BER it is that one or, if larger, 1 − the level at which the interval just
    holds zero. The standard error is that found without a hypothesis, (1/K) √(Σ_c (n_c − d_c²/m_c)/m_c²) with
    d_c the difference of counts.

    >>> truths, one, two = [1] * 5 + [-1] * 5, [1] * 10, [1] * 4 + [-1] * 6
    >>> found = compare_balanced_errors(truths, one, two)
    >>> round(found.difference, 2), round(found.p_value, 5)
    (0.4, 0.21875)
    """
    true, one = same_cases(truths, first)
    _, two = same_cases(truths, second)
    errors = balanced_errors(true, one), balanced_errors(true, two)
    wrong = one != true, two != true
    members = [true == one_class for one_class in errors[0].classes]
    first_only, second_only = (
        tuple(int(np.count_nonzero(cases & of_class)) for of_class in members)
        for cases in (wrong[0] & ~wrong[1], wrong[1] & ~wrong[0])
    )
    counts = np.array(errors[0].counts, dtype=np.float64)
    cells = np.array(first_only, dtype=np.float64), np.array(second_only, dtype=np.float64)
    ways = float(np.prod(cells[0] + cells[1] + 1))
    method: Literal["exact", "normal"] = "exact" if ways <= EXACT_LIMIT else "normal"
    differing = int(cells[0].sum() + cells[1].sum())
    p_values: tuple[float | None, float | None] = None, None
    if differing:
        any_class = _exact(*cells, counts) if method == "exact" else _normal(*cells, counts)
        p_values = max(any_class, _same_ber(*cells, counts)), any_class
    caveats = (ALIKE,) if not differing else (FEW.format(count=differing),) if differing < FEW_CASES else ()
    error = sqrt(float(_variance(*cells, counts)))
    return ErrorComparison(*errors, first_only, second_only, error, *p_values, method, caveats)


def difference_reach(
    first: FloatArray, second: FloatArray, counts: FloatArray, z: float | FloatArray
) -> FloatArray:
    """How far below the difference of BERs its interval reaches; the classes are the last axis.

    (1/K) √Σ_c (x² + y² + 2 r x y), x from the share of the first alone to its lower Wilson limit, y from
    that of the second alone to its upper one, −r the correlation of the two shares (Zou and Donner 2008).
    """
    one, two = first / counts, second / counts
    x, y = one - wilson(first, counts, z)[0], wilson(second, counts, z)[1] - two
    others = (1 - one) * (1 - two)
    r = np.sqrt(np.minimum(one * two / np.where(others > 0, others, 1.0), 1.0))
    return np.asarray(np.sqrt((x * x + y * y + 2 * r * x * y).sum(axis=-1)) / np.shape(counts)[-1])


def beyond(
    excess: FloatArray, reach_of: Callable[..., FloatArray], *cells: NDArray[np.floating]
) -> FloatArray:
    """One-sided p-values that what exceeds zero does so in truth: where the interval just holds zero.

    `reach_of` gets the cells of those that do (the classes are their last axis) and normal quantiles.
    """
    from scipy.special import ndtr

    found = np.full(excess.shape, 0.5)
    places = np.nonzero(excess > 0)
    gaps, parts = excess[places], [cell[places] for cell in cells]
    for start in range(0, gaps.size, AT_ONCE):
        block = slice(start, start + AT_ONCE)
        quantiles = _quantiles(gaps[block], partial(reach_of, *(part[block] for part in parts)))
        gaps[block] = ndtr(-quantiles)
    found[places] = gaps
    return found


def _quantiles(gaps: FloatArray, reach_at: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Where the reach, which grows with the normal quantile, is as large as the gap: halved, then a line."""
    low, high = np.zeros(gaps.size), np.full(gaps.size, LARGEST_QUANTILE)
    near, far = np.zeros(gaps.size), reach_at(high[:, None])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        value = reach_at(middle[:, None])
        inside = value < gaps
        low, near = np.where(inside, middle, low), np.where(inside, value, near)
        high, far = np.where(inside, high, middle), np.where(inside, far, value)
    return np.asarray(low + (high - low) * np.minimum((gaps - near) / (far - near), 1.0))


def _variance(first: FloatArray, second: FloatArray, counts: FloatArray) -> FloatArray:
    """Variance of the difference of BERs; the classes are the last axis."""
    terms = (first + second - (first - second) ** 2 / counts) / counts**2
    return np.asarray(terms.sum(axis=-1) / counts.size**2)


def _exact(first: FloatArray, second: FloatArray, counts: FloatArray) -> float:
    """P(|Σ_c (2 X_c − n_c)/m_c| ≥ observed) for X_c binomial with n_c tosses of a fair coin."""
    from scipy.special import gammaln

    values, chances = np.zeros(1), np.ones(1)
    for tosses, size in zip((first + second).astype(int).tolist(), counts.tolist(), strict=True):
        heads = np.arange(tosses + 1.0)
        logs = gammaln(tosses + 1) - gammaln(heads + 1) - gammaln(tosses - heads + 1) - tosses * np.log(2)
        values = np.add.outer(values, (2 * heads - tosses) / size).ravel()
        chances = np.multiply.outer(chances, np.exp(logs)).ravel()
    observed = abs(float(((first - second) / counts).sum()))
    return min(1.0, float(chances[np.abs(values) >= observed - ROUNDING].sum()))


def _same_ber(first: FloatArray, second: FloatArray, counts: FloatArray) -> float:
    """Twice the smaller of both one-sided p-values for the same BER."""
    gap = ((first - second) / counts).mean()
    sides = [
        beyond(np.array([sign * gap]), difference_reach, one[None], two[None], counts[None])[0]
        for sign, one, two in ((1, first, second), (-1, second, first))
    ]
    return min(2 * float(min(sides)), 1.0)


def _normal(first: FloatArray, second: FloatArray, counts: FloatArray) -> float:
    from scipy.special import ndtr

    spread = sqrt(float(((first + second) / counts**2).sum()))
    return float(2 * ndtr(-abs(float(((first - second) / counts).sum())) / spread))


@dataclass(frozen=True)
class Outcomes:
    """Which cases each of many classifiers gets wrong, counted so that any two can be compared.

    `both[c][i, j]` cases of class c are wrong by classifiers i and j; the diagonal counts each one's errors.
    """

    counts: tuple[int, ...]
    both: FloatArray

    @staticmethod
    def of(truths: ArrayLike, wrong: ArrayLike, *, block: int = 1 << 15) -> Outcomes:
        """From a table of flags, a row for each classifier and a column for each case."""
        true, table = np.asarray(truths), np.asarray(wrong, dtype=np.bool_)
        if table.ndim != 2 or table.shape[1:] != true.shape:
            raise StatisticsError(
                "wrong answers are a table with a row for each classifier and a column for each case: "
                f"got shapes {table.shape} for {true.shape} truths"
            )
        classes, counts = np.unique(true, return_counts=True)
        if classes.size < 2:
            raise StatisticsError("balanced errors need cases of two classes at least")
        both = np.zeros((classes.size, table.shape[0], table.shape[0]))
        for number, one in enumerate(classes):
            places = np.flatnonzero(true == one)
            for start in range(0, places.size, block):
                part = table[:, places[start : start + block]].astype(np.float32)
                both[number] += part @ part.T
        return Outcomes(tuple(counts.tolist()), both)

    @property
    def entries(self) -> int:
        """How many classifiers there are."""
        return int(self.both.shape[1])

    @property
    def bers(self) -> FloatArray:
        """Every classifier's BER."""
        return np.asarray((self.errors / np.array(self.counts)).mean(axis=-1))

    @property
    def errors(self) -> FloatArray:
        """Every classifier's errors in each class; the classes are the last axis."""
        return np.asarray(np.diagonal(self.both, axis1=1, axis2=2).T)

    def worse_p_values(self) -> FloatArray:
        """One-sided p-values [i, j] that classifier i has a larger expected BER than j; 1 on the diagonal.

        As in `compare_balanced_errors`, the first of both p-values by the normal distribution.
        """
        first, second, counts = self._alone()
        spread = np.sqrt(((first + second) / counts**2).sum(axis=-1))
        no_difference = _upper_tail((((first - second) / counts).sum(axis=-1)), spread)
        return np.maximum(no_difference, self.beyond_p_values(np.zeros(spread.shape)))

    def beyond_p_values(self, margins: FloatArray) -> FloatArray:
        """One-sided p-values [i, j] that BER i is larger than BER j by more than a margin; 1/2 at most."""
        first, second, counts = self._alone()
        excess = self.bers[:, None] - self.bers - margins
        return beyond(excess, difference_reach, first, second, np.broadcast_to(counts, first.shape))

    def _alone(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cases wrong by i alone and by j alone, and the classes' sizes; the classes are the last axis."""
        both = np.moveaxis(self.both, 0, -1)
        errors = self.errors
        return errors[:, None] - both, errors[None] - both, np.array(self.counts, dtype=np.float64)


def _upper_tail(difference: FloatArray, error: FloatArray) -> FloatArray:
    """P(Z ≥ difference/error); 1 where nothing varies and nothing speaks for a difference."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z = difference / error
    return np.asarray(np.where(np.isnan(z), 1.0, ndtr(-np.nan_to_num(z, nan=0.0, posinf=40.0, neginf=-40.0))))
