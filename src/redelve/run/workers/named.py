"""Workers by name, as the command line asks for them, and the simplest of them: this process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from redelve.errors import SpecError
from redelve.run.workers.cluster import Dask
from redelve.run.workers.lent import Lent
from redelve.run.workers.processes import usable_cores
from redelve.run.workers.worker_contract import EXECUTORS, Workers


class InProcess:
    """This process, one job after the other."""

    at_once = 1

    def executor(self) -> None:
        """Nobody else."""
        return

    def close(self) -> None:
        """Nothing to let go of."""


def serial(count: int | None = None) -> InProcess:
    """This process; it is one, whatever is asked for."""
    if count not in (None, 1):
        raise SpecError(f'"serial" is one process, not {count}: choose "processes" or leave out the count')
    return InProcess()


EXECUTORS.add("serial", serial)

SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "ucxx://", "inproc://")
"""How an address of a Dask scheduler begins."""

WorkersLike = int | str | Workers | Executor
"""Workers as a user may put it."""


def workers_for(workers: WorkersLike, *, threads: int = 1) -> Workers:
    """The workers that are meant: a number of processes (1: this one), a name, a scheduler's address.

    Any `concurrent.futures.Executor` will do too; it is lent, and you shut it down yourself.

    >>> type(workers_for(1)).__name__, type(workers_for("tcp://host:8786")).__name__
    ('InProcess', 'Dask')
    """
    if isinstance(workers, int):
        return workers_from("serial" if workers == 1 else "processes", count=workers, threads=threads)
    if isinstance(workers, Executor):
        return Lent(workers, at_once=2 * (getattr(workers, "_max_workers", None) or usable_cores()))
    if isinstance(workers, Workers):
        return workers
    if not isinstance(workers, str):
        raise SpecError(
            f"workers is {workers!r}: give a number of processes, a name ({', '.join(EXECUTORS)}), "
            "a scheduler's address or an executor"
        )
    if workers.startswith(SCHEMES):
        return Dask(workers)
    return workers_from(workers, threads=threads)


def workers_from(
    name: str, *, count: int | None = None, scheduler: str | None = None, threads: int = 1
) -> Workers:
    """The workers of the executor registered under the name; `count` of them, or a scheduler's.

    >>> workers_from("processes", count=2).at_once
    4
    """
    make = EXECUTORS[name]
    wanted: dict[str, Any] = {"count": count, "scheduler": scheduler}
    known = _parameters(make)
    for option, value in wanted.items():
        if value is not None and option not in known:
            raise SpecError(f'the {option} {value} is for {_those_with(option)}, not "{name}"')
    given = {**wanted, "threads": threads}
    return make(**{option: value for option, value in given.items() if option in known})


def _parameters(make: Callable[..., Workers]) -> frozenset[str]:
    return frozenset(inspect.signature(make).parameters)


def _those_with(option: str) -> str:
    names = [f'"{name}"' for name in EXECUTORS if option in _parameters(EXECUTORS[name])]
    return f"the executor {' or '.join(names)}"
