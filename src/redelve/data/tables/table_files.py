"""Tables: CSV, Parquet and ARFF files as columns of texts or numbers; nothing is guessed or evaluated."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from redelve.data.compressed_names import plain_name
from redelve.data.delve.keyed_lines import shown
from redelve.data.files import StrPath, decoded_text, find_file, open_bytes
from redelve.data.tables.arff import ArffColumn, parse_arff
from redelve.errors import FormatError, LocationError, SpecError, near_names
from redelve.model.dataset import NumberColumn, Numbers, Rows
from redelve.text_numbers import NUMBER, is_integer, parse_number

TABLE_LIMIT = 512 * 2**20
MOST_CELLS = 200_000_000
MISSING = ("", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "None")
DELIMITERS = (",", ";", "\t", "|")
ROWS_LOOKED_AT = 50
LARGEST_BLOCK = 2**30
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
CODE = r"^[+-]?0\d+$"
INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")

Kind = Literal["text", "number", "categories", "ordered", "date", "other"]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column of a file: an arrow array of texts (of floats if the kind is "number"), null if missing.

    `levels` are those the file declares for categories; `declared` is the type in the file's own words.
    """

    name: str
    values: Any
    kind: Kind = "text"
    levels: tuple[str, ...] = ()
    declared: str = ""

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def missing(self) -> Flags:
        """Where there is no value."""
        flags: Flags = self.values.is_null().to_numpy(zero_copy_only=False)
        return flags

    @cached_property
    def numbers(self) -> Numbers | None:
        """The values as numbers, NaN where missing; None if some known value is no finite number."""
        values = self.values
        if self.kind != "number":
            if not pc.all(pc.match_substring_regex(values, f"^(?:{NUMBER.pattern})$"), min_count=0).as_py():
                return None
            values = values.cast(pa.float64())
        numbers: Numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
        return numbers if np.isfinite(numbers[~self.missing]).all() else None

    @cached_property
    def has_codes(self) -> bool:
        """Whether some text is a number only in looks, such as 007."""
        if self.kind == "number":
            return False
        return bool(pc.any(pc.match_substring_regex(self.values, CODE), min_count=0).as_py())

    @cached_property
    def coded(self) -> tuple[Rows, tuple[str, ...]]:
        """For each row the place of its text among the different texts, −1 where missing; and those texts."""
        if self.kind == "number":
            return coded_numbers(self.values.to_numpy(zero_copy_only=False))
        encoded = self.values.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, tuple(encoded.dictionary.to_pylist())

    def select(self, rows: Rows) -> TableColumn:
        """The same column with only these rows."""
        return TableColumn(self.name, self.values.take(pa.array(rows)), self.kind, self.levels, self.declared)


def coded_numbers(numbers: Numbers) -> tuple[Rows, tuple[str, ...]]:
    """The place of each number among the different ones, −1 for NaN; and those in their shortest form."""
    known = ~np.isnan(numbers)
    distinct, inverse = np.unique(numbers[known], return_inverse=True)
    codes = np.full(len(numbers), -1, dtype=np.int64)
    codes[known] = inverse
    return codes, tuple(NumberColumn(distinct).texts())


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length; `source` says where they come from."""

    source: str
    columns: tuple[TableColumn, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the file."""
        return tuple(column.name for column in self.columns)

    @property
    def row_count(self) -> int:
        """The number of rows, the header not counted."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> TableColumn:
        """The column with this name."""
        for column in self.columns:
            if column.name == name:
                return column
        near = near_names(name, self.names) or self.names[:12]
        raise SpecError(f'{self.source} has no column "{shown(name)}": it has {shown(", ".join(near), 200)}')

    def select(self, rows: Rows) -> Table:
        """The same table with only these rows."""
        return Table(self.source, tuple(column.select(rows) for column in self.columns))


def read_table(path: StrPath, *, limit: int = TABLE_LIMIT) -> Table:
    """The table in a .csv, .tsv, .parquet or .arff file; text files may be compressed.

    `limit` is the largest size accepted, in bytes after decompression.
    """
    name = Path(path).name
    bare = plain_name(name)
    ending = Path(bare).suffix.lower()
    reader = _READERS.get(ending)
    if reader is None or (ending == ".parquet" and bare != name):
        raise FormatError(
            path,
            None,
            f'can\'t tell a table by the ending "{Path(name).suffix}": give a file that ends in '
            ".csv, .tsv, .arff (each also with .gz) or .parquet; save a spreadsheet as CSV",
        )
    table = reader(path, limit)
    if not table.row_count:
        raise FormatError(path, None, "there are no rows under the header")
    return table


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse columns without a name and names used twice."""
    empty = [place for place, name in enumerate(names, start=1) if not name]
    if empty:
        which = ", ".join(map(str, empty[:8]))
        raise FormatError(
            source,
            None,
            f"column {which} has no name: name every column in the header "
            "(pandas writes its index without one: use to_csv(…, index=False))",
        )
    again = [name for name, times in Counter(names).items() if times > 1]
    if again:
        which = ", ".join(f'"{shown(name)}"' for name in again[:8])
        raise FormatError(source, None, f"column name {which} is used more than once: rename all but one")


