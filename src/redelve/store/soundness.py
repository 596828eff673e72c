"""Whether an archive is sound: checksums, documents, and every loss worked out again."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from redelve.answers.answer import Answer, score, within_numbers
from redelve.answers.losses import Loss, MatrixLoss, known_loss
from redelve.data.files import file_digest
from redelve.errors import FormatError, LocationError, RedelveError
from redelve.model.dataset import Numbers
from redelve.run.results import IMPORTED, InstanceFacts, TaskFacts
from redelve.store.fact_files import check_truths, read_methods, read_task, task_paths
from redelve.store.fresh_records import NAME, fresh_files
from redelve.store.layout import (
    ANALYSES,
    AT_WORK,
    CONFLICTS,
    DATA,
    FRESH,
    LEASES,
    LOCK,
    MANIFEST,
    MARKER,
    RACES,
    Document,
    check_marker,
    is_half_written,
    read_document,
    task_path,
)
from redelve.store.look_files import RESTORED, lost_plans, lost_words, read_analyses, read_race
from redelve.store.record_rows import DAMAGED, KEYS, LOSS, answer_of, content_digest, numbers_of
from redelve.store.snapshot import (
    Snapshot,
    SnapshotEntry,
    StoredSource,
    is_data_file,
    read_manifest,
    read_snapshot,
)

CLOSE = 1e-9
ROUGH = 1e-2
"""Imported predictions may have been written with few digits."""
MOST_SHOWN = 100


@dataclass(frozen=True)
class VerifyReport:
    """What was looked at, what is wrong, and what is not wrong but worth knowing."""

    records: int
    files: int
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        shown = [*self.problems[:MOST_SHOWN], *(f"note: {note}" for note in self.notes[:MOST_SHOWN])]
        more = len(self.problems) + len(self.notes) - len(shown)
        verdict = "no problems" if self.ok else f"{len(self.problems)} problems"
        summary = f"{self.records} records in {self.files} files: {verdict}"
        return "\n".join([*shown, *([f"… and {more} more"] if more else []), summary])


@dataclass
class _Findings:
    root: Path
    problems: dict[str, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    losses: dict[str, Loss | None] = field(default_factory=dict)
    """The losses by code, as far as they are known."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Codes of losses that are not known, and how many records have them."""
    contradicted: dict[str, list[str]] = field(default_factory=dict)
    """By losses the imported records that have others than their predictions."""

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Take down what goes wrong inside, and go on."""
        try:
            yield
        except RedelveError as error:
            self.add(str(error))

    def add(self, problem: str) -> None:
        """Take down a problem, once, with paths as seen from the archive."""
        self.problems[problem.replace(f"{self.root}/", "")] = None

    def known(self, codes: Iterable[str]) -> list[Loss]:
        """Those of the losses that can be computed; the others are counted, but for loss matrices."""
        for code in codes:
            if code not in self.losses:
                self.losses[code] = known_loss(code)
            if self.losses[code] is None and not code.startswith(MatrixLoss.letter):
                self.unknown[code] += 1
        return [loss for code in codes if (loss := self.losses[code]) is not None]

    def told_unknown(self) -> Iterator[str]:
        """Notes on the losses that are not known."""
        for code, count in sorted(self.unknown.items()):
            yield (
                f'loss "{code}" is not known here: its losses of {count} records are taken as they are; '
                "register it, install the package that has it, or give it to `Archive.verify`"
            )

    def told_contradicted(self) -> Iterator[str]:
        """Notes on losses that are not those of the predictions imported beside them."""
        for code, places in sorted(self.contradicted.items()):
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            yield (
                f"losses {code} of {places[0]}{more} do not follow from the predictions imported beside them "
                "and are taken as they are, by rescore too: if they are wrong, make them anew with mloss "
                "and import them into a new archive"
            )


def verify(root: Path, losses: Sequence[Loss] = ()) -> VerifyReport:
    """Look at everything; a problem in one place does not hide those in others."""
    found = _Findings(root, losses={loss.code: loss for loss in losses})
    with found.noted():
        check_marker(root)
    files: Mapping[str, Document] = {}
    with found.noted():
        files = read_manifest(root)
    _check_checksums(found, files)
    count = _check_every_file(found, files)
    tasks = _check_documents(found)
    snapshot = None
    with found.noted():
        snapshot = read_snapshot(root)
    records = 0
    if snapshot is not None:
        records = len(snapshot.resolved.kept)
        with found.noted():
            for plan in lost_plans(root, [entry.head for entry in snapshot.resolved.kept]):
                found.add(f"{lost_words(plan)}: {RESTORED}")
        _check_entries(found, snapshot, tasks)
    notes = (*found.notes, *found.told_contradicted(), *found.told_unknown())
    return VerifyReport(records, count, tuple(found.problems), notes)


# Files


def _check_checksums(found: _Findings, files: Mapping[str, Document]) -> None:
    for name, about in files.items():
        path = found.root / name
        if not path.is_file():
            found.add(f"{name}: the file is missing: restore it from a copy")
        elif path.stat().st_size != about["bytes"] or file_digest(path) != about["sha256"]:
            found.add(f"{name}: {DAMAGED}")
    for folder in (FRESH, CONFLICTS):
        for fresh in fresh_files(found.root / folder):
            with contextlib.suppress(FileNotFoundError):  # compacted meanwhile
                if not fresh.is_sound():
                    found.add(f"{fresh.path}: {DAMAGED}")


def _check_every_file(found: _Findings, files: Mapping[str, Document]) -> int:
    """Look for what does not belong into an archive; how many files do."""
    count = 0
    for path in sorted(found.root.rglob("*")):
        name = path.relative_to(found.root).as_posix()
        if path.is_dir():
            continue
        count += 1
        if is_half_written(path.name):
            found.notes.append(
                f"{name}: half-written, by a process at work or dead; compact removes it in time"
            )
        elif is_data_file(name) and name not in files:
            found.add(
                f"{name}: not in the manifest, so left by an interrupted compaction; queries that read all "
                "files would count its rows twice: run `redelve archive compact`"
            )
        elif not is_data_file(name) and not _is_expected(name):
            found.add(f"{name}: no file of an archive: move it elsewhere")
    aside = len(fresh_files(found.root / CONFLICTS))
    if aside:
        found.notes.append(f"{CONFLICTS}: holds {aside} records that contradict others of the same digest")
    return count


def _is_expected(name: str) -> bool:
    folder, _, rest = name.partition("/")
    if not rest:
        return name in (MARKER, MANIFEST, LOCK, AT_WORK, ANALYSES)
    if folder == LEASES:
        return "/" not in rest
    if folder in (FRESH, CONFLICTS):
        return NAME.fullmatch(rest) is not None
    endings = {"truths": ".parquet"} | dict.fromkeys(("tasks", "methods", "environments", RACES), ".json")
    return folder not in DATA and name.endswith(endings.get(folder, "\0"))


# Documents


def _check_documents(found: _Findings) -> set[tuple[str, str]]:
    """Names and digests of the tasks and methods that are described."""
    known = set()
    for path in task_paths(found.root):
        with found.noted():
            facts = read_task(path, found.root, with_truths=False)
            known.add((facts.address, facts.digest))
            check_truths(found.root, path)
    with found.noted():
        known |= {(method.name, method.digest) for method in read_methods(found.root)}
    for path in sorted((found.root / "environments").glob("*.json")):
        with found.noted():
            read_document(path)
    for path in sorted((found.root / RACES).glob("*.json")):
        with found.noted():
            read_race(path)
    with found.noted():
        read_analyses(found.root)
    return known


# Records


def _check_entries(found: _Findings, snapshot: Snapshot, known: set[tuple[str, str]]) -> None:
    for kept, _ in snapshot.resolved.conflicts:
        found.add(f"{kept.head.job}: two finished records of digest {kept.head.digest} differ: compact")
    _check_row_counts(found, snapshot)
    facts: dict[tuple[str, str], TaskFacts] = {}
    for entry in snapshot.entries:
        head = entry.head
        with found.noted():
            for name, digest in ((head.job.task, head.task_digest), (head.job.method, head.method_digest)):
                if (name, digest) not in known:
                    raise LocationError(f"{head.job}: {name} with digest {digest} is not described")
            key = (head.job.task, head.task_digest)
            if key not in facts:
                facts[key] = read_task(task_path(found.root, *key), found.root)
            _check_entry(found, entry, facts[key])


def _check_row_counts(found: _Findings, snapshot: Snapshot) -> None:
    rows: dict[Path, list[int]] = {}
    for entry in snapshot.stored:
        assert isinstance(entry.source, StoredSource)
        source, head = entry.source, entry.head
        for table, count in ((source.loss_table, head.loss_rows), (source.answer_table, head.answer_rows)):
            if count:
                total = rows.setdefault(table.path, [0, 0])
                total[0] += count
                with found.noted():
                    total[1] = table.count
    for path, (expected, there) in rows.items():
        if expected != there:
            found.add(f"{path}: expected {expected} rows but got {there}")


def _check_entry(found: _Findings, entry: SnapshotEntry, facts: TaskFacts) -> None:
    head, place = entry.head, str(entry.head.job)
    if head.job.instance >= len(facts.instances):
        raise FormatError(place, None, f"the task has only {len(facts.instances)} instances")
    numbers = facts.instances[head.job.instance].case_numbers
    if head.cases not in (0, len(numbers)):
        raise FormatError(place, None, f"expected {len(numbers)} cases but got {head.cases}")
    losses, answer = _rows(entry, facts, numbers)
    about = [head.job, head.seed, head.status, head.fallback]
    if content_digest(about, answer, losses) != head.content:
        raise FormatError(
            place, None, "its digest does not fit what was predicted: changed since it was made"
        )
    known, instance = found.known(losses), facts.instances[head.job.instance]
    is_own = answer is not None and IMPORTED not in head.environment
    if not is_own:
        _check_ranges(place, facts, losses, known)
    if answer is not None:
        odd = [loss.code for loss in known if not _follows(answer, instance, loss, losses, is_own=is_own)]
        if odd and is_own:
            raise FormatError(place, None, f"losses {odd[0]} do not follow from predictions and truths")
        for code in odd:
            found.contradicted.setdefault(code, []).append(place)


def _rows(
    entry: SnapshotEntry, facts: TaskFacts, numbers: NDArray[np.int64]
) -> tuple[dict[str, Numbers], Answer | None]:
    head, place = entry.head, str(entry.head.job)
    losses: dict[str, Numbers] = {}
    answer = None
    if head.losses:
        table = entry.source.losses(head)
        _check_keys(entry, table, numbers)
        for code in head.losses:
            column = table.column(LOSS + code).combine_chunks()
            if column.null_count:
                raise FormatError(place, None, f"a loss {code} is missing where there should be one")
            losses[code] = numbers_of(column)
    if head.answer:
        table = entry.source.answers(head)
        _check_keys(entry, table, numbers)
        columns = {name: table.column(name).combine_chunks() for name in head.answer}
        answer = answer_of(facts.targets, columns, place)
    return losses, answer


def _check_keys(entry: SnapshotEntry, table: pa.Table, numbers: NDArray[np.int64]) -> None:
    job = entry.head.job
    expected = {"instance": job.instance, "run": job.run, "case": numbers}
    for name in KEYS:
        if not (table.column(name).to_numpy() == expected[name]).all():
            raise FormatError(str(job), None, f'the column "{name}" does not fit the job')


def _check_ranges(place: str, facts: TaskFacts, stored: Mapping[str, Numbers], known: Sequence[Loss]) -> None:
    """Refuse what no prediction loses, where losses are not worked out again."""
    for loss in known:
        if (found := loss.impossible(stored[loss.code], facts.targets)) is not None:
            case, reason = found
            raise FormatError(
                place, None, f"case {case + 1}: {reason}: take the record in again from its source"
            )


def _follows(
    answer: Answer, instance: InstanceFacts, loss: Loss, stored: Mapping[str, Numbers], *, is_own: bool
) -> bool:
    """Whether the losses are those of the answer; of imported ones roughly."""
    again = score(answer, instance.truths, [loss], instance.units).get(loss.code)
    if again is None:
        return not is_own
    losses = within_numbers(stored[loss.code])
    if is_own:
        return np.allclose(again, losses, rtol=CLOSE, atol=CLOSE, equal_nan=True)
    scale = np.abs(again[np.isfinite(again)]).max(initial=0.0)
    return np.allclose(again, losses, rtol=ROUGH, atol=ROUGH * scale, equal_nan=True)
