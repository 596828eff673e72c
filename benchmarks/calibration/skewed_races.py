"""What skewed effects of training sets cost any race of two methods.

`python -m benchmarks.calibration.skewed_races` prints a table. Let most training sets make a method look a
little worse than it is and a few much better: differences are one less an exponential, their mean is zero. Of
all rules that take no notice of units, look after the planned numbers of sets, call these equal methods
different in at most so many per cent, which finds a normal difference of two standard deviations with the
fewest sets on average? Even a rule that knows both shapes has no more to go by than their likelihood ratio
(that of the samples up to a factor: the densities are averaged over all units), so the answer is the least of
an average, with the price of a false claim as in `fewest_sets`.

The least lies between two ends: a rule by regression on simulated races (Longstaff and Schwartz 2001,
Review of Financial Studies 14:113–147), judged on new ones, and a bound below all rules by their dual (Rogers
2002, Mathematical Finance 12:271–286). See docs/until-settled.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri

from redelve.seeds import generator
from redelve.stats.sequential import planned_looks

Numbers = NDArray[np.float64]
LOOKS = planned_looks(32)
DIFFERENCE = 2.0
"""Of the normal differences, in their standard deviations."""
POINTS = 400
SCALES = (np.arange(POINTS) + 0.5) * 8.0 / POINTS
"""Of one over the standard deviation, where samples have a mean square of one."""
SHARES = (np.arange(POINTS) + 0.5) / POINTS
"""Of the largest that one over the unit of the skewed ones can be: no such difference is above its unit."""
AT_MOST = 60.0
"""It has no largest where all differences are negative; beyond this nothing is left of the density."""
INNER = 32
"""New sets that stand for all, where the bound needs the expectation of what comes next."""


def log_ratio(samples: Numbers) -> Numbers:
    """For each row, the log of how much likelier it is, up to a factor, as normal than as skewed."""
    sets = samples.shape[1]
    rows = samples / np.sqrt(np.mean(samples**2, axis=1, keepdims=True))
    total, largest = rows.sum(axis=1)[:, None], rows.max(axis=1)
    normal = (sets - 1) * np.log(SCALES) - sets / 2 * ((SCALES - DIFFERENCE) ** 2 + np.log(2 * np.pi))
    normal = normal + DIFFERENCE * SCALES * (total - sets)
    most = np.where(largest > 1 / AT_MOST, 1 / np.maximum(largest, 1 / AT_MOST), AT_MOST)
    inverse = most[:, None] * SHARES
    skewed = (sets - 1) * np.log(inverse) - sets + inverse * total
    widths = np.log(8.0) - np.log(most)
    return np.asarray(logsumexp(normal, axis=1) - logsumexp(skewed, axis=1) + widths)


def known(samples: Numbers, ratio: Numbers) -> Numbers:
    """What the regression goes by: powers of the log ratio, mean and smallest in units of the size."""
    size = np.sqrt(np.mean(samples**2, axis=1))
    here = np.clip(ratio, -4.0, 8.0) / 4.0
    mean, least = samples.mean(axis=1) / size, samples.min(axis=1) / size
    powers = [here**power for power in range(6)]
    return np.column_stack([*powers, mean, mean**2, mean * here, least, least**2, least * here, least * mean])


@dataclass(frozen=True)
class Races:
    """Races of two methods that do differ, with the log ratio at each look."""

    drawn: Numbers
    ratios: tuple[Numbers, ...]

    @classmethod
    def simulated(cls, count: int, name: str) -> Races:
        """So many, by the generator of this name."""
        drawn = generator("skewed races", name).normal(DIFFERENCE, 1.0, size=(count, LOOKS[-1]))
        return cls(drawn, tuple(log_ratio(drawn[:, :sets]) for sets in LOOKS))

    def known(self, place: int) -> Numbers:
        """What the regression goes by at a look."""
        return known(self.drawn[:, : LOOKS[place]], self.ratios[place])


@dataclass(frozen=True)
class Rule:
    """Claim a difference where going on is expected to cost more: a set costs one, a false claim `price`."""

    price: float
    weights: tuple[Numbers, ...]
    """By look but the last, of what going on costs in all."""

    @classmethod
    def learned(cls, races: Races, price: float) -> Rule:
        """From the last look backwards; each look's costs of going on are those that the races then have."""
        costs = _ended(price, races.ratios[-1], len(LOOKS) - 1)
        weights: list[Numbers] = []
        for place in reversed(range(len(LOOKS) - 1)):
            by = races.known(place)
            weights.append(np.asarray(np.linalg.lstsq(by, costs, rcond=None)[0], dtype=np.float64))
            ended = _ended(price, races.ratios[place], place)
            costs = np.where(ended <= by @ weights[-1], ended, costs)
        return cls(price, tuple(reversed(weights)))

    def outcome(self, races: Races) -> tuple[float, float]:
        """How often it calls skewed equal methods different, and the sets it takes where they differ."""
        left = np.ones(len(races.drawn), dtype=bool)
        false, used = 0.0, np.full(len(left), float(LOOKS[-1]))
        for place, weights in enumerate(self.weights):
            ended = _ended(self.price, races.ratios[place], place)
            ends = left & (ended <= races.known(place) @ weights)
            false += float(np.exp(-races.ratios[place][ends]).sum())
            used[ends] = LOOKS[place]
            left &= ~ends
        return false / len(left), float(used.mean())

    def value(self, samples: Numbers, place: int) -> Numbers:
        """What a race is expected to cost in all, seen from a look."""
        ratio = log_ratio(samples)
        ended = _ended(self.price, ratio, place)
        if place == len(LOOKS) - 1:
            return ended
        return np.minimum(ended, known(samples, ratio) @ self.weights[place])

    def bound(self, races: Races, level: float) -> tuple[float, float]:
        """An average of sets that no rule of this level is below, and its standard error.

        Whoever knew the whole race beforehand, and paid for what it brings beyond what was to be expected,
        could not do better than the least of the costs less these payments.
        """
        paid = np.zeros(len(races.drawn))
        least = _ended(self.price, races.ratios[0], 0)
        for place, (before, after) in enumerate(pairwise(LOOKS), start=1):
            expected = self._expected(races.drawn[:, :before], after - before, place)
            paid = paid + self.value(races.drawn[:, :after], place) - expected
            least = np.minimum(least, _ended(self.price, races.ratios[place], place) - paid)
        return float(least.mean()) - self.price * level, float(least.std() / np.sqrt(len(least)))

    def _expected(self, samples: Numbers, more: int, place: int) -> Numbers:
        """The value at a look, on average over new sets (a Latin hypercube of them, so without bias)."""
        draw = generator("sets to come", place)
        strata = np.arange(INNER) + draw.random((len(samples), more, INNER))
        new = DIFFERENCE + ndtri(draw.permuted(strata, axis=2) / INNER)
        old = np.repeat(samples, INNER, axis=0)
        whole = np.concatenate([old, np.moveaxis(new, 2, 1).reshape(-1, more)], axis=1)
        return np.asarray(self.value(whole, place).reshape(-1, INNER).mean(axis=1))


