"""A group of runs trained together, from first weights to the last one's end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.nets.algorithms import Algorithm, Start, WeightDecay
from redelve.nets.architecture import Architecture
from redelve.nets.backend import Array, Engine
from redelve.nets.data import Sets
from redelve.nets.error_functions import ErrorFunction
from redelve.nets.kernel import KernelCases, NetworkKernel
from redelve.nets.schedule import Schedule
from redelve.nets.stacked import StackedKernel
from redelve.nets.stopping import StoppingRule, StoppingWatch
from redelve.nets.trained import Curves, Ledger
from redelve.nets.wide import WideKernel

WIDE_LIMIT = 300
"""Up to so many connections times cases the wide kernel is faster (benchmarks/bench_nets.py)."""

LINGER = 16
"""On torch, runs that have stopped stay in the batch until they are one in so many: thinning it out costs
more than their company. On NumPy they leave at once."""


@dataclass(frozen=True)
class GroupLesson:
    """What all groups of one training have in common."""

    architecture: Architecture
    sets: Sets
    algorithm: Algorithm
    stopping: StoppingRule
    error: ErrorFunction
    schedule: Schedule
    engine: Engine
    total: int
    seeds: Sequence[int] | None
    decay: WeightDecay | None = None


def make_kernel(
    architecture: Architecture, engine: Engine, error: ErrorFunction, runs: int, cases: int
) -> NetworkKernel:
    """The kernel for networks of this size: it must not depend on the number of runs."""
    wide = architecture.connection_count * cases <= WIDE_LIMIT
    return (WideKernel if wide else StackedKernel)(architecture, engine, error, runs)


class Group:
    """Runs under way together; `train` writes their results into the ledger as they finish."""

    def __init__(
        self, lesson: GroupLesson, runs: NDArray[np.intp], ledger: Ledger, curves: Curves | None
    ) -> None:
        self._lesson = lesson
        self._ledger = ledger
        self._curves = curves
        self._runs = runs
        self._stopped = np.zeros(len(runs), dtype=bool)
        self._kernel = make_kernel(
            lesson.architecture, lesson.engine, lesson.error, len(runs), lesson.sets.training.cases
        )
        sets = {name: self._kernel.prepare(data.of_runs(runs)) for name, data in lesson.sets.named().items()}
        self._validation = sets.get("validation")
        self._test = sets.get("test") if curves is not None else None
        weights = self._kernel.load(ledger.weights[runs])
        self._course = lesson.algorithm.start(
            Start(self._kernel, sets["training"], weights, runs, lesson.total, lesson.seeds, lesson.decay)
        )
        self._best = self._course.weights * 1.0
        self._watch = StoppingWatch(
            0, np.zeros(len(runs)), np.full(len(runs), np.inf), np.zeros(len(runs), dtype=np.int64)
        )
        self._records = Records(len(runs))
        self._strip = Strip()
        self._needs_worst = any(rule.needs_worst for rule in lesson.stopping.parts())
        self._measurements = 0

    def train(self) -> None:
        """Until every run has stopped."""
        begin = time.thread_time()
        runs, places = self._runs, self._lesson.schedule.places
        while len(self._runs):
            self._advance()
            if len(self._runs) and self._watch.epoch in places:
                self._measure(places[self._watch.epoch])
        spent = time.thread_time() - begin
        epochs = np.maximum(self._ledger.epochs[runs], 1)
        self._ledger.cpu_seconds[runs] = spent * epochs / epochs.sum()

    def _advance(self) -> None:
        """One epoch."""
        seen = self._course.look(worst=self._needs_worst)
        self._strip.add(self._kernel.xp, seen.error)
        if self._needs_worst and self._leave_if_successful(seen.worst):
            return
        self._course.move()
        self._watch.epoch += 1

    def _leave_if_successful(self, worst: Array) -> bool:
        """Let runs go whose weights, before they move, are good; true if none is left."""
        self._watch.worst = self._numpy(worst)
        fired = self._lesson.stopping.fires(self._watch) & ~self._stopped
        if fired.any():
            if self._validation is not None:
                self._note_validation(fired)
            self._records.note_training(self._numpy(self._strip.lowest))
            self._leave(fired, extra_passes=1)
        self._watch.worst = None
        return not len(self._runs)

    def _measure(self, place: int) -> None:
        """The end of a strip."""
        mean, lowest, last = self._closed_strip()
        self._records.note_training(lowest)
        self._watch.progress = _relative_excess(mean, lowest, 1000.0)
        if self._validation is not None:
            self._note_validation(np.ones(len(self._runs), dtype=bool))
        self._note_curves(place, last)
        diverged = ~np.isfinite(last)
        fired = (self._lesson.stopping.fires(self._watch) | diverged) & ~self._stopped
        if fired.any():
            self._leave(fired, diverged=diverged)

    def _closed_strip(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Mean, lowest and last training error since the last measurement."""
        mean, lowest, last = (self._numpy(each) for each in self._strip.close())
        return mean, lowest, last

    def _note_validation(self, which: NDArray[np.bool_]) -> None:
        assert self._validation is not None
        errors = self._numpy(self._kernel.errors(self._course.weights, self._validation))
        self._measurements += 1
        better = which & self._records.note_validation(errors, self._watch, which)
        if better.any():
            chosen = self._kernel.spread(self._kernel.engine.positions(better))
            self._best = self._kernel.xp.where(chosen, self._course.weights, self._best)

    def _note_curves(self, place: int, training: NDArray[np.float64]) -> None:
        if self._curves is None:
            return
        under_way = ~self._stopped
        runs = self._runs[under_way]
        self._curves.training[place, runs] = training[under_way]
        if self._curves.validation is not None:
            self._curves.validation[place, runs] = self._records.validation[under_way]
        if self._curves.test is not None and self._test is not None:
            errors = self._numpy(self._kernel.errors(self._course.weights, self._test))
            self._curves.test[place, runs] = errors[under_way]

    def _leave(
        self,
        fired: NDArray[np.bool_],
        *,
        diverged: NDArray[np.bool_] | None = None,
        extra_passes: int = 0,
        ended: Ended | None = None,
    ) -> None:
        """Write down the results of runs that have stopped (now, if not told when); go on without them."""
        gone = np.flatnonzero(fired)
        rows, ledger = self._runs[gone], self._ledger
        ended = ended or Ended(np.full(len(fired), self._watch.epoch), self._course.weights)
        final = self._kernel.unload(self._taken(ended.weights, gone))
        ledger.final_weights[rows] = final
        ledger.weights[rows] = (
            final if self._validation is None else self._kernel.unload(self._taken(self._best, gone))
        )
        epochs = ended.epochs[gone]
        ledger.epochs[rows] = ledger.relevant_epochs[rows] = epochs
        ledger.lowest_training[rows] = self._records.lowest_training[gone]
        if self._validation is not None:
            ledger.relevant_epochs[rows] = self._records.relevant_epochs[gone]
            ledger.lowest_validation[rows] = self._records.lowest_validation[gone]
            ledger.overfit[rows] = self._watch.generalization_loss[gone]
        ledger.traversals[rows] = self._traversals(epochs, extra_passes)
        reasons = np.array(self._lesson.stopping.reasons(self._watch, gone), dtype=object)
        ledger.reasons[rows] = reasons if diverged is None else np.where(diverged[gone], "diverged", reasons)
        self._stopped[gone] = True
        if self._is_time_to_thin():
            self._keep(np.flatnonzero(~self._stopped))

    def _is_time_to_thin(self) -> bool:
        return self._lesson.engine.is_numpy or LINGER * int(self._stopped.sum()) >= len(self._stopped)

    def _keep(self, stay: NDArray[np.intp]) -> None:
        self._runs = self._runs[stay]
        self._stopped = self._stopped[stay]
        if not len(stay):
            return
        positions = self._kernel.engine.positions(stay)
        self._best = self._kernel.take(self._best, positions)
        self._validation = self._thinned(self._validation, positions)
        self._test = self._thinned(self._test, positions)
        self._course.keep(positions)
        self._kernel.shrink(len(stay))
        self._strip.keep(positions)
        self._records.keep(stay)
        self._watch = StoppingWatch(
            self._watch.epoch,
            self._watch.generalization_loss[stay],
            self._watch.progress[stay],
            self._watch.rises[stay],
            latches={rule: flags[stay] for rule, flags in self._watch.latches.items()},
            best_epochs=None if self._watch.best_epochs is None else self._watch.best_epochs[stay],
        )

    def _traversals(self, epochs: NDArray[np.int64], extra_passes: int) -> NDArray[np.int64]:
        algorithm, sets = self._lesson.algorithm, self._lesson.sets
        passes = algorithm.passes_before + algorithm.passes * epochs
        crossed = sets.training.cases * (2 * passes + extra_passes) + epochs
        if sets.validation is not None:
            crossed += sets.validation.cases * self._measurements
        return crossed * self._lesson.architecture.connection_count

    def _taken(self, weights: Array, positions: NDArray[np.intp]) -> Array:
        return self._kernel.take(weights, self._kernel.engine.positions(positions))

    def _thinned(self, cases: KernelCases | None, positions: Array) -> KernelCases | None:
        return None if cases is None else self._kernel.take_cases(cases, positions)

    def _numpy(self, values: Array) -> NDArray[np.float64]:
        return self._kernel.engine.numpy(values).astype(np.float64)


