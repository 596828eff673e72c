"""What workers are and how a worker's death is told."""

from __future__ import annotations

import signal
from concurrent.futures import BrokenExecutor, Executor
from typing import Protocol, TypeVar, runtime_checkable

Given = TypeVar("Given")
Made = TypeVar("Made")

PATIENCE = 3
"""So many deaths of workers during a job make it suspicious."""
CERTAIN = 1000
"""Strikes against a job that certainly brought its worker down."""

FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT)
"""Ends that somebody else may have brought about: a user, a batch system, a machine short of memory."""


@runtime_checkable
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
