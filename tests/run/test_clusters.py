"""Dask: a cluster that is already there, and what is told when it can't be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from distributed import LocalCluster

from redelve.errors import RedelveError, SpecError
from redelve.run.cells import Limits
from redelve.run.experiment import plan, run
from redelve.run.workers import Dask, as_they_end
from redelve.run.workers.cluster import _check_workers
from tests.run import toys
from tests.run.small_jobs import kills_itself_on_three
from tests.run.toys import Toy, content, toy_experiment


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=2, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("isolated", [True, False])
def test_a_cluster_gives_the_same_records(scheduler: str, isolated: bool) -> None:
    methods = {"quick": Toy(), "drawing": Toy(toys.draws_global_numbers), "warning": Toy(toys.warns)}
    experiment = toy_experiment(methods, 4, limits=Limits(isolated=isolated))
    workers = Dask(scheduler)
    found = {record.job: content(record) for record in run(experiment, plan(experiment), workers)}
    plain = toy_experiment(methods, 4)
    assert found == {record.job: content(record) for record in run(plain, plan(plain))}
    assert workers.pids == {}


def lost(one: object, reason: str) -> str:
    return f"lost {one}: {reason}"


def test_only_the_guilty_is_given_up() -> None:
    made = sorted(as_they_end(Dask(count=2), kills_itself_on_three, range(6), lost), key=str)
    assert made[:-1] == [0, 1, 2, 4, 5]
    assert made[-1] == "lost 3: its worker process was lost: 4 Dask workers died of it or beside it"


def test_a_local_cluster_that_lost_its_workers_gets_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask gives a worker up that does not start again within 15 seconds, as on a busy machine."""
    monkeypatch.setattr("redelve.run.workers.cluster.SECONDS_BETWEEN_COUNTS", 0.0)
    workers = Dask(count=1)
    workers.executor()
    cluster: Any = workers._cluster
    ((name, nanny),) = cluster.workers.items()
    cluster.sync(nanny.close)
    cluster.workers.pop(name, None)
    assert set(as_they_end(workers, total, [1.0, 2.0], lost)) == {1.0, 2.0}


def total(values: Any) -> float:
    return float(np.sum(values))


def test_large_jobs_are_sent_without_a_word(scheduler: str) -> None:
    made = list(as_they_end(Dask(scheduler), total, [np.ones(2_000_000)], lost))
    assert made == [2_000_000]


def test_no_scheduler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redelve.run.workers.cluster.SECONDS_TO_CONNECT", 1)
    with pytest.raises(SpecError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        Dask("tcp://127.0.0.1:9").executor()


class Client:
    """Workers with the versions given."""

    def __init__(self, *versions: str | None) -> None:
        self.versions = versions

    def wait_for_workers(self, count: int, timeout: float) -> None:
        if not self.versions:
            raise TimeoutError

    def run(self, function: Callable[[], str | None]) -> dict[str, str | None]:
        here = function()
        return {
            f"tcp://w:{number}": here if one == "same" else one for number, one in enumerate(self.versions)
        }


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ((), "tcp://s:1 has no workers: start some with `dask worker`"),
        (("same", None), "the Dask worker tcp://w:1 has no redelve but needs"),
        (("0.0.1",), "the Dask worker tcp://w:0 has redelve 0.0.1 but needs"),
    ],
)
def test_workers_must_have_redelve(versions: tuple[str | None, ...], message: str) -> None:
    _check_workers(Client("same"), "tcp://s:1")
    with pytest.raises(RedelveError, match=message):
        _check_workers(Client(*versions), "tcp://s:1")
