"""A network of PROBEN1's section 3.3 as a method: all runs train as one batch and tell how it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses
from redelve.methods.contract import BatchMethod
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Column
from redelve.model.dataset import Numbers
from redelve.nets import Architecture, Data, Engine, Sets, Trained, initial_weights, predict, train
from redelve.nets.backend import side_by_side
from redelve.run.results import Told
from redelve.stats.output_errors import classification_error
from redelve.studies.proben1.readings import TrainingReading
from redelve.studies.proben1.topologies import Topology

SUMMARY = """A network of PROBEN1's section 3.3 (Prechelt 1994), nodes {network}, {shortcuts};
y = x/(1 + |x|) in hidden and sigmoidal output nodes. It learns from the training cases that are not set apart
for validation: {reading}. The weights of lowest validation error are kept.
Inputs and outputs are the coefficients of the data file as they stand.
"""


@dataclass(frozen=True)
class ProbenNetwork(BatchMethod):
    """A topology and a way to train it; a run's first weights are those of its generator's seed.

    Runs on the same cases share them. On torch, where an epoch of a small batch costs as much as one of a
    large batch, problems of equal shape go together. `engine` is where it is trained, not what it is.
    """

    topology: Topology
    reading: TrainingReading
    engine: Engine = field(default_factory=Engine, compare=False)
    mixes_tasks: bool = field(default=False, compare=False)
    largest_batch = 4096

    @property
    def summary(self) -> str:  # type: ignore[override]
        """What it does."""
        shortcuts = "all shortcuts" if self.topology.shortcuts else "no shortcuts"
        return SUMMARY.format(network=self.topology, shortcuts=shortcuts, reading=self.reading.identity)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Network and training."""
        shortcuts, training = self.topology.shortcuts, self.reading.identity
        network = {"nodes": str(self.topology), "shortcuts": shortcuts}
        return {"kind": "PROBEN1 network", "version": 1, "network": network, "training": training}

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[NetworkPredictor]:
        """Train all runs; those of one shape are one array."""
        different = {id(training): training for training in trainings}
        known = {key: ProbenCases.of(training) for key, training in different.items()}
        alike: dict[tuple[int, ...], list[int]] = {}
        for place, training in enumerate(trainings):
            alike.setdefault(known[id(training)].shape, []).append(place)

        def train_alike(places: Sequence[int]) -> Iterable[tuple[int, NetworkPredictor]]:
            cases = [known[id(trainings[place])] for place in places]
            return zip(places, self._train(cases, [_seed(rngs[place]) for place in places]), strict=True)

        works = [partial(train_alike, places) for places in alike.values()]
        made = dict(chain.from_iterable(side_by_side(self.engine, works)))
        return [made[place] for place in range(len(trainings))]

    def _train(self, cases: Sequence[ProbenCases], seeds: Sequence[int]) -> list[NetworkPredictor]:
        inputs, outputs = _shared_tables(cases, self.engine.dtype)
        network = self.topology.network(inputs.shape[-1], outputs.shape[-1])
        cut = inputs.shape[-2] - cases[0].validation
        validation = Data(inputs[..., cut:, :], outputs[..., cut:, :])
        sets = Sets(Data(inputs[..., :cut, :], outputs[..., :cut, :]), validation)
        weights = initial_weights(network, seeds, self.reading.weights)
        trained = train(network, weights, sets, self.reading.procedure, seeds=seeds, engine=self.engine)
        answered = predict(network, trained.weights, validation.inputs, engine=self.engine)
        told = self._told(trained, answered, validation.targets)
        runs: dict[int, list[int]] = {}
        for run, own in enumerate(cases):
            runs.setdefault(id(own), []).append(run)
        made: dict[int, NetworkPredictor] = {}
        for rows in runs.values():
            networks = SharedOutputs(network, trained.weights[rows], self.engine)
            for row, run in enumerate(rows):
                made[run] = NetworkPredictor(networks, row, cases[run].training, told[run])
        return [made[run] for run in range(len(cases))]

    def _told(self, trained: Trained, outputs: Numbers, wanted: Numbers) -> list[dict[str, float | str]]:
        """How training went; of classes, how many validation cases are told wrongly."""
        figures = {
            "train": trained.lowest_training,
            "valid": trained.lowest_validation,
            "gl": trained.overfit,
            "epochs": trained.epochs,
            "relevant": trained.relevant_epochs,
        }
        if is_class_code(wanted):
            pairs = zip(outputs, np.broadcast_to(wanted, outputs.shape), strict=True)
            figures["valid_class"] = np.array([classification_error(*pair) for pair in pairs])
        engine = f"{self.engine.backend} {self.engine.dtype} {self.engine.device}"
        return [
            {
                **{name: float(values[run]) for name, values in figures.items()},
                "stopped_by": why,
                "on": engine,
            }
            for run, why in enumerate(trained.reasons)
        ]


class ProbenCases(NamedTuple):
    """The cases of a training set as numbers, the last ones for validation."""

    inputs: Numbers
    outputs: Numbers
    validation: int
    training: TrainingSet

    @classmethod
    def of(cls, training: TrainingSet) -> ProbenCases:
        """What a training set holds."""
        columns, cut = training.cases.columns, len(training.inputs)
        return cls(_table(columns[:cut]), _table(columns[cut:]), training.validation_size, training)

    @property
    def shape(self) -> tuple[int, ...]:
        """What must be equal to be trained together."""
        return (*self.inputs.shape, self.outputs.shape[1], self.validation)


def _seed(rng: np.random.Generator) -> int:
    """What a generator was seeded with: the networks draw from streams of their own, named by it."""
    entropy: Any = rng.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
    return int(entropy) % 2**64


@dataclass(eq=False)
class SharedOutputs:
    """Networks that were trained on the same cases; inputs that one is asked for are answered by all."""

    network: Architecture
    weights: NDArray[Any]
    engine: Engine
    _last: tuple[Numbers, Numbers] | None = None

    def of(self, run: int, inputs: Numbers) -> Numbers:
        """The outputs of a run's network."""
        if self._last is None or not np.array_equal(inputs, self._last[0]):
            self._last = inputs, predict(self.network, self.weights, inputs, engine=self.engine)
        outputs: Numbers = self._last[1][run]
        return outputs


@dataclass(frozen=True, eq=False)
class NetworkPredictor:
    """A trained network, which answers with its outputs; `told` is how its training went."""

    networks: SharedOutputs
    run: int
    training: TrainingSet
    told: Told

    def predict(self, inputs: TestInputs) -> Answer:
        """A number for each output node."""
        outputs = self.networks.of(self.run, _table(inputs.cases.columns))
        return Answer(Guesses(self.training.targets, tuple(outputs.T)))


def is_class_code(outputs: Numbers) -> bool:
    """Whether outputs are a 1-of-m code."""
    return outputs.shape[-1] > 1 and bool(
        np.isin(outputs, (0, 1)).all() and (outputs.sum(axis=-1) == 1).all()
    )


def _table(columns: Iterable[Column]) -> Numbers:
    return np.column_stack([column.numbers() for column in columns])


def _shared_tables(cases: Sequence[ProbenCases], dtype: str) -> tuple[Numbers, Numbers]:
    """Inputs and outputs: the same cases for all runs, or each run's own."""
    first = cases[0]
    if all(own is first for own in cases):
        return first.inputs, first.outputs
    inputs = np.stack([own.inputs for own in cases], dtype=dtype, casting="same_kind")
    return inputs, np.stack([own.outputs for own in cases], dtype=dtype, casting="same_kind")
