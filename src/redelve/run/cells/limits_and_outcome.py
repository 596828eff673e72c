"""What a job may use, what may come of it, and an answer as bytes, for the way out of a cell.

Reading the bytes runs no code, whoever wrote them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from redelve.answers.answer import Answer, rebuilt
from redelve.answers.predictions import Target, TargetDistributions
from redelve.errors import PredictionError, RedelveError, SpecError
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model.dataset import Numbers
from redelve.run.cells.confining import CHOICES, Confined
from redelve.run.results import SHARED, Costs, Status, Told
from redelve.run.workers.child import FrameError, packed, unpacked

LONGEST_MESSAGE = 2000
ISOLATED_UNLESS_TOLD = True
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


@dataclass(frozen=True)
class Limits:
    """What a job may use.

    Parameters
    ----------
    seconds
        The longest time that a job may take; None for no limit.
    memory
        The most bytes that a job may hold; None for no limit.
    threads
        Threads of BLAS and OpenMP. All workers have the same, because results may depend on it in the
        last bits.
    isolated
        Whether each job has a process of its own, which never has the test targets. None: wherever that
        can be had, which each record tells. False: the method works in the process that holds the test
        targets, unless there is a limit of time or memory.
    confined
        Whether methods work without network, files and other processes (Linux): True, False, or
        ``"if possible"``. Each record tells.

    Raises
    ------
    RedelveError
        A limit is not above 0.

    Notes
    -----
    A job that goes over a limit is stopped, and its record says so; the others go on. docs/running.md
    tells what becomes of it, docs/decisions/0007-threads-and-bits.md why one thread is the default.

    Examples
    --------
    >>> import redelve
    >>> redelve.Limits(seconds=60, memory=2 * 2**30).needs_a_cell
    True
    """

    seconds: float | None = None
    memory: int | None = None
    """Bytes."""
    threads: int = 1
    """Of BLAS and OpenMP; the same for all workers, because results may depend on it in the last bits."""
    isolated: bool | None = None
    confined: Confined = False

    def __post_init__(self) -> None:
        for name in ("seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SpecError(f"the limit of {name} is {value}: give more than 0, or None for no limit")
        if self.confined not in CHOICES:
            raise SpecError(f'confined is {self.confined!r}: choose True, False or "if possible"')
        if self.threads < 1:
            raise SpecError(f"threads must be 1 or more, not {self.threads}")

    @property
    def must_isolate(self) -> bool:
        """Whether a method that can't work in a process of its own does not work at all."""
        is_wanted = self.isolated is True or self.confined is not False
        return is_wanted or self.seconds is not None or self.memory is not None

    @property
    def needs_a_cell(self) -> bool:
        """Whether the method works in a process of its own."""
        return self.must_isolate or (self.isolated is None and ISOLATED_UNLESS_TOLD and hasattr(os, "fork"))


@dataclass(frozen=True)
class CellLesson:
    """What a job is about: cases to learn from, cases to answer for, and the seed."""

    training: TrainingSet
    inputs: TestInputs
    seed: int


@dataclass(frozen=True)
class Outcome:
    """An answer, or why there is none; and what it took."""

    status: Status
    answer: Answer | None = None
    message: str = ""
    costs: Costs = field(default_factory=Costs)
    told: Told = field(default_factory=dict)
    isolation: str = SHARED


def steady(text: str) -> str:
    """A message of bearable length without what differs from process to process: addresses in memory.

    >>> steady("<object at 0x7f3c5c0b1d50> is wrong")
    '<object at 0x…> is wrong'
    """
    return ADDRESS.sub("0x…", text)[:LONGEST_MESSAGE]


def dump_answer(answer: Answer) -> bytes:
    """An answer as bytes: a description in JSON, then the numbers."""
    arrays: list[Numbers] = []

    def keep(values: Numbers) -> list[int]:
        arrays.append(np.ascontiguousarray(values, dtype="<f8"))
        return list(np.shape(values))

    shares = answer.probabilities
    header = {
        "targets": [[one.name, one.kind, list(one.levels), one.unit] for one in answer.targets],
        "guesses": None if answer.guesses is None else [keep(one) for one in answer.guesses.values],
        "probabilities": None if shares is None else keep(shares.logs),
        "told": None if shares is None or shares.told is None else keep(shares.told),
        "distributions": _described(answer.distributions, keep),
        "guesses_for": {
            code: [keep(one) for one in guesses.values] for code, guesses in answer.guesses_for.items()
        },
        "decision_values": None if answer.decision_values is None else keep(answer.decision_values.values),
    }
    return packed(header, b"".join(array.tobytes() for array in arrays))


def _described(found: TargetDistributions | None, keep: Any) -> list[list[Any]] | None:
    if found is None:
        return None
    return [
        [one.kind, {name: keep(values) for name, values in one.parameters().items()}]
        for one in found.distributions
    ]


def load_answer(message: bytes | memoryview) -> Answer:
    """The answer in the bytes; a PredictionError if there is none."""
    try:
        header, blob = unpacked(message)
        return _answer(header, _Numbers(blob))
    except RedelveError as error:
        raise PredictionError(str(error)) from None
    except (FrameError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise PredictionError(f"the answer can't be read: {type(error).__name__}: {error}") from None


class _Numbers:
    """Arrays one after the other."""

    def __init__(self, blob: memoryview) -> None:
        if len(blob) % 8:
            raise FrameError(f"{len(blob)} bytes are no array of numbers")
        self._values = np.frombuffer(blob, dtype="<f8")
        self._at = 0

    def take(self, shape: list[int]) -> Numbers:
        count = int(np.prod(shape, dtype=object))
        if min(shape, default=0) < 0 or count > len(self._values) - self._at:
            raise FrameError(f"there are no numbers for the shape {shape}")
        self._at += count
        return self._values[self._at - count : self._at].reshape(shape)

    def each(self, shapes: Iterable[list[int]]) -> tuple[Numbers, ...]:
        return tuple(self.take(shape) for shape in shapes)

    def named(self, shapes: Mapping[str, list[int]]) -> dict[str, Numbers]:
        return {name: self.take(shape) for name, shape in shapes.items()}


def _answer(header: Mapping[str, Any], numbers: _Numbers) -> Answer:
    targets = tuple(Target(name, kind, tuple(levels), unit) for name, kind, levels, unit in header["targets"])
    guesses, logs, made = header["guesses"], header["probabilities"], header["distributions"]
    scores = header.get("decision_values")
    return rebuilt(
        targets,
        None if guesses is None else numbers.each(guesses),
        tuple(None if shape is None else numbers.take(shape) for shape in (logs, header["told"])),
        None if made is None else [(kind, numbers.named(shapes)) for kind, shapes in made],
        {str(code): numbers.each(shapes) for code, shapes in header["guesses_for"].items()},
        None if scores is None else numbers.take(scores),
    )
