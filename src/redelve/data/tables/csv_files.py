"""CSV files as arrow arrays, read in blocks: numbers where a column has nothing else, else coded texts."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from time import monotonic, sleep
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from redelve.data.delve.keyed_lines import shown
from redelve.data.files import BLOCK, NotUtf8, StrPath, supposed_encoding, text_blocks
from redelve.data.tables.text_encodings import other_encoding
from redelve.errors import FormatError, SpecError
from redelve.text_numbers import NUMBER, is_integer, parse_number

MISSING = ("", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "None")
DELIMITERS = (",", ";", "\t", "|")
DECIMALS = (".", ",")
ROWS_LOOKED_AT = 50
SAMPLE = 2**20
LARGEST_BLOCK = 2**30
MOST_RESTARTS = 5
OVERLAP = 256
PATIENCE, MOMENT = 10.0, 2e-5
"""How many seconds arrow's threads have, which need microseconds, to let go of a file; between two looks."""
BYTES_AT_A_TIME = 2**17
ZERO, POINT, PLUS, MINUS, HEXADECIMAL = (np.uint8(ord(sign)) for sign in "0.+-x")
LOWER = np.uint8(0x20)
"""The bit that makes a letter a small one."""

CODE = r"^[+-]?0[\dxX]\w*$"
"""What looks like a number but is a code, such as 007; arrow would take 0x1F for a number, too."""
ANY_NUMBER = f"^(?:{NUMBER.pattern})$"
WITH_COMMA = r"^[+-]?\d*,\d+(?:[eE][+-]?\d+)?$"
PLAINLY_DECIMAL = r"^[+-]?(?:|0|\d{4,}),\d+|,(?:\d{1,2}|\d{4,})(?:[eE][+-]?\d+)?$"
"""A number whose comma separates no thousands: 0,5 and 1234,567 and 2,75, but not 1,234."""
WITH_POINT = r"^[+-]?\d*\.\d+(?:[eE][+-]?\d+)?$"
WRONG_COLUMN = re.compile(r"column #(\d+): ")

DECIMAL_NOTE = (
    'numbers are read with decimal commas: if commas separate thousands, say so (--decimal ., decimal=".")'
)
WHOLE, NUMERIC, TEXT = pa.int64(), pa.float64(), pa.dictionary(pa.int32(), pa.string())
COARSER = {WHOLE: NUMERIC, NUMERIC: TEXT}


class CsvColumn(NamedTuple):
    """A name, an array of floats or of coded texts, null where missing, and the type as arrow calls it."""

    name: str
    values: Any
    declared: str


class CsvManner(NamedTuple):
    """How a file is written."""

    delimiter: str
    decimal: str
    encoding: str


class CsvTable(NamedTuple):
    """The columns, what must be told of how they were read, and how another reader would be told to."""

    columns: tuple[CsvColumn, ...]
    notes: tuple[str, ...]
    manner: CsvManner


def read_csv(
    path: StrPath,
    limit: int,
    *,
    encoding: str | None = None,
    decimal: str | None = None,
    block: int = BLOCK,
) -> CsvTable:
    """The table in a CSV file; what is not given is told from the file, if there is no doubt.

    `block` is how much is read at a time, in bytes.
    """
    if decimal not in (None, *DECIMALS):
        raise SpecError(f'decimal is "{shown(str(decimal))}": give "." or ","')
    try:
        return _read(_CsvFile(path, limit, block, encoding or supposed_encoding(path)), decimal)
    except NotUtf8:
        found = other_encoding(path, encoding)
    table = _read(_CsvFile(path, limit, block, found.name), decimal)
    return table._replace(notes=(found.note, *table.notes))


