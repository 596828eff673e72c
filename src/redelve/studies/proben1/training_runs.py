"""Train the networks of sheets: all runs of a dataset as one batch, several datasets where that pays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from redelve.data.proben1 import ExampleSet, Proben1Problem, problem
from redelve.nets import Architecture, Data, Engine, Sets, initial_weights, predict, train
from redelve.nets import Trained as Outcome
from redelve.stats.output_errors import classification_error, squared_error_percentage
from redelve.studies.proben1.plan import Sheet
from redelve.studies.proben1.readings import TrainingReading
from redelve.studies.proben1.topologies import Topology

Numbers = NDArray[np.float64]
Figures = dict[str, Numbers]
COLUMNS = ("train", "valid", "test", "class", "valid_class", "gl", "epochs", "relevant")
"""What is kept of a run: errors in per cent (of classes NaN where there are none), GL at the end, epochs."""


@dataclass(frozen=True, eq=False)
class Runs:
    """The figures of a sheet's runs, by columns, and why each run stopped; in the order of the sheet."""

    sheet: Sheet
    figures: Figures = field(repr=False)
    reasons: tuple[str, ...] = field(repr=False)

    def first(self, runs: int) -> Runs:
        """Its first runs only."""
        figures = {name: values[:runs] for name, values in self.figures.items()}
        return Runs(self.sheet.first(runs), figures, self.reasons[:runs])


