"""What the trials tell: δ, bias, coverage and cost of every way with standard errors, compared in pairs.

The unit of replication is the training set. Problems are strata; classifiers on the same training set are not
independent, so their mean counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from redelve.errors import StatisticsError
from redelve.performance import PerformanceGuess
from redelve.stats.balanced_errors import guess_error
from redelve.stats.mean_squares import FloatArray, f_p_value, t_quantile
from redelve.stats.multiple import AllPairs, BestGroup, best_group, compare_all
from redelve.studies.wcci.classifiers import SELECTION
from redelve.studies.wcci.guess_trials import Tried

BOUNDS = ("vc", "compression", "rademacher")
"""Ways that give upper bounds; not compared with guesses."""
TWIN = "kfold-naive"
"""A way whose guess is another one's, with another interval: not compared again."""

Strata = Mapping[str, FloatArray]
"""For each problem a number for each training set."""


@dataclass(frozen=True)
class Stratified:
    """A mean over problems, each as important as another, with its standard error."""

    mean: float
    standard_error: float
    degrees_of_freedom: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval by the t distribution."""
        width = float(t_quantile(float(self.degrees_of_freedom), 0.95)) * self.standard_error
        return self.mean - width, self.mean + width


def stratified_mean(strata: Strata) -> Stratified:
    """Mean of the problems' means; training sets within a problem are independent, problems are fixed.

    >>> stratified_mean({"a": np.array([1.0, 3.0]), "b": np.array([4.0, 4.0])})
    Stratified(mean=3.0, standard_error=0.5, degrees_of_freedom=2)
    """
    if not strata or min(map(len, strata.values())) < 2:
        raise StatisticsError("a standard error needs two training sets of every problem at least")
    means = [float(values.mean()) for values in strata.values()]
    variances = [float(values.var(ddof=1)) / len(values) for values in strata.values()]
    return Stratified(
        float(np.mean(means)),
        sqrt(sum(variances)) / len(strata),
        sum(len(values) - 1 for values in strata.values()),
    )


@dataclass(frozen=True)
class WayFinding:
    """How a way does: mean δ, bias (guess − truth), coverage and mean width of its intervals, cost."""

    way: str
    delta: Stratified
    bias: Stratified
    coverage: Stratified | None
    width: float | None
    fits: float
    seconds: float
    trials: int
    by_problem: Mapping[str, float]
    """The mean δ on each problem."""
    by_classifier: Mapping[str, float]


@dataclass(frozen=True)
class BoundFinding:
    """How a bound does where it applies: how often it tells nothing, and how often the truth is below it."""

    way: str
    trials: int
    vacuous: int
    held: int
    excess: float
    """Mean of bound − truth, with bounds above 1 taken as 1."""


@dataclass(frozen=True)
class PairedDifference:
    """Difference of two ways' mean δ on the same trials, first minus second, by the t distribution."""

    difference: float
    standard_error: float
    p_value: float | None
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True)
class WayFindings:
    """Everything that is told of a set of trials."""

    ways: tuple[WayFinding, ...]
    bounds: tuple[BoundFinding, ...]
    pairs: AllPairs
    best: BestGroup
    problems: tuple[str, ...]
    classifiers: tuple[str, ...]
    instances: int

    def way(self, name: str) -> WayFinding:
        """One way's finding."""
        return next(one for one in self.ways if one.way == name)


@dataclass(frozen=True)
class Study:
    """Guesses for single classifiers, and for the best of several; either may be left out."""

    single: WayFindings | None
    selection: WayFindings | None
    noise: float
    """The mean σ of the true BERs, which even a perfect guess would miss by."""


def study_of(trials: Iterable[Tried]) -> Study:
    """The findings of all trials."""
    every = list(trials)
    single = [one for one in every if one.task.classifier != SELECTION]
    chosen = [one for one in every if one.task.classifier == SELECTION]
    noise = float(np.mean([one.sigma for one in every]))
    return Study(find(single) if single else None, find(chosen) if chosen else None, noise)


