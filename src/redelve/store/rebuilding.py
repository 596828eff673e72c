"""From many small files to one for each method and task; a crash at any moment loses and doubles nothing.

New files are written beside the old ones, under names that their contents give them. The manifest is then
replaced, which is the one moment of change; only then what it no longer lists is removed.
Records may get new losses for old predictions on the way.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from redelve.answers.answer import baselines_by_loss, score
from redelve.answers.losses import Loss, LossLike, chosen_losses, usual_losses
from redelve.data.files import sync_all
from redelve.errors import PredictionError
from redelve.model.dataset import Numbers
from redelve.run.more_losses import all_truths
from redelve.run.results import TaskFacts
from redelve.store.fact_files import read_task, task_path, write_task
from redelve.store.fresh_records import Fresh, RowSource, write_fresh
from redelve.store.heads import Head, circumstances_table, environment_digest, job_table
from redelve.store.layout import (
    CONFLICTS,
    DATA,
    MANIFEST,
    Document,
    folder_of,
    is_abandoned,
    write_document,
)
from redelve.store.record_rows import KEYS, LOSS, answer_of, failures_named, write_records
from redelve.store.snapshot import (
    NEW,
    STORED,
    Resolution,
    Snapshot,
    SnapshotEntry,
    environment_path,
    is_data_file,
    resolve,
)


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
    by_version: dict[str, list[SnapshotEntry]] = {}
    for entry in group:
        by_version.setdefault(entry.head.version, []).append(entry)
    for version, entries in by_version.items():
        job = entries[0].head.job
        folders = {kind: folder_of(kind, job.method, job.task, version) for kind in ("losses", "answers")}
        if _is_unchanged(snapshot, version, entries):
            for folder in folders.values():
                staged.keep(snapshot.files, folder)
            continue
        with_losses = [entry for entry in entries if entry.head.losses]
        if with_losses:
            staged.write(folders["losses"], _loss_schema(with_losses), _loss_rows(with_losses))
        with_answers = [entry for entry in entries if entry.head.answer]
        if with_answers:
            staged.write(folders["answers"], *_answers(with_answers))


def _is_unchanged(snapshot: Snapshot, version: str, entries: list[SnapshotEntry]) -> bool:
    return len(entries) == snapshot.counts[version] and all(entry.origin == STORED for entry in entries)


def _loss_schema(entries: list[SnapshotEntry]) -> pa.Schema:
    """The usual losses always have a column, so that files of different tasks can be read together."""
    usual = [loss.code for loss in usual_losses()]
    others = {code for entry in entries for code in entry.head.losses} - set(usual)
    codes = (*usual, *sorted(others))
    return pa.schema(KEYS | {LOSS + code: pa.float64() for code in codes})


def _loss_rows(entries: list[SnapshotEntry]) -> Iterator[pa.Table]:
    schema = _loss_schema(entries)
    for entry in entries:
        yield _filled(entry, entry.source.losses(entry.head), schema)


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
    """Keep a record that contradicts another of the same digest in a folder of its own."""
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


@dataclass(frozen=True)
class RescoredSource(RowSource):
    """Rows as they are, with more losses."""

    source: RowSource
    former: Head
    added: Mapping[str, Numbers]

    def losses(self, head: Head) -> pa.Table:
        """Keys and losses, a row for each case."""
        has_some = bool(self.former.losses)
        table = self.source.losses(self.former) if has_some else self.source.answers(head).select([*KEYS])
        for code, losses in self.added.items():
            table = table.append_column(LOSS + code, pa.array(losses))
        return table

    def answers(self, head: Head) -> pa.Table:
        """Keys and answers, a row for each case."""
        return self.source.answers(head)

    @property
    def schema(self) -> pa.Schema:
        """The types of the columns of answers."""
        return self.source.schema


def rescored(snapshot: Snapshot, wanted: Sequence[LossLike]) -> list[SnapshotEntry]:
    """Every record, with those losses that it lacks, that suit its task and that its answer allows."""
    losses = chosen_losses(wanted)
    tasks: dict[tuple[str, str], TaskFacts] = {}
    entries = []
    for entry in snapshot.resolved.kept:
        key = (entry.head.job.task, entry.head.task_digest)
        if key not in tasks:
            tasks[key] = read_task(task_path(snapshot.root, *key), snapshot.root)
            _describe(snapshot.root, tasks[key], losses)
        entries.append(_rescored(entry, tasks[key], losses))
    return entries


def _rescored(entry: SnapshotEntry, facts: TaskFacts, losses: Sequence[Loss]) -> SnapshotEntry:
    head = entry.head
    lacking = [one for one in losses if one.code not in head.losses and one.applies_to(facts.targets)]
    answer = None
    if lacking and head.answer:
        table = entry.source.answers(head)
        columns = {name: table.column(name).combine_chunks() for name in head.answer}
        answer = answer_of(facts.targets, columns, head.job)
    if answer is None:
        return entry
    try:
        instance = facts.instances[head.job.instance]
        added = score(answer, instance.truths, lacking, instance.units)
    except PredictionError as error:
        raise PredictionError(f"{head.job}: {error}") from None
    if not added:
        return entry
    more = replace(head, losses=tuple(sorted({*head.losses, *added})))
    return SnapshotEntry(more, RescoredSource(entry.source, head, added), NEW)


def _describe(root: Path, facts: TaskFacts, losses: Sequence[Loss]) -> None:
    """Add what the best constant answer loses by the new losses to the task's description."""
    suited = [one for one in losses if one.applies_to(facts.targets) and one.code not in facts.baselines]
    if suited:
        own = {one.code: one for one in suited if not one.is_builtin}
        baselines = baselines_by_loss(all_truths(facts), suited)
        write_task(root, replace(facts, baselines=baselines, own_losses=own))
