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
from collections.abc import Collection
from typing import Any, NamedTuple

import psutil

from redelve.errors import in_words
from redelve.run.cells import cell
from redelve.run.cells.ancestor_memory import WrittenPages, be_unreadable, gather_small_objects, join_pages
from redelve.run.cells.rehearsal import rehearse
from redelve.run.cells.sealing import APART, BUILT_IN, LARGE, harmless
from redelve.run.cells.working import highest_memory
from redelve.run.workers.child import packed, read_frame, received, send, unpacked, write_frame

ARENAS = 64
"""How many an ancestor with scikit-learn fills."""
TIDY_EVERY = 32
"""After so many cells memory is arranged anew: that costs some tenths of a second at first, then little."""
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
    os.close(replies)  # the same channel
    if (hint := read_frame(requests)) is not None:
        modules = unpacked(hint)[0]["modules"]
        if harmless(modules, LARGE | APART):
            gather_small_objects(ARENAS)
        preload(modules)
    Warden(socket.socket(fileno=requests)).serve()


class Warden:
    """One cell at work at a time, and one that waits."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._alarm, ringing = os.pipe()
        self._bell = ringing
        for end in (self._alarm, ringing):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ringing, warn_on_full_buffer=False)
        self._spare: Spare | None = None
        self._dying: set[int] = set()
        self._served = 0
        self._pages = _prepare()

    def serve(self) -> None:
        """Until there is nobody to answer."""
        while (request := received(self._channel)) is not None:
            header, descriptors = request
            if preload(header["modules"]):
                self._drop_spare()
                self._pages = _prepare()
            try:
                pid = self._begin(header, descriptors)
            except OSError as error:
                self._tell({"code": 0, "problem": f"no process could be started for it: {in_words(error)}"})
                read_frame(self._channel.fileno())
                continue
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            with contextlib.suppress(OSError):  # if there is none, one is made when it is needed
                self._spare = self._forked()
            self._watch(pid, header["memory"])
            self._tidy()

    def _tidy(self) -> None:
        """Bury the dead, and now and then arrange memory: that takes as long as forking some cells."""
        for pid in list(self._dying):
            if _gone(pid) is not None:
                self._dying.discard(pid)
        self._served += 1
        if self._served % TIDY_EVERY == 0:
            join_pages()

    def _tell(self, told: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):
            write_frame(self._channel.fileno(), packed(told))

    def _begin(self, header: dict[str, Any], descriptors: list[int]) -> int:
        """Hand the job to the cell that waits, or to a new one."""
        for _ in range(2):
            spare, self._spare = self._spare or self._forked(), None
            with spare.door:
                try:
                    send(spare.door, packed(header), descriptors)
                except (BrokenPipeError, ConnectionResetError):  # killed while it waited
                    continue
            return spare.pid
        raise OSError("it was killed before it began")

    def _forked(self) -> Spare:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            for end in (ours, self._channel):  # a method could write there in our name
                end.close()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(self._alarm)
            os.close(self._bell)
            cell.wait(theirs, self._pages)
        theirs.close()
        return Spare(pid, ours)

    def _drop_spare(self) -> None:
        if self._spare is not None:
            self._spare.door.close()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._spare.pid, signal.SIGKILL)
            os.waitpid(self._spare.pid, 0)
            self._spare = None

    def _watch(self, pid: int, memory: int | None) -> None:
        """Tell what became of a cell when it is gone, has used too much, or is no longer wanted."""
        channel, peak, look_at = self._channel.fileno(), 0, time.monotonic() + LOOK_EVERY
        while True:
            if (ended := _gone(pid)) is not None:
                return self._clear_up(pid, ended, peak)
            ready, _, _ = select.select((channel, self._alarm), (), (), LOOK_EVERY)
            if self._alarm in ready:
                os.read(self._alarm, 4096)
            if channel in ready:
                return self._stop(pid, peak)
            if time.monotonic() >= look_at:
                look_at = time.monotonic() + LOOK_EVERY
                peak = max(peak, memory_in_use(pid))
                if memory is not None and peak > memory:
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
    """By the ticks of all its threads, or by the finer clock of the first."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123
        ticks = [int(word) for word in file.read().rpartition(")")[2].split()[11:15]]
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:  # noqa: PTH123
        first_thread = int(file.read().split()[0]) / 1e9
    return max(sum(ticks) / os.sysconf("SC_CLK_TCK"), first_thread)


Ended = tuple[int, resource.struct_rusage]


def _gone(pid: int) -> Ended | None:
    found, status, usage = os.wait4(pid, os.WNOHANG)
    return (os.waitstatus_to_exitcode(status), usage) if found else None


def _kill(pid: int) -> None:
    _end_group(pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # it may not have made its group yet


def _end(pid: int) -> Ended:
    """End a cell that may still be at work."""
    _kill(pid)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage


def _end_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _prepare() -> WrittenPages:
    """Spare the cells what a process does once, and copying what the collector would touch.

    What a job writes to is copied by each cell before its job comes.
    """
    rehearse(threads=1, frames=True)
    gc.collect()
    gc.freeze()
    return WrittenPages(rehearse)


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
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * PAGE
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
        with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123
            found += [int(each) for each in file.read().split()]
    return found


_tried: set[str] = set()


def preload(names: list[str]) -> bool:
    """Import modules of the fixed list, whatever is asked for; whether there was anything to import.

    Those of other packages only if that begins no threads: a process with threads can't be forked safely.
    """
    new = [name for name in names if name not in _tried and name not in sys.modules]
    _tried.update(new)
    known, other = harmless(new, BUILT_IN), harmless(new, APART)
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:  # a module that only its own package can import
                continue