@dataclass(frozen=True)
class _CsvFile:
    """A file, with what is known of the way it is written."""

    path: StrPath
    limit: int
    block: int
    encoding: str
    delimiter: str = ","
    names: tuple[str, ...] = ()
    offset: int = 0
    """Where the first row begins, in bytes of the text as UTF-8."""
    decimal: str = "."

    def blocks(self) -> Iterator[bytes]:
        """The rows, without the header."""
        blocks = text_blocks(self.path, self.limit, self.encoding, self.block)
        left = self.offset
        for block in blocks:
            if left < len(block):
                return chain([block[left:]], blocks)
            left -= len(block)
        return iter(())

    def lines(self) -> Iterator[str]:
        """Every line, with its end."""
        rest = b""
        for block in text_blocks(self.path, self.limit, self.encoding, self.block):
            *whole, rest = (rest + block).split(b"\n")
            yield from (f"{line.decode()}\n" for line in whole)
        if rest:
            yield rest.decode()

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The rows that are not empty, each with the line on which it begins, as Python reads them."""
        return _records(self.path, self.lines(), self.delimiter)

    def check_rows(self) -> None:
        """Raise an error that names the first line with a wrong number of values or with a broken quote."""
        width = len(self.names)
        for line, row in self.records():
            if len(row) != width:
                plural = "s" * (width > 1)
                message = f"expected {width} value{plural}, as the header has, but got {len(row)}"
                told = f"quote values that hold the delimiter {self.delimiter!r}"
                raise FormatError(self.path, line, f"{message}: {told}")


def _read(file: _CsvFile, decimal: str | None) -> CsvTable:
    file = _with_header(file)
    sample = _sample(file)
    by_comma = decimal is None and _uses_decimal_commas(file, sample)
    file = replace(file, decimal="," if by_comma else decimal or ".")
    columns = map(CsvColumn, file.names, *zip(*_settled(file, sample), strict=True))
    manner = CsvManner(file.delimiter, file.decimal, file.encoding)
    return CsvTable(tuple(columns), (DECIMAL_NOTE,) if by_comma else (), manner)


# --- the header and the manner of writing ------------------------------------------------------------------


class _Lines:
    """The lines of a text, one at a time; `offset` is where the next one begins."""

    def __init__(self, text: str) -> None:
        self._text, self.offset = text, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        start = self.offset
        if start >= len(self._text):
            raise StopIteration
        end = self._text.find("\n", start)
        self.offset = len(self._text) if end < 0 else end + 1
        return self._text[start : self.offset]


def _records(path: StrPath, lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the line on which it begins."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    begin = 1
    try:
        for row in reader:
            if row:
                yield begin, row
            begin = reader.line_num + 1
    except csv.Error as problem:
        raise FormatError(path, begin, f"can't read this row ({problem}): check its quotes") from None


def _with_header(file: _CsvFile) -> _CsvFile:
    """The same with delimiter and names of columns."""
    text = next(text_blocks(file.path, file.limit, file.encoding), b"").decode(errors="ignore")
    delimiter, lines = _delimiter(text), _Lines(text)
    first = next(_records(file.path, lines, delimiter), None)
    if first is None:
        raise FormatError(file.path, None, "the file is empty: a table has a header and rows")
    names = tuple(" ".join(cell.split()) for cell in first[1])
    decimal = [name for name in names if not is_integer(name) and parse_number(name) is not None]
    if decimal or all(map(is_integer, names)):
        raise no_header(file.path, names)
    offset = len(text[: lines.offset].encode())
    return replace(file, delimiter=delimiter, names=names, offset=offset)


def no_header(path: StrPath, names: Sequence[str]) -> FormatError:
    """An error that tells of a first line that holds no names."""
    return FormatError(
        path,
        1,
        f'the first line looks like data, not like names of columns ("{shown(", ".join(names))}"): '
        "add a header line",
    )


def _delimiter(text: str) -> str:
    """The delimiter that cuts the first rows into as many fields as the header, if possible several."""
    scores = []
    for delimiter in DELIMITERS:
        reader = csv.reader(_Lines(text), delimiter=delimiter)
        try:
            widths = [len(row) for row in islice(reader, ROWS_LOOKED_AT) if row]
        except csv.Error:
            widths = []
        agreeing = sum(width == widths[0] for width in widths) / len(widths) if widths else 0.0
        scores.append((bool(widths) and widths[0] > 1, agreeing, widths[0] if widths else 0))
    return DELIMITERS[max(range(len(scores)), key=lambda place: scores[place])]


def _sample(file: _CsvFile) -> list[Any]:
    """The known texts of each column in the first rows; of none if these can't be read by themselves."""
    first = next(file.blocks(), b"")
    body = first[: first.rfind(b"\n", 0, SAMPLE) + 1] or first
    places = range(len(file.names))
    try:
        batches = list(_batches(file, dict.fromkeys(places, pa.string()), _Stream([body], file.delimiter)))
    except (pa.ArrowException, FormatError):
        batches = []
    columns = [[batch.column(place) for batch in batches] for place in places]
    return [cleaned(pa.chunked_array(one, pa.string()).combine_chunks()).drop_null() for one in columns]


