"""Train many networks at once; predict with them; measure their errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from redelve.errors import SpecError
from redelve.nets.algorithms import Algorithm, WeightDecay
from redelve.nets.architecture import Architecture
from redelve.nets.backend import Engine
from redelve.nets.data import Data, Sets
from redelve.nets.error_functions import CrossEntropy, ErrorFunction, SquaredOutputError
from redelve.nets.graph_group import GraphGroup, may_be_replayed
from redelve.nets.group import Group, GroupLesson, make_kernel
from redelve.nets.schedule import Schedule
from redelve.nets.stacked import TABLE_SIZE
from redelve.nets.starting import initial_weights
from redelve.nets.stopping import StoppingRule
from redelve.nets.trained import Curves, Ledger, Trained

CHUNK_SIZE = 262_144
"""A chunk has about this many numbers in a table of units × cases, so that its tables stay in the cache."""

BUFFER = 256
"""NumPy copies rows of a table into a buffer until it is full, before it works on them; with its own 8192
numbers that takes 2.5 times as long as to work on a row of 1600 where it lies. Results do not change."""


@dataclass(frozen=True)
class Procedure:
    """How to train: algorithm, stopping rule, error, when to measure, whether to keep curves.

    `strips` is the length of a strip (validation errors are measured after every so many epochs) or the very
    epochs to measure at; the last epoch a rule allows is always measured. `decay` pulls weights to zero.
    """

    algorithm: Algorithm
    stopping: StoppingRule
    error: ErrorFunction = field(default_factory=SquaredOutputError)
    strips: int | tuple[int, ...] = 5
    curves: bool = False
    decay: WeightDecay | None = None


def train(
    architecture: Architecture,
    weights: NDArray[Any],
    sets: Sets,
    procedure: Procedure,
    *,
    seeds: Sequence[int] | None = None,
    engine: Engine | None = None,
) -> Trained:
    """Train a network for each row of `weights` (runs × connections); finished runs leave the batch at once.

    `seeds` (one for each run) are needed only by algorithms that draw. No run's result depends on the others:
    on NumPy, a run trained alone has bit for bit the result it has in any company.

    >>> xor = Data([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]])
    >>> network = Architecture((2, 2, 1), ("logistic", "logistic"))
    >>> from redelve.nets import GradientDescent, MaxEpochs, Success, initial_weights
    >>> procedure = Procedure(GradientDescent(7.0, momentum=0.65), Success(0.4) | MaxEpochs(2000))
    >>> trained = train(network, initial_weights(network, range(100), 1.4), Sets(xor), procedure)
    >>> trained.reasons.count("Success(tau=0.4)")
    79
    """
    engine = engine or Engine()
    runs = _check(architecture, weights, sets, procedure, seeds)
    schedule = Schedule.of(procedure.strips, procedure.stopping)
    lesson = GroupLesson(
        architecture=architecture,
        sets=sets,
        algorithm=procedure.algorithm,
        stopping=procedure.stopping,
        error=procedure.error,
        schedule=schedule,
        engine=engine,
        total=runs,
        seeds=seeds,
        decay=procedure.decay,
    )
    ledger = Ledger(weights, engine.dtype)
    curves = _blank_curves(schedule, sets, runs) if procedure.curves else None
    group = GraphGroup if may_be_replayed(lesson) else Group
    in_chunks(
        lambda rows: group(lesson, rows, ledger, curves).train(),
        architecture,
        min(getattr(procedure.algorithm, "batch_size", None) or sets.training.cases, sets.training.cases),
        runs,
        engine,
    )
    return ledger.close(curves)


def train_anew(
    architecture: Architecture,
    sets: Sets,
    procedure: Procedure,
    *,
    r: float,
    seeds: Sequence[int],
    engine: Engine | None = None,
) -> tuple[Trained, NDArray[Any]]:
    """Train a network for each seed, from weights between -r and r; and its outputs for validation cases."""
    if sets.validation is None:
        raise SpecError("outputs for validation cases are wanted, but there are none: give Sets some")
    weights = initial_weights(architecture, seeds, r)
    trained = train(architecture, weights, sets, procedure, seeds=seeds, engine=engine)
    return trained, predict(architecture, trained.weights, sets.validation.inputs, engine=engine)


def predict(
    architecture: Architecture, weights: NDArray[Any], inputs: ArrayLike, *, engine: Engine | None = None
) -> NDArray[Any]:
    """The outputs of every network for every case: runs × cases × outputs."""
    inputs = np.asarray(inputs)
    data = Data(inputs, np.zeros((*inputs.shape[:-1], architecture.outputs)))
    engine = engine or Engine()
    outputs = np.empty((len(weights), data.cases, architecture.outputs), dtype=engine.dtype)

    def work(rows: NDArray[np.intp]) -> None:
        kernel = make_kernel(architecture, engine, SquaredOutputError(), len(rows), data.cases)
        outputs[rows] = kernel.outputs(kernel.load(weights[rows]), kernel.prepare(data.of_runs(rows)))

    _check_data(architecture, weights, {"input": data})
    in_chunks(work, architecture, data.cases, len(weights), engine)
    return outputs


def measure(
    architecture: Architecture,
    weights: NDArray[Any],
    data: Data,
    *,
    error: ErrorFunction | None = None,
    engine: Engine | None = None,
) -> NDArray[np.float64]:
    """The error of every network on `data`."""
    engine, error = engine or Engine(), error or SquaredOutputError()
    error.check(architecture)
    error.check_targets(architecture, data.targets)
    errors = np.empty(len(weights))

    def work(rows: NDArray[np.intp]) -> None:
        kernel = make_kernel(architecture, engine, error, len(rows), data.cases)
        errors[rows] = engine.numpy(
            kernel.errors(kernel.load(weights[rows]), kernel.prepare(data.of_runs(rows)))
        )

    _check_data(architecture, weights, {"given": data})
    in_chunks(work, architecture, data.cases, len(weights), engine)
    return errors


def gradient(
    architecture: Architecture,
    weights: NDArray[Any],
    data: Data,
    *,
    error: ErrorFunction | None = None,
    engine: Engine | None = None,
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The summed error of every network, and its derivatives by all weights.

    Parameters
    ----------
    architecture
        What the networks look like.
    weights
        Runs × connections, a network in each row.
    data
        The cases; their weights, if any, multiply errors and derivatives.
    error
        `SquaredOutputError` (the default) or `CrossEntropy`.
    engine
        On what to compute.

    Returns
    -------
    errors, gradients
        For each run the sum over cases of ½ Σ (output − target)², or of the cross-entropy: not PROBEN1's
        percentage, nor a mean. And runs × connections derivatives of that sum.

    Examples
    --------
    >>> line = Architecture((1, 1), ("identity",))
    >>> errors, slopes = gradient(line, np.array([[2.0, 0.0]]), Data([[1.0], [2.0]], [[1.0], [1.0]]))
    >>> errors.tolist(), slopes.tolist()
    ([5.0], [[7.0, 4.0]])
    """
    engine, error = engine or Engine(), error or SquaredOutputError()
    error.check(architecture)
    error.check_targets(architecture, data.targets)
    errors, slopes = np.empty(len(weights)), np.empty(weights.shape, dtype=engine.dtype)
    share = 1.0 if isinstance(error, CrossEntropy) else 0.5

    def work(rows: NDArray[np.intp]) -> None:
        kernel = make_kernel(architecture, engine, error, len(rows), data.cases)
        own = data.of_runs(rows)
        seen = kernel.look(kernel.load(weights[rows]), kernel.prepare(own))
        errors[rows] = engine.numpy(seen.error) * share / error.scale(architecture, own.weight)
        slopes[rows] = kernel.unload(seen.gradient)

    _check_data(architecture, weights, {"given": data})
    in_chunks(work, architecture, data.cases, len(weights), engine)
    return errors, slopes


