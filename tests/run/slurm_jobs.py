"""Jobs for tasks of an array; this module is imported by them, so it is small."""

from __future__ import annotations

import os
import time
from pathlib import Path


def place(number: int) -> tuple[int, str, str, str]:
    time.sleep(0.02)
    words = ("SLURM_ARRAY_TASK_ID", "OMP_NUM_THREADS", "PYTHONHASHSEED")
    first, second, third = (os.environ[word] for word in words)
    return number, first, second, third


def dies(mark: str) -> str:
    """A job during which its task is cancelled, once."""
    with Path(mark).open("a") as file:
        file.write("x")
    if len(Path(mark).read_text()) == 1:
        time.sleep(60)
    return "done"


def ends_itself(number: int) -> int:
    if number == 3:
        os._exit(4)
    return number
