"""Methods that do mischief in their cells; each cell imports this, so it imports no more than it must."""

from __future__ import annotations

import gc
import os
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from redelve.methods.contract import Predictor
from redelve.methods.shown import TrainingSet
from redelve.run.results import Costs
from tests.run.toys import Toy

MEMORY = 500_000_000  # Python with every library that the tests before this one have loaded takes 220 MB


def prints_a_lot(training: TrainingSet) -> None:
    for number in range(20_000):
        print("line", number)
    raise ValueError("too chatty")


def asks_for_more_than_the_limit(training: TrainingSet) -> None:
    np.ones((2 * MEMORY + (2 << 30)) // 8)


def tells_of_the_collector(training: TrainingSet) -> None:
    warnings.warn(f"the collector is on: {gc.isenabled()}", UserWarning, stacklevel=1)


def looks_for_the_truth(training: TrainingSet) -> None:
    frame = sys._getframe()
    while frame is not None:
        assert "package" not in frame.f_locals
        assert "truths" not in frame.f_locals
        frame = frame.f_back  # type: ignore[assignment]


def writes_nonsense(training: TrainingSet) -> None:
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"nonsense" * 100)
        except OSError:
            continue
    os._exit(0)


def kills_its_warden(training: TrainingSet) -> None:
    os.kill(os.getppid(), 9)
    time.sleep(60)


def imports_a_late_module(training: TrainingSet) -> None:
    import beside_a_late_method  # type: ignore[import-not-found]  # noqa: F401


def tells_its_threads(training: TrainingSet) -> None:
    from threadpoolctl import threadpool_info

    found = {info["num_threads"] for info in threadpool_info()} | {int(os.environ["OMP_NUM_THREADS"])}
    raise ValueError(f"threads {sorted(found)}")


def raises_an_unspeakable_error(training: TrainingSet) -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    raise Unspeakable


def tells_an_address(training: TrainingSet) -> None:
    raise ValueError(f"{object()} is wrong")


@dataclass(frozen=True)
class Mortal(Toy):
    """Dies of a signal as long as a file has fewer lines than it may die."""

    notes: str = ""
    deaths: int = 0
    signal: int = 9

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        with Path(self.notes).open("a") as file:
            file.write("began\n")
        if len(Path(self.notes).read_text().split()) <= self.deaths:
            os.kill(os.getpid(), self.signal)
            time.sleep(60)
        return super().learn(training, rng)


def forges_its_costs(training: TrainingSet) -> None:
    from redelve.run.cells import working

    working.CostClock.costs = lambda self, shared_by=1: Costs(-5.0, 0.0, -1.0, 1)  # type: ignore[method-assign]
    time.sleep(1.0)  # our clock may hear late of the begin where the machine is busy
