"""A method that learns a proportion on another scale: would that have helped on bank, as the paper asks?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.distributions import Distribution
from redelve.answers.predictions import Guesses, Target
from redelve.errors import SpecError
from redelve.methods.contract import BatchMethod, Predictor
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Cases, parse_range, written
from redelve.model.dataset import Numbers

SHARES = (np.arange(200) + 0.5) / 200
"""Midpoints of equal parts of the range: a mean is the mean of the probabilities to lie above them."""
SUMMARY = """The proportion y is learnt as arcsin(sqrt(y)), whose variance hardly depends on its mean
(Anscombe 1948). The guess is the mean of what the predictive distribution becomes on the original scale,
the integral of the probability to lie above a proportion; for absolute error it is the median. What lies
beyond the ends of the scale is at the ends. What learns: {inner}"""


def stretched(shares: Numbers) -> Numbers:
    """Proportions on the scale where their variance is about constant.

    >>> stretched(np.array([0.0, 0.5, 1.0])).round(3).tolist()
    [0.0, 0.785, 1.571]
    """
    return np.asarray(np.arcsin(np.sqrt(np.clip(shares, 0.0, 1.0))))


def shrunk(values: Numbers) -> Numbers:
    """Back to proportions; what lies beyond the ends of the scale is at the ends."""
    return np.asarray(np.sin(np.clip(values, 0.0, np.pi / 2)) ** 2)


@dataclass(frozen=True, eq=False)
class StretchedTarget(BatchMethod):
    """Another method, shown the target on the stretched scale."""

    inner: BatchMethod
    looks_at = "columns"

    def __post_init__(self) -> None:
        for name in ("mixes_tasks", "is_whole", "largest_batch"):
            object.__setattr__(self, name, getattr(self.inner, name))

    @property
    def summary(self) -> str:  # type: ignore[override]
        """What it does."""
        return SUMMARY.format(inner=self.inner.summary)

    @property
    def identity(self) -> Mapping[str, Any]:
        """That of the other method, and the scale."""
        return {"kind": "arcsine of the root", "version": 1, "inner": dict(self.inner.identity)}

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[StretchedPredictor]:
        """Let the other method learn."""
        made = self.inner.learn_many([_stretched_training(one) for one in trainings], rngs)
        pairs = zip(trainings, made, strict=True)
        return [StretchedPredictor(training.targets, inner) for training, inner in pairs]


def _stretched_training(training: TrainingSet) -> TrainingSet:
    if len(training.targets) != 1:
        raise SpecError("a stretched target is one proportion")
    column = written(list(map(repr, stretched(training.target_values()).tolist())))
    attribute = replace(training.target_attributes[0], range=parse_range("(-Inf,Inf)"))
    cases = Cases((*training.input_columns, column), training.cases.count)
    return replace(training, target_attributes=(attribute,), cases=cases)


@dataclass(frozen=True, eq=False)
class StretchedPredictor:
    """The other method's predictions on the original scale."""

    targets: tuple[Target, ...]
    inner: Predictor

    @property
    def told(self) -> Mapping[str, Any]:
        """What the other method tells of its training."""
        return getattr(self.inner, "told", {})

    def predict(self, inputs: TestInputs) -> Answer:
        """Means and medians of what the distributions become."""
        answer = self.inner.predict(inputs)
        if answer.distributions is None:
            raise SpecError("a stretched target takes a method that answers with distributions")
        told = answer.distributions.distributions[0]
        medians = Guesses(self.targets, (shrunk(told.median()),))
        return Answer(Guesses(self.targets, (mean_share(told),)), guesses_for={"A": medians})


def mean_share(told: Distribution) -> Numbers:
    """The mean proportion of each case, by the distribution on the stretched scale."""
    above = [told.probability_above(np.full(len(told), edge)) for edge in stretched(SHARES).tolist()]
    return np.asarray(np.mean(above, axis=0))
