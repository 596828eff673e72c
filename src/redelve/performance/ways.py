"""Ways of guessing: a registry of short classes; here those that leave cases out.

A way is written as its name with its numbers, such as kfold:10 or repeated:10x5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import inf
from typing import ClassVar

import numpy as np

from redelve.errors import SpecError
from redelve.model.dataset import Numbers, Rows
from redelve.performance.bench import Bench, FitFinding, Round
from redelve.performance.grouped_guesses import DOUBLED, by_folds, of_new_groups
from redelve.performance.guesses import PerformanceGuess
from redelve.registry import Registry, value_told
from redelve.stats.estimates import Interval, t_interval
from redelve.stats.grouped import GroupEstimate
from redelve.stats.resampled import Resampled, analyse_resampled, fold_ratio, hidden_variance

WILSON = "Wilson (1927) by class, cases as independent"
STUDENT = "Student, cases as independent"
PSEUDO = "pseudo-values, cases as independent"
CORRECTED = "corrected variance of folds (Nadeau and Bengio 2003)"
NO_VARIATION = "losses do not differ, so the interval takes cases as independent"


@dataclass(frozen=True)
class Way(ABC):
    """A way of guessing; its fields are the numbers after its name."""

    key: ClassVar[str]

    @classmethod
    def parse(cls, numbers: str) -> Way:
        """The way with these numbers, such as 10x5; those left out are the usual ones."""
        kinds = [float if field.type == "float" else int for field in fields(cls)]
        given = numbers.split("x") if numbers else []
        try:
            return cls(*(kind(text) for kind, text in zip(kinds, given, strict=False)), *given[len(kinds) :])
        except (TypeError, ValueError):
            form = "x".join(field.name for field in fields(cls)) or "nothing"
            raise SpecError(f'"{cls.key}:{numbers}" is no way: after {cls.key}: comes {form}') from None

    @property
    def name(self) -> str:
        """The way as it is written."""
        numbers = [f"{getattr(self, field.name):g}" for field in fields(self)]
        return f"{self.key}:{'x'.join(numbers)}" if numbers else self.key

    @abstractmethod
    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess what the bench's model will lose on new cases: the loss, whatever users are shown."""


WAYS: Registry[type[Way]] = Registry("way")


def parse_way(text: str | Way) -> Way:
    """The way that a text stands for.

    >>> parse_way("kfold:5"), parse_way("loo").name
    (KFold(k=5), 'loo')
    """
    if isinstance(text, Way):
        return text
    if not isinstance(text, str):
        raise SpecError(f"{value_told(text)} is no way: give texts, of {', '.join(WAYS)}")
    key, _, numbers = text.partition(":")
    return WAYS[key].parse(numbers)


def independent(bench: Bench, losses: Numbers, rows: Rows) -> tuple[Interval | None, str]:
    """The interval that takes cases, or groups of them, as independent, and its source."""
    if bench.groups is not None:
        return of_new_groups(bench, losses, rows)
    interval = bench.measure.independent_interval(losses, bench.classes[rows], bench.level)
    source = STUDENT if bench.measure.of_cases else PSEUDO
    return interval, WILSON if bench.measure.is_share else source


def independent_of_all(bench: Bench, done: Round) -> tuple[Interval | None, str]:
    """The same from the losses of all cases, each tested once."""
    return independent(bench, done.by_case(bench.count), np.arange(bench.count))


@dataclass(frozen=True)
class HoldOutWay(Way):
    """Train on some cases, test on the others; the interval is that of the test cases alone."""

    key = "holdout"
    share: float = 0.3

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by one split."""
        split = bench.splitter.hold_out(self.share)
        done = bench.round(self.name, [split])
        interval, source = independent(bench, done.losses[0], split.testing)
        value = bench.value(done.losses[0], split.testing)
        return bench.guess(self.name, FitFinding(value, interval, source), [done])


@dataclass(frozen=True)
class KFold(Way):
    """k-fold cross-validation: the measure of all cases' losses, each tested once."""

    key = "kfold"
    k: int = 10

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by one pass through the folds."""
        done = bench.folds(self.k)
        return bench.guess(self.name, _folds_finding(bench, [done], self.k), [done])


@dataclass(frozen=True)
class Repeated(Way):
    """k-fold cross-validation repeated with other folds, averaged."""

    key = "repeated"
    k: int = 10
    times: int = 5

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by several passes through different folds."""
        if self.times < 2:
            raise SpecError(
                f"repeated cross-validation is done twice or more: got {self.times}; or use kfold"
            )
        done = [bench.folds(self.k, repetition) for repetition in range(self.times)]
        return bench.guess(self.name, _folds_finding(bench, done, self.k), done)


