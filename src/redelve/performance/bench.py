"""Where fits are made: one learner, its cases, a measure; every set of splits is worked on once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Truth
from redelve.errors import PredictionError, RedelveError
from redelve.performance.guesses import PerformanceGuess
from redelve.performance.learners import Learner, Learnt
from redelve.performance.measures import Measure, Numbers, Rows
from redelve.performance.splits import CaseSplit, Splitter
from redelve.seeds import seed
from redelve.stats.estimates import Interval

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Round:
    """What a set of splits gave: the losses of the tested cases of each, and the processor's time."""

    splits: tuple[CaseSplit, ...]
    losses: tuple[Numbers, ...]
    seconds: float
    fits_each: int = 1

    @property
    def fits(self) -> int:
        """How often a model was trained."""
        return len(self.splits) * self.fits_each

    def by_case(self, count: int) -> Numbers:
        """A loss for every case, of splits that test each once."""
        found = np.full(count, np.nan)
        for split, losses in zip(self.splits, self.losses, strict=True):
            found[split.testing] = losses
        return found


@dataclass(frozen=True)
class FitFinding:
    """A value with an interval (or a standard error) and where that comes from, before it is a guess."""

    value: float | None
    interval: Interval | None
    source: str
    standard_error: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class BenchSettings:
    """How guesses are made: the seed of all splits and fits, how many processes, the level of intervals.

    `progress` is told a model's name, and how many of how many fits of a set of splits are done.
    """

    seed: int = 0
    jobs: int = 1
    level: float = 0.95
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class Bench:
    """A learner with all its cases; `candidates` are benches of the models it chooses among, if it does."""

    learner: Learner
    truth: Truth
    measure: Measure
    settings: BenchSettings
    candidates: tuple[Bench, ...] = ()
    _rounds: dict[str, Round] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        """How many cases there are."""
        return len(self.truth)

    @property
    def level(self) -> float:
        """The level of intervals."""
        return self.settings.level

    @cached_property
    def classes(self) -> Rows:
        """The class of each case; all the same where numbers are predicted."""
        if self.truth.target.kind == "categorical":
            return self.truth.level_indexes
        return np.zeros(self.count, dtype=np.int64)

    @cached_property
    def weights(self) -> Numbers:
        """What each case counts in the measure."""
        return self.measure.weights(self.classes)

    @cached_property
    def splitter(self) -> Splitter:
        """Draws the splits, which depend on classes and seed alone."""
        return Splitter(self.classes, self.settings.seed, self.truth.target.levels)

    def folds(self, count: int, repetition: int = 0) -> Round:
        """Losses by k-fold cross-validation."""
        return self.round(f"folds {count} {repetition}", self.splitter.folds(count, repetition))

    def round(self, name: str, splits: Sequence[CaseSplit]) -> Round:
        """Train and test by every split; asked for again, what was found is told again."""
        if name not in self._rounds:
            seeds = [seed("predict", self.settings.seed, name, number) for number in range(len(splits))]
            work = [(self, split, one) for split, one in zip(splits, seeds, strict=True)]
            done = (_tested(*one) for one in work) if self.settings.jobs == 1 else self._shared(work)
            losses, seconds = zip(*self._told(done, len(work)), strict=True)
            self._rounds[name] = Round(tuple(splits), losses, sum(seconds), self.learner.fits_each)
        return self._rounds[name]

    def _shared(self, work: Sequence[tuple[Bench, CaseSplit, int]]) -> Iterable[tuple[Numbers, float]]:
        from sklearn.utils.parallel import Parallel, delayed

        bare = Bench(self.learner, self.truth, self.measure, replace(self.settings, progress=None))
        found: Iterable[tuple[Numbers, float]] = Parallel(n_jobs=self.settings.jobs, return_as="generator")(
            delayed(_tested)(bare, split, one) for _, split, one in work
        )
        return found

    def _told(self, done: Iterable[tuple[Numbers, float]], total: int) -> Iterator[tuple[Numbers, float]]:
        """The same, told to whom it may concern as it comes."""
        for number, one in enumerate(done, 1):
            yield one
            if self.settings.progress is not None:
                self.settings.progress(self.learner.name, number, total)

    @cached_property
    def trained(self) -> TrainedModel:
        """The model trained on all cases, with what it loses on them."""
        every = np.arange(self.count)
        started = time.process_time()
        learnt = learn(self.learner, every, seed("predict", self.settings.seed, "all"))
        answer = learnt.answer(every, probabilities=self.measure.of_probabilities)
        seconds = time.process_time() - started
        return TrainedModel(learnt, answer, self.measure.losses(self.truth, answer), seconds)

    def truths(self, rows: Rows) -> Truth:
        """The true targets of these cases."""
        return Truth(self.truth.target, self.truth.values[rows], self.truth.censoring[rows])

    def value(self, losses: Numbers, rows: Rows | None = None) -> float:
        """The measure of these cases' losses, of all cases if none are named."""
        return self.measure.value(losses, self.classes if rows is None else self.classes[rows])

    def guess(
        self, way: str, finding: FitFinding, rounds: Sequence[Round] = (), more: int = 0
    ) -> PerformanceGuess:
        """The finding within what the measure can be, with its cost; `more` are fits beside the rounds."""
        seconds = sum(one.seconds for one in rounds) + (self.trained.seconds if more else 0.0)
        low, high = finding.interval or (None, None)
        clip = self.measure.clip
        return PerformanceGuess(
            way,
            None if finding.value is None else clip(finding.value),
            None if low is None else clip(low),
            None if high is None else clip(high),
            finding.standard_error,
            finding.source,
            sum(one.fits for one in rounds) + more * self.learner.fits_each,
            seconds,
            finding.notes,
        )


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """The model trained on all cases, its answer for them and what they lose."""

    learnt: Learnt
    answer: Answer
    losses: Numbers
    seconds: float

    @property
    def model(self) -> Any:
        """The last step of the fitted model."""
        steps = getattr(self.learnt.model, "steps", None)
        return steps[-1][1] if steps else self.learnt.model


def learn(learner: Learner, rows: Rows, number: int) -> Learnt:
    """Let the learner learn; what goes wrong is told with its name."""
    try:
        return learner.learn(rows, number)
    except RedelveError:
        raise
    except Exception as error:
        raise PredictionError(
            f"{learner.name} failed when trained on {len(rows)} cases: {type(error).__name__}: {error}"
        ) from error


def _tested(bench: Bench, split: CaseSplit, number: int) -> tuple[Numbers, float]:
    started = time.process_time()
    learnt = learn(bench.learner, split.training, number)
    answer = learnt.answer(split.testing, probabilities=bench.measure.of_probabilities)
    seconds = time.process_time() - started
    return bench.measure.losses(bench.truths(split.testing), answer), seconds
