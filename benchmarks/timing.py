"""Timing of alternatives in turns, so that what else the machine does hits all alike."""

from __future__ import annotations

import time
from collections.abc import Callable

Row = dict[str, object]


def best_of(count: int, *actions: Callable[[], object]) -> list[float]:
    """The best time of each action, taking turns."""
    times = [float("inf")] * len(actions)
    for _ in range(count):
        for position, action in enumerate(actions):
            start = time.perf_counter()
            action()
            times[position] = min(times[position], time.perf_counter() - start)
    return times
