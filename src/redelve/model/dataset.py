"""Datasets: what the attributes are, where the cases come from, and the cases themselves (manual 3)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.model.ranges import Range, parse_range
from redelve.text_numbers import is_integer, parse_number


def digest(noun: Any) -> str:
    """Thirty-two hexadecimal digits that change when any field of a frozen value changes."""
    return digest_of_text(canonical(noun))


def canonical(noun: Any) -> str:
    """A frozen value as JSON, always in the same way."""
    return json.dumps(_plain(noun), sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def digest_of_text(text: str) -> str:
    """Thirty-two hexadecimal digits that change with the text."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = getattr(value, "content_digest", None)
        if own is not None:
            return own
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return value


Texts = NDArray[np.object_]
Numbers = NDArray[np.float64]
LARGEST = 1e70
"""Losses and scores beyond this count as infinite: statistics need their fourth powers."""
Rows = NDArray[np.int64]

NO_COMMONALITY = -1
ROWS_AT_A_TIME = 100_000


class Column(Protocol):
    """The values of one attribute, in the order of the cases."""

    def texts(self) -> Texts:
        """The values as written."""
        ...

    def numbers(self) -> Numbers:
        """The values as numbers; NaN where the text is not a plain number."""
        ...


@dataclass(frozen=True, eq=False)
class WrittenColumn:
    """A column held as texts."""

    values: Texts

    def __len__(self) -> int:
        return len(self.values)

    def texts(self) -> Texts:
        """The values as written."""
        return self.values

    def numbers(self) -> Numbers:
        """The values as numbers; NaN where the text is not a plain number."""
        return self._numbers

    @cached_property
    def _numbers(self) -> Numbers:
        parsed = (parse_number(text) for text in self.values)
        return np.array([np.nan if number is None else number for number in parsed], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _HeldNumbers:
    """A column held as numbers; texts are made when they are asked for."""

    values: Numbers

    def __len__(self) -> int:
        return len(self.values)

    def texts(self) -> Texts:
        """The shortest texts that stand for the same numbers, `?` where one is missing."""
        return self._texts

    def numbers(self) -> Numbers:
        """The numbers, NaN where missing."""
        return self.values

    @cached_property
    def _texts(self) -> Texts:
        return gapped_texts(self.values)


class NumberColumn(_HeldNumbers):
    """A column held as numbers, none of them missing."""

    @cached_property
    def _texts(self) -> Texts:
        return written(_shortest(value) for value in self.values.tolist()).values


class GappedColumn(_HeldNumbers):
    """A column held as numbers, NaN where they are missing."""


def gapped_texts(values: Numbers) -> Texts:
    """The shortest texts that stand for these numbers, `?` for NaN."""
    distinct, places = np.unique(values, return_inverse=True)
    return written("?" if math.isnan(value) else _shortest(value) for value in distinct.tolist()).values[
        places
    ]


@dataclass(frozen=True, eq=False)
class LevelColumn:
    """A column held as places in a list of texts; −1 is the last of them."""

    codes: NDArray[np.signedinteger[Any]]
    levels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def texts(self) -> Texts:
        """The values as written."""
        return self._texts

    def numbers(self) -> Numbers:
        """The values as numbers; NaN where the text is not a plain number."""
        found: Numbers = written(self.levels).numbers()[self.codes]
        return found

    @cached_property
    def _texts(self) -> Texts:
        texts: Texts = written(self.levels).values[self.codes]
        return texts


def _shortest(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


@dataclass(frozen=True, eq=False)
class SelectedColumn:
    """Some rows of another column, in a new order."""

    source: Column
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self) -> Texts:
        """The values as written."""
        return self.source.texts()[self.rows]

    def numbers(self) -> Numbers:
        """The values as numbers; NaN where the text is not a plain number."""
        return self.source.numbers()[self.rows]


def written(values: Iterable[str]) -> WrittenColumn:
    """A column of the given texts."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return WrittenColumn(array)


@dataclass(frozen=True, eq=False)
class Cases:
    """Columns of equal length; optionally a commonality index (−1: none) and a comment per case."""

    columns: tuple[Column, ...]
    count: int
    commonality: Rows | None = None
    comments: dict[int, str] = field(default_factory=dict)

    def select(self, rows: Rows) -> Cases:
        """The given cases, in the given order."""
        commonality = None if self.commonality is None else self.commonality[rows]
        held, numbers = self.comments, rows.tolist() if self.comments else ()
        comments = {new: held[old] for new, old in enumerate(numbers) if old in held}
        columns = tuple(SelectedColumn(column, rows) for column in self.columns)
        return Cases(columns, len(rows), commonality, comments)

    def with_columns(self, columns: Sequence[Column]) -> Cases:
        """The same cases with other columns."""
        return Cases(tuple(columns), self.count, self.commonality, self.comments)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cases):
            return NotImplemented
        return self.content_digest == other.content_digest

    def __hash__(self) -> int:
        return hash(self.content_digest)

    @cached_property
    def content_digest(self) -> str:
        """A hash of every value as written, every commonality index and every comment."""
        hasher = hashlib.blake2b(digest_size=16)
        hasher.update(f"{self.count} cases".encode())
        for column in self.columns:
            for piece in _content(column):
                hasher.update(piece)
        if self.commonality is not None and (self.commonality != NO_COMMONALITY).any():
            hasher.update(np.ascontiguousarray(self.commonality, dtype="<i8").tobytes())
        hasher.update(repr(sorted(self.comments.items())).encode())
        return hasher.hexdigest()


def _content(column: Column) -> Iterator[bytes]:
    """What makes a column what it is: the bits of its numbers where it is held as numbers, else its texts."""
    source = column.source if isinstance(column, SelectedColumn) else column
    if isinstance(source, NumberColumn):
        yield b"numbers"
        yield np.ascontiguousarray(column.numbers() + 0.0, dtype="<f8").tobytes()
    elif isinstance(source, GappedColumn):
        values = column.numbers()
        for start in range(0, len(values), ROWS_AT_A_TIME):
            texts = gapped_texts(values[start : start + ROWS_AT_A_TIME])
            yield (("\n" if start else "") + "\n".join(texts)).encode()
        yield b"\0"
    else:
        yield ("\n".join(column.texts()) + "\0").encode()


def cases_from_rows(
    rows: Sequence[Sequence[str]],
    *,
    commonality: Sequence[int] | None = None,
    comments: dict[int, str] | None = None,
) -> Cases:
    """Cases given as rows of texts."""
    columns = tuple(written(column) for column in zip(*rows, strict=True))
    indexes = None if commonality is None else np.asarray(commonality, dtype=np.int64)
    return Cases(columns, len(rows), indexes, comments or {})


ORIGINS = ("natural", "cultivated", "simulated", "artificial")
USAGES = ("development", "assessment", "historical", "?")
ORDERS = ("informative", "uninformative", "?")
CONTROLS = ("c", "u", "?")


@dataclass(frozen=True)
class Attribute:
    """One quantity recorded for every case; numbers start at 1."""

    number: int
    name: str
    control: str
    range: Range
    description: str = ""


CASE_NUMBER = Attribute(0, "CASE", "?", parse_range("1..Inf"), "Number of the case in the original order")


@dataclass(frozen=True)
class DatasetSpec:
    """What Dataset.spec says: characteristics of the dataset and of each attribute."""

    name: str
    attributes: tuple[Attribute, ...]
    origin: str
    usage: str
    order: str
    title: str | None = None
    has_commonality: bool = False
    extra: tuple[tuple[str, str], ...] = ()

    def attribute(self, identifier: str | int) -> Attribute:
        """The attribute with this number or name; 0 is the case number of an informative order."""
        text = str(identifier)
        if text == "0":
            if self.order != "informative":
                raise SpecError(
                    f'attribute 0 needs an informative order, but the order of "{self.name}" is {self.order}'
                )
            return CASE_NUMBER
        if is_integer(text) and len(text) < 16 and 1 <= int(text) <= len(self.attributes):
            return self.attributes[int(text) - 1]
        if text in self._by_name:
            return self._by_name[text]
        known = ", ".join(attribute.name for attribute in self.attributes[:12])
        raise SpecError(
            f'dataset "{self.name}" has no attribute "{text}": '
            f"it has numbers 1 to {len(self.attributes)} and names {known}"
        )

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    @property
    def digest(self) -> str:
        """A hash of the specification."""
        return digest(self)


@dataclass(frozen=True)
class Dataset:
    """A specification together with its cases."""

    spec: DatasetSpec
    cases: Cases = field(repr=False)

    @property
    def digest(self) -> str:
        """A hash of the specification and of every value."""
        return digest(self)
