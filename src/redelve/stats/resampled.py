"""Cross-validation and repeated splits: losses whose training sets overlap, so that no plain t-test is right.

Losses are one number per resample (fold, or random split): the mean loss on its test cases. Nested
cross-validation needs the loss of every case. There is no uncorrected test here. See docs/comparisons.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.estimates import NO_VARIATION, OVERFLOW, Interval, Paired, infinite_losses, t_interval
from redelve.stats.mean_squares import FloatArray, f_p_value

ROUNDING = 8 * float(np.finfo(np.float64).eps)

NO_UNBIASED = (
    "training sets overlap, and no unbiased estimate of the variance of cross-validation exists (Bengio and "
    "Grandvalet 2004); the correction of Nadeau and Bengio (2003) assumes that losses on two test sets are "
    "correlated by the test cases' share of all cases"
)
ONE_DATA_SET = (
    "every resample draws on the same cases: more repetitions steady the estimate but add no cases, and the "
    "result is about training sets of the resamples' size"
)
REPEATED = (
    "where cases are tested more than once (repeated folds, random splits) the correction takes their losses "
    "as almost independent: a 5 % test rejects a true hypothesis about 5 % of the time for linear "
    "regression, but up to 13 % for nearest neighbours; one pass through folds of independent cases stays at "
    "6 % or less (folds of groups have an analysis of their own)"
)
"""Measured: docs/calibration.md."""

NESTED = (
    "the interval of nested cross-validation (Bates, Hastie and Tibshirani 2024) is approximate: its "
    "standard error rests on few and dependent folds, and the removal of bias supposes that what training "
    "cases are still missing costs in proportion to one over their number"
)
FEW_REPETITIONS = 10
FEW_CASES = 100


@dataclass(frozen=True)
class Resampled:
    """An expected loss, or difference of losses, from resamples of one set of cases, with corrected variance.

    All but the mean is None where nothing varies or a loss is infinite.
    """

    mean: float | None
    standard_error: float | None
    degrees_of_freedom: float | None
    resamples: int
    ratio: float
    caveats: tuple[str, ...]

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval by the t distribution with the corrected variance, or None."""
        return t_interval(self.mean, self.standard_error, self.degrees_of_freedom, level)


@dataclass(frozen=True)
class ResampledComparison(Paired[Resampled]):
    """Two methods on the same resamples by the corrected resampled t-test; `p_value` is two-sided."""

    statistic: float | None
    p_value: float | None

    @property
    def degrees_of_freedom(self) -> float | None:
        """Degrees of freedom of the test."""
        return self.differences.degrees_of_freedom