def _check(
    architecture: Architecture,
    weights: NDArray[Any],
    sets: Sets,
    procedure: Procedure,
    seeds: Sequence[int] | None,
) -> int:
    runs = _check_data(architecture, weights, sets.named())
    procedure.error.check(architecture)
    for data in sets.named().values():
        procedure.error.check_targets(architecture, data.targets)
    if seeds is not None and len(seeds) != runs:
        raise SpecError(f"{len(seeds)} seeds for {runs} runs: give one for each run")
    if sets.validation is None:
        for rule in procedure.stopping.parts():
            if rule.needs_validation:
                raise SpecError(
                    f"stopping rule {rule!r} needs validation cases: give Sets(training, validation)"
                )
    return runs


def _check_data(architecture: Architecture, weights: NDArray[Any], data: dict[str, Data]) -> int:
    if weights.ndim != 2 or weights.shape[1] != architecture.connection_count or not len(weights):
        raise SpecError(
            f"weights of shape {weights.shape}: give runs × {architecture.connection_count}, "
            "the architecture's connections"
        )
    for name, each in data.items():
        each.check(architecture, len(weights), name)
    return len(weights)


def _blank_curves(schedule: Schedule, sets: Sets, runs: int) -> Curves:
    def blank(data: Data | None) -> NDArray[np.float64] | None:
        return None if data is None else np.full((len(schedule.epochs), runs), np.nan)

    training = np.full((len(schedule.epochs), runs), np.nan)
    return Curves(np.array(schedule.epochs), training, blank(sets.validation), blank(sets.test))


def in_chunks(
    work: Callable[[NDArray[np.intp]], None],
    architecture: Architecture,
    cases: int,
    runs: int,
    engine: Engine,
) -> None:
    """Do the work for some of the runs at a time, in as many threads as the engine has."""
    if not engine.is_numpy:
        work(np.arange(runs))
        return
    threads = engine.threads or _allowed_threads()
    count = (
        math.ceil(runs / engine.chunk) if engine.chunk else _chunk_count(architecture, cases, runs, threads)
    )
    parts = np.array_split(np.arange(runs), count)
    with _one_thread_each():
        if min(threads, count) == 1:
            for rows in parts:
                _quietly(work, rows)
            return
        with ThreadPoolExecutor(min(threads, count)) as pool:
            for done in [pool.submit(_quietly, work, rows) for rows in parts]:
                done.result()


def _chunk_count(architecture: Architecture, cases: int, runs: int, threads: int) -> int:
    """Chunks as large as the cache likes; smaller ones, down to half of that, to keep all threads busy."""
    size = runs * min(architecture.wiring.rows * cases, TABLE_SIZE)
    return min(runs, max(math.ceil(size / CHUNK_SIZE), min(threads, 2 * size // CHUNK_SIZE), 1))


def _quietly(work: Callable[[NDArray[np.intp]], None], rows: NDArray[np.intp]) -> None:
    """Overflow is how a run diverges, and infinity is a fine argument of the logistic function."""
    with np.errstate(all="ignore"):
        np.setbufsize(BUFFER)  # of this thread, and until the block ends
        work(rows)


@cache
def _linear_algebra() -> ThreadpoolController:
    """The libraries that NumPy multiplies matrices with; looking for them takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


def _allowed_threads() -> int:
    counts = [each["num_threads"] for each in _linear_algebra().info()]
    return max(counts, default=1)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Matrix products on one thread: chunks run in parallel, and a product's order of sums is fixed."""
    with _linear_algebra().limit(limits=1):
        yield
