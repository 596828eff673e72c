"""Have a method's work done, here or in a cell: a process forked for the job alone by a warden.

The warden is a fresh Python process; it has run no method and no parallel code, so it can be forked. Each job
begins in the same state, whatever jobs came before it, and ends with its cell.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from redelve.errors import PredictionError, SpecError
from redelve.methods.contract import BatchMethod, Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.run.cells.limits_and_outcome import CellLesson, Limits, Outcome, load_answer, steady
from redelve.run.cells.working import work, work_together
from redelve.run.results import STATUSES, Costs, Status, Told
from redelve.run.workers.child import (
    Child,
    ChildDied,
    FrameError,
    child_environment,
    harmless_modules,
    packed,
    unpacked,
)

ATTEMPTS = 3
"""A warden that dies is not the job's fault, unless this happens again and again."""

_mine = threading.local()
"""The warden of this thread: threads of one process work side by side."""


def learn_and_answer(
    method: Method, training: TrainingSet, inputs: TestInputs, seed: int, limits: Limits
) -> Outcome:
    """The outcome of a method's work on one instance; never an exception of the method's.

    In a thread beside others (of a Dask worker, say) the method has a cell in any case: other threads may
    draw from the same global random numbers.
    """
    if not limits.needs_a_cell and threading.current_thread() is threading.main_thread():
        return work(method, training, inputs, seed, limits.threads)
    reply = _asked(_request(method, [CellLesson(training, inputs, seed)], limits), limits.threads)
    if reply is None:
        killed = f"the process that watched over it was killed, {ATTEMPTS} times over"
        return Outcome("crashed", message=killed)
    return _outcome(reply)


def learn_and_answer_together(
    method: BatchMethod, lessons: Sequence[CellLesson], limits: Limits
) -> list[Outcome] | None:
    """The outcomes of a method's work on several instances at once; None: have each done by itself.

    A batch may take as many times the seconds of one job as it has jobs, but no more memory.
    """
    if not limits.needs_a_cell and threading.current_thread() is threading.main_thread():
        outcomes = work_together(method, lessons, limits.threads)
        return outcomes if outcomes[0].status == "done" else None
    seconds = None if limits.seconds is None else limits.seconds * len(lessons)
    reply = _asked(_request(method, lessons, replace(limits, seconds=seconds)), limits.threads)
    return None if reply is None else _outcomes(reply, len(lessons))


def _asked(request: bytes, threads: int) -> bytes | None:
    """The warden's reply; None if there is none, again and again."""
    for _ in range(ATTEMPTS):
        try:
            return _warden(threads).ask(request)
        except (ChildDied, FrameError):
            continue
    return None


def let_go() -> None:
    """End this thread's warden and whatever it watches over."""
    warden: Child | None = getattr(_mine, "warden", None)
    _mine.warden = None
    if warden is not None:
        warden.close()


def _warden(threads: int) -> Child:
    """This thread's warden, a new one if it has none that is alive."""
    warden: Child | None = getattr(_mine, "warden", None)
    if warden is None or not warden.is_usable or _mine.threads != threads:
        let_go()
        _mine.warden = Child("redelve.run.cells.warden", child_environment(threads))
        _mine.warden.tell(packed({"modules": harmless_modules()}))
        _mine.threads = threads
    return cast(Child, _mine.warden)


def _request(method: Method, lessons: Sequence[CellLesson], limits: Limits) -> bytes:
    import cloudpickle

    if not hasattr(os, "fork"):
        raise SpecError("limits and isolation need Linux or macOS: set neither `isolated` nor any limit here")
    try:
        lesson = cloudpickle.dumps((method, tuple(lessons), limits.threads))
    except Exception as error:
        raise SpecError(
            f"{type(method).__name__} can't be sent to another process: {type(error).__name__}: {error}; "
            "give it settings that can be pickled, or no limits and no isolation"
        ) from error
    return packed({"seconds": limits.seconds, "memory": limits.memory}, lesson)


def _outcome(reply: bytes) -> Outcome:
    try:
        header, blob = unpacked(reply)
        outcome = _told(header)
        if outcome.status != "done":
            return outcome
        (told,) = _told_of_training(header, 1)
        return replace(outcome, answer=load_answer(blob), told=told)
    except (FrameError, PredictionError) as error:
        return Outcome("failed", message=steady(str(error)))


def _outcomes(reply: bytes, count: int) -> list[Outcome] | None:
    try:
        header, blob = unpacked(reply)
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
    return Outcome(cast(Status, status), message=steady(message), costs=Costs(*costs))
