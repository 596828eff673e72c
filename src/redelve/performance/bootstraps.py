"""Guesses from bootstrap samples: out of bag, .632 and .632+ (Efron and Tibshirani 1997).

Put together with repeated cross-validation, one of them makes the guess that is recommended.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from redelve.performance.bench import Bench, FitFinding, Round
from redelve.performance.grouped_guesses import (
    DOUBLED,
    doubled_interval,
    groups_interval,
    pooled_by_groups,
    units_of_pooled,
)
from redelve.performance.guesses import PerformanceGuess
from redelve.performance.ways import (
    NO_VARIATION,
    Repeated,
    Way,
    independent,
    independent_of_all,
    normal_interval,
)
from redelve.stats.optimism import (
    BootstrapError,
    leave_one_out_bootstrap,
    point632,
    point632_plus,
)

DELTA = "delta method after the bootstrap (Efron and Tibshirani 1997)"
SCALED = f"{DELTA}, scaled"


def out_of_bag(bench: Bench, samples: int) -> tuple[BootstrapError, Round]:
    """The leave-one-out bootstrap of cases or groups, and the fits it took; classes are drawn from evenly."""
    counts, splits = bench.splitter.bootstrap(samples)
    done = bench.round(f"bootstrap {samples}", splits)
    losses = np.zeros((len(counts), bench.count))
    for row, split, found in zip(losses, splits, done.losses, strict=True):
        row[split.testing] = found
    if bench.groups is not None:
        means, weights = pooled_by_groups(losses, bench.weights, bench.groups)
        return leave_one_out_bootstrap(counts, means, weights, np.zeros(weights.size, np.int64)), done
    return leave_one_out_bootstrap(counts, losses, bench.weights, bench.measure.groups(bench.classes)), done


def _finding(bench: Bench, found: BootstrapError, value: float, source: str) -> FitFinding:
    """The value with the bootstrap's standard error in proportion; cases decide where nothing varies."""
    error = found.standard_error * (value / found.mean if found.mean > 0 else 1.0)
    if bench.groups is not None:
        return _grouped_finding(bench, found, value, error)
    interval = normal_interval(value, error, bench.level)
    if interval is not None:
        return FitFinding(value, interval, source, error)
    interval, source = independent(bench, np.nan_to_num(found.case_losses), np.arange(bench.count))
    return FitFinding(value, interval, source, notes=(NO_VARIATION,))


def _grouped_finding(bench: Bench, found: BootstrapError, value: float, error: float) -> FitFinding:
    """The same by groups, whose standard error is not below twice that of independent groups."""
    assert bench.groups is not None
    seen = np.where(np.isnan(found.case_losses), found.mean, found.case_losses)
    _, weights = pooled_by_groups(bench.weights, bench.weights, bench.groups)
    units = units_of_pooled(seen, weights, bench.groups)
    interval, larger = doubled_interval(bench, value, error, units)
    if interval is not None:
        return FitFinding(value, interval, DOUBLED, larger)
    interval, source = independent(bench, seen[bench.groups], np.arange(bench.count))
    return FitFinding(value, interval, source, notes=(NO_VARIATION,))


@dataclass(frozen=True)
class OutOfBag(Way):
    """Bootstrap samples train; each case is judged by the samples that do not hold it."""

    key = "bootstrap"
    samples: int = 100

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by the leave-one-out bootstrap."""
        found, done = out_of_bag(bench, self.samples)
        return bench.guess(self.name, _finding(bench, found, found.mean, DELTA), [done])


@dataclass(frozen=True)
class _Mixed(Way):
    """A mixture of the bootstrap's and the apparent loss; its standard error is in proportion to it."""

    samples: int = 100

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by the mixture."""
        found, done = out_of_bag(bench, self.samples)
        finding = _finding(bench, found, self.mixture(bench, found.mean), SCALED)
        return bench.guess(self.name, finding, [done], more=1)

    @abstractmethod
    def mixture(self, bench: Bench, bootstrap: float) -> float:
        """The estimate, given the bootstrap's."""


@dataclass(frozen=True)
class Point632(_Mixed):
    """The .632 bootstrap: 0.632 of the bootstrap's loss and 0.368 of the training cases' (Efron 1983)."""

    key = "632"

    def mixture(self, bench: Bench, bootstrap: float) -> float:
        """Mix by fixed weights."""
        return point632(bench.value(bench.trained.losses), bootstrap).mean


@dataclass(frozen=True)
class Point632Plus(_Mixed):
    """The .632+ bootstrap: the weights follow how much the model overfits (Efron and Tibshirani 1997)."""

    key = "632+"

    def mixture(self, bench: Bench, bootstrap: float) -> float:
        """Mix by weights that depend on the error without information."""
        trained = bench.trained
        nothing = bench.measure.no_information(bench.truth, trained.answer, bench.classes)
        return point632_plus(bench.value(trained.losses), bootstrap, nothing).mean


SOURCE = "the larger standard error of the two, which see the same cases"


@dataclass(frozen=True)
class Combined(Way):
    """The mean of repeated cross-validation, mostly a little too high, and .632+, mostly a little too low."""

    key = "combined"
    k: int = 10
    times: int = 5
    samples: int = 100

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by the mean of both; as they see the same cases, the mean is not taken to be surer."""
        parts = Repeated(self.k, self.times).guess(bench), Point632Plus(self.samples).guess(bench)
        value = sum(part.value or 0.0 for part in parts) / 2
        error = max(part.standard_error or 0.0 for part in parts)
        rounds = [bench.folds(self.k, repetition) for repetition in range(self.times)]
        interval, source = normal_interval(value, error, bench.level), SOURCE
        if bench.groups is not None:
            interval = groups_interval(bench, value, error)
        if interval is None:
            interval, source = independent_of_all(bench, rounds[0])
        rounds.append(out_of_bag(bench, self.samples)[1])
        return bench.guess(self.name, FitFinding(value, interval, source, error or None), rounds, more=1)
