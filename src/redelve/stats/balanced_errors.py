"""Balanced errors and the score of the WCCI 2006 challenge: how good a classifier is, how well known.

Guyon, Saffari, Dror and Buhmann (2006), Performance prediction challenge, section III. Errors are counted
class by class; `compare_balanced_errors` in `paired_errors` compares two classifiers case by case.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.estimates import Interval, check_level
from redelve.stats.significance import t_quantile

Labels = NDArray[Any]
Flags = NDArray[np.bool_]

NORMAL = float("inf")
"""Degrees of freedom with which Student's distribution is the normal one."""
NODES = 61
"""Points at which a score is averaged over a normal distribution."""


@dataclass(frozen=True)
class BalancedErrors:
    """Errors counted in each class; of two classes the first is the negative one."""

    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    errors: tuple[int, ...]

    @property
    def cases(self) -> int:
        """All cases."""
        return sum(self.counts)

    @property
    def rates(self) -> tuple[float, ...]:
        """The error rate of each class: E₋ and E₊ of the paper."""
        return tuple(wrong / count for wrong, count in zip(self.errors, self.counts, strict=True))

    @property
    def error_rate(self) -> float:
        """The share of all cases that are wrong."""
        return sum(self.errors) / self.cases

    @property
    def error_rate_error(self) -> float:
        """Standard deviation of the error rate, √(p (1 − p) / m) (section III)."""
        return sqrt(self.error_rate * (1 - self.error_rate) / self.cases)

    @property
    def ber(self) -> float:
        """The balanced error rate: the mean of the classes' error rates."""
        return sum(self.rates) / len(self.rates)

    @property
    def standard_error(self) -> float:
        """σ of equation 1, (1/2) √(p₊(1 − p₊)/m₊ + p₋(1 − p₋)/m₋), and likewise with 1/K for K classes."""
        terms = (rate * (1 - rate) / count for rate, count in zip(self.rates, self.counts, strict=True))
        return sqrt(sum(terms)) / len(self.counts)

    def interval(self, level: float = 0.95) -> Interval:
        """Confidence interval for the expected BER that is sound with few errors, where σ is not.

        Wilson's (1927) interval of each class, put together by the method of variance estimates recovery
        (Zou and Donner 2008, Statistics in Medicine 27:1693–1702).
        """
        check_level(level)
        z = float(t_quantile(NORMAL, level))
        ends = [wilson(wrong, count, z) for wrong, count in zip(self.errors, self.counts, strict=True)]
        below = sum((rate - low) ** 2 for rate, (low, _) in zip(self.rates, ends, strict=True))
        above = sum((high - rate) ** 2 for rate, (_, high) in zip(self.rates, ends, strict=True))
        many = len(self.counts)
        return max(self.ber - sqrt(below) / many, 0.0), min(self.ber + sqrt(above) / many, 1.0)


@dataclass(frozen=True)
class RankingScore:
    """R of equation 2 with what it is made of; smaller is better.

    `standard_error` is how much R would vary with other test sets of this size: the standard deviation of R
    when BER is normal about what was found, with σ as it is.
    """

    ber: float
    sigma: float
    guess: float
    guess_error: float
    weight: float
    score: float
    standard_error: float


def balanced_errors(truths: ArrayLike, answers: ArrayLike) -> BalancedErrors:
    """Errors by class of answers to cases with known classes; any number of classes, any kind of label.

    >>> found = balanced_errors([1, 1, -1, -1, -1, -1], [1, -1, -1, -1, -1, 1])
    >>> found.rates, found.ber, round(found.standard_error, 4)
    ((0.25, 0.5), 0.375, 0.2073)
    """
    true, given = same_cases(truths, answers)
    if true.dtype.kind == "i" and true.size and true.min() == -1 and true.max() == 1 and true.all():
        return _two_classes(true, given)
    classes, codes, counts = np.unique(true, return_inverse=True, return_counts=True)
    _check_classes(classes)
    errors = np.bincount(codes, weights=given != true, minlength=classes.size)
    return BalancedErrors(
        tuple(classes.tolist()), tuple(counts.tolist()), tuple(int(wrong) for wrong in errors)
    )


