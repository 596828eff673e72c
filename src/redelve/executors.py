"""Who does the work: this process, processes of this machine, a cluster; any Executor will do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import Protocol, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


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
        """Let go of everything."""
        ...


class InProcess:
    """This process, one job after the other."""

    at_once = 1

    def executor(self) -> None:
        """Nobody else."""
        return

    def close(self) -> None:
        """Nothing to let go of."""


def as_they_end(
    workers: Workers,
    perform: Callable[[Given], Made],
    given: Iterable[Given],
    lost: Callable[[Given, str], Made],
) -> Iterator[Made]:
    """What is made of each, as soon as it is made."""
    for one in given:
        yield perform(one)
