"""A race of models over questions: who is shown not to be the best drops out, until one is left.

The race asks for answers, batch by batch, and takes scores. Its order of questions is drawn beforehand;
whatever it says, at any time, is false in at most 5 % of races (`stats.betting`). A race is a value: taking
scores makes a new one. See docs/gate-and-race.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.registry import value_told
from redelve.seeds import seed as named_seed
from redelve.stats.betting import Wagers, bets_needed, last_look

LEVEL, BATCH = 0.05, 25
MOST_QUESTIONS = 1_000_000
"""No greater number of questions is told to settle a race."""
RaceVerdict = Literal["best", "equivalent", "open"]
Call = tuple[str, Hashable]
"""A model, and the question that it is to answer."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QuestionPool:
    """All questions that may be asked, in the order in which they are: one unit after the other.

    A unit is a question, or several that belong together. `weights` are what units count, the largest 1.
    """

    units: tuple[tuple[Hashable, ...], ...]
    shares: Mapping[Hashable, float] = field(repr=False)
    """What a question counts within its unit: its weight over that of the heaviest unit."""

    @staticmethod
    def drawn(
        groups: Mapping[Hashable, Hashable], seed: int = 0, weights: Mapping[Hashable, float] | None = None
    ) -> QuestionPool:
        """The pool in a random order that depends on the seed and the names alone.

        `groups` has the unit that each question belongs to: itself, where it belongs to no other.
        """
        if not groups:
            raise SpecError("a race needs questions: there is none")
        several: dict[Hashable, list[Hashable]] = {}
        for question, unit in groups.items():
            several.setdefault(unit, []).append(question)
        order = sorted(several, key=lambda unit: (named_seed("question race", seed, str(unit)), str(unit)))
        return QuestionPool.of_units([tuple(sorted(several[unit], key=str)) for unit in order], weights)

    @staticmethod
    def of_units(
        units: Sequence[tuple[Hashable, ...]], weights: Mapping[Hashable, float] | None = None
    ) -> QuestionPool:
        """The pool in the order given."""
        of_each = {
            question: 1.0 if weights is None else weights[question] for unit in units for question in unit
        }
        heaviest = max(sum(of_each[question] for question in unit) for unit in units)
        return QuestionPool(tuple(units), {name: weight / heaviest for name, weight in of_each.items()})

    @cached_property
    def weights(self) -> Floats:
        """What each unit counts."""
        return np.array([sum(self.shares[question] for question in unit) for unit in self.units])

    @property
    def are_equal(self) -> bool:
        """Whether every unit is one question, and all count the same."""
        return all(len(unit) == 1 for unit in self.units) and bool((self.weights == 1.0).all())

    @property
    def size(self) -> int:
        """How many questions there are."""
        return sum(map(len, self.units))


@dataclass(frozen=True)
class QuestionRules:
    """What is fixed before the first answer: who races over which questions, and when they are looked at.

    Scores are from 0 to 1, larger is better, and the margin is in the same units.
    """

    models: tuple[str, ...]
    pool: QuestionPool = field(repr=False)
    margin: float | None = None
    level: float = LEVEL
    batch: int = BATCH
    """How many units are answered between two looks."""
    has_last_look: bool = True
    """Whether after the last question of the pool a test of all answers has half of the level."""
    limits: tuple[float, float] = (0.0, 1.0)
    """The worst and the best score there can be, as they are shown."""

    def __post_init__(self) -> None:
        if len(self.models) < 2:
            raise SpecError(f"a race needs two models or more, not {len(self.models)}")
        if len(set(self.models)) < len(self.models):
            again = next(name for name in self.models if self.models.count(name) > 1)
            raise SpecError(f'two models of the race are called "{again}": rename one of them')
        if self.margin is not None and not 0 < self.margin < 1:
            raise SpecError(f"a margin is above 0 and less than what the score can vary, not {self.margin:g}")
        if not 0 < self.level < 1:
            raise SpecError(f"a level is between 0 and 1, such as 0.05, not {self.level:g}")
        if self.batch < 1:
            raise SpecError(f"a batch has one question or more, not {self.batch}")

    @property
    def level_of_looks(self) -> float:
        """What all looks but the last one have together."""
        return self.level / 2 if self.has_last_look else self.level


