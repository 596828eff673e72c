"""Jobs for workers to do: this module needs little, so that a process that imports it starts at once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def double(number: int) -> int:
    return 2 * number


def sleeps(number: int) -> int:
    time.sleep(60)
    return number


def exits_on_three(number: int) -> int:
    if number == 3:
        os._exit(4)
    return number


def kills_itself_at_first(mark: str) -> str:
    """Killed from outside, so it looks, until there are three marks."""
    with Path(mark).open("a") as file:
        file.write("x")
    if len(Path(mark).read_text()) < 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def kills_itself_on_three(number: int) -> int:
    time.sleep(0.05)
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def twice(numbers: tuple[int, ...]) -> list[int]:
    return [2 * number for number in numbers]


def dies_of_three(numbers: tuple[int, ...]) -> list[int]:
    if 3 in numbers:
        os._exit(3)
    return list(numbers)


def fails(number: int) -> int:
    raise KeyError(number)


class OddError(Exception):
    """One that can't be unpickled."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def fails_oddly(number: int) -> int:
    raise OddError(number, number)
