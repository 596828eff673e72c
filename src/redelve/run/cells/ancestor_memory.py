"""Memory arranged so that a process is forked fast, and what a job will write to copied ahead (Linux).

A fork copies an entry for every page of memory, and the end of the copy drops them one by one: with
scikit-learn loaded that is most of what a cell costs. Python's small objects lie in hundreds of places
between libraries; brought together, and mapped by pages of 2 MB, they are few entries. And a page that is
written to for the first time stops the program until it is copied: hundreds of them are copied at once while
a cell waits for its job. Where the kernel does not do these things, nothing is lost but time.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.run.cells.working import this_process

HUGE_PAGE = 1 << 21
PAGE = 4096
ARENA, SMALL = 1 << 20, 470
"""What Python asks the system for at once, and a size of objects that fills it."""
STEP, LARGEST_SMALL, HEAD = 16, 512, 33
"""The sizes of small objects, and how much of an object of bytes is not its content."""
FILLED = 1 << 16
"""So many bytes of each size fill the gaps that imports leave, or most of them."""
COLLAPSE, POPULATE_WRITE = 25, 23  # of madvise(2)
PROCESS_MADVISE = 440
"""Its number on every processor: it is newer than the differences between them."""
THIS_PROCESS = ctypes.c_long(-10000)  # PIDFD_SELF of pidfd_open(2)
MOST_RANGES = 1024  # IOV_MAX of process_madvise(2)
BE_READABLE = 4  # PR_SET_DUMPABLE of prctl(2)
READ, WRITE, RUN = 1, 2, 4  # of mprotect(2)
JOINED = {("r--p", "r-xp"): READ | RUN, ("r-xp", "r--p"): READ | RUN, ("r--p", "rw-p"): READ | WRITE}
"""Rights of neighbours, and what both are given: constants beside code, what was relocated beside data."""
OWN = np.uint64(1 << 63 | 1 << 56)  # present, and mapped once: of /proc/self/pagemap

_held: list[object] = []


def gather_small_objects(arenas: int) -> None:
    """Have Python take so much memory for small objects in one place, before libraries lie in between.

    One object in each arena is kept, so that Python does not give it back.
    """
    waiting = []
    for _ in range(arenas):
        objects = [bytes(SMALL) for _ in range(ARENA // (SMALL + 42))]
        waiting.append(objects)
        _held.append(objects[0])


def fill_gaps() -> None:
    """Have Python use up what is free between its small objects, so that what a job makes lies together."""
    for size in range(STEP, LARGEST_SMALL + 1, STEP):
        _held.extend(_of_size(size) for _ in range(FILLED // size))


def _of_size(size: int) -> object:
    """An object that takes so many bytes; the smallest of text hold too many."""
    if size <= 2 * STEP:
        return object() if size == STEP else complex(0, size)
    return bytes(size - HEAD)


def join_pages() -> Iterator[bool]:
    """Have the memory in use mapped by large pages, one after the other, each when it is asked for.

    What was split since the last time is joined again. A page takes a millisecond.
    """
    for start, end, _ in filter(lambda one: not one[2], _writable()):
        for place in range(-(-start // HUGE_PAGE) * HUGE_PAGE, end - HUGE_PAGE + 1, HUGE_PAGE):
            this_process().madvise(ctypes.c_void_p(place), ctypes.c_size_t(HUGE_PAGE), COLLAPSE)
            yield True


def join_mappings() -> None:
    """Give parts of a library that lie side by side the same rights, so that the kernel has one of two.

    What is constant may then be run, and what the loader locked may be written to: a method, which runs what
    it likes, can do either by itself. A fork copies, and its end drops, one mapping after the other.
    """
    for one, next_one in pairwise(_mappings("self")):
        rights = JOINED.get((one.rights, next_one.rights))
        if rights is not None and one.is_followed_by(next_one):
            part = next_one if one.rights == "r-xp" else one
            size = ctypes.c_size_t(part.end - part.start)
            this_process().mprotect(ctypes.c_void_p(part.start), size, rights)


class _Mapping(NamedTuple):
    """A line of /proc/self/maps: proc(5)."""

    start: int
    end: int
    rights: str
    offset: int
    node: str

    def is_followed_by(self, other: _Mapping) -> bool:
        """Whether the other goes on in memory and in the file where this one ends."""
        is_near = (self.node, self.end) == (other.node, other.start) and self.node != "0"
        return is_near and self.offset + self.end - self.start == other.offset


def _mappings(process: int | str) -> Iterator[_Mapping]:
    if sys.platform != "linux":
        return
    with open(f"/proc/{process}/maps", encoding="ascii", errors="replace") as file:  # noqa: PTH123
        lines = file.read().splitlines()
    for place, rights, offset, _, node, *_ in map(str.split, lines):
        start, _, end = place.partition("-")
        yield _Mapping(int(start, 16), int(end, 16), rights, int(offset, 16), node)


def _writable(process: int | str = "self") -> Iterator[tuple[int, int, bool]]:
    """Where memory lies that is written to, and whether it began as a part of a file."""
    for one in _mappings(process):
        if one.rights == "rw-p":
            yield one.start, one.end, one.node != "0"


class _Range(ctypes.Structure):
    """An iovec of process_madvise(2)."""

    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))


class WrittenPages:
    """The pages that a piece of work wrote to when it was tried in a process forked for that."""

    def __init__(self, work: Callable[[], None]) -> None:
        found = _tried(work) if sys.platform == "linux" else []
        self.ranges = (_Range * len(found))(*(_Range(*one) for one in found))
        self._calls = [self._call(first) for first in range(0, len(found), MOST_RANGES)]

    def _call(self, first: int) -> tuple[Any, ...]:
        """What syscall(2) is given to copy a number of ranges: made ahead, for a cell has little time."""
        place = ctypes.byref(self.ranges, first * ctypes.sizeof(_Range))
        count = min(MOST_RANGES, len(self.ranges) - first)
        number = ctypes.c_long(PROCESS_MADVISE)
        return (number, THIS_PROCESS, place, *map(ctypes.c_long, (count, POPULATE_WRITE, 0)))

    def copy(self) -> bool:
        """Copy them all now; whether the kernel does that (Linux 6.14)."""
        call = this_process().syscall
        done = [call(*given) > 0 for given in self._calls]
        return bool(done) and all(done)


def be_unreadable(is_so: bool) -> None:
    """Whether other processes of the same user are kept from this one's memory (Linux; not from root's)."""
    if sys.platform == "linux":
        this_process().prctl(BE_READABLE, int(not is_so))


def _tried(work: Callable[[], None]) -> list[tuple[int, int]]:
    """Do it in a fork, and look at the pages that are its own then."""
    (done, tell), (end, hold) = os.pipe(), os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.close(hold)
            be_unreadable(False)
            work()
            os.write(tell, b"1")
            os.read(end, 1)
        finally:
            os._exit(0)
    os.close(tell)
    os.close(end)
    try:
        pages = _own_pages(pid) if os.read(done, 1) else np.empty(0, np.int64)
    except OSError:
        return []
    finally:
        os.close(done)
        os.close(hold)
        os.waitpid(pid, 0)
    runs = np.split(pages, np.flatnonzero(np.diff(pages) > 1) + 1)
    return [(int(run[0]) * PAGE, len(run) * PAGE) for run in runs if len(run)]


def _own_pages(pid: int) -> NDArray[np.int64]:
    """The numbers of the pages that a process has, and no other has with it."""
    found = []
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as file:  # noqa: PTH123
        for start, end, _ in _writable(pid):
            file.seek(start // PAGE * 8)
            told = np.frombuffer(file.read((end - start) // PAGE * 8), dtype=np.uint64)
            found.append(np.flatnonzero((told & OWN) == OWN) + start // PAGE)
    return np.concatenate(found)
