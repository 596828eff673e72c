"""The fewest training sets that a race of two methods can do with.

`python -m benchmarks.calibration.fewest_sets` prints a table. Of all rules that look at t-tests after
given numbers of sets, and call equal methods different in 5 %, which finds a clear winner with the fewest
sets on average, and what does that cost where the difference is small? Under any difference the t statistics
of growing samples are a Markov chain, so the answer is the least of an average, by backward induction (Eales
and Jennison 1992, Biometrika 79:13–24, do so for normal samples): each set costs, and so does a false claim,
as much as makes the level 5 %. See docs/decisions/0027.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from redelve.stats.mean_squares import FloatArray
from redelve.stats.repeated_looks import FARTHEST, RepeatedLooks, _cosines, _in_cells, _step
from redelve.stats.sequential import planned_looks

CELLS = 300
EDGES = np.linspace(0.0, FARTHEST, CELLS + 1)
QUADRATURE = np.linspace(0.0, 40.0, 2001)[1:]
MIDDLES = np.append((EDGES[1:] + EDGES[:-1]) / 2, FARTHEST + FARTHEST / CELLS)
Rule = Sequence[FloatArray]
"""For each look the part of every cell of |z| in which the race ends."""


@cache
def chances(sets: int, difference: float) -> FloatArray:
    """The chances of the cells of |z| with so many training sets, z being the normal score of the p-value.

    The density of |t| over that without a difference is as in `log_evidence`, with both signs.
    """
    none = _in_cells(2 * ndtr(-EDGES)[None])[0]
    y, r, shift = QUADRATURE, _cosines(MIDDLES, sets)[:, None], np.sqrt(sets) * difference
    sides = [(sets - 1) * np.log(y) - (y - side * r) ** 2 / 2 for side in (shift, -shift, 0.0)]
    above, below, neither = (logsumexp(side, axis=1) for side in sides)
    ratio = np.exp(np.logaddexp(above, below) - neither - shift**2 * (1 - r[:, 0] ** 2) / 2) / 2
    found = none * ratio
    found[-1] = max(1 - found[:-1].sum(), found[-1])
    return np.asarray(found / found.sum())


@dataclass(frozen=True)
class TwoMethods:
    """A race of two methods with these looks, whatever the difference between them is."""

    looks: tuple[int, ...]
    differences: tuple[float, ...] = (0.0, 0.5, 1.0, 2.0)
    """In standard deviations of the difference; none is among them."""

    @cached_property
    def _at(self) -> dict[float, list[FloatArray]]:
        return {one: [chances(sets, one) for sets in self.looks] for one in self.differences}

    @cached_property
    def _steps(self) -> dict[float | None, list[FloatArray]]:
        """From look to look, for each difference; None: with all of them equally likely."""
        groups: dict[float | None, tuple[float, ...]] = {one: (one,) for one in self.differences}
        groups[None] = self.differences
        return {
            name: [self._between(one, two, group) for one, two in pairwise(self.looks)]
            for name, group in groups.items()
        }

    @staticmethod
    def _between(before: int, after: int, differences: tuple[float, ...]) -> FloatArray:
        found = np.eye(CELLS + 1)
        for sets in range(before, after):
            here = sum(chances(sets + 1, one) for one in differences) / chances(sets + 1, 0.0)
            step = np.maximum(_in_cells(_step(sets, CELLS)), 0.0) * here
            found = found @ (step / step.sum(axis=1, keepdims=True))
        return found

    def outcome(self, rule: Rule, difference: float) -> tuple[float, float]:
        """How often the rule claims a difference, and after how many sets the race ends on average."""
        left, claimed, used = self._at[difference][0], 0.0, 0.0
        for place, (sets, ends) in enumerate(zip(self.looks, rule, strict=True)):
            if place:
                left = left @ self._steps[difference][place - 1]
            now = float(left @ ends)
            left, claimed, used = left * (1 - ends), claimed + now, used + now * sets
        return claimed, used + (1 - claimed) * self.looks[-1]

    def of_levels(self, levels: Sequence[float]) -> Rule:
        """The rule that claims a difference where p is below the level of the look."""
        return [_beyond(-ndtri(level / 2)) for level in levels]

    def best(self, sets: Mapping[float, float], claims: Mapping[float, float], level: float = 0.05) -> Rule:
        """Of all rules of the level that with the least average of what sets cost and claims are worth."""
        low, high = -3.0, 14.0
        for _ in range(40):
            middle = (low + high) / 2
            is_loose = self.outcome(self._cheapest(sets, claims, np.exp(middle)), 0.0)[0] > level
            low, high = (middle, high) if is_loose else (low, middle)
        return self._cheapest(sets, claims, np.exp(high))

    def _cheapest(self, sets: Mapping[float, float], claims: Mapping[float, float], false: float) -> Rule:
        """The best rule where a false claim costs so much, by backward induction."""
        after, rule = np.zeros(CELLS + 1), []
        for place in reversed(range(len(self.looks))):
            likely = {one: self._at[one][place] for one in self.differences}
            every = sum(likely.values())
            ended = false * likely[0.0] - sum(worth * likely[one] for one, worth in claims.items())
            if place < len(self.looks) - 1:
                more = self.looks[place + 1] - self.looks[place]
                after = self._steps[None][place] @ after
                after = after + more * sum(cost * likely[one] for one, cost in sets.items()) / every
            rule.append(_beyond(_crossing(ended / every - after)))
            after = np.minimum(ended / every, after)
        return rule[::-1]


def _beyond(score: float) -> FloatArray:
    """The part of every cell that lies beyond a score, and all of the last."""
    return np.append(np.clip((EDGES[1:] - score) / EDGES[1], 0.0, 1.0), 1.0)


def _crossing(gains: FloatArray) -> float:
    """The score from which on it is better to end, where what that costs more is first below zero."""
    first = int(np.argmax(gains < 0)) if (gains < 0).any() else CELLS
    if first in (0, CELLS):
        return 0.0 if first == 0 else FARTHEST
    return float(MIDDLES[first] - EDGES[1] * gains[first] / (gains[first] - gains[first - 1]))


def told(name: str, race: TwoMethods, rule: Rule) -> str:
    """A row: sets with 2 sd and with 1 sd, and how often half a sd is found."""
    (_, two), (_, one), (half, _) = (race.outcome(rule, away) for away in (2.0, 1.0, 0.5))
    return f"| {name} | {two:.2f} | {one:.1f} | {100 * half:.0f} |"


def rows() -> list[str]:
    """What is in use, and what no rule can do better than."""
    looks = planned_looks(32)
    race, sooner = TwoMethods(looks), TwoMethods((3, *looks))
    found = ["| rule | sets at 2 sd | at 1 sd | half a sd found, % |", "|---|---|---|---|"]
    for name, by_evidence in (("the same p-value", False), ("the same evidence", True)):
        of_each = RepeatedLooks(looks, by_evidence)
        found.append(told(name, race, race.of_levels([of_each.at(sets).of_each(0.05) for sets in looks])))
    always = {2.0: 30.0}
    found.append(told("fewest at 2 sd", race, race.best({2.0: 1.0}, always)))
    found.append(told("fewest at 2 sd, a look after 3", sooner, sooner.best({2.0: 1.0}, always)))
    for cost, worth in ((0.02, 2.0), (0.1, 2.0), (0.2, 1.0), (0.2, 3.0), (0.4, 2.0)):
        rule = race.best({2.0: 1.0, 1.0: cost}, {**always, 0.5: worth})
        found.append(told(f"fewest, 1 sd counting {cost:g}, half a sd {worth:g}", race, rule))
    return found


if __name__ == "__main__":
    import sys

    sys.stdout.write("\n".join(rows()) + "\n")
