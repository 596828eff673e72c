"""Methods that try what they must not: find the true targets, touch other methods, break what runs them."""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses
from redelve.methods.contract import Predictor
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.run.results import Costs
from tests.run import toys
from tests.run.toys import Toy

SECRET = "REDELVE_TEST_SECRET"
Place = Mapping[str, Any]
"""Where a cheat looks: files, a port, a process, an address."""


def walks_the_frames(training: TrainingSet, place: Place) -> bool:
    frame: Any = sys._getframe()
    while frame is not None:
        if any(hasattr(value, "truths") for value in frame.f_locals.values()):
            return True
        frame = frame.f_back
    return False


def asks_the_collector(training: TrainingSet, place: Place) -> bool:
    return any(type(one).__name__ == "Package" for one in gc.get_objects())


def reads_the_data(training: TrainingSet, place: Place) -> bool:
    return Path(place["file"]).read_text() == "targets"


def lists_the_archive(training: TrainingSet, place: Place) -> bool:
    return len(list(Path(place["file"]).parent.iterdir())) > 0


def writes_into_the_archive(training: TrainingSet, place: Place) -> bool:
    return Path(place["file"]).with_name("forged").write_text("better") > 0


def calls_home(training: TrainingSet, place: Place) -> bool:
    with socket.create_connection(("127.0.0.1", place["port"]), timeout=5):
        return True


def calls_home_by_udp(training: TrainingSet, place: Place) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendto(b"targets", ("127.0.0.1", place["port"])) > 0


def looks_at_the_environment(training: TrainingSet, place: Place) -> bool:
    return SECRET in os.environ or SECRET.encode() in Path("/proc/self/environ").read_bytes()


def reads_memory_of_others(training: TrainingSet, place: Place) -> bool:
    with open(f"/proc/{place['pid']}/mem", "rb", buffering=0) as file:  # noqa: PTH123
        file.seek(place["address"])
        return file.read(7) == b"targets"


def signals_others(training: TrainingSet, place: Place) -> bool:
    os.kill(place["pid"], 0)
    return True


def leaves_a_note(training: TrainingSet, place: Place) -> bool:
    """For its own later jobs, whose test cases it has learnt from."""
    note = Path(tempfile.gettempdir(), place["note"])
    return note.exists() or note.write_text("targets") < 0


def searches_its_memory(training: TrainingSet, place: Place) -> bool:
    """For targets of another instance, left behind by an earlier job."""
    sought = [bytes.fromhex(one) for one in place["targets"]]
    own = training.target_values()[:3].tobytes()
    (other,) = [one for one in sought if one != own]
    del sought
    with open("/proc/self/mem", "rb", buffering=0) as memory:  # noqa: PTH123
        for line in Path("/proc/self/maps").read_text().splitlines():
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if " rw-p " not in line:
                continue
            found = 0
            for piece in range(start, end, PIECE):
                memory.seek(piece)
                found += memory.read(min(PIECE, end - piece)).count(other)
            if found > COPIES_OF_OWN:
                return True
    return False


PIECE = 1 << 26
"""How much is read at once; what lies across two pieces is missed."""
COPIES_OF_OWN = 2
"""Those that the search itself makes."""


def changes_how_it_is_scored(training: TrainingSet, place: Place) -> bool:
    from redelve.run import experiment

    experiment.score = lambda *_: {"S": np.zeros(10)}  # type: ignore[attr-defined]
    return False


def changes_numpy(training: TrainingSet, place: Place) -> bool:
    solve = np.linalg.lstsq
    np.linalg.lstsq = lambda a, b, rcond=None: solve(a, b + 1, rcond=rcond)
    return False


def forges_costs(training: TrainingSet, place: Place) -> bool:
    from redelve.run.cells import working

    working.CostClock.costs = lambda self, shared_by=1: Costs(-5.0, 0.0, -1.0, 1)  # type: ignore[method-assign]
    return False


def draws_global_numbers(training: TrainingSet, place: Place) -> bool:
    np.random.seed(1)  # noqa: NPY002
    return False


def changes_its_cases(training: TrainingSet, place: Place) -> bool:
    for column in training.cases.columns:
        column.numbers()[:] = 0.0
    return False


TRIES: dict[str, Callable[[TrainingSet, Place], bool]] = {
    one.__name__: one
    for one in (
        walks_the_frames,
        asks_the_collector,
        reads_the_data,
        lists_the_archive,
        writes_into_the_archive,
        calls_home,
        calls_home_by_udp,
        looks_at_the_environment,
        reads_memory_of_others,
        signals_others,
        leaves_a_note,
        searches_its_memory,
        changes_how_it_is_scored,
        changes_numpy,
        forges_costs,
        draws_global_numbers,
        changes_its_cases,
    )
}


@dataclass(frozen=True)
class Attempt(Toy):
    """A method that tries something first, and tells if it got there."""

    tries: str = ""
    place: str = "{}"

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "attempt", "tries": self.tries}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        learnt = super().learn(training, rng)
        if TRIES[self.tries](training, json.loads(self.place)):
            warnings.warn("cheated", stacklevel=1)
        return learnt


class Pickled:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("/tmp/redelve-was-unpickled",)

    def __len__(self) -> int:
        return 10


class Unspeakable(Exception):
    """Runs code where it is unpickled or printed."""

    def __reduce__(self) -> Any:
        return Pickled().__reduce__()

    def __str__(self) -> str:
        raise RuntimeError


ANSWERS: dict[str, Callable[[int], Any]] = {
    "not a number": lambda count: np.full(count, np.nan),
    "infinity": lambda count: np.full(count, np.inf),
    "complex numbers": lambda count: np.full(count, 1j),
    "too few answers": lambda count: np.zeros(count - 1),
    "a table": lambda count: np.zeros((count, 3)),
    "texts": lambda count: np.array(["many"] * count),
    "objects": lambda count: np.array([Pickled()] * count, dtype=object),
    "no answer at all": lambda count: None,
}


@dataclass(frozen=True)
class Odd(Toy):
    """A method with an answer that is none."""

    answer: str = ""

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "odd", "answer": self.answer}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        return OddPredictor(training, self.answer)


@dataclass(frozen=True)
class OddPredictor:
    training: TrainingSet
    answer: str

    def predict(self, inputs: TestInputs) -> Any:
        if self.answer == "pickled code":
            return Pickled()
        if self.answer == "an exception with code":
            raise Unspeakable
        values = ANSWERS[self.answer](len(inputs))
        return None if values is None else Answer(Guesses(self.training.targets, (values,)))


def ends_without_a_word(training: TrainingSet) -> None:
    os._exit(0)


def ignores_signals_and_hangs(training: TrainingSet) -> None:
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(0.01)


def starts_many(training: TrainingSet) -> None:
    for _ in range(40):
        subprocess.Popen(["sleep", "987654"])


def starts_one_that_gets_away(training: TrainingSet) -> None:
    subprocess.Popen(["sleep", "987654"], start_new_session=True)


def prints_without_end(training: TrainingSet) -> None:
    line = "x" * 1000
    for _ in range(20_000):
        print(line)


BREAKS: dict[str, Callable[[TrainingSet], None]] = {
    one.__name__: one
    for one in (
        toys.segfault,
        ends_without_a_word,
        toys.calls_exit,
        ignores_signals_and_hangs,
        toys.eats_memory,
        toys.asks_for_too_much,
        starts_many,
        starts_one_that_gets_away,
        prints_without_end,
    )
}
