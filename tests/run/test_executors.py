"""Handing out: everything is done once, whoever does it and whoever dies of it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from redelve.assessment import assess
from redelve.errors import OptionalPackageError, RedelveError, SpecError
from redelve.run.cells import let_go
from redelve.run.executor_check import check_executor
from redelve.run.workers import (
    EXECUTORS,
    Dask,
    InProcess,
    Lent,
    Processes,
    Workers,
    as_they_end,
    workers_for,
    workers_from,
)
from redelve.run.workers.handing_out import PATIENCE_ALONE
from redelve.run.workers.processes import usable_cores
from redelve.run.workers.worker_contract import PATIENCE
from tests.run.processes_left import children
from tests.run.small_jobs import (
    double,
    exits_on_three,
    fails,
    fails_oddly,
    kills_itself_at_first,
    kills_itself_on_three,
    sleeps,
)


def lost(one: object, reason: str) -> str:
    return f"lost {one}: {reason}"


def done_by(workers: Workers, perform: Callable[[int], Any], given: Iterable[int]) -> list[Any]:
    return sorted(as_they_end(workers, perform, given, lost), key=str)


@pytest.fixture(autouse=True)
def _no_process_left() -> Iterator[None]:
    let_go()  # wardens that rest since other tests
    yield
    let_go()
    assert children() == []


def spawned() -> Executor:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


WORKERS: dict[str, Callable[[], Workers]] = {
    "serial": InProcess,
    "one process": lambda: Processes(1),
    "two processes": lambda: Processes(2),
    "threads": lambda: Lent(lambda: ThreadPoolExecutor(3), at_once=6),
    "somebody's processes": lambda: Lent(spawned, at_once=4),
    "loky": lambda: workers_from("loky", count=2),
}


@pytest.mark.parametrize("make", WORKERS.values(), ids=WORKERS)
def test_everything_is_done_once(make: Callable[[], Workers]) -> None:
    assert done_by(make(), double, range(30)) == sorted((2 * number for number in range(30)), key=str)


def test_workers_can_be_used_again() -> None:
    workers = Processes(1)
    assert done_by(workers, double, [1]) == done_by(workers, double, [1]) == [2]


def test_only_a_few_are_taken_at_a_time() -> None:
    taken = []

    def given() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    made = as_they_end(Processes(1), double, given(), lost)
    next(made)
    assert len(taken) <= 3
    made.close()


def test_closing_early_closes_what_was_given_and_the_workers() -> None:
    closed = []

    def given() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.append(True)

    made = as_they_end(Processes(2), time.sleep, given(), lost)
    next(made)
    made.close()
    assert closed == [True]
    assert children() == []
    assert list(made) == []


def test_what_is_under_way_is_known_and_stopped_at_once() -> None:
    made = as_they_end(Processes(2), sleeps, range(10), lost)
    seen: list[tuple[int, ...]] = []

    def watch() -> None:
        while not (seen and len(seen[-1]) == 2):
            time.sleep(0.05)
            seen.append(made.under_way)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(made)
    assert set(seen[-1]) == {0, 1}
    assert time.monotonic() - before < 30


def test_a_worker_that_ends_itself_costs_one_job() -> None:
    made = done_by(Processes(2), exits_on_three, range(6))
    assert made == [0, 1, 2, 4, 5, "lost 3: its worker process was lost: ended with exit code 4"]


@pytest.mark.parametrize(
    "make", [lambda: Processes(1), lambda: Lent(spawned, at_once=2)], ids=["own", "lent"]
)
def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path, make: Callable[[], Workers]) -> None:
    made = list(as_they_end(make(), kills_itself_at_first, [str(tmp_path / "mark")], lost))
    assert made == ["survived"]


@pytest.mark.parametrize(
    "make", [lambda: Processes(2), lambda: Lent(spawned, at_once=4)], ids=["own", "lent"]
)
def test_only_the_guilty_is_given_up(make: Callable[[], Workers]) -> None:
    made = done_by(make(), kills_itself_on_three, range(8))
    assert made[:-1] == [0, 1, 2, 4, 5, 6, 7]
    assert made[-1].startswith("lost 3: its worker process was lost")


def test_the_guilty_is_given_up_after_some_patience(tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    def dies(_: int) -> None:
        with mark.open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)

    list(as_they_end(Processes(1), dies, [1], lost))
    assert len(mark.read_text()) == PATIENCE + PATIENCE_ALONE


def test_idle_workers_that_die_are_replaced() -> None:
    workers = Processes(2)

    def given() -> Iterator[int]:
        yield from range(4)
        while len(workers.pids) < 2:
            time.sleep(0.01)
        for pid in workers.pids:
            os.kill(pid, signal.SIGKILL)
        yield from range(4, 8)

    assert done_by(workers, double, given()) == sorted((2 * number for number in range(8)), key=str)


def test_there_are_never_more_processes_than_cores_or_jobs() -> None:
    workers = Processes(500)
    made = as_they_end(workers, double, range(6), lost)
    next(made)
    assert 1 <= len(workers.pids) <= max(6, usable_cores())
    assert len(list(made)) == 5


def test_processes_that_cannot_start_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "broken.py"
    program.write_text("raise SystemExit(5)")
    monkeypatch.setattr("redelve.run.workers.child.PROGRAM", program)
    with pytest.raises(RedelveError, match="can't run redelve in another process: it ended with exit code 5"):
        done_by(Processes(2), double, range(4))


def test_calls_of_a_crew_that_is_shut_down_are_dropped() -> None:
    crew = Processes(1).executor()
    futures = [crew.submit(sleeps, number) for number in range(3)]
    crew.shutdown()
    assert all(future.done() for future in futures)


def test_errors_of_our_own_come_through() -> None:
    with pytest.raises(KeyError, match="7"):
        done_by(Processes(1), fails, [7])
    with pytest.raises(RuntimeError, match="OddError: 7 and 7"):
        done_by(Processes(1), fails_oddly, [7])


def test_what_cannot_be_sent_is_told() -> None:
    locks: Any = [threading.Lock()]
    with pytest.raises(SpecError, match="can't be sent to another process: TypeError: cannot pickle"):
        done_by(Processes(1), double, locks)


def test_a_lent_executor_that_breaks_is_told() -> None:
    with spawned() as executor, pytest.raises(SpecError, match="give a function that makes one"):
        done_by(Lent(executor, at_once=2), kills_itself_on_three, [3])


def test_a_lent_executor_is_not_shut_down() -> None:
    with ThreadPoolExecutor(1) as executor:
        assert done_by(Lent(executor, at_once=2), double, range(3)) == [0, 2, 4]
        assert executor.submit(double, 1).result() == 2


class Dropping(Executor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_an_executor_that_drops_jobs_is_told() -> None:
    with pytest.raises(RedelveError, match="dropped jobs that were under way: run again for the rest"):
        done_by(Lent(Dropping(), at_once=2), double, [1])


class Full(Executor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise RuntimeError("no\nroom")


class Rubbish(Executor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result("rubbish")
        return future


@pytest.mark.parametrize(
    ("executor", "told"),
    [
        (Full(), r"the executor \(\S+\.Full\) failed: RuntimeError: no room: mend it, or do without it"),
        (Rubbish(), r"the executor \S+\.Rubbish returned 'rubbish': return what the function returns"),
    ],
)
def test_an_executor_that_does_not_do_its_work_is_named(executor: Executor, told: str) -> None:
    with pytest.raises(SpecError, match=told):
        done_by(Lent(executor, at_once=2), double, [1])


def unmade(count: int | None = None) -> Workers:
    raise ValueError("no cluster")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (unmade, r'executor "theirs" \(\S+\.unmade\) failed: ValueError: no cluster'),
        (lambda: 3, r'executor "theirs" \(\S+\) returned 3: return workers'),
    ],
)
def test_what_makes_no_workers_is_named(
    make: Callable[..., Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EXECUTORS, "_items", {**EXECUTORS._items, "theirs": make})
    with pytest.raises(SpecError, match=told):
        workers_from("theirs")


def test_workers_have_names() -> None:
    assert isinstance(workers_from("serial"), InProcess)
    assert workers_from("processes", count=3).at_once == 6
    assert isinstance(workers_from("dask", scheduler="tcp://somewhere:8786"), Dask)
    assert isinstance(workers_for(1), InProcess)
    assert workers_for(2).at_once == 4
    assert isinstance(workers_for("tcp://somewhere:8786"), Dask)
    own = InProcess()
    assert workers_for(own) is own


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: workers_from("proceses"),
            'unknown executor "proceses": known are dask, .*, serial, slurm .did you mean "processes"',
        ),
        (
            lambda: workers_from("processes", scheduler="tcp://x:1"),
            'is for the executor "dask", not "processes"',
        ),
        (lambda: workers_from("processes", count=0), "the number of processes must be 1 or more, not 0"),
        (lambda: workers_from("loky", count=0), "the number of processes must be 1 or more, not 0"),
        (lambda: workers_from("serial", count=4), '"serial" is one process, not 4'),
        (lambda: workers_for(0), "the number of processes must be 1 or more, not 0"),
        (lambda: Dask("tcp://x:1", count=3), "the scheduler tcp://x:1 has its own workers"),
        (lambda: Lent(Dropping(), at_once=0), "at_once must be 1 or more, not 0"),
    ],
)
def test_wrong_workers_are_told(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        wrong()


def test_without_dask_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(OptionalPackageError, match=r'pip install "redelve\[dask\]"'):
        Dask(count=1).executor()


def test_without_loky_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "loky", None)
    with pytest.raises(OptionalPackageError, match=r'pip install "redelve\[loky\]"'):
        workers_from("loky", count=1).executor()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "dask" else ())
        for name in EXECUTORS
        if name != "slurm"  # which needs a cluster: test_slurm.py checks it with one that is played
    ],
)
def test_registered_executors_keep_to_the_contract(name: str) -> None:
    report = check_executor(name)
    assert report.passed, report


class Forgetful(Executor):
    """Does what it is told in this thread, but for a result of 6."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            made = fn(*args, **kwargs)
            future.set_result(made._replace(made=5) if made.made == 6 else made)
        except Exception as error:
            future.set_result(str(error))
        return future


