"""Two classifiers on the same test cases: the difference of their balanced errors, class by class.

A case that both get right or both get wrong tells nothing (McNemar 1947, Psychometrika 12:153–157); what
counts is how the others are divided within each class. `Outcomes` does this for many classifiers at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.balanced_errors import NORMAL, BalancedErrors, balanced_errors, same_cases
from redelve.stats.estimates import Interval, check_level
from redelve.stats.significance import t_quantile

FloatArray = NDArray[np.float64]

EXACT_LIMIT = 1 << 20
"""Up to so many ways of dividing the cases on which both differ, all of them are gone through."""
FEW_CASES = 30
FEW = (
    "only {count} cases are answered differently in a way that matters: the interval, not the test, is rough"
)
ALIKE = "both are right and wrong on the same cases: there is nothing to test"


@dataclass(frozen=True)
class ErrorComparison:
    """Two classifiers' balanced errors on the same cases; the difference is the first less the second.

    `first_only[c]` cases of class c are wrong by the first classifier alone, `second_only[c]` by the second
    alone. The two-sided `p_value` is for the hypothesis that a case on which they differ is as likely to be
    wrong by one as by the other; None where they never differ.
    """

    first: BalancedErrors
    second: BalancedErrors
    first_only: tuple[int, ...]
    second_only: tuple[int, ...]
    standard_error: float
    p_value: float | None
    method: Literal["exact", "normal"]
    caveats: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """The first BER minus the second."""
        return self.first.ber - self.second.ber

    def interval(self, level: float = 0.95) -> Interval:
        """Confidence interval for the difference, by the normal distribution.

        With a case added to either side in each class (Bonett and Price 2012, Journal of Educational and
        Behavioral Statistics 37:479–488), so that it is sound with few differing cases, too.
        """
        check_level(level)
        counts = np.array(self.first.counts, dtype=np.float64)
        cells = np.array(self.first_only) + 1.0, np.array(self.second_only) + 1.0
        middle = float(((cells[0] - cells[1]) / (counts + 2)).mean())
        width = float(t_quantile(NORMAL, level)) * sqrt(float(_variance(*cells, counts + 2)))
        return middle - width, middle + width


def compare_balanced_errors(truths: ArrayLike, first: ArrayLike, second: ArrayLike) -> ErrorComparison:
    """Whether two classifiers have different balanced error rates, from their answers to the same cases.

    Exact while that is quick: the cases on which they differ fall to either like tosses of a coin, in each
    class. Then by z = d / √((1/K²) Σ_c n_c/m_c²), n_c differing cases among m_c. The standard error is the
    one found without the hypothesis, (1/K) √(Σ_c (n_c − d_c²/m_c)/m_c²) with d_c the difference of counts.

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
    p = None if not differing else _exact(*cells, counts) if method == "exact" else _normal(*cells, counts)
    caveats = (ALIKE,) if not differing else (FEW.format(count=differing),) if differing < FEW_CASES else ()
    error = sqrt(float(_variance(*cells, counts)))
    return ErrorComparison(*errors, first_only, second_only, error, p, method, caveats)


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
    return min(1.0, float(chances[np.abs(values) >= observed * (1 - 1e-12)].sum()))


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
        errors = np.diagonal(self.both, axis1=1, axis2=2)
        return np.asarray((errors / np.array(self.counts)[:, None]).mean(axis=0))

    @property
    def cautious_errors(self) -> FloatArray:
        """Every BER's standard error, with an error and a right answer added to each class: never zero."""
        counts = np.array(self.counts, dtype=np.float64)[:, None]
        rates = (np.diagonal(self.both, axis1=1, axis2=2) + 1) / (counts + 2)
        return np.asarray(np.sqrt((rates * (1 - rates) / (counts + 2)).sum(axis=0)) / counts.size)

    def worse_p_values(self) -> FloatArray:
        """One-sided p-values [i, j] that classifier i has a larger expected BER than j; 1 on the diagonal."""
        first, second, counts = self._alone()
        spread = np.sqrt(((first + second) / counts**2).sum(axis=-1))
        return _upper_tail((((first - second) / counts).sum(axis=-1)), spread)

    def difference_errors(self) -> FloatArray:
        """Standard errors of all differences, a case added to either side in each class: never zero."""
        first, second, counts = self._alone()
        return np.sqrt(_variance(first + 1, second + 1, counts + 2))

    def _alone(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cases wrong by i alone and by j alone, and the classes' sizes; the classes are the last axis."""
        both = np.moveaxis(self.both, 0, -1)
        errors = np.diagonal(self.both, axis1=1, axis2=2).T
        return errors[:, None] - both, errors[None] - both, np.array(self.counts, dtype=np.float64)


def _upper_tail(difference: FloatArray, error: FloatArray) -> FloatArray:
    """P(Z ≥ difference/error); 1 where nothing varies and nothing speaks for a difference."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z = difference / error
    return np.asarray(np.where(np.isnan(z), 1.0, ndtr(-np.nan_to_num(z, nan=0.0, posinf=40.0, neginf=-40.0))))
