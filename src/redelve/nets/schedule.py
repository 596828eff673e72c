"""The epochs at which errors are measured: the ends of strips."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from redelve.errors import SpecError
from redelve.nets.stopping import StoppingRule


@dataclass(frozen=True)
class Schedule:
    """Epochs to measure at, in order; the last one is the last epoch any run may train."""

    epochs: tuple[int, ...]

    @classmethod
    def of(cls, strips: int | tuple[int, ...], stopping: StoppingRule) -> Schedule:
        """Strips of equal length, or measurements at given epochs, up to the limit of a stopping rule.

        >>> from redelve.nets import MaxEpochs
        >>> Schedule.of(5, MaxEpochs(12)).epochs
        (5, 10, 12)
        """
        limit = stopping.limit()
        if limit is None:
            raise SpecError(f"stopping rule {stopping!r} may never stop a run: add | MaxEpochs(n)")
        if isinstance(strips, int):
            strips = tuple(range(strips, limit, strips)) if strips > 0 else (0,)
        if any(epoch < 1 for epoch in strips):
            raise SpecError(f"strips {strips}: epochs to measure at begin with 1")
        return cls((*sorted({epoch for epoch in strips if epoch < limit}), limit))

    def after(self, epoch: int) -> int:
        """The next epoch to measure at."""
        return self.epochs[bisect_right(self.epochs, epoch)]

    @cached_property
    def places(self) -> dict[int, int]:
        """The position of each epoch in the schedule."""
        return {epoch: place for place, epoch in enumerate(self.epochs)}
