"""A spool: a folder on the common disk through which jobs reach tasks on other machines, and such a task.

Jobs wait in `jobs`. A task moves one to its own folder in `desks`, has it done by a child process, and puts
the answer into `answers`. The master and every task hold a locked file that is touched now and then: so the
jobs of a dead task are known, and a task whose master is dead ends. Messages are pickles, so the folder is
closed to everybody else.
"""

from __future__ import annotations

import contextlib
import os
import platform
import stat
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import NoReturn

from redelve import __version__
from redelve.errors import RedelveError
from redelve.run.leases import LEASE, Holder, is_held
from redelve.run.workers.child import Child, ChildDied, child_environment
from redelve.run.workers.processes import ILL, dumped_error

SPOOL = "REDELVE_SPOOL"
"""The variable with the folder for spools."""
LOOKED_EVERY = 1.0
"""Seconds between two looks at who is alive, for the master; twice as many for its tasks."""
SHORTEST, LONGEST = 0.01, 0.25
"""Seconds between two looks for something new, shorter where much happens."""
PREFIX = "redelve-"
JOBS, DESKS, ANSWERS, DEAD = "jobs", "desks", "answers", "dead"
HOLDERS = "*.holder"
DIED = b"\x02"
"""How the answer begins that tells the exit code of a child that died of its job."""


def new_spool() -> tuple[Path, Holder]:
    """A spool of our own, and our sign of life in it."""
    from redelve.data.delve.roots.finding import builtin_root  # not for tasks, which begin faster without

    parent = Path(os.environ.get(SPOOL) or Path(builtin_root()).with_name("slurm")).absolute()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        spool = Path(mkdtemp(prefix=PREFIX, dir=parent))
        for name in (JOBS, DESKS, ANSWERS, DEAD):
            (spool / name).mkdir()
        refuse_open(spool)
        return spool, Holder(spool)
    except OSError as error:
        told = f"no spool can be made in {parent}: {error.strerror}"
        raise RedelveError(f"{told}; {SPOOL} names another folder") from None


def orphans(spool: Path, holder: Holder) -> list[Path]:
    """Our spools beside this one whose masters are dead."""
    others = [one for one in spool.parent.glob(f"{PREFIX}*") if one != spool]
    return [one for one in others if _is_ours(one) and not _is_alive(one, holder.touch)]


def _is_ours(spool: Path) -> bool:
    found = spool.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _is_alive(spool: Path, now: Callable[[], float]) -> bool:
    """Whether somebody holds the spool, or has only just made it."""
    with contextlib.suppress(OSError):
        if (holder := next(spool.glob(HOLDERS), None)) is not None:
            return is_held(holder, now)
        return now() - spool.stat().st_mtime < LEASE
    return True


def refuse_open(spool: Path) -> None:
    """Raise an error unless the folder is ours and nobody else may enter it."""
    if not _is_ours(spool) or spool.lstat().st_mode & 0o077:
        raise RedelveError(
            f"the spool {spool} is open to others, who could have their code run: {SPOOL} names another "
            "folder, on a disk that keeps permissions"
        )


def write(path: Path, content: bytes) -> None:
    """All of it at once, under its name."""
    beside = path.with_suffix(".part")
    beside.write_bytes(content)
    beside.replace(path)


def read(path: Path) -> bytes:
    """The content of a file of our own."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        if os.fstat(file.fileno()).st_uid != os.geteuid():
            raise RedelveError(f"{path} belongs to somebody else, who could have code run")
        return file.read()


def waiting(folder: Path, suffix: str = "") -> list[Path]:
    """The messages in a folder, the oldest first; none in one that is gone."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(one for one in folder.iterdir() if one.suffix == suffix)
    return []


@dataclass(eq=False)
class Desk:
    """Where a task works: its folder and its sign of life."""

    path: Path
    holder: Path
    since: float = field(default_factory=time.monotonic)

    @property
    def task(self) -> str:
        """The name that SLURM has for the task, as 17_3."""
        return self.path.name.partition(".")[0]

    def jobs(self) -> list[int]:
        """The numbers of the jobs that it has begun."""
        return [int(path.stem) for path in self.path.glob("*.job")]


def work(spool: str, threads: str, version: str) -> NoReturn:
    """What a task of the array does until its master ends it."""
    if version != __version__:
        sys.exit(f"the node {platform.node()} has redelve {__version__} but needs {version}")
    refuse_open(Path(spool))
    SlurmTask(Path(spool), int(threads)).work()


class SlurmTask:
    """A task of the array: it takes jobs and has a child process do them, so that its signs of life go on."""

    def __init__(self, spool: Path, threads: int) -> None:
        self._spool = spool
        self._environment = child_environment(threads)
        self._name = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}"
        self._child: Child | None = None
        self._desk, self._holder = self._new_desk()

    def work(self) -> NoReturn:
        """At one desk after the other: a new one when the master has taken this task for dead."""
        threading.Thread(target=self._watch, daemon=True).start()
        while True:
            self._serve()
            self._holder.close()
            self._desk, self._holder = self._new_desk()

    def _new_desk(self) -> tuple[Path, Holder]:
        desk = self._spool / DESKS / f"{self._name}.{os.urandom(4).hex()}"
        desk.mkdir()
        return desk, Holder(desk)

    def _watch(self) -> None:
        """End when the master is gone."""
        is_over = False
        while not is_over:
            time.sleep(2 * LOOKED_EVERY)
            with contextlib.suppress(OSError, ValueError):  # a disk that is away, a desk that is changed
                master = next(self._spool.glob(HOLDERS), None)
                is_over = master is None or not is_held(master, self._holder.touch)
        if self._child is not None:
            self._child.stop()
        os._exit(0)

    def _serve(self) -> None:
        pause = SHORTEST
        while self._desk.is_dir():
            with contextlib.suppress(OSError):  # if no process can be started, the next job will tell
                self._ready_child()
            if (job := self._taken()) is None:
                time.sleep(pause)
            else:
                self._carry_out(job)
            pause = min(LONGEST, 2 * pause) if job is None else SHORTEST

    def _carry_out(self, job: Path) -> None:
        """Do a job; while the disk is full its answer waits here, unless the desk is taken away."""
        with contextlib.suppress(FileNotFoundError):
            answer = self._answer(read(job))
            while not self._is_delivered(job, answer):
                time.sleep(2 * LOOKED_EVERY)

    def _is_delivered(self, job: Path, answer: bytes) -> bool:
        try:
            write(self._spool / ANSWERS / job.stem, answer)
            job.unlink()
        except FileNotFoundError:
            raise
        except OSError as error:
            print(f"{job}: {error}", file=sys.stderr, flush=True)
            return False
        return True

    def _taken(self) -> Path | None:
        """The first job that waits, which is ours from now on."""
        for job in waiting(self._spool / JOBS, ".job"):
            ours = self._desk / job.name
            with contextlib.suppress(FileNotFoundError):  # another task was faster
                job.rename(ours)
            if ours.exists():
                return ours
        return None

    def _ready_child(self) -> Child:
        if self._child is None or not self._child.is_usable:
            self._child = Child("redelve.run.workers.processes", self._environment)
        return self._child

    def _answer(self, message: bytes) -> bytes:
        try:
            return self._ready_child().ask(message)
        except ChildDied as death:
            return DIED + str(death.code).encode()
        except Exception as error:
            return ILL + dumped_error(error)