def _uses_decimal_commas(file: _CsvFile, sample: Sequence[Any]) -> bool:
    """Whether commas must be decimal ones: some separate no thousands, and no number has a point."""
    if file.delimiter == ",":
        return False
    written = [column for column in sample if len(column)]
    by_comma = [column for column in written if _every(column, f"{WITH_COMMA}|{ANY_NUMBER}")]
    plain = any(_some(column, PLAINLY_DECIMAL) for column in by_comma if _some(column, ","))
    return plain and not any(_some(column, WITH_POINT) for column in by_comma)


def _every(texts: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern), min_count=0).as_py())


def _some(texts: Any, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern), min_count=0).as_py())


# --- the columns -------------------------------------------------------------------------------------------


class _Stream:
    """Blocks as a file for arrow; notes on its way whether quotes pair and whether a code may be there."""

    closed = False

    def __init__(self, blocks: Iterable[bytes], delimiter: str) -> None:
        self._blocks, self._pending, self._end = iter(blocks), b"", b"\n"
        edge, self._edge = re.escape(delimiter), ord(delimiter)
        self._code = rf'[{edge}\n"][ \t]*[+-]?0[0-9xX][0-9A-Za-z]*[ \t]*(?:[{edge}\n"]|$)'
        self.quotes, self.has_codes = 0, False

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        if not self._pending:
            self._pending = next(self._blocks, b"")
            self._note(self._pending)
        head, self._pending = self._pending[:size], self._pending[size:]
        return head

    def _note(self, block: bytes) -> None:
        self.quotes += block.count(b'"')
        if not self.has_codes:
            text = self._end + block
            self.has_codes = self._may_have_codes(text) and _some(pa.array([text], pa.binary()), self._code)
        self._end = block[-OVERLAP:]

    def _may_have_codes(self, text: bytes) -> bool:
        """Whether a 0 stands before a digit (or an x) and after what may begin a value: a fast look.

        The sign in 1e-05 or in 2012-01-31 begins no value.
        """
        every = np.frombuffer(text, dtype=np.uint8)
        for start in range(0, len(every), BYTES_AT_A_TIME):
            part = every[max(start - 1, 0) : start + BYTES_AT_A_TIME + 2]
            before = part[1:-2]
            begins = part[2:-1] == ZERO
            begins &= part[3:] > POINT  # neither a point nor the end of the value
            begins &= before < POINT if self._edge < POINT else (before < POINT) | (before == self._edge)
            places = np.flatnonzero(begins)
            after = part[places + 3]
            places = places[(after - ZERO < 10) | ((after | LOWER) == HEXADECIMAL)]
            is_sign = (part[places + 1] == PLUS) | (part[places + 1] == MINUS)
            if (~is_sign | (part[places] < POINT) | (part[places] == self._edge)).any():
                return True
        return False


class _Lent:
    """A stream in the hands of arrow's threads; `held` tells of it, and of what they read, while they do."""

    closed = False

    def __init__(self, stream: _Stream, held: list[Any]) -> None:
        self._stream, self._held = stream, held
        held.append(ref(self))

    def read(self, size: int) -> memoryview:
        """At most so many bytes; none at the end."""
        part = memoryview(self._stream.read(size))
        self._held[:] = [one for one in self._held if one() is not None] + [ref(part)]
        return part


def _batches(file: _CsvFile, types: dict[int, Any], stream: _Stream) -> Iterator[Any]:
    """The columns at these places, as the types say, some rows at a time.

    A thread of arrow's that lets go of something of Python's when Python ends aborts the whole process, so
    this ends when all have done so.
    """
    held: list[Any] = []
    reader = None
    try:
        reader = _opened(file, types, stream, held)
        yield from reader
    finally:
        del reader
        _wait_for(held)


def _wait_for(held: Sequence[Any]) -> None:
    """Wait until none of these is there any more: seen from here, its thread needs nothing of Python's."""
    end = monotonic() + PATIENCE
    while any(one() is not None for one in held) and monotonic() < end:
        sleep(MOMENT)


def _opened(file: _CsvFile, types: dict[int, Any], stream: _Stream, held: list[Any]) -> Any:
    """Arrow's reader of the columns at these places; nothing else holds what it is lent, even if it fails."""
    from pyarrow import csv as arrow_csv

    names = [str(place) for place in range(len(file.names))]
    return arrow_csv.open_csv(
        pa.PythonFile(_Lent(stream, held), mode="r"),
        arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=file.block),
        arrow_csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(
            column_types={names[place]: kind for place, kind in types.items()},
            include_columns=[names[place] for place in types],
            null_values=MISSING,
            decimal_point=file.decimal,
            check_utf8=False,
        ),
    )


