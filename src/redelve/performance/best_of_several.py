"""The best of several models by cross-validation: how much does that choice flatter?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redelve.errors import SpecError
from redelve.model.dataset import Numbers
from redelve.performance.bench import Bench, FitFinding, Round
from redelve.performance.grouped_guesses import (
    DOUBLED,
    doubled_interval,
    pooled_by_groups,
    units_of_pooled,
)
from redelve.performance.guesses import PerformanceGuess
from redelve.performance.known_cases import FOLDS
from redelve.performance.ways import KFold, Way
from redelve.seeds import generator
from redelve.stats.estimates import Interval
from redelve.stats.optimism import bootstrap_bias_corrected, fold_optimism

FEWEST_SAMPLES = 40
PERCENTILES = "bootstrap of cross-validated cases (Tsamardinos, Greasidou and Borboudakis 2018)"
FLATTERED = "the smallest of several guesses flatters: its interval says nothing of the choice"
SHIFTED = "the chosen model's folds (Nadeau and Bengio 2003), moved by the optimism"


@dataclass(frozen=True)
class _Choice(Way):
    """A guess for the best of several models."""

    k: int = FOLDS

    def rounds(self, bench: Bench) -> list[Round]:
        """Each model's cross-validation, all with the same folds."""
        if not bench.candidates:
            raise SpecError(f'way "{self.key}" is for several models: give a list of them')
        return [one.folds(self.k) for one in bench.candidates]


def losses_of(bench: Bench, rounds: list[Round]) -> Numbers:
    """The cross-validated loss of every case (rows) by every model (columns)."""
    return np.column_stack([one.by_case(bench.count) for one in rounds])


def best_of(bench: Bench, rounds: list[Round]) -> int:
    """The model with the smallest cross-validated measure."""
    return int((bench.weights @ losses_of(bench, rounds)).argmin())


@dataclass(frozen=True)
class Uncorrected(_Choice):
    """The cross-validated loss of the model that looked best: too good on average."""

    key = "uncorrected"

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess as if the model had been chosen beforehand."""
        rounds = self.rounds(bench)
        found = KFold(self.k).guess(bench.candidates[best_of(bench, rounds)])
        finding = FitFinding(found.value, found.interval, found.source, found.standard_error, (FLATTERED,))
        return bench.guess(self.name, finding, rounds)


@dataclass(frozen=True)
class FoldOptimism(_Choice):
    """The best model's loss and the optimism of the folds' own choices (Tibshirani and Tibshirani 2009)."""

    key = "tibshirani"

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess with the optimism of the folds added."""
        rounds = self.rounds(bench)
        best = KFold(self.k).guess(bench.candidates[best_of(bench, rounds)])
        assert best.value is not None
        optimism = fold_optimism(np.column_stack([_fold_values(bench, one) for one in rounds]))
        interval: Interval | None = None
        if best.low is not None and best.high is not None:
            interval = best.low + optimism, best.high + optimism
        source = SHIFTED if bench.groups is None else f"{best.source}, moved by the optimism"
        finding = FitFinding(best.value + optimism, interval, source, best.standard_error)
        return bench.guess(self.name, finding, rounds)


def _fold_values(bench: Bench, done: Round) -> Numbers:
    pairs = zip(done.splits, done.losses, strict=True)
    return np.array([bench.value(losses, split.testing) for split, losses in pairs])


@dataclass(frozen=True)
class BootstrapCorrected(_Choice):
    """Bootstrap bias-corrected cross-validation: samples of cases choose, the cases outside judge."""

    key = "bbc"
    samples: int = 500

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by choosing again and again; no model is trained for it anew."""
        if self.samples < FEWEST_SAMPLES:
            raise SpecError(f"percentiles need {FEWEST_SAMPLES} samples or more, 500 say: got {self.samples}")
        rounds = self.rounds(bench)
        rng = generator("predict", bench.settings.seed, self.name)
        if bench.groups is not None:
            return bench.guess(self.name, self._by_groups(bench, rounds, rng), rounds)
        found = bootstrap_bias_corrected(
            losses_of(bench, rounds),
            bench.weights,
            bench.measure.groups(bench.classes),
            rng,
            self.samples,
        )
        error = float(found.values.std(ddof=1))
        return bench.guess(
            self.name, FitFinding(found.mean, found.interval(bench.level), PERCENTILES, error), rounds
        )

    def _by_groups(self, bench: Bench, rounds: list[Round], rng: np.random.Generator) -> FitFinding:
        """Samples of groups choose, the groups outside judge."""
        assert bench.groups is not None
        means, weights = pooled_by_groups(losses_of(bench, rounds).T, bench.weights, bench.groups)
        alike = np.zeros(weights.size, np.int64)
        found = bootstrap_bias_corrected(means.T, weights, alike, rng, self.samples)
        units = units_of_pooled(means[best_of(bench, rounds)], weights, bench.groups)
        interval, error = doubled_interval(bench, found.mean, float(found.values.std(ddof=1)), units)
        return FitFinding(found.mean, interval, DOUBLED, error)
