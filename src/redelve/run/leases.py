"""Several processes at work on the same jobs, on one machine or on many: each does other jobs than the rest.

Whoever is at work has a file of its own in the folder of leases, locked as long as it lives and touched
every few seconds. It claims a job by a second name for this file, the job's digest: of several that try only
one succeeds. Claims stay until their holder ends. Those of one that died are taken over: on the same machine
as soon as its lock is free, from another machine when it was not touched for some minutes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

if sys.platform != "win32":
    import fcntl
if TYPE_CHECKING:
    from redelve.run.experiment import Batch, Experiment
    from redelve.run.results import Job, Record
    from redelve.run.workers import Ongoing

TOUCHED_EVERY = 15.0
LEASE = 180.0
"""Seconds after which a holder on another machine that was not touched is taken to be dead."""
LOOK_AGAIN = 0.5
"""Seconds between two looks at jobs that others do."""
RELEASED = "released"
"""Written anew before claims are given back: whoever then gets one looks whether its job was done."""
LOCK = "lock"

Inode = tuple[int, int]
_alive_here: set[Inode] = set()
"""The holders of this process: it cannot try its own locks, and would lose them by opening the files."""


class SharedWork:
    """One of those at work, with leases in a folder; `done` looks up the digests of all that is done.

    `settle` waits until what was done here can be looked up, before we look and before claims are given back.
    Whoever finds nothing to do claims nothing, and writes nothing.
    """

    def __init__(
        self, folder: Path, done: Callable[[], frozenset[str]], settle: Callable[[], None] = lambda: None
    ) -> None:
        self._folder, self._done, self._settle = folder, done, settle
        self._claims: set[str] = set()
        self._with_others: set[str] = set()
        self._holders: list[Holder] = []
        self._release = self._last_release()  # before what is done: whoever ends meanwhile tells it anew
        self.known = self._latest = done()
        """What was done when we began."""

    def __enter__(self) -> SharedWork:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._settle()
        finally:
            self._give_back()

    def _give_back(self) -> None:
        if self._claims:
            self._tell_release()
        for digest in self._claims:
            (self._folder / digest).unlink(missing_ok=True)
        for holder in self._holders:
            holder.close()

    def is_taken(self, digest: str) -> bool:
        """Whether somebody else does the job or has done it meanwhile; if not, it is ours from now on."""
        if digest in self._claims:
            return False
        path = self._folder / digest
        if not (self._linked(path) or self._taken_over(path)):
            self._with_others.add(digest)
            return True
        self._claims.add(digest)
        if (release := self._last_release()) != self._release:
            self._release, self._latest = release, self._done()
        is_done = self._is_done(digest)
        self._with_others |= {digest} if is_done else set()
        return is_done

    @property
    def seen_elsewhere(self) -> int:
        """How many jobs were found with others, or done by them."""
        return len(self._with_others)

    def left_undone(self, digests: Collection[str]) -> tuple[set[str], set[str]]:
        """Those of the jobs that others still do, and those that they did not do though they are gone."""
        if not self._with_others:
            return set(), set()
        self._settle()
        self._latest = self._done()
        wanted = {one for one in digests if one in self._with_others and not self._is_done(one)}
        held = {one for one in wanted if self._is_held(self._folder / one)}
        return held, wanted - held

    def _is_done(self, digest: str) -> bool:
        """Whether somebody else made a record of it; one that was there at first is being replaced by us."""
        if digest not in self.known:
            return digest in self._latest
        return digest in self._with_others and not (self._folder / digest).exists()

    def _linked(self, path: Path) -> bool:
        """Whether the claim is ours; on a disk without second names everything is, and may be done twice."""
        if not self._holders:
            self._folder.mkdir(exist_ok=True)
            self._holders.append(Holder(self._folder))
        try:
            os.link(self._holders[-1].path, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno == errno.EMLINK:
                self._holders.append(Holder(self._folder))
                return self._linked(path)
        return True

    def _taken_over(self, path: Path) -> bool:
        if self._is_held(path):
            return False
        with _one_at_a_time(self._folder):
            if self._is_held(path):
                return False
            self._tell_release()
            path.unlink(missing_ok=True)
            return self._linked(path)

    def _is_held(self, path: Path) -> bool:
        return is_held(path, self._now)

    def _now(self) -> float:
        """The time by the clock of the disk, which is one for all machines."""
        return self._holders[-1].touch()

    def _last_release(self) -> bytes:
        try:
            return (self._folder / RELEASED).read_bytes()
        except FileNotFoundError:
            return b""

    def _tell_release(self) -> None:
        (self._folder / RELEASED).write_bytes(os.urandom(16))


def sweep_leases(folder: Path) -> None:
    """Remove what the dead left, and where nobody is at work the rest; on a disk only to be read it stays."""
    with contextlib.suppress(OSError):
        if not folder.is_dir() or not any(folder.iterdir()):
            return
        clock = folder / RELEASED
        with _one_at_a_time(folder):
            clock.write_bytes(os.urandom(16))
            moment = clock.stat().st_mtime
            left = [path for path in folder.iterdir() if path.name not in (RELEASED, LOCK)]
            held = [path for path in left if is_held(path, lambda: moment)]
            for path in [*({*left} - {*held}), *([] if held else [clock, folder / LOCK])]:
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    with (folder / LOCK).open("a+b") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_held(path: Path, now: Callable[[], float]) -> bool:
    """Whether there is such a claim or holder, and whoever made it lives."""
    try:
        found = path.stat()
        if (found.st_dev, found.st_ino) in _alive_here:
            return True
        with path.open("r+b") as file:
            is_near = file.read() == _this_machine()
            return not _is_free(file) if is_near else now() - found.st_mtime < LEASE
    except FileNotFoundError:
        return False


class Holder:
    """A file that says that this process is alive: locked, and touched now and then."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{os.urandom(8).hex()}.holder"
        self._file = self.path.open("x+b")
        _is_free(self._file)  # before it tells its machine: nobody there is to find it free
        self._file.write(_this_machine())
        self._file.flush()
        found = os.fstat(self._file.fileno())
        self._inode = (found.st_dev, found.st_ino)
        _alive_here.add(self._inode)
        self._ended = threading.Event()
        threading.Thread(target=self._touch_on, name="redelve-lease", daemon=True).start()

    def touch(self) -> float:
        """Say so now; the time that it is by the disk."""
        os.utime(self._file.fileno())
        return os.fstat(self._file.fileno()).st_mtime

    def _touch_on(self) -> None:
        while not self._ended.wait(TOUCHED_EVERY):
            with contextlib.suppress(OSError, ValueError):  # it may be closed at this moment
                self.touch()

    def close(self) -> None:
        """Say so no more."""
        self._ended.set()
        _alive_here.discard(self._inode)
        self.path.unlink(missing_ok=True)
        self._file.close()


