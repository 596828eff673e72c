"""Processes at work on one archive share the jobs: each job is done once, and a dead one's are taken over."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.data.tasks import assignments_for
from redelve.methods.contract import named_methods
from redelve.run import leases
from redelve.run.experiment import Experiment, plan, run
from redelve.run.leases import SharedWork
from redelve.run.progress import shown
from redelve.store import archive as archive_module
from redelve.store.archive import carry_out
from redelve.store.layout import LEASES

SCRIPT = """
import os, sys, time
import pyarrow.parquet, sklearn.utils
import redelve, redelve.findings

class Slow:
    def __init__(self, log):
        self.log = log
    def fit(self, X, y):
        with open(self.log, "a") as log:
            log.write(f"{y.sum()!r}\\n")
        time.sleep(0.05)
        self.mean = y.mean()
        return self
    def predict(self, X):
        return [self.mean] * len(X)

assess, children = redelve.assess, []
while len(children) < 4:  # what they need is imported once
    if not (child := os.fork()):
        assess(
            {"slow": Slow(sys.argv[2])}, sys.argv[3], "y", design="cv 12x4", archive=sys.argv[1],
            progress=False, limits=redelve.Limits(isolated=False),
        )
        os._exit(0)
    children.append(child)
print(*children, flush=True)
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children), flush=True)
"""


@pytest.fixture
def experiment() -> Experiment:
    return Experiment(named_methods(["constant"]), assignments_for(table(), "y", options={"design": "cv 6"}))


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})


def test_what_another_process_does_meanwhile_is_left_out(experiment: Experiment, tmp_path: Path) -> None:
    """The other one does the last three jobs while we do our first, and is gone when their turn comes."""
    jobs = plan(experiment)
    made: list[str] = []

    def watched(records: Any, _: Any) -> Generator[Any, None, None]:
        for number, record in enumerate(records):
            if not number:
                other = redelve.Archive.open(tmp_path)
                with SharedWork(tmp_path / LEASES, other.done) as work:
                    for theirs in run(experiment, jobs[3:], is_done=work.is_taken):
                        other.add(theirs)
            made.append(record.digest)
            yield record

    results = carry_out(experiment, tmp_path, watch=watched)
    assert len(results.records) == 6
    assert set(made) == {experiment.digest(job) for job in jobs[:3]}
    assert redelve.Archive.open(tmp_path).verify().ok


def test_how_many_jobs_are_done_elsewhere_is_told(
    experiment: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = redelve.Archive.open(tmp_path, create=True)
    archive.register(experiment.tasks, experiment.learners)
    jobs = plan(experiment)

    def watched(records: Any, _: Any) -> Generator[Any, None, None]:
        with SharedWork(tmp_path / LEASES, archive.done) as work:
            for theirs in run(experiment, jobs[4:], is_done=work.is_taken):
                archive.add(theirs)
        yield from shown(records, 6)

    carry_out(experiment, tmp_path, watch=watched)
    assert "4 of 6 jobs, 2 by other processes, in " in capsys.readouterr().err


def test_claims_are_given_back_when_what_was_done_can_be_looked_up(tmp_path: Path) -> None:
    claim, seen = tmp_path / LEASES / "job", list[bool]()
    with SharedWork(tmp_path / LEASES, frozenset, settle=lambda: seen.append(claim.exists())) as work:
        assert not work.is_taken("job")
    assert seen == [True]
    assert not claim.exists()


def test_who_finds_nothing_to_do_claims_nothing_and_writes_nothing(tmp_path: Path) -> None:
    with SharedWork(tmp_path / LEASES, frozenset) as work:
        assert work.left_undone(["job"]) == (set(), set())
    assert list(tmp_path.iterdir()) == []


def test_claims_are_held_until_the_results_are_read_and_nothing_is_left_then(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests, seen = {experiment.digest(job) for job in plan(experiment)}, list[bool]()
    loaded = archive_module._loaded

    def watched(archive: redelve.Archive, *others: Any) -> Any:
        seen.append(digests <= {path.name for path in (tmp_path / LEASES).iterdir()})
        assert archive.done() == digests
        return loaded(archive, *others)

    monkeypatch.setattr(archive_module, "_loaded", watched)
    assert len(carry_out(experiment, tmp_path).records) == 6
    assert seen == [True]
    assert list((tmp_path / LEASES).iterdir()) == []


def test_jobs_that_another_holds_are_waited_for_and_done_where_it_gives_up(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LOOK_AGAIN", 0.0)
    digests = [experiment.digest(job) for job in plan(experiment)]
    archive, made = redelve.Archive.open(tmp_path, create=True), list[str]()
    other = SharedWork(tmp_path / LEASES, archive.done)
    looks: list[int] = []

    def give_up() -> bool:
        looks.append(1)
        if len(looks) == 3:
            other.__exit__()
        return True

    monkeypatch.setattr(leases.Passes, "_may_wait", property(lambda _: give_up, lambda *_: None), False)
    with other:
        assert [other.is_taken(one) for one in digests[:2]] == [False, False]

        def watched(records: Any, _: Any) -> Generator[Any, None, None]:
            for record in records:
                made.append(record.digest)
                yield record

        assert len(carry_out(experiment, tmp_path, watch=watched).records) == 6
    assert made == [*digests[2:], *digests[:2]]
    assert len(looks) == 3


def test_the_claims_of_the_dead_are_taken_over_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    redelve.Archive.open(tmp_path, create=True)
    code = (
        "import sys, time; from pathlib import Path; from redelve.run.leases import SharedWork\n"
        "with SharedWork(Path(sys.argv[1]) / 'leases', frozenset) as work:\n"
        "    work.is_taken('abc'); print(flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as other,
        SharedWork(tmp_path / LEASES, frozenset) as work,
    ):
        assert other.stdout is not None
        other.stdout.readline()
        assert work.is_taken("abc")
        assert work.left_undone(["abc"]) == ({"abc"}, set())
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        assert work.left_undone(["abc"]) == (set(), {"abc"})
        assert not work.is_taken("abc")
    assert len(list((tmp_path / LEASES).glob("*.holder"))) == 1
    archive = redelve.Archive.open(tmp_path)
    archive.compact()
    assert list((tmp_path / LEASES).iterdir()) == []
    assert archive.verify().ok


def test_a_holder_on_another_machine_lives_as_long_as_it_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    redelve.Archive.open(tmp_path, create=True)
    (tmp_path / LEASES).mkdir()
    claim = tmp_path / LEASES / "abc"
    claim.write_text("another machine")
    with SharedWork(tmp_path / LEASES, frozenset) as work:
        assert work.is_taken("abc")
        os.utime(claim, (time.time() - leases.LEASE - 5,) * 2)
        assert not work.is_taken("abc")


def test_a_disk_without_second_names_for_files_will_do(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("redelve.run.leases.os.link", refused)
    assert len(carry_out(experiment, tmp_path).records) == 6


def test_more_claims_than_a_file_may_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    redelve.Archive.open(tmp_path, create=True)
    link, counts = os.link, Counter[Path]()

    def few(source: Path, target: Path) -> None:
        counts[source] += 1
        if counts[source] > 2:
            raise OSError(31, "Too many links")
        link(source, target)

    monkeypatch.setattr("redelve.run.leases.os.link", few)
    with SharedWork(tmp_path / LEASES, frozenset) as work, SharedWork(tmp_path / LEASES, frozenset) as other:
        assert [work.is_taken(one) for one in "abcde"] == [False] * 5
        assert [other.is_taken(one) for one in "abcde"] == [True] * 5
    assert [path.name for path in (tmp_path / LEASES).iterdir()] == ["released"]


def test_four_processes_do_each_job_once_though_two_are_killed(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "t.csv", index=False)
    log = tmp_path / "log"
    log.touch()
    arguments = [tmp_path / "archive", log, tmp_path / "t.csv"]
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
        try:
            assert parent.stdout is not None
            everyone = [int(word) for word in parent.stdout.readline().split()]
            while len(log.read_text().splitlines()) < 12:
                assert parent.poll() is None
                time.sleep(0.02)
            for one in everyone[:2]:
                os.kill(one, signal.SIGKILL)
            assert parent.communicate(timeout=120)[0].split() == ["-9", "-9", "0", "0"]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(parent.pid, signal.SIGKILL)
    did = Counter(log.read_text().splitlines())
    assert len(did) == 48
    assert sum(did.values()) <= 48 + 2 * 2  # what the killed ones were at
    archive = redelve.Archive.open(tmp_path / "archive")
    assert len(archive.load().records) == 48
    assert archive.verify().ok
