"""Processes that loky manages."""

from __future__ import annotations

from concurrent.futures import Executor

from redelve.errors import OptionalPackageError, SpecError
from redelve.run.workers.child import thread_variables
from redelve.run.workers.lent import Lent
from redelve.run.workers.processes import usable_cores
from redelve.run.workers.worker_contract import EXECUTORS


def loky_workers(count: int | None = None, *, threads: int = 1) -> Lent:
    """Processes managed by loky: a worker that dies costs all jobs under way, which are done again."""
    many = usable_cores() if count is None else count
    if many < 1:
        raise SpecError(f"the number of processes must be 1 or more, not {count}")

    def make() -> Executor:
        return _pool(many, threads)

    def end(executor: Executor) -> None:
        executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]

    return Lent(make, at_once=2 * many, shut_down=end)


def _pool(count: int, threads: int) -> Executor:
    try:
        from loky import ProcessPoolExecutor
    except ImportError:
        raise OptionalPackageError('loky is not installed: pip install "redelve[loky]"') from None
    made: Executor = ProcessPoolExecutor(count, env={**thread_variables(threads), "PYTHONHASHSEED": "0"})
    return made


EXECUTORS.add("loky", loky_workers)