def _folds_finding(bench: Bench, rounds: list[Round], k: int) -> FitFinding:
    cases = [one.by_case(bench.count) for one in rounds]
    value = float(np.mean([bench.value(losses) for losses in cases]))
    if bench.groups is not None:
        return grouped_finding(bench, by_folds(bench, rounds), rounds, DOUBLED)
    found = analysed(bench, rounds, k)
    if found.standard_error is not None and found.degrees_of_freedom is not None:
        told = value, found.standard_error, found.degrees_of_freedom, bench.level
        if bench.measure.of_cases:
            return FitFinding(value, t_interval(*told), CORRECTED, found.standard_error)
        scale = bench.measure.scale(bench.classes)
        notes = () if scale.why_not is None else (scale.why_not,)
        return FitFinding(value, scale.of(*told), CORRECTED, found.standard_error, notes)
    interval, source = independent_of_all(bench, rounds[0])
    return FitFinding(value, interval, source, notes=(NO_VARIATION,))


def grouped_finding(
    bench: Bench, found: GroupEstimate, rounds: list[Round], source: str, notes: tuple[str, ...] = ()
) -> FitFinding:
    """A guess from folds of groups; where nothing varies, groups count as independent cases."""
    interval = found.interval(bench.level)
    if interval is not None:
        return FitFinding(found.mean, interval, source, found.standard_error, notes)
    interval, source = independent_of_all(bench, rounds[0])
    return FitFinding(found.mean, interval, source, notes=(NO_VARIATION,))


def analysed(bench: Bench, rounds: list[Round], k: int) -> Resampled:
    """Folds' values with their corrected variance."""
    values = [
        bench.value(losses, split.testing)
        for one in rounds
        for split, losses in zip(one.splits, one.losses, strict=True)
    ]
    return analyse_resampled(values, ratio=fold_ratio(k), hidden=_hidden(bench, rounds, k))


def _hidden(bench: Bench, rounds: list[Round], k: int) -> float:
    """What stratified folds do not show of how classes' shares vary; nothing where these count alike."""
    if bench.measure.balanced:
        return 0.0
    losses = np.concatenate([values for one in rounds for values in one.losses])
    tested = np.concatenate([split.testing for one in rounds for split in one.splits])
    return hidden_variance(losses, bench.classes[tested], bench.count / k)


@dataclass(frozen=True)
class KFoldOfCases(Way):
    """k-fold cross-validation with the interval often seen, as if losses were independent: for comparison."""

    key = "kfold-naive"
    k: int = 10

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by one pass through the folds."""
        return _one_pass(bench, self.name, self.k)


@dataclass(frozen=True)
class LeaveOneOut(Way):
    """Every case, or group of cases, is tested by a model trained on all others."""

    key = "loo"

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by as many fits as cases, or groups."""
        if bench.groups is not None:
            done = bench.folds(len(bench.splitter.members))
            finding = grouped_finding(bench, by_folds(bench, [done]), [done], DOUBLED)
            return bench.guess(self.name, finding, [done])
        return _one_pass(bench, self.name, bench.count)


def _one_pass(bench: Bench, name: str, k: int) -> PerformanceGuess:
    done = bench.folds(k)
    interval, source = independent_of_all(bench, done)
    return bench.guess(name, FitFinding(bench.value(done.by_case(bench.count)), interval, source), [done])


@dataclass(frozen=True)
class Apparent(Way):
    """The loss on the training cases themselves: no guess to rely on, but others are built on it."""

    key = "apparent"

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Tell what the model loses on its own training cases."""
        losses = bench.trained.losses
        interval, source = independent(bench, losses, np.arange(bench.count))
        return bench.guess(self.name, FitFinding(bench.value(losses), interval, source), more=1)


def normal_interval(value: float, error: float, level: float) -> Interval | None:
    """The value and so many standard errors as the normal distribution asks for."""
    return t_interval(value, error, inf, level) if 0 < error < inf else None


WAYS.add("holdout", HoldOutWay)
WAYS.add("kfold", KFold)
WAYS.add("kfold-naive", KFoldOfCases)
WAYS.add("repeated", Repeated)
WAYS.add("loo", LeaveOneOut)
WAYS.add("apparent", Apparent)
for _name, _place in {
    "bootstrap": "bootstraps:OutOfBag",
    "632": "bootstraps:Point632",
    "632+": "bootstraps:Point632Plus",
    "nested": "nested_guess:Nested",
    "vc": "bounds:CapacityBound",
    "rademacher": "bounds:RandomLabels",
    "compression": "bounds:Compression",
    "combined": "bootstraps:Combined",
    "uncorrected": "best_of_several:Uncorrected",
    "tibshirani": "best_of_several:FoldOptimism",
    "bbc": "best_of_several:BootstrapCorrected",
}.items():
    WAYS.add(_name, f"redelve.performance.{_place}")
