"""All pairs of methods at once, as one family of comparisons with one error rate.

A difference of two methods' losses has sums of squares G_pp + G_qq − 2G_pq, where G holds the products of
every method's centred losses with every other's: one matrix product serves all pairs. Where two methods are
so alike that this loses digits, their differences are squared themselves. What comes out is what `anova`,
`one_partition`, `resampled` and `grouped` find of two methods at a time.

Each pair has the variance A of its training sets' mean differences, on few degrees of freedom, and E, what
test cases alone would make of it, on many. A pair's own A is drawn towards what all pairs say of A/E
(`moderation`), and its own t-test must speak as well. Claims and intervals are one single-step rule: a
difference is claimed exactly where its interval leaves out zero. See docs/comparisons.md.

The last axis of a family's arrays is that of the pairs; axes before it are those of many data sets at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from redelve.errors import StatisticsError
from redelve.stats.bounded_intervals import BoundedPairs, Chosen
from redelve.stats.estimates import Scheme
from redelve.stats.grouped import BOTH_EFFECTS, GroupedLosses
from redelve.stats.mean_squares import FloatArray, two_t_half_width, two_t_p_value
from redelve.stats.moderation import Variances, learnt_variances
from redelve.stats.repeated_looks import RepeatedLooks
from redelve.stats.skewed_means import allowed_t, skewed_reach

ROUNDING = 8 * float(np.finfo(np.float64).eps)
CANCELLED = 1e-6
"""A sum of squares below this part of what it is the difference of is computed anew, from the differences."""
Truths = NDArray[np.bool_]
Numbered = NDArray[np.int64]
Places = tuple[Sequence[int] | Numbered, Sequence[int] | Numbered]
"""Positions of the first and of the second methods of some pairs."""

GUARD = 2.5
"""The pair's own t-test must have a p-value below α over this, where one task has all of α."""
GUARD_OF_SHARES = 4.0
"""The same, at least, where α is shared by several tasks; half of the methods if that is more."""


@dataclass(frozen=True)
class PairSquares:
    """What is known of the differences d between pairs of methods on one task.

    Where a loss is infinite or nothing varies, A, E and C are NaN: no test is defined.

    `between` is A, the variance of the training sets' mean differences (I of them); `within` is E, the mean
    square of the residual over the test cases of a set, NaN where there is none; `shared` is what common test
    cases add, C/J with C = max(MS_b − MS_ε, 0), and None where each training set has test cases of its own.
    The variance of d is (A + C/J)/I. `test_cases` is J. Sets and cases may differ between pairs.
    """

    differences: FloatArray
    between: FloatArray
    within: FloatArray
    training_sets: FloatArray
    test_cases: FloatArray
    shared: FloatArray | None = None
    case_df: FloatArray | None = None
    """Degrees of freedom of what test cases make vary, where these are fewer than cases less one."""
    alone_df: FloatArray | None = None
    """Of fixed models, the same for a pair by itself, where claims of all pairs need not as few."""
    noise: FloatArray | None = None
    """Of fixed models, the part of A that answers to the same case make; None with one answer to each."""
    answers: int = 1
    """Answers to each case."""
    bounded: BoundedPairs | None = field(default=None, repr=False, compare=False)
    """The cases themselves, of scores with limits: where few answers differ A alone is not enough."""
    skewness: FloatArray | None = None
    """Of fixed models, κ of the mean differences beyond what chance makes of it (`skewed_means`)."""
    standard_errors: FloatArray = field(init=False)
    """Of each difference by itself."""

    def __post_init__(self) -> None:
        both = self.between if self.shared is None else self.between + self.shared
        object.__setattr__(self, "standard_errors", np.sqrt(both / self.training_sets))

    @property
    def unknown(self) -> PairSquares:
        """As many pairs of the same shape of which nothing is known."""
        none = np.full_like(self.differences, np.nan)
        shared, noise = (None if one is None else none for one in (self.shared, self.noise))
        return replace(self, differences=none, between=none, within=none, shared=shared, noise=noise)

    @property
    def df(self) -> FloatArray:
        """Degrees of freedom of A; of one test set, those of its cases."""
        if self.case_df is not None and self.shared is None:
            return self.case_df
        return self.training_sets - 1.0

    @property
    def shared_df(self) -> FloatArray:
        """Degrees of freedom of C."""
        return self.test_cases - 1.0 if self.case_df is None else self.case_df


