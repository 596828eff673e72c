"""Calibration of races that end when they are settled: false words over all looks, jobs used, equivalence.

`python -m benchmarks.calibration.until_settled` prints this section alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
from benchmarks.calibration.simulation import Generator
from redelve.model.dataset import Rows
from redelve.stats.families import PairFamily, PairSquares, Places, Truths, family_of, unmoderated
from redelve.stats.mean_squares import FloatArray
from redelve.stats.sequential import (
    decide,
    directed,
    family_at_look,
    one_sided,
    planned_looks,
    sets_needed,
)

ALPHA = 0.05
TEST_CASES = 100
CHUNK = 500
UNEQUAL = (0.3, 0.6, 1.0, 2.0, 4.0)
SHARES = (0.9, 0.7, 0.5, 0.2, 0.05)


@dataclass(frozen=True)
class Runners:
    """Methods in a race: their expected losses, in standard deviations of a difference of two of them.

    Each training set moves the loss of each method by itself, by a standard deviation of `spread`/√2, of
    which test cases are responsible for the share `of_cases` in squares. With `skewed` training sets move the
    first method alone, by one less an exponential: most make it look a little worse than it is.
    """

    means: tuple[float, ...]
    spread: tuple[float, ...] = (1.0,)
    of_cases: tuple[float, ...] = (0.5,)
    skewed: bool = False

    def draw(self, count: int, sets: int, rng: Generator) -> tuple[FloatArray, FloatArray]:
        """Mean losses of [data set, method, training set], and what test cases add to their variance."""
        k = len(self.means)
        spread = np.resize(self.spread, k) / np.sqrt(2)
        within = np.resize(self.of_cases, k) * spread**2
        losses = np.array(self.means)[:, None] + spread[:, None] * rng.normal(size=(count, k, sets))
        if self.skewed:
            losses[:, 1:] = np.array(self.means)[1:, None] + 0.01 * rng.normal(size=(count, k - 1, sets))
            losses[:, 0] = self.means[0] + 1 - rng.exponential(size=(count, sets))
            within = np.full(k, 1e-4)
        return losses, np.broadcast_to(within, (count, k))


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

    def run(self, count: int, rng: Generator) -> RaceOutcomes:
        """Many of them."""
        parts = [min(CHUNK, count - start) for start in range(0, count, CHUNK)]
        return RaceOutcomes.joined([self._run(part, rng) for part in parts])

    def _run(self, count: int, rng: Generator) -> RaceOutcomes:
        outcomes = RaceOutcomes.start(count, len(self.runners.means))
        data = self.runners.draw(count, self.sets, rng)
        running, before = np.ones(count, dtype=np.bool_), 0
        for now in planned_looks(self.sets):
            left = outcomes.stays.sum(axis=1)
            outcomes.jobs[running] += ((now - before) * left)[running]
            outcomes.sets[running] = now
            for methods in np.unique(left[running]):
                rows = np.flatnonzero(running & (left == methods))
                running[rows] = ~self._look(outcomes, data, rows, now, rng)
            before = now
        return outcomes

    def _look(
        self,
        outcomes: RaceOutcomes,
        data: tuple[FloatArray, FloatArray],
        rows: Rows,
        now: int,
        rng: Generator,
    ) -> Truths:
        """One look at races with equally many methods left; whether each is settled."""
        names = np.nonzero(outcomes.stays[rows])[1].reshape(len(rows), -1)
        methods = names.shape[1]
        seen = data[0][rows[:, None], names, :now]
        family, places = _family(seen, data[1][rows[:, None], names], rng)
        level = ALPHA / len(planned_looks(self.sets))
        within = None if self.amount is None else within_margin(seen, self.amount)
        made = decide(directed(family, places, methods), level, within)
        outcomes.stays[rows[:, None], names] = made.stays
        outcomes.equivalent[rows] = made.is_equivalent
        truth = np.array(self.runners.means)[names]
        true = truth[:, places[0]] - truth[:, places[1]]
        wrong = (family.p_values() < level) & (true * family.squares.differences <= 0)
        outcomes.wrong_pairs[rows] |= wrong.any(axis=1)
        return made.is_settled


def squares_of(
    losses: FloatArray, within: FloatArray, rng: Generator
) -> tuple[PairSquares, tuple[list[int], list[int]]]:
    """What `stats.families` would find of all pairs, for [data set, method, training set]."""
    count, k, sets = losses.shape
    first, second = np.triu_indices(k, 1)
    differences = losses[:, first] - losses[:, second]
    df = sets * (TEST_CASES - 1)
    residual = (within[:, first] + within[:, second]) * rng.chisquare(df, size=(count, len(first))) / df
    alike = np.ones((count, len(first)))
    means, squares = differences.mean(axis=-1), differences.var(axis=-1, ddof=1)
    found = PairSquares(means, squares, residual, sets * alike, TEST_CASES * alike)
    return found, (first.tolist(), second.tolist())


def _family(losses: FloatArray, within: FloatArray, rng: Generator) -> tuple[PairFamily, Places]:
    squares, places = squares_of(losses, within, rng)
    return family_at_look(squares, losses.shape[1]), places


def within_margin(losses: FloatArray, amount: float) -> FloatArray:
    """p[…, j, i] against "i is worse than j by the amount or more", each pair by itself."""
    differences = losses[:, None, :, :] - losses[:, :, None, :] - amount
    alike = np.ones(differences.shape[:-1])
    squares = PairSquares(
        differences.mean(axis=-1), differences.var(axis=-1, ddof=1), alike, losses.shape[-1] * alike, alike
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return one_sided(squares.differences, unmoderated(squares).single_p_values())


def fixed_design(runners: Runners, sets: int, count: int, rng: Generator) -> float:
    """How often a fixed number of training sets shows the first method to be better than all others."""
    losses, within = runners.draw(count, sets, rng)
    squares, (first, _) = squares_of(losses, within, rng)
    p_values = family_of(squares, len(runners.means)).p_values()
    ahead = (np.array(first) == 0) & (p_values < ALPHA) & (squares.differences < 0)
    return float(np.mean(ahead.sum(axis=1) == len(runners.means) - 1))


def smallest_fixed(runners: Runners, count: int, rng: Generator) -> int:
    """The smallest of 8, 16 and 32 training sets that shows the winner in 99 % of data sets."""
    return next((n for n in (8, 16) if fixed_design(runners, n, count, rng) >= 0.99), 32)


def settled_by_more(difference: float, sets: int, count: int, rng: Generator) -> tuple[float, float]:
    """Of races of two methods open after `sets`, the share that the number told would settle; its median."""
    races = Races(Runners((0.0, difference)), sets)
    level = ALPHA / len(planned_looks(sets))
    settled, told = [], []
    for _ in range(count):
        losses = races.runners.draw(1, sets, rng)[0]
        squares, _ = squares_of(losses, np.full((1, 2), 0.25), rng)
        if unmoderated(squares).p_values()[0, 0] < level:
            continue
        gap, between = abs(float(squares.differences[0, 0])), float(squares.between[0, 0])
        needed = sets_needed(gap, (between, 0.0), level / 2)
        told.append(needed or np.inf)
        more = min(needed or 10_000, 10_000)
        again = races.runners.draw(1, more, rng)[0]
        fresh, _ = squares_of(again, np.full((1, 2), 0.25), rng)
        settled.append(bool(unmoderated(fresh).p_values()[0, 0] < level))
    return (float(np.mean(settled)), float(np.median(told))) if told else (np.nan, np.nan)


WORDS = """
Methods race until one is left, or all that are left are equivalent within the margin: looks after 4, 8, 16
and 32 training sets, 5 % shared by the looks. Differences d are in standard deviations (over training sets)
of the difference of two methods. *False* is a method dropped that ties with the best, or a difference claimed
that is none, at any look. *Jobs* are those of the race over those of 32 training sets for all methods, and
over those of the smallest of 8, 16 and 32 sets that shows the winner in 99 % of experiments by a report's
usual claims. *Wrong equivalence* is the word where the best and some other that is left differ by just the
margin. *Skewed*: training sets move the best method by one less an exponential, the others hardly; nothing
that was tried cures this. A fresh experiment with as many sets as the report says would settle the race did
so in the share of cases told last, with two methods and 8 sets, where 80 % is meant."""
SIZES = (2, 5, 20)


def until_settled(rng: Generator, effort: Effort) -> Section:
    """Races that end when they are settled."""
    false = [*_false_words(rng, effort)]
    jobs = [_jobs(k, d, effort, rng) for k in SIZES for d in (1.0, 2.0, 4.0)]
    equal = [*_wrong_equivalences(rng, effort)]
    more = [(d, *settled_by_more(d, 8, effort.least // 2, rng)) for d in (0.3, 0.5, 1.0)]
    body = [
        table(["any false word", "%", "data sets"], [[f.where, f.percent, f"{f.count:,}"] for f in false]),
        table(
            ["one winner", "right, %", "sets a method", "jobs of 32 sets, %", "fixed sets", "of its jobs, %"],
            jobs,
        ),
        table(["wrong equivalence", "%", "data sets"], [[f.where, f.percent, f"{f.count:,}"] for f in equal]),
        table(
            ["told to settle it", "settled, %", "median sets told"],
            [[f"d = {d:g}", 100 * share, median] for d, share, median in more],
        ),
    ]
    words = f"{WORDS} Standard errors are {margin(effort.few)} at 5 % of {effort.few:,}."
    return Section("Races until settled", words, "\n\n".join(body), (*false, *equal))


def _false_words(rng: Generator, effort: Effort) -> list[Finding]:
    found = []
    for k in SIZES:
        count = effort.few if k < 20 else effort.least
        equal, tied = (0.0,) * k, (0.0, 0.0, *(4.0,) * (k - 2))
        settings = {
            "Gaussian": (Runners(equal), k),
            "unequal sd": (Runners(equal, UNEQUAL, SHARES), k),
            **({} if k == 2 else {"two tied, unequal sd": (Runners(tied, UNEQUAL, SHARES), 2)}),
            "skewed": (Runners(equal, skewed=True), k),
        }
        for name, (runners, best) in settings.items():
            rate = 100 * float(Races(runners).run(count, rng).is_false(best).mean())
            found.append(Finding("race until settled, level", f"k = {k}, {name}", rate, count))
    return found


def _jobs(methods: int, ahead: float, effort: Effort, rng: Generator) -> list[object]:
    runners = Runners((0.0, *(ahead,) * (methods - 1)))
    count = effort.least if methods < 20 else effort.least // 2
    found, fixed = Races(runners).run(count, rng), smallest_fixed(runners, count, rng)
    each = float(found.jobs.mean()) / methods
    right = 100 * float(found.is_sole().mean())
    return [f"k = {methods}, d = {ahead:g}", right, each, 100 * each / 32, str(fixed), 100 * each / fixed]


def _wrong_equivalences(rng: Generator, effort: Effort) -> list[Finding]:
    found = []
    for amount in (0.5, 1.0, 2.0):
        fields = {
            "k = 2": (0.0, amount),
            "k = 5": (0.0, *(amount,) * 4),
            "k = 5, three far behind": (0.0, amount, *(amount + 2,) * 3),
            "k = 20": (0.0, *(amount,) * 19),
        }
        for name, means in fields.items():
            count = effort.few if len(means) < 20 else effort.least // 2
            rate = 100 * float(Races(Runners(means), amount=amount).run(count, rng).equivalent.mean())
            found.append(
                Finding("race until settled, equivalence", f"{name}, margin {amount:g} sd", rate, count)
            )
    return found


if __name__ == "__main__":
    import sys

    sys.stdout.write(until_settled(np.random.default_rng(1996), Effort()).text() + "\n")