@dataclass(frozen=True)
class Ended:
    """When runs ended, and at which weights: those of all runs of a group."""

    epochs: NDArray[np.int64]
    weights: Array


class Strip:
    """Training errors of the epochs since the last measurement."""

    def __init__(self) -> None:
        self._count = 0
        self._sum: Any = None
        self._last: Any = None
        self.lowest: Any = None

    def add(self, xp: Any, error: Array) -> None:
        """The errors of one more epoch."""
        self._sum = error if self._count == 0 else self._sum + error
        self.lowest = error if self._count == 0 else xp.minimum(self.lowest, error)
        self._last = error
        self._count += 1

    def close(self) -> tuple[Array, Array, Array]:
        """Mean, lowest and last error; the next epoch begins a new strip."""
        mean, self._count = self._sum / self._count, 0
        return mean, self.lowest, self._last

    def keep(self, positions: Array) -> None:
        """Go on with these runs only."""
        if self._last is not None:
            self._sum, self.lowest, self._last = (
                each[positions] for each in (self._sum, self.lowest, self._last)
            )


class Records:
    """The best of each run so far."""

    def __init__(self, runs: int) -> None:
        self.lowest_training = np.full(runs, np.inf)
        self.lowest_validation = np.full(runs, np.inf)
        self.relevant_epochs = np.zeros(runs, dtype=np.int64)
        self.validation = np.full(runs, np.inf)

    def note_training(self, errors: NDArray[np.float64]) -> None:
        """Training errors."""
        self.lowest_training = np.fmin(self.lowest_training, errors)

    def note_validation(
        self, errors: NDArray[np.float64], watch: StoppingWatch, which: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Validation errors of some runs; tells `watch` GL and rises, and returns who is better."""
        better = (errors < self.lowest_validation) & which
        self.lowest_validation = np.where(better, errors, self.lowest_validation)
        self.relevant_epochs = np.where(better, watch.epoch, self.relevant_epochs)
        loss = _relative_excess(errors, self.lowest_validation, 100.0)
        watch.best_epochs = self.relevant_epochs
        watch.generalization_loss = np.where(which, loss, watch.generalization_loss)
        watch.rises = np.where(errors > self.validation, watch.rises + which, np.where(which, 0, watch.rises))
        self.validation = np.where(which, errors, self.validation)
        return better

    def keep(self, positions: NDArray[np.intp]) -> None:
        """Go on with these runs only."""
        for name, values in vars(self).items():
            setattr(self, name, values[positions])


def _relative_excess(
    value: NDArray[np.float64], base: NDArray[np.float64], scale: float
) -> NDArray[np.float64]:
    """scale (value / base - 1), where 0 / 0 is 1: GL(t) and P_k(t)."""
    with np.errstate(all="ignore"):
        return np.where(value == base, 0.0, scale * (value / base - 1.0))
