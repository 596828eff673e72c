"""Answers as bytes and back, for the way out of a cell. Reading them runs no code, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from redelve.answers.answer import Answer, rebuilt
from redelve.answers.predictions import Target, TargetDistributions
from redelve.errors import PredictionError, RedelveError
from redelve.model.dataset import Numbers
from redelve.run.workers.child import FrameError, packed, unpacked


def dump_answer(answer: Answer) -> bytes:
    """An answer as bytes: a description in JSON, then the numbers."""
    arrays: list[Numbers] = []

    def keep(values: Numbers) -> list[int]:
        arrays.append(np.ascontiguousarray(values, dtype="<f8"))
        return list(np.shape(values))

    header = {
        "targets": [[one.name, one.kind, list(one.levels), one.unit] for one in answer.targets],
        "guesses": None if answer.guesses is None else [keep(one) for one in answer.guesses.values],
        "probabilities": None if answer.probabilities is None else keep(answer.probabilities.logs),
        "distributions": _described(answer.distributions, keep),
        "guesses_for": {
            code: [keep(one) for one in guesses.values] for code, guesses in answer.guesses_for.items()
        },
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
    return rebuilt(
        targets,
        None if guesses is None else numbers.each(guesses),
        None if logs is None else numbers.take(logs),
        None if made is None else [(kind, numbers.named(shapes)) for kind, shapes in made],
        {str(code): numbers.each(shapes) for code, shapes in header["guesses_for"].items()},
    )
