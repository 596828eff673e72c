"""Records as they are added: a file for each, complete in itself, in Arrow's file format."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from redelve.data.files import file_digest, write_atomic
from redelve.errors import FormatError, LocationError
from redelve.store.heads import Head, head_of
from redelve.store.layout import DocumentFields, plain_value
from redelve.store.parquet import failures_named

NAME = re.compile(r"([0-9A-Za-z_-]{1,64})\.(done|not-done)\.([0-9a-f]{64})\.arrow", re.ASCII)
KEY = b"redelve"


def write_fresh(folder: Path, head: Head, columns: Mapping[str, pa.Array]) -> Path:
    """Write a record: when this returns it is on the disk, and there is never half a file of that name."""
    about = json.dumps(plain_value(head.document()), sort_keys=True)
    table = pa.table(dict(columns)).replace_schema_metadata({KEY: about.encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    data = sink.getvalue().to_pybytes()
    status = "done" if head.status == "done" else "not-done"
    path = folder / f"{head.digest}.{status}.{hashlib.sha256(data).hexdigest()}.arrow"
    folder.mkdir(exist_ok=True)
    write_atomic(path, data)
    return path


@dataclass(frozen=True)
class Fresh:
    """A file of one record; its name tells the digest, whether the job was done, and a checksum."""

    path: Path
    digest: str
    is_done: bool
    checksum: str

    @staticmethod
    def parse(path: Path) -> Fresh | None:
        """The file of this name, or None if it is no such name."""
        match = NAME.fullmatch(path.name)
        return None if match is None else Fresh(path, match[1], match[2] == "done", match[3])

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        with failures_named(self.path), pa.memory_map(str(self.path)) as source:
            return pa.ipc.open_file(source).schema

    @cached_property
    def head(self) -> Head:
        """The record without its rows."""
        about = (self.schema.metadata or {}).get(KEY)
        try:
            content = json.loads(about or b"null")
        except (ValueError, RecursionError):
            raise FormatError(self.path, None, "what it tells of the record is no JSON") from None
        head = head_of(DocumentFields(self.path, content))
        if head.digest != self.digest or (head.status == "done") != self.is_done:
            raise FormatError(self.path, None, f"the name does not fit the record {head.digest} in it")
        return head

    def rows(self) -> pa.Table:
        """The rows, checked for what could do harm."""
        with failures_named(self.path), pa.memory_map(str(self.path)) as source:
            table = pa.ipc.open_file(source).read_all()
            table.validate(full=True)
        if len(table) != self.head.cases:
            raise FormatError(self.path, None, f"expected {self.head.cases} rows but got {len(table)}")
        return table

    def is_sound(self) -> bool:
        """Whether the file is as it was written."""
        return file_digest(self.path) == self.checksum


def fresh_files(folder: Path) -> list[Fresh]:
    """The files of records in a folder, in the order of their names."""
    try:
        names = sorted(path for path in folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LocationError(f"{folder}: cannot read: {error.strerror}") from error
    return [fresh for path in names if (fresh := Fresh.parse(path)) is not None]
