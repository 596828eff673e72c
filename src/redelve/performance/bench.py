"""Where fits are made: methods, known cases, a measure; every set of splits is worked on once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Truth
from redelve.errors import SpecError
from redelve.methods.adapters.array_cases import FittedToArrays
from redelve.methods.contract import Method, Predictor
from redelve.model import Instance
from redelve.model.dataset import Numbers, Rows
from redelve.performance.guesses import PerformanceGuess
from redelve.performance.known_cases import FOLDS, ChoosingCases, KnownCases, choose, learn
from redelve.performance.measures import Measure, classes_of, part_of
from redelve.performance.splits import Splitter
from redelve.registry import value_told
from redelve.run.progress import FitsDone
from redelve.seeds import seed
from redelve.stats.estimates import Interval, check_level

Progress = FitsDone
"""Is told a model's name, and how many of how many fits of a set of splits are done."""


@dataclass(frozen=True, eq=False)
class Round:
    """What a set of splits gave: the losses of the tested cases of each, and the processor's time."""

    splits: tuple[Instance, ...]
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


MOST_JOBS = 10_000


@dataclass(frozen=True, eq=False)
class BenchSettings:
    """How guesses are made: the seed of all splits and fits, how many processes, the level of intervals.

    `progress` is told a model's name, and how many of how many fits of a set of splits are done.
    """

    seed: int = 0
    jobs: int = 1
    level: float = 0.95
    progress: Progress | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 1 <= self.jobs <= MOST_JOBS:
            raise SpecError(
                f"jobs is the number of processes, 1 or more, and at most {MOST_JOBS:,}: got {self.jobs}"
            )
        if not isinstance(self.seed, int | np.integer):
            raise SpecError(f"the seed is a whole number: got {value_told(self.seed)}")
        object.__setattr__(self, "seed", int(self.seed))


