"""Tables: CSV, Parquet and ARFF files as columns of texts or numbers; nothing is guessed or evaluated.

Beside each goes the frame that its user would have read: what estimators and functions are shown.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from redelve.data.compressed_names import plain_name
from redelve.data.delve.keyed_lines import shown
from redelve.data.files import StrPath, find_file, open_bytes
from redelve.data.tables.arff import ArffColumn, parse_arff
from redelve.data.tables.csv_files import ANY_NUMBER, CsvColumn, CsvManner, cleaned, no_header, read_csv
from redelve.data.tables.text_encodings import read_whole
from redelve.errors import FormatError, LocationError, SpecError, hint
from redelve.model.dataset import NumberColumn, Numbers, Rows
from redelve.model.own_table import OwnArrays
from redelve.text_numbers import parse_number

TABLE_LIMIT = 8 * 2**30
MOST_CELLS = 1_000_000_000
BYTES_OF_CODE = 4
"""What a text takes in a Parquet file, at most, where texts are read as codes."""
CODE = r"^[+-]?0\d+$"
INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")

Kind = Literal["text", "number", "categories", "ordered", "date", "other"]
Flags = NDArray[np.bool_]
FrameReader = Callable[[], Any]
"""Reads a file as its user would have, or gives the frame that the user has."""


class ReadingManner(NamedTuple):
    """How a file is to be read: its largest size, and what is not to be told from it."""

    limit: int = TABLE_LIMIT
    encoding: str | None = None
    decimal: str | None = None
    index_name: str = ""


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column of a file: an arrow array of texts (of floats if the kind is "number"), null if missing.

    Texts may be coded (a dictionary array). `levels` are those the file declares for categories; `declared`
    is the type in the file's own words.
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
        if not self.values.null_count:
            return np.broadcast_to(np.False_, len(self))
        flags: Flags = self.values.is_null().to_numpy(zero_copy_only=False)
        return flags

    @cached_property
    def numbers(self) -> Numbers | None:
        """The values as numbers, NaN where missing; None if some known value is no finite number."""
        values = self.values
        if self.kind != "number":
            texts = self._coded.dictionary
            if not pc.all(pc.match_substring_regex(texts, ANY_NUMBER), min_count=0).as_py():
                return None
            values = texts.cast(pa.float64()).take(self._coded.indices)
        numbers: Numbers = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        known = numbers if not values.null_count else numbers[~self.missing]
        return numbers if np.isfinite(known).all() else None

    @cached_property
    def has_codes(self) -> bool:
        """Whether some text is a number only in looks, such as 007."""
        if self.kind == "number":
            return False
        return bool(pc.any(pc.match_substring_regex(self._coded.dictionary, CODE), min_count=0).as_py())

    @cached_property
    def coded(self) -> tuple[Rows, tuple[str, ...]]:
        """For each row the place of its text among the different texts, −1 where missing; and those texts."""
        if self.kind == "number":
            return coded_numbers(self.values.to_numpy(zero_copy_only=False))
        codes = self._coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, tuple(self._coded.dictionary.to_pylist())

    @cached_property
    def _coded(self) -> Any:
        """The texts, coded: those that occur, in the order in which they do."""
        values = self.values
        if not pa.types.is_dictionary(values.type):
            return values.dictionary_encode()
        used = values.indices.dictionary_encode()
        return pa.DictionaryArray.from_arrays(used.indices, values.dictionary.take(used.dictionary))

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
    """Named columns of equal length; `source` says where they come from.

    `own` reads the same table as its owner's data frame; `rows` are those of its rows that are here. `arrays`
    are what the owner brought instead of a frame.
    """

    source: str
    columns: tuple[TableColumn, ...]
    notes: tuple[str, ...] = ()
    """What must be told of how the file was read."""
    own: FrameReader | None = None
    rows: Rows | None = None
    arrays: OwnArrays | None = None

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
        more = f" and {len(self.names) - 12} more" if len(self.names) > 12 else ""
        told = shown(", ".join(self.names[:12]), 200) + more
        meant = shown(hint(name, self.names), 200)
        raise SpecError(f'{self.source} has no column "{shown(name)}"{meant}: it has {told}')

    def select(self, rows: Rows) -> Table:
        """The same table with only these rows."""
        kept = rows if self.rows is None else self.rows[rows]
        return replace(self, columns=tuple(column.select(rows) for column in self.columns), rows=kept)


def read_table(
    path: StrPath,
    *,
    limit: int = TABLE_LIMIT,
    encoding: str | None = None,
    decimal: str | None = None,
    index_name: str = "",
) -> Table:
    """The table in a .csv, .tsv, .parquet or .arff file; text files may be compressed.

    `limit` is the largest size accepted, in bytes after decompression. `encoding` and `decimal` are those of
    text files, told from the file if they are left out. `index_name` is what to call a first column of a CSV
    file without a name, which is refused if it is left out.
    """
    name, bare = Path(path).name, bare_name(path)
    ending = Path(bare).suffix.lower()
    reader = _READERS.get(ending)
    if reader is None and os.path.isdir(path):  # noqa: PTH112  (a name may be too long for pathlib)
        raise FormatError(path, None, "this is a folder: give the name of a file in it")
    if reader is None or (ending == ".parquet" and bare != name):
        raise FormatError(
            path,
            None,
            f'can\'t tell a table by the ending "{Path(name).suffix}": give a file that ends in '
            ".csv, .tsv, .arff (each also with .gz) or .parquet; save a spreadsheet as CSV",
        )
    table = reader(path, ReadingManner(limit, encoding, decimal, index_name))
    if not table.row_count:
        raise FormatError(path, None, "there are no rows under the header")
    return table


def bare_name(path: StrPath) -> str:
    """The name of a table's file, less the ending that says how it is compressed."""
    name = Path(path).name
    return name if Path(name).suffix.lower() in _READERS else plain_name(name)


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


