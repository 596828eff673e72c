"""Guesses from bounds: training errors and a capacity; honest about being vacuous."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from redelve.errors import SpecError
from redelve.model import Instance
from redelve.model.dataset import Numbers, Rows
from redelve.performance.bench import Bench, FitFinding, Round
from redelve.performance.guesses import PerformanceGuess
from redelve.performance.ways import Way
from redelve.seeds import generator, seed
from redelve.stats.balanced_errors import BalancedErrors
from redelve.stats.capacity import compression_bound, rademacher_bound, vc_bound

ERRORS_ONLY = "a bound is for errors of classifiers (ber or error)"
NO_GROUPS = "a bound is for independent cases, and these belong to groups"
TWO_CLASSES = "the bound is for two classes"


def _bounded(bench: Bench, bound: float, source: str) -> FitFinding:
    """The bound as a guess; no guess is worse than chance, so a bound beyond it tells nothing."""
    chance = bench.measure.chance(bench.classes)
    assert chance is not None
    if bound < chance:
        return FitFinding(bound, (0.0, bound), source)
    told, constant = map(bench.measure.shown_as.metric_value, (bound, chance))
    note = f"the bound, {told:.3f}, is vacuous: a constant answer has {constant:.3f}; that is the guess"
    return FitFinding(chance, (0.0, bound), source, notes=(note,))


def _none(reason: str, source: str) -> FitFinding:
    return FitFinding(None, None, source, notes=(reason,))


def _training_errors(bench: Bench) -> BalancedErrors:
    return bench.measure.errors(bench.trained.losses, bench.classes)


def _why_not(bench: Bench) -> str | None:
    if not bench.measure.is_share:
        return ERRORS_ONLY
    if bench.groups is not None:
        return NO_GROUPS
    return TWO_CLASSES if len(np.unique(bench.classes)) != 2 else None


@dataclass(frozen=True)
class CapacityBound(Way):
    """Vapnik's bound for linear classifiers, whose dimension is the number of inputs and one."""

    key = "vc"

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by the bound where a capacity is known."""
        return bench.guess(self.name, _with_reason(bench, self._finding, "Vapnik and Chervonenkis"), more=1)

    def _finding(self, bench: Bench) -> FitFinding:
        model = bench.trained.model
        source = "Vapnik and Chervonenkis, uniform over all rules (Burges 1998)"
        if _rules(model) != 1:
            return _none(f"no capacity is known of {bench.name}: only linear classifiers have one", source)
        errors = _training_errors(bench)
        dimension = _inputs_chosen_from(bench.trained.estimator) + 1
        return _bounded(bench, vc_bound(errors.errors, errors.counts, dimension, bench.level), source)


def _inputs_chosen_from(model: Any) -> int:
    """The most inputs of any step: a rule of those that a step selected or mixed is one of all of them."""
    steps = [step for _, step in getattr(model, "steps", [])] or [model]
    return max(int(getattr(step, "n_features_in_", 0)) for step in steps)


def _rules(model: Any) -> int:
    """How many linear rules the model has; none if it is not linear."""
    weights = getattr(model, "coef_", None)
    return 0 if weights is None else len(np.atleast_2d(weights))


@dataclass(frozen=True)
class Compression(Way):
    """The bound of support vector machines: the support vectors alone would give the same rule."""

    key = "compression"

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by the bound where there are support vectors."""
        return bench.guess(self.name, _with_reason(bench, self._finding, "sample compression"), more=1)

    def _finding(self, bench: Bench) -> FitFinding:
        source = "sample compression (Littlestone and Warmuth 1986; Langford 2005)"
        support = getattr(bench.trained.model, "support_", None)
        if support is None:
            return _none(f"{bench.name} has no support vectors", source)
        outside = np.setdiff1d(np.arange(bench.count), support)
        groups = bench.measure.groups(bench.classes)
        names = np.unique(groups)
        kept = [int((groups[support] == one).sum()) for one in names]
        counts = [int((groups == one).sum()) for one in names]
        wrong = [round(float(bench.trained.losses[outside][groups[outside] == one].sum())) for one in names]
        return _bounded(bench, compression_bound(wrong, counts, kept, bench.level), source)


@dataclass(frozen=True)
class RandomLabels(Way):
    """The Rademacher bound, with the capacity measured: how well does the learner fit labels drawn by lot?"""

    key = "rademacher"
    draws: int = 10

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by the bound for any classifier of two classes."""
        source = "Rademacher complexity measured on random labels (Bartlett and Mendelson 2002)"
        if self.draws < 1:
            raise SpecError(f"the capacity needs one draw of labels at least: got {self.draws}")
        reason = _why_not(bench)
        if reason is None and bench.relabelled(bench.classes) is None:
            reason = f"{bench.name} can't be given other labels"
        if reason is not None:
            return bench.guess(self.name, _none(reason, source))
        done = self._random_fits(bench)
        fit = float(np.mean([1 - 2 * float(losses @ bench.weights) for losses in done.losses]))
        errors = _training_errors(bench)
        bound = rademacher_bound(errors.ber, fit, errors.counts, bench.level)
        return bench.guess(self.name, _bounded(bench, bound, source), [done], more=1)

    def _random_fits(self, bench: Bench) -> Round:
        """Losses of random labels by what is trained on them."""
        every, started = np.arange(bench.count), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # noise is hard to fit, and saying so helps nobody
            found = tuple(_wrong_on_random_labels(bench, draw) for draw in range(self.draws))
        return Round((Instance(0, every, every),) * self.draws, found, time.process_time() - started)


def _wrong_on_random_labels(bench: Bench, draw: int) -> Numbers:
    codes = _random_codes(bench, draw)
    random = bench.relabelled(codes)
    assert random is not None
    every = np.arange(bench.count)
    predictor = random.learn(every, seed("predict", bench.settings.seed, "random labels", draw))
    guesses = random.answer(predictor, every).guesses
    assert guesses is not None
    wrong: Numbers = (guesses.values[0] != codes).astype(np.float64)
    return wrong


def _random_codes(bench: Bench, draw: int) -> Rows:
    """Two classes by lot, neither of them empty."""
    rng = generator("predict", bench.settings.seed, "random labels", draw)
    while True:
        codes = rng.integers(0, 2, bench.count)
        if 0 < codes.sum() < bench.count:
            return codes


def _with_reason(bench: Bench, find: Callable[[Bench], FitFinding], source: str) -> FitFinding:
    reason = _why_not(bench)
    return find(bench) if reason is None else _none(reason, source)