def _text(path: StrPath, limit: int) -> str:
    r"""A whole text file in UTF-8; every line end becomes `\n`."""
    with open_bytes(path) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise FormatError(path, None, f"larger than {limit} bytes: raise the limit, or take a sample")
    if data.startswith(UTF16_MARKS):
        raise FormatError(path, None, "this is UTF-16 text: save the table as UTF-8")
    return decoded_text(path, data, "is not UTF-8: save the table as UTF-8")


# --- CSV ---------------------------------------------------------------------------------------------------


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


def _read_csv(path: StrPath, limit: int) -> Table:
    text = _text(path, limit)
    delimiter = _delimiter(text)
    lines = _Lines(text)
    first = next(_records(path, lines, delimiter), None)
    if first is None:
        raise FormatError(path, None, "the file is empty: a table has a header and rows")
    names = [" ".join(cell.split()) for cell in first[1]]
    decimal = [name for name in names if not is_integer(name) and parse_number(name) is not None]
    if decimal or all(map(is_integer, names)):
        raise _no_header(path, names)
    check_names(names, os.fspath(path))
    arrays = _parse_csv(path, text, lines.offset, delimiter, len(names))
    table = Table(os.fspath(path), tuple(map(TableColumn, names, map(_cleaned, arrays))))
    _check_header(path, table)
    return table


def _no_header(path: StrPath, names: Sequence[str]) -> FormatError:
    return FormatError(
        path,
        1,
        f'the first line looks like data, not like names of columns ("{shown(", ".join(names))}"): '
        "add a header line",
    )


def _check_header(path: StrPath, table: Table) -> None:
    """A file without header betrays itself: the "names" of most columns are values of their columns."""
    own = sum(bool(pc.any(pc.equal(column.values, column.name)).as_py()) for column in table.columns)
    if own and 2 * own >= len(table.columns):
        raise _no_header(path, table.names)


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


def _records(path: StrPath, lines: _Lines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
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


def _parse_csv(path: StrPath, text: str, start: int, delimiter: str, width: int) -> list[Any]:
    """The columns as arrays of texts."""
    from pyarrow import csv as arrow_csv

    body = text[start:].encode()
    if not body.strip():
        return [pa.array([], pa.string())] * width
    if body.count(b'"') % 2:
        _check_rows(path, text, delimiter, width)
    names = [str(place) for place in range(width)]
    size = min(len(body) + 1, LARGEST_BLOCK)
    types = dict.fromkeys(names, pa.string())
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(body),
            arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=size),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except pa.ArrowException as problem:
        _check_rows(path, text, delimiter, width)
        raise FormatError(path, None, f"can't read the table: {str(problem).splitlines()[0]}") from None
    return [_whole(column) for column in table.columns]