def _ended(price: float, ratio: Numbers, place: int) -> Numbers:
    """What it costs to end at a look by a claim, or at the last one without: to miss a difference is free."""
    is_last = place == len(LOOKS) - 1
    return LOOKS[place] + (0.0 if is_last else price) * np.exp(-ratio)


def of_level(learning: Races, level: float) -> Rule:
    """The rule by regression whose price makes its level this one."""
    low, high = 0.0, 8.0
    for _ in range(25):
        middle = (low + high) / 2
        is_loose = Rule.learned(learning, np.exp(middle)).outcome(learning)[0] > level
        low, high = (middle, high) if is_loose else (low, middle)
    return Rule.learned(learning, np.exp(high))


def rows(count: int = 20_000) -> list[str]:
    """For some levels, the rule by regression and the bound below all rules."""
    learning, judging = Races.simulated(count, "learning"), Races.simulated(count, "judging")
    bounding = Races.simulated(count // 5, "bounding")
    found = ["| false, exponential effects, % | sets at 2 sd, by regression | no rule with fewer |"]
    found.append("|---|---|---|")
    for level in (0.05, 0.08, 0.10, 0.12, 0.16):
        rule = of_level(learning, level)
        (false, sets), (least, error) = rule.outcome(judging), rule.bound(bounding, level)
        found.append(f"| {100 * false:.1f} | {sets:.2f} | {least:.2f} ± {error:.2f} at {100 * level:g} % |")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows()) + "\n")