@dataclass(frozen=True)
class QuestionRace:
    """A race as far as it went."""

    rules: QuestionRules
    wagers: Wagers = field(repr=False)
    products: Floats = field(repr=False)
    """Sums over units of one model's score times another's."""
    units_seen: int = 0
    calls: int = 0
    is_binary: bool = True
    dropped_after: Mapping[str, int] = field(default_factory=dict)
    """After how many questions each model that is out was shown not to be the best."""
    is_equivalent: bool = False
    missing: tuple[Call, ...] = ()
    """Of scores that were replayed: the answers of the next batch that are not there yet."""
    lacking: int = 0
    """Of scores that were replayed: how many questions were not asked for lack of an answer to them."""
    notes: tuple[str, ...] = ()
    """What must be told of how the scores were read."""

    def __str__(self) -> str:
        from redelve.findings.race_sentences import race_told

        return race_told(self)

    @staticmethod
    def start(rules: QuestionRules) -> QuestionRace:
        """The race before the first answer."""
        count = len(rules.models)
        return QuestionRace(rules, Wagers.start(count, margin=rules.margin), np.zeros((count, count)))

    @property
    def models(self) -> tuple[str, ...]:
        """All that started."""
        return self.rules.models

    @property
    def left(self) -> tuple[str, ...]:
        """The models that may be the best, the best so far first."""
        places = np.flatnonzero(self.wagers.active)
        return tuple(self.models[place] for place in sorted(places, key=lambda one: -self.wagers.totals[one]))

    @property
    def dropped(self) -> tuple[str, ...]:
        """The models that were shown not to be the best, in the order in which they dropped out."""
        return tuple(self.dropped_after)

    @property
    def questions_seen(self) -> int:
        """How many questions were answered by all that were in the race."""
        return sum(len(unit) for unit in self.rules.pool.units[: self.units_seen])

    @property
    def verdict(self) -> RaceVerdict:
        """What can be said now."""
        if self.wagers.active.sum() == 1:
            return "best"
        return "equivalent" if self.is_equivalent else "open"

    @property
    def is_over(self) -> bool:
        """Whether it is settled, or no question is left."""
        return self.verdict != "open" or self.units_seen == len(self.rules.pool.units)

    def mean_score(self, model: str) -> float | None:
        """The mean score of a model on the questions that it was asked; None before the first."""
        place = self.models.index(model)
        asked = self.dropped_after.get(model, self.questions_seen)
        if not asked:
            return None
        weights, count = self.rules.pool.weights, 0.0
        for unit, weight in zip(self.rules.pool.units, weights, strict=True):
            if asked <= 0:
                break
            asked, count = asked - len(unit), count + weight
        worst, best = self.rules.limits
        return worst + (best - worst) * float(self.wagers.totals[place] / count)

    @property
    def next_units(self) -> tuple[tuple[Hashable, ...], ...]:
        """The units of the next batch."""
        return self.rules.pool.units[self.units_seen : self.units_seen + self.rules.batch]

    def next_batch(self) -> tuple[Call, ...]:
        """The answers that the race needs to go on; none when it is over."""
        if self.is_over:
            return ()
        left = self.left
        return tuple((model, question) for unit in self.next_units for question in unit for model in left)

    def taking(self, scores: Mapping[Call, float]) -> QuestionRace:
        """The race after the next batch, whose scores must all be there."""
        if self.is_over:
            raise SpecError("the race is over: it takes no more scores")
        units = self.next_units
        of_units = np.full((len(self.models), len(units)), np.nan)
        for place in np.flatnonzero(self.wagers.active):
            for number, unit in enumerate(units):
                of_units[place, number] = sum(self._part(scores, self.models[place], one) for one in unit)
        return self._with_units(of_units)._looked_at()

    def _part(self, scores: Mapping[Call, float], model: str, question: Hashable) -> float:
        """What an answer adds to the score of its unit."""
        if (model, question) not in scores:
            raise SpecError(
                f"{model} has no score on question {value_told(question)}, which the race asked for"
            )
        score = float(scores[model, question])
        if not 0.0 <= score <= 1.0:
            raise SpecError(
                f"{model} has score {score:g} on question {value_told(question)}: scores of a race are "
                "between 0 and 1; divide them by the highest there can be"
            )
        return score * self.rules.pool.shares[question]

    def _with_units(self, of_units: Floats) -> QuestionRace:
        """The race with scores of some more units, not looked at yet."""
        pool, seen = self.rules.pool, self.units_seen + of_units.shape[1]
        questions = sum(len(unit) for unit in pool.units[self.units_seen : seen])
        here = np.nan_to_num(of_units)
        weights = None if pool.are_equal else pool.weights[self.units_seen : seen]
        return replace(
            self,
            wagers=self.wagers.taking(of_units, weights),
            products=self.products + here @ here.T,
            units_seen=seen,
            calls=self.calls + questions * int(self.wagers.active.sum()),
            is_binary=self.is_binary and bool(np.isin(here, (0.0, 1.0)).all()),
        )

    def _looked_at(self) -> QuestionRace:
        """Who drops out now, and whether those that stay are equivalent."""
        wagers = self.wagers.dropping(self.rules.level_of_looks)
        if self._is_last_look and wagers.active.sum() > 1:
            wins = wagers.totals[:, None] - self.products
            wagers = replace(wagers, active=last_look(wins, wagers.active, self.rules.level / 2))
        out = np.flatnonzero(self.wagers.active & ~wagers.active)
        dropped = {**self.dropped_after, **{self.models[place]: self.questions_seen for place in out}}
        equivalent = bool(wagers.equivalent(self.rules.level))
        return replace(self, wagers=wagers, dropped_after=dropped, is_equivalent=equivalent)

    @property
    def _is_last_look(self) -> bool:
        """Whether all is answered, by right or wrong alone, and there is level left for a last look."""
        pool = self.rules.pool
        is_last = self.units_seen == len(pool.units)
        return self.rules.has_last_look and is_last and self.is_binary and pool.are_equal

    @property
    def needed(self) -> int | None:
        """How many more questions would probably settle an open race; None where none can be told."""
        if self.verdict != "open" or not self.units_seen:
            return None
        first, *others = (self.models.index(name) for name in self.left)
        most = max(self._units_for(first, other) for other in others)
        pool = self.rules.pool
        per_unit = pool.size / len(pool.units)
        return (
            None if most * per_unit > MOST_QUESTIONS else max(round((most - self.units_seen) * per_unit), 1)
        )

    def _units_for(self, first: int, other: int) -> float:
        """How many units show a difference like the one seen, or that it is below the margin."""
        n, totals, products, rules = self.units_seen, self.wagers.totals, self.products, self.rules
        gap = float(totals[first] - totals[other]) / n
        square = float(products[first, first] + products[other, other] - 2 * products[first, other])
        mean_square = max(square / n, gap**2) * (1 + 2 / n)
        needed = bets_needed(gap, mean_square, 4 / rules.level_of_looks)
        if rules.margin is None:
            return needed
        slack = rules.margin * float(rules.pool.weights.mean()) - gap
        return min(needed, bets_needed(slack, mean_square, (len(self.models) - 1) / rules.level))