def find(trials: Sequence[Tried]) -> WayFindings:
    """What trials with the same ways tell of them."""
    names = [guess.way for guess in trials[0].guesses]
    guessing = [name for name in names if not name.startswith(BOUNDS)]
    deltas = {name: _strata(trials, name, _delta) for name in guessing if not name.startswith(TWIN)}
    pairs = compare_all(deltas, compare)
    return WayFindings(
        tuple(_way(trials, name) for name in guessing),
        tuple(_bound(trials, name) for name in names if name.startswith(BOUNDS)),
        pairs,
        best_group(pairs),
        _names(trials, "problem"),
        _names(trials, "classifier"),
        len({one.task.instance for one in trials}),
    )


def _names(trials: Sequence[Tried], part: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(getattr(one.task, part) for one in trials))


def compare(first: Strata, second: Strata) -> PairedDifference:
    """Paired by training set: the stratified mean of the differences."""
    found = stratified_mean({name: values - second[name] for name, values in first.items()})
    if found.standard_error == 0:
        return PairedDifference(found.mean, 0.0, None)
    t = found.mean / found.standard_error
    return PairedDifference(
        found.mean, found.standard_error, float(f_p_value(t * t, 1.0, float(found.degrees_of_freedom)))
    )


def _guess(trial: Tried, way: str) -> PerformanceGuess:
    return next(guess for guess in trial.guesses if guess.way == way)


def _delta(guess: PerformanceGuess, truth: float) -> float:
    assert guess.value is not None
    return guess_error(truth, guess.value)


def _bias(guess: PerformanceGuess, truth: float) -> float:
    assert guess.value is not None
    return guess.value - truth


def _covers(guess: PerformanceGuess, truth: float) -> float:
    return float(bool(guess.covers(truth)))


def _strata(
    trials: Sequence[Tried], way: str, number: Callable[[PerformanceGuess, float], float]
) -> dict[str, FloatArray]:
    """For each problem and training set the mean over classifiers."""
    found: dict[str, dict[int, list[float]]] = {}
    for trial in trials:
        cell = found.setdefault(trial.task.problem, {}).setdefault(trial.task.instance, [])
        cell.append(number(_guess(trial, way), trial.truth))
    return {
        problem: np.array([np.mean(values) for _, values in sorted(cells.items())])
        for problem, cells in found.items()
    }


def _way(trials: Sequence[Tried], way: str) -> WayFinding:
    guesses = [_guess(trial, way) for trial in trials]
    ends = [guess.interval for guess in guesses]
    widths = [high - low for low, high in (one for one in ends if one is not None)]
    complete = len(widths) == len(guesses)
    deltas = _strata(trials, way, _delta)
    return WayFinding(
        way,
        stratified_mean(deltas),
        stratified_mean(_strata(trials, way, _bias)),
        stratified_mean(_strata(trials, way, _covers)) if complete else None,
        float(np.mean(widths)) if complete else None,
        float(np.mean([guess.fits for guess in guesses])),
        float(np.mean([guess.seconds for guess in guesses])),
        len(trials),
        {problem: float(values.mean()) for problem, values in deltas.items()},
        _by_classifier(trials, way),
    )


def _by_classifier(trials: Sequence[Tried], way: str) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for trial in trials:
        found.setdefault(trial.task.classifier, []).append(_delta(_guess(trial, way), trial.truth))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _bound(trials: Sequence[Tried], way: str) -> BoundFinding:
    pairs = [(_guess(trial, way), trial.truth) for trial in trials]
    there = [(guess, truth) for guess, truth in pairs if guess.high is not None]
    excess = [guess.high - truth for guess, truth in there if guess.high is not None]
    return BoundFinding(
        way,
        len(there),
        sum(bool(guess.notes) for guess, _ in there),
        sum(bool(guess.covers(truth)) for guess, truth in there),
        float(np.mean(excess)) if excess else float("nan"),
    )
