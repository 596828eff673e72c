"""Have a method's work done, here or in a cell: a process forked for the job alone by a warden.

The warden is a fresh Python process that runs no method and no parallel code, so it can be forked. Each job
begins in the same state, whatever jobs came before it, and ends with its cell. Whoever gave a cell its job
watches it: what it answers and prints, how long it takes, how it ended.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import IO, Any, cast

import numpy as np

from redelve.errors import PredictionError, SpecError
from redelve.methods.adapters.confinement import job_directory
from redelve.methods.contract import BatchMethod, Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.run.cells.confining import environment, mechanism, readable
from redelve.run.cells.job_and_outcome import (
    APART,
    BUILT_IN,
    LONGEST_MESSAGE,
    CellLesson,
    CellRequest,
    Limits,
    Outcome,
    SealedMethod,
    harmless,
    load_answer,
    request_for,
    sealed,
    steady,
)
from redelve.run.cells.working import work, work_together
from redelve.run.results import CELL, STATUSES, Costs, Status, Told
from redelve.run.workers.child import (
    LARGEST,
    LENGTH,
    Child,
    ChildDied,
    FrameError,
    child_environment,
    describe_exit,
    packed,
    read_frame,
    send,
    unpacked,
    write_frame,
)
from redelve.run.workers.worker_contract import FROM_OUTSIDE, WorkerLost

PROGRAM = f"{CELL}, for a program that its adapter confines"
MOST_WARDENS = 4
"""So many a thread has at most; the one that was used longest ago is let go for a new one."""

_mine = threading.local()
"""The wardens of this thread: threads of one process work side by side."""
EXTENSIONS = re.compile(r"^Extension modules: .*$\n?", re.MULTILINE)
"""The long list with which Python ends its last words; what matters stands before it."""
TIME_TO_START = 300.0
"""Seconds until the method begins, at most: imports may take a while on a busy machine."""
PIPE = 1 << 16
"""So much a pipe holds (Linux: pipe(7)); asking for more takes memory for nothing."""
STARTED = b"s"
"""What a cell writes when the method begins; what comes before does not count as its time."""
SLACK, SHARE = 0.2, 0.1
"""By how many seconds, and by which part, a cell's own clock may differ from ours on a busy machine."""
Verdict = tuple[dict[str, Any], bytes | memoryview]


def learn_and_answer(
    method: Method | SealedMethod, training: TrainingSet, inputs: TestInputs, seed: int, limits: Limits
) -> Outcome:
    """The outcome of a method's work on one instance; never an exception of the method's.

    In a thread beside others (of a Dask worker, say) the method has a cell in any case: other threads may
    draw from the same global random numbers. If somebody kills the cell, WorkerLost is raised.
    """
    if isinstance(method, Method) and _works_here(limits):
        return work(method, training, inputs, seed, limits.threads)
    return _outcome(_asked(method, [CellLesson(training, inputs, seed)], limits))


def learn_and_answer_together(
    method: BatchMethod | SealedMethod, lessons: Sequence[CellLesson], limits: Limits
) -> list[Outcome] | None:
    """The outcomes of a method's work on several instances at once; None: have each done by itself.

    A batch may take as many times the seconds of one job as it has jobs, but no more memory.
    """
    if isinstance(method, BatchMethod) and _works_here(limits):
        outcomes = work_together(method, lessons, limits.threads)
        return outcomes if outcomes[0].status == "done" else None
    seconds = None if limits.seconds is None else limits.seconds * len(lessons)
    return _outcomes(_asked(method, lessons, replace(limits, seconds=seconds)), len(lessons))


def _works_here(limits: Limits) -> bool:
    return not limits.needs_a_cell and threading.current_thread() is threading.main_thread()


def _asked(method: Method | SealedMethod, lessons: Sequence[CellLesson], limits: Limits) -> Verdict:
    """What a cell made of it; WorkerLost if the cell or its warden was killed."""
    if not hasattr(os, "fork"):
        raise SpecError("limits and isolation need Linux or macOS: set neither `isolated` nor any limit here")
    closed = sealed(method)
    if any(lesson.inputs.own is not None for lesson in lessons):
        closed = replace(closed, modules=(*closed.modules, "pandas"))
    with _confinement(closed, limits) as order:
        request = request_for(closed, lessons, limits, order)
        try:
            warden = _warden(limits.threads, closed, order is not None, is_fresh=limits.memory is not None)
            header, blob = verdict_of(warden, request)
        except (ChildDied, FrameError) as error:
            raise WorkerLost(f"the process that watched over it was lost: {error}") from None
    header["isolation"] = PROGRAM if closed.is_program else _isolation(order, limits)
    return header, blob


@contextmanager
def _confinement(method: SealedMethod, limits: Limits) -> Iterator[dict[str, Any] | None]:
    """How the cell is confined, with a folder for it alone; None if it is not."""
    if limits.confined is False or method.is_program or (found := mechanism()) is None:
        if limits.confined is True and not method.is_program:
            raise SpecError(
                "methods can't be confined here: this machine offers neither namespaces nor Landlock; "
                'run them elsewhere, or give confined="if possible"'
            )
        yield None
        return
    with job_directory() as directory:
        yield {"directory": str(directory), "reads": readable(method.own), "mechanism": found}