@dataclass(frozen=True)
class NetworkJob:
    """Those of a sheet's runs, by their places, that have the same network."""

    sheet: Sheet
    topology: Topology
    places: tuple[int, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each run."""
        seeds = self.sheet.seeds
        return tuple(seeds[place] for place in self.places)


@dataclass(frozen=True)
class NetworkBatch:
    """Jobs whose networks and sets have equal shapes, trained as one array."""

    network: Architecture
    reading: TrainingReading
    jobs: tuple[NetworkJob, ...]

    @property
    def seeds(self) -> list[int]:
        """The seed of each run, job after job."""
        return [seed for job in self.jobs for seed in job.seeds]

    @property
    def sheets(self) -> set[tuple[str, str]]:
        """Part and dataset of the sheets it belongs to."""
        return {(job.sheet.part, job.sheet.dataset) for job in self.jobs}

    @property
    def work(self) -> int:
        """Weights times training cases times runs: roughly what an epoch costs."""
        cases = len(load(self.jobs[0].sheet.dataset).training)
        return self.network.connection_count * cases * len(self.seeds)


@lru_cache(maxsize=64)
def load(dataset: str) -> Proben1Problem:
    """A dataset's three sets; a name of PROBEN1's, or a .dt file."""
    return problem(dataset)


def has_classes(found: Proben1Problem) -> bool:
    """Whether the outputs code classes."""
    return found.file.header.bool_out > 1


def run_sheets(
    sheets: Iterable[Sheet], engine: Engine, done: Mapping[tuple[str, str], Runs] | None = None
) -> Iterator[Runs]:
    """The runs of each sheet as soon as it is complete, the most work first.

    `done` holds what was run before, by part and dataset, perhaps fewer runs than wanted: only those that are
    missing are made. That changes no run, because none depends on its company.
    """
    before = done or {}
    pages = {(sheet.part, sheet.dataset): _Page(sheet) for sheet in sheets}
    for key, page in pages.items():
        if (known := before.get(key)) is not None:
            page.enter(range(len(known.reasons)), known.figures, known.reasons)
    jobs = [job for page in pages.values() for job in page.jobs()]
    yield from (page.close() for page in pages.values() if page.is_full)
    for batch, figures, reasons in _train_all(make_batches(jobs, engine), engine):
        start = 0
        for job in batch.jobs:
            part = slice(start, start := start + len(job.places))
            page = pages[job.sheet.part, job.sheet.dataset]
            page.enter(job.places, {name: values[part] for name, values in figures.items()}, reasons[part])
            if page.is_full:
                yield page.close()


class _Page:
    """A sheet while it is being filled in."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._figures = {name: np.full(len(sheet.topologies), np.nan) for name in COLUMNS}
        self._reasons = [""] * len(sheet.topologies)

    @property
    def is_full(self) -> bool:
        return all(self._reasons)

    def enter(self, places: Sequence[int], figures: Mapping[str, Numbers], reasons: Sequence[str]) -> None:
        rows = list(places)
        for name, values in figures.items():
            self._figures[name][rows] = values
        for place, reason in zip(rows, reasons, strict=True):
            self._reasons[place] = reason

    def jobs(self) -> list[NetworkJob]:
        """What is still to be run."""
        places: dict[Topology, list[int]] = {}
        for place, topology in enumerate(self._sheet.topologies):
            if not self._reasons[place]:
                places.setdefault(topology, []).append(place)
        return [NetworkJob(self._sheet, topology, tuple(rows)) for topology, rows in places.items()]

    def close(self) -> Runs:
        return Runs(self._sheet, self._figures, tuple(self._reasons))


def make_batches(jobs: Iterable[NetworkJob], engine: Engine) -> list[NetworkBatch]:
    """Jobs as batches; the sheet with the most work comes first, and all of it before the next.

    On torch, where an epoch of a small batch costs as much as one of a large batch, datasets of equal shape
    go together; on NumPy each has its own batch, whose cases all runs share.
    """
    together: dict[object, list[NetworkJob]] = {}
    networks: dict[object, Architecture] = {}
    for job in jobs:
        found = load(job.sheet.dataset)
        network = job.topology.network(found.training.inputs.shape[1], found.training.outputs.shape[1])
        shape = (network, job.sheet.reading.identity, tuple(len(part) for part in found))
        key = (*shape, job.sheet.part, job.sheet.dataset) if engine.is_numpy else shape
        together.setdefault(key, []).append(job)
        networks[key] = network
    batches = [
        NetworkBatch(networks[key], part[0].sheet.reading, tuple(part)) for key, part in together.items()
    ]
    return sorted(batches, key=_turn(batches))


def _turn(batches: Sequence[NetworkBatch]) -> Callable[[NetworkBatch], tuple[int, tuple[str, str], int]]:
    """What batches are sorted by: the work of the whole sheet, the sheet, the work of the batch."""
    whole: Counter[tuple[str, str]] = Counter()
    for batch in batches:
        whole.update(dict.fromkeys(batch.sheets, batch.work))
    return lambda batch: (-max(whole[sheet] for sheet in batch.sheets), min(batch.sheets), -batch.work)


Trained = tuple[NetworkBatch, Figures, tuple[str, ...]]


def _train_all(batches: Sequence[NetworkBatch], engine: Engine) -> Iterator[Trained]:
    """On NumPy each batch works on one thread and `engine.threads` batches at a time; else one by one."""
    if not engine.is_numpy:
        yield from (_train(batch, engine) for batch in batches)
        return
    alone = replace(engine, threads=1)
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(engine.threads or 1) as pool:
        waiting = [pool.submit(_train, batch, alone) for batch in batches]
        try:
            for finished in as_completed(waiting):
                yield finished.result()
        finally:
            for each in waiting:
                each.cancel()


def _train(batch: NetworkBatch, engine: Engine) -> Trained:
    """Train a batch and measure its networks on the test sets."""
    problems = [load(job.sheet.dataset) for job in batch.jobs]
    runs = [len(job.places) for job in batch.jobs]
    training, validation, test = (_data(list(parts), runs) for parts in zip(*problems, strict=True))
    weights = initial_weights(batch.network, batch.seeds, batch.reading.weights)
    trained = train(
        batch.network,
        weights,
        Sets(training, validation),
        batch.reading.procedure,
        seeds=batch.seeds,
        engine=engine,
    )
    return batch, _figures(batch, trained, (validation, test), engine), trained.reasons


def _figures(batch: NetworkBatch, trained: Outcome, sets: tuple[Data, Data], engine: Engine) -> Figures:
    problems = [load(job.sheet.dataset) for job in batch.jobs]
    runs = [len(job.places) for job in batch.jobs]
    validation, test = (predict(batch.network, trained.weights, each.inputs, engine=engine) for each in sets)
    tests = [one.test for one in problems]
    figures = {
        "train": trained.lowest_training,
        "valid": trained.lowest_validation,
        "gl": trained.overfit,
        "epochs": trained.epochs.astype(np.float64),
        "relevant": trained.relevant_epochs.astype(np.float64),
        "test": _each(squared_error_percentage, test, tests, runs),
    }
    if all(map(has_classes, problems)):
        figures["class"] = _each(classification_error, test, tests, runs)
        validations = [one.validation for one in problems]
        figures["valid_class"] = _each(classification_error, validation, validations, runs)
    return figures


def _data(parts: Sequence[ExampleSet], runs: Sequence[int]) -> Data:
    """The same cases for all runs, or each job's for its own."""
    if len(parts) == 1:
        return Data(parts[0].inputs, parts[0].outputs)
    inputs = np.stack([part.inputs for part in parts], dtype=np.float32, casting="same_kind")
    outputs = np.stack([part.outputs for part in parts], dtype=np.float32, casting="same_kind")
    return Data(np.repeat(inputs, runs, axis=0), np.repeat(outputs, runs, axis=0))


def _each(
    measure: Callable[[Numbers, Numbers], Numbers],
    outputs: Numbers,
    sets: Sequence[ExampleSet],
    runs: Sequence[int],
) -> Numbers:
    """An error of every run's outputs on its job's cases."""
    parts = np.split(outputs, np.cumsum(runs)[:-1])
    return np.concatenate([measure(part, one.outputs) for part, one in zip(parts, sets, strict=True)])
