"""A cell as seen by who gave it its job: what it answers and prints, how long it takes, how it ended."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from redelve.run.cells.limits_and_outcome import LONGEST_MESSAGE
from redelve.run.workers.child import (
    CHUNK,
    LARGEST,
    LENGTH,
    Child,
    FrameError,
    describe_exit,
    packed,
    read_frame,
    send,
    unpacked,
    write_frame,
)
from redelve.run.workers.worker_contract import FROM_OUTSIDE, WorkerLost

EXTENSIONS = re.compile(r"^Extension modules: .*$\n?", re.MULTILINE)
"""The long list with which Python ends its last words; what matters stands before it."""
TIME_TO_START = 300.0
"""Seconds until the method begins, at most: imports may take a while on a busy machine."""
STARTED = b"s"
"""What a cell writes when the method begins; what comes before does not count as its time."""
SLACK, SHARE = 0.2, 0.1
"""By how many seconds, and by which part, a cell's own clock may differ from ours on a busy machine."""
Verdict = tuple[dict[str, Any], bytes | memoryview]


@dataclass(frozen=True)
class CellRequest:
    """A job for a cell: what the warden must know, and what only the cell is to see."""

    header: dict[str, Any]
    lesson: tuple[bytes, ...] = field(repr=False)
    seconds: float | None


def verdict_of(warden: Child, request: CellRequest) -> Verdict:
    """What became of a job, and its answers; the cell is gone by then, with everything that it started."""
    with _file(request.lesson) as lesson, _pipe() as answers, _pipe() as output:
        with warden.asked():
            send(
                warden.channel,
                packed(request.header),
                [lesson.fileno(), answers[1].fileno(), output[1].fileno()],
            )
            answers[1].close()
            output[1].close()
            watch = CellWatch(
                warden.channel.fileno(), request.seconds, answers[0].fileno(), output[0].fileno()
            )
            watch.wait()
        return watch.verdict(request.header["memory"])


@contextlib.contextmanager
def _file(parts: tuple[bytes, ...]) -> Iterator[IO[bytes]]:
    """A file without a name."""
    if sys.platform == "linux":
        opened: Any = open(os.memfd_create("lesson"), "wb")  # noqa: PTH123, SIM115
    else:
        import tempfile

        opened = tempfile.TemporaryFile()  # noqa: SIM115
    with opened as file:
        for part in parts:
            file.write(part)
        file.flush()
        yield file


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The reading end, which does not block, and the writing end."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with open(reading, "rb", buffering=0) as ours, open(writing, "wb", buffering=0) as theirs:  # noqa: PTH123
        yield ours, theirs