def _settled(file: _CsvFile, sample: Sequence[Any]) -> list[tuple[Any, str]]:
    """Each column as numbers if it has nothing else, as texts if not; and the type as arrow calls it."""
    if not any(block.strip() for block in file.blocks()):
        return [(pa.array([], TEXT), "string")] * len(sample)
    types = [_type_of(known, file.decimal) for known in sample]
    found: dict[int, Any] = {}
    restarts = 0
    while wanted := {place: kind for place, kind in enumerate(types) if place not in found}:
        try:
            arrays = _gathered(file, wanted)
        except _WrongType as problem:
            restarts += 1
            types[problem.place] = COARSER[types[problem.place]]
            types = types if restarts < MOST_RESTARTS else [TEXT] * len(types)
            continue
        for place in {place for place, values in arrays.items() if values is None}:
            types[place] = TEXT
        found.update({place: values for place, values in arrays.items() if values is not None})
    return [(found[place], "string" if kind is TEXT else str(kind)) for place, kind in enumerate(types)]


def _type_of(known: Any, decimal: str) -> Any:
    """What a column seems to be by some of its texts."""
    texts = pc.replace_substring(known, ",", ".") if decimal == "," else known
    if not len(texts) or _some(texts, CODE) or not _every(texts, ANY_NUMBER):
        return TEXT
    return WHOLE if _every(texts, r"^-?\d{1,18}$") else NUMERIC


def _gathered(file: _CsvFile, types: dict[int, Any]) -> dict[int, Any]:
    """The columns at these places; None for one whose texts only look like numbers."""
    stream = _Stream(file.blocks(), file.delimiter)
    pieces: dict[int, list[Any]] = {place: [] for place in types}
    try:
        for batch in _batches(file, types, stream):
            for values, (place, kind) in zip(batch.columns, types.items(), strict=True):
                pieces[place].append(values.cast(NUMERIC, safe=False) if kind is WHOLE else values)
    except pa.ArrowInvalid as problem:
        if (wrong := WRONG_COLUMN.search(str(problem))) is not None:
            raise _WrongType(int(wrong[1])) from None
        file.check_rows()
        if file.block < LARGEST_BLOCK:  # a row may be longer than a block
            return _gathered(replace(file, block=16 * file.block), types)
        raise FormatError(file.path, None, f"can't read the table: {str(problem).splitlines()[0]}") from None
    if stream.quotes % 2:
        file.check_rows()
    numeric = {place: kind for place, kind in types.items() if kind is not TEXT}
    coded = _places_with_codes(file, numeric) if stream.has_codes else set()
    return {place: None if place in coded else _joined(pieces.pop(place)) for place in types}


class _WrongType(Exception):
    """A column is not what its first rows seem to be."""

    def __init__(self, place: int) -> None:
        self.place = place


def _joined(pieces: list[Any]) -> Any:
    """An array in one piece; None if it has numbers that are not finite, such as arrow makes of "inf"."""
    whole = pa.chunked_array(pieces).unify_dictionaries().combine_chunks()
    if pa.types.is_dictionary(whole.type):
        return cleaned(whole)
    return whole if pc.all(pc.is_finite(whole), min_count=0).as_py() else None


def _places_with_codes(file: _CsvFile, places: Iterable[int]) -> set[int]:
    """Which of the columns have texts such as 007."""
    found: set[int] = set()
    types = dict.fromkeys(places, pa.string())
    if types:
        for batch in _batches(file, types, _Stream(file.blocks(), file.delimiter)):
            texts = dict(zip(types, map(pc.utf8_trim_whitespace, batch.columns), strict=True))
            found |= {place for place in texts if place not in found and _some(texts[place], CODE)}
    return found


def cleaned(texts: Any) -> Any:
    """Texts without blanks around them; those that mean "missing" become null."""
    if not pa.types.is_dictionary(texts.type):
        bare = pc.utf8_trim_whitespace(texts)
        return pc.if_else(pc.is_in(bare, pa.array(MISSING)), pa.scalar(None, pa.string()), bare)
    levels = cleaned(texts.dictionary).dictionary_encode()
    return pa.DictionaryArray.from_arrays(levels.indices.take(texts.indices), levels.dictionary)
