"""What an encoding is: where it may be used, and who encodes and decodes; one registry of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from redelve.errors import ANY_FAULT, ExtensionError, PredictionError, blame, place_of
from redelve.model import Attribute, AttributePrior, Column
from redelve.model.coding import Coding, Normalization
from redelve.model.dataset import Numbers
from redelve.model.prototask import TYPES
from redelve.registry import Registry, ValueKind, value_told
from redelve.text_numbers import parse_number

Texts = NDArray[np.object_]
LAST = 1_000_000
"""The place of encodings that do not say which is theirs."""
DISCRETE = ("nominal", "ordinal")
NUMERICAL = ("integer", "real")


def never(prior: AttributePrior) -> bool:
    """No attribute's default."""
    return False


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


@dataclass(frozen=True)
class Encoding:
    """A way to make numbers of an attribute's values: its name, who makes its encoders, where it may be used.

    Register one with `encodings.add(name, encoding)`, or by an entry point of the group `redelve.encodings`.
    """

    name: str
    make: Callable[[Subject], Encoder]
    """Makes the encoder of an attribute, by what the training cases told and nothing else."""
    types: tuple[str, ...] = TYPES
    """The types of attribute that it suits."""
    is_default_for: Callable[[AttributePrior], bool] = never
    """Whether it is what attributes get for which nobody chooses."""
    place: int = LAST
    """Its place where encodings are listed."""
    needs_extremes: bool = False
    """Whether it needs the least and the greatest training value, which files of DELVE's do not have."""

    def coding(self, **options: Any) -> OwnCoding:
        """This encoding with its options; the encoding itself travels along, registered or not."""
        return OwnCoding(self.name, **options, encoding=self)


@dataclass(frozen=True)
class OwnCoding(Coding):
    """A coding that brings its encoding, so that it can be used where that is not registered."""

    encoding: Encoding | None = None


encodings: Registry[Encoding | Callable[[Subject], Encoder]] = Registry(
    "encoding",
    "redelve.encodings",
    own_name="name",
    of=ValueKind("an Encoding", lambda given: isinstance(given, Encoding) or callable(given)),
)


def encoding_called(name: str) -> Encoding:
    """The encoding registered under a name; a bare function is taken to suit all types."""
    return _encoding(name, encodings[name])


def _encoding(name: str, found: Encoding | Callable[[Subject], Encoder]) -> Encoding:
    return found if isinstance(found, Encoding) else Encoding(name, found)


def encoding_of(coding: Coding, kind: str) -> Encoding | None:
    """The encoding that a coding asks for; None where none of that name suits the type."""
    if isinstance(coding, OwnCoding) and coding.encoding is not None:
        return coding.encoding if kind in coding.encoding.types else None
    return next((one for one in encodings_for(kind) if one.name == coding.method), None)


def encodings_for(kind: str) -> tuple[Encoding, ...]:
    """The encodings that suit attributes of a type, in their order."""
    return _suited(kind, encodings.changes)


@lru_cache(maxsize=64)  # wide data ask for each of their attributes
def _suited(kind: str, changes: int) -> tuple[Encoding, ...]:
    suited = (one for one in starmap(_encoding, encodings.items()) if kind in one.types)
    return tuple(sorted(suited, key=lambda one: (one.place, one.name)))


def coded_columns(encoder: Encoder, column: Column, count: int) -> list[CodedColumn]:
    """A column of `count` values in coded form; anything else that an encoder returns is refused."""
    try:
        coded = encoder.encode(column)
    except ANY_FAULT as error:
        blame("the encoding", encoder, error)
        raise
    if not isinstance(coded, list | tuple) or not all(isinstance(one, CodedColumn) for one in coded):
        raise _wrong_code(encoder, f"{value_told(coded)}: return a list of CodedColumn")
    shapes = {np.shape(one.numbers) for one in coded}
    if wrong := shapes - {(count,)}:
        raise _wrong_code(encoder, f"an array of shape {wrong.pop()} for {count} values: return ({count},)")
    types = (np.asarray(one.numbers).dtype for one in coded)
    if (unfit := next((one for one in types if one.kind not in "biuf"), None)) is not None:
        raise _wrong_code(encoder, f"an array of {unfit} as numbers: return floats")
    if len(coded) != len(encoder.names):
        told = f"{len(coded)} columns for the names {encoder.names!r:.80}: return one for each"
        raise _wrong_code(encoder, told)
    return list(coded)


def _wrong_code(encoder: Encoder, told: str) -> ExtensionError:
    return ExtensionError(f"the encoding ({place_of(encoder)}) returned {told}")


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
