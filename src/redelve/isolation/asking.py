"""Have a method's work done, here or in a cell: a process forked for the job alone by a warden.

The warden is a fresh Python process; it has run no method and no parallel code, so it can be forked. Each job
begins in the same state, whatever jobs came before it, and ends with its cell.
"""

from __future__ import annotations

import os
import threading
from typing import Any, cast

from redelve.errors import PredictionError, SpecError
from redelve.executors.child import Child, ChildDied, child_environment
from redelve.executors.frames import FrameError, packed, unpacked
from redelve.isolation.codec import load_answer
from redelve.isolation.limits import Limits, Outcome, steady
from redelve.isolation.preloading import harmless_modules
from redelve.isolation.working import work
from redelve.lessons import TestInputs, TrainingSet
from redelve.methods.contract import Method
from redelve.results import STATUSES, Costs, Status

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
    request = _request(method, training, inputs, seed, limits)
    for _ in range(ATTEMPTS):
        try:
            return _outcome(_warden(limits.threads).ask(request))
        except (ChildDied, FrameError):
            continue
    return Outcome("crashed", message=f"the process that watched over it was killed, {ATTEMPTS} times over")


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
        _mine.warden = Child("redelve.isolation.warden", child_environment(threads))
        _mine.warden.tell(packed({"modules": harmless_modules()}))
        _mine.threads = threads
    return cast(Child, _mine.warden)


def _request(method: Method, training: TrainingSet, inputs: TestInputs, seed: int, limits: Limits) -> bytes:
    import cloudpickle

    if not hasattr(os, "fork"):
        raise SpecError("limits and isolation need Linux or macOS: set neither `isolated` nor any limit here")
    try:
        lesson = cloudpickle.dumps((method, training, inputs, seed, limits.threads))
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
        return Outcome("done", load_answer(blob), outcome.message, outcome.costs)
    except (FrameError, PredictionError) as error:
        return Outcome("failed", message=steady(str(error)))


def _told(header: dict[str, Any]) -> Outcome:
    """The verdict, trusted no further than its form."""
    status, message, costs = header.get("status"), header.get("message"), header.get("costs")
    if status not in STATUSES or not isinstance(message, str) or not isinstance(costs, list):
        raise FrameError("what the cell wrote is no outcome")
    if len(costs) != 4 or not all(each is None or isinstance(each, int | float) for each in costs):
        raise FrameError("what the cell wrote is no outcome: its costs are not numbers")
    return Outcome(cast(Status, status), message=steady(message), costs=Costs(*costs))