def pairs_of_sets(losses: Sequence[Sequence[FloatArray]], places: Places, scheme: Scheme) -> PairSquares:
    """Pairs of methods with several training sets; losses[m][i] are method m's on the cases of set i."""
    if len(losses[0]) < 2:
        raise StatisticsError(
            f"can't do analysis of variance with fewer than two training sets: got {len(losses[0])}"
        )
    with np.errstate(invalid="ignore"):  # ∞ and −∞ have no mean
        means = np.array([[row.mean() for row in rows] for rows in losses])
    raw, finite = means, finite_rows(means)
    means = np.where(finite[:, None], means, 0.0)
    tables = [np.array([rows[i] for rows in losses]) for i in range(means.shape[1])]
    tables = [np.where(finite[:, None], table, 0.0) for table in tables]
    found = (_crossed if scheme == "common" else _nested)(tables, means, places)
    return known_squares(found, raw, finite, places)


def pairs_of_means(
    means: FloatArray, places: Places, factor: float, hidden: FloatArray | None = None, cases: int = 0
) -> PairSquares:
    """Pairs of methods with one number per resample, whose mean has variance `factor` times theirs.

    1/n for n cases of one test set; 1/n + n_test/n_train for n folds (Nadeau and Bengio 2003). `hidden` are
    parts, in columns, whose squares are what the resamples' variance lacks (`resampled.hidden_parts`), as so
    many cases tell: it is no part of what variances of pairs learn from each other.
    """
    finite = finite_rows(means)
    table = np.where(finite[:, None], means, 0.0)
    count = table.shape[1]
    centred = table - table.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # a single resample has no variance
        between = sums_of_squares(centred, places) / (count - 1) * factor * count
    nothing = np.full(len(places[0]), np.nan)
    sets, one = np.full_like(nothing, count), np.ones_like(nothing)
    found = PairSquares(_differences(table.mean(axis=1), places), between, nothing, sets, one)
    found = known_squares(found, means, finite, places)
    if hidden is None:
        return found
    shared = sums_of_squares(np.where(finite[:, None], hidden, 0.0), places) * factor * count
    shared[np.isnan(found.between)] = np.nan
    return replace(found, shared=shared, case_df=np.full_like(nothing, cases - 1.0))


def pairs_of_groups(several: Sequence[GroupedLosses], places: Places) -> PairSquares:
    """Pairs of methods cross-validated by groups, as `compare_groups` compares two of them.

    The variance of a difference is carried as that of so many sets as it has degrees of freedom, and one.
    """
    units = np.array([one.units for one in several])
    finite = finite_rows(units)
    table = np.where(finite[:, None], units, 0.0)
    groups = table.shape[1]
    variance = sums_of_squares(table - table.mean(axis=1, keepdims=True), places) / ((groups - 1) * groups)
    rounds = [one.without for one in several if one.without is not None]
    if len(rounds) == len(several):
        folds = rounds[0].shape[1]
        parts = np.array([(one - one.mean(axis=1, keepdims=True)).ravel() for one in rounds])
        sums = sums_of_squares(parts, places) / len(rounds[0])
        variance, count = np.maximum(variance, (folds - 1) / folds * sums), folds
    else:
        variance, count = BOTH_EFFECTS * variance, groups
    nothing = np.full(len(places[0]), np.nan)
    sets, one_case = np.full_like(nothing, count), np.ones_like(nothing)
    differences = _differences(table.mean(axis=1), places)
    found = PairSquares(differences, variance * count, nothing, sets, one_case)
    return known_squares(found, units, finite, places)


def _nested(tables: Sequence[FloatArray], means: FloatArray, places: Places) -> PairSquares:
    """Each training set has test cases of its own (manual eqs. 4–6); rows may differ in length."""
    sizes = np.array([table.shape[1] for table in tables], dtype=np.float64)
    sets = len(tables)
    cases = float(sizes[0]) if len(set(sizes)) == 1 else sets / float((1 / sizes).sum())
    centred = np.concatenate([t - t.mean(axis=1, keepdims=True) for t in tables], axis=1)
    spare = sizes.sum() - sets
    residual = sums_of_squares(centred, places) / spare if spare else np.nan
    return _pair_squares(means, places, residual / cases, (sets, cases), None)


def _crossed(tables: Sequence[FloatArray], means: FloatArray, places: Places) -> PairSquares:
    """All training sets share their test cases (manual eqs. 13–16)."""
    table = np.stack(tables, axis=1)
    sets, cases = table.shape[1], table.shape[2]
    by_case = table.mean(axis=1)
    by_case = by_case - by_case.mean(axis=1, keepdims=True)
    rest = table - means[:, :, None] - by_case[:, None, :]
    residual = sums_of_squares(rest.reshape(len(table), -1), places) / ((sets - 1) * (cases - 1))
    of_cases = sets * sums_of_squares(by_case, places) / (cases - 1)
    shared = np.maximum(of_cases - residual, 0.0) / cases
    return _pair_squares(means, places, residual / cases, (sets, float(cases)), shared)


