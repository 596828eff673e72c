"""Runs trained together on a GPU: the epochs of a strip are one CUDA graph, started by one call of the host.

An epoch of a small batch is some seventy short operations. Called one by one they take the host eight times
as long as the GPU; captured once and replayed, they take what the GPU takes. What an epoch remembers must lie
in the same arrays before and after a strip (`Course.settle`): a graph knows addresses, not names.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from redelve.nets.algorithms.course import Course
from redelve.nets.backend import Array, Replays
from redelve.nets.group import Ended, Group, GroupLesson
from redelve.nets.stopping import success_alone
from redelve.nets.trained import Curves, Ledger

LONGEST = 10
"""Epochs in one graph at most: capturing more takes longer than it saves."""

STAY = 0.75
"""Where it costs something, the batch is thinned out when fewer than this share of it are under way."""

SMALL = 2**21
"""Up to so many numbers in a table of units × cases × runs, company costs nothing: no run leaves early."""


def may_be_replayed(lesson: GroupLesson) -> bool:
    """Whether strips of this training can be graphs: on CUDA, if the host has nothing to decide inside."""
    watches = any(rule.needs_worst for rule in lesson.stopping.parts())
    decides = watches and (success_alone(lesson.stopping) is None or lesson.sets.validation is not None)
    return lesson.engine.device.startswith("cuda") and not decides


class StripTally:
    """What epochs leave behind, in arrays that stay where they are, a number for each run.

    Sum, lowest and last training error since the last measurement; with a `tau`, the epoch at which a run
    succeeded (plus one; 0 is not yet) and its weights then.
    """

    def __init__(self, course: Course, tau: float | None) -> None:
        engine, runs = course.kernel.engine, course.kernel.runs
        self._kernel, self._tau = course.kernel, tau
        self.total, self.last, self.success = (engine.zeros((runs,)) for _ in range(3))
        self.lowest = engine.zeros((runs,)) + np.inf
        self.clock = engine.zeros((1,))
        self.weights = None if tau is None else course.weights * 1.0

    def add(self, error: Array, worst: Array | None, weights: Array) -> None:
        """One more epoch: its errors, and who has succeeded before the weights move."""
        xp = self._kernel.xp
        lower = xp.minimum(self.lowest, error)
        self.total += error
        self.last[...] = error
        self.clock += 1.0
        if self._tau is None:
            self.lowest[...] = lower
            return
        assert worst is not None
        assert self.weights is not None
        under_way = self.success == 0.0
        self.lowest[...] = xp.where(under_way, lower, self.lowest)
        newly = under_way & (worst < self._tau)
        self.success[...] = xp.where(newly, self.clock, self.success)
        self.weights[...] = xp.where(self._kernel.spread(newly), weights, self.weights)

    def close(self) -> Array:
        """Sum, lowest and last error, and room for one more row; the next epoch begins a new strip."""
        rows = self._kernel.xp.stack([self.total, self.lowest, self.last, self.last])
        self.total[...] = 0.0
        self.lowest[...] = np.inf
        return rows

    def keep(self, positions: Array) -> None:
        """Go on with these runs only."""
        for name in ("total", "last", "success", "lowest"):
            setattr(self, name, getattr(self, name)[positions])
        self.weights = None if self.weights is None else self._kernel.take(self.weights, positions)


class GraphGroup(Group):
    """A group whose strips are graphs; where a batch is small, runs that have stopped stay in it."""

    def __init__(
        self, lesson: GroupLesson, runs: NDArray[np.intp], ledger: Ledger, curves: Curves | None
    ) -> None:
        super().__init__(lesson, runs, ledger, curves)
        self._tau = success_alone(lesson.stopping)
        self._tally = StripTally(self._course, self._tau)
        self._lowest = self._tally.lowest * 1.0
        self._seen = self._tally.close()
        self._strip_began = 0
        self._replays = Replays()

    def _advance(self) -> None:
        """Up to the next measurement, or as many epochs as a graph has at most."""
        ahead = self._lesson.schedule.after(self._watch.epoch)
        count = min(LONGEST, ahead - self._watch.epoch)
        self._do(count, lambda: self._walk(count))
        self._watch.epoch += count
        if self._tau is not None:
            self._let_successful_go(everyone=self._watch.epoch == ahead)

    def _walk(self, count: int) -> None:
        for _ in range(count):
            seen = self._course.look(worst=self._tau is not None)
            self._tally.add(seen.error, seen.worst, self._course.weights)
            self._course.move()

    def _do(self, name: object, work: Callable[[], None]) -> None:
        """Some work, replayed if every epoch makes the same calls."""
        if not self._course.is_replayable:
            work()
            return
        homes = self._course.homes()

        def settled() -> None:
            work()
            self._course.settle(homes)

        self._replays.do(name, settled)

    def _let_successful_go(self, everyone: bool) -> None:
        """Runs that have succeeded leave, late: when they are many, or `everyone` must be told of."""
        success = self._tally.success
        if not everyone and int((success > 0).sum()) < (1 - STAY) * len(self._runs):
            return
        ended = self._numpy(success).astype(np.int64)
        fired = (ended > 0) & ~self._stopped
        if not fired.any():
            return
        self._watch.worst = np.where(fired, -np.inf, np.inf)
        self._records.note_training(self._numpy(self._tally.lowest))
        self._leave(fired, extra_passes=1, ended=Ended(ended - 1, self._tally.weights))
        self._watch.worst = None

    def _closed_strip(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        self._do("measure", self._look_back)
        total, lowest, last, self._validation_errors = self._numpy(self._seen)
        mean = total / (self._watch.epoch - self._strip_began)
        self._strip_began = self._watch.epoch
        return mean, lowest, last

    def _look_back(self) -> None:
        """What a strip has brought, with the errors on validation cases; the best weights are kept."""
        self._seen[...] = self._tally.close()
        if self._validation is None:
            return
        xp, weights = self._kernel.xp, self._course.weights
        errors = self._kernel.errors(weights, self._validation)
        better = errors < self._lowest
        self._best[...] = xp.where(self._kernel.spread(better), weights, self._best)
        self._lowest[...] = xp.where(better, errors, self._lowest)
        self._seen[3] = errors

    def _note_validation(self, which: NDArray[np.bool_]) -> None:
        self._measurements += 1
        self._records.note_validation(self._validation_errors, self._watch, which)

    def _is_time_to_thin(self) -> bool:
        stopped, runs = int(self._stopped.sum()), len(self._stopped)
        size = runs * self._lesson.architecture.wiring.rows * self._lesson.sets.training.cases
        return stopped == runs or (size > SMALL and stopped > (1 - STAY) * runs)

    def _keep(self, stay: NDArray[np.intp]) -> None:
        super()._keep(stay)
        self._replays.forget()
        if len(stay):
            positions = self._kernel.engine.positions(stay)
            self._tally.keep(positions)
            self._lowest, self._seen = self._lowest[positions], self._seen[:, positions]
