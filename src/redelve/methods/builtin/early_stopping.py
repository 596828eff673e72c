"""Early-stopped networks, trained by the engine many at once, whatever training sets they belong to.

A recipe says how networks look, which cases each learns from and is judged by, and how it is trained.
Networks of equal shape are one batch; no network's weights depend on the others in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from redelve.methods.builtin.network_lessons import NetworkLesson, OutputReading, mean_of_heard
from redelve.methods.shown import TrainingSet
from redelve.methods.views import Labels
from redelve.model.dataset import Numbers
from redelve.nets import Architecture, Data, Engine, Sets, initial_weights, predict
from redelve.nets.backend import side_by_side

LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, eq=False)
class ValidationSplit:
    """The cases that a network learns from, and those that it is judged by."""

    estimation: Labels
    validation: Labels


def split_by(validation: Labels, count: int) -> ValidationSplit:
    """These cases for validation, the others to learn from."""
    chosen = np.sort(validation)
    return ValidationSplit(np.setdiff1d(np.arange(count), chosen), chosen)


@dataclass(frozen=True, eq=False)
class Pupil:
    """A network to be trained: what it is shown, the seed of its first weights, factors of its inputs."""

    inputs: Numbers
    targets: Numbers
    split: ValidationSplit
    seed: int
    factors: Numbers

    @property
    def shape(self) -> tuple[int, ...]:
        """What networks of one batch have in common: inputs, outputs, numbers of cases."""
        sizes = len(self.split.estimation), len(self.split.validation)
        return (self.inputs.shape[1], self.targets.shape[1], *sizes)

    def cases(self, rows: Labels) -> tuple[Numbers, Numbers]:
        """Inputs and targets of some cases."""
        return self.inputs[rows] * self.factors, self.targets[rows]


@dataclass(frozen=True, eq=False)
class Graduate:
    """A trained network: its weights, the iteration they are of, its outputs for its validation cases."""

    weights: Numbers
    iteration: int
    heard: Numbers


@dataclass(frozen=True, eq=False)
class Schooling:
    """What training a batch gives: weights of lowest validation error, and when they were reached."""

    weights: Numbers
    iterations: Labels


class Recipe(ABC):
    """How networks look and learn."""

    together: bool = False
    """Whether one network learns all numerical targets, or each target has its own."""
    centred: bool = True
    """Whether levels are coded with mean zero."""
    engine: Engine = Engine()
    """On what networks are trained."""

    @abstractmethod
    def architecture(self, inputs: int, outputs: int) -> Architecture:
        """The network for so many inputs and outputs."""

    @abstractmethod
    def splits(self, training: TrainingSet, rng: np.random.Generator) -> list[ValidationSplit]:
        """The cases of each network of an ensemble."""

    @abstractmethod
    def train(self, network: Architecture, weights: Numbers, sets: Sets, seeds: Sequence[int]) -> Schooling:
        """Train networks of one shape."""

    @property
    @abstractmethod
    def first_weights(self) -> float:
        """First weights are uniform between minus this and this."""

    def factors(self, inputs: Numbers, targets: Numbers) -> Numbers:
        """What to multiply inputs by, by the cases that are learnt from."""
        return np.ones(inputs.shape[1])

    def pupils(
        self, training: TrainingSet, inputs: Numbers, lesson: NetworkLesson, rng: np.random.Generator
    ) -> list[Pupil]:
        """The networks of an ensemble for one lesson."""
        splits, targets = self.splits(training, rng), lesson.targets
        seeds = rng.integers(LARGEST_SEED, size=len(splits)).tolist()
        return [
            Pupil(
                inputs,
                targets,
                split,
                seed,
                self.factors(inputs[split.estimation], targets[split.estimation]),
            )
            for split, seed in zip(splits, seeds, strict=True)
        ]


def school(recipe: Recipe, pupils: Sequence[Pupil]) -> list[Graduate]:
    """Train them all, those of equal shape at once; on a GPU those of other shapes meanwhile."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for place, pupil in enumerate(pupils):
        groups[pupil.shape].append(place)
    works = [partial(_schooled, recipe, [pupils[place] for place in places]) for places in groups.values()]
    found: dict[int, Graduate] = {}
    for places, made in zip(groups.values(), side_by_side(recipe.engine, works), strict=True):
        found.update(zip(places, made, strict=True))
    return [found[place] for place in range(len(pupils))]


def _schooled(recipe: Recipe, pupils: Sequence[Pupil]) -> list[Graduate]:
    network = recipe.architecture(*pupils[0].shape[:2])
    seeds = [pupil.seed for pupil in pupils]
    estimation = _data([pupil.cases(pupil.split.estimation) for pupil in pupils])
    validation = _data([pupil.cases(pupil.split.validation) for pupil in pupils])
    weights = initial_weights(network, seeds, recipe.first_weights)
    made = recipe.train(network, weights, Sets(estimation, validation), seeds)
    kept = made.weights.astype(np.float64)
    heard = predict(network, kept, validation.inputs)
    factors = np.array([pupil.factors for pupil in pupils])
    for_plain_inputs = _with_factors(network, kept, factors)
    return [Graduate(*each) for each in zip(for_plain_inputs, made.iterations.tolist(), heard, strict=True)]


def _data(cases: Sequence[tuple[Numbers, Numbers]]) -> Data:
    return Data(np.array([inputs for inputs, _ in cases]), np.array([targets for _, targets in cases]))


def _with_factors(network: Architecture, weights: Numbers, factors: Numbers) -> Numbers:
    """Weights that do to plain inputs what `weights` do to inputs times their factors."""
    wire = network.wiring.wires[0]
    matrices = weights[:, wire.place].reshape(len(weights), wire.height, wire.width)
    matrices[:, :, : network.inputs] *= factors[:, None, :]
    return np.concatenate([matrices.reshape(len(weights), -1), weights[:, wire.place.stop :]], axis=1)


@dataclass(frozen=True, eq=False)
class NetworkEnsemble:
    """The trained networks for one lesson; what they answer is the mean of their outputs."""

    network: Architecture
    weights: Numbers
    iterations: tuple[int, ...]
    reading: OutputReading

    def outputs(self, inputs: Numbers) -> Numbers:
        """The mean over the networks, a row for each case."""
        return np.asarray(predict(self.network, self.weights, inputs).mean(axis=0))


def ensemble_of(
    recipe: Recipe, lesson: NetworkLesson, pupils: Sequence[Pupil], graduates: Sequence[Graduate]
) -> NetworkEnsemble:
    """The ensemble, with its outputs understood by cases that networks did not learn from."""
    rows = [pupil.split.validation for pupil in pupils]
    reading = lesson.reading(*mean_of_heard(rows, [graduate.heard for graduate in graduates]))
    return NetworkEnsemble(
        recipe.architecture(*pupils[0].shape[:2]),
        np.array([graduate.weights for graduate in graduates]),
        tuple(graduate.iteration for graduate in graduates),
        reading,
    )