def _pair_squares(
    means: FloatArray,
    places: Places,
    within: FloatArray | float,
    shape: tuple[int, float],
    shared: FloatArray | None,
) -> PairSquares:
    first, second = (means[side] for side in sides(places))
    between = (first - second).var(axis=1, ddof=1)
    alike = np.ones_like(between)
    return PairSquares(
        (first - second).mean(axis=1), between, within * alike, shape[0] * alike, shape[1] * alike, shared
    )


def sides(places: Places) -> tuple[Numbered, Numbered]:
    """The positions of the first methods and those of the second, as arrays."""
    first, second = (np.asarray(side, dtype=np.int64) for side in places)
    return first, second


def _differences(means: FloatArray, places: Places) -> FloatArray:
    first, second = sides(places)
    return np.asarray(means[first] - means[second])


def sums_of_squares(centred: FloatArray, places: Places) -> FloatArray:
    """Sum of squares of the difference of two centred rows, for every pair."""
    first, second = sides(places)
    products = centred @ centred.T
    own = np.diagonal(products)
    whole = own[first] + own[second]
    found = whole - 2 * products[first, second]
    for place in np.flatnonzero(found <= CANCELLED * whole):
        difference = centred[first[place]] - centred[second[place]]
        found[place] = difference @ difference
    return np.asarray(found)


def finite_rows(means: FloatArray) -> Truths:
    """Which methods have no infinite loss."""
    return np.array([np.isfinite(row).all() for row in means], dtype=np.bool_)


def known_squares(found: PairSquares, means: FloatArray, finite: Truths, places: Places) -> PairSquares:
    """No variance where a loss is infinite or nothing varies beyond rounding; A is E where set means tie."""
    first, second = sides(places)
    sizes, differences = np.maximum(means.max(axis=1), -means.min(axis=1)), found.differences
    are_finite = finite[first] & finite[second]
    if not are_finite.all():
        with np.errstate(invalid="ignore", over="ignore"):
            of_all = means.mean(axis=1)
            differences = np.where(are_finite, differences, of_all[first] - of_all[second])
    seen = found.between if found.shared is None else found.between + found.shared
    least = (ROUNDING * np.maximum(sizes[first], sizes[second])) ** 2 * found.training_sets
    tied = (seen <= least) & (found.within > least)
    between = np.where(tied, found.within, found.between)
    known = are_finite & ((seen > least) | tied)
    return PairSquares(
        differences,
        np.where(known, between, np.nan),
        np.where(known, found.within, np.nan),
        found.training_sets,
        found.test_cases,
        None if found.shared is None else np.where(known, found.shared, np.nan),
        found.case_df,
    )