def as_far_as(race: QuestionRace, scores: Mapping[Call, float], *, skips: bool = False) -> QuestionRace:
    """The race with all batches that the scores hold completely, one after the other.

    With `skips` no answer is waited for: units that a model still in the race lacks are not asked.
    """
    while not race.is_over:
        race = _without_units_lacking(race, scores) if skips else race
        if race.is_over or not all(call in scores for call in race.next_batch()):
            break
        race = race.taking(scores)
    return race


def _without_units_lacking(race: QuestionRace, scores: Mapping[Call, float]) -> QuestionRace:
    """The race with a next batch of units that all in it have answered."""
    pool, left = race.rules.pool, race.left
    found: list[tuple[Hashable, ...]] = []
    lacking = race.lacking
    for place in range(race.units_seen, len(pool.units)):
        if len(found) == race.rules.batch:
            found += pool.units[place:]
            break
        unit = pool.units[place]
        lacked = sum(any((model, question) not in scores for model in left) for question in unit)
        lacking += lacked
        if not lacked:
            found.append(unit)
    units = (*pool.units[: race.units_seen], *found)
    if len(units) == len(pool.units):
        return race
    return replace(race, rules=replace(race.rules, pool=replace(pool, units=units)), lacking=lacking)


def still_to_do(race: QuestionRace, scores: Mapping[Call, float]) -> tuple[Call, ...]:
    """The answers of the next batch that are not there yet."""
    return tuple(call for call in race.next_batch() if call not in scores)