def guess_error(ber: float, guess: float) -> float:
    """δ, the distance of the guess from the BER that was found (equation 2).

    >>> guess_error(0.25, 0.2) == 0.25 - 0.2
    True
    """
    return abs(guess - ber)


def penalty_weight(delta: float, sigma: float) -> float:
    """1 − exp(−δ/σ): how far a wrong guess counts, given how well the BER is known (equation 2, table II).

    >>> round(penalty_weight(0.0096, 0.0026), 4)
    0.9751
    """
    if delta < 0 or sigma < 0:
        raise StatisticsError(f"δ and σ are not negative: got {delta} and {sigma}")
    if sigma == 0:
        return 1.0 if delta > 0 else 0.0
    return 1 - exp(-delta / sigma)


def ranking_score(ber: float, sigma: float, guess: float) -> RankingScore:
    """R = BER + δ (1 − exp(−δ/σ)) of equation 2: the error made, and the error in guessing it.

    >>> round(ranking_score(0.1747, 0.0026, 0.1747 + 0.0096).score, 4)
    0.1841
    """
    delta = guess_error(ber, guess)
    weight = penalty_weight(delta, sigma)
    return RankingScore(
        ber, sigma, guess, delta, weight, ber + delta * weight, _score_error(ber, sigma, guess)
    )


def scores_at(bers: ArrayLike, sigma: ArrayLike, guess: ArrayLike) -> NDArray[np.float64]:
    """R of equation 2 for many values at once."""
    found = np.asarray(bers, dtype=np.float64)
    delta = np.abs(np.asarray(guess, dtype=np.float64) - found)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        weight = np.where(delta > 0, -np.expm1(-delta / np.asarray(sigma, dtype=np.float64)), 0.0)
    return np.asarray(found + delta * weight)


def wilson(wrong: int, count: int, z: float) -> Interval:
    """Wilson's (1927) score interval of a proportion, for a normal quantile."""
    middle = (wrong + z * z / 2) / (count + z * z)
    width = z / (count + z * z) * sqrt(wrong * (count - wrong) / count + z * z / 4)
    return max(middle - width, 0.0), min(middle + width, 1.0)


def same_cases(truths: ArrayLike, answers: ArrayLike) -> tuple[Labels, Labels]:
    """Both as vectors with an entry for each case."""
    true, given = np.asarray(truths), np.asarray(answers)
    if true.ndim != 1 or true.shape != given.shape:
        raise StatisticsError(
            f"truths and answers are vectors with one entry per case: got {true.shape} and {given.shape}"
        )
    return true, given


def _two_classes(true: Labels, given: Labels) -> BalancedErrors:
    positive = true > 0
    wrong = true != given
    count, errors = int(np.count_nonzero(positive)), int(np.count_nonzero(wrong))
    missed = int(np.count_nonzero(wrong & positive))
    return BalancedErrors((-1, 1), (true.size - count, count), (errors - missed, missed))


def _check_classes(classes: Labels) -> None:
    if classes.size < 2:
        raise StatisticsError(
            f"balanced errors need cases of two classes at least: got {classes.tolist() or 'no case'}"
        )


def _score_error(ber: float, sigma: float, guess: float) -> float:
    """Standard deviation of R when BER is normal with standard deviation σ, by the trapezium rule."""
    if sigma == 0:
        return 0.0
    z = np.linspace(-6.0, 6.0, NODES)
    weights = np.exp(-z * z / 2)
    scores = scores_at(ber + sigma * z, sigma, guess)
    mean = np.average(scores, weights=weights)
    return float(np.sqrt(np.average((scores - mean) ** 2, weights=weights)))
