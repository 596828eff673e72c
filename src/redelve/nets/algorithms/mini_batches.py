"""Several steps in an epoch, each by some of the cases."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets.algorithms.course import Course, Start
from redelve.nets.kernel import KernelCases, KernelLook

DEALING = zlib.crc32(b"mini-batches")


def check_batch_size(size: int | None) -> None:
    """Refuse batches of nothing."""
    if size is not None and size < 1:
        raise SpecError(f"batch_size={size}: give 1 or more, or None for all cases at once")


def dealt(count: int, size: int, deal: int, epoch: int) -> list[NDArray[np.intp]]:
    """The cases of each batch of an epoch: all cases once, in an order that deal and epoch alone decide.

    >>> [batch.tolist() for batch in dealt(5, 2, 0, 0)] == [batch.tolist() for batch in dealt(5, 2, 0, 0)]
    True
    >>> sorted(len(batch) for batch in dealt(5, 2, 0, 0))
    [1, 2, 2]
    """
    key = np.array([deal, DEALING], dtype=np.uint64)
    order = np.random.Generator(np.random.Philox(key=key, counter=epoch << 64)).permutation(count)
    return np.split(order, range(size, count, size))


class MiniBatchCourse(Course):
    """A course whose epochs have a step for each batch of cases; without a batch size, one for all cases.

    All runs of all batches are dealt the same positions, so that nobody depends on who is trained beside it.
    The error of an epoch is the sum over its batches, each seen before its own step.
    """

    def __init__(self, start: Start, batch_size: int | None, deal: int) -> None:
        super().__init__(start)
        self._total = sum(block.cases for block in self.cases.blocks)
        self._size = min(batch_size or self._total, self._total)
        self._deal, self._epoch = deal, 0
        self.is_replayable = self._size == self._total
        if self._size < self._total:
            self.cases = self.kernel.joined(self.cases)

    def look(self, *, worst: bool) -> KernelLook:
        """The error of the epoch; all steps but the last, which is `move`'s, have been made."""
        if self._size == self._total:
            return super().look(worst=worst)
        errors, worsts = [], []
        for number, positions in enumerate(dealt(self._total, self._size, self._deal, self._epoch)):
            if number:
                self.move()
            seen = self._see_batch(positions, worst)
            errors.append(seen.error)
            worsts.append(seen.worst)
        self._epoch += 1
        seen.error = sum(errors[1:], errors[0])
        for one in worsts[:-1] if worst else ():
            seen.worst = self.kernel.xp.maximum(seen.worst, one)
        return seen

    def _see_batch(self, positions: NDArray[np.intp], worst: bool) -> KernelLook:
        chosen: KernelCases = self.kernel.some_cases(self.cases, self.kernel.engine.positions(positions))
        room = None if self.seen is None else self.seen.gradient
        share = len(positions) / self._total
        self.seen = self.see(self.weights, chosen, share=share, worst=worst, out=room)
        return self.seen
