"""Intervals for differences of scores that have limits, where few answers differ.

A t-interval takes its variance from the differences seen. Where answers seldom differ these are mostly 0, and
an interval that never saw the rare ones is far too short: it misses in up to a third of all samples of 50
questions. Scores that lie between limits tell more. A mean difference δ is possible if some distribution
within the limits has this mean and is not too unlikely: the likeliest has weights 1/(n(1 + λx)) on the
x = d − δ seen and what is left at the limit (empirical likelihood: Owen 2001, chapters 2 and 3). It gives two
statistics: the score z, mean over standard error with the variance of that distribution, which is Tango's
(1998, Statistics in Medicine 17:891–908) for right and wrong answers, and the root r of twice the logarithm
of the likelihood ratio. Each errs where the other does not, z where more is seen than expected, r where less
is; so the smaller counts. As s√((n − 1)/(n − s²)) it is compared with t: for right and wrong answers and
δ = 0 this is the paired t-test exactly. Claims are those of the t-test for all scores, since equal models
differ as often in either direction; intervals are these where most cases tie. Limits far beyond the scores
seen make an interval hold a zero that the test leaves out; it then ends there. See docs/calibration.md.

Right and wrong answers to a handful of cases are no normal variables: three differences the same way out of
three would be claimed, which equal models show in every fourth sample. With fewer than fifty such cases the
sum in z is brought nearer by one answer (Edwards 1948, Psychometrika 13:185–187), for claims and intervals.
Far in the tails that is too little (ten of ten: 0.0002), so no p-value is below that of the exact sign test,
0.002. At 5 % this takes no claim away, of any answers to 2 to 49 cases.

Where cases belong together a unit has a part of the largest one's weight, and its difference lies within that
part. The last axis is that of units, or of distinct values seen `counts` times; the one before that of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from redelve.stats.bounded_tests import likeliest_tilt
from redelve.stats.mean_squares import FloatArray

Chosen = NDArray[np.int64]
ENOUGH = 20.0
"""So many times t² full differences are enough for a t-interval: the others have these."""
LEVEL = 0.05
"""The level for which it is settled which pairs have too few differences for t."""
TIES = 0.5
"""Scores of more than two values have these where two models agree on so many units at least."""
LEVELS = 12
"""Up to so many distinct scores, differences are counted."""
MOST = 2**24
"""So many differences are looked at one by one; of more pairs than that, those with fewest have this."""
FEW = 50
"""With fewer cases, right and wrong answers are corrected: false claims are then at most 4.9 %, exactly, of 2
to 49 cases. By t alone they are 50 % of two cases, 12.5 % of seven, up to 6.6 % of more."""
CHUNK = 2**20
"""Differences looked at together."""
STEPS = 60
"""The most steps in which an end is looked for."""
CLOSE = 1e-8
"""So near an end is found, as a part of the limits."""


@dataclass(frozen=True)
class SeenDifferences:
    """Differences d of pairs in units of the limits, each within ± its part, seen so many times."""

    values: FloatArray
    parts: FloatArray
    counts: FloatArray
    continuity: float = 0.0
    """By how many whole differences the sum is brought nearer."""

    def statistics(self, shift: FloatArray) -> FloatArray:
        """How far the mean lies above each shift δ, as t would say it; 0 where it lies below."""
        x = self.values - shift[:, None] * self.parts
        most = 1.0 + shift
        n, total = self.counts.sum(axis=-1), (self.counts * x).sum(axis=-1)
        tilt = likeliest_tilt(x, self.counts, most)
        inside = 1.0 + tilt[:, None] * x
        weights = self.counts / (n[:, None] * np.maximum(inside, 1e-300))
        left = np.maximum(1.0 - weights.sum(axis=-1), 0.0)
        variance = (weights * x**2).sum(axis=-1) + left * most**2
        with np.errstate(divide="ignore", invalid="ignore"):
            score = n * np.square(np.maximum(total - self.continuity, 0.0) / n) / variance
            likely = 2 * (self.counts * np.log(np.maximum(inside, 1e-300))).sum(axis=-1)
            squared = np.maximum(np.minimum(np.where(variance > 0, score, np.inf), likely), 0.0)
            t = np.sqrt(squared * (n - 1) / np.maximum(n - squared, 0.0))
        return np.asarray(np.where(total > 0, np.where(squared < n, t, np.inf), 0.0))

    def turned(self) -> SeenDifferences:
        """Those of the second method less the first."""
        return replace(self, values=-self.values)

    def means(self) -> FloatArray:
        """Mean differences."""
        return np.asarray((self.counts * self.values).sum(axis=-1) / (self.counts * self.parts).sum(axis=-1))

    def sign_test(self) -> FloatArray:
        """Exact two-sided p-values, by how many differences have either sign."""
        from scipy.special import bdtr

        up, down = (
            (self.counts * (sign * self.values > 0)).sum(axis=-1).astype(np.int64) for sign in (1, -1)
        )
        return np.asarray(np.minimum(2 * bdtr(np.minimum(up, down), up + down, 0.5), 1.0))

    def some(self, which: Chosen) -> SeenDifferences:
        """Those of some pairs."""
        return replace(self, values=self.values[which], parts=self.parts[which], counts=self.counts[which])

    def lowest(self, reach: float) -> FloatArray:
        """The lowest means that are less than `reach` away, from outside.

        The false position, with the value at an end that stays halved (Illinois: Dowell and Jarratt 1971, BIT
        11:168–174).
        """
        high = self.means()
        low, far, near = np.full_like(high, -1.0), np.full_like(high, reach), np.full_like(high, -reach)
        stays = np.zeros_like(high)
        left = np.arange(len(high))
        for _ in range(STEPS):
            a, b, at_a, at_b = low[left], high[left], far[left], near[left]
            middle = np.clip(b - at_b * (b - a) / (at_b - at_a), a + (b - a) / 50, b - (b - a) / 50)
            found = np.clip(self.some(left).statistics(middle) - reach, -reach, reach)
            is_far, before = found > 0, stays[left]
            low[left], high[left] = np.where(is_far, middle, a), np.where(is_far, b, middle)
            far[left] = np.where(is_far, found, np.where(before < 0, at_a / 2, at_a))
            near[left] = np.where(is_far, np.where(before > 0, at_b / 2, at_b), found)
            stays[left] = np.where(is_far, 1.0, -1.0)
            left = left[high[left] - low[left] > CLOSE]
            if not left.size:
                break
        return low


@dataclass(frozen=True, eq=False)
class BoundedPairs:
    """Pairs of models whose scores have limits: what their rare differences allow.

    `values` are models × units, `parts` the shares of all weight that the units have, `width` the distance of
    the limits, `df` the degrees of freedom of t.
    """

    values: FloatArray
    parts: FloatArray
    places: tuple[Chosen, Chosen]
    width: float
    df: float

    def __len__(self) -> int:
        return len(self.places[0])

    @property
    def is_alike(self) -> bool:
        """Whether all units count the same."""
        return bool(np.ptp(self.parts) <= 1e-12 / self.parts.size)

    @property
    def continuity(self) -> float:
        """What answers that are right or wrong are brought nearer by; 0 where there are enough of them."""
        return self._span / self.width if self.parts.size < FEW and self._is_two_valued else 0.0

    @property
    def _span(self) -> float:
        """How far apart right and wrong are, within the limits or at them; the limits' width of one value."""
        return float(np.ptp(self._levels)) or self.width

    def rare(self, variances: FloatArray, differences: FloatArray, pairs: int) -> Chosen:
        """The pairs that need this, by the variances of their differences; `pairs` are compared in all."""
        from scipy.special import stdtrit

        reach = float(stdtrit(self.df, 1 - LEVEL / (2 * pairs)))
        units = 1 / float(np.square(self.parts).sum())
        squares = units / self.parts.size * np.nan_to_num(variances) + differences**2
        full = np.where(np.isnan(variances), -1.0, units * squares / self.width**2)
        found = np.flatnonzero(full < ENOUGH * reach**2)
        if self._is_two_valued:
            return found
        if not self._can_count:
            found = found[np.argsort(full[found], kind="stable")[: max(MOST // self.parts.size, 1)]]
        return np.sort(found[self._ties(found) >= TIES])

    def _ties(self, chosen: Chosen) -> FloatArray:
        """The share of units on which two models agree."""
        found = np.zeros(len(chosen))
        for part, seen in self._differences(chosen):
            is_tie = np.abs(seen.values) < CLOSE
            found[part] = (seen.counts * is_tie).sum(axis=-1) / seen.counts.sum(axis=-1)
        return found

    def _sides(self, chosen: Chosen) -> tuple[Chosen, Chosen]:
        return self.places[0][chosen], self.places[1][chosen]

    @cached_property
    def _can_count(self) -> bool:
        """Whether differences are few enough numbers to be counted: then any number of pairs is quick."""
        return self.is_alike and len(self._levels) <= LEVELS

    @property
    def _is_two_valued(self) -> bool:
        """Whether answers are right or wrong, and count the same."""
        return self._can_count and len(self._levels) <= 2

    @cached_property
    def _levels(self) -> FloatArray:
        """The distinct scores; some of them where there are very many."""
        few = np.unique(self.values[:1])
        return few if len(few) > LEVELS else np.unique(self.values)

    def p_values(self, chosen: Chosen) -> FloatArray:
        """Two-sided, of these pairs, each by itself; limits beyond two values seen make no claim harder."""
        from scipy.special import stdtr

        found = np.empty(len(chosen))
        tested = replace(self, width=self._span) if self._is_two_valued else self
        for part, differences in tested._differences(chosen):
            nothing = np.zeros(len(part))
            both = [one.statistics(nothing) for one in (differences, differences.turned())]
            found[part] = np.minimum(2 * stdtr(self.df, -np.maximum(*both)), 1.0)
            if self.continuity:
                found[part] = np.maximum(found[part], differences.sign_test())
        return found

    def ends(self, chosen: Chosen, level: float) -> tuple[FloatArray, FloatArray]:
        """The intervals of these pairs, each by itself missing in `level` of cases."""
        from scipy.special import stdtrit

        reach = float(stdtrit(self.df, 1 - level / 2))
        lows, highs = np.empty(len(chosen)), np.empty(len(chosen))
        for part, differences in self._differences(chosen):
            lows[part] = self.width * differences.lowest(reach)
            highs[part] = -self.width * differences.turned().lowest(reach)
        return lows, highs

    def _differences(self, chosen: Chosen) -> Iterator[tuple[Chosen, SeenDifferences]]:
        """The differences of these pairs some at a time, with where among the chosen they are."""
        if not len(chosen):
            return
        if self._can_count:
            yield np.arange(len(chosen)), self._counted(chosen)
            return
        step = max(CHUNK // self.parts.size, 1)
        for start in range(0, len(chosen), step):
            part = np.arange(start, min(start + step, len(chosen)))
            yield part, self._listed(chosen[part])

    def _counted(self, chosen: Chosen) -> SeenDifferences:
        """Distinct differences and how often each is seen."""
        first, second = self._sides(chosen)
        seen: dict[float, FloatArray] = {}
        has = {level: (self.values == level).astype(np.float64) for level in self._levels.tolist()}
        for one, two in product(has, has):
            value = float(f"{(one - two) / self.width:.12g}")
            both = (has[one] @ has[two].T)[first, second]
            seen[value] = seen[value] + both if value in seen else both
        values = np.tile(np.array(list(seen)), (len(chosen), 1))
        counts = np.stack(list(seen.values()), axis=-1)
        return SeenDifferences(values, np.ones_like(values), counts, self.continuity)

    def _listed(self, chosen: Chosen) -> SeenDifferences:
        """The differences as they are, of units that may count differently."""
        first, second = self._sides(chosen)
        apart = self.values[first] - self.values[second]
        means = apart.mean(axis=1, keepdims=True)
        shares = self.parts * means + (apart - means) / self.parts.size
        largest = float(self.parts.max())
        values = np.clip(shares / (largest * self.width), -self.parts / largest, self.parts / largest)
        return SeenDifferences(
            values, np.broadcast_to(self.parts / largest, values.shape), np.ones_like(values)
        )
