"""Two processes at work on one archive share the jobs."""

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.data.tasks import assignments_for
from redelve.methods.contract import named_methods
from redelve.run.experiment import Experiment, plan, run
from redelve.store import shared_work
from redelve.store.archive import carry_out
from redelve.store.shared_work import at_work


@pytest.fixture
def experiment() -> Experiment:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    return Experiment(named_methods(["constant"]), assignments_for(table, "y", options={"design": "cv 6"}))


def test_what_another_process_does_meanwhile_is_left_out(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one does the last three jobs while we do our first."""
    monkeypatch.setattr(shared_work, "LOOK_AGAIN", 0.0)
    jobs = plan(experiment)
    made: list[str] = []

    def watched(records: Any, _: Any) -> Generator[Any, None, None]:
        for number, record in enumerate(records):
            if not number:
                other = redelve.Archive.open(tmp_path)
                other.register(experiment.tasks, experiment.learners)
                for theirs in run(experiment, jobs[3:]):
                    other.add(theirs)
            made.append(record.digest)
            yield record

    results = carry_out(experiment, tmp_path, watch=watched)
    assert len(results.records) == 6
    assert set(made) == {experiment.digest(job) for job in jobs[:3]}
    assert redelve.Archive.open(tmp_path).verify().ok


def test_whoever_comes_second_begins_at_the_other_end(experiment: Experiment, tmp_path: Path) -> None:
    redelve.Archive.open(tmp_path, create=True)
    order: list[int] = []

    def watched(records: Any, _: Any) -> Generator[Any, None, None]:
        for record in records:
            order.append(record.job.instance)
            yield record

    with at_work(tmp_path) as is_first:
        assert is_first
        carry_out(experiment, tmp_path, watch=watched)
    assert order == [5, 4, 3, 2, 1, 0]
    with at_work(tmp_path) as is_first:
        assert is_first  # again, since nobody is left
    assert redelve.Archive.open(tmp_path).verify().ok


def test_looks_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def done() -> frozenset[str]:
        looks.append(1)
        return frozenset("abc"[: len(looks)])

    meanwhile = shared_work.DoneByOthers(done)
    assert not meanwhile("b")
    assert len(looks) == 1
    now = time.monotonic()
    monkeypatch.setattr("redelve.store.shared_work.time.monotonic", lambda: now + 10)
    assert meanwhile("b")
    assert not meanwhile("a")  # it was there before: a retry does it again
    assert len(looks) == 2
