"""A worker process: carries out one errand after the other, and ends when its master does."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
from collections.abc import Callable
from typing import Any

from redelve.run.workers.pipe_frames import read_frame, write_frame

WELL, ILL = b"\x01", b"\x00"


def dump(value: Any) -> bytes:
    """A value as bytes, functions and classes of scripts and notebooks included."""
    import cloudpickle

    dumped: bytes = cloudpickle.dumps(value)
    return dumped


def carried_out(errand: bytes) -> Any:
    """What a dumped function makes of a dumped value."""
    perform, one = pickle.loads(errand)
    return perform(one)


def serve(requests: int, replies: int) -> None:
    """Answer every errand with what came of it."""
    errands: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, errands.put), daemon=True).start()
    while True:
        write_frame(replies, _answer(errands.get()))


def _listen(requests: int, put: Callable[[bytes], None]) -> None:
    while (errand := read_frame(requests)) is not None:
        put(errand)
    os.killpg(0, signal.SIGKILL)  # the master is gone: so is everything that was started for it


def _answer(errand: bytes) -> bytes:
    try:
        return WELL + dump(carried_out(errand))
    except Exception as error:
        return ILL + dumped_error(error)


def dumped_error(error: Exception) -> bytes:
    """An error as bytes; its text alone where it can't be sent itself."""
    try:
        dumped = dump(error)
        pickle.loads(dumped)
    except Exception:
        return dump(RuntimeError(f"{type(error).__name__}: {error}"))
    return dumped
