"""Evidence about bounded scores that may be looked at after every question: bets against hypotheses.

Whoever bets against a true hypothesis wins no money on average, so wealth of 1/α or more, at any time, is
seen in at most α of all streams (Ville 1939). A bet on differences D in [−1, 1] of two models' scores against
"E D ≤ −m" multiplies wealth by 1 + λ(D + m); the wealth of 24 stakes λ is averaged (Waudby-Smith and Ramdas
2024, Journal of the Royal Statistical Society B 86:1–27, section 4). Nothing is assumed of the scores but
their bounds and a random order of the questions.

Models are on the axis before the last of `scores[…, model, unit]`; of pairs [j, i] the first is the one bet
on. Axes before those are many streams at once. Wealth is kept as its logarithm, stake by stake.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from redelve.stats.bounded_tests import sign_test
from redelve.stats.families import Truths
from redelve.stats.mean_squares import FloatArray

STAKES = np.geomspace(0.01, 0.95, 24)
"""Of the most that can be lost, the parts that are staked."""
MOST_UNITS = 1e12
"""More than anybody will ever ask."""
LARGEST = 600.0
"""Logarithms of wealth are shown up to this: more says nothing more, and would overflow."""


def stakes(margin: float = 0.0) -> FloatArray:
    """The stakes λ for differences that lose at most 1 − margin."""
    return np.asarray(STAKES / (1.0 - margin))


def log_growth(differences: FloatArray, shifts: FloatArray | float = 0.0, margin: float = 0.0) -> FloatArray:
    """By how much the logarithm of wealth grows over the last axis, for each stake (a new last axis).

    `shifts` are what the margin adds to each difference: the margin itself, or its part where a unit has only
    a part of the largest weight.

    >>> log_growth(np.array([1.0, -1.0, 0.0]))[-1].round(4).item()  # log 1.95 + log 0.05
    -2.3279
    """
    moved = (np.asarray(differences) + shifts)[..., None, :]
    return np.asarray(np.log1p(stakes(margin)[:, None] * moved).sum(axis=-1))


def e_values(log_wealth: FloatArray) -> FloatArray:
    """Mean wealth over the stakes: the e-value."""
    top = log_wealth.max(axis=-1)
    logs = top + np.log(np.exp(log_wealth - top[..., None]).mean(axis=-1))
    return np.asarray(np.exp(np.minimum(logs, LARGEST)))


def closed_by_averages(e: FloatArray) -> FloatArray:
    """E-values that allow for all hypotheses of the last axis: the least average of any set with this one.

    Closed testing, each set tested by its average e-value (Vovk and Wang 2021, Annals of Statistics
    49:1736–1754, algorithm 1): only smaller ones can lower an average, the smallest first.

    >>> closed_by_averages(np.array([90.0, 10.0, 2.0, 30.0])).tolist()
    [33.0, 6.0, 2.0, 14.0]
    """
    order = np.argsort(e, axis=-1)
    ranked = np.take_along_axis(e, order, axis=-1)
    sums = np.cumsum(ranked, axis=-1) - ranked
    count = np.arange(e.shape[-1])
    means = (ranked[..., :, None] + sums[..., None, :]) / (count + 1.0)
    least = np.where(count <= count[:, None], means, np.inf).min(axis=-1)
    adjusted = np.empty_like(ranked)
    np.put_along_axis(adjusted, order, least, axis=-1)
    return adjusted


@dataclass(frozen=True)
class Wagers:
    """What bets between models have won so far, and who is still in.

    `pairs[…, j, i]` bets that j is better than i, `within[…, j, i]` that j is worse than i by less than the
    margin, `led[…, i]` that whoever else leads before each unit is better than i (the second, where i leads
    alone). Bets with a model that is out stay as they are.
    """

    totals: FloatArray
    active: Truths
    pairs: FloatArray
    led: FloatArray
    within: FloatArray | None = None
    margin: float = 0.0

    @staticmethod
    def start(models: int, streams: tuple[int, ...] = (), margin: float | None = None) -> Wagers:
        """Before the first unit: all are in, nothing is won or lost."""
        shape = (*streams, models)
        pairs = np.zeros((*shape, models, len(STAKES)))
        return Wagers(
            np.zeros(shape),
            np.ones(shape, dtype=np.bool_),
            pairs,
            np.zeros((*shape, len(STAKES))),
            None if margin is None else pairs,
            margin or 0.0,
        )

    @property
    def models(self) -> int:
        """How many took part from the beginning."""
        return int(self.totals.shape[-1])

    def taking(self, scores: FloatArray, weights: FloatArray | None = None) -> Wagers:
        """With some more units; scores of models that are out are not looked at.

        Scores are those of units, from 0 to their weight; the largest weight that there may be is 1.
        """
        seen = np.where(self.active[..., None], scores, 0.0)
        both = self.active[..., :, None] & self.active[..., None, :]
        pairs = self.pairs + both[..., None] * _growth_of_pairs(seen, weights)
        within = self.within
        if within is not None:
            within = within + both[..., None] * _growth_of_pairs(seen, weights, self.margin)
        led = self.led + self.active[..., None] * log_growth(self._behind_leaders(seen))
        return replace(self, totals=self.totals + seen.sum(axis=-1), pairs=pairs, led=led, within=within)

    def _behind_leaders(self, scores: FloatArray) -> FloatArray:
        """How far each is behind who else led before the unit, on average where several did.

        Who leads alone is compared with the second, so that no order of the models matters.
        """
        before = self.totals[..., None] + np.cumsum(scores, axis=-1) - scores
        before = np.where(self.active[..., None], before, -np.inf)
        leads = before == before.max(axis=-2, keepdims=True)
        others = np.where(leads, -np.inf, before)
        follows = (others == others.max(axis=-2, keepdims=True)) & np.isfinite(others)
        count = leads.sum(axis=-2, keepdims=True)
        is_alone = leads & (count == 1)
        of_leaders = (leads * scores).sum(axis=-2, keepdims=True) - leads * scores
        second = (follows * scores).sum(axis=-2, keepdims=True) / np.maximum(
            follows.sum(axis=-2, keepdims=True), 1
        )
        rival = np.where(is_alone, second, of_leaders / np.maximum(count - leads, 1))
        is_one = self.active.sum(axis=-1)[..., None, None] < 2
        return np.asarray(np.where(is_one, 0.0, rival - scores))

    def against_best(self) -> FloatArray:
        """E-values against "model i is the best, or ties with the best", each by itself."""
        e = e_values(self.pairs)
        e[..., range(self.models), range(self.models)] = 0.0
        return np.asarray(e_values(self.led) / 2 + e.sum(axis=-2) / (2 * (self.models - 1)))

    def dropping(self, level: float) -> Wagers:
        """Without the models that are shown not to be the best, allowing for all models and all looks."""
        shown = closed_by_averages(self.against_best()) >= 1 / level
        return replace(self, active=self.active & ~shown)

    def equivalent(self, level: float) -> Truths:
        """Whether every two that are left are shown to differ by less than the margin.

        Of the models left one may be the best and another behind it by the margin: k − 1 hypotheses.
        """
        left = self.active.sum(axis=-1)
        if self.within is None:
            return np.zeros(left.shape, dtype=np.bool_)
        both = self.active[..., :, None] & self.active[..., None, :] & ~np.eye(self.models, dtype=np.bool_)
        least = np.where(both, e_values(self.within), np.inf).min(axis=(-2, -1))
        return np.asarray((left > 1) & (least >= (self.models - 1) / level))


def _growth_of_pairs(
    scores: FloatArray, weights: FloatArray | None, margin: float | None = None
) -> FloatArray:
    """Growth of the bets [j, i]; scores of 0 and 1 are counted, others multiplied unit by unit."""
    if weights is None and np.isin(scores, (0.0, 1.0)).all():
        return _growth_of_counts(scores, margin or 0.0)
    shift = 0.0 if margin is None else margin if weights is None else margin * weights
    shifts = np.broadcast_to(np.asarray(shift, dtype=np.float64), scores.shape[-1:])
    staked = stakes(margin or 0.0)
    growth = np.zeros((*scores.shape[:-1], scores.shape[-2], len(staked)))
    for start in range(0, scores.shape[-1], 64):  # no product of 64 factors of 0.05 underflows
        product = np.ones_like(growth)
        for unit in range(start, min(start + 64, scores.shape[-1])):
            one = scores[..., unit]
            moved = one[..., :, None] - one[..., None, :] + shifts[unit]
            product *= 1.0 + moved[..., None] * staked
        growth += np.log(product)
    return growth


def _growth_of_counts(scores: FloatArray, margin: float) -> FloatArray:
    """The same for scores of 0 and 1: how often j alone is right, i alone, or neither alone, suffices."""
    wins = scores @ np.swapaxes(1.0 - scores, -1, -2)
    losses = np.swapaxes(wins, -1, -2)
    staked = stakes(margin)
    growth = wins[..., None] * np.log1p(staked * (1 + margin))
    growth += losses[..., None] * np.log1p(-staked * (1 - margin))
    if margin:
        growth += (scores.shape[-1] - wins - losses)[..., None] * np.log1p(staked * margin)
    return np.asarray(growth)


def last_look(wins: FloatArray, active: Truths, level: float) -> Truths:
    """Who of the active stays after the last unit of a pool whose size was declared; scores are 0 or 1.

    wins[…, j, i] counts the units that j has right and i has wrong. Sign tests, times the opponents still in,
    adjusted after Holm (1979, Scandinavian Journal of Statistics 6:65–70) over those still in. All k − 1
    opponents would be proved; but one that may well drop out against a best model is so far behind it that
    its sign test says nothing, and the level is measured (docs/calibration.md).
    """
    p = sign_test(wins, np.swapaxes(wins, -1, -2))
    p = np.where(active[..., :, None] & active[..., None, :], p, 1.0)
    left = active.sum(axis=-1)[..., None]
    raw = np.where(active, (left - 1) * p.min(axis=-2), np.inf)
    order = np.argsort(raw, axis=-1)
    steps = np.maximum(left - np.arange(active.shape[-1]), 1)
    ranked = np.maximum.accumulate(np.take_along_axis(raw, order, axis=-1) * steps, axis=-1)
    adjusted = np.empty_like(raw)
    np.put_along_axis(adjusted, order, ranked, axis=-1)
    return np.asarray(active & ~(adjusted <= level))


def bets_needed(gap: float, mean_square: float, wanted: float) -> float:
    """How many units let bets on a mean difference of `gap` reach the wealth wanted, four times in five.

    With a stake λ the logarithm of wealth is about normal, with mean n·(λ·gap − λ²·mean square/2) and
    standard deviation λ·√(n·mean square); the wealth of all stakes is averaged.

    >>> round(bets_needed(0.05, 0.25, 80)), round(bets_needed(0.05, 0.005, 80))
    (1896, 174)
    """
    if not gap > 0:
        return np.inf
    growth = STAKES * gap - STAKES**2 * mean_square / 2
    spread = 0.8416212335729143 * STAKES * np.sqrt(mean_square)  # the quantile of 80 %
    low, high = 0.0, np.log(MOST_UNITS)
    while high - low > 1e-6:
        middle = (low + high) / 2
        wealth = e_values(np.exp(middle) * growth - np.exp(middle / 2) * spread)
        low, high = (middle, high) if wealth < wanted else (low, middle)
    return float(np.exp(high)) if high < np.log(MOST_UNITS) else np.inf
