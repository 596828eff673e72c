r"""Reading and writing of cases: Dataset.data, Prototask.data and the matrices of task directories.

A case is a line of values separated by blanks, then perhaps a commonality index `@digits`, then perhaps a
comment from a `#` that begins a word. A line ending in `\` continues on the next one. Lines without values,
empty or holding nothing but a comment, are skipped. (Manual section 3.3.)

Small files are cut into words by Python. Large ones are read in blocks of whole cases: a block of plain
numbers goes straight into floats, any other into compact strings; a block that pyarrow refuses, for whatever
reason, is cut into words by Python, which finds the line to blame. All ways give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from redelve.data.delve.case_lines import (
    CaseLine,
    case_lines,
    cut_into_words,
    dissect,
    end_of_case,
    joined_lines,
)
from redelve.data.delve.number_columns import arrow_columns, parse_columns, parse_numbers, single_blanks
from redelve.data.files import BYTE_ORDER_MARK, StrPath, find_file, open_bytes, read_blocks, write_atomic
from redelve.errors import FormatError, LocationError, RedelveError, reason_of

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Texts = npt.NDArray[np.object_]

BLOCK_SIZE = 8 * 2**20
SMALL = 2**20
LOOKED_AT = 64
"""So many texts tell whether a column repeats itself."""

_NUMERIC = b"0123456789+-.eE \t\r\v\f\n"
_RE2_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


class FileColumn(Protocol):
    """The values of one attribute."""

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a plain number."""

    def texts(self) -> Texts:
        """The values exactly as written."""

    def numbers(self) -> Floats:
        """The values as numbers, NaN where the text is none."""


@dataclass(frozen=True, eq=False)
class RawCases:
    """The cases of a file, column by column, before a specification gives them a meaning.

    `commonality` is None when no case has an index, and −1 for a case that has none.
    """

    path: Path
    count: int
    columns: tuple[FileColumn, ...]
    commonality: Integers | None
    comments: Mapping[int, str]
    _runs: tuple[Integers, Integers] = field(
        repr=False
    )  # case and line where a run of successive lines begins

    @property
    def width(self) -> int:
        """The number of values of every case."""
        return len(self.columns)

    def line(self, case: int) -> int:
        """The number, from 1, of the line on which a case (counted from 0) begins."""
        cases, lines = self._runs
        run = int(np.searchsorted(cases, case, side="right")) - 1
        return int(lines[run] + case - cases[run])

    def numbers(self) -> Floats:
        """All values as an array of cases by columns, NaN where the text is no number."""
        if self.columns and isinstance(first := self.columns[0], _NumberColumn):
            return first.table.T
        return np.array([column.numbers() for column in self.columns]).reshape(self.width, self.count).T

    def texts(self) -> list[Texts]:
        """The texts of every column; of a large file of numbers they are read again, all at once."""
        if self.columns and isinstance(first := self.columns[0], _NumberColumn):
            return first.reread(range(self.width))
        return [column.texts() for column in self.columns]


def read_cases(
    path: StrPath, width: int | None = None, *, block_size: int = BLOCK_SIZE, small: int = SMALL
) -> RawCases:
    """Read cases of `width` values (None: as many as the first case has).

    Files of at most `small` bytes are kept as texts. Of a larger file of numbers only the numbers are kept:
    its texts are read again when they are asked for, and the file must not have changed meanwhile.
    """
    if width is not None and width < 1:
        raise RedelveError(f"a case has at least one value, but {width} were asked for")
    found = find_file(path) or Path(path)
    with open_bytes(found) as stream:
        source = _Source(found, block_size, _stamp(found))
        start = stream.read(small + 1)
    if len(start) <= small:
        return _read_small(found, start, width)
    try:
        return _read_numbers(source, width)
    except _NotNumericError:
        return _read_texts(source, width)


def read_matrix(path: StrPath, width: int | None = None) -> Floats:
    """Read a file of numbers only, such as train.0 or test.0, as an array of cases by columns."""
    cases = read_cases(path, width)
    for column in cases.columns:
        if not column.is_numeric:
            case = int(np.flatnonzero(np.isnan(column.numbers()))[0])
            raise FormatError(
                cases.path, cases.line(case), f'expected a number but got "{column.texts()[case]}"'
            )
    return cases.numbers()


def write_cases(
    path: StrPath,
    columns: Sequence[Sequence[str] | Texts],
    commonality: Sequence[int] | Integers | None = None,
    comments: Mapping[int, str] = MappingProxyType({}),
) -> None:
    """Write the lines of `case_lines` to a file, at once or not at all."""
    write_atomic(path, case_lines(columns, commonality, comments))


# Columns


@dataclass(frozen=True, eq=False)
class _TextColumn:
    """Texts in memory."""

    values: Texts

    @cached_property
    def _numbers(self) -> Floats:
        return _frozen(parse_numbers(self.values.tolist()))

    @property
    def is_numeric(self) -> bool:
        return not np.isnan(self._numbers).any()

    def texts(self) -> Texts:
        return self.values

    def numbers(self) -> Floats:
        return self._numbers


