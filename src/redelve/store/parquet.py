"""Parquet files that come out the same, byte for byte, whenever the same is written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from redelve.data.files import file_digest, write_atomic
from redelve.errors import FormatError, LocationError

COMPRESSION_LEVEL = 1
GROUP_CELLS = 1 << 21
"""A row group ends with the record with which it has this many values: about 16 MiB."""
MOST_ROWS = 2 * 10**9


def writer(where: Any, schema: pa.Schema) -> pq.ParquetWriter:
    """A writer whose output depends on nothing but the data and the version of pyarrow."""
    plain = [name for name, kind in zip(schema.names, schema.types, strict=True) if not _is_floating(kind)]
    return pq.ParquetWriter(
        where,
        schema,
        version="2.6",
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=plain,
        write_statistics=True,
        store_schema=True,
    )


def _is_floating(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind))


def write_table(path: Path, table: pa.Table) -> None:
    """Write a whole table at once."""
    sink = pa.BufferOutputStream()
    with writer(sink, table.schema) as out:
        out.write_table(table, row_group_size=max(len(table), 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, sink.getvalue().to_pybytes())


def write_records(folder: Path, schema: pa.Schema, records: Iterable[pa.Table]) -> tuple[Path, str]:
    """Write records one after the other; the file, not yet in place, and its checksum.

    Every record lies in one row group, and where groups end depends on the data alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    half = folder / f".{os.urandom(6).hex()}.tmp"
    try:
        with half.open("wb") as stream:
            with writer(stream, schema) as out:
                for group in _groups(records):
                    out.write_table(group.cast(schema), row_group_size=max(len(group), 1))
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        half.unlink(missing_ok=True)
        raise
    return half, file_digest(half)


def _groups(records: Iterable[pa.Table]) -> Iterator[pa.Table]:
    pending: list[pa.Table] = []
    cells = 0
    for table in records:
        pending.append(table)
        cells += _cells(table)
        if cells >= GROUP_CELLS:
            yield pa.concat_tables(pending).combine_chunks()
            pending, cells = [], 0
    if pending:
        yield pa.concat_tables(pending).combine_chunks()


def _cells(table: pa.Table) -> int:
    """How many values there are, those in lists counted one by one."""
    total = 0
    for column in table.columns:
        total += sum(len(chunk.flatten()) for chunk in column.chunks) if _is_list(column) else len(column)
    return total


def _is_list(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_list(column.type))


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A whole table, or some of its columns."""
    with failures_named(path), pq.ParquetFile(path) as file:
        _check_rows(path, file.metadata.num_rows)
        table = file.read(columns)
        return table if columns is None else table.select(list(columns))


def _check_rows(path: Path, count: int) -> None:
    if count > MOST_ROWS:
        raise FormatError(path, None, f"{count} rows are more than the {MOST_ROWS} that are believable")


@contextlib.contextmanager
def failures_named(path: Path) -> Iterator[None]:
    """Turn what pyarrow says of a bad file into an error that names it."""
    try:
        yield
    except FileNotFoundError:
        raise LocationError(
            f"{path}: no such file: if the archive was compacted meanwhile, load it again"
        ) from None
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:200]
        raise FormatError(path, None, f"damaged, or not what it should be: {reason}") from None


class RecordTable:
    """A Parquet file of records, read column by column and row group by row group when first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._columns: dict[tuple[int, str], pa.Array] = {}
        self._group: tuple[int, pa.Table] | None = None

    def open(self) -> None:
        """Hold the file, so that it stays readable even if somebody removes it."""
        assert self.file is not None

    @cached_property
    def file(self) -> pq.ParquetFile:
        """The open file."""
        with failures_named(self.path):
            file = pq.ParquetFile(self.path, memory_map=True)
        _check_rows(self.path, file.metadata.num_rows)
        return file

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self.file.schema_arrow

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(self.file.metadata.num_rows)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        about = self.file.metadata
        sizes = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    def _place(self, start: int, count: int) -> tuple[int, int]:
        """The row group in which rows lie, and where in it."""
        group = int(np.searchsorted(self._starts, start, side="right")) - 1
        if group + 1 >= len(self._starts) or start + count > self._starts[group + 1]:
            raise FormatError(self.path, None, f"rows {start} to {start + count} are not in one row group")
        return group, start - int(self._starts[group])

    def column(self, name: str, start: int, count: int) -> pa.Array:
        """Some rows of a column; what was read is kept."""
        group, offset = self._place(start, count)
        if (group, name) not in self._columns:
            with failures_named(self.path):
                table = self.file.read_row_group(group, columns=[name])
                self._columns[group, name] = table.column(name).combine_chunks()
        return self._columns[group, name].slice(offset, count)

    def rows(self, start: int, count: int) -> pa.Table:
        """Some rows with all columns; only the row group last read is kept."""
        group, offset = self._place(start, count)
        if self._group is None or self._group[0] != group:
            with failures_named(self.path):
                self._group = group, self.file.read_row_group(group)
        return self._group[1].slice(offset, count)
