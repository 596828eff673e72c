"""All pairs of methods at once: differences of expected losses and what they vary, by products of matrices.

A difference of two methods' losses has sums of squares G_pp + G_qq − 2G_pq, where G holds the products of
every method's centred losses with every other's: one matrix product serves all pairs. Where two methods are
so alike that this loses digits, their differences are squared themselves. What comes out is what `anova`,
`one_partition`, `resampled` and `grouped` find of two methods at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from redelve.errors import StatisticsError
from redelve.stats.estimates import Scheme
from redelve.stats.grouped import BOTH_EFFECTS, GroupedLosses
from redelve.stats.mean_squares import FloatArray

ROUNDING = 8 * float(np.finfo(np.float64).eps)
CANCELLED = 1e-6
"""A sum of squares below this part of what it is the difference of is computed anew, from the differences."""
Truths = NDArray[np.bool_]
Places = tuple[Sequence[int], Sequence[int]]
"""Positions of the first and of the second methods of some pairs."""


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
    standard_errors: FloatArray = field(init=False)
    """Of each difference by itself."""

    def __post_init__(self) -> None:
        both = self.between if self.shared is None else self.between + self.shared
        object.__setattr__(self, "standard_errors", np.sqrt(both / self.training_sets))

    @property
    def df(self) -> FloatArray:
        """Degrees of freedom of A."""
        return self.training_sets - 1.0


def pairs_of_sets(losses: Sequence[Sequence[FloatArray]], places: Places, scheme: Scheme) -> PairSquares:
    """Pairs of methods with several training sets; losses[m][i] are method m's on the cases of set i."""
    if len(losses[0]) < 2:
        raise StatisticsError(
            f"can't do analysis of variance with fewer than two training sets: got {len(losses[0])}"
        )
    means = np.array([[row.mean() for row in rows] for rows in losses])
    raw, finite = means, _finite(means)
    means = np.where(finite[:, None], means, 0.0)
    tables = [np.array([rows[i] for rows in losses]) for i in range(means.shape[1])]
    tables = [np.where(finite[:, None], table, 0.0) for table in tables]
    found = (_crossed if scheme == "common" else _nested)(tables, means, places)
    return _known(found, raw, finite, places)


def pairs_of_means(means: FloatArray, places: Places, factor: float) -> PairSquares:
    """Pairs of methods with one number per resample, whose mean has variance `factor` times theirs.

    1/n for n cases of one test set; 1/n + n_test/n_train for n folds (Nadeau and Bengio 2003).
    """
    finite = _finite(means)
    table = np.where(finite[:, None], means, 0.0)
    count = table.shape[1]
    centred = table - table.mean(axis=1, keepdims=True)
    between = _squares(centred, places) / (count - 1) * factor * count
    nothing = np.full(len(places[0]), np.nan)
    sets, one = np.full_like(nothing, count), np.ones_like(nothing)
    found = PairSquares(_differences(table.mean(axis=1), places), between, nothing, sets, one)
    return _known(found, means, finite, places)


def pairs_of_groups(several: Sequence[GroupedLosses], places: Places) -> PairSquares:
    """Pairs of methods cross-validated by groups, as `compare_groups` compares two of them.

    The variance of a difference is carried as that of so many sets as it has degrees of freedom, and one.
    """
    units = np.array([one.units for one in several])
    finite = _finite(units)
    table = np.where(finite[:, None], units, 0.0)
    groups = table.shape[1]
    variance = _squares(table - table.mean(axis=1, keepdims=True), places) / ((groups - 1) * groups)
    rounds = [one.without for one in several if one.without is not None]
    if len(rounds) == len(several):
        folds = rounds[0].shape[1]
        parts = np.array([(one - one.mean(axis=1, keepdims=True)).ravel() for one in rounds])
        sums = _squares(parts, places) / len(rounds[0])
        variance, count = np.maximum(variance, (folds - 1) / folds * sums), folds
    else:
        variance, count = BOTH_EFFECTS * variance, groups
    nothing = np.full(len(places[0]), np.nan)
    sets, one_case = np.full_like(nothing, count), np.ones_like(nothing)
    differences = _differences(table.mean(axis=1), places)
    return _known(PairSquares(differences, variance * count, nothing, sets, one_case), units, finite, places)


