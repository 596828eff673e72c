"""Sums of squares of a table of losses, and tests and quantiles from the mean squares.

Sums are taken block by block, without a second table in memory, about a mean found in a first pass, and what
rounding left over in that mean is removed afterwards (the corrected two-pass algorithm; Chan, Golub and
LeVeque, 1983). Losses near 10⁹ with a standard deviation of 1 thus lose no digits that they had.

Every test takes numbers or arrays of them alike. The analyses call them with one data set's mean squares, the
calibration with those of many simulated ones, so what is calibrated is what is used. Undefined values are NaN
here; the analyses turn them into None. `loss_tail` tells whether losses are too skewed for any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, exp, log10, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.two_t import stretch, two_t_tail

FloatArray = NDArray[np.float64]
Losses = FloatArray | Sequence[FloatArray] | Sequence[Sequence[float]]
"""One row of losses per training set: a two-dimensional array, or one vector per training set."""

BLOCK = 2**16
"""Losses held in one block: half a megabyte, which stays in the processor's cache."""
COCHRAN = 0.04
"""A 95 % interval errs in no more than about 6 % while the squared skewness over the number of cases is less.

Cochran (1977, Sampling Techniques, third edition, section 2.15): n > 25 G₁². docs/calibration.md has what is
measured on either side of it.
"""
TOP = 0.01
"""The share of the cases whose share of the sum is told."""
BY_LUCK, OF_MANY = 0.42, 0.4
"""In 5 % of Gaussian data m of n squared errors carry more than 1 + 0.42/√m times their expected share.

In 5/k % it is 0.42 + 0.4 log₁₀ k in place of 0.42. By simulation, 60 to 30,000 cases: quantiles of 95 % to
99.9 % agree within 0.06, or are smaller. docs/calibration.md has the rates.
"""


@dataclass(frozen=True)
class Sums:
    """The overall mean and the sums of squares about means; `test_cases` is None for nested losses."""

    mean: float
    training_sets: float
    test_cases: float | None
    residual: float


def as_rows(losses: Losses) -> list[FloatArray]:
    """The losses as one vector per training set; float64 input is viewed, not copied."""
    try:
        rows = [np.asarray(row, dtype=np.float64) for row in losses]
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"losses must be a table of numbers: {error}") from None
    for i, row in enumerate(rows):
        if row.ndim != 1:
            raise StatisticsError(
                "losses must be one row per training set, one column per test case: "
                f"got shape {row.shape} for training set {i}; for several runs use the analyses of runs"
            )
    return rows


def shape_of(rows: Sequence[FloatArray]) -> str:
    """How a table of losses is described in an error: `3 × 200`, or `2 × (200, 199)` where rows differ."""
    sizes = [row.size for row in rows]
    columns = str(sizes[0]) if sizes and len(set(sizes)) == 1 else f"({', '.join(map(str, sizes))})"
    return f"{len(rows)} × {columns}"


def row_means(rows: Sequence[FloatArray], whose: str = "") -> FloatArray:
    """Mean loss of each training set; NaN losses are an error that names the first, infinite ones pass."""
    with np.errstate(invalid="ignore", over="ignore"):
        means = np.array([row.sum() / row.size for row in rows])
    if np.isnan(means).any():
        _refuse_nan(rows, whose)
    return means


def _refuse_nan(rows: Sequence[FloatArray], whose: str) -> None:
    for i, row in enumerate(rows):
        found = np.flatnonzero(np.isnan(row))
        if found.size:
            raise StatisticsError(
                f"{whose}the loss of training set {i}, test case {found[0]} (from 0) is not a number; "
                "give failed predictions the loss of a default guess: leaving them out favours who fails"
            )


