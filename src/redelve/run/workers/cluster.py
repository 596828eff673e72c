"""Dask distributed: a cluster that exists, or one of this machine's own."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from redelve.errors import OptionalPackageError, RedelveError, SpecError
from redelve.run.workers.processes import usable_cores
from redelve.run.workers.worker_contract import PATIENCE, WorkerLost

SECONDS_TO_CONNECT = 30
SECONDS_BETWEEN_COUNTS = 5.0
"""Workers may come and go."""


class Dask:
    """The workers of a Dask scheduler, such as `tcp://host:8786`; without one, a local cluster.

    A local cluster needs `if __name__ == "__main__":` in scripts, as all of Dask's do.
    """

    def __init__(self, scheduler: str | None = None, *, count: int | None = None) -> None:
        if scheduler is not None and count is not None:
            raise SpecError(f"the scheduler {scheduler} has its own workers: leave out the count of {count}")
        self._scheduler = scheduler
        self._count = count
        self._cluster: Any = None
        self._client: Any = None
        self._threads, self._counted = 1, 0.0

    @property
    def at_once(self) -> int:
        """Twice as many as the workers have threads at this time."""
        if self._client is not None and time.monotonic() - self._counted > SECONDS_BETWEEN_COUNTS:
            self._threads = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
            if self._cluster is not None and self._threads < self._local:
                self._cluster.scale(self._local)  # one that took long to start again was given up by Dask
        return 2 * max(1, self._threads)

    @property
    def pids(self) -> dict[str, int]:
        """The numbers of the worker processes at this moment, by their addresses."""
        return {} if self._client is None else dict(self._client.run(os.getpid))

    def executor(self) -> Executor:
        """The cluster as an executor; a worker that dies is the scheduler's own affair."""
        if self._client is None:
            self._connect()
            _check_workers(self._client, str(self._scheduler or "the local cluster"))
        return Translated(self._client)

    @property
    def _local(self) -> int:
        """How many workers a local cluster has, with one thread each."""
        return self._count or usable_cores()

    def _connect(self) -> None:
        distributed = _distributed()
        if self._scheduler is None:
            self._cluster = distributed.LocalCluster(
                n_workers=self._local, threads_per_worker=1, dashboard_address=":0"
            )
        try:
            self._client = distributed.Client(
                self._cluster or self._scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise SpecError(f"no Dask scheduler answers at {self._scheduler}: {error}") from None

    def close(self) -> None:
        """Drop what is under way, leave the scheduler, end the local cluster."""
        client, cluster = self._client, self._cluster
        self._client = self._cluster = None
        self._counted = 0.0
        for one in (client, cluster):
            if one is not None:
                one.close()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise OptionalPackageError('Dask is not installed: pip install "redelve[dask]"') from None
    return distributed


def _check_workers(client: Any, scheduler: str) -> None:
    """All workers must have this version of redelve; those that come later are taken at their word."""

    def version() -> str | None:  # sent by value, so that it can be asked where there is no redelve
        from importlib import metadata

        try:
            return metadata.version("redelve")
        except metadata.PackageNotFoundError:
            return None

    here = version()
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
    except TimeoutError:
        raise RedelveError(f"{scheduler} has no workers: start some with `dask worker`") from None
    for worker, there in client.run(version).items():
        if there != here:
            found = "no redelve" if there is None else f"redelve {there}"
            raise RedelveError(
                f"the Dask worker {worker} has {found} but needs redelve {here}: install it there"
            )


class Translated(Executor):
    """A Dask client as an executor that speaks of lost workers as we do."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executor = client.get_executor(pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand out a call."""
        with warnings.catch_warnings():  # large jobs are no mistake here, and each is sent only once
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            theirs = self._executor.submit(fn, *args, **kwargs)
        ours: Future[Any] = Future()
        ours.add_done_callback(lambda _: theirs.cancel() if ours.cancelled() else None)
        theirs.add_done_callback(lambda _: _hand_over(theirs, ours))
        return ours


def _hand_over(theirs: Future[Any], ours: Future[Any]) -> None:
    if theirs.cancelled():
        ours.cancel()
    if not ours.set_running_or_notify_cancel():
        return
    error = theirs.exception()
    if error is None:
        ours.set_result(theirs.result())
    elif type(error).__name__ == "KilledWorker":  # after several deaths
        ours.set_exception(WorkerLost(_named(error), PATIENCE))
    else:
        ours.set_exception(error)


def _named(error: BaseException) -> str:
    times = getattr(error, "allowed_failures", 0) + 1
    return f"{times} Dask workers died of it or beside it"