class _ArrowColumn(_TextColumn):
    """Many texts in memory, compactly."""

    values: Any  # pyarrow.ChunkedArray of strings

    @cached_property
    def _numbers(self) -> Floats:
        import pyarrow as pa
        import pyarrow.compute as pc

        plain = pc.match_substring_regex(self.values, _RE2_NUMBER)
        unsigned = pc.utf8_ltrim(self.values, "+")
        masked = pc.if_else(plain, unsigned, pa.scalar(None, pa.string()))
        numbers = masked.cast(pa.float64()).to_numpy()
        return _frozen(np.where(np.isinf(numbers), np.nan, numbers))

    def texts(self) -> Texts:
        return _frozen(np.asarray(self.values.to_numpy(), dtype=object))


@dataclass(frozen=True, eq=False)
class _NumberColumn:
    """A row of a table of numbers, whose texts are still in the file."""

    table: Floats
    position: int
    reread: Callable[[Sequence[int]], list[Texts]] = field(repr=False)
    is_numeric: bool = True

    def texts(self) -> Texts:
        return self.reread([self.position])[0]

    def numbers(self) -> Floats:
        row: Floats = self.table[self.position]
        return row


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


# Blocks of whole cases


_Lines = list[CaseLine] | range  # a range of numbers where no line has a tail
_Parsed = tuple[list[Any], _Lines]


# From blocks to columns


class _NotNumericError(Exception):
    """A block holds something that is no number: the file must be read as texts."""


class _Numbers:
    """A reading that makes numbers of the values; `table` has a row for each column."""

    def __init__(self, file_size: int) -> None:
        self._file_size = file_size
        self.table = np.empty((0, 0))
        self._count = 0

    def fast(self, plain: bytes, width: int) -> list[Floats]:
        try:
            return parse_columns(plain, width)
        except ValueError:
            if plain.translate(None, _NUMERIC):
                raise _NotNumericError from None
            raise

    def slow(self, words: list[list[str]]) -> list[Floats]:
        columns = [parse_numbers(column) for column in words]
        if any(np.isnan(column).any() for column in columns):
            raise _NotNumericError
        return columns

    def keep(self, columns: list[Floats], bytes_seen: int) -> None:
        """Copy the columns into the table; its room is foretold from the part of the file that was read."""
        start, self._count = self._count, self._count + len(columns[0])
        if self._count > self.table.shape[1]:
            growth = max(self._file_size / bytes_seen, 1.5 if start else 1.0)
            larger = np.empty((len(columns), int(self._count * growth * 1.05)))
            for new, old in zip(larger, self.table, strict=False):  # at first there is no old one
                new[:start] = old[:start]
            self.table = larger
        for row, column in zip(self.table, columns, strict=True):
            row[start : self._count] = column


class _Strings:
    """A reading that makes compact texts of the wanted values (None: of all)."""

    def __init__(self, wanted: Sequence[int] | None = None) -> None:
        self._wanted = wanted
        self.chunks: list[list[Any]] = []  # of each column

    def fast(self, plain: bytes, width: int) -> list[Any]:
        return arrow_columns(single_blanks(plain), width, "string", self._wanted)

    def slow(self, words: list[list[str]]) -> list[Any]:
        import pyarrow as pa

        wanted = range(len(words)) if self._wanted is None else self._wanted
        return [pa.chunked_array([words[position]], pa.string()) for position in wanted]

    def keep(self, columns: list[Any], _: int) -> None:
        self.chunks = self.chunks or [[] for _ in columns]
        for chunks, column in zip(self.chunks, columns, strict=True):
            chunks.extend(column.chunks)

    def columns(self) -> list[_ArrowColumn]:
        import pyarrow as pa

        return [_ArrowColumn(pa.chunked_array(chunks, pa.string())) for chunks in self.chunks]


def _parse(path: Path, block: bytes, lines: range, width: int, kind: _Numbers | _Strings) -> _Parsed:
    try:
        return _parse_fast(path, block, lines, width, kind)
    except (FormatError, ValueError):
        cases = list(cut_into_words(path, block, lines.start, width))
        columns = [list(column) for column in zip(*(words for _, words in cases), strict=True)]
        return (kind.slow(columns) if cases else []), [line for line, _ in cases]


def _parse_fast(path: Path, block: bytes, numbers: range, width: int, kind: _Numbers | _Strings) -> _Parsed:
    """Leave the values to pyarrow; ValueError or FormatError when the block must be cut into words."""
    if b"\0" in block:
        raise ValueError("not a text file")
    lines: _Lines = numbers
    columns = None
    if not any(mark in block for mark in (b"#", b"@", b"\\")):
        columns = kind.fast(block, width)
    if columns is None or len(columns[0]) != len(lines):  # there are tails, continued or empty lines
        joined = joined_lines(block, numbers.start)
        dissected = (dissect(path, number, line) for number, line in joined)
        lines = [line for line in dissected if line.commonality >= 0 or line.values.strip()]
        columns = columns or kind.fast(b"\n".join(line.values for line in lines), width)
    if len(columns[0]) != len(lines):
        raise ValueError("a case without values")
    return columns, lines


