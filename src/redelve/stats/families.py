"""One family of comparisons, one error rate: pairs of methods whose variances learn from each other.

Each pair has the variance A of its training sets' mean differences, on few degrees of freedom, and E, what
test cases alone would make of it, on many. A pair's own A is drawn towards what all pairs say of A/E
(empirical Bayes; Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3:3; Phipson et al.
2016, Annals of Applied Statistics 10:946–963), and its own t-test must speak as well. Claims and intervals
are one single-step rule: a difference is claimed exactly where its interval leaves out zero. See
docs/comparisons.md.

The last axis of every array is that of the pairs; axes before it are those of many data sets at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray, two_t_half_width, two_t_p_value
from redelve.stats.pairs import PairSquares

LEAST = 0.005
"""A variance over training sets below this share of E is taken as this share: set means may tie."""
RIDGE = 0.5
"""What the slope of log(A/E) on log E is shrunk by, for each pair."""
SPREAD = 0.8
"""Share of the sampling variance of log A that is taken off what the logarithms vary: pairs share methods."""
GUARD = 2.5
"""The pair's own t-test must have a p-value below α over this, where one task has all of α."""
GUARD_OF_SHARES = 4.0
"""The same, at least, where α is shared by several tasks; half of the methods if that is more."""


@dataclass(frozen=True)
class PairFamily:
    """Comparisons made together: p-values and intervals that hold for all of them at once.

    `variances` stand for A of the squares, on `prior_df` more degrees of freedom; `guard` is what the p-value
    of a pair's own variance is multiplied by. `unfloored` are the variances that were not kept from falling
    below E: too small ones would lead to false claims, but plans that rest on the larger ones ask too much.
    """

    squares: PairSquares
    variances: FloatArray
    prior_df: FloatArray
    guard: float
    unfloored: FloatArray

    @property
    def pairs(self) -> int:
        """How many comparisons there are."""
        return int(self.squares.differences.shape[-1])

    def p_values(self) -> FloatArray:
        """For each comparison the level of the whole family from which on its difference is claimed."""
        squares = self.squares
        both = self.pairs * self._tail(self.variances, self.prior_df + squares.df)
        own = self.guard * self._tail(squares.between, squares.df) if self.guard else 0.0
        p = np.minimum(np.maximum(both, own), 1.0)
        return np.asarray(np.where(np.isnan(squares.between), np.nan, p))

    def own_p_values(self) -> FloatArray:
        """For each comparison the p-value that it has by itself, NaN where its differences do not vary."""
        own = self._tail(self.squares.between, self.squares.df)
        return np.asarray(np.where(np.isnan(self.squares.between), np.nan, own))

    def single_p_values(self) -> FloatArray:
        """Two-sided p-value of each comparison as if it were the only one, by the variance that it learnt."""
        p = self._tail(self.variances, self.prior_df + self.squares.df)
        return np.asarray(np.where(np.isnan(self.squares.between), np.nan, p))

    def half_widths(self, level: float) -> FloatArray:
        """Half the widths of intervals that all hold their true differences but in `level` of cases."""
        squares = self.squares
        both = self._reach(self.variances, self.prior_df + squares.df, level / self.pairs)
        if not self.guard:
            return both
        return np.asarray(np.maximum(both, self._reach(squares.between, squares.df, level / self.guard)))

    def _tail(self, variances: FloatArray, df: FloatArray) -> FloatArray:
        squares = self.squares
        distance = squares.training_sets * np.square(squares.differences)
        return two_t_p_value(distance, (variances, df), self._cases())

    def _reach(self, variances: FloatArray, df: FloatArray, level: float) -> FloatArray:
        reach = two_t_half_width((variances, df), self._cases(), min(level, 1.0))
        return np.asarray(reach / np.sqrt(self.squares.training_sets))

    def _cases(self) -> tuple[FloatArray, FloatArray] | None:
        squares = self.squares
        return None if squares.shared is None else (squares.shared, squares.test_cases - 1.0)


def unmoderated(squares: PairSquares) -> PairFamily:
    """Comparisons that do not learn from each other: Bonferroni's inequality."""
    between = squares.between
    return PairFamily(squares, between, np.zeros_like(between), 0.0, between)


