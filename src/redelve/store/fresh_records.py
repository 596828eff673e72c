"""Records as they are added: files in Arrow's format, each complete in itself, of one record or of several.

Records that come faster than the disk takes them are written together (group commit): many share what a file
and its way to the disk cost.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from redelve.data.files import AtomicFiles, file_digest, json_value
from redelve.errors import FormatError, LocationError, reason_of
from redelve.model.dataset import Numbers
from redelve.store.heads import Head, environment_digest, head_of
from redelve.store.layout import DocumentFields, plain_value
from redelve.store.record_rows import KEYS, LOSS, Columns, failures_named, losses_of, mapped, sound_bytes

DONE, NOT_DONE, SEVERAL = "done", "not-done", "several"
NAME = re.compile(r"([0-9A-Za-z_-]{1,64})\.(done|not-done|several)\.([0-9a-f]{64})\.arrow", re.ASCII)
KEY = b"redelve"
MOST_OPEN = 256 << 20
"""Bytes of files that stay open for reading; they are mapped into memory, not copied."""
MOST_TOGETHER = 1 << 20
"""Bytes of rows after which another file is begun: reading one record reads the file that it is in."""
MOST_WAITING = 64 << 20
"""Bytes of rows that may wait for the disk; whoever brings more waits, too."""
HEAD_BYTES, HEAD_MEMORY = 1 << 10, 10 << 10
"""About what a record takes beside its rows: in a file, and in memory (measured with tiny ones)."""
PAUSE = 0.02
"""Seconds between two commits, in which records gather; one that comes alone does not wait."""


class RowSource(ABC):
    """Where a record's rows are."""

    __slots__ = ()

    @abstractmethod
    def losses(self, head: Head) -> pa.Table:
        """Keys and losses, a row for each case."""

    @abstractmethod
    def answers(self, head: Head) -> pa.Table:
        """Keys and answers, a row for each case."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The types of the columns of answers."""

    def loss_columns(self, head: Head, wanted: Collection[str] | None = None) -> dict[str, Numbers]:
        """The losses by code: all, or those wanted."""
        codes = [code for code in head.losses if wanted is None or code in wanted]
        if not codes:
            return {}
        table = self.losses(head)
        return {code: losses_of(head.job, code, table.column(LOSS + code).combine_chunks()) for code in codes}

    def answer_columns(self, head: Head) -> Columns:
        """The columns of the answer."""
        if not head.answer:
            return {}
        table = self.answers(head)
        return {name: table.column(name).combine_chunks() for name in head.answer}


def chosen(path: Path, table: pa.Table, columns: Iterable[str]) -> pa.Table:
    """The keys and the columns named, all of which must be there."""
    names = [*KEYS, *columns]
    for name in names:
        if name not in table.schema.names:
            raise FormatError(path, None, f'there is no column "{name}": the file was changed or damaged')
    return table.select(names)


# Writing


def write_fresh(folder: Path, head: Head, columns: Mapping[str, pa.Array]) -> Path:
    """Write a record: when this returns it is on the disk, and there is never half a file of that name."""
    folder.mkdir(exist_ok=True)
    name, data = _file_of_one(head, columns)
    with AtomicFiles() as files:
        files.write(folder / name, data)
    return folder / name


def write_together(folder: Path, records: Iterable[tuple[Head, Columns]]) -> None:
    """Write records, a file for all that have the same columns: when this returns all are on the disk."""
    folder.mkdir(exist_ok=True)
    with AtomicFiles() as files:
        for alike in _alike(records):
            name, data = _file_of_one(*alike[0]) if len(alike) == 1 else _file_of_several(alike)
            files.write(folder / name, data)


def _alike(records: Iterable[tuple[Head, Columns]]) -> Iterator[list[tuple[Head, Columns]]]:
    """The records by their columns, in groups that are not too large."""
    groups: dict[tuple[object, ...], list[tuple[Head, Columns]]] = {}
    sizes: dict[tuple[object, ...], int] = {}
    for head, columns in records:
        kind = tuple((name, column.type) for name, column in columns.items())
        groups.setdefault(kind, []).append((head, columns))
        sizes[kind] = sizes.get(kind, 0) + _size(columns)
        if sizes[kind] >= MOST_TOGETHER:
            sizes[kind] = 0
            yield groups.pop(kind)
    yield from groups.values()


def _size(columns: Columns) -> int:
    return HEAD_BYTES + sum(int(column.get_total_buffer_size()) for column in columns.values())