@dataclass(frozen=True)
class NestedCV:
    """Expected loss of a method trained on all cases, with a standard error from nested cross-validation.

    `cross_validated` is the plain estimate from the outer folds and `nested` that of the inner ones, trained
    on one fold less; `mean` is `nested` less the `bias` that the two reveal. `inflation` is the standard
    error over the one that takes the cases' losses as independent, kept between 1 and √folds.
    """

    mean: float
    standard_error: float | None
    degrees_of_freedom: float
    cross_validated: float
    nested: float
    bias: float
    inflation: float | None
    folds: int
    repetitions: int
    cases: int
    caveats: tuple[str, ...]

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval by the normal distribution (Bates, Hastie and Tibshirani 2024), or None."""
        return t_interval(self.mean, self.standard_error, inf, level)


def fold_ratio(folds: int) -> float:
    """Test cases over training cases in k-fold cross-validation, 1/(k − 1).

    >>> round(fold_ratio(10), 4)
    0.1111
    """
    if folds < 2:
        raise StatisticsError(f"cross-validation needs at least two folds: got {folds}")
    return 1 / (folds - 1)


def analyse_resampled(losses: ArrayLike, *, ratio: float, hidden: float = 0.0) -> Resampled:
    """Expected loss with variance (1/J + n_test/n_train) s² (Nadeau and Bengio 2003).

    `losses` holds the J mean losses of the resamples, in any shape; for r × k-fold cross-validation J = rk
    (Bouckaert and Frank 2004). `ratio` is n_test/n_train, see `fold_ratio`; `hidden` is what s² lacks
    because the resamples are stratified (`hidden_variance`).

    >>> result = analyse_resampled([3.0, 4.0, 2.0, 5.0, 3.0], ratio=fold_ratio(5))
    >>> result.mean, round(result.standard_error, 4), result.degrees_of_freedom
    (3.4, 0.7649, 4.0)
    """
    values = _checked(losses)
    return _analyse(values, float(np.abs(values).max()), ratio, hidden)


def hidden_variance(losses: ArrayLike, classes: ArrayLike, cases: float) -> float:
    """What the mean loss of so many cases would vary by their shares of the classes, Σ q_c (m_c − m)²/cases.

    Stratified folds have the same shares, which new cases have not: the sample is one draw of them, and where
    classes lose differently its mean varies with it (Cochran 1977, Sampling Techniques, section 5A.9).

    >>> round(hidden_variance([0.0, 0.0, 1.0, 1.0], [0, 0, 1, 1], 10), 6)
    0.025
    """
    return float(np.square(hidden_parts(losses, classes, cases)).sum())


def hidden_parts(losses: ArrayLike, classes: ArrayLike, cases: float) -> FloatArray:
    """The same class by class, √(q_c/cases)·(m_c − m), which are as linear in the losses as a mean is."""
    values, labels = np.asarray(losses, dtype=np.float64), np.unique(classes, return_inverse=True)[1].ravel()
    counts = np.bincount(labels)
    with np.errstate(invalid="ignore"):
        away = np.bincount(labels, values) / counts - values.mean()
    return np.asarray(np.sqrt(counts / values.size / cases) * away)


def compare_resampled(
    first: ArrayLike, second: ArrayLike, *, ratio: float, hidden: float = 0.0
) -> ResampledComparison:
    """Corrected resampled t-test, t = d̄ / √((1/J + n_test/n_train) s²), J − 1 degrees of freedom.

    Nadeau and Bengio (2003), for folds and repeated folds Bouckaert and Frank (2004). Both
    methods must have been trained and tested on the same resamples, in the same order.
    """
    one, two = _checked(first), _checked(second)
    if np.shape(first) != np.shape(second):
        raise StatisticsError(
            "the losses of two methods must be of the same resamples: "
            f"got shapes {np.shape(first)} and {np.shape(second)}"
        )
    with np.errstate(invalid="ignore"):
        values = one - two
    found = _analyse(values, float(max(np.abs(one).max(), np.abs(two).max())), ratio, hidden)
    means = (_mean(one), _mean(two))
    if found.mean is None or found.standard_error is None or found.degrees_of_freedom is None:
        return ResampledComparison(*means, found, None, None)
    t = found.mean / found.standard_error
    return ResampledComparison(*means, found, t, float(f_p_value(t * t, 1.0, found.degrees_of_freedom)))


def nested_cross_validation(
    inner: Sequence[Sequence[ArrayLike]], outer: Sequence[Sequence[ArrayLike]]
) -> NestedCV:
    """Expected loss and its standard error from nested cross-validation (Bates, Hastie and Tibshirani 2024).

    outer[r][k] are the losses of the cases in fold k when all other folds train; inner[r][k] those of all
    other cases when fold k is left aside and the rest is cross-validated, K − 2 folds training. The mean
    squared error is mean (ē_in − ē_out)² − mean s²_out/n_k (their Algorithm 1); it holds for (K − 1)/K of the
    cases and is scaled to all of them. The bias is (1 + (K − 2)/K)(ē_in − ē_out) over all folds.
    """
    inside, outside = _folds(inner), _folds(outer)
    _check_nested(inside, outside)
    folds, cases = len(outside[0]), sum(fold.size for fold in outside[0])
    pairs = [pair for row in zip(inside, outside, strict=True) for pair in zip(*row, strict=True)]
    squared = [float(i.mean() - o.mean()) ** 2 - float(o.var(ddof=1)) / o.size for i, o in pairs]
    nested = float(np.concatenate([i for i, _ in pairs]).mean())
    plain = float(np.concatenate([o for _, o in pairs]).mean())
    bias = (1 + (folds - 2) / folds) * (nested - plain)
    independent = float(np.concatenate([i for i, _ in pairs]).std(ddof=1)) / sqrt(cases)
    scaled = sqrt(max(float(np.mean(squared)), 0.0) * (folds - 1) / folds)
    varies = independent > ROUNDING * abs(plain)
    inflation = min(max(scaled / independent, 1.0), sqrt(folds)) if varies else None
    return NestedCV(
        mean=nested - bias,
        standard_error=None if inflation is None else inflation * independent,
        degrees_of_freedom=inf,
        cross_validated=plain,
        nested=nested,
        bias=bias,
        inflation=inflation,
        folds=folds,
        repetitions=len(outside),
        cases=cases,
        caveats=_nested_caveats(len(outside), cases) if varies else (NO_VARIATION,),
    )


def corrected_variance(values: FloatArray, ratio: float, hidden: float = 0.0) -> float:
    """Variance of the mean of resamples, (1/J + n_test/n_train) s² (Nadeau and Bengio 2003).

    s² is the variance that they show, and what is hidden in them.
    """
    if not (isfinite(ratio) and ratio > 0):
        raise StatisticsError(
            f"the ratio of test to training cases is above 0, as 1/9 for ten folds: got {ratio}"
        )
    return (1 / values.size + ratio) * (float(values.var(ddof=1)) + hidden)


def _checked(losses: ArrayLike) -> FloatArray:
    values = np.asarray(losses, dtype=np.float64).ravel()
    if values.size < 2:
        raise StatisticsError(f"a variance needs at least two resamples: got {values.size}")
    if np.isnan(values).any():
        raise StatisticsError(
            f"the loss of resample {int(np.flatnonzero(np.isnan(values))[0])} (from 0) is not a number; give "
            "failed predictions the loss of a default guess: leaving them out favours who fails"
        )
    return values


def _analyse(values: FloatArray, magnitude: float, ratio: float, hidden: float) -> Resampled:
    infinite = int((~np.isfinite(values)).sum())
    with np.errstate(over="ignore", invalid="ignore"):
        error = sqrt(corrected_variance(values, ratio, hidden))
    if infinite or not isfinite(error):
        caveat = infinite_losses(infinite) if infinite else OVERFLOW
        return Resampled(_mean(values), None, None, values.size, ratio, (caveat,))
    if error <= ROUNDING * magnitude:
        return Resampled(_mean(values), None, None, values.size, ratio, (NO_VARIATION,))
    df = float(values.size - 1)
    return Resampled(_mean(values), error, df, values.size, ratio, overlap_caveats(values.size, ratio))


def overlap_caveats(resamples: int, ratio: float) -> tuple[str, ...]:
    """What must be said of J resamples with this ratio of test to training cases."""
    tested = resamples * ratio / (1 + ratio)
    return (NO_UNBIASED, ONE_DATA_SET, REPEATED) if tested > 1 + 1e-9 else (NO_UNBIASED, ONE_DATA_SET)


def _mean(values: FloatArray) -> float | None:
    with np.errstate(invalid="ignore", over="ignore"):
        mean = float(values.mean())
    return None if isnan(mean) else mean


def _folds(losses: Sequence[Sequence[ArrayLike]]) -> list[list[FloatArray]]:
    return [[np.asarray(fold, dtype=np.float64) for fold in repetition] for repetition in losses]


def _check_nested(inner: list[list[FloatArray]], outer: list[list[FloatArray]]) -> None:
    folds = {len(row) for row in (*inner, *outer)}
    if not outer or len(inner) != len(outer) or len(folds) != 1 or min(folds) < 3:
        raise StatisticsError(
            "nested cross-validation needs inner and outer losses of the same repetitions, each with the "
            "same folds, three at least: "
            f"got {[len(row) for row in inner]} and {[len(row) for row in outer]} folds"
        )
    for inside, outside in zip(inner, outer, strict=True):
        cases = sum(fold.size for fold in outside)
        for k, (left, fold) in enumerate(zip(inside, outside, strict=True)):
            if fold.ndim != 1 or left.ndim != 1 or fold.size < 2 or left.size != cases - fold.size:
                raise StatisticsError(
                    f"fold {k} (from 0) needs two cases and inner losses of all {cases - fold.size} other "
                    f"cases: got shapes {fold.shape} and {left.shape}"
                )
            if not (np.isfinite(fold).all() and np.isfinite(left).all()):
                raise StatisticsError(f"a loss of fold {k} (from 0) is not a finite number")


def _nested_caveats(repetitions: int, cases: int) -> tuple[str, ...]:
    found = [NESTED]
    if repetitions < FEW_REPETITIONS:
        found.append(
            f"only {repetitions} repetition{'s' if repetitions > 1 else ''} of the folds: the standard error "
            "is itself noisy; use as many repetitions as time allows"
        )
    if cases < FEW_CASES:
        found.append(
            f"only {cases} cases: where a few of them have far the largest losses, 95 % intervals hold the "
            "truth less often than they say (85 % of the time in simulations with skewed noise)"
        )
    return tuple(found)