# --- CSV and ARFF ------------------------------------------------------------------------------------------


def _read_csv(path: StrPath, manner: ReadingManner) -> Table:
    found = read_csv(path, manner.limit, encoding=manner.encoding, decimal=manner.decimal)
    first, *others = found.columns
    columns = [first._replace(name=first.name or manner.index_name), *others]
    check_names([column.name for column in columns], os.fspath(path))
    own = _csv_frame(path, found.manner)
    table = Table(os.fspath(path), tuple(map(_csv_column, columns)), found.notes, own)
    _check_header(path, table)
    return table


def _csv_frame(path: StrPath, manner: CsvManner) -> FrameReader:
    """What pandas reads from the file if told how it is written; a lone ? is missing, as everywhere here."""
    return partial(_read_csv_frame, Path(path).absolute(), manner)


def _read_csv_frame(path: Path, manner: CsvManner) -> Any:
    import pandas as pd

    delimiter, decimal, encoding = manner
    with open_bytes(path) as stream:
        return pd.read_csv(stream, sep=delimiter, decimal=decimal, encoding=encoding, na_values="?")


def _csv_column(column: CsvColumn) -> TableColumn:
    kind: Kind = "text" if pa.types.is_dictionary(column.values.type) else "number"
    return TableColumn(column.name, column.values, kind, declared=column.declared)


def _check_header(path: StrPath, table: Table) -> None:
    """A file without header betrays itself: the "names" of most columns are values of their columns."""
    own = sum(map(_holds_its_name, table.columns))
    if own and 2 * own >= len(table.columns):
        raise no_header(path, table.names)


def _holds_its_name(column: TableColumn) -> bool:
    if column.kind != "number":
        return column.name in column.coded[1]
    number = parse_number(column.name)
    return number is not None and bool(pc.any(pc.equal(column.values, number)).as_py())


def _read_arff(path: StrPath, manner: ReadingManner) -> Table:
    text, notes = read_whole(path, manner.limit, manner.encoding)
    columns = parse_arff(text, os.fspath(path))
    check_names([column.name for column in columns], os.fspath(path))
    made = tuple(map(_arff_column, columns))
    return Table(os.fspath(path), made, notes, _arff_frame(made))