def moderate(
    squares: PairSquares, methods: int, *, is_shared_level: bool = False, most_prior_df: float = np.inf
) -> PairFamily:
    """Variances of all pairs, each drawn towards the others as far as these agree; none falls below E."""
    if methods < 3:
        raise StatisticsError(
            f"variances of pairs learn from each other with three methods or more: got {methods}"
        )
    prior, ratio, known = _prior(squares, methods)
    prior = np.where(known, np.minimum(prior, most_prior_df), 0.0)
    free, kept = (_drawn(squares, prior, each) for each in (ratio, np.maximum(ratio, 1.0)))
    variances = np.where(known, np.maximum(squares.within, kept), squares.between)
    guard = max(GUARD_OF_SHARES, methods / 2) if is_shared_level else GUARD
    return PairFamily(squares, variances, prior, guard, np.where(known, free, squares.between))


def _drawn(squares: PairSquares, prior: FloatArray, ratio: FloatArray) -> FloatArray:
    """Each pair's own variance drawn towards a multiple of its E (Smyth 2004, section 3)."""
    both = prior * ratio * squares.within + squares.df * squares.between
    return np.asarray(both / (prior + squares.df))


def _prior(squares: PairSquares, methods: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The prior's degrees of freedom d₀, its A/E for each pair, and which pairs it knows.

    The logarithms y of A/E are regressed on those of E (ridge, slope in [−1, 0]: a pair whose cases vary much
    has relatively less from its training sets). What they vary beyond their sampling, ψ′(ν/2), gives d₀
    (Smyth 2004, section 6.2), at most (k − 2)ν; pairs share methods, so part of the sampling is common to
    all of them and is taken off.
    """
    from scipy.special import digamma, polygamma

    k, half = methods, squares.df / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        log_within = np.log(squares.within)
        y = np.log(np.maximum(squares.between, LEAST * squares.within)) - log_within
    known = np.isfinite(y)
    y = np.where(known, y, 0.0)
    away = np.where(known, log_within - _mean(log_within, known), 0.0)
    slope = _sum(away * y, known) / (_sum(away**2, known) + RIDGE * np.maximum(_sum(known, known), 1))
    trend = np.clip(slope, -1.0, 0.0) * away
    residual = y - trend
    alike = (k - 2) / (k * (k - 1) - 2)
    sampling = _mean(SPREAD * (1 - alike) * polygamma(1, half), known)
    excess = _variance(residual, known) - sampling
    free = np.where(excess > 0, 2 * trigamma_inverse(np.maximum(excess, 1e-6)), np.inf)
    prior = np.minimum(free, (k - 2) * squares.df.max(axis=-1, keepdims=True))
    centre = _mean(residual - digamma(half) + np.log(half), known)
    return prior, np.exp(trend + centre + digamma(prior / 2) - np.log(prior / 2)), known


def _sum(values: FloatArray, known: FloatArray) -> FloatArray:
    return np.asarray(np.where(known, values, 0.0).sum(axis=-1, keepdims=True))


def _mean(values: FloatArray, known: FloatArray) -> FloatArray:
    return _sum(values, known) / np.maximum(_sum(known, known), 1)


def _variance(values: FloatArray, known: FloatArray) -> FloatArray:
    """Variance with divisor n − 1 along the last axis."""
    return _sum(np.square(values - _mean(values, known)), known) / np.maximum(_sum(known, known) - 1, 1)


def trigamma_inverse(values: FloatArray) -> FloatArray:
    """x with ψ′(x) = value, by Newton's method on 1/ψ′, which is convex (Smyth 2004, appendix).

    >>> from scipy.special import polygamma
    >>> bool(np.allclose(polygamma(1, trigamma_inverse(np.array([0.01, 1.0, 50.0]))), [0.01, 1.0, 50.0]))
    True
    """
    from scipy.special import polygamma

    y = np.asarray(values, dtype=np.float64)
    x = 0.5 + 1 / y
    for _ in range(50):
        value = polygamma(1, x)
        step = value * (1 - value / y) / polygamma(2, x)
        x = x + step
        if np.all(np.abs(step) <= 1e-12 * x):
            break
    return np.asarray(x)


def handed_down(p_values: FloatArray, weights: FloatArray) -> FloatArray:
    """Adjusted p-values of the fallback procedure (Wiens 2003, Pharmaceutical Statistics 2:211–215).

    Along the first axis hypotheses come in their order, each with its share of α (`weights`, sum 1). A claim
    hands its α on to the next. A hypothesis is claimed at α if p_j … p_i all lie below the α gathered since
    some j ≤ i, so its adjusted p-value is min_j max_{m = j…i} p_m/(w_j + … + w_m). An undefined one (NaN)
    hands nothing on.

    >>> handed_down(np.array([0.01, 0.04, 0.2]), np.array([0.8, 0.1, 0.1])).round(4).tolist()
    [0.0125, 0.0444, 0.2]
    """
    p = np.asarray(p_values, dtype=np.float64)
    filled = np.where(np.isnan(p), np.inf, p)
    adjusted = np.full_like(filled, np.inf)
    for start in range(len(p)):
        gathered, chain = 0.0, np.zeros_like(filled[0])
        for place in range(start, len(p)):
            gathered += float(weights[place])
            chain = np.maximum(chain, filled[place] / gathered)
            adjusted[place] = np.minimum(adjusted[place], chain)
    return np.asarray(np.where(np.isnan(p), np.nan, np.minimum(adjusted, 1.0)))


def size_weights(sizes: int, most: float = 0.8) -> FloatArray:
    """Shares of α for training-set sizes, the largest first: most for that one, the rest in equal parts.

    >>> size_weights(3).round(2).tolist()
    [0.8, 0.1, 0.1]
    """
    if sizes == 1:
        return np.ones(1)
    return np.array([most, *[(1 - most) / (sizes - 1)] * (sizes - 1)])


def family_of(
    squares: PairSquares, methods: int, *, is_every_pair: bool = True, is_shared_level: bool = False
) -> PairFamily:
    """Comparisons of pairs of some methods as one family, moderated where their variances can be.

    That takes every pair of three methods or more, and a variance within training sets beside that between.
    """
    if methods > 2 and is_every_pair and np.isfinite(squares.within).any():
        return moderate(squares, methods, is_shared_level=is_shared_level)
    return unmoderated(squares)


@dataclass(frozen=True)
class JudgedFamily:
    """A family judged at its share of a level: adjusted p-values, and half-widths of intervals."""

    family: PairFamily
    share: float
    p_values: FloatArray
    half_widths: FloatArray
    own_p_values: FloatArray


def judged(family: PairFamily, p_values: FloatArray, share: float) -> JudgedFamily:
    """The family with these adjusted p-values, and with intervals at its share of the level."""
    return JudgedFamily(
        family, share, np.minimum(p_values, 1.0), family.half_widths(share), family.own_p_values()
    )


@dataclass(frozen=True)
class SizePairs:
    """The comparisons at one training-set size; `columns` number their pairs over all sizes."""

    squares: PairSquares
    methods: int
    columns: list[int]

    def family(self, *, is_shared_level: bool) -> PairFamily:
        """They as a family by themselves."""
        is_every_pair = len(self.columns) == self.methods * (self.methods - 1) // 2
        return family_of(
            self.squares, self.methods, is_every_pair=is_every_pair, is_shared_level=is_shared_level
        )


def judged_sizes(sizes: Sequence[SizePairs], level: float, parts: int) -> list[JudgedFamily]:
    """Training-set sizes, the largest first, that hand down what is left of one of `parts` of the level."""
    weights = size_weights(len(sizes))
    families = [one.family(is_shared_level=parts > 1) for one in sizes]
    table = np.full((len(sizes), 1 + max(max(one.columns) for one in sizes)), np.nan)
    for row, (one, family) in enumerate(zip(sizes, families, strict=True)):
        table[row, one.columns] = family.p_values()
    adjusted = handed_down(table, weights)
    return [
        judged(family, parts * adjusted[row, one.columns], float(weights[row]) * level / parts)
        for row, (one, family) in enumerate(zip(sizes, families, strict=True))
    ]