def joined(several: Sequence[PairSquares]) -> PairSquares:
    """The pairs of several tables in one."""
    shared = [one.shared for one in several if one.shared is not None]
    case_df = [one.case_df for one in several if one.case_df is not None]
    return PairSquares(
        np.concatenate([one.differences for one in several]),
        np.concatenate([one.between for one in several]),
        np.concatenate([one.within for one in several]),
        np.concatenate([one.training_sets for one in several]),
        np.concatenate([one.test_cases for one in several]),
        np.concatenate(shared) if shared else None,
        np.concatenate(case_df) if case_df else None,
    )


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

    def p_values(self, allowing: RepeatedLooks | None = None) -> FloatArray:
        """For each comparison the level of the whole family from which on its difference is claimed.

        With planned looks that of all of them together.
        """
        squares = self.squares
        is_own = self.variances is squares.between and not self.prior_df.any()
        both = self._own_tail if is_own else self._tail(self.variances, self.prior_df + squares.df)
        own = self._own_tail if self.guard else np.zeros_like(both)
        if allowing is not None:
            both, own = allowing.over_all(both), allowing.over_all(own)
        p = np.maximum(self.pairs * both, self.guard * own)
        return self._with_limits(np.where(np.isnan(squares.between), np.nan, p), self.pairs)

    def own_p_values(self) -> FloatArray:
        """For each comparison the p-value that it has by itself, NaN where its differences do not vary."""
        squares, own = self.squares, self._own_tail
        if squares.alone_df is not None:
            own = np.maximum(own, self._tail(squares.between, squares.alone_df))
        return self._with_limits(np.where(np.isnan(squares.between), np.nan, own), 1)

    @cached_property
    def _own_tail(self) -> FloatArray:
        """The p-values by the pairs' own variances, each by itself."""
        return self._tail(self.squares.between, self.squares.df)

    @cached_property
    def _rare(self) -> Chosen:
        """The pairs of which so few answers differ that the limits of the scores must be asked."""
        found = self.squares.bounded
        if found is None:
            return np.zeros(0, dtype=np.int64)
        return found.rare(self.squares.between, self.squares.differences, self.pairs)

    def _with_limits(self, p_values: FloatArray, pairs: int) -> FloatArray:
        """The p-values where scores have limits: of differences that do not vary, or of few right answers."""
        bounded, alike = self.squares.bounded, np.isnan(self.squares.between)
        if bounded is not None and bounded.continuity:
            alike = np.ones_like(alike)
        if bounded is not None and (chosen := np.flatnonzero(alike)).size:
            p_values[chosen] = np.fmax(p_values[chosen], pairs * bounded.p_values(chosen))
        return np.minimum(p_values, 1.0)

    def single_p_values(self) -> FloatArray:
        """Two-sided p-value of each comparison as if it were the only one, by the variance that it learnt."""
        p = self._tail(self.variances, self.prior_df + self.squares.df)
        return np.asarray(np.where(np.isnan(self.squares.between), np.nan, p))

    def half_widths(self, level: float, allowing: RepeatedLooks | None = None) -> FloatArray:
        """Half the widths of intervals that all hold their true differences but in `level` of cases."""
        squares = self.squares
        levels = [level / count for count in (self.pairs, self.guard) if count]
        if allowing is not None:
            levels = [allowing.of_each(one) for one in levels]
        both = self._reach(self.variances, self.prior_df + squares.df, levels[0])
        if not self.guard:
            return both
        return np.asarray(np.maximum(both, self._reach(squares.between, squares.df, levels[1])))

    def ends(self, level: float, allowing: RepeatedLooks | None = None) -> tuple[FloatArray, FloatArray]:
        """The intervals that all hold their true differences but in `level` of cases."""
        squares, widths = self.squares, self.half_widths(level, allowing)
        below, above = self._skewed(widths)
        lows, highs = squares.differences - below, squares.differences + above
        if squares.bounded is not None and (rare := self._rare).size:
            low, high = squares.bounded.ends(rare, level / self.pairs)
            is_alone = squares.bounded.is_alike
            lows[rare] = low if is_alone else np.fmin(low, lows[rare])
            highs[rare] = high if is_alone else np.fmax(high, highs[rare])
        return lows, highs

    def _skewed(self, widths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Half the widths below and above the differences, with what their skewness adds."""
        squares = self.squares
        if squares.skewness is None:
            return widths, widths
        errors, reach = squares.standard_errors, widths / squares.standard_errors
        return errors * skewed_reach(reach, squares.skewness), errors * skewed_reach(reach, -squares.skewness)

    def _tail(self, variances: FloatArray, df: FloatArray) -> FloatArray:
        squares = self.squares
        distance = squares.training_sets * np.square(squares.differences)
        if squares.skewness is not None:
            t = squares.differences * np.sqrt(squares.training_sets / variances)
            distance = variances * np.square(allowed_t(t, squares.skewness))
        return two_t_p_value(distance, (variances, df), self._cases())

    def _reach(self, variances: FloatArray, df: FloatArray, level: float) -> FloatArray:
        reach = two_t_half_width((variances, df), self._cases(), min(level, 1.0))
        return np.asarray(reach / np.sqrt(self.squares.training_sets))

    def _cases(self) -> tuple[FloatArray, FloatArray] | None:
        squares = self.squares
        return None if squares.shared is None else (squares.shared, squares.shared_df)


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
    found = Variances(squares.between, squares.within, squares.df)
    learnt = learnt_variances(found, methods, most_prior_df)
    guard = max(GUARD_OF_SHARES, methods / 2) if is_shared_level else GUARD
    return PairFamily(squares, learnt.variances, learnt.prior_df, guard, learnt.unfloored)


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
    """A family judged at its share of a level: adjusted p-values, and lower and upper ends of intervals."""

    family: PairFamily
    share: float
    p_values: FloatArray
    ends: tuple[FloatArray, FloatArray]
    own_p_values: FloatArray


def judged(family: PairFamily, p_values: FloatArray, share: float) -> JudgedFamily:
    """The family with these adjusted p-values, and with intervals at its share of the level."""
    return JudgedFamily(family, share, np.minimum(p_values, 1.0), family.ends(share), family.own_p_values())


@dataclass(frozen=True)
class SizePairs:
    """The comparisons at one training-set size; `columns` number their pairs over all sizes."""

    squares: PairSquares
    methods: int
    columns: Numbered

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
    table = np.full((len(sizes), 1 + max(int(one.columns.max()) for one in sizes)), np.nan)
    for row, (one, family) in enumerate(zip(sizes, families, strict=True)):
        table[row, one.columns] = family.p_values()
    adjusted = handed_down(table, weights)
    return [
        judged(family, parts * adjusted[row, one.columns], float(weights[row]) * level / parts)
        for row, (one, family) in enumerate(zip(sizes, families, strict=True))
    ]