def crossed_sums(rows: Sequence[FloatArray], minus: Sequence[FloatArray] | None, about: FloatArray) -> Sums:
    """Two-way sums of squares of `rows`, or of `rows` − `minus` (manual eqs. 13–16 without the divisors).

    `about` holds the row means as far as they are known; the blocks find what is missing in them.
    """
    training_sets, test_cases = len(rows), rows[0].size
    left = np.zeros(training_sets)
    cases = residual = 0.0
    for block in _blocks(rows, minus, about):
        left += block.sum(axis=1)
        column = block.mean(axis=0)
        cases += float(column @ column)
        np.subtract(block, column, out=block)
        residual += float(np.einsum("ij,ij->", block, block))
    left /= test_cases
    centre = float(left.mean())
    deviation = left - centre
    mean, training = _between(about, left)
    return Sums(
        mean=mean,
        training_sets=test_cases * training,
        test_cases=training_sets * max(cases - test_cases * centre * centre, 0.0),
        residual=max(residual - test_cases * float(deviation @ deviation), 0.0),
    )


def nested_sums(rows: Sequence[FloatArray], minus: Sequence[FloatArray] | None, about: FloatArray) -> Sums:
    """One-way sums of squares of `rows`, or of `rows` − `minus` (manual eqs. 4–6 without the divisors).

    Rows may differ in length: the sum between training sets is then that of unweighted means (Yates 1934)
    times the harmonic mean of the lengths, so that its expectation keeps its form.
    """
    left = np.zeros(len(rows))
    residual = 0.0
    for i, row in enumerate(rows):
        second = None if minus is None else [minus[i]]
        within = 0.0
        for block in _blocks([row], second, about[i : i + 1]):
            left[i] += block.sum()
            within += float(block[0] @ block[0])
        left[i] /= row.size
        residual += max(float(within - row.size * left[i] ** 2), 0.0)
    mean, training = _between(about, left)
    return Sums(mean, harmonic_size(rows) * training, None, residual)


def harmonic_size(rows: Sequence[FloatArray]) -> float:
    """Harmonic mean of the numbers of test cases; the number itself where all are equal."""
    sizes = [row.size for row in rows]
    return float(sizes[0]) if len(set(sizes)) == 1 else len(sizes) / sum(1 / size for size in sizes)


def _between(about: FloatArray, left: FloatArray) -> tuple[float, float]:
    """Overall mean and sum of squares of the row means, which are given as `about` + `left`."""
    deviation = (about - about[0]) + left
    centre = float(deviation.mean())
    deviation = deviation - centre
    return float(about[0]) + centre, float(deviation @ deviation)