def _file_of_one(head: Head, columns: Mapping[str, pa.Array]) -> tuple[str, bytes]:
    kind = DONE if head.status == "done" else NOT_DONE
    return _file(head.digest, kind, pa.table(dict(columns)), head.document())


def _file_of_several(alike: Sequence[tuple[Head, Columns]]) -> tuple[str, bytes]:
    """Rows of one record after those of another; environments, which most share, are told once."""
    names = list(alike[0][1])
    columns = {name: pa.concat_arrays([columns[name] for _, columns in alike]) for name in names}
    heads = [head for head, _ in alike]
    about = {
        "records": [head.job_row() | head.circumstances_row() for head in heads],
        "environments": {environment_digest(one.environment): dict(one.environment) for one in heads},
    }
    return _file(heads[0].digest, SEVERAL, pa.table(columns), about)


def _file(digest: str, kind: str, table: pa.Table, about: Mapping[str, Any]) -> tuple[str, bytes]:
    told = json.dumps(plain_value(about), sort_keys=True)
    table = table.replace_schema_metadata({KEY: told.encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    data = sink.getvalue().to_pybytes()
    return f"{digest}.{kind}.{hashlib.sha256(data).hexdigest()}.arrow", data


class GroupCommit:
    """Takes records at once, and puts them on the disk together in a thread of its own.

    What was taken before `flush` is on the disk when that returns; the next call raises what went wrong.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        lock = threading.Lock()
        self._came, self._hurry, self._written = (threading.Condition(lock) for _ in range(3))
        self._waiting: list[tuple[Head, Columns]] = []
        self._bytes = 0
        self._is_hurried = self._is_writing = self._is_closed = False
        self._problem: BaseException | None = None
        self._thread: threading.Thread | None = None

    def add(self, head: Head, columns: Columns) -> None:
        """Take a record; the next ones wait as long as too much does."""
        with self._came:
            if self._thread is None:
                self._thread = threading.Thread(target=self._commit_all, name="redelve-commit", daemon=True)
                self._thread.start()
            self._written.wait_for(lambda: self._bytes < MOST_WAITING or self._problem)
            self._raise_problem()
            self._waiting.append((head, columns))
            self._bytes += HEAD_MEMORY + _size(columns)
            if len(self._waiting) == 1:
                self._came.notify()
            if self._bytes >= MOST_WAITING:
                self._hurry.notify()

    def flush(self) -> None:
        """Wait until all that was taken is on the disk."""
        with self._written:
            self._is_hurried = True
            self._hurry.notify()
            self._written.wait_for(lambda: not (self._waiting or self._is_writing) or self._problem)
            self._is_hurried = False
            self._raise_problem()

    def close(self) -> None:
        """Flush, and end the thread."""
        try:
            self.flush()
        finally:
            with self._came:
                self._is_closed = True
                self._came.notify()
            if self._thread is not None:
                self._thread.join()

    def _raise_problem(self) -> None:
        if self._problem is not None:
            raise self._problem

    def _commit_all(self) -> None:
        last = -PAUSE
        while records := self._taken(last + PAUSE):
            try:
                write_together(self._folder, records)
            except BaseException as problem:
                self._problem = problem
            last = time.monotonic()
            with self._written:
                self._is_writing = False
                self._written.notify_all()
            if self._problem is not None:
                return

    def _taken(self, not_before: float) -> list[tuple[Head, Columns]]:
        """All that waits, as soon as there is something and it is time; nothing when it is over."""
        with self._came:
            self._came.wait_for(lambda: self._waiting or self._is_closed)
            pause = not_before - time.monotonic()
            if self._waiting and pause > 0:
                self._hurry.wait_for(lambda: self._is_hurried or self._bytes >= MOST_WAITING, pause)
            records, self._waiting, self._bytes = self._waiting, [], 0
            self._is_writing = bool(records)
            return records


# Reading


@dataclass(frozen=True)
class FreshFile:
    """A file of records; its name tells the first one's digest, whether it was done, and a checksum."""

    path: Path
    digest: str
    kind: str
    checksum: str

    @staticmethod
    def parse(path: Path) -> FreshFile | None:
        """The file of this name, or None if it is no such name."""
        match = NAME.fullmatch(path.name)
        return None if match is None else FreshFile(path, match[1], match[2], match[3])

    def is_sound(self) -> bool:
        """Whether the file is as it was written."""
        return file_digest(self.path) == self.checksum

    def table(self) -> pa.Table:
        """What is in it, checked for what could do harm."""
        with failures_named(self.path), mapped(self.path) as source:
            table = pa.ipc.open_file(sound_bytes(self.path, source, self.checksum)).read_all()
            table.validate(full=True)
            return table

    def digests(self) -> Mapping[str, bool]:
        """The digest of each record, and whether the job was done."""
        if self.kind != SEVERAL:
            return {self.digest: self.kind == DONE}
        return _digests(self)

    def about(self, table: pa.Table) -> Any:
        """What it tells of its records."""
        about = (table.schema.metadata or {}).get(KEY)
        try:
            return json_value(about or b"null")
        except ValueError:
            raise FormatError(self.path, None, "what it tells of the record is no JSON") from None

    def heads(self, table: pa.Table) -> list[Head]:
        """The records without their rows."""
        content = self.about(table)
        if self.kind == SEVERAL:
            heads = self._several(DocumentFields(self.path, content))
        else:
            heads = [head_of(DocumentFields(self.path, content))]
        self._check_name(heads)
        if (rows := sum(head.cases for head in heads)) != len(table):
            raise FormatError(self.path, None, f"expected {rows} rows but got {len(table)}")
        return heads

    def _check_name(self, heads: Sequence[Head]) -> None:
        first = heads[0].digest if heads else "(none)"
        is_done = self.kind == SEVERAL or (heads[0].status == "done") == (self.kind == DONE)
        if first != self.digest or not is_done:
            raise FormatError(self.path, None, f"the name does not fit the record {first} in it")

    def _several(self, given: DocumentFields) -> list[Head]:
        known = DocumentFields(self.path, given.take("environments", dict))
        rows = [DocumentFields(self.path, row) for row in given.take("records", list)]
        told = [
            {**row.content, "environment": known.take(row.take("environment", str), dict)} for row in rows
        ]
        return [head_of(DocumentFields(self.path, row)) for row in told]


@lru_cache(maxsize=1 << 16)
def _digests(file: FreshFile) -> Mapping[str, bool]:
    """Remembered, for whoever shares the work looks again and again, and a file is never changed."""
    rows = DocumentFields(file.path, file.about(file.table())).take("records", list)
    each = [DocumentFields(file.path, row) for row in rows]
    return {one.digest("digest"): one.take("status", str) == "done" for one in each}


def fresh_files(folder: Path) -> list[FreshFile]:
    """The files of records in a folder, in the order of their names."""
    try:
        names = sorted(path for path in folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LocationError(f"{folder}: cannot read: {reason_of(error)}") from error
    return [fresh for path in names if (fresh := FreshFile.parse(path)) is not None]


@dataclass
class OpenFiles:
    """The files read last; one reader's, so that what is damaged meanwhile is noticed by the next."""

    tables: OrderedDict[FreshFile, pa.Table] = field(default_factory=OrderedDict)
    bytes: int = 0

    def table(self, file: FreshFile) -> pa.Table:
        """What is in a file."""
        if file not in self.tables:
            self.tables[file] = file.table()
            self.bytes += self.tables[file].nbytes
            while self.bytes > MOST_OPEN and len(self.tables) > 1:
                self.bytes -= self.tables.popitem(last=False)[1].nbytes
        self.tables.move_to_end(file)
        return self.tables[file]

    def records(self, file: FreshFile) -> Iterator[tuple[Head, Fresh]]:
        """The records in a file, and where their rows are."""
        start = 0
        for head in file.heads(self.table(file)):
            yield head, Fresh(file, start, self)
            start += head.cases


@dataclass(frozen=True, slots=True)
class Unwritten(RowSource):
    """Rows that are in no file yet."""

    table: pa.Table = field(repr=False, compare=False)

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self.table.schema

    def losses(self, head: Head) -> pa.Table:
        """Keys and losses, a row for each case."""
        return self.table.select([*KEYS, *(LOSS + code for code in head.losses)])

    def answers(self, head: Head) -> pa.Table:
        """Keys and answers, a row for each case."""
        return self.table.select([*KEYS, *head.answer])


@dataclass(frozen=True, slots=True)
class Fresh(RowSource):
    """Some rows of a file of records as they are added."""

    file: FreshFile
    start: int
    opened: OpenFiles = field(repr=False, compare=False)

    @property
    def path(self) -> Path:
        """The file."""
        return self.file.path

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self.opened.table(self.file).schema

    def losses(self, head: Head) -> pa.Table:
        """Keys and losses, a row for each case."""
        return chosen(self.path, self._rows(head), [LOSS + code for code in head.losses])

    def answers(self, head: Head) -> pa.Table:
        """Keys and answers, a row for each case."""
        return chosen(self.path, self._rows(head), head.answer)

    def _rows(self, head: Head) -> pa.Table:
        return self.opened.table(self.file).slice(self.start, head.cases)