def _nested(tables: Sequence[FloatArray], means: FloatArray, places: Places) -> PairSquares:
    """Each training set has test cases of its own (manual eqs. 4–6); rows may differ in length."""
    sizes = np.array([table.shape[1] for table in tables], dtype=np.float64)
    sets = len(tables)
    cases = float(sizes[0]) if len(set(sizes)) == 1 else sets / float((1 / sizes).sum())
    centred = np.concatenate([t - t.mean(axis=1, keepdims=True) for t in tables], axis=1)
    spare = sizes.sum() - sets
    residual = _squares(centred, places) / spare if spare else np.nan
    return _pair_squares(means, places, residual / cases, (sets, cases), None)


def _crossed(tables: Sequence[FloatArray], means: FloatArray, places: Places) -> PairSquares:
    """All training sets share their test cases (manual eqs. 13–16)."""
    table = np.stack(tables, axis=1)
    sets, cases = table.shape[1], table.shape[2]
    by_case = table.mean(axis=1)
    by_case = by_case - by_case.mean(axis=1, keepdims=True)
    rest = table - means[:, :, None] - by_case[:, None, :]
    residual = _squares(rest.reshape(len(table), -1), places) / ((sets - 1) * (cases - 1))
    of_cases = sets * _squares(by_case, places) / (cases - 1)
    shared = np.maximum(of_cases - residual, 0.0) / cases
    return _pair_squares(means, places, residual / cases, (sets, float(cases)), shared)


def _pair_squares(
    means: FloatArray,
    places: Places,
    within: FloatArray | float,
    shape: tuple[int, float],
    shared: FloatArray | None,
) -> PairSquares:
    first, second = (means[list(side)] for side in places)
    between = (first - second).var(axis=1, ddof=1)
    alike = np.ones_like(between)
    return PairSquares(
        (first - second).mean(axis=1), between, within * alike, shape[0] * alike, shape[1] * alike, shared
    )


def _differences(means: FloatArray, places: Places) -> FloatArray:
    return np.asarray(means[list(places[0])] - means[list(places[1])])


def _squares(centred: FloatArray, places: Places) -> FloatArray:
    """Sum of squares of the difference of two centred rows, for every pair."""
    first, second = list(places[0]), list(places[1])
    products = centred @ centred.T
    own = np.diagonal(products)
    whole = own[first] + own[second]
    found = whole - 2 * products[first, second]
    for place in np.flatnonzero(found <= CANCELLED * whole):
        difference = centred[first[place]] - centred[second[place]]
        found[place] = difference @ difference
    return np.asarray(found)


def _finite(means: FloatArray) -> Truths:
    """Which methods have no infinite loss."""
    return np.array([np.isfinite(row).all() for row in means], dtype=np.bool_)


def _known(found: PairSquares, means: FloatArray, finite: Truths, places: Places) -> PairSquares:
    """No variance where a loss is infinite or nothing varies beyond rounding; A is E where set means tie."""
    first, second = list(places[0]), list(places[1])
    with np.errstate(invalid="ignore", over="ignore"):
        sizes, of_all = np.abs(means).max(axis=1), means.mean(axis=1)
        differences = np.where(
            finite[first] & finite[second], found.differences, of_all[first] - of_all[second]
        )
    seen = found.between if found.shared is None else found.between + found.shared
    least = (ROUNDING * np.maximum(sizes[first], sizes[second])) ** 2 * found.training_sets
    tied = (seen <= least) & (found.within > least)
    between = np.where(tied, found.within, found.between)
    known = finite[first] & finite[second] & ((seen > least) | tied)
    return PairSquares(
        differences,
        np.where(known, between, np.nan),
        np.where(known, found.within, np.nan),
        found.training_sets,
        found.test_cases,
        None if found.shared is None else np.where(known, found.shared, np.nan),
    )


def joined(several: Sequence[PairSquares]) -> PairSquares:
    """The pairs of several tables in one."""
    shared = [one.shared for one in several if one.shared is not None]
    return PairSquares(
        np.concatenate([one.differences for one in several]),
        np.concatenate([one.between for one in several]),
        np.concatenate([one.within for one in several]),
        np.concatenate([one.training_sets for one in several]),
        np.concatenate([one.test_cases for one in several]),
        np.concatenate(shared) if shared else None,
    )
