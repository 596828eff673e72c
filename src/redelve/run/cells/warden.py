"""The warden: the clean ancestor of all cells. It forks one for each job, and ends what a job leaves behind.

It runs no code of a method's and sees no job: what a cell is to learn from and what it answers go past it,
by descriptors that it hands on. So its memory, which every cell begins with a copy of, is the same before
each of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import resource
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import psutil

from redelve.errors import in_words
from redelve.run.cells import cell
from redelve.run.cells.ancestor_memory import (
    WrittenPages,
    be_unreadable,
    fill_gaps,
    gather_small_objects,
    join_mappings,
    join_pages,
)
from redelve.run.cells.job_and_outcome import APART, BUILT_IN, LARGE, harmless
from redelve.run.cells.rehearsal import pickled_job, rehearse
from redelve.run.cells.working import contents, highest_memory
from redelve.run.workers.child import packed, read_frame, received, send, unpacked, write_frame

ARENAS = 64
"""How many an ancestor with scikit-learn fills."""
TIDY_AFTER, TIDY_EVERY = 32, 256
"""After so many cells, and each time after so many more, memory is arranged anew where large libraries are.

That takes some tenths of a second at first, which pay after a hundred cells; they are spent while cells work.
With numpy alone there is little to copy for a fork, and nothing is gained.
"""
REHEARSALS = 8
LOOK_EVERY = 0.05
"""Seconds between two looks at a cell's memory."""


class Spare(NamedTuple):
    """A cell that waits for its job."""

    pid: int
    door: socket.socket