@dataclass(eq=False)
class CellWatch:
    """A cell at work."""

    channel: int
    seconds: float | None
    answers: int
    output: int
    told: bytearray = field(default_factory=bytearray)
    printed: bytearray = field(default_factory=bytearray)
    began: float | None = None
    took: float | None = None
    """Seconds between the method's begin and its whole answer, by our own clock."""
    is_late: bool = False
    ending: dict[str, Any] = field(default_factory=dict)

    def wait(self) -> None:
        """Until the cell is gone: because it is, or because it has told everything or takes too long."""
        listening = {self.answers, self.output, self.channel}
        end = None if self.seconds is None else time.monotonic() + max(TIME_TO_START, self.seconds)
        while self.channel in listening:
            left = None if end is None else max(0.0, end - time.monotonic())
            ready, _, _ = select.select(listening, (), (), left)
            for descriptor, take in ((self.output, self._hear), (self.answers, self._read)):
                if descriptor in ready and not take():
                    listening.discard(descriptor)
            if self.began is None and self.told:
                self.began = time.monotonic()
                end = None if self.seconds is None else self.began + self.seconds
            self.is_late = end is not None and not self._is_complete() and time.monotonic() >= end
            if self.channel in ready or self.is_late or self._is_complete():
                listening.discard(self.channel)
        self._end()

    def _end(self) -> None:
        if self._is_complete() and self.began is not None:
            self.took = time.monotonic() - self.began
        write_frame(self.channel, b"")
        if (told := read_frame(self.channel)) is None:
            raise BrokenPipeError
        self.ending = unpacked(told)[0]
        for take in (self._hear, self._read):  # what is left in the pipes; nobody holds their other ends
            before = -1
            while take() and len(self.printed) + len(self.told) != before:
                before = len(self.printed) + len(self.told)

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
        """Keep what the cell tells; whether more may come."""
        try:
            part = os.read(self.answers, CHUNK)
        except BlockingIOError:
            return True
        self.told += part
        return bool(part)

    @property
    def _start(self) -> int:
        return len(STARTED) if self.told[: len(STARTED)] == STARTED else 0

    def _is_complete(self) -> bool:
        start = self._start
        if len(self.told) < start + LENGTH.size:
            return False
        (count,) = LENGTH.unpack(self.told[start : start + LENGTH.size])
        return int(count) > LARGEST or len(self.told) >= start + LENGTH.size + count

    def verdict(self, memory: int | None) -> Verdict:
        """What became of the cell; an end that somebody else may have brought about raises WorkerLost."""
        verdict, blob = self._report(memory)
        sizes = verdict.get("sizes")
        jobs = max(1, len(sizes)) if isinstance(sizes, list) else 1
        verdict["costs"] = self._costs(verdict.get("costs"), jobs)
        if verdict.get("status") != "done":
            verdict["message"] = _with_output(str(verdict.get("message")), bytes(self.printed))
        return verdict, blob

    def _report(self, memory: int | None) -> Verdict:
        """What the cell told, or how it ended before it could."""
        if self.ending.get("is_over"):
            limit = (memory or 0) / 1e6
            return _ended("out of memory", f"used more memory than the limit of {limit:g} MB"), b""
        if self.is_late:
            return self._out_of_time(), b""
        if "problem" in self.ending:  # it had no cell, for reasons of the machine
            raise WorkerLost(self.ending["problem"])
        if not self._is_complete():
            if self.ending["code"] in FROM_OUTSIDE:
                raise WorkerLost(_how(self.ending["code"]))
            return _ended("crashed", _how(self.ending["code"])), b""
        try:
            return unpacked(memoryview(self.told)[self._start + LENGTH.size :])
        except FrameError as error:
            return _ended("failed", f"what the cell wrote is no outcome: {error}"), b""

    def _out_of_time(self) -> dict[str, Any]:
        if self._start:
            return _ended("out of time", f"took longer than the limit of {self.seconds:g} s")
        return _ended("out of time", f"did not begin within {TIME_TO_START:g} s")

    def _costs(self, told: object, jobs: int) -> list[float | None]:
        """What each job took, by our own clock and the warden's; how it divides, only the cell can know."""
        given = told if isinstance(told, list) and len(told) == 4 else [None] * 4
        training, prediction, cpu = (_amount(one) for one in given[:3])
        used = self.ending.get("cpu")
        if self.took is None:
            training, prediction = None, None
        else:
            training, prediction = _clocked(training, prediction, self.took / jobs)
        cpu = used if cpu is None or used is None else min(cpu, used)
        peaks = [one for one in (_amount(given[3]), self.ending.get("peak")) if one is not None]
        return [training, prediction, cpu, int(max(peaks)) if peaks else None]


def _amount(told: object) -> float | None:
    """A number that may be a cost."""
    is_number = isinstance(told, int | float) and not isinstance(told, bool)
    return told if is_number and 0 <= told < float("inf") else None  # type: ignore[operator, return-value]


def _clocked(training: float | None, prediction: float | None, took: float) -> tuple[float, float]:
    """The cell's own times where our clock bears them out, else ours, divided as the cell says."""
    if training is None or prediction is None:
        return took, 0.0
    total = training + prediction
    if abs(took - total) <= SLACK + SHARE * took:
        return training, prediction
    share = training / total if total > 0 else 1.0
    return share * took, (1 - share) * took


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
