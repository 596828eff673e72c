"""Balanced errors and the score of the WCCI 2006 challenge: how good a classifier is, how well known.

Guyon, Saffari, Dror and Buhmann (2006), Performance prediction challenge, section III. Errors are counted
class by class; `compare_balanced_errors` in `paired_errors` compares two classifiers case by case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.estimates import Interval, check_level
from redelve.stats.mean_squares import FloatArray, t_quantile

Labels = NDArray[Any]
Flags = NDArray[np.bool_]

NORMAL = float("inf")
"""Degrees of freedom with which Student's distribution is the normal one."""
REPETITIONS, ROUNDING = 100, 1e-10
"""How long and how finely a limit is sought."""
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

        Upwards Wilson's (1927) limits of the classes, put together by the method of variance estimates
        recovery (Zou and Donner 2008, Statistics in Medicine 27:1693–1702): a class without errors may have
        been lucky. Downwards, where recovered limits end far too early with few errors, by `larger_p_values`.
        """
        check_level(level)
        above = float(upward_reach(self.errors, self.counts, float(t_quantile(NORMAL, level))))
        return self._lower((1 - level) / 2), min(self.ber + above, 1.0)

    def _lower(self, failure: float) -> float:
        """The expected BER that has this one-sided p-value in `larger_p_values`, found by repetition."""
        from scipy.special import betaincinv

        rates, ber = self.rates, self.ber
        value, before = ber / 2, inf
        for _ in range(REPETITIONS):
            if abs(value - before) <= ROUNDING * ber or not value:
                break
            size, before = self._plain_cases([rate * value / ber for rate in rates], value), value
            value = float(betaincinv(size * ber, size * (1 - ber) + 1, failure))
        return value

    def _plain_cases(self, supposed: Sequence[float], value: float) -> float:
        """The cases of a plain error rate as precise as the BER, were the rates these, of this mean."""
        terms = (rate * (1 - rate) / count for rate, count in zip(supposed, self.counts, strict=True))
        return value * (1 - value) * len(supposed) ** 2 / sum(terms)


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
    _check_classes(classes, given)
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


def wilson(wrong: ArrayLike, count: ArrayLike, z: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both ends of Wilson's (1927) score interval of proportions, for normal quantiles."""
    errors, cases, quantile = (np.asarray(one, dtype=np.float64) for one in (wrong, count, z))
    size = cases + quantile**2
    middle = (errors + quantile**2 / 2) / size
    width = quantile / size * np.sqrt(errors * (cases - errors) / cases + quantile**2 / 4)
    return np.maximum(middle - width, 0.0), np.minimum(middle + width, 1.0)


def upward_reach(errors: ArrayLike, counts: ArrayLike, z: ArrayLike) -> FloatArray:
    """How far above a BER its interval reaches (see `BalancedErrors.interval`); the classes are last."""
    rates = np.asarray(errors, dtype=np.float64) / np.asarray(counts)
    parts = wilson(errors, counts, z)[1] - rates
    return np.asarray(np.sqrt((parts**2).sum(axis=-1)) / parts.shape[-1])


def larger_p_values(errors: ArrayLike, counts: ArrayLike, values: ArrayLike) -> FloatArray:
    """One-sided p-values that expected BERs are larger than these values; the classes are the last axis.

    If the expected BER is v, let every class have v/BER of the rate that was found. That gives σ(v) and the
    number of cases v (1 − v)/σ² which a plain error rate of this precision would have; the p-value is the
    binomial one for them (after Korn and Graubard 1998, Survey Methodology 24:193–201). 1/2 at most.
    """
    from scipy.special import betainc

    cases = np.asarray(counts, dtype=np.float64)
    rates = np.asarray(errors, dtype=np.float64) / cases
    ber = rates.mean(axis=-1)
    value = np.minimum(np.maximum(np.asarray(values, dtype=np.float64), 0.0), ber)
    with np.errstate(divide="ignore", invalid="ignore"):
        supposed = rates * (value / ber)[..., None]
        variance = (supposed * (1 - supposed) / cases).sum(axis=-1) / rates.shape[-1] ** 2
        size = value * (1 - value) / variance
        found = betainc(size * ber, size * (1 - ber) + 1, value)
    return np.asarray(np.where(value >= ber, 0.5, np.where(value > 0, np.minimum(found, 0.5), 0.0)))


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


def _check_classes(classes: Labels, given: Labels) -> None:
    if classes.size < 2:
        raise StatisticsError(
            f"balanced errors need cases of two classes at least: got {classes.tolist() or 'no case'}"
        )
    if classes.dtype.kind == "f" and np.isnan(classes).any():
        raise StatisticsError("a truth is not a number: leave out cases whose class is not known")
    if (classes.dtype.kind in "SU") != (given.dtype.kind in "SU") and "O" not in (
        classes.dtype.kind,
        given.dtype.kind,
    ):
        raise StatisticsError(
            f"truths such as {classes[0]!r} and answers such as {given[0]!r} are of different kinds, so that "
            "none would be right: give both as texts or both as numbers"
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
