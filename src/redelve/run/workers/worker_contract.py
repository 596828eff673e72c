"""What workers are, and how a worker's death is told."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from typing import Protocol, TypeVar

from redelve.errors import SpecError

Given = TypeVar("Given")
Made = TypeVar("Made")

PATIENCE = 3
"""So many deaths of workers during a job make it suspicious."""
CERTAIN = 1000
"""Strikes against a job that certainly brought its worker down."""


class Workers(Protocol):
    """Executors, one after the other where they break, and how many jobs to hand out at a time."""

    @property
    def at_once(self) -> int:
        """How many jobs are under way or waiting at a worker."""
        ...

    def executor(self) -> Executor | None:
        """An executor that works, a new one if the last one broke; None: do it right here."""
        ...

    def close(self) -> None:
        """Let go of everything and stop what is under way; `executor` may be asked for again later."""
        ...


class WorkerLost(BrokenExecutor):
    """A worker died with a job; `strikes` says how likely it is that the job was the cause.

    0: the job had not begun; 1: perhaps; PATIENCE: likely; CERTAIN: nothing else can have been.
    """

    def __init__(self, reason: str, strikes: int = 1) -> None:
        self.strikes = strikes
        super().__init__(reason)


class InProcess:
    """This process, one job after the other."""

    at_once = 1

    def executor(self) -> None:
        """Nobody else."""
        return

    def close(self) -> None:
        """Nothing to let go of."""


def _shut_down(executor: Executor) -> None:
    executor.shutdown(wait=False, cancel_futures=True)


class Lent:
    """Any `concurrent.futures.Executor` of the user's, or a function that makes one, and makes another when
    it breaks. An executor given as such is not shut down.
    """

    def __init__(
        self,
        executor: Executor | Callable[[], Executor],
        *,
        at_once: int,
        shut_down: Callable[[Executor], None] = _shut_down,
    ) -> None:
        if at_once < 1:
            raise SpecError(f"at_once must be 1 or more, not {at_once}")
        self.at_once = at_once
        self._given = executor
        self._made: Executor | None = None
        self._shut_down = shut_down
        self._asked = False

    def executor(self) -> Executor:
        """The executor given, or a new one from the function given."""
        if isinstance(self._given, Executor):
            if self._asked:
                raise SpecError(
                    "the executor given has broken, so the rest can't be done by it: give a function that "
                    "makes one, such as `lambda: ProcessPoolExecutor(8)`, and a new one will take over"
                )
            self._asked = True
            return self._given
        self._end_made()
        self._made = self._given()
        return self._made

    def close(self) -> None:
        """Shut down what was made here."""
        self._asked = False
        self._end_made()

    def _end_made(self) -> None:
        if self._made is not None:
            self._shut_down(self._made)
            self._made = None