def serve(requests: int, replies: int) -> None:
    """One cell for every request, until there is nobody to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    be_unreadable(True)
    cell.speak_up()
    os.close(replies)  # the same channel
    if (hint := read_frame(requests)) is not None:
        modules = unpacked(hint)[0]["modules"]
        if harmless(modules, LARGE | APART):
            gather_small_objects(ARENAS)
        preload(modules)
    Warden(socket.socket(fileno=requests)).serve()
    os._exit(0)  # there is nothing to take apart


class Bell:
    """What wakes the warden when a cell is gone: a descriptor of the cell (Linux), else a signal."""

    def __init__(self) -> None:
        self._of_cell, self._pipe = -1, (-1, -1)
        try:
            os.close(os.pidfd_open(os.getpid()))
        except (AttributeError, OSError):
            self._pipe = os.pipe()
            for end in self._pipe:
                os.set_blocking(end, False)
            signal.signal(signal.SIGCHLD, lambda *_: None)
            signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)

    def hang(self, pid: int) -> None:
        """Ring for this cell; it must not have been waited for."""
        if self._pipe[0] < 0:
            if self._of_cell >= 0:
                os.close(self._of_cell)
            self._of_cell = os.pidfd_open(pid)

    def wait(self, channel: int, seconds: float) -> bool:
        """Until it rings, or there is something to read, for so long at most; whether there is."""
        bell = max(self._of_cell, self._pipe[0])
        ready, _, _ = select.select((channel, bell), (), (), seconds)
        if self._pipe[0] in ready:
            os.read(self._pipe[0], 4096)
        return channel in ready

    def take_down(self) -> None:
        """In a cell: leave nothing of it."""
        if self._pipe[0] >= 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in (self._of_cell, *self._pipe):
            if end >= 0:
                os.close(end)


class Warden:
    """One cell at work at a time, and one that waits.

    What it does for each job is little code on purpose: whatever it looks at, Python writes to, and a large
    page of its memory that is written to in one place is no large page for the next fork.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._bell = Bell()
        self._spare: Spare | None = None
        self._dying: set[int] = set()
        self._served = 0
        self._chores: Iterator[bool] = iter(())
        self._message = b""
        self._memory: int | None = None
        self._pages = _prepare()

    def serve(self) -> None:
        """Until there is nobody to answer."""
        while (request := received(self._channel)) is not None:
            message, descriptors = request
            if not descriptors:
                self._rest(unpacked(message)[0]["rest"])
                continue
            if message != self._message:  # most are like the one before
                self._heed(message)
            try:
                pid = self._begin(message, descriptors)
            except OSError as error:
                self._tell({"code": 0, "problem": f"no process could be started for it: {in_words(error)}"})
                read_frame(self._channel.fileno())
                continue
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            self._tidy()
            try:
                self._spare = self._forked()
            except OSError:  # one is made when it is needed
                self._spare = None
            self._watch(pid)

    def _rest(self, seconds: float) -> None:
        """Wait without a spare cell, and end if nobody wants anything for so long."""
        self._drop_spare()
        end = time.monotonic() + seconds
        while not select.select((self._channel,), (), (), LOOK_EVERY if self._dying else seconds)[0]:
            self._bury()
            if time.monotonic() >= end:
                os._exit(0)

    def _heed(self, message: bytes) -> None:
        """Load what is needed for such a job, and note what it may use."""
        header = unpacked(message)[0]
        if preload(header["modules"]):
            self._drop_spare()
            self._pages = _prepare()
        self._memory, self._message = header["memory"], message

    def _tidy(self) -> None:
        """Bury the dead, and now and then have memory arranged while the next cells work."""
        self._bury()
        self._served += 1
        if self._served % TIDY_EVERY == TIDY_AFTER and harmless(sys.modules, LARGE):
            self._chores = join_pages()

    def _bury(self) -> None:
        for pid in tuple(self._dying):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self._dying.discard(pid)

    def _tell(self, told: dict[str, Any]) -> None:
        try:
            write_frame(self._channel.fileno(), packed(told))
        except BrokenPipeError:
            return

    def _begin(self, message: bytes, descriptors: list[int]) -> int:
        """Hand the job to the cell that waits, or to a new one."""
        for _ in range(2):
            spare, self._spare = self._spare or self._forked(), None
            try:
                send(spare.door, message, descriptors)
            except (BrokenPipeError, ConnectionResetError):  # killed while it waited
                continue
            finally:
                os.close(spare.door.detach())
            return spare.pid
        raise OSError("it was killed before it began")

    def _forked(self) -> Spare:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            for end in (ours, self._channel):  # a method could write there in our name
                os.close(end.detach())
            self._bell.take_down()
            cell.wait(theirs, self._pages)
        os.close(theirs.detach())
        return Spare(pid, ours)

    def _drop_spare(self) -> None:
        if self._spare is not None:
            self._spare.door.close()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._spare.pid, signal.SIGKILL)
            os.waitpid(self._spare.pid, 0)
            self._spare = None

    def _watch(self, pid: int) -> None:
        """Tell what became of a cell when it is gone, has used too much, or is no longer wanted."""
        channel, peak, look_at = self._channel.fileno(), 0, time.monotonic() + LOOK_EVERY
        self._bell.hang(pid)
        while True:
            if (ended := _gone(pid)) is not None:
                return self._clear_up(pid, ended, peak)
            at_a_chore = next(self._chores, False)
            if self._bell.wait(channel, 0 if at_a_chore else LOOK_EVERY):
                return self._stop(pid, peak)
            if time.monotonic() >= look_at:
                look_at = time.monotonic() + LOOK_EVERY
                peak = max(peak, memory_in_use(pid))
                if self._memory is not None and peak > self._memory:
                    return self._clear_up(pid, _end(pid), peak, is_over=True)

    def _clear_up(self, pid: int, ended: Ended, peak: int, *, is_over: bool = False) -> None:
        """End what a cell that is gone has left behind, tell how it ended, and hear that this is known."""
        _end_group(pid)
        self._end_others()
        code, usage = ended
        largest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        cpu = usage.ru_utime + usage.ru_stime
        self._tell({"code": code, "cpu": cpu, "peak": max(peak, largest), "is_over": is_over})
        read_frame(self._channel.fileno())

    def _stop(self, pid: int, peak: int) -> None:
        """End a cell that nobody wants more of; its burial takes a while, and nobody waits for it.

        Once it is killed it can start nothing, so that what it may have started is known then.
        """
        is_wanted = read_frame(self._channel.fileno()) is not None
        cpu, largest = used_by(pid)
        _kill(pid)
        self._dying.add(pid)
        self._end_others()
        self._tell({"code": 0, "cpu": cpu, "peak": max(peak, largest)})
        if not is_wanted:
            os._exit(0)

    def _end_others(self) -> None:
        end_descendants({*self._dying, *(() if self._spare is None else (self._spare.pid,))})


