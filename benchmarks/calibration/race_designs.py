"""Losses of methods in a race, many races at a time: test sets of their own, of groups, or common ones.

Whoever draws them gives, for some races and methods after so many training sets, what `stats.families` would
find of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from benchmarks.calibration.simulation import Generator
from redelve.model.dataset import Rows
from redelve.stats.families import PairFamily, PairSquares, Places
from redelve.stats.mean_squares import FloatArray, two_t_p_value

TEST_CASES = 100


class Drawn(Protocol):
    """The losses of many races."""

    def squares(self, rows: Rows, names: Rows, sets: int) -> tuple[PairSquares, Places]:
        """All pairs of the methods `names[i]` of race `rows[i]`, on the first training sets."""
        ...


class Runners(Protocol):
    """Methods in a race, of which losses are drawn."""

    @property
    def means(self) -> tuple[float, ...]:
        """Their expected losses, in standard deviations of a difference of two of them."""
        ...

    def draw(self, count: int, sets: int, rng: Generator) -> Drawn:
        """The losses of so many races."""
        ...


def every_pair(methods: int) -> tuple[list[int], list[int]]:
    """Places of the first and of the second methods of all pairs."""
    first, second = np.triu_indices(methods, 1)
    return first.tolist(), second.tolist()


HOPELESS = 0.05
"""p-values above this are not computed but bounded from below, for they take long."""


@dataclass(frozen=True)
class QuickFamily(PairFamily):
    """A family that does not compute the p-values of pairs that nothing can be said of.

    Theirs is that of a normal variable with the same variance, which is smaller, and too large for any claim.
    """

    @cached_property
    def _learnt(self) -> FloatArray:
        """Those of the variances that were learnt, which are asked for twice."""
        return self._quick_tail(self.variances, self.prior_df + self.squares.df)

    def _tail(self, variances: FloatArray, df: FloatArray) -> FloatArray:
        return self._learnt if variances is self.variances else self._quick_tail(variances, df)

    def _quick_tail(self, variances: FloatArray, df: FloatArray) -> FloatArray:
        squares, shared = self.squares, self.squares.shared
        distance = squares.training_sets * np.square(squares.differences)
        p = np.asarray(2 * ndtr(-np.sqrt(distance / (variances if shared is None else variances + shared))))
        here = p < HOPELESS
        sets = variances[here], np.broadcast_to(df, p.shape)[here]
        cases = None if shared is None else (shared[here], np.broadcast_to(squares.shared_df, p.shape)[here])
        p[here] = two_t_p_value(distance[here], sets, cases)
        return p


def quick(family: PairFamily) -> PairFamily:
    """The same family, quicker."""
    return QuickFamily(family.squares, family.variances, family.prior_df, family.guard, family.unfloored)


# Test sets of their own


@dataclass(frozen=True)
class OwnLosses:
    """Mean losses of [race, method, training set], and of their variance what one test case adds."""

    losses: FloatArray
    of_case: FloatArray
    """[race, method]"""
    cases: Rows
    """Test cases, or groups of them, of [race, training set]."""
    rng: Generator

    def squares(self, rows: Rows, names: Rows, sets: int) -> tuple[PairSquares, Places]:
        """As `pairs_of_sets`; the residual is drawn from its distribution."""
        seen, of_case = self.losses[rows[:, None], names, :sets], self.of_case[rows[:, None], names]
        first, second = every_pair(names.shape[1])
        differences = seen[:, first] - seen[:, second]
        cases = self.cases[rows, :sets]
        df = (cases.sum(axis=1) - sets)[:, None]
        drawn = self.rng.chisquare(df, size=(len(rows), len(first))) / df
        harmonic = sets / (1 / cases).sum(axis=1, keepdims=True)
        residual = (of_case[:, first] + of_case[:, second]) / harmonic * drawn
        alike = np.ones_like(residual)
        found = PairSquares(
            differences.mean(axis=-1),
            differences.var(axis=-1, ddof=1),
            residual,
            sets * alike,
            harmonic * alike,
        )
        return found, (first, second)


@dataclass(frozen=True)
class OwnRunners:
    """Methods in a race with test sets of their own.

    Each training set moves the loss of each method by itself, by a standard deviation of `spread`/√2, of
    which test cases are responsible for the share `of_cases` in squares. With `skewed` training sets move the
    first method alone, by one less an exponential: most make it look a little worse than it is. With `groups`
    each test set has so many groups of cases, from the least to the most, in place of cases.
    """

    means: tuple[float, ...]
    spread: tuple[float, ...] = (1.0,)
    of_cases: tuple[float, ...] = (0.5,)
    skewed: bool = False
    groups: tuple[int, int] = (TEST_CASES, TEST_CASES)

    def draw(self, count: int, sets: int, rng: Generator) -> OwnLosses:
        """The losses of so many races."""
        k, means = len(self.means), np.array(self.means)[:, None]
        spread, share = np.resize(self.spread, k) / np.sqrt(2), np.resize(self.of_cases, k)
        cases = rng.integers(self.groups[0], self.groups[1] + 1, size=(count, sets))
        usual = 1 / np.mean([1 / number for number in range(self.groups[0], self.groups[1] + 1)])
        scale = np.sqrt((1 - share)[:, None] + share[:, None] * (usual / cases)[:, None, :])
        losses = means + spread[:, None] * scale * rng.normal(size=(count, k, sets))
        of_case = share * spread**2 * usual
        if self.skewed:
            losses[:, 1:] = means[1:] + 0.01 * rng.normal(size=(count, k - 1, sets))
            losses[:, 0] = self.means[0] + 1 - rng.exponential(size=(count, sets))
            of_case = np.full(k, 1e-4 * usual)
        return OwnLosses(losses, np.broadcast_to(of_case, (count, k)), cases, rng)


# Common test sets


@dataclass(frozen=True)
class CommonLosses:
    """Losses of [race, method, training set, test case]."""

    losses: FloatArray

    def squares(self, rows: Rows, names: Rows, sets: int) -> tuple[PairSquares, Places]:
        """As `pairs_of_sets` (manual eqs. 13–16)."""
        table = self.losses[rows[:, None], names, :sets]
        cases = table.shape[-1]
        places = every_pair(names.shape[1])
        means, by_case = table.mean(axis=-1), table.mean(axis=-2)
        by_case = by_case - by_case.mean(axis=-1, keepdims=True)
        rest = table - means[..., None] - by_case[..., None, :]
        residual = _squares(rest.reshape(*rest.shape[:2], -1), places) / ((sets - 1) * (cases - 1))
        of_cases = sets * _squares(by_case, places) / (cases - 1)
        differences = means[:, places[0]] - means[:, places[1]]
        alike = np.ones_like(residual)
        found = PairSquares(
            differences.mean(axis=-1),
            differences.var(axis=-1, ddof=1),
            residual / cases,
            sets * alike,
            cases * alike,
            np.maximum(of_cases - residual, 0.0) / cases,
        )
        return found, places


def _squares(centred: FloatArray, places: Places) -> FloatArray:
    """Sums of squares of differences of centred rows."""
    products = centred @ centred.swapaxes(-1, -2)
    own = np.diagonal(products, axis1=-2, axis2=-1)
    first, second = list(places[0]), list(places[1])
    return np.asarray(own[:, first] + own[:, second] - 2 * products[:, first, second])


@dataclass(frozen=True)
class CommonRunners:
    """Methods in a race whose training sets are all tested on the same cases.

    Standard deviations are those of a difference of two methods: what training sets make of a set's mean, and
    what one test case makes, by itself and with the training set. `spread` multiplies all of a method's.
    """

    means: tuple[float, ...]
    of_sets: float = 1.0
    of_cases: float = 1.0
    of_rest: float = 1.0
    spread: tuple[float, ...] = (1.0,)
    cases: int = 50

    def draw(self, count: int, sets: int, rng: Generator) -> CommonLosses:
        """The losses of so many races."""
        k = len(self.means)
        spread = np.resize(self.spread, k)[:, None, None] / np.sqrt(2)
        by_set = self.of_sets * rng.normal(size=(count, k, sets, 1))
        by_case = self.of_cases * rng.normal(size=(count, k, 1, self.cases))
        rest = self.of_rest * rng.normal(size=(count, k, sets, self.cases))
        return CommonLosses(np.array(self.means)[:, None, None] + spread * (by_set + by_case + rest))
