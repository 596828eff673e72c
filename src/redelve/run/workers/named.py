"""Workers by name, as the command line asks for them."""

from __future__ import annotations

from concurrent.futures import Executor

from redelve.errors import SpecError
from redelve.run.workers.child import thread_variables
from redelve.run.workers.cluster import Dask
from redelve.run.workers.processes import Processes, usable_cores
from redelve.run.workers.worker_contract import InProcess, Lent, Workers

NAMES = ("serial", "processes", "loky", "dask")
SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "ucxx://", "inproc://")
"""How an address of a Dask scheduler begins."""


def workers_for(workers: int | str | Workers, *, threads: int = 1) -> Workers:
    """Workers as a user may put it: a number of processes (1: this one), a name, a scheduler's address.

    >>> type(workers_for(1)).__name__, type(workers_for("tcp://host:8786")).__name__
    ('InProcess', 'Dask')
    """
    if isinstance(workers, int):
        return workers_from("serial" if workers == 1 else "processes", count=workers, threads=threads)
    if not isinstance(workers, str):
        return workers
    if workers.startswith(SCHEMES):
        return Dask(workers)
    return workers_from(workers, threads=threads)


def workers_from(
    name: str, *, count: int | None = None, scheduler: str | None = None, threads: int = 1
) -> Workers:
    """The workers called `serial`, `processes`, `loky` or `dask`; `count` of them, or a scheduler's.

    >>> workers_from("processes", count=2).at_once
    4
    """
    if scheduler is not None and name != "dask":
        raise SpecError(f'the scheduler {scheduler} is for the executor "dask", not "{name}"')
    if name == "serial":
        if count not in (None, 1):
            raise SpecError(
                f'"serial" is one process, not {count}: choose "processes" or leave out the count'
            )
        return InProcess()
    if name == "processes":
        return Processes(count, threads=threads)
    if name == "loky":
        return loky_workers(count, threads=threads)
    if name == "dask":
        return Dask(scheduler, count=count)
    raise SpecError(f'unknown executor "{name}": choose {", ".join(NAMES)}')


def loky_workers(count: int | None = None, *, threads: int = 1) -> Lent:
    """Processes managed by loky: a worker that dies costs all jobs under way, which are done again."""
    many = usable_cores() if count is None else count
    if many < 1:
        raise SpecError(f"the number of processes must be 1 or more, not {count}")

    def make() -> Executor:
        from loky import ProcessPoolExecutor

        made: Executor = ProcessPoolExecutor(many, env={**thread_variables(threads), "PYTHONHASHSEED": "0"})
        return made

    def end(executor: Executor) -> None:
        executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]

    return Lent(make, at_once=2 * many, shut_down=end)
