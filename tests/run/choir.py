"""A method that learns many at once, and does what it is told.

It is apart from the tests so that a cell that works for it need not import theirs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.methods.contract import BatchMethod, Predictor
from redelve.methods.shown import TestInputs, TrainingSet
from tests.run import toys
from tests.run.toys import Weights

SMALL = 1e-3


@dataclass(frozen=True)
class Choir(BatchMethod):
    """Least squares with a little noise; `mischief` is done for a batch, `fault` for every training set.

    It notes the sizes of its batches in a file, if it is given one.
    """

    diary: str = ""
    mischief: Callable[[], None] | None = None
    fault: Callable[[TrainingSet], None] | None = None
    summary = "For tests."

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "choir"}

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[Predictor]:
        if self.diary:
            with Path(self.diary).open("a") as file:
                file.write(f"{len(trainings)}\n")
        if self.mischief is not None and len(trainings) > 1:
            self.mischief()
        return [self._learnt(*pair) for pair in zip(trainings, rngs, strict=True)]

    def _learnt(self, training: TrainingSet, rng: np.random.Generator) -> Weights:
        if self.fault is not None:
            self.fault(training)
        table = np.column_stack([column.numbers() for column in training.input_columns])
        weights = np.linalg.lstsq(table, training.target_values(), rcond=None)[0]
        return Weights(training, weights + rng.normal(0, SMALL, len(weights)), 1.0 + rng.random())


class Mute(Choir):
    """Answers for too few: no predictor for the last training set."""

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[Predictor]:
        made = super().learn_many(trainings, rngs)
        return made[:-1] if len(made) > 1 else made


class Short(Weights):
    """Answers for one test case only."""

    def predict(self, inputs: TestInputs) -> Answer:
        one = TestInputs(inputs.attributes, inputs.prior, inputs.cases.select(np.arange(1)))
        return super().predict(one)


class Terse(Choir):
    """Its answers are too short, in company."""

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[Predictor]:
        made = super().learn_many(trainings, rngs)
        if len(made) > 1:
            return [Short(one.training, one.weights, one.scale) for one in made if isinstance(one, Weights)]
        return made


def raises() -> None:
    raise ValueError("too many of us")


def warns() -> None:
    warnings.warn("we are many", stacklevel=1)


def fails_on_some(training: TrainingSet) -> None:
    if toys.is_chosen(training, 3):
        raise ValueError("not this one")


def ends_on_some(training: TrainingSet) -> None:
    if toys.is_chosen(training, 3):
        toys.exits(training)


def hangs_in_company() -> None:
    time.sleep(60)


def eats_memory_in_company() -> None:
    eaten = [np.ones(40_000_000) for _ in range(4)]
    time.sleep(60)
    del eaten


def takes_its_time() -> None:
    time.sleep(1.2)