class _Marks:
    """Line, commonality index and comment of one case after another."""

    def __init__(self) -> None:
        self.count = 0
        self._runs: list[tuple[Integers, Integers]] = []
        self._offset = 0  # line number less case number of the last case
        self._indices: dict[int, Integers] = {}
        self._comments: dict[int, str] = {}

    def add(self, lines: _Lines) -> None:
        if isinstance(lines, range):
            numbers = np.arange(lines.start, lines.stop)
        else:
            numbers = np.array([line.number for line in lines], dtype=np.int64)
            self._add_tails(lines)
        offsets = numbers - np.arange(self.count, self.count + len(numbers))
        turns = np.flatnonzero(np.diff(offsets, prepend=self._offset))
        self._runs.append((turns + self.count, numbers[turns]))
        self._offset = int(offsets[-1]) if len(offsets) else self._offset
        self.count += len(numbers)

    def _add_tails(self, lines: list[CaseLine]) -> None:
        indices = np.array([line.commonality for line in lines], dtype=np.int64)
        if (indices >= 0).any():
            self._indices[self.count] = indices
        for case, line in enumerate(lines, self.count):
            if line.comment is not None:
                self._comments[case] = line.comment

    def cases(self, path: Path, columns: Iterable[FileColumn]) -> RawCases:
        commonality = None
        if self._indices:
            commonality = np.full(self.count, -1, dtype=np.int64)
            for start, indices in self._indices.items():
                commonality[start : start + len(indices)] = indices
            _frozen(commonality)
        cases, lines = (np.concatenate(parts) for parts in zip(*self._runs, strict=True))
        comments = MappingProxyType(self._comments)
        return RawCases(path, self.count, tuple(columns), commonality, comments, (cases, lines))


# Whole files


@dataclass(frozen=True)
class _Source:
    """A file as it was when it was first read."""

    path: Path
    block_size: int
    stamp: tuple[int, int]  # size and time of modification

    def read(self, width: int | None, kind: _Numbers | _Strings) -> tuple[_Marks, int]:
        """Let `kind` keep all columns; tell the marks of the cases and their width."""
        marks, seen = _Marks(), 0
        marks.add([])
        for block, numbers in read_blocks(self.path, self.block_size, end_of_case):
            seen += len(block)
            if width is None:
                first = next(cut_into_words(self.path, block, numbers.start, None), None)
                width = len(first[1]) if first else None
            if width is not None:
                columns, lines = _parse(self.path, block, numbers, width, kind)
                if lines:
                    kind.keep(columns, seen)
                    marks.add(lines)
        return marks, width or 0


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError as problem:
        raise LocationError(f"{path}: cannot read: {reason_of(problem)}") from problem
    return status.st_size, status.st_mtime_ns


def _read_small(path: Path, data: bytes, width: int | None) -> RawCases:
    cases = list(cut_into_words(path, data.removeprefix(BYTE_ORDER_MARK), 1, width))
    marks = _Marks()
    marks.add([line for line, _ in cases])
    if not cases:
        return marks.cases(path, _no_values(width or 0))
    values = np.array([words for _, words in cases], dtype=object).T.copy()
    for column in values:
        _hold_once(column)
    return marks.cases(path, map(_TextColumn, _frozen(values)))


def _hold_once(texts: Texts) -> None:
    """Equal texts become one where a column repeats them, as levels: some are picked and sent faster then."""
    if len(set(texts[:LOOKED_AT])) > LOOKED_AT // 2:
        return
    known: dict[str, str] = {}
    texts[:] = [known.setdefault(text, text) for text in texts.tolist()]


def _read_numbers(source: _Source, width: int | None) -> RawCases:
    kind = _Numbers(source.stamp[0])
    marks, width = source.read(width, kind)
    table = _frozen(kind.table[:, : marks.count])
    if not marks.count:
        return marks.cases(source.path, _no_values(width))
    reread = partial(_reread, source, marks.count, width)
    columns = (_NumberColumn(table, position, reread) for position in range(width))
    return marks.cases(source.path, columns)


def _read_texts(source: _Source, width: int | None) -> RawCases:
    kind = _Strings()
    marks, width = source.read(width, kind)
    return marks.cases(source.path, kind.columns() or _no_values(width))


def _no_values(width: int) -> list[_TextColumn]:
    return [_TextColumn(np.empty(0, dtype=object)) for _ in range(width)]


def _reread(source: _Source, count: int, width: int, wanted: Sequence[int]) -> list[Texts]:
    """Read texts again, provided that the file is still the one that was read."""
    changed = RedelveError(f"{source.path} has changed since it was read: read it again")
    kind = _Strings(wanted)
    if _stamp(source.path) != source.stamp:
        raise changed
    try:
        marks, _ = source.read(width, kind)
    except FormatError as problem:
        raise changed from problem
    if marks.count != count:
        raise changed
    return [column.texts() for column in kind.columns()]
