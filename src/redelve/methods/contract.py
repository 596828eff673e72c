"""What a learning method is: training cases and a random generator in, a predictor out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from redelve.answers import Answer
from redelve.lessons import TestInputs, TrainingSet
from redelve.model.digests import digest
from redelve.predictions import Target
from redelve.registry import Registry


class Predictor(Protocol):
    """What learning leaves behind."""

    def predict(self, inputs: TestInputs) -> Answer:
        """The answer for every test case."""
        ...


class Method(ABC):
    """A learning method; it never sees a test target, and its randomness comes from the generator given.

    `summary` says what it does, precisely enough for someone else to do the same (manual 7.1); `identity`
    is what makes it the method it is, in plain values: change it and results are made anew.
    """

    summary: str

    @abstractmethod
    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        """Learn from the training cases."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """Kind, version and every setting, as plain values."""

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """What keeps the method from tasks with these targets; None if nothing does."""
        return None

    @property
    def digest(self) -> str:
        """A hash of the method's identity."""
        return digest(dict(self.identity))


METHODS: Registry[Method] = Registry("method")
"""The methods that come with redelve, by name."""
