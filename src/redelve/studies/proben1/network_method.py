"""A network of PROBEN1's section 3.3 as a method: all runs train as one batch and tell how it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses, Target
from redelve.methods.contract import BatchMethod
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Column
from redelve.model.dataset import Numbers
from redelve.nets import Architecture, Data, Engine, Sets, Trained, predict
from redelve.nets.backend import side_by_side
from redelve.nets.training import train_anew
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

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """Levels: its outputs are numbers."""
        levels = [one.name for one in targets if one.kind == "categorical"]
        told = f"its outputs are numbers, but levels are wanted of {', '.join(levels)}"
        return f"{told}: take PROBEN1's problems with as_numbers=True" if levels else None

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[NetworkPredictor]:
        """Train all runs; those of one shape are one array."""
        different = {id(training): training for training in trainings}
        known = {key: ProbenCases.of(training) for key, training in different.items()}
        alike: dict[tuple[int, ...], list[int]] = {}
        for place, training in enumerate(trainings):
            alike.setdefault(known[id(training)].shape, []).append(place)
        batches = [
            self._batch(places, [known[id(trainings[one])] for one in places], [rngs[one] for one in places])
            for places in alike.values()
        ]
        how = partial(train_anew, procedure=self.reading.procedure, r=self.reading.weights)
        works = [partial(how, one.network, one.sets, seeds=one.seeds, engine=self.engine) for one in batches]
        made: dict[int, NetworkPredictor] = {}
        for batch, (trained, outputs) in zip(batches, side_by_side(self.engine, works), strict=True):
            pairs = () if batch.classes is None else zip(outputs, batch.classes, strict=True)
            told = self._told(trained, [classification_error(*pair) for pair in pairs])
            made |= zip(batch.places, self._predictors(batch, trained, told), strict=True)
        return [made[place] for place in range(len(trainings))]

    def _batch(
        self, places: Sequence[int], cases: Sequence[ProbenCases], rngs: Sequence[np.random.Generator]
    ) -> ProbenBatch:
        """Runs on cases of one shape, ready to be trained together."""
        seeds = [_seed(one) for one in rngs]
        inputs, outputs = _shared_tables(cases, self.engine.dtype)
        cut = inputs.shape[-2] - cases[0].validation
        wanted = outputs[..., cut:, :]
        every = np.broadcast_to(wanted, (len(places), *wanted.shape[-2:]))
        classes = every if is_class_code(wanted) else None
        network = self.topology.network(inputs.shape[-1], outputs.shape[-1])
        sets = Sets(Data(inputs[..., :cut, :], outputs[..., :cut, :]), Data(inputs[..., cut:, :], wanted))
        return ProbenBatch(places, cases, seeds, network, sets, classes)

    def _predictors(
        self, batch: ProbenBatch, trained: Trained, told: Sequence[Told]
    ) -> list[NetworkPredictor]:
        """The trained networks; those of the same cases answer together."""
        runs: dict[int, list[int]] = {}
        for run, own in enumerate(batch.cases):
            runs.setdefault(id(own), []).append(run)
        made: dict[int, NetworkPredictor] = {}
        for rows in runs.values():
            networks = SharedOutputs(batch.network, trained.weights[rows], self.engine)
            for row, run in enumerate(rows):
                made[run] = NetworkPredictor(networks, row, batch.cases[run].training, told[run])
        return [made[run] for run in range(len(batch.cases))]

    def _told(self, trained: Trained, wrong: Sequence[Numbers]) -> list[dict[str, float | str]]:
        """How training went; of classes, how many validation cases are told wrongly."""
        figures = {
            "train": trained.lowest_training,
            "valid": trained.lowest_validation,
            "gl": trained.overfit,
            "epochs": trained.epochs,
            "relevant": trained.relevant_epochs,
        }
        if wrong:
            figures["valid_class"] = np.array(wrong)
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


class ProbenBatch(NamedTuple):
    """Runs that are trained together, by their places among all, and what they have in common."""

    places: Sequence[int]
    cases: Sequence[ProbenCases]
    seeds: Sequence[int]
    network: Architecture
    sets: Sets
    classes: Numbers | None
    """The classes of each run's validation cases, coded by outputs; None where there are no classes."""


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
