"""Let a method learn and answer, and bring back what came of it, whatever the method does."""

from __future__ import annotations

import resource
import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from redelve.answers import Answer
from redelve.errors import PredictionError
from redelve.lessons import TestInputs, TrainingSet
from redelve.methods.contract import Method
from redelve.results import Costs, Status

LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class Limits:
    """What a job may use. With `isolated`, or with any limit, the method works in a process of its own."""

    seconds: float | None = None
    memory: int | None = None
    """Bytes."""
    threads: int = 1
    """Of BLAS and OpenMP; the same for all workers, because results may depend on it in the last bits."""
    isolated: bool = False


@dataclass(frozen=True)
class Outcome:
    """An answer, or why there is none; and what it took."""

    status: Status
    answer: Answer | None = None
    message: str = ""
    costs: Costs = field(default_factory=Costs)


def learn_and_answer(
    method: Method, training: TrainingSet, inputs: TestInputs, seed: int, limits: Limits
) -> Outcome:
    """The outcome of a method's work on one instance; never an exception of the method's."""
    return work(method, training, inputs, seed, limits.threads)


def work(method: Method, training: TrainingSet, inputs: TestInputs, seed: int, threads: int) -> Outcome:
    """Learn and answer right here."""
    from threadpoolctl import threadpool_limits

    rng = np.random.Generator(np.random.PCG64(seed))
    with warnings.catch_warnings(record=True) as heard, threadpool_limits(threads):
        warnings.simplefilter("always")
        start, cpu = time.perf_counter(), time.process_time()
        learnt = start
        try:
            predictor = method.learn(training, rng)
            learnt = time.perf_counter()
            answer = predictor.predict(inputs)
        except Exception as error:
            return Outcome("failed", message=_described(error), costs=_costs(start, learnt, cpu))
        costs = _costs(start, learnt, cpu)
    if not isinstance(answer, Answer):
        return Outcome("failed", message=f"expected an Answer but got {type(answer).__name__}", costs=costs)
    if len(answer) != len(inputs):
        wrong = PredictionError(f"expected answers for {len(inputs)} test cases but got {len(answer)}")
        return Outcome("failed", message=str(wrong), costs=costs)
    said = "; ".join(dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in heard))
    return Outcome("done", answer, said[:LONGEST_MESSAGE], costs)


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]


def _costs(start: float, learnt: float, cpu: float) -> Costs:
    end = time.perf_counter()
    if learnt == start:
        learnt = end
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Costs(learnt - start, end - learnt, time.process_time() - cpu, peak)
