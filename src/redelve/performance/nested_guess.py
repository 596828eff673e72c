"""Nested cross-validation with the interval of Bates, Hastie and Tibshirani (2024; first told in 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from redelve.errors import SpecError
from redelve.model.dataset import Numbers, Rows
from redelve.performance.bench import Bench, FitFinding, Round
from redelve.performance.grouped_guesses import JACKKNIFE, by_folds
from redelve.performance.guesses import PerformanceGuess
from redelve.performance.ways import NO_VARIATION, Way, grouped_finding, independent_of_all
from redelve.stats.resampled import nested_cross_validation

SOURCE = "nested cross-validation (Bates, Hastie and Tibshirani 2021)"


@dataclass(frozen=True)
class Nested(Way):
    """Cross-validation that leaves every pair of folds out, too, to see how far folds err."""

    key = "nested"
    k: int = 5
    times: int = 10

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by cross-validation within cross-validation; k (k + 1)/2 fits each time."""
        if self.k < 3:
            raise SpecError(f"nested cross-validation needs three folds or more: got {self.k}")
        if self.times < 1:
            raise SpecError(f"nested cross-validation is done once or more: got {self.times}")
        rounds, inner, outer = [], [], []
        for repetition in range(self.times):
            folds = bench.folds(self.k, repetition)
            pairs = bench.round(f"pairs {self.k} {repetition}", bench.splitter.pairs(self.k, repetition))
            rounds += [folds, pairs]
            if bench.groups is not None:
                continue
            outer.append([_weighed(bench, folds, number, None) for number in range(self.k)])
            inner.append(_inner(bench, folds, pairs))
        if bench.groups is not None:
            return bench.guess(self.name, _by_groups(bench, rounds), rounds)
        found = nested_cross_validation(inner, outer)
        interval, source, notes = found.interval(bench.level), SOURCE, found.caveats[1:]
        if interval is None:
            interval, source = independent_of_all(bench, rounds[0])
            notes = (NO_VARIATION,)
        return bench.guess(
            self.name, FitFinding(found.mean, interval, source, found.standard_error, notes), rounds
        )


def _by_groups(bench: Bench, rounds: list[Round]) -> FitFinding:
    """The cross-validated measure with a jackknife: each fold left out of the whole cross-validation."""
    passes, pairs = rounds[::2], rounds[1::2]
    without = np.array([_without(bench, *both) for both in zip(passes, pairs, strict=True)])
    return grouped_finding(bench, by_folds(bench, passes, without), passes, JACKKNIFE)


def _without(bench: Bench, folds: Round, pairs: Round) -> list[float]:
    """For each fold the measure of all other cases when it is left out of everything."""
    members = [split.testing for split in folds.splits]
    found = np.full((len(members), bench.count), np.nan)
    both = combinations(range(len(members)), 2)
    for (left, right), split, losses in zip(both, pairs.splits, pairs.losses, strict=True):
        found[left, split.testing] = found[right, split.testing] = losses
    values = []
    for row, own in zip(found, members, strict=True):
        others = np.setdiff1d(np.arange(bench.count), own)
        values.append(bench.value(row[others], others))
    return values


def _weighed(bench: Bench, done: Round, number: int, keep: Rows | None) -> Numbers:
    """The losses of a split's test cases, weighed so that their plain mean is the measure."""
    rows, losses = done.splits[number].testing, done.losses[number]
    weighed: Numbers = losses * bench.weights[rows] * bench.count
    return weighed if keep is None else weighed[np.isin(rows, keep)]


def _inner(bench: Bench, folds: Round, pairs: Round) -> list[Numbers]:
    """For each fold left aside the losses of all other cases."""
    members = [split.testing for split in folds.splits]
    parts: list[list[Numbers]] = [[] for _ in members]
    for number, (left, right) in enumerate(combinations(range(len(members)), 2)):
        parts[left].append(_weighed(bench, pairs, number, members[right]))
        parts[right].append(_weighed(bench, pairs, number, members[left]))
    return [np.concatenate(part) for part in parts]
