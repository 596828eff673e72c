"""Choosing among methods by cross-validation of the cases that may be learnt from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from redelve.methods.contract import Method
from redelve.model.dataset import Rows
from redelve.performance.known_cases import KnownCases, learn
from redelve.performance.measures import Measure, classes_of, part_of
from redelve.performance.splits import Splitter
from redelve.seeds import seed

FOLDS = 10


def choose(
    methods: Mapping[str, Method], cases: KnownCases, measure: Measure, rows: Rows, number: int
) -> str:
    """The name of the method that cross-validation of these cases finds best; `number` is the seed.

    Any way can be tried on it; k-fold is then what is called nested cross-validation for model selection.
    """
    values = [cross_validated(name, method, cases, measure, rows, number) for name, method in methods.items()]
    return list(methods)[int(np.argmin(values))]


def cross_validated(
    name: str, method: Method, cases: KnownCases, measure: Measure, rows: Rows, number: int
) -> float:
    """The method's cross-validated measure; a case that is there twice is never on both sides."""
    members, times = np.unique(rows, return_counts=True)
    classes = classes_of(cases.truth)[members]
    splitter = Splitter(classes, number, cases.truth.target.levels)
    folds = splitter.fold_numbers(min(FOLDS, splitter.smallest[0]))
    losses = np.empty(members.size)
    for fold in range(int(folds.max()) + 1):
        inside = folds == fold
        training = np.repeat(members[~inside], times[~inside])
        predictor = learn(name, method, cases, training, seed("choice", number, fold))
        answer = predictor.predict(cases.testing(members[inside], probabilities=measure.of_probabilities))
        losses[inside] = measure.losses(part_of(cases.truth, members[inside]), answer)
    return measure.value(np.repeat(losses, times), np.repeat(classes, times))
