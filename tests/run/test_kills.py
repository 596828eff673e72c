"""Whoever takes part is killed, again and again, the main program too: the archive is that of a quiet run.

A kill comes with every third record, so that it does not depend on the machine's speed how many there are.
Dask's workers and a SLURM of our own (tests/run/slurm_here.sh) take part in the large test.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from redelve.store import Archive
from redelve.store.archive import carry_out
from tests.run import killed
from tests.run.test_interruption import PROJECT, left, wait_until_gone
from tests.run.test_real_slurm import HERE, MISSING, tasks
from tests.run.test_same_bytes import contents

EVERY = 3
SILENCE = 120.0
"""Seconds without a record after which something hangs."""
TOKEN = "REDELVE_TEST_TOKEN"
MAIN = "main"
KINDS = ("cell", "warden", "worker", "Dask worker", "SLURM task", "SLURM job")
MAIN_EVERY = 10
"""Of so many kills one is of the main program; the others are of any kind that is there."""


@dataclass
class Killer:
    """Starts the same command until it ends by itself, and kills somebody with every third record."""

    archive: Path
    instances: int
    executors: Sequence[str]
    chance: random.Random = field(default_factory=lambda: random.Random(4))
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    records: int = 0
    kills: int = 0
    dead: Counter[str] = field(default_factory=Counter)
    starts: Counter[str] = field(default_factory=Counter)

    def work(self) -> None:
        """Until all is done."""
        while not self._is_finished():
            pass
        wait_until_gone(self.token)

    def _is_finished(self) -> bool:
        executor = self.chance.choice(self.executors)
        self.starts[executor] += 1
        command = [sys.executable, "-m", "tests.run.killed", executor, str(self.archive), str(self.instances)]
        log = self.archive.with_name("log")
        with (
            log.open("ab") as errors,
            subprocess.Popen(
                command,
                cwd=PROJECT,
                env={**os.environ, TOKEN: self.token},
                stdout=subprocess.PIPE,
                stderr=errors,
            ) as main,
        ):
            try:
                is_finished = self._followed(main, executor)
            finally:
                main.kill()
        assert is_finished or main.returncode == -signal.SIGKILL, log.read_text()[-2000:]
        return is_finished

    def _followed(self, main: subprocess.Popen[bytes], executor: str) -> bool:
        """Whether the program has ended by itself."""
        for line in lines(main):
            if line == killed.FINISHED:
                return main.wait(SILENCE) == 0
            self.records += 1
            if self.records % EVERY == 0 and main.poll() is None:
                self._kill(main, executor)
        return False

    def _kill(self, main: subprocess.Popen[bytes], executor: str) -> None:
        victims = self._victims(main, executor)
        if self.kills % MAIN_EVERY == MAIN_EVERY // 2 or not victims:
            victims = {MAIN: [main.pid]}
        self.kills += 1
        kind = self.chance.choice(sorted(victims))
        victim = self.chance.choice(victims[kind])
        if isinstance(victim, str):
            subprocess.run(["scancel", victim], check=True)
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        self.dead[kind] += 1

    def _victims(self, main: subprocess.Popen[bytes], executor: str) -> dict[str, list[int | str]]:
        """Everybody but the main program: processes by kind, and SLURM's names of its jobs."""
        found: dict[str, list[int | str]] = {}
        processes = []
        with contextlib.suppress(psutil.NoSuchProcess):
            processes += psutil.Process(main.pid).children(recursive=True)
        if executor == "slurm":
            at_work = [one for one in left(self.token) if kind_of(one) == "SLURM task"]
            processes += at_work
            for one in at_work:
                with contextlib.suppress(psutil.NoSuchProcess):
                    processes += one.children(recursive=True)
            found |= {"SLURM job": [*jobs]} if (jobs := tasks("--states=RUNNING")) else {}
        for one in processes:
            if (kind := kind_of(one)) is not None:
                found.setdefault(kind, []).append(one.pid)
        return found


def kind_of(process: psutil.Process) -> str | None:
    """What it is; a cell is forked by its warden."""
    try:
        words = " ".join(process.cmdline())
        if "redelve.run.cells.warden" in words:
            mother = process.parent()
            is_cell = mother is not None and "redelve.run.cells.warden" in " ".join(mother.cmdline())
            return "cell" if is_cell else "warden"
    except psutil.Error:
        return None
    if "redelve.run.workers.processes" in words:
        return "worker"
    if "redelve.run.workers.spool" in words:
        return "SLURM task"
    return "Dask worker" if "multiprocessing.spawn" in words else None


def lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    """What it prints, until it ends; one that prints nothing for long hangs."""
    assert process.stdout is not None
    rest = b""
    while True:
        ready, _, _ = select.select([process.stdout], (), (), SILENCE)
        assert ready, "nothing gets done"
        if not (part := os.read(process.stdout.fileno(), 1 << 16)):
            return
        *whole, rest = (rest + part).split(b"\n")
        yield from (one.decode() for one in whole)


def quiet(archive: Path, instances: int) -> dict[str, str]:
    """The files of an archive that nobody disturbed."""
    carry_out(killed.experiment(instances), archive)
    return contents(archive)


def sweep(archive: Path) -> None:
    """Let an hour pass for half-written files: whoever compacts the archive then removes them."""
    for path in archive.rglob("*.tmp"):
        os.utime(path, (0, 0))
    Archive.open(archive).compact()


def check(killer: Killer, wanted: dict[str, str]) -> None:
    """Every byte is as in the quiet archive but times, memory and machines; nothing else lies there."""
    report = Archive.open(killer.archive).verify()
    assert report.ok, str(report)
    assert report.records == 4 * killer.instances
    assert {one.status for one in Archive.open(killer.archive).load().records} == {"done"}
    sweep(killer.archive)
    assert contents(killer.archive) == wanted
    print(f"{report.records} jobs, {killer.dead.total()} kills {dict(killer.dead)}, {dict(killer.starts)}")


def test_main_workers_wardens_and_cells_may_be_killed(tmp_path: Path) -> None:
    killer = Killer(tmp_path / "archive", 8, ["processes"])
    killer.work()
    check(killer, quiet(tmp_path / "quiet", 8))
    assert killer.dead.total() >= 10
    assert killer.dead[MAIN] >= 1  # also killed where nobody else is there at that moment


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The name of the executor, if there can be a SLURM of our own here."""
    if MISSING or os.geteuid() != 0:
        yield []
        return
    folder = tmp_path / "slurm"
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    monkeypatch.setenv("REDELVE_SPOOL", str(tmp_path / "spools"))
    try:
        subprocess.run(["sh", str(HERE), "start", str(folder), "8"], check=True)
        yield ["slurm"]
        for _ in range(100):
            if not tasks():
                break
            time.sleep(0.2)
        assert tasks() == []
    finally:
        subprocess.run(["sh", str(HERE), "stop", str(folder)], check=True)
        shutil.rmtree(tmp_path / "spools", ignore_errors=True)


@pytest.mark.slow
def test_500_kills_in_2000_jobs(tmp_path: Path, cluster: list[str]) -> None:
    killer = Killer(tmp_path / "archive", 500, ["processes"] * 4 + ["dask"] + cluster)
    killer.work()
    check(killer, quiet(tmp_path / "quiet", 500))
    assert killer.dead.total() >= 500
    assert set(killer.dead) == {MAIN, *(KINDS if cluster else KINDS[:4])}, killer.dead