def test_an_executor_that_does_its_work_badly_is_found_out() -> None:
    report = check_executor(Forgetful())
    assert [one.number for one in report.findings if one.status == "failed"] == ["X002", "X003"]
    assert "returned 'division by zero': return what the function returns" in report.of("X003").message


class Stubborn(InProcess):
    """Never lets go, and is in no hurry to begin."""

    at_once = 0

    def close(self) -> None:
        raise OSError("no room")


def test_workers_that_do_not_let_go_are_found_out() -> None:
    report = check_executor(Stubborn())
    assert report.of("X001").message == "at_once is 0, not 1 or more"
    assert report.of("X004").message == "OSError: no room"


def test_any_executor_of_the_standard_library_will_do() -> None:
    one, two = ["constant", "lin-1"], "demo/age/std.32"
    with ThreadPoolExecutor(2) as pool:
        lent = assess(one, two, workers=pool)
        assert pool.submit(double, 1).result() == 2
    assert lent.frame().equals(assess(one, two).frame())


def test_how_many_jobs_a_lent_executor_gets() -> None:
    with ThreadPoolExecutor(3) as pool:
        assert workers_for(pool).at_once == 6
    assert workers_for(Forgetful()).at_once >= 2


NOBODY = [object(), 2.5, None, [1], np.zeros(0), np.arange(3), pd.DataFrame({"a": [1]}), pd.Series([1])]


@pytest.mark.parametrize("nobody", [*NOBODY, InProcess, ThreadPoolExecutor])
def test_what_cannot_work_is_refused_with_what_can(nobody: Any) -> None:
    told = r"workers is .{1,80}: give a number of processes, a name \(dask, loky, processes, serial, slurm\)"
    with pytest.raises(SpecError, match=told):
        workers_for(nobody)
    with pytest.raises(SpecError, match=told):
        assess(["constant"], "demo/age", sizes=[512], workers=nobody)