@dataclass(frozen=True, eq=False)
class Bench:
    """Methods with all known cases; of several methods, the best by cross-validation is what learns."""

    methods: Mapping[str, Method]
    cases: KnownCases
    measure: Measure
    settings: BenchSettings
    groups: Rows | None = None
    """The group of each case, numbered from 0, where cases belong to groups."""
    _rounds: dict[str, Round] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The method's name, or how many there are to choose from."""
        return next(iter(self.methods)) if len(self.methods) == 1 else f"best of {len(self.methods)}"

    @property
    def fits_each(self) -> int:
        """How often a method is trained for one split; in choosing, each on every fold, then the best."""
        return 1 if len(self.methods) == 1 else len(self.methods) * FOLDS + 1

    @cached_property
    def candidates(self) -> tuple[Bench, ...]:
        """Where there are several methods, a bench for each."""
        if len(self.methods) == 1:
            return ()
        return tuple(replace(self, methods={name: one}, _rounds={}) for name, one in self.methods.items())

    @property
    def truth(self) -> Truth:
        """The true target of every case."""
        return self.cases.truth

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
        return classes_of(self.truth)

    @cached_property
    def weights(self) -> Numbers:
        """What each case counts in the measure."""
        return self.measure.weights(self.classes)

    @cached_property
    def splitter(self) -> Splitter:
        """Draws the splits, which depend on classes, groups and seed alone."""
        return Splitter(self.classes, self.settings.seed, self.truth.target.levels, self.groups)

    def folds(self, count: int, repetition: int = 0) -> Round:
        """Losses by k-fold cross-validation."""
        return self.round(f"folds {count} {repetition}", self.splitter.folds(count, repetition))

    def round(self, name: str, splits: Sequence[Instance]) -> Round:
        """Train and test by every split; asked for again, what was found is told again."""
        if name not in self._rounds:
            seeds = [seed("predict", self.settings.seed, name, number) for number in range(len(splits))]
            work = [(self, split, one) for split, one in zip(splits, seeds, strict=True)]
            done = (_tested(*one) for one in work) if self.settings.jobs == 1 else self._shared(work)
            found, seconds = zip(*self._told(done, len(work)), strict=True)
            losses = found
            if not self.measure.of_cases:
                tested = [split.testing for split in splits]
                losses = tuple(self.measure.together(self.truth, tested, found, self.groups))
            self._rounds[name] = Round(tuple(splits), losses, sum(seconds), self.fits_each)
        return self._rounds[name]

    def losses_seen(self) -> Numbers | None:
        """The losses of test cases in splits made so far, each case once at most; None without such."""
        every = [done.losses for one in (self, *self.candidates) for done in one._rounds.values()]
        each = [np.concatenate(losses) for losses in every if sum(map(len, losses)) <= self.count]
        return max(each, key=len, default=None)

    def _shared(self, work: Sequence[tuple[Bench, Instance, int]]) -> Iterable[tuple[Numbers, float]]:
        from sklearn.utils.parallel import Parallel, delayed

        bare = replace(self, settings=replace(self.settings, progress=None), _rounds={})
        found: Iterable[tuple[Numbers, float]] = Parallel(n_jobs=self.settings.jobs, return_as="generator")(
            delayed(_tested)(bare, split, one) for _, split, one in work
        )
        return found

    def _told(self, done: Iterable[tuple[Numbers, float]], total: int) -> Iterator[tuple[Numbers, float]]:
        """The same, told to whom it may concern as it comes."""
        for number, one in enumerate(done, 1):
            yield one
            if self.settings.progress is not None:
                self.settings.progress(self.name, number, total)

    def learn(self, rows: Rows, number: int) -> Predictor:
        """What is learnt from these cases with this seed; of several methods the best is chosen by them."""
        name = next(iter(self.methods))
        if len(self.methods) > 1:
            name = choose(self.methods, self.cases, self.measure, ChoosingCases(rows, number, self.groups))
            number = seed("best", number)
        return learn(name, self.methods[name], self.cases, rows, number)

    def answer(self, predictor: Predictor, rows: Rows) -> Answer:
        """The answer for these cases."""
        return predictor.predict(self.cases.testing(rows, probabilities=self.measure.of_probabilities))

    def relabelled(self, codes: Rows) -> Bench | None:
        """The same with other classes for all cases; None where that cannot be, as in choosing."""
        cases = None if self.candidates else self.cases.relabelled(codes)
        return None if cases is None else replace(self, cases=cases, _rounds={})

    @cached_property
    def trained(self) -> TrainedModel:
        """The model trained on all cases, with what it loses on them."""
        every = np.arange(self.count)
        started = time.process_time()
        predictor = self.learn(every, seed("predict", self.settings.seed, "all"))
        answer = self.answer(predictor, every)
        seconds = time.process_time() - started
        return TrainedModel(predictor, answer, self.measure.losses(self.truth, answer), seconds)

    def value(self, losses: Numbers, rows: Rows | None = None) -> float:
        """The measure of these cases' losses, of all cases if none are named."""
        return self.measure.value(losses, self.classes if rows is None else self.classes[rows])

    def guess(
        self, way: str, finding: FitFinding, rounds: Sequence[Round] = (), more: int = 0
    ) -> PerformanceGuess:
        """The finding within what the loss can be, with its cost; `more` are fits beside the rounds.

        Ways work with losses, and build on each other's: `shown` turns what comes out, once.
        """
        seconds = sum(one.seconds for one in rounds) + (self.trained.seconds if more else 0.0)
        clip = partial(self.measure.clip, target=self.truth.target)
        low, high = map(clip, finding.interval) if finding.interval else (None, None)
        return PerformanceGuess(
            way,
            None if finding.value is None else clip(finding.value),
            low,
            high,
            finding.standard_error,
            finding.source,
            sum(one.fits for one in rounds) + more * self.fits_each,
            seconds,
            finding.notes,
        )

    def shown(self, guess: PerformanceGuess) -> PerformanceGuess:
        """A guess of the loss as one of the metric that users are shown: 0.9 for 0.1 of an accuracy."""
        turned = self.measure.shown_as.metric_value
        ends = guess.interval
        low, high = sorted(map(turned, ends)) if ends else (guess.low, guess.high)
        return replace(guess, value=None if guess.value is None else turned(guess.value), low=low, high=high)


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """What was learnt from all cases, its answer for them and what they lose."""

    predictor: Predictor
    answer: Answer
    losses: Numbers
    seconds: float

    @property
    def estimator(self) -> Any:
        """The fitted estimator, all steps of it; None where another method learnt."""
        return self.predictor.model if isinstance(self.predictor, FittedToArrays) else None

    @property
    def model(self) -> Any:
        """The last step of the fitted estimator."""
        steps = getattr(self.estimator, "steps", None)
        return steps[-1][1] if steps else self.estimator


Tested = Any
"""The losses of a split's test cases, or of a metric that is no mean of cases what it judges."""


def _tested(bench: Bench, split: Instance, number: int) -> tuple[Tested, float]:
    started = time.process_time()
    answer = bench.answer(bench.learn(split.training, number), split.testing)
    seconds = time.process_time() - started
    if not bench.measure.of_cases:
        return bench.measure.part(answer), seconds
    return bench.measure.losses(part_of(bench.truth, split.testing), answer), seconds