def used_by(pid: int) -> tuple[float | None, int]:
    """The processor time and the most memory that a process has used so far, as the kernel tells (Linux)."""
    try:
        processes = [pid, *_descendants(pid)]
        return sum(map(_cpu_seconds, processes)), max(highest_memory(one) or 0 for one in processes)
    except (OSError, ValueError, psutil.Error):
        return None, memory_in_use(pid)


def _cpu_seconds(pid: int) -> float:
    """By the ticks of it and of those it has waited for, or by its own clock, which is finer."""
    ticks = [int(word) for word in contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()[11:15]]
    return max(sum(ticks) / TICKS_A_SECOND, time.clock_gettime(~pid << 3 | OF_ALL_THREADS))


Ended = tuple[int, resource.struct_rusage]


def _gone(pid: int) -> Ended | None:
    found, status, usage = os.wait4(pid, os.WNOHANG)
    return (os.waitstatus_to_exitcode(status), usage) if found else None


def _kill(pid: int) -> None:
    _end_group(pid)
    try:
        os.kill(pid, signal.SIGKILL)  # it may not have made its group yet
    except ProcessLookupError:
        return


def _end(pid: int) -> Ended:
    """End a cell that may still be at work."""
    _kill(pid)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage


def _end_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _prepare() -> WrittenPages:
    """Spare the cells what a process does once, and copying what the collector would touch.

    Python makes code that is run often faster, by writing to it: after some rehearsals it has done so. What
    a job writes to is copied by each cell before its job comes.
    """
    rehearse(threads=1, frames=True)
    job = memoryview(pickled_job())
    for _ in range(REHEARSALS):
        cell.try_out(job, threads=1)
    gc.collect()
    gc.enable()
    join_mappings()
    fill_gaps()
    gc.freeze()
    return WrittenPages(lambda: cell.try_out(job))


OF_ALL_THREADS = 2  # CPUCLOCK_SCHED of a process's clock: clock_getcpuclockid(3)
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)
LONGEST_END = 5.0
"""Seconds to wait for killed processes; one that hangs in the kernel is left to it."""


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parents end, so that none gets away (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1)


def end_descendants(spared: Collection[int] = ()) -> None:
    """End every process below this one but those `spared`, those in sessions of their own too."""
    deadline = time.monotonic() + LONGEST_END
    while (found := {*_descendants(os.getpid())}.difference(spared)) and time.monotonic() < deadline:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)


def memory_in_use(pid: int) -> int:
    """The bytes of memory that a process and its descendants have; pages they share count for each."""
    try:
        return sum(_resident(each) for each in [pid, *_descendants(pid)])
    except (OSError, psutil.Error):
        return 0


def _resident(pid: int) -> int:
    try:
        return int(contents(f"/proc/{pid}/statm").split()[1]) * PAGE
    except FileNotFoundError:
        return 0 if os.path.isdir("/proc/self") else int(psutil.Process(pid).memory_info().rss)  # noqa: PTH112


def _descendants(pid: int) -> list[int]:
    try:
        children = _children(pid)
    except FileNotFoundError:  # a kernel that does not list them, or it has just ended
        if not psutil.pid_exists(pid):
            return []
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    return children + [each for child in children for each in _descendants(child)]


def _children(pid: int) -> list[int]:
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
        found += [int(each) for each in contents(f"/proc/{pid}/task/{thread}/children").split()]
    return found


_tried: set[str] = set()


def preload(names: list[str]) -> bool:
    """Import modules of the fixed list, whatever is asked for; whether there was anything to import.

    Those of other packages only if that begins no threads: a process with threads can't be forked safely.
    """
    new = [name for name in names if name not in _tried and name not in sys.modules]
    _tried.update(new)
    known, other = harmless(new, BUILT_IN), harmless(new, APART)
    if known:
        _import(known)
    if other and _is_without_threads(other):
        _import(other)
    return bool(known or other)


def _is_without_threads(names: list[str]) -> bool:
    """Try it in a process of its own."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            before = _threads()
            _import(names)
            code = int(_threads() > before)
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    except OSError:
        import threading

        return threading.active_count()


def _import(names: list[str]) -> None:
    """Import what can be; without the collector, which takes a tenth of the time, until `_prepare`."""
    gc.disable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:  # a module that only its own package can import
                continue