def _arff_frame(columns: Sequence[TableColumn]) -> FrameReader:
    """Numbers as floats, declared levels as categories, texts as pandas has them."""
    return partial(_made_arff_frame, columns)


def _made_arff_frame(columns: Sequence[TableColumn]) -> Any:
    import pandas as pd

    found = {column.name: column.values.to_pandas() for column in columns}
    for column in columns:
        if column.kind == "categories":
            found[column.name] = found[column.name].astype(pd.CategoricalDtype(list(column.levels)))
    return pd.DataFrame(found)


def _arff_column(column: ArffColumn) -> TableColumn:
    values = pa.array(column.values, pa.string())
    if column.kind == "number":
        values = values.cast(pa.float64())
    elif column.kind == "text":
        values = cleaned(values)
    return TableColumn(column.name, values, column.kind, column.levels, column.declared)


def _read_parquet(path: StrPath, manner: ReadingManner) -> Table:
    from pyarrow import parquet

    found = find_file(path)
    if found is None:
        open_bytes(path).close()  # tells why it can't be opened
        raise LocationError(f"{os.fspath(path)}: no such file")
    try:
        file = parquet.ParquetFile(pa.memory_map(os.fsencode(found)))
        groups = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
        size = sum(group.total_byte_size for group in groups)
        cells = file.metadata.num_rows * file.metadata.num_columns
        if size > manner.limit or cells > MOST_CELLS:
            raise FormatError(
                path, None, f"{cells} values in {size} bytes are too many: raise the limit, or take a sample"
            )
        coded = _repeated_texts(file)
        file = parquet.ParquetFile(pa.memory_map(os.fsencode(found)), read_dictionary=list(coded))
        return table_from_arrow(file.read(), os.fspath(path), _parquet_frame(found), coded)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        cause = (str(problem) or type(problem).__name__).splitlines()[0]
        raise FormatError(path, None, f"can't read this as Parquet ({cause[:120]})") from None


def _repeated_texts(file: Any) -> dict[str, str]:
    """The columns of texts that take so little room that they are few different ones, with their types.

    They are read as they are stored, coded: as texts ten million names of a model would be made one by one.
    """
    kinds = {one.name: one.type for one in file.schema_arrow}
    groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
    room: Counter[str] = Counter()
    for group in groups:
        for column in map(group.column, range(group.num_columns)):
            room[column.path_in_schema] += column.total_uncompressed_size
    most = BYTES_OF_CODE * file.metadata.num_rows
    texts = (pa.types.is_string, pa.types.is_large_string)
    return {
        name: str(kind)
        for name, kind in kinds.items()
        if any(is_text(kind) for is_text in texts) and room[name] <= most
    }


def _parquet_frame(path: StrPath) -> FrameReader:
    """What pandas reads from the file."""
    return partial(_read_parquet_frame, Path(path).absolute())


def _read_parquet_frame(path: Path) -> Any:
    import pandas as pd

    with path.open("rb") as stream:
        return pd.read_parquet(stream)


def table_from_arrow(
    table: Any, source: str, own: FrameReader | None = None, coded: Mapping[str, str] | None = None
) -> Table:
    """The table in an arrow table; the columns in which pandas keeps an index are left out.

    `coded` are the types of texts that were read as codes.
    """
    names = [name for name in table.column_names if not INDEX_OF_PANDAS.fullmatch(name)]
    check_names(names, source)
    kinds = coded or {}
    columns = (
        TableColumn(name, cleaned(_whole(table.column(name))), declared=kinds[name])
        if name in kinds
        else arrow_column(name, table.column(name))
        for name in names
    )
    return Table(source, tuple(columns), own=own)


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
        if types.is_floating(kind) and pc.any(missing := pc.is_nan(floats)).as_py():
            floats = pc.if_else(missing, pa.scalar(None, pa.float64()), floats)
        return TableColumn(name, floats, "number", declared=declared)
    if any(is_kind(kind) for is_kind in textual):
        return TableColumn(name, cleaned(array.cast(pa.string())), declared=declared)
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


_READERS: dict[str, Callable[[StrPath, ReadingManner], Table]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".arff": _read_arff,
    ".parquet": _read_parquet,
}
