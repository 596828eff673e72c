"""What the standard methods are made of: learnt numbers and levels, folds, samples of cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from redelve.methods.estimators import FittedClassifier, fit_classifier
from redelve.methods.views import Labels, ViewPart
from redelve.model.dataset import Numbers
from redelve.model.designs.folds import dealt, splits_of

FOLDS = 5


class Regression(Protocol):
    """What is learnt of one column of numbers."""

    def predict(self, inputs: Numbers) -> tuple[Numbers, Numbers | float]:
        """The guesses, and the standard deviations of what is to come around them."""
        ...


class Classification(Protocol):
    """What is learnt of levels."""

    def predict(self, inputs: Numbers) -> ViewPart:
        """Guesses and perhaps probabilities."""
        ...


Splits = list[tuple[Labels, Labels]]
Regress = Callable[[Numbers, Numbers, np.random.Generator], Regression]
Classify = Callable[[Numbers, Labels, int, np.random.Generator], Classification]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted regressor with the spread of its errors elsewhere; None where it tells spreads itself."""

    model: Any
    spread: float | None

    def predict(self, inputs: Numbers) -> tuple[Numbers, Numbers | float]:
        """Its predictions."""
        if self.spread is None:
            mean, deviation = self.model.predict(inputs, return_std=True)
            return mean, deviation
        return np.asarray(self.model.predict(inputs), dtype=np.float64), self.spread


def random_splits(count: int, rng: np.random.Generator, labels: Labels | None = None) -> Splits:
    """For each of five random folds the cases outside and those inside; levels spread evenly over them."""
    return splits_of(dealt(rng.permutation(count), FOLDS, labels), FOLDS)


def some_of(count: int, most: int, rng: np.random.Generator) -> Labels:
    """All cases, or so many at random, in their order."""
    return np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))


def probabilistic(
    estimator: Any, inputs: Numbers, labels: Labels, level_count: int, rng: np.random.Generator
) -> FittedClassifier:
    """A classifier whose guess is the most probable level."""
    fitted = fit_classifier(estimator, inputs, labels, level_count, rng)
    return FittedClassifier(fitted.model, labels, level_count, guess_by_predict=False)
