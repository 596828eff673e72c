"""A real SLURM of one node, from Debian's packages: an array does every job while its tasks are cancelled."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from redelve.errors import RedelveError
from redelve.run.cells import Limits
from redelve.run.experiment import Experiment, plan
from redelve.run.results import Job
from redelve.run.workers import InProcess, Workers, slurm
from redelve.run.workers.slurm import Slurm
from redelve.store import Archive
from redelve.store.archive import carry_out
from tests.run import toys
from tests.run.toys import Toy, content, toy_experiment

HERE = Path(__file__).with_name("slurm_here.sh")
MISSING = [one for one in ("slurmctld", "slurmd", "sbatch", "munged") if shutil.which(one) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING), reason=f"apt-get install slurmctld slurmd slurm-client munge: {MISSING}"
    ),
    pytest.mark.skipif(not MISSING and os.geteuid() != 0, reason="a SLURM of our own needs root"),
]


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("slurm")
    try:
        subprocess.run(["sh", str(HERE), "start", str(folder), "8"], check=True)
        yield folder / "slurm.conf"
    finally:
        subprocess.run(["sh", str(HERE), "stop", str(folder)], check=True)


@pytest.fixture
def spools(conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SLURM_CONF", str(conf))
    monkeypatch.setenv("REDELVE_SPOOL", str(tmp_path / "spools"))
    monkeypatch.setattr(slurm, "LINGERS", 0.0)
    yield tmp_path / "spools"
    assert list((tmp_path / "spools").iterdir()) == []
    for _ in range(100):
        if not tasks():
            break
        time.sleep(0.2)
    assert tasks() == []


def tasks(*options: str) -> list[str]:
    words = ["squeue", "--noheader", "--array", "--format=%i", *options]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


@contextmanager
def canceller(every: float) -> Iterator[list[str]]:
    """Cancel a running task now and then, and once all of them."""
    ended, chance, cancelled = threading.Event(), random.Random(5), list[str]()

    def cancel() -> None:
        while not ended.wait(every):
            running = tasks("--states=RUNNING")
            chosen = running if len(cancelled) == 4 else chance.sample(running, min(1, len(running)))
            if chosen:
                subprocess.run(["scancel", *chosen], check=False)
                cancelled.extend(chosen)

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        yield cancelled
    finally:
        ended.set()
        thread.join()


def experiment() -> Experiment:
    behaviours = {
        "quick": Toy(),
        "moment": Toy(toys.takes_a_moment),
        "drawing": Toy(toys.draws_global_numbers),
        "warning": Toy(toys.warns),
    }
    return toy_experiment(behaviours, 100, limits=Limits(isolated=True))


def archived(folder: Path, workers: Workers) -> dict[Job, tuple[object, ...]]:
    results = carry_out(experiment(), folder, workers=workers, answers=True)
    report = Archive.open(folder).verify()
    assert report.ok, str(report)
    assert report.records == len(results.records)
    return {record.job: content(record) for record in results.records}


def test_an_array_of_8_does_400_jobs_though_tasks_are_cancelled(spools: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    with canceller(every=1.0) as cancelled:
        made = archived(tmp_path / "slurm", Slurm(8))
    print(f"{len(made)} jobs in {time.monotonic() - began:.0f} s, {len(cancelled)} tasks cancelled")
    assert set(made) == set(plan(experiment()))
    assert len(made) == 400
    assert {one[3] for one in made.values()} == {"done"}
    assert len(cancelled) >= 8, "four, one after the other, and then the rest"
    assert made == archived(tmp_path / "serial", InProcess())


def done(archive: Path) -> int:
    try:
        return len(Archive.open(archive).done())
    except RedelveError:  # it is only being made
        return 0


def test_the_same_command_goes_on_after_its_master_was_killed(spools: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "redelve", "assess", "demo/age", "-m", "lin-1,constant", "-e", "slurm"]
    command += ["-w", "2", "-r", "10", "-o", str(tmp_path / "out")]
    with subprocess.Popen(command) as master:
        for _ in range(600):
            if done(tmp_path / "out" / "archive") > 3:
                break
            time.sleep(0.1)
        master.send_signal(signal.SIGKILL)
    assert len(list(spools.iterdir())) == 1
    before = done(tmp_path / "out" / "archive")
    assert subprocess.run(command, check=False).returncode == 0
    report = Archive.open(tmp_path / "out" / "archive").verify()
    assert report.ok, str(report)
    assert 0 < before < report.records
