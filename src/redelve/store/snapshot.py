"""What an archive holds at one moment: every record's head and where its rows are; and how it is gathered."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from redelve.data.files import sync_all
from redelve.errors import FormatError, LocationError
from redelve.model.dataset import Numbers
from redelve.store.fresh_records import Fresh, OpenFiles, RowSource, chosen, fresh_files, write_fresh
from redelve.store.heads import Head, circumstances_table, environment_digest, heads_of, job_table
from redelve.store.layout import (
    CONFLICTS,
    DATA,
    FRESH,
    MANIFEST,
    NAMED_FILE,
    PLAIN_FILE,
    Document,
    DocumentFields,
    folder_of,
    is_abandoned,
    read_document,
    write_document,
)
from redelve.store.record_rows import (
    KEYS,
    LOSS,
    USUAL_LOSSES,
    Columns,
    RecordTable,
    failures_named,
    losses_of,
    read_table,
    write_records,
)

STORED, NEW, FOREIGN = 0, 1, 2
"""Where an entry comes from: compacted, fresh, or another archive. The first of equals is kept."""
ATTEMPTS = 5
MOST_OPEN = 200
MANY_CASES = 1_000_000
"""From so many losses on, several threads gain more than they cost."""


# Records as they are gathered: some rows of two files


@dataclass(frozen=True, slots=True)
class StoredSource(RowSource):
    """Some rows of two files."""

    loss_table: RecordTable
    loss_start: int
    answer_table: RecordTable
    answer_start: int

    def losses(self, head: Head) -> pa.Table:
        """Keys and losses, a row for each case."""
        rows = self.loss_table.rows(self.loss_start, head.cases)
        return chosen(self.loss_table.path, rows, [LOSS + code for code in head.losses])

    def answers(self, head: Head) -> pa.Table:
        """Keys and answers, a row for each case."""
        rows = self.answer_table.rows(self.answer_start, head.cases)
        return chosen(self.answer_table.path, rows, head.answer)

    @property
    def schema(self) -> pa.Schema:
        """The types of the columns."""
        return self.answer_table.schema

    def loss_columns(self, head: Head, wanted: Collection[str] | None = None) -> dict[str, Numbers]:
        """The losses by code: slices of columns, each of which is read once for all records."""
        table, found = self.loss_table, {}
        for code in head.losses:
            if wanted is None or code in wanted:
                column = table.column(LOSS + code, self.loss_start, head.cases)
                found[code] = losses_of(table.path, code, column)
        return found

    def answer_columns(self, head: Head) -> Columns:
        """The columns of the answer."""
        table, start = self.answer_table, self.answer_start
        return {name: table.column(name, start, head.cases) for name in head.answer}


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """A record in an archive."""

    head: Head
    source: RowSource
    origin: int


@contextlib.contextmanager
def reading_ahead(entries: Iterable[SnapshotEntry], wanted: Collection[str] | None) -> Iterator[None]:
    """Meanwhile check and read the losses of many cases, several files at a time.

    That work needs no interpreter. Where a method or task has several versions, some would be read for
    nothing, so nothing is.
    """
    starts: dict[RecordTable, list[int]] = {}
    codes: dict[RecordTable, set[str]] = {}
    subjects, cases = set(), 0
    for entry in entries:
        if isinstance(entry.source, StoredSource):
            table, head = entry.source.loss_table, entry.head
            starts.setdefault(table, []).append(entry.source.loss_start)
            codes.setdefault(table, set()).update(head.losses)
            subjects.add((head.job.method, head.job.task))
            cases += head.cases
    if not 1 < len(starts) == len(subjects) or cases < MANY_CASES:
        yield
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for table, begin in starts.items():
            names = [LOSS + code for code in codes[table] if wanted is None or code in wanted]
            pool.submit(table.read_ahead, names, begin)
        yield


@dataclass(frozen=True)
class Snapshot:
    """All entries, and the files that the manifest lists with their checksums and sizes."""

    root: Path
    files: Mapping[str, Document]
    stored: tuple[SnapshotEntry, ...]
    fresh: tuple[SnapshotEntry, ...]

    @property
    def entries(self) -> tuple[SnapshotEntry, ...]:
        """Everything, repeated records included."""
        return self.stored + self.fresh

    @cached_property
    def counts(self) -> Counter[str]:
        """How many compacted records there are of each version."""
        return Counter(entry.head.version for entry in self.stored)

    @cached_property
    def resolved(self) -> Resolution:
        """Every record once."""
        return resolve(self.entries)


def read_snapshot(root: Path, *, is_foreign: bool = False) -> Snapshot:
    """What the archive holds now; read again where somebody compacts it meanwhile."""
    for attempt in range(ATTEMPTS):
        try:
            return _read_snapshot(root, is_foreign=is_foreign)
        except LocationError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError


def _read_snapshot(root: Path, *, is_foreign: bool) -> Snapshot:
    # Fresh files come first: one that is compacted meanwhile is then seen twice, and not missed.
    listed = fresh_files(root / FRESH)
    files = read_manifest(root)
    if not files and not listed and any((root / "jobs").glob("*.parquet")):
        told = "it is not there, though records were gathered: take it from a copy of the archive"
        raise FormatError(root / MANIFEST, None, told)
    stored = tuple(_stored_entries(root, files, FOREIGN if is_foreign else STORED))
    opened, origin = OpenFiles(), FOREIGN if is_foreign else NEW
    fresh = tuple(SnapshotEntry(*one, origin) for file in listed for one in opened.records(file))
    return Snapshot(root, files, stored, fresh)


def read_manifest(root: Path) -> dict[str, Document]:
    """The compacted files by their paths in the archive; none of these leads out of it."""
    path = root / MANIFEST
    if not os.path.lexists(path):
        return {}
    files = DocumentFields(path, read_document(path)).take("files", dict)
    for name, about in files.items():
        if not is_data_file(name):
            raise FormatError(path, None, f'"{name[:80]}" is no file of an archive')
        given = DocumentFields(path, about)
        given.take("sha256", str)
        given.take("bytes", int)
    jobs, circumstances = (len(files_of(files, kind)) for kind in ("jobs", "circumstances"))
    if jobs != circumstances:
        told = (
            f"it lists {jobs} files of jobs and {circumstances} of circumstances, of which each job has one"
        )
        raise FormatError(path, None, f"{told}: the list is damaged; take it from a copy of the archive")
    return dict(files)


def is_data_file(name: str) -> bool:
    """Whether a path in an archive may be that of a compacted file."""
    return (NAMED_FILE.fullmatch(name) or PLAIN_FILE.fullmatch(name)) is not None


def files_of(files: Iterable[str], kind: str) -> list[str]:
    """The files of a kind: losses, answers, jobs or circumstances."""
    assert kind in DATA
    return sorted(name for name in files if name.startswith(f"{kind}/"))


def environments(root: Path) -> Callable[[str], Mapping[str, str]]:
    """A way to look up environments by digest; each is read once."""
    known: dict[str, Mapping[str, str]] = {"": {}}

    def look_up(digest: str) -> Mapping[str, str]:
        if digest not in known:
            known[digest] = read_document(environment_path(root, digest))
        return known[digest]

    return look_up


def environment_path(root: Path, digest: str) -> Path:
    """The file of an environment."""
    if not digest.isalnum():
        raise FormatError(root, None, f'"{digest[:80]}" is no digest of an environment')
    return root / "environments" / f"{digest}.json"


def _stored_entries(root: Path, files: Mapping[str, Document], origin: int) -> Iterator[SnapshotEntry]:
    look_up = environments(root)
    rows = _Tables(root, files)
    pairs = zip(files_of(files, "jobs"), files_of(files, "circumstances"), strict=True)
    for jobs, circumstances in pairs:
        read = partial(_read_listed, root, files)
        heads = heads_of(root / jobs, read(jobs), read(circumstances), look_up)
        starts: dict[str, list[int]] = {}
        for head in heads:
            start = starts.setdefault(head.version, [0, 0])
            source = StoredSource(rows.get("losses", head), start[0], rows.get("answers", head), start[1])
            yield SnapshotEntry(head, source, origin)
            start[0] += head.loss_rows
            start[1] += head.answer_rows


def _read_listed(root: Path, files: Mapping[str, Document], name: str) -> pa.Table:
    return read_table(root / name, files[name]["sha256"])


class _Tables:
    """The tables of rows by version; the first ones are opened at once, so that nobody can take them away."""

    def __init__(self, root: Path, files: Mapping[str, Document]) -> None:
        self._root, self._files = root, files
        self._names = {name.rpartition("/")[0]: name for name in files if NAMED_FILE.fullmatch(name)}
        self._tables: dict[str, RecordTable] = {}

    def get(self, kind: str, head: Head) -> RecordTable:
        folder = folder_of(kind, head.job.method, head.job.task, head.version)
        if folder not in self._tables:
            name = self._names.get(folder, f"{folder}/(no file is listed)")
            table = RecordTable(self._root / name, self._files.get(name, {}).get("sha256", ""))
            if folder in self._names and len(self._tables) < MOST_OPEN:
                table.open()
            self._tables[folder] = table
        return self._tables[folder]


# One entry for each record


@dataclass(frozen=True)
class Resolution:
    """Every record once, in order; repeated ones, and those that tell something else of the same job."""

    kept: tuple[SnapshotEntry, ...]
    repeated: tuple[SnapshotEntry, ...] = ()
    conflicts: tuple[tuple[SnapshotEntry, SnapshotEntry], ...] = ()
    """What is kept, and what contradicts it."""


@dataclass
class _Sorted:
    kept: list[SnapshotEntry] = field(default_factory=list)
    repeated: list[SnapshotEntry] = field(default_factory=list)
    conflicts: list[tuple[SnapshotEntry, SnapshotEntry]] = field(default_factory=list)


def resolve(entries: Iterable[SnapshotEntry]) -> Resolution:
    """Of entries with the same digest keep a finished one, the original; of failures the last."""
    by_digest: dict[str, list[SnapshotEntry]] = {}
    for entry in entries:
        by_digest.setdefault(entry.head.digest, []).append(entry)
    found = _Sorted()
    for several in by_digest.values():
        best = _best(several)
        found.kept.append(best)
        for other in several:
            if other is best:
                continue
            if best.head.status == other.head.status == "done" and not _agree(best.head, other.head):
                found.conflicts.append((best, other))
            else:
                found.repeated.append(other)
    found.kept.sort(key=lambda entry: entry.head.order)
    return Resolution(tuple(found.kept), tuple(found.repeated), tuple(found.conflicts))


def _best(several: list[SnapshotEntry]) -> SnapshotEntry:
    done = [entry for entry in several if entry.head.status == "done"]
    if done:
        return min(done, key=lambda entry: (entry.origin, entry.head.started, entry.head.content))
    return max(several, key=lambda entry: (entry.head.started, entry.head.content))


def _agree(one: Head, other: Head) -> bool:
    return (one.job, one.content, one.version) == (other.job, other.content, other.version)


def unlike(
    entries: Iterable[SnapshotEntry], made: Iterable[SnapshotEntry]
) -> tuple[set[str], tuple[SnapshotEntry, ...]]:
    """The versions of which other records were made than are held, and the entries that these replace.

    The records of a method on a task belong together: where one differs, all are replaced.
    """
    held, new = _by_version(entries), _by_version(made)
    others = {version for version, some in new.items() if _contents(some) != _contents(held.get(version, ()))}
    return others, tuple(entry for version in sorted(others) for entry in held.get(version, ()))


def _by_version(entries: Iterable[SnapshotEntry]) -> dict[str, list[SnapshotEntry]]:
    found: dict[str, list[SnapshotEntry]] = {}
    for entry in entries:
        found.setdefault(entry.head.version, []).append(entry)
    return found


def _contents(entries: Iterable[SnapshotEntry]) -> set[str]:
    return {entry.head.content for entry in entries}


# Gathering: from many small files to one for each method and task
#
# New files are written beside the old ones, under names that their contents give them. The manifest is then
# replaced, which is the one moment of change; only then what it no longer lists is removed: a crash at any
# moment loses and doubles nothing.


@dataclass
class _Staged:
    """Files that are written but not yet in place, and those that stay."""

    root: Path
    files: dict[str, Document] = field(default_factory=dict)
    halves: dict[Path, Path] = field(default_factory=dict)

    def write(self, folder: str, schema: pa.Schema, records: Iterable[pa.Table]) -> None:
        """Write a file of records into a folder of the archive."""
        half, checksum = write_records(self.root / folder, schema, records)
        name = f"{folder}/{checksum[:16]}.parquet"
        self.halves[half] = self.root / name
        self.files[name] = {"sha256": checksum, "bytes": half.stat().st_size}

    def keep(self, files: Mapping[str, Document], folder: str) -> None:
        """Let the file in a folder stay."""
        self.files |= {name: about for name, about in files.items() if name.rpartition("/")[0] == folder}

    def commit(self) -> None:
        """Put everything into place; the manifest comes last."""
        sync_all(self.halves)
        for half, final in self.halves.items():
            half.replace(final)
        sync_all(self._folders())
        write_document(self.root / MANIFEST, {"files": dict(sorted(self.files.items()))})

    def _folders(self) -> set[Path]:
        """The folders of the new files, and those that these are in."""
        within = {above for final in self.halves.values() for above in final.relative_to(self.root).parents}
        return {self.root / one for one in within}

    def discard(self) -> None:
        """Remove what was not put into place."""
        for half in self.halves:
            half.unlink(missing_ok=True)


def rebuild(snapshot: Snapshot, entries: Sequence[SnapshotEntry]) -> Resolution:
    """Make the entries, each record once, all that the archive holds; the caller has locked it."""
    found = resolve(entries)
    for _, other in found.conflicts:
        keep_aside(snapshot.root, other)
    staged = _Staged(snapshot.root)
    try:
        for _, group in groupby(found.kept, key=lambda entry: entry.head.order[:2]):
            _stage_versions(staged, snapshot, list(group))
        _stage_heads(staged, found.kept)
        staged.commit()
    finally:
        staged.discard()
    for path in {entry.source.path for entry in snapshot.fresh if isinstance(entry.source, Fresh)}:
        path.unlink(missing_ok=True)
    sweep(snapshot.root, staged.files)
    return found


def _stage_versions(staged: _Staged, snapshot: Snapshot, group: list[SnapshotEntry]) -> None:
    for version, entries in _by_version(group).items():
        job = entries[0].head.job
        folders = {kind: folder_of(kind, job.method, job.task, version) for kind in ("losses", "answers")}
        if _is_unchanged(snapshot, version, entries):
            for folder in folders.values():
                staged.keep(snapshot.files, folder)
            continue
        with_losses = [entry for entry in entries if entry.head.losses]
        if with_losses:
            staged.write(folders["losses"], *_losses(with_losses))
        with_answers = [entry for entry in entries if entry.head.answer]
        if with_answers:
            staged.write(folders["answers"], *_answers(with_answers))


def _is_unchanged(snapshot: Snapshot, version: str, entries: list[SnapshotEntry]) -> bool:
    return len(entries) == snapshot.counts[version] and all(entry.origin == STORED for entry in entries)


def _losses(entries: list[SnapshotEntry]) -> tuple[pa.Schema, Iterator[pa.Table]]:
    others = {code for entry in entries for code in entry.head.losses} - set(USUAL_LOSSES)
    schema = pa.schema(KEYS | {LOSS + code: pa.float64() for code in (*USUAL_LOSSES, *sorted(others))})
    return schema, (_filled(entry, entry.source.losses(entry.head), schema) for entry in entries)


def _answers(entries: list[SnapshotEntry]) -> tuple[pa.Schema, Iterator[pa.Table]]:
    kinds: dict[str, pa.DataType] = {}
    for entry in entries:
        if not kinds.keys() >= set(entry.head.answer):
            known = entry.source.schema
            with failures_named(entry.head.job):
                kinds |= {name: known.field(name).type for name in entry.head.answer}
    schema = pa.schema(KEYS | dict(sorted(kinds.items())))
    return schema, (_filled(entry, entry.source.answers(entry.head), schema) for entry in entries)


def _filled(entry: SnapshotEntry, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with all columns of the schema: nulls where it has none."""
    there = set(table.schema.names)
    columns = [
        table.column(one.name) if one.name in there else pa.nulls(len(table), one.type) for one in schema
    ]
    with failures_named(entry.head.job):  # somebody else may have made the file
        return pa.table(columns, schema=schema)


