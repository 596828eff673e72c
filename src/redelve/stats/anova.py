"""Expected loss and comparison of two methods by analysis of variance, in both loss models of DELVE's manual.

Losses come as a table: one row per training set, one column per test case. In the *hierarchical* scheme each
training set has test cases of its own; in the *common* scheme all share them. See docs/statistics.md.

The manual standardises losses, too (section 8.3): relative to a method that knows the distribution of the
targets but no inputs. The baselines are found from the targets of the test cases. Losses of several targets
are summed over the targets, so their baselines are summed too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.estimates import (
    NO_RESIDUAL,
    NO_VARIATION,
    OVERFLOW,
    TIED_MEANS,
    UNEQUAL_TEST_SETS,
    Analysis,
    Comparison,
    MeanSquares,
    QuasiF,
    Scheme,
    few_sets_or_cases,
    few_training_sets,
    infinite_losses,
    negative_variances,
)
from redelve.stats.mean_squares import (
    FloatArray,
    Losses,
    Sums,
    as_rows,
    cautious_p_value,
    crossed_sums,
    crossed_variance,
    f_test,
    harmonic_size,
    nested_sums,
    quasi_f_test,
    row_means,
    shape_of,
    t_test,
)

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""A standard error below this part of the losses themselves is rounding error, not variation."""


def analyse_hierarchical(losses: Losses) -> Analysis:
    """Expected loss when each training set has its own test set (manual eqs. 1–7); rows may differ in length.

    >>> result = analyse_hierarchical([[1, 2, 4, 3], [2, 4, 7, 5], [1, 3, 3, 6]])
    >>> round(result.mean, 4), round(result.standard_error, 4)
    (3.4167, 0.5833)
    """
    return _analyse(_single(losses), "hierarchical")


def analyse_common(losses: Losses) -> Analysis:
    """Expected loss when all training sets share one test set (manual eqs. 10–17).

    >>> result = analyse_common([[1, 2, 4, 3], [2, 4, 7, 5], [1, 3, 3, 6]])
    >>> round(result.mean, 4), round(result.standard_error, 4)
    (3.4167, 0.9317)
    """
    return _analyse(_single(losses), "common")


def compare_hierarchical(first: Losses, second: Losses) -> Comparison:
    """Two methods with a test set per training set: t-test on the training-set means (manual eqs. 8–9).

    >>> knn, net = [[1, 2, 4, 3], [2, 4, 7, 5], [1, 3, 3, 6]], [[2, 2, 5, 4], [2, 5, 6, 7], [3, 3, 5, 6]]
    >>> result = compare_hierarchical(knn, net)
    >>> result.difference, round(result.p_value, 4)
    (-0.75, 0.0351)
    """
    data = _paired(first, second)
    differences = _analyse(data, "hierarchical")
    mean, squares = differences.mean, differences.tested_mean_squares()
    if differences.degrees_of_freedom is None or mean is None or squares is None:
        return Comparison(*data.means(), differences, "t-test")
    shape = (differences.training_sets, differences.effective_test_cases)
    t, df1, df2, p = (float(x) for x in t_test(mean, squares.training_sets, shape))
    return Comparison(*data.means(), differences, "t-test", t, df1, df2, p, p)


def compare_common(first: Losses, second: Losses) -> Comparison:
    """Two methods with one test set: the F-test of Hillis (2007), DELVE's quasi-F beside it (manual eq. 18).

    >>> knn, net = [[1, 2, 4, 3], [2, 4, 7, 5], [1, 3, 3, 6]], [[2, 2, 5, 4], [2, 5, 6, 7], [3, 3, 5, 6]]
    >>> result = compare_common(knn, net)
    >>> result.difference, round(result.p_value, 4), round(result.quasi_f.p_value, 4)
    (-0.75, 0.0351, 0.0097)
    """
    data = _paired(first, second)
    differences = _analyse(data, "common")
    mean, squares = differences.mean, differences.crossed_mean_squares()
    if differences.degrees_of_freedom is None or mean is None or squares is None:
        return Comparison(*data.means(), differences, "F-test")
    shape = (len(data.rows), data.rows[0].size)
    f, df1, df2, p = (float(x) for x in f_test(mean, squares, shape))
    cautious = float(cautious_p_value(mean, squares, shape))
    quasi = QuasiF(*(float(x) for x in quasi_f_test(mean, squares, shape)))
    return Comparison(*data.means(), differences, "F-test", f, df1, df2, p, cautious, quasi)


