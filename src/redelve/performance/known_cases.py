"""Cases whose targets are known: any of them can be shown to a method, to learn from or to be asked about.

By cross-validation of such cases methods are chosen, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from redelve.answers.predictions import Prediction, Truth
from redelve.errors import PredictionError, RedelveError
from redelve.methods.contract import Method, Predictor
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model.dataset import Rows
from redelve.performance.measures import Measure, classes_of, part_of
from redelve.performance.splits import Splitter
from redelve.seeds import seed


class KnownCases(Protocol):
    """All cases there are, as `ArrayCases` or `AssignmentCases`; `rows` count from 0 and may repeat."""

    @property
    def truth(self) -> Truth:
        """The true target of every case."""

    def training(self, rows: Rows) -> TrainingSet:
        """These cases to learn from."""

    def testing(self, rows: Rows, *, probabilities: bool = False) -> TestInputs:
        """These cases without their targets; whether probabilities are asked for, where that costs time."""

    def relabelled(self, codes: Rows) -> KnownCases | None:
        """The same with other classes for all cases; None where that cannot be."""

    def alike(self) -> Rows | None:
        """A number for each case, the same for equal inputs; None where nobody knows."""


def learn(name: str, method: Method, cases: KnownCases, rows: Rows, number: int) -> Predictor:
    """What the method learns from these cases; what goes wrong is told with its name."""
    try:
        return method.learn(cases.training(rows), np.random.default_rng(number))
    except RedelveError:
        raise
    except Exception as error:
        raise PredictionError(
            f"{name} failed when trained on {len(rows)} cases: {type(error).__name__}: {error}"
        ) from error


FOLDS = 10


@dataclass(frozen=True, eq=False)
class ChoosingCases:
    """The cases that choose among methods: their rows, which may repeat, a seed, the group of every case."""

    rows: Rows
    seed: int
    groups: Rows | None = None

    def folds(self, members: Rows, truth: Truth) -> Rows:
        """The fold of each of these cases; groups stay together."""
        within = None if self.groups is None else np.unique(self.groups[members], return_inverse=True)[1]
        splitter = Splitter(classes_of(truth)[members], self.seed, truth.target.levels, within)
        most = splitter.smallest[0] if within is None else len(splitter.members)
        return splitter.fold_numbers(min(FOLDS, most))


def choose(methods: Mapping[str, Method], cases: KnownCases, measure: Measure, by: ChoosingCases) -> str:
    """The name of the method that cross-validation of these cases finds best.

    Any way can be tried on it; k-fold is then what is called nested cross-validation for model selection.
    """
    values = [cross_validated(name, method, cases, measure, by) for name, method in methods.items()]
    return list(methods)[int(np.argmin(values))]


def cross_validated(
    name: str, method: Method, cases: KnownCases, measure: Measure, by: ChoosingCases
) -> float:
    """The method's cross-validated measure; a case that is there twice is never on both sides."""
    members, times = np.unique(by.rows, return_counts=True)
    classes = classes_of(cases.truth)[members]
    folds = by.folds(members, cases.truth)
    losses = np.empty(members.size)
    parts: list[Prediction] = []
    tested: list[Rows] = []
    for fold in range(int(folds.max()) + 1):
        inside = folds == fold
        training = np.repeat(members[~inside], times[~inside])
        predictor = learn(name, method, cases, training, seed("choice", by.seed, fold))
        answer = predictor.predict(cases.testing(members[inside], probabilities=measure.of_probabilities))
        if measure.of_cases:
            losses[inside] = measure.losses(part_of(cases.truth, members[inside]), answer)
        else:
            parts, tested = [*parts, measure.part(answer)], [*tested, members[inside]]
    if parts:
        return float(np.concatenate(measure.together(cases.truth, tested, parts, by.groups)).mean())
    return measure.value(np.repeat(losses, times), np.repeat(classes, times))