def _check_rows(path: StrPath, text: str, delimiter: str, width: int) -> None:
    """Raise an error that names the first line with a wrong number of values or with a broken quote."""
    for line, row in _records(path, _Lines(text), delimiter):
        if len(row) != width:
            plural = "s" * (width > 1)
            message = f"expected {width} value{plural}, as the header has, but got {len(row)}"
            raise FormatError(path, line, f"{message}: quote values that hold the delimiter {delimiter!r}")


def _cleaned(texts: Any) -> Any:
    """Texts without blanks around them; those that mean "missing" become null."""
    trimmed = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.is_in(trimmed, pa.array(MISSING)), pa.scalar(None, pa.string()), trimmed)


# --- ARFF and arrow ----------------------------------------------------------------------------------------


def _read_arff(path: StrPath, limit: int) -> Table:
    columns = parse_arff(_text(path, limit), os.fspath(path))
    check_names([column.name for column in columns], os.fspath(path))
    return Table(os.fspath(path), tuple(map(_arff_column, columns)))


def _arff_column(column: ArffColumn) -> TableColumn:
    values = pa.array(column.values, pa.string())
    if column.kind == "number":
        values = values.cast(pa.float64())
    elif column.kind == "text":
        values = _cleaned(values)
    return TableColumn(column.name, values, column.kind, column.levels, column.declared)


def _read_parquet(path: StrPath, limit: int) -> Table:
    from pyarrow import parquet

    found = find_file(path)
    if found is None:
        open_bytes(path).close()  # tells why it can't be opened
        raise LocationError(f"{os.fspath(path)}: no such file")
    try:
        file = parquet.ParquetFile(found)
        groups = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
        size = sum(group.total_byte_size for group in groups)
        cells = file.metadata.num_rows * file.metadata.num_columns
        if size > limit or cells > MOST_CELLS:
            raise FormatError(
                path, None, f"{cells} values in {size} bytes are too many: raise the limit, or take a sample"
            )
        return table_from_arrow(file.read(), os.fspath(path))
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        cause = (str(problem) or type(problem).__name__).splitlines()[0]
        raise FormatError(path, None, f"can't read this as Parquet ({cause[:120]})") from None


def table_from_arrow(table: Any, source: str) -> Table:
    """The table in an arrow table; the columns in which pandas keeps an index are left out."""
    names = [name for name in table.column_names if not INDEX_OF_PANDAS.fullmatch(name)]
    check_names(names, source)
    return Table(source, tuple(arrow_column(name, table.column(name)) for name in names))


def arrow_column(name: str, values: Any) -> TableColumn:
    """A column in an arrow array, with what its type declares."""
    types, array = pa.types, _whole(values)
    kind, declared = array.type, str(array.type)
    textual = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    if types.is_dictionary(kind):
        return _dictionary_column(name, array)
    if types.is_boolean(kind):
        texts = pc.if_else(array, "True", "False")
        return TableColumn(name, texts, "categories", ("False", "True"), declared)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        floats = array.cast(pa.float64(), safe=False)
        known = pc.if_else(pc.is_nan(floats), pa.scalar(None, pa.float64()), floats)
        return TableColumn(name, known, "number", declared=declared)
    if any(is_kind(kind) for is_kind in textual):
        return TableColumn(name, _cleaned(array.cast(pa.string())), declared=declared)
    if types.is_temporal(kind):
        return TableColumn(name, array.cast(pa.string()), "date", declared=declared)
    return TableColumn(name, pa.nulls(len(array), pa.string()), "other", declared=declared)


def _dictionary_column(name: str, array: Any) -> TableColumn:
    declared, ordered = str(array.type), array.type.ordered
    decoded = arrow_column(name, array.dictionary_decode())
    if decoded.kind in ("date", "other"):
        return decoded
    texts = array.dictionary_decode().cast(pa.string())
    levels = tuple(text for text in array.dictionary.cast(pa.string()).to_pylist() if text is not None)
    return TableColumn(name, texts, "ordered" if ordered else "categories", levels, declared)


def _whole(values: Any) -> Any:
    """An array in one piece."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    whole = values.unify_dictionaries().combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


_READERS: dict[str, Callable[[StrPath, int], Table]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".arff": _read_arff,
    ".parquet": _read_parquet,
}
