"""The warden: a process that forks a cell for each job, watches over it and tells what became of it.

It runs no method itself and reads nothing from a cell but frames; so it can be trusted and forked. What
methods import it imports too, so that the next cell has it already.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import re
import resource
import select
import signal
import sys
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import psutil

from redelve.run.cells import cell
from redelve.run.cells.limits_and_outcome import LONGEST_MESSAGE
from redelve.run.cells.working import thread_pools
from redelve.run.workers.child import (
    CHUNK,
    FORKED_OFTEN,
    LARGEST,
    LENGTH,
    FrameError,
    describe_exit,
    packed,
    read_frame,
    unpacked,
    write_frame,
)

EXTENSIONS = re.compile(r"^Extension modules: .*$\n?", re.MULTILINE)
"""The long list with which Python ends its last words; what matters stands before it."""

LOOK_EVERY = 0.05
"""Seconds between two looks at a cell's memory."""
TIME_TO_START = 300.0
"""Seconds until the method begins, at most: imports may take a while on a busy machine."""


def serve(requests: int, replies: int) -> None:
    """One cell for every request, until there is nobody to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    if (hint := read_frame(requests)) is not None:
        preload(unpacked(hint)[0]["modules"])
    _prepare()
    while (request := read_frame(requests)) is not None:
        header, lesson = unpacked(request)
        try:
            watch = _begin(header["seconds"], header["memory"], lesson, (requests, replies))
        except OSError as error:
            write_frame(replies, packed(_ended("crashed", f"no process could be started for it: {error}")))
            continue
        verdict, blob = watch.verdict()
        modules = verdict.pop("modules", None)
        write_frame(replies, packed(verdict, blob))
        if isinstance(modules, list) and modules:
            preload([str(name) for name in modules])
            _prepare()


def _prepare() -> None:
    """Spare the cells looking for libraries with threads, and copying what the collector would touch."""
    thread_pools(len(sys.modules))
    gc.collect()
    gc.freeze()


def _begin(
    seconds: float | None, memory: int | None, lesson: memoryview, channel: tuple[int, int]
) -> CellWatch:
    answers, to_answers = os.pipe()
    output, to_output = os.pipe()
    pid = os.fork()
    if pid == 0:
        for descriptor in (*channel, answers, output):  # a method could write there in our name
            os.close(descriptor)
        cell.live(lesson, memory, to_answers, to_output)
    os.close(to_answers)
    os.close(to_output)
    os.set_blocking(output, False)
    return CellWatch(pid, seconds, memory, answers, output, channel[0])


@dataclass(eq=False)
class CellWatch:
    """A cell at work."""

    pid: int
    seconds: float | None
    memory: int | None
    answers: int
    output: int
    lifeline: int
    peak: int = 0
    told: bytearray = field(default_factory=bytearray)
    printed: bytearray = field(default_factory=bytearray)
    deadline: float | None = None
    ended: tuple[int, resource.struct_rusage] | None = None

    def verdict(self) -> tuple[dict[str, Any], bytes | memoryview]:
        """What became of the cell, which is gone by then, with everything that it started."""
        if self.seconds is not None:
            self.deadline = time.monotonic() + max(TIME_TO_START, self.seconds)
        try:
            found = self._watch()
        finally:
            code, usage = self._end()
        verdict, blob = found or self._report(code)
        verdict["costs"] = self._costs(verdict.get("costs"), usage)
        if verdict.get("status") != "done":
            verdict["message"] = _with_output(str(verdict.get("message")), bytes(self.printed))
        return verdict, blob

    def _costs(self, told: object, usage: resource.struct_rusage) -> object:
        """What the cell has measured, and what only its warden can know."""
        if not isinstance(told, list) or len(told) != 4 or not isinstance(told[3], int | None):
            return told
        cpu = usage.ru_utime + usage.ru_stime if told[2] is None else told[2]
        largest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return [told[0], told[1], cpu, max(told[3] or 0, self.peak, largest)]

    def _watch(self) -> tuple[dict[str, Any], bytes | memoryview] | None:
        """Until the cell has told everything or is gone (None), or has used too much."""
        listening = {self.answers, self.output, self.lifeline}
        look_at = 0.0
        while True:
            ready, _, _ = select.select(listening, [], [], LOOK_EVERY)
            if self.lifeline in ready:  # the worker is gone: nobody wants to know
                self._end()
                os._exit(0)
            if self.output in ready and not self._hear():
                listening.discard(self.output)
            if self.answers in ready:
                if not self._read():
                    listening.discard(self.answers)
                if self._is_complete():
                    return None
            now = time.monotonic()
            if now >= look_at or not ready:
                look_at = now + LOOK_EVERY
                if self._is_gone():
                    self._read_rest(listening)
                    return None
                self.peak = max(self.peak, memory_in_use(self.pid))
            if self.memory is not None and self.peak > self.memory:
                limit = self.memory / 1e6
                return _ended("out of memory", f"used more memory than the limit of {limit:g} MB"), b""
            if self.deadline is not None and now >= self.deadline:
                return self._out_of_time(), b""

    def _out_of_time(self) -> dict[str, Any]:
        if self.told[:1] == cell.STARTED:
            return _ended("out of time", f"took longer than the limit of {self.seconds:g} s")
        return _ended("out of time", f"did not begin within {TIME_TO_START:g} s")

    def _hear(self) -> bool:
        """Keep the end of what the method prints; whether more may come."""
        try:
            part = os.read(self.output, CHUNK)
        except BlockingIOError:
            return True
        self.printed += part
        del self.printed[: -4 * LONGEST_MESSAGE]
        return bool(part)

    def _read(self) -> bool:
        began = len(self.told) > 0
        part = os.read(self.answers, CHUNK)
        self.told += part
        if not began and part and self.seconds is not None:
            self.deadline = time.monotonic() + self.seconds
        return bool(part)

    def _read_rest(self, listening: set[int]) -> None:
        """What is left in the pipe of a cell that is gone; its own children may still hold the other end."""
        os.set_blocking(self.answers, False)
        try:
            while self.answers in listening and self._read():
                continue
        except BlockingIOError:
            return

    def _is_complete(self) -> bool:
        start = len(cell.STARTED)
        if self.told[:start] != cell.STARTED:
            start = 0
        if len(self.told) < start + LENGTH.size:
            return False
        (count,) = LENGTH.unpack(self.told[start : start + LENGTH.size])
        return int(count) > LARGEST or len(self.told) >= start + LENGTH.size + count

    def _is_gone(self) -> bool:
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid:
            self.ended = (os.waitstatus_to_exitcode(status), usage)
        return self.ended is not None

    def _report(self, code: int) -> tuple[dict[str, Any], memoryview | bytes]:
        """What the cell told, or how it ended before it could."""
        if not self._is_complete():
            return _ended("crashed", _how(code)), b""
        start = len(cell.STARTED) if self.told[:1] == cell.STARTED else 0
        try:
            return unpacked(memoryview(self.told)[start + LENGTH.size :])
        except FrameError as error:
            return _ended("failed", f"what the cell wrote is no outcome: {error}"), b""

    def _end(self) -> tuple[int, resource.struct_rusage]:
        """End the cell and all that it started; its exit code and what it has used."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.ended is None:
            os.kill(self.pid, signal.SIGKILL)  # it may not have made its group yet
            _, status, usage = os.wait4(self.pid, 0)
            self.ended = (os.waitstatus_to_exitcode(status), usage)
        end_descendants()
        while self._hear_more():
            continue
        os.close(self.answers)
        os.close(self.output)
        return self.ended

    def _hear_more(self) -> bool:
        before = bytes(self.printed)
        return self._hear() and bytes(self.printed) != before


def _how(code: int) -> str:
    hint = ": by its machine for lack of memory, perhaps" if code == -signal.SIGKILL else ""
    return f"{describe_exit(code)}{hint}" if code < 0 else f"{describe_exit(code)} before it answered"


def _ended(status: str, message: str) -> dict[str, Any]:
    return {"status": status, "message": message, "costs": [None, None, None, None]}


def _with_output(message: str, printed: bytes) -> str:
    """The message, then the end of what the method printed."""
    text = EXTENSIONS.sub("", printed.decode(errors="replace")).strip()
    if not text:
        return message
    room = LONGEST_MESSAGE - len(message) - 20
    return f"{message}\nIt printed: {text[-room:] if room > 0 else ''}"


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


_tried: set[str] = set()


def preload(names: list[str]) -> None:
    """Import modules, unless that begins threads: a process with threads of others can't be forked safely."""
    new = [name for name in names if name not in _tried and name not in sys.modules]
    _tried.update(new)
    known = [name for name in new if name.partition(".")[0] in FORKED_OFTEN | sys.stdlib_module_names]
    other = [name for name in new if name not in known]
    _import(known)
    if other and _is_harmless(other):
        _import(other)


def _is_harmless(names: list[str]) -> bool:
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
