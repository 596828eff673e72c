"""What a job may use, and what may come of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from redelve.answers.answer import Answer
from redelve.errors import SpecError
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.run.results import Costs, Status, Told

LONGEST_MESSAGE = 2000
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
        Whether each method works in a process of its own, which never has the test targets. With a
        limit of time or memory it does anyway.

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
    isolated: bool = False

    def __post_init__(self) -> None:
        for name in ("seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SpecError(f"the limit of {name} is {value}: give more than 0, or None for no limit")
        if self.threads < 1:
            raise SpecError(f"threads must be 1 or more, not {self.threads}")

    @property
    def needs_a_cell(self) -> bool:
        """Whether the method works in a process of its own."""
        return self.isolated or self.seconds is not None or self.memory is not None


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


def steady(text: str) -> str:
    """A message of bearable length without what differs from process to process: addresses in memory.

    >>> steady("<object at 0x7f3c5c0b1d50> is wrong")
    '<object at 0x…> is wrong'
    """
    return ADDRESS.sub("0x…", text)[:LONGEST_MESSAGE]