@dataclass(frozen=True)
class _Data:
    """Checked losses of one method, or of two whose difference is meant, with the mean of every row."""

    rows: Sequence[FloatArray]
    minus: Sequence[FloatArray] | None
    row_means: FloatArray
    minus_means: FloatArray | None

    def means(self) -> tuple[float | None, float | None]:
        second = None if self.minus_means is None else _mean(self.minus_means)
        return _mean(self.row_means), second

    def about(self) -> FloatArray:
        with np.errstate(invalid="ignore", over="ignore"):
            return self.row_means if self.minus_means is None else self.row_means - self.minus_means

    def magnitude(self) -> float:
        largest = float(np.abs(self.row_means).max())
        return largest if self.minus_means is None else max(largest, float(np.abs(self.minus_means).max()))

    def infinite(self) -> int:
        return sum(int(np.isinf(row).sum()) for row in (*self.rows, *(self.minus or ())))

    def test_cases(self) -> int | None:
        sizes = {row.size for row in self.rows}
        return sizes.pop() if len(sizes) == 1 else None


def _single(losses: Losses) -> _Data:
    rows = _checked(losses)
    return _Data(rows, None, row_means(rows), None)


def _paired(first: Losses, second: Losses) -> _Data:
    rows, minus = _checked(first), _checked(second)
    if [row.size for row in rows] != [row.size for row in minus]:
        raise StatisticsError(
            "the losses of two methods must be of the same training sets and test cases: "
            f"got {shape_of(rows)} and {shape_of(minus)}"
        )
    return _Data(rows, minus, row_means(rows, "first method: "), row_means(minus, "second method: "))


def _checked(losses: Losses) -> list[FloatArray]:
    rows = as_rows(losses)
    if len(rows) < 2:
        raise StatisticsError(
            f"can't do analysis of variance with fewer than two training sets: got {len(rows)}"
        )
    if any(row.size == 0 for row in rows):
        raise StatisticsError(f"every training set needs test cases: got {shape_of(rows)} losses")
    return rows


def _require_table(data: _Data) -> None:
    if data.test_cases() is None:
        raise StatisticsError(
            f"with a common test set every row has the same test cases: got {shape_of(data.rows)} losses; "
            "where each training set has its own, use the hierarchical analysis"
        )
    if data.test_cases() == 1:
        raise StatisticsError("can't do analysis of variance with fewer than two common test cases: got 1")


def _analyse(data: _Data, scheme: Scheme) -> Analysis:
    if scheme == "common":
        _require_table(data)
    about = data.about()
    if not np.isfinite(about).all():
        count = data.infinite()
        return _undefined(data, scheme, infinite_losses(count) if count else OVERFLOW)
    sums_of = crossed_sums if scheme == "common" else nested_sums
    with np.errstate(over="ignore", invalid="ignore"):
        sums = sums_of(data.rows, data.minus, about)
        squares = _mean_squares(sums, [row.size for row in data.rows])
    if not all(
        x is None or isfinite(x) for x in (squares.training_sets, squares.test_cases, squares.residual)
    ):
        return _undefined(data, scheme, OVERFLOW)
    return _defined(data, scheme, sums.mean, squares)


def _mean_squares(sums: Sums, sizes: Sequence[int]) -> MeanSquares:
    between = len(sizes) - 1
    if sums.test_cases is None:
        within = sum(sizes) - len(sizes)
        return MeanSquares(sums.training_sets / between, None, sums.residual / within if within else None)
    columns = sizes[0] - 1
    residual = sums.residual / (between * columns)
    return MeanSquares(sums.training_sets / between, sums.test_cases / columns, residual)