@lru_cache
def _this_machine() -> bytes:
    """What tells this machine, until it is started anew, from all others."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_bytes()
    except OSError:
        return platform.node().encode()


def _is_free(file: IO[bytes]) -> bool:
    """Whether no other process has locked the file; it is ours then."""
    if sys.platform == "win32":
        return False  # how long ago it was touched must do
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Passes(Iterator["Record"]):
    """Records of the jobs that nobody else does, then of those that others began and did not end.

    It is over when all are done, here or elsewhere. `begin` runs some of the jobs; it is told by
    `is_done` whom to ask whether somebody else does one.
    """

    def __init__(
        self,
        work: SharedWork,
        begin: Callable[..., Ongoing[Batch, Record]],
        experiment: Experiment,
        jobs: Sequence[Job],
    ) -> None:
        self._work, self._begin = work, begin
        self._may_wait: Callable[[], bool] = partial(experiment.may_begin, ())
        self._jobs = {experiment.digest(job): job for job in jobs}
        self._current: Ongoing[Batch, Record] | None = None
        self._records = self._passes()

    def __next__(self) -> Record:
        return next(self._records)

    def close(self) -> None:
        """Stop what is under way and let go of the workers."""
        self._records.close()

    @property
    def under_way(self) -> tuple[Batch, ...]:
        """What is being worked on here at this moment; any thread may ask."""
        return () if self._current is None else self._current.under_way

    @property
    def elsewhere(self) -> int:
        """How many of the jobs other processes do or have done meanwhile."""
        return self._work.seen_elsewhere

    def _passes(self) -> Generator[Record, None, None]:
        left = set(self._jobs)
        while left:
            chosen = [job for digest, job in self._jobs.items() if digest in left]
            with closing(self._begin(chosen, is_done=self._work.is_taken)) as self._current:
                yield from self._current
            left = self._left(left)

    def _left(self, digests: Collection[str]) -> set[str]:
        """The jobs that others did not do, as soon as there are any or nobody else is at work."""
        while True:
            began = time.monotonic()
            held, left = self._work.left_undone(digests)
            if left or not held or not self._may_wait():
                return left
            time.sleep(max(LOOK_AGAIN, 5 * (time.monotonic() - began)))