def _isolation(order: dict[str, Any] | None, limits: Limits) -> str:
    if order is not None:
        return f"{CELL}, confined by {order['mechanism']}"
    return CELL if limits.confined is False else f"{CELL}, not confined: this machine does not allow it"


def let_go() -> None:
    """End this thread's wardens and whatever they watch over."""
    wardens: dict[object, Child] = vars(_mine).pop("wardens", {})
    for warden in wardens.values():
        warden.close()


def rest() -> None:
    """Let this thread's wardens wait for the next jobs; they end by themselves if none come for long."""
    wardens: dict[object, Child] = vars(_mine).get("wardens", {})
    for warden in wardens.values():
        warden.rest()


def expect(modules: Iterable[str], threads: int = 1) -> None:
    """Begin to load these modules for cells that this thread will need soon; those of the fixed list alone.

    If they are not needed, `let_go` or the end of this process ends it.
    """
    names = list(modules)
    if hasattr(os, "fork"):
        known, apart = tuple(harmless(names, BUILT_IN)), tuple(harmless(names, APART))
        _warden(threads, SealedMethod(b"", "", known, apart, ()), is_confined=False)


@contextmanager
def cells_ahead(method: Method | None, limits: Limits) -> Iterator[None]:
    """Have the libraries of a method loaded for its cells while this process reads the data.

    After an error nothing is left of that; else it rests after the last job.
    """
    try:
        if method is not None and limits.needs_a_cell and limits.confined is False and hasattr(os, "fork"):
            with suppress(SpecError):  # one that can't be sent to a cell is told of when its jobs begin
                is_fresh = limits.memory is not None
                _warden(limits.threads, sealed(method), is_confined=False, is_fresh=is_fresh)
        yield
    except BaseException:
        let_go()
        raise


def _warden(threads: int, method: SealedMethod, is_confined: bool, *, is_fresh: bool = False) -> Child:
    """This thread's warden for such methods, a new one if it has none that is alive.

    One that is fresh has not served before: what it has loaded for others counts as memory of its cells.
    """
    wardens: dict[object, Child] = vars(_mine).setdefault("wardens", {})
    key = (threads, method.ancestor, is_confined, tuple(sys.path))  # its cells import from there
    warden = wardens.pop(key, None)
    if warden is None or not warden.wakes() or (is_fresh and warden.is_resting):
        if warden is not None:
            warden.close()
        while len(wardens) >= MOST_WARDENS:
            wardens.pop(next(iter(wardens))).close()
        known = environment(threads) if is_confined else child_environment(threads)
        warden = Child("redelve.run.cells.warden", known)
        warden.tell(packed({"modules": [*method.modules, *method.apart]}))
    wardens[key] = warden
    return warden


def _outcome(reply: Verdict) -> Outcome:
    header, blob = reply
    try:
        outcome = _told(header)
        if outcome.status != "done":
            return outcome
        (told,) = _told_of_training(header, 1)
        return replace(outcome, answer=load_answer(blob), told=told)
    except (FrameError, PredictionError) as error:
        return Outcome("failed", message=steady(str(error)), isolation=header.get("isolation", CELL))


def _outcomes(reply: Verdict, count: int) -> list[Outcome] | None:
    header, blob = reply
    try:
        outcome, sizes = _told(header), header.get("sizes")
        if outcome.status != "done" or outcome.message or not isinstance(sizes, list) or len(sizes) != count:
            return None
        ends = np.cumsum(sizes).tolist()
        answers = [load_answer(blob[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
        told = _told_of_training(header, count)
    except (FrameError, PredictionError, TypeError, ValueError):
        return None
    return [replace(outcome, answer=answer, told=each) for answer, each in zip(answers, told, strict=True)]


def _told_of_training(header: dict[str, Any], count: int) -> list[Told]:
    """What the predictors told, in a list of `count`: texts and numbers by name, nothing else."""
    told = header.get("told")
    if not isinstance(told, list) or len(told) != count or not all(isinstance(one, dict) for one in told):
        raise FrameError("what the cell wrote is no outcome: what its predictors tell is missing")
    if not all(type(value) in (str, float) for one in told for value in one.values()):
        raise FrameError("what the cell wrote is no outcome: its predictors tell more than numbers and texts")
    return told


def _told(header: dict[str, Any]) -> Outcome:
    """The verdict, trusted no further than its form."""
    status, message, costs = header.get("status"), header.get("message"), header.get("costs")
    if status not in STATUSES or not isinstance(message, str) or not isinstance(costs, list):
        raise FrameError("what the cell wrote is no outcome")
    if len(costs) != 4 or not all(each is None or isinstance(each, int | float) for each in costs):
        raise FrameError("what the cell wrote is no outcome: its costs are not numbers")
    isolation = header.get("isolation", CELL)
    return Outcome(cast(Status, status), message=steady(message), costs=Costs(*costs), isolation=isolation)


# Watching over a cell


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


@contextmanager
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


@contextmanager
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
            part = os.read(self.output, PIPE)
        except BlockingIOError:
            return True
        self.printed += part
        del self.printed[: -4 * LONGEST_MESSAGE]
        return bool(part)

    def _read(self) -> bool:
        """Keep what the cell tells; whether more may come."""
        try:
            part = os.read(self.answers, PIPE)
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