def _defined(data: _Data, scheme: Scheme, mean: float, squares: MeanSquares) -> Analysis:
    training_sets, test_cases = len(data.rows), harmonic_size(data.rows)
    error, sds = standard_error(squares, training_sets, test_cases)
    shape, losses = (training_sets, data.rows[0].size), training_sets * test_cases
    least = losses * (ROUNDING * data.magnitude()) ** 2
    scaled, df = _variance_and_df(squares, shape)
    is_tied = scaled <= least and squares.residual is not None and squares.residual > least
    if is_tied:
        scaled, df = _variance_and_df(squares.untied(), shape)
    varies = scaled > least
    interval_error = sqrt(scaled / losses)
    caveats = (*_caveats(data, scheme, squares), *((TIED_MEANS,) if is_tied else ()))
    return Analysis(
        scheme=scheme,
        mean=mean,
        standard_error=error,
        interval_standard_error=interval_error if varies else None,
        degrees_of_freedom=df if varies else None,
        sd_training=sds[0],
        sd_test_cases=sds[1],
        sd_residual=sds[2],
        mean_squares=squares,
        training_sets=training_sets,
        test_cases=data.test_cases(),
        effective_test_cases=test_cases,
        caveats=caveats if varies else (NO_VARIATION,),
        is_tied=is_tied,
    )


def standard_error(
    squares: MeanSquares, training_sets: int, test_cases: float
) -> tuple[float, tuple[float | None, float | None, float | None]]:
    """Standard error of the mean and the standard deviations it is made of (manual eqs. 3, 7, 12, 17)."""
    if squares.residual is None:
        return sqrt(squares.training_sets / (training_sets * test_cases)), (None, None, None)
    training = max(squares.training_sets - squares.residual, 0.0) / test_cases
    variance = training / training_sets + squares.residual / (training_sets * test_cases)
    if squares.test_cases is None:
        return sqrt(variance), (sqrt(training), None, sqrt(squares.residual))
    cases = max(squares.test_cases - squares.residual, 0.0) / training_sets
    return sqrt(variance + cases / test_cases), (sqrt(training), sqrt(cases), sqrt(squares.residual))


def _variance_and_df(squares: MeanSquares, shape: tuple[int, int]) -> tuple[float, float]:
    """IJ times the variance of the mean that interval and test rest on, and its degrees of freedom."""
    if squares.test_cases is None or squares.residual is None:
        return squares.training_sets, float(shape[0] - 1)
    crossed = (squares.training_sets, squares.test_cases, squares.residual)
    variance, df = crossed_variance(crossed, shape)
    return float(variance), float(df)


def _caveats(data: _Data, scheme: Scheme, squares: MeanSquares) -> tuple[str, ...]:
    training_sets, test_cases = len(data.rows), data.test_cases()
    if scheme == "common" and test_cases is not None:
        found = list(few_sets_or_cases(training_sets, test_cases))
    else:
        found = list(few_training_sets(training_sets))
    if test_cases is None:
        found.append(UNEQUAL_TEST_SETS)
    if squares.residual is None:
        found.append(NO_RESIDUAL)
    else:
        found += negative_variances({"training sets": squares.training_sets - squares.residual})
    return tuple(found)


def _undefined(data: _Data, scheme: Scheme, caveat: str) -> Analysis:
    """All that can be said when losses are infinite or overflow: the mean, if that."""
    mean = _mean(data.about())
    overflown = caveat == OVERFLOW and mean is not None and not isfinite(mean)
    return Analysis(
        scheme=scheme,
        mean=None if overflown else mean,
        standard_error=None,
        interval_standard_error=None,
        degrees_of_freedom=None,
        sd_training=None,
        sd_test_cases=None,
        sd_residual=None,
        mean_squares=None,
        training_sets=len(data.rows),
        test_cases=data.test_cases(),
        effective_test_cases=harmonic_size(data.rows),
        caveats=(caveat,),
    )


def _mean(values: FloatArray) -> float | None:
    with np.errstate(invalid="ignore", over="ignore"):
        mean = float(values.mean())
    return None if isnan(mean) else mean


# Standardised losses


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