def _blocks(
    rows: Sequence[FloatArray], minus: Sequence[FloatArray] | None, about: FloatArray
) -> Iterator[FloatArray]:
    """Blocks of columns of `rows` (− `minus`) less `about`; each block overwrites the one before."""
    test_cases = rows[0].size
    width = min(test_cases, max(1, BLOCK // len(rows)))
    buffer = np.empty((len(rows), width))
    for start in range(0, test_cases, width):
        part = slice(start, min(start + width, test_cases))
        block = buffer[:, : part.stop - start]
        for i, row in enumerate(rows):
            if minus is None:
                np.subtract(row[part], about[i], out=block[i])
            else:
                np.subtract(row[part], minus[i][part], out=block[i])
                block[i] -= about[i]
        yield block


Squares = tuple[ArrayLike, ArrayLike, ArrayLike]
"""Mean squares of training sets, of test cases and of the residual; `shape` is (I, J) throughout."""


class FTest(NamedTuple):
    """A test statistic (F, or t with df1 = 1) with its degrees of freedom and p-value."""

    statistic: FloatArray
    df1: FloatArray
    df2: FloatArray
    p_value: FloatArray


def f_p_value(statistic: ArrayLike, df1: ArrayLike, df2: ArrayLike) -> FloatArray:
    """Upper tail of the F distribution (Abramowitz and Stegun 1964, 26.6.2)."""
    from scipy.special import chdtrc, fdtrc

    f, first, second = (np.asarray(x, dtype=np.float64) for x in (statistic, df1, df2))
    p, is_endless = fdtrc(first, second, f), np.isinf(second)
    if is_endless.any():  # the tail of χ² takes three times as long as that of F
        p = np.where(is_endless, chdtrc(first, first * f), p)
    return np.asarray(p, np.float64)


def t_quantile(df: ArrayLike, level: float) -> FloatArray:
    """The t value that ± encloses `level`; infinite degrees of freedom give the normal quantile."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.asarray(df, dtype=np.float64), (1 + level) / 2), np.float64)


def t_test(mean: ArrayLike, ms_training: ArrayLike, shape: tuple[int, float]) -> FTest:
    """t-test that the mean is zero, from the training-set means (manual eq. 9, its first form).

    The second form printed in eq. 9, MS_a/(J(I−1)), is a slip: the variance of the mean is MS_a/(IJ).
    """
    mean, ms_training = np.asarray(mean, np.float64), np.asarray(ms_training, np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = mean / np.sqrt(ms_training / (shape[0] * shape[1]))
    t = np.where(ms_training > 0, t, np.nan)
    one, df = np.ones_like(t), np.full_like(t, shape[0] - 1)
    return FTest(t, one, df, f_p_value(t**2, one, df))


def crossed_variance(mean_squares: Squares, shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """MS_a + max(MS_b − MS_ε, 0), which is IJ times the variance of the mean, and its degrees of freedom.

    The variance is that of Hillis (2007, Statistics in Medicine 26:596–619), derived for ROC studies with
    several readers (here: training sets) and cases. With A = MS_a and C = max(MS_b − MS_ε, 0) the degrees of
    freedom are (kA + C)² / ((kA)²/(I−1) + C²/(J−1)), k = (I+1)/(I−1): those of Satterthwaite (1946), but with
    A given k times its weight. Hillis has k = 1 and leaves out the term of J; then a small A, which so few
    training sets often give by chance, brings many degrees of freedom just when V is underestimated.
    """
    training, variable = _two_sources(mean_squares)
    rows, columns = shape[0] - 1, shape[1] - 1
    weighed = (shape[0] + 1) / rows * training
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = weighed / (weighed + variable)
        df = 1 / (share**2 / rows + (1 - share) ** 2 / columns)
    return np.asarray(training + variable), np.asarray(df)


def f_test(mean: ArrayLike, mean_squares: Squares, shape: tuple[int, int]) -> FTest:
    """F-test that the mean is zero, training sets crossed with test cases (sources: `crossed_variance`)."""
    return _crossed_test(mean, crossed_variance(mean_squares, shape), shape)


def hillis_test(mean: ArrayLike, mean_squares: Squares, shape: tuple[int, int]) -> FTest:
    """The same with the degrees of freedom of Hillis (2007): (I − 1)·((A + C)/A)²."""
    training, variable = _two_sources(mean_squares)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        df = (shape[0] - 1) * ((training + variable) / training) ** 2
    return _crossed_test(mean, (training + variable, df), shape)


def _two_sources(mean_squares: Squares) -> tuple[FloatArray, FloatArray]:
    """What training sets and what test cases contribute to IJ times the variance of the mean."""
    training, cases, residual = (np.asarray(x, np.float64) for x in mean_squares)
    return training, np.maximum(cases - residual, 0.0)


def _crossed_test(mean: ArrayLike, source: tuple[FloatArray, FloatArray], shape: tuple[int, int]) -> FTest:
    variance, df = source
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        f = shape[0] * shape[1] * np.square(mean) / variance
    f = np.where(variance > 0, f, np.nan)
    return FTest(f, np.ones_like(f), df, f_p_value(f, np.ones_like(f), df))


def quasi_f_test(mean: ArrayLike, mean_squares: Squares, shape: tuple[int, int]) -> FTest:
    """DELVE's quasi-F test that the mean is zero (manual eqs. 19–21; Lindman 1992)."""
    training, cases, residual = (np.asarray(x, np.float64) for x in mean_squares)
    rows, columns = shape[0] - 1, shape[1] - 1
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        below = training + cases  # by which all is divided, so that no square overflows
        mean_part = shape[0] * shape[1] * np.square(np.asarray(mean, np.float64)) / below
        rest = residual / below
        f = mean_part + rest
        df1 = f**2 / (mean_part**2 + rest**2 / (rows * columns))
        df2 = 1 / ((training / below) ** 2 / rows + (cases / below) ** 2 / columns)
    return FTest(f, df1, df2, f_p_value(f, df1, df2))


def cautious_p_value(mean: ArrayLike, mean_squares: Squares, shape: tuple[int, int]) -> FloatArray:
    """p-value of the Behrens–Fisher kind for training sets crossed with test cases.

    The chance that |√A·T + √C·T′| exceeds √(IJ)·|mean|, where A = MS_a, C = max(MS_b − MS_ε, 0) and T, T′ are
    independent t variables with I − 1 and J − 1 degrees of freedom: a generalised p-value (Fisher 1935; Tsui
    and Weerahandi 1989, JASA 84:602–607). Values below 10⁻¹⁶ are not resolved and given as 10⁻¹⁶.
    """
    training, variable = _two_sources(mean_squares)
    total = training + variable
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        statistic = shape[0] * shape[1] * np.square(np.asarray(mean, np.float64)) / total
        shares = (training / total, variable / total)
    p = two_t_tail(statistic, shares, (shape[0] - 1, shape[1] - 1))
    return np.asarray(np.where(total > 0, np.clip(p, 1e-16, 1.0), np.nan))


def cautious_half_width(mean_squares: Squares, shape: tuple[int, int], level: float) -> float:
    """Half the width of the interval that `cautious_p_value` inverts to, by bisection."""

    def inside(distance: float) -> bool:
        return float(cautious_p_value(distance, mean_squares, shape)) > 1 - level

    variance, _ = crossed_variance(mean_squares, shape)
    low, high = 0.0, float(np.sqrt(variance / (shape[0] * shape[1])))
    while inside(high):
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) else (low, middle)
    return (low + high) / 2


def two_t_p_value(
    squared: FloatArray, sets: tuple[FloatArray, FloatArray], cases: tuple[FloatArray, FloatArray] | None
) -> FloatArray:
    """P((√A·T + √C·T′)² > `squared`), T and T′ independent t variables; `sets` is (A, df), `cases` (C, df′).

    Without `cases` it is the tail of one t variable; with them that of `cautious_p_value`.
    """
    from scipy.special import stdtr

    variance, df = (np.asarray(x, np.float64) for x in sets)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if cases is None:
            t = np.sqrt(squared / variance)
            return np.asarray(np.where(squared > 0, 2 * stdtr(df, -t), 1.0))
        total = variance + cases[0]
        scaled, shares = squared / total, (variance / total, cases[0] / total)
    every = np.broadcast_arrays(scaled, *shares, df, cases[1])
    p = np.full(every[0].shape, np.nan)
    for first, second in {(a, b) for a, b in zip(every[3].ravel(), every[4].ravel(), strict=True)}:
        here = (every[3] == first) & (every[4] == second)
        p[here] = two_t_tail(every[0][here], (every[1][here], every[2][here]), (first, second))
    return np.asarray(np.where(total > 0, np.clip(p, 1e-16, 1.0), np.where(squared > 0, 0.0, 1.0)))


def two_t_half_width(
    sets: tuple[FloatArray, FloatArray], cases: tuple[FloatArray, FloatArray] | None, level: float
) -> FloatArray:
    """The distance d at which `two_t_p_value` of d² is `level`.

    Without cases it is √A·q, with q the quantile of |T|. With cases let a = √A·q and c = √C·q′. Then d over
    √(a² + c²) depends on v = (c − a)/(c + a) alone, smoothly: for more than 128 pairs it is found at as
    many Chebyshev points and interpolated (Trefethen 2013, Approximation Theory and Practice, chapter 4).
    """
    from scipy.special import stdtrit

    variance, df = (np.asarray(x, np.float64) for x in sets)
    is_one = df.size > 1 and bool((df == df.flat[0]).all())  # a quantile takes longer than all the rest
    quantile = stdtrit(df.flat[0] if is_one else df, 1 - level / 2)
    alone = np.sqrt(variance) * np.broadcast_to(quantile, df.shape)
    if cases is None:
        return np.asarray(alone)
    other = np.sqrt(cases[0]) * stdtrit(cases[1], 1 - level / 2)
    alone, other, first, second = np.broadcast_arrays(alone, other, df, cases[1])
    found = np.hypot(alone, other)
    for dfs in set(zip(first.ravel(), second.ravel(), strict=True)):
        here = (first == dfs[0]) & (second == dfs[1]) & (found > 0)
        mix = (other[here] - alone[here]) / (other[here] + alone[here])
        found[here] *= stretch(mix, dfs, level)
    return np.asarray(found)


@dataclass(frozen=True)
class LossTail:
    """How much of the losses the worst cases carry, and the squared skewness over the number of cases."""

    top_share: float
    strength: float
    top: int = 1
    """How many cases are the worst."""
    cases: int = 1

    def is_heavy(self, methods: int = 1) -> bool:
        """Whether a t interval needs more cases, and the tail is heavier than that of Gaussian errors.

        Of so many methods none is called so in about 95 % of tables with Gaussian noise, or more.
        """
        most = gaussian_top_share(self.top, self.cases, methods)
        return self.strength >= COCHRAN and self.top_share > most

    def words(self, what: str = "cases") -> str:
        """What the worst cases carry, or groups of them: "3 of 250 cases carry 61 % of the loss"."""
        verb = "carries" if self.top == 1 else "carry"
        return f"{self.top} of {self.cases} {what} {verb} {100 * self.top_share:.0f} % of the loss"


def gaussian_top_share(top: int, cases: int, methods: int = 1) -> float:
    """What the worst cases carry of squared Gaussian errors, at most, in 95 % of data sets.

    Of any of several methods, by Bonferroni's inequality. The part of the mean of a squared standard normal
    variable above its quantile z² is 2(zφ(z) + 1 − Φ(z)).

    >>> round(gaussian_top_share(1, 100), 3), round(gaussian_top_share(100, 10_000, methods=10), 3)
    (0.12, 0.091)
    """
    from scipy.special import ndtri

    share = min(top / cases, 1.0)
    z = -float(ndtri(share / 2))
    expected = 2 * z * exp(-z * z / 2) / sqrt(2 * pi) + share
    return float(expected * (1 + (BY_LUCK + OF_MANY * log10(methods)) / sqrt(top)))


def loss_tail(losses: FloatArray, lowest: float = 0.0) -> LossTail:
    """The tail of independent cases' losses; one hundredth of the cases, at least one, is the top.

    Shares are of what is lost beyond `lowest`, or beyond the smallest loss seen where that is infinite.

    >>> loss_tail(np.array([1.0] * 99 + [101.0])).top_share
    0.505
    """
    values = np.sort(np.asarray(losses, dtype=np.float64))
    if not np.isfinite(values).all():
        return LossTail(0.0, 0.0)
    above = values - (lowest if np.isfinite(lowest) else values[0])
    total, away = float(above.sum()), values - values.mean()
    variance = float(np.square(away).mean())
    if not (total > 0 and np.finfo(np.float64).tiny < variance < np.inf):
        return LossTail(0.0, 0.0)
    skewness = float(np.power(away / np.sqrt(variance), 3).mean())
    top = ceil(TOP * above.size)
    return LossTail(float(above[-top:].sum()) / total, skewness**2 / values.size, top, values.size)
