"""What an encoding is: names, encode, decode; one registry of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from redelve.errors import PredictionError
from redelve.model import Attribute, AttributePrior, Column
from redelve.model.coding import Coding, Normalization
from redelve.registry import Registry
from redelve.text_numbers import parse_number

Texts = NDArray[np.object_]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One encoded column: numbers for methods in memory, texts for files (None: print the numbers)."""

    name: str
    numbers: Numbers
    texts: Texts | None = None


class Encoder(Protocol):
    """An encoding bound to an attribute, its prior and, where needed, its training statistics."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns produced."""
        ...

    def encode(self, column: Column) -> list[CodedColumn]:
        """The column's values in coded form."""
        ...

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """Original values, as texts, for predictions made in coded form."""
        ...

    @property
    def log_density_shift(self) -> float:
        """What to add to the log density of a coded target to get that of the original target."""
        ...


@dataclass(frozen=True)
class Subject:
    """All that an encoding may look at: the attribute, its prior, the coding and training statistics."""

    attribute: Attribute
    prior: AttributePrior
    coding: Coding
    statistics: Normalization | None

    @property
    def name(self) -> str:
        """The attribute's name."""
        return self.attribute.name

    @property
    def levels(self) -> tuple[str, ...]:
        """The values of a discrete attribute, in the order the prior gives or else the range."""
        return self.prior.order or self.attribute.range.values

    @property
    def missing(self) -> str:
        """How missing values are treated."""
        return self.coding.missing or ("indicator" if self.attribute.range.missing else "error")


encodings: Registry[Callable[[Subject], Encoder]] = Registry("encoding")


def coded_numbers(texts: Texts, name: str) -> Numbers:
    """The numbers a method wrote for one coded column."""
    numbers = np.empty(len(texts), dtype=np.float64)
    for row, text in enumerate(texts):
        number = parse_number(text)
        if number is None:
            raise PredictionError(f'case {row + 1}: expected a number for {name} but got "{text}"')
        numbers[row] = number
    return numbers


def alternatives(values: Sequence[str]) -> str:
    """A list in words.

    >>> alternatives(["a"]), alternatives(["a", "b"]), alternatives(["a", "b", "c"])
    ('a', 'a or b', 'a, b, or c')
    """
    if len(values) < 3:
        return " or ".join(values)
    return f"{', '.join(values[:-1])}, or {values[-1]}"
