"""Calibration of races that end when they are settled: false words over all looks, jobs used, equivalence.

`python -m benchmarks.calibration.until_settled` prints this section alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.calibration.race_designs import CommonRunners, Drawn, OwnRunners, Runners, quick
from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
from benchmarks.calibration.simulation import Generator
from redelve.model.dataset import Rows
from redelve.stats.families import PairSquares, Places, Truths, family_of, unmoderated
from redelve.stats.mean_squares import FloatArray
from redelve.stats.repeated_looks import RepeatedLooks
from redelve.stats.sequential import (
    FIRST_LOOK,
    decide,
    directed,
    family_at_look,
    one_sided,
    planned_looks,
    sets_needed,
)

ALPHA = 0.05
CHUNK = 500
UNEQUAL = (0.3, 0.6, 1.0, 2.0, 4.0)
SHARES = (0.9, 0.7, 0.5, 0.2, 0.05)


@dataclass(frozen=True)
class RaceOutcomes:
    """What came of many races, filled in look by look."""

    stays: Truths
    """The methods that were not dropped, by data set."""
    sets: FloatArray
    """Training sets that were used when the race ended."""
    jobs: FloatArray
    equivalent: Truths
    wrong_pairs: Truths
    """Whether any difference of a pair was claimed that is none, or goes the other way."""

    @staticmethod
    def start(count: int, methods: int) -> RaceOutcomes:
        """Nothing has come of them yet."""
        no, yes = np.zeros(count, dtype=np.bool_), np.ones((count, methods), dtype=np.bool_)
        return RaceOutcomes(yes, np.zeros(count), np.zeros(count), no, no.copy())

    @staticmethod
    def joined(several: list[RaceOutcomes]) -> RaceOutcomes:
        """All of them."""
        parts = ("stays", "sets", "jobs", "equivalent", "wrong_pairs")
        return RaceOutcomes(*(np.concatenate([getattr(one, part) for one in several]) for part in parts))

    def is_sole(self) -> Truths:
        """Whether the first method alone was left."""
        return np.asarray((self.stays.sum(axis=1) == 1) & self.stays[:, 0])

    def is_false(self, best: int) -> Truths:
        """Whether one of the first `best` methods, which tie, was dropped, or a pair claimed wrongly."""
        return np.asarray((~self.stays[:, :best]).any(axis=1) | self.wrong_pairs)


@dataclass(frozen=True)
class Races:
    """How races of the same methods are run."""

    runners: Runners
    sets: int = 32
    amount: float | None = None
    """The margin, if there is one."""

    chunk: int = CHUNK

    @property
    def looks(self) -> RepeatedLooks:
        """When they are looked at."""
        return RepeatedLooks(planned_looks(self.sets), by_evidence=True)

    def run(self, count: int, rng: Generator) -> RaceOutcomes:
        """Many of them."""
        parts = [min(self.chunk, count - start) for start in range(0, count, self.chunk)]
        return RaceOutcomes.joined([self._run(part, rng) for part in parts])

    def _run(self, count: int, rng: Generator) -> RaceOutcomes:
        outcomes = RaceOutcomes.start(count, len(self.runners.means))
        data = self.runners.draw(count, self.sets, rng)
        running, before = np.ones(count, dtype=np.bool_), 0
        for now in self.looks.looks:
            left = outcomes.stays.sum(axis=1)
            outcomes.jobs[running] += ((now - before) * left)[running]
            outcomes.sets[running] = now
            for methods in np.unique(left[running]):
                rows = np.flatnonzero(running & (left == methods))
                running[rows] = ~self._look(outcomes, data, rows, now)
            before = now
        return outcomes

    def _look(self, outcomes: RaceOutcomes, data: Drawn, rows: Rows, now: int) -> Truths:
        """One look at races with equally many methods left; whether each is settled."""
        names = np.nonzero(outcomes.stays[rows])[1].reshape(len(rows), -1)
        methods = names.shape[1]
        squares, places = data.squares(rows, names, now)
        family = quick(family_at_look(squares, methods))
        looks = self.looks.at(now)
        better = looks.one_sided(directed(family, places, methods))
        within = None
        if self.amount is not None:
            within = looks.one_sided(within_margin(squares, places, methods, self.amount))
        made = decide(better, ALPHA, within)
        outcomes.stays[rows[:, None], names] = made.stays
        outcomes.equivalent[rows] = made.is_equivalent
        truth = np.array(self.runners.means)[names]
        true = truth[:, places[0]] - truth[:, places[1]]
        wrong = (family.p_values(looks) < ALPHA) & (true * squares.differences <= 0)
        outcomes.wrong_pairs[rows] |= wrong.any(axis=1)
        return made.is_settled


def within_margin(squares: PairSquares, places: Places, methods: int, amount: float) -> FloatArray:
    """p[…, j, i] against "i is worse than j by the amount or more", each pair by itself."""
    p = np.ones((len(squares.differences), methods, methods))
    first, second = list(places[0]), list(places[1])
    for sign, i, j in ((1, first, second), (-1, second, first)):
        behind = replace(squares, differences=sign * squares.differences - amount)
        p[:, j, i] = one_sided(behind.differences, quick(unmoderated(behind)).single_p_values())
    return p


def fixed_design(runners: Runners, sets: int, count: int, rng: Generator) -> float:
    """How often a fixed number of training sets shows the first method to be better than all others."""
    k = len(runners.means)
    everyone = np.tile(np.arange(k), (count, 1))
    squares, (first, _) = runners.draw(count, sets, rng).squares(np.arange(count), everyone, sets)
    p_values = family_of(squares, k).p_values()
    ahead = (np.array(first) == 0) & (p_values < ALPHA) & (squares.differences < 0)
    return float(np.mean(ahead.sum(axis=1) == k - 1))


def smallest_fixed(runners: Runners, sure: float, count: int, rng: Generator) -> int | None:
    """The smallest number of training sets that shows the winner so often; None where 48 are too few."""
    low, high = FIRST_LOOK - 1, 49
    while high - low > 1:
        middle = (low + high) // 2
        parts = [min(CHUNK, count - start) for start in range(0, count, CHUNK)]
        shown = sum(part * fixed_design(runners, middle, part, rng) for part in parts) / count
        low, high = (low, middle) if shown >= sure else (middle, high)
    return high if high < 49 else None


def settled_by_more(difference: float, sets: int, count: int, rng: Generator) -> tuple[float, float]:
    """Of races of two methods open after `sets`, the share that the number told would settle; its median."""
    races = Races(OwnRunners((0.0, difference)), sets)
    level = races.looks.at(sets).of_each(ALPHA)
    settled, told = [], []
    for _ in range(count):
        squares = _pair(races.runners, sets, rng)
        if unmoderated(squares).p_values()[0, 0] < level:
            continue
        gap, between = abs(float(squares.differences[0, 0])), float(squares.between[0, 0])
        needed = sets_needed(gap, (between, 0.0), level / 2)
        told.append(needed or np.inf)
        fresh = _pair(races.runners, min(needed or 10_000, 10_000), rng)
        settled.append(bool(unmoderated(fresh).p_values()[0, 0] < level))
    return (float(np.mean(settled)), float(np.median(told))) if told else (np.nan, np.nan)


def _pair(runners: Runners, sets: int, rng: Generator) -> PairSquares:
    """What one experiment with two methods finds."""
    return runners.draw(1, sets, rng).squares(np.zeros(1, dtype=np.int64), np.arange(2)[None], sets)[0]


WORDS = """
Methods race until one is left, or all that are left are equivalent within the margin: looks after 4, 5, 6, 7,
8, 10, 12, 14, 16, 20, 24, 28 and 32 training sets ask for the same evidence, the last for a quarter of it,
with p-values that allow for all of them. Differences d are in standard deviations (over training sets) of the
difference of two methods. *False* is a method dropped that ties with the best, or a difference claimed that
is none, at any look. *Groups*: each test set has 4 to 12 groups of cases. *Common*: all training sets share
50 test cases, or 12 groups of them, which move a difference about as much as training sets do, or alone.
*Jobs* are those of the race over those of 32 training sets for all methods, and over those of the smallest
fixed number of sets that shows the winner by a report's usual claims: in 99 % of experiments, and as often as
the race does (but not more often than in 99.9 %). *Wrong equivalence* is the word where the best and some
other that is left differ by just the margin. *Skewed*: training sets move the best method by one less an
exponential, the others hardly; nothing that was tried cures this (until-settled.md). A fresh experiment with
as many sets as the report says would settle the race did so in the share of cases told last, with two methods
and 8 sets, where 80 % is meant."""
SIZES = (2, 5, 20)
LEVEL_SIZES = (2, 5, 10, 20)
MARGINS = (0.5, 1.0, 2.0)


def until_settled(rng: Generator, effort: Effort) -> Section:
    """Races that end when they are settled; every row of the tables has random numbers of its own."""
    return of_rows([[make() for make in makers] for makers in row_makers(rng, effort)], effort)


def row_makers(rng: Generator, effort: Effort) -> tuple[list[Callable[[], Any]], ...]:
    """What makes each row of the four tables, in any order: false words, jobs, equivalences, what is told."""
    false = [(k, name) for k in LEVEL_SIZES for name in fields(k)]
    jobs = list(product(SIZES, (1.0, 2.0, 4.0)))
    equal = [(name, amount) for amount in MARGINS for name in at_the_margin(amount)]
    makers: tuple[tuple[Callable[..., Any], Sequence[tuple[Any, ...]]], ...] = (
        (_false_word, false),
        (_jobs, jobs),
        (_wrong_equivalence, equal),
        (_told, [(d,) for d in (0.3, 0.5, 1.0)]),
    )
    return tuple(
        [partial(make, *row, effort, child) for row, child in zip(rows, rng.spawn(len(rows)), strict=True)]
        for make, rows in makers
    )


def of_rows(tables: Sequence[list[Any]], effort: Effort) -> Section:
    """The section with these rows of its four tables."""
    false, jobs, equal, told = tables
    body = [
        table(["any false word", "%", "data sets"], [[f.where, f.percent, f"{f.count:,}"] for f in false]),
        table(JOBS_HEAD, jobs),
        table(["wrong equivalence", "%", "data sets"], [[f.where, f.percent, f"{f.count:,}"] for f in equal]),
        table(["told to settle it", "settled, %", "median sets told"], told),
    ]
    errors = [
        f"{margin(count)} of {count:,}" for count in (effort.many, effort.some, effort.few, effort.least)
    ]
    words = f"{WORDS} Standard errors at 5 % are {', '.join(errors)}."
    return Section("Races until settled", words, "\n\n".join(body), (*false, *equal))


JOBS_HEAD = (
    "one winner",
    "right, %",
    "sets a method",
    "jobs of 32 sets, %",
    "fixed, 99 %",
    "of its jobs, %",
    "fixed, as sure",
    "of its jobs, %",
)


def fields(k: int) -> dict[str, tuple[Runners, int]]:
    """Methods of which the first so many tie for the best, in every design that is raced."""
    equal, tied = (0.0,) * k, (0.0, 0.0, *(4.0,) * (k - 2))
    found: dict[str, tuple[Runners, int]] = {
        "Gaussian": (OwnRunners(equal), k),
        "unequal sd": (OwnRunners(equal, UNEQUAL, SHARES), k),
    }
    if k > 2:
        found["two tied, unequal sd"] = (OwnRunners(tied, UNEQUAL, SHARES), 2)
    found |= {
        "groups": (OwnRunners(equal, groups=(4, 12)), k),
        "groups, unequal sd": (OwnRunners(equal, UNEQUAL, SHARES, groups=(4, 12)), k),
        "common test cases": (CommonRunners(equal, of_cases=5.0), k),
        "common, cases alone": (CommonRunners(equal, of_sets=0.0, of_cases=2.0), k),
        "common, unequal sd": (CommonRunners(equal, of_cases=5.0, spread=UNEQUAL), k),
        "common, 12 groups": (CommonRunners(equal, of_cases=2.0, cases=12), k),
        "skewed": (OwnRunners(equal, skewed=True), k),
    }
    return found


def _false_word(k: int, name: str, effort: Effort, rng: Generator) -> Finding:
    runners, best = fields(k)[name]
    is_common = isinstance(runners, CommonRunners)
    count = _enough(k, effort, is_common=is_common)
    races = Races(runners, chunk=1000 // k if is_common else CHUNK)
    rate = 100 * float(races.run(count, rng).is_false(best).mean())
    what = "skewed training sets" if name == "skewed" else "any false word"
    return Finding(f"race until settled, {what}", f"k = {k}, {name}", rate, count)


def _enough(methods: int, effort: Effort, *, is_common: bool) -> int:
    """Races to run: the fewer the longer they take."""
    if methods == 2:
        return effort.few if is_common else effort.many
    if methods == 5:
        return effort.few if is_common else effort.some
    return effort.least // (2 if is_common and methods == 20 else 1)


def _jobs(methods: int, ahead: float, effort: Effort, rng: Generator) -> list[object]:
    runners = OwnRunners((0.0, *(ahead,) * (methods - 1)))
    count = effort.some if methods < 20 else effort.least // 2
    found = Races(runners).run(count, rng)
    each, right = float(found.jobs.mean()) / methods, float(found.is_sole().mean())
    cells: list[object] = []
    for sure in (0.99, min(right, 0.999)):
        fixed = smallest_fixed(runners, sure, effort.many if methods < 20 else effort.some, rng)
        cells += ["> 48", "–"] if fixed is None else [str(fixed), 100 * each / fixed]
    return [f"k = {methods}, d = {ahead:g}", 100 * right, each, 100 * each / 32, *cells]


def at_the_margin(amount: float) -> dict[str, Runners]:
    """Methods that are worse than the first by just the margin."""
    behind = {
        "k = 2": (0.0, amount),
        "k = 5": (0.0, *(amount,) * 4),
        "k = 5, three far behind": (0.0, amount, *(amount + 2,) * 3),
        "k = 20": (0.0, *(amount,) * 19),
    }
    found: dict[str, Runners] = {name: OwnRunners(means) for name, means in behind.items()}
    found["k = 5, groups"] = OwnRunners(behind["k = 5"], groups=(4, 12))
    found["k = 5, common test cases"] = CommonRunners(behind["k = 5"], of_cases=5.0)
    return found


def _wrong_equivalence(name: str, amount: float, effort: Effort, rng: Generator) -> Finding:
    runners = at_the_margin(amount)[name]
    count = effort.few if len(runners.means) < 20 else effort.least // 2
    rate = 100 * float(Races(runners, amount=amount, chunk=200).run(count, rng).equivalent.mean())
    return Finding("race until settled, wrong equivalence", f"{name}, margin {amount:g} sd", rate, count)


def _told(difference: float, effort: Effort, rng: Generator) -> list[object]:
    share, median = settled_by_more(difference, 8, effort.least // 2, rng)
    return [f"d = {difference:g}", 100 * share, median]


if __name__ == "__main__":
    import sys

    sys.stdout.write(until_settled(np.random.default_rng(1996), Effort()).text() + "\n")
