"""A method: the target of the nearest training case."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.methods.contract import Method
from redelve.methods.shown import EncodedTraining, TestInputs, TrainingSet


@dataclass(frozen=True)
class NearestPredictor:
    training: EncodedTraining

    def predict(self, inputs: TestInputs) -> Answer:
        asked = self.training.encode_inputs(inputs)
        gaps = ((asked[:, None, :] - self.training.inputs[None, :, :]) ** 2).sum(axis=2)
        return Answer(self.training.decode_guesses(self.training.targets[gaps.argmin(axis=1)]))


class Nearest(Method):
    summary = (
        "The target of the training case whose inputs, in redelve's standard encodings, are nearest by "
        "Euclidean distance; of several the first."
    )

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> NearestPredictor:
        return NearestPredictor(training.encode())

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "meadow", "name": "nearest", "version": 1}


NEAREST = Nearest()
