"""Many jobs, methods that crash, hang and eat memory, workers killed from outside: nothing else is lost.

Records are compared with those of a quiet serial run, bit for bit.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from redelve.methods.contract import Method
from redelve.run.cells import Limits, let_go
from redelve.run.experiment import Experiment, plan, run
from redelve.run.results import Job, Record
from redelve.run.workers import Dask, InProcess, Processes, Workers, workers_from
from redelve.store import Archive
from tests.run import toys
from tests.run.toys import Toy, content, toy_experiment

QUIET = ("quick", "warning", "drawing")
TROUBLE = {
    "crashing": ("crashed",),
    "hanging": ("out of time", "crashed"),  # crashed: if its worker is killed again and again meanwhile
    "eating": ("out of memory", "out of time", "crashed"),
}
LIMITS = Limits(seconds=1.5, memory=100_000_000)


def methods() -> dict[str, Method]:
    return {
        "quick": Toy(),
        "warning": Toy(toys.warns),
        "drawing": Toy(toys.draws_global_numbers),
        "crashing": Toy(toys.crashes_on_some),
        "hanging": Toy(toys.hangs_rarely),
        "eating": Toy(toys.eats_memory_rarely),
    }


def descendants(name: str) -> list[psutil.Process]:
    found = []
    for one in psutil.Process().children(recursive=True):
        try:
            if name in " ".join(one.cmdline()):
                found.append(one)
        except psutil.Error:
            continue
    return found


@contextmanager
def killer(name: str, every: float) -> Iterator[list[int]]:
    """Kill a worker process now and then."""
    killed: list[int] = []
    ended = threading.Event()
    chance = random.Random(4)

    def kill() -> None:
        while not ended.wait(every):
            if victims := descendants(name):
                victim = chance.choice(victims)
                killed.append(victim.pid)
                try:
                    os.kill(victim.pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def expected(experiment: Experiment) -> dict[Job, tuple[object, ...]]:
    """A quiet serial run, in this process, of the methods that behave."""
    behaved = {name: methods()[name] for name in QUIET}
    quiet = Experiment(behaved, experiment.assignments, limits=Limits(isolated=False))
    return {record.job: content(record) for record in run(quiet, plan(quiet), InProcess())}


def check(experiment: Experiment, workers: Workers) -> None:
    let_go()  # wardens that rest since other tests
    jobs = plan(experiment)
    records = {record.job: record for record in run(experiment, jobs, workers)}
    assert set(records) == set(jobs)
    assert {job: content(records[job]) for job in jobs if job.method in QUIET} == expected(experiment)
    statuses = {name: {records[job].status for job in jobs if job.method == name} for name in TROUBLE}
    for name, allowed in TROUBLE.items():
        assert statuses[name] <= {"done", *allowed}
        assert statuses[name] & set(allowed), f"{name} made no trouble"
    assert descendants("child_main") == []
    check_archive(experiment, list(records.values()))


def check_archive(experiment: Experiment, records: list[Record]) -> None:
    """All records are kept, and nothing is wrong with the archive that keeps them."""
    with TemporaryDirectory() as folder:
        archive = Archive.open(Path(folder, "archive"), create=True)
        described = experiment.results(())
        archive.register(described.tasks, described.methods)
        for record in records:
            archive.add(record)
        archive.compact()
        report = archive.verify()
        assert report.ok, str(report)
        assert report.records == len(records)


@pytest.mark.parametrize(
    ("instances", "every"), [(20, 3.0), pytest.param(334, 3.0, marks=pytest.mark.slow)], ids=["120", "2004"]
)
def test_nothing_is_lost_when_workers_are_killed(instances: int, every: float) -> None:
    experiment = toy_experiment(methods(), instances, limits=LIMITS)
    with killer("redelve.run.workers.processes", every) as killed:
        check(experiment, Processes(2))
    assert killed


@pytest.mark.slow  # a quick one: test_clusters.py has workers of Dask that are killed
@pytest.mark.parametrize("instances", [20, 334], ids=["120", "2004"])
def test_nothing_is_lost_when_a_dask_worker_is_killed(instances: int) -> None:
    experiment = toy_experiment(methods(), instances, limits=LIMITS)
    workers = Dask(count=2)
    workers.executor()
    killed: list[int] = []

    def kill_one() -> None:
        victim = next(iter(workers.pids.values()))
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    timer = threading.Timer(2.0, kill_one)
    timer.start()
    check(experiment, workers)
    timer.join()
    assert killed


@pytest.mark.parametrize(
    ("make", "isolated"),
    [
        pytest.param(lambda: Processes(2), False, id="processes-False"),
        pytest.param(lambda: Processes(2), True, id="processes-True"),
        pytest.param(lambda: Dask(count=2), False, id="dask-False", marks=pytest.mark.slow),
        pytest.param(lambda: Dask(count=2), True, id="dask-True", marks=pytest.mark.slow),
        pytest.param(lambda: workers_from("loky", count=2), False, id="loky-False"),
        pytest.param(lambda: workers_from("loky", count=2), True, id="loky-True"),
    ],
)
def test_records_do_not_depend_on_who_made_them(make: Callable[[], Workers], isolated: bool) -> None:
    """Those of Dask are slow: test_clusters.py compares the same methods' records from one cluster."""
    chosen = {name: methods()[name] for name in QUIET}
    experiment = toy_experiment(chosen, 3, limits=Limits(isolated=isolated), runs=2)
    found = {record.job: content(record) for record in run(experiment, plan(experiment), make())}
    plain = toy_experiment(chosen, 3, runs=2)
    assert found == {record.job: content(record) for record in run(plain, plan(plain))}
