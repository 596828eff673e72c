"""Have a method's work done, here or in a cell: a process forked for the job alone by a warden.

The warden is a fresh Python process that runs no method and no parallel code, so it can be forked. Each job
begins in the same state, whatever jobs came before it, and ends with its cell.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from redelve.errors import PredictionError, SpecError
from redelve.methods.adapters.confinement import job_directory
from redelve.methods.contract import BatchMethod, Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.run.cells.confining import environment, mechanism, readable
from redelve.run.cells.limits_and_outcome import CellLesson, Limits, Outcome, load_answer, steady
from redelve.run.cells.sealing import APART, BUILT_IN, SealedMethod, harmless, sealed
from redelve.run.cells.watching import CellRequest, Verdict, verdict_of
from redelve.run.cells.working import work, work_together
from redelve.run.results import CELL, STATUSES, Costs, Status, Told
from redelve.run.workers.child import Child, ChildDied, FrameError, child_environment, packed
from redelve.run.workers.worker_contract import WorkerLost

PROGRAM = f"{CELL}, for a program that its adapter confines"
MOST_WARDENS = 4
"""So many a thread has at most; the one that was used longest ago is let go for a new one."""

_mine = threading.local()
"""The wardens of this thread: threads of one process work side by side."""


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
        request = _request(closed, lessons, limits, order)
        try:
            header, blob = verdict_of(_warden(limits.threads, closed, order is not None), request)
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


def expect(modules: Iterable[str], threads: int = 1) -> None:
    """Begin to load these modules for cells that this thread will need soon; those of the fixed list alone.

    If they are not needed, `let_go` or the end of this process ends it.
    """
    names = list(modules)
    if hasattr(os, "fork"):
        known, apart = tuple(harmless(names, BUILT_IN)), tuple(harmless(names, APART))
        _warden(threads, SealedMethod(b"", "", known, apart, ()), is_confined=False)


def _warden(threads: int, method: SealedMethod, is_confined: bool) -> Child:
    """This thread's warden for such methods, a new one if it has none that is alive."""
    wardens: dict[object, Child] = vars(_mine).setdefault("wardens", {})
    key = (threads, method.ancestor, is_confined, tuple(sys.path))  # its cells import from there
    warden = wardens.pop(key, None)
    if warden is None or not warden.is_usable:
        if warden is not None:
            warden.close()
        while len(wardens) >= MOST_WARDENS:
            wardens.pop(next(iter(wardens))).close()
        known = environment(threads) if is_confined else child_environment(threads)
        warden = Child("redelve.run.cells.warden", known)
        warden.tell(packed({"modules": [*method.modules, *method.apart]}))
    wardens[key] = warden
    return warden


def _request(
    method: SealedMethod, lessons: Sequence[CellLesson], limits: Limits, order: dict[str, Any] | None
) -> CellRequest:
    about = packed({"method": len(method.content)})
    header = {"modules": method.modules, "memory": limits.memory, "confined": order}
    return CellRequest(header, (about, method.content, _pickled(tuple(lessons))), limits.seconds)


def _pickled(lessons: tuple[CellLesson, ...]) -> bytes:
    """Cases as bytes; those of a user's frame may hold values of classes that only cloudpickle can send."""
    if all(one.training.own is None for one in lessons):
        return pickle.dumps(lessons, pickle.HIGHEST_PROTOCOL)
    import cloudpickle

    try:
        dumped: bytes = cloudpickle.dumps(lessons)
    except Exception as error:
        raise SpecError(
            f"the cases can't be sent to another process: {type(error).__name__}: {error}; "
            "give values that can be pickled, or Limits(isolated=False) and no other limits"
        ) from error
    return dumped


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
