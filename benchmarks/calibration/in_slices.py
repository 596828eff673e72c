"""Calibration of differences in slices: how often any of the intervals misses its true difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
from benchmarks.calibration.simulation import Generator
from redelve.seeds import generator
from redelve.stats.families import joined, pairs_of_means, pairs_of_sets
from redelve.stats.mean_squares import FloatArray
from redelve.stats.slices import SliceDifference, compare_slices, slices_of_squares

Shape = tuple[int, ...]
Pair = tuple[FloatArray, FloatArray]
CLUSTER, SETS = 4, 4


def _errors(first: float, second: float) -> Callable[[Generator, Shape], Pair]:
    """Right and wrong answers; a third of the cases are hard for both, so errors go together."""

    def draw(rng: Generator, shape: Shape) -> Pair:
        lift = np.where(rng.random(shape) < 1 / 3, 2.0, 0.5)
        return tuple((rng.random(shape) < lift * rate).astype(float) for rate in (first, second))  # type: ignore[return-value]

    return draw


def _squared(rng: Generator, shape: Shape) -> Pair:
    noise = rng.normal(size=shape)
    return np.square(noise - 0.5 * rng.normal(size=shape)), np.square(noise - 0.5 * rng.normal(size=shape))


def _one_noisy(rng: Generator, shape: Shape) -> Pair:
    noise = rng.normal(size=shape)
    return np.square(noise - 0.5 * rng.normal(size=shape)), np.square(noise)


def _answers(rng: Generator, shape: Shape) -> Pair:
    """Means of three answers to a question, whose difficulty both share."""
    hard = np.minimum(rng.beta(1, 4, size=shape), 1.0)
    return rng.binomial(3, hard) / 3, rng.binomial(3, hard) / 3


def _one_constant(rng: Generator, shape: Shape) -> Pair:
    """One model always has 0.9, the other 1 nine times in ten, else 0."""
    return np.full(shape, 0.9), (rng.random(shape) < 0.9).astype(float)


def _clustered(rng: Generator, shape: Shape) -> Pair:
    """Answers of which those to one passage are right or wrong together, half of the time."""
    whole = (*shape[:-1], shape[-1] // CLUSTER)
    found = []
    for _ in range(2):
        own, common = rng.random(shape) < 0.3, np.repeat(rng.random(whole) < 0.3, CLUSTER, axis=-1)
        found.append(
            np.where(np.repeat(rng.random(whole) < 0.5, CLUSTER, axis=-1), common, own).astype(float)
        )
    return found[0], found[1]


DRAWS: dict[str, tuple[Callable[[Generator, Shape], Pair], float]] = {
    "errors, 20 % each": (_errors(0.2, 0.2), 0.0),
    "errors, 5 % each": (_errors(0.05, 0.05), 0.0),
    "errors, 5 and 30 %": (_errors(0.05, 0.3), -0.25),
    "squared errors": (_squared, 0.0),
    "squared errors, one method noisier": (_one_noisy, 0.25),
    "means of three answers": (_answers, 0.0),
    "errors in clusters of four": (_clustered, 0.0),
    "scores, one model constant": (_one_constant, 0.0),
}
"""How losses of two methods are drawn, and their true difference."""


@dataclass(frozen=True)
class SliceSetting:
    """So many slices of so many cases each."""

    draw: str
    slices: int
    cases: int
    sets: int = 1

    @property
    def words(self) -> str:
        """The setting in a table."""
        design = "" if self.sets == 1 else f", {self.sets} training sets"
        return f"{self.draw}, {self.slices} slices of {self.cases}{design}"

    @property
    def is_quick(self) -> bool:
        """Whether a test of the package tries it."""
        return self.slices == 5 and self.cases == 80

    def compared(self, rng: Generator) -> tuple[SliceDifference, ...]:
        """The slices of one data set."""
        make, _ = DRAWS[self.draw]
        total = self.slices * self.cases
        whose = np.repeat(np.arange(self.slices), self.cases)
        if self.sets == 1:
            first, second = make(rng, (total,))
            members = [whose == number for number in range(self.slices)]
            groups = np.arange(total) // CLUSTER if "clusters" in self.draw else None
            return compare_slices(first, second, members, groups=groups)
        drawn = make(rng, (total,))
        learnt = [one + 0.3 * rng.normal(size=(self.sets, total)) for one in drawn]
        luck = 0.05 * rng.normal(size=(2, self.sets, self.slices))
        tables = [one + np.repeat(luck[k], self.cases, axis=1) for k, one in enumerate(learnt)]
        squares = [
            pairs_of_sets([list(one[:, whose == number]) for one in tables], ([0], [1]), "common")
            for number in range(self.slices)
        ]
        counts = [self.cases] * self.slices
        return slices_of_squares(joined(squares), counts, counts)


SETTINGS = tuple(
    SliceSetting(draw, slices, cases)
    for draw in DRAWS
    for slices, cases in ((5, 20), (5, 80), (5, 320), (20, 20), (20, 80), (20, 320))
) + tuple(
    SliceSetting(draw, slices, cases, SETS)
    for draw in ("errors, 20 % each", "squared errors")
    for slices, cases in ((5, 80), (20, 80))
)


def false_claims(setting: SliceSetting, count: int, rng: Generator) -> float:
    """Per cent of data sets in which any slice that is tested has an interval without its true difference."""
    truth = DRAWS[setting.draw][1]
    missed = 0
    for _ in range(count):
        found = [one for one in setting.compared(rng) if one.low is not None and one.high is not None]
        missed += any(not one.low <= truth <= one.high for one in found)  # type: ignore[operator]
    return 100 * missed / count


@dataclass(frozen=True)
class FoldSetting:
    """Slices of cross-validated cases: two linear fits see an input each, both equally useful."""

    cases: int
    slices: int
    folds: int = 10

    @property
    def words(self) -> str:
        """The setting in a table."""
        return f"{self.folds} folds of {self.cases} cases, {self.slices} slices"

    def compared(self, rng: Generator) -> tuple[SliceDifference, ...]:
        """The slices of one data set, which have nothing to do with what is learnt."""
        inputs = rng.normal(size=(self.cases, 2))
        target = inputs.sum(axis=1) + rng.normal(size=self.cases)
        fold, whose = np.arange(self.cases) % self.folds, rng.integers(self.slices, size=self.cases)
        losses = np.empty((2, self.cases))
        for number in range(self.folds):
            train, test = fold != number, fold == number
            for k in range(2):
                slope = inputs[train, k] @ target[train] / (inputs[train, k] @ inputs[train, k])
                losses[k, test] = np.square(target[test] - slope * inputs[test, k])
        factor = 1 / (self.folds - 1)
        squares = []
        for one in range(self.slices):
            there = [number for number in range(self.folds) if ((fold == number) & (whose == one)).any()]
            means = np.array(
                [[row[(fold == number) & (whose == one)].mean() for number in there] for row in losses]
            )
            squares.append(pairs_of_means(means, ([0], [1]), 1 / len(there) + factor))
        counts = np.bincount(whose, minlength=self.slices).tolist()
        return slices_of_squares(joined(squares), counts, counts)


FOLDED = tuple(FoldSetting(cases, slices) for cases in (200, 800) for slices in (2, 5))


def false_fold_claims(setting: FoldSetting, count: int, rng: Generator) -> float:
    """Per cent of data sets in which any slice that is tested is claimed."""
    return 100 * sum(any(one.worse for one in setting.compared(rng)) for _ in range(count)) / count


WORDS = """Per cent of data sets in which any of the simultaneous 95 % intervals of slices misses the true
difference there (nominal 5). Slices with fewer than 20 independent cases are not tested. Standard errors
{}."""


def slices_section(rng: Generator, effort: Effort) -> Section:
    """Slices of one sample of cases, and of several training sets."""
    count = effort.least
    rates = {setting: false_claims(setting, count, rng) for setting in SETTINGS}
    findings = tuple(
        Finding("level, any slice", setting.words, rate, count) for setting, rate in rates.items()
    )
    sizes = ((5, 20), (5, 80), (5, 320), (20, 20), (20, 80), (20, 320))
    keys = dict.fromkeys((one.draw, one.sets) for one in SETTINGS)
    rows = []
    for draw, sets in keys:
        design = draw if sets == 1 else f"{draw}, {sets} training sets"
        cells = [rates.get(SliceSetting(draw, *size, sets), "") for size in sizes]
        rows.append([design, *cells])
    head = ["losses", *(f"{slices} × {cases}" for slices, cases in sizes)]
    folded, more = folds_table(count)
    return Section("Slices", WORDS.format(margin(count)), f"{table(head, rows)}\n\n{folded}", findings + more)


def folds_table(count: int) -> tuple[str, tuple[Finding, ...]]:
    """Slices of folds, with random numbers of their own."""
    rng = generator("slices of folds")
    findings = tuple(
        Finding("level, any slice of folds", one.words, false_fold_claims(one, count, rng), count)
        for one in FOLDED
    )
    rows = [[one.where, one.percent] for one in findings]
    return table(["cross-validation, squared errors", "any claim"], rows), findings
