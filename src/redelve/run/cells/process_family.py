"""A process and its descendants: the memory they use, and how to end them all."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time

import psutil

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)
LONGEST_END = 5.0
"""Seconds to wait for killed processes; one that hangs in the kernel is left to it."""


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parents end, so that none gets away (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1)


def end_descendants() -> None:
    """End every process below this one, those in sessions of their own too."""
    deadline = time.monotonic() + LONGEST_END
    while (found := _descendants(os.getpid())) and time.monotonic() < deadline:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
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