def _stage_heads(staged: _Staged, kept: Sequence[SnapshotEntry]) -> None:
    heads = [entry.head for entry in kept]
    for kind, table in (("jobs", job_table(heads)), ("circumstances", circumstances_table(heads))):
        staged.write(kind, table.schema, [table])
    for digest, environment in {
        environment_digest(one.environment): one.environment for one in heads
    }.items():
        path = environment_path(staged.root, digest)
        if not path.exists():
            write_document(path, environment)


def keep_aside(root: Path, entry: SnapshotEntry) -> Path:
    """Keep a record that contradicts another in a folder of its own."""
    head = entry.head
    columns: dict[str, pa.Array] = {}
    for table in (
        entry.source.losses(head) if head.losses else None,
        entry.source.answers(head) if head.answer else None,
    ):
        if table is not None:
            columns |= {name: table.column(name).combine_chunks() for name in table.schema.names}
    return write_fresh(root / CONFLICTS, head, columns)


def sweep(root: Path, files: Mapping[str, Document]) -> None:
    """Remove compacted files that the manifest does not list, and what dead processes left half-written."""
    emptied: set[str] = set()
    for place, folders, names in os.walk(root, topdown=False):
        within = place[len(str(root)) + 1 :].replace(os.sep, "/")
        left = [name for name in names if not _is_swept(Path(place, name), f"{within}/{name}", files)]
        is_empty = not left and all(f"{within}/{folder}" in emptied for folder in folders)
        if is_empty and within.startswith(tuple(f"{kind}/" for kind in DATA)):
            with contextlib.suppress(OSError):
                Path(place).rmdir()
                emptied.add(within)


def _is_swept(path: Path, name: str, files: Mapping[str, Document]) -> bool:
    """Whether the file was to be removed, and is."""
    is_left_over = name not in files and is_data_file(name)
    if not (is_left_over or is_abandoned(path)):
        return False
    with contextlib.suppress(OSError):  # somebody may have it open, on some systems
        path.unlink(missing_ok=True)
        return True
    return False
