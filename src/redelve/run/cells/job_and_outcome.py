"""What a job may use and what may come of it; a method as bytes into a cell, an answer as bytes out of it.

Only the cell opens a method; reading an answer runs no code, whoever wrote it.

A cell is forked from a process that has loaded libraries, so that it need not load them itself. What that
process has loaded reaches every cell, so it loads modules of a fixed list of packages only, never a module of
a method's: that is imported by its own cell, every time. Which modules these are follows from the method
alone: neither what other methods need nor what a cell reports changes them.
"""

from __future__ import annotations

import os
import pickle
import pickletools
import re
import sys
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from redelve.answers.answer import Answer, rebuilt
from redelve.answers.predictions import Target, TargetDistributions
from redelve.errors import PredictionError, RedelveError, SpecError
from redelve.methods.adapters.program import Program
from redelve.methods.contract import Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model.dataset import Numbers
from redelve.registry import check_kind, kinds_named, named_fields
from redelve.run.cells.confining import CHOICES, Confined
from redelve.run.results import SHARED, Costs, Status, Told
from redelve.run.workers.child import FrameError, packed, unpacked

LONGEST_MESSAGE = 2000
ISOLATED_UNLESS_TOLD = True
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
LARGE = frozenset(("joblib", "pandas", "scipy", "sklearn"))
BUILT_IN = frozenset(("numpy", "redelve", "threadpoolctl")) | LARGE
"""Packages that a cell may find loaded: importing them changes nothing for others and begins no threads."""
APART = frozenset(("catboost", "lightgbm", "polars", "pyarrow", "statsmodels", "torch", "xgboost"))
"""Packages that take long to import; found loaded by cells of methods that use them, and by no others."""
WITH_EFFECTS = frozenset(("experimental", "conftest", "tests", "testing", "_testing"))
"""Parts of these packages whose import does change something, or that no method needs."""
LONGEST_NAME = 100
MOST_MODULES = 1000
"""So many are looked at, at most, for what they import."""


@named_fields
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
        for name in ("seconds", "memory", "threads", "isolated"):
            given = getattr(self, name)
            if given is not getattr(Limits, name):
                check_kind(name, given, kinds_named(str(self.__annotations__[name])))
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


# A job on its way into a cell


@dataclass(frozen=True)
class SealedMethod:
    """A method as bytes: no code of its own runs where it is only carried."""

    content: bytes = field(repr=False)
    kind: str
    modules: tuple[str, ...]
    """What its cells find loaded, of packages that are built in."""
    apart: tuple[str, ...]
    """What its cells find loaded of other packages; cells that find others have another ancestor."""
    own: tuple[str, ...]
    """Modules of other packages that it is made of, which its cells import themselves."""
    is_program: bool = False
    """Whether it is a program, which its adapter confines: it needs files of its own."""

    @property
    def ancestor(self) -> tuple[str, ...]:
        """What tells its cells' ancestor from others: a small one is forked five times as fast."""
        large = [name for name in self.modules if name.partition(".")[0] in LARGE]
        return (*self.apart, *(("large",) if large else ()))


def sealed(method: Method | SealedMethod) -> SealedMethod:
    """The method as bytes; a SpecError where it can't be had so."""
    if isinstance(method, SealedMethod):
        return method
    import cloudpickle

    kind = type(method).__name__
    try:
        content = cloudpickle.dumps(method)
    except Exception as error:
        raise SpecError(
            f"{kind} can't be sent to another process: {type(error).__name__}: {error}; "
            "give it settings that can be pickled, or Limits(isolated=False) and no other limits"
        ) from error
    named = sorted(set(_modules_named_in(content)))
    known = [*_imported_by(named), *method.late_imports]
    own = [name for name in known if name.partition(".")[0] not in BUILT_IN | APART | sys.stdlib_module_names]
    is_program = isinstance(method, Program) and method.confined is not False
    modules, apart = tuple(harmless(known, BUILT_IN)), tuple(harmless(known, APART))
    return SealedMethod(content, kind, modules, apart, tuple(own), is_program)


def carried(method: Method, name: str, limits: Limits) -> Method | SealedMethod:
    """A method as workers have it: where it has cells, no code of its own runs outside of them.

    If it can't be sent to a cell, and nobody said that it must, it is left as it is.
    """
    if not limits.needs_a_cell:
        return method
    try:
        return sealed(method)
    except SpecError as error:
        if limits.must_isolate:
            raise
        warnings.warn(f'method "{name}" has no process of its own: {error}', stacklevel=2)
        return method


def has_known_code(method: Method) -> bool:
    """Whether a method is one of redelve's own, or one that it made of scikit-learn's estimators alone.

    >>> from redelve.methods.contract import METHODS
    >>> has_known_code(METHODS["lin-1"])
    True
    """
    is_ours = type(method).__module__.startswith("redelve.") and not method.packages
    identity = dict(method.identity)
    return is_ours and identity.get("kind") not in ("function", "program") and not _names_code(identity)


def _names_code(value: Any) -> bool:
    """Whether an identity has the hash of somebody's own code, at any depth."""
    if isinstance(value, Mapping):
        return "code" in value or any(map(_names_code, value.values()))
    return isinstance(value, list | tuple) and any(map(_names_code, value))


def harmless(names: Iterable[str], packages: frozenset[str]) -> list[str]:
    """Those of the modules that belong to the packages and whose import changes nothing."""
    parts = {name: name.split(".") for name in names}
    return [name for name, split in parts.items() if split[0] in packages and not WITH_EFFECTS & {*split}]


def _modules_named_in(content: bytes) -> Iterator[str]:
    """Texts in a pickle that are names of modules loaded here."""
    for _, value, _ in pickletools.genops(content):
        if isinstance(value, str) and len(value) < LONGEST_NAME:
            name = value.partition(" ")[0]  # the oldest way to pickle: "module name"
            if name in sys.modules:
                yield name


def _imported_by(modules: Iterable[str]) -> list[str]:
    """The modules, and what those of the user's among them and those they import have imported."""
    ours, waiting, seen = BUILT_IN | APART, deque(modules), set(modules)
    while waiting and len(seen) < MOST_MODULES:
        name = waiting.popleft()
        if name.partition(".")[0] in ours | sys.stdlib_module_names:
            continue
        for origin in set(map(_origin, list(vars(sys.modules[name]).values()))) - seen:
            if origin in sys.modules:
                seen.add(origin)
                waiting.append(origin)
    return sorted(seen)


def _origin(value: Any) -> str:
    """The module that a value is, or is of."""
    origin = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return origin if isinstance(origin, str) else ""


@dataclass(frozen=True)
class CellRequest:
    """A job for a cell: what the warden must know, and what only the cell is to see."""

    header: dict[str, Any]
    lesson: tuple[bytes, ...] = field(repr=False)
    seconds: float | None


def request_for(
    method: SealedMethod, lessons: Sequence[CellLesson], limits: Limits, order: dict[str, Any] | None
) -> CellRequest:
    """The job as the warden and the cell are given it."""
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


# An answer on its way out


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
