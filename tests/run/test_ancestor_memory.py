"""Memory that is forked fast, and pages that are copied ahead: nothing that is held there changes."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import psutil
import pytest

from redelve.methods.contract import Method
from redelve.methods.shown import TrainingSet
from redelve.run.cells import Limits, Outcome, asking, let_go, rehearsal, work
from redelve.run.cells.ancestor_memory import (
    PAGE,
    WrittenPages,
    _mappings,
    _own_pages,
    fill_gaps,
    gather_small_objects,
    join_mappings,
    join_pages,
)
from redelve.run.experiment import pack, perform, plan
from tests.run.toys import Toy, toy_experiment

COUNT = 64


def _in_a_fork(check: object) -> bool:
    """Whether it holds in a process forked for that."""
    if (pid := os.fork()) == 0:
        code = 1
        try:
            code = 0 if check() else 2  # type: ignore[operator]
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _pages_of(values: np.ndarray) -> set[int]:
    start = values.ctypes.data
    return set(range(-(-start // PAGE), (start + values.nbytes) // PAGE))


@pytest.fixture
def values() -> np.ndarray:
    return np.arange(COUNT * PAGE // 8, dtype=np.float64)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux tells which pages are whose")
def test_the_pages_that_work_writes_to_are_found_and_copied_ahead(values: np.ndarray) -> None:
    half = values[: len(values) // 2]

    def work() -> None:
        half[:] = -1.0

    pages = WrittenPages(work)
    found = {
        place for one in pages.ranges for place in range(one.start // PAGE, (one.start + one.size) // PAGE)
    }
    assert _pages_of(half) <= found
    assert not _pages_of(values[len(values) // 2 + PAGE :]) & found
    assert (values == np.arange(len(values))).all()
    if _in_a_fork(pages.copy):  # else a kernel before 6.14, where cells rehearse instead
        assert _in_a_fork(lambda: pages.copy() and _pages_of(half) <= set(_own_pages(os.getpid()).tolist()))
    assert not _in_a_fork(lambda: _pages_of(half) <= set(_own_pages(os.getpid()).tolist()))


def test_without_pages_a_cell_is_told_to_rehearse() -> None:
    pages = WrittenPages(lambda: os._exit(0))
    assert len(pages.ranges) == 0
    assert not pages.copy()


def test_arranging_memory_leaves_what_is_held(values: np.ndarray) -> None:
    texts = [str(number) for number in range(10_000)]
    gather_small_objects(2)
    list(join_pages())
    fill_gaps()
    assert (values == np.arange(len(values))).all()
    assert texts == [str(number) for number in range(10_000)]


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux tells what is mapped where")
def test_parts_of_libraries_are_joined_and_still_work(values: np.ndarray) -> None:
    def check() -> bool:
        before = sum(1 for _ in _mappings("self"))
        join_mappings()
        after = list(_mappings("self"))
        is_kept = float(values @ values) == float((values**2).sum())
        return (
            len(after) < 0.7 * before
            and is_kept
            and all(one.rights != "rwxp" for one in after if one.node != "0")
        )

    assert _in_a_fork(check)


def test_a_warden_buries_its_cells() -> None:
    let_go()  # those that rest since other tests
    experiment = toy_experiment({"toy": Toy(None)}, 6, limits=Limits(isolated=True))
    jobs = plan(experiment)
    for job in (*jobs, *jobs):
        assert perform(pack(experiment, job)).status == "done"
    try:
        (warden,) = vars(asking._mine)["wardens"].values()
        assert (
            len(psutil.Process(warden.pid).children(recursive=True)) <= 3
        )  # a spare, and the last of the dead
    finally:
        let_go()


def test_jobs_with_and_without_a_frame_are_rehearsed_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn.linear_model  # noqa: F401

    seen: list[tuple[bool, str]] = []

    def noted(method: Method, training: TrainingSet, *more: Any) -> Outcome:
        outcome = work(method, training, *more)
        seen.append((training.own is not None, outcome.status))
        return outcome

    monkeypatch.setattr(rehearsal, "work", noted)
    rehearsal.rehearse(1, frames=True)
    assert seen == [(False, "done"), (True, "done")]
