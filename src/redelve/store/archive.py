"""The archive: a folder of plain files that takes records one by one and gives them back as results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from redelve.answers.losses import Loss, LossLike
from redelve.data.files import StrPath
from redelve.errors import LocationError, PredictionError, SpecError
from redelve.run.provenance import environment
from redelve.run.results import MethodFacts, Record, Results, TaskFacts
from redelve.store import layout
from redelve.store.compaction import rebuild, sweep
from redelve.store.delve import (
    ExportReport,
    FactsOf,
    export_results,
    imported_method,
    imported_records,
    task_folders,
)
from redelve.store.fact_files import read_methods, read_task, task_path, task_paths, write_method, write_task
from redelve.store.heads import Head
from redelve.store.record_rows import LOSS, answer_columns, answer_of, content_digest, key_columns, read_table
from redelve.store.rescoring import rescored
from redelve.store.snapshot import (
    SnapshotEntry,
    files_of,
    fresh_files,
    read_manifest,
    read_snapshot,
    write_fresh,
)
from redelve.store.soundness import VerifyReport, verify
from redelve.store.zipped import unzipped

Found = TypeVar("Found")


@dataclass(frozen=True)
class MergeReport:
    """What came of merging: how many records were new, known already, or in conflict with those here."""

    added: int
    known: int
    conflicts: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.added} records added, {self.known} known already"]
        lines += [f"conflict: {each}" for each in self.conflicts]
        return "\n".join(lines)


@dataclass
class Archive:
    """A folder of plain files that keeps the records of jobs, with what their tasks and methods are.

    `assess` makes one and adds to it; open it with `Archive.open`. Any number of processes may add to
    the same archive. A record is safe when `add` returns.

    Parameters
    ----------
    root
        The folder.
    is_writable
        False for an archive out of a zip file.

    Notes
    -----
    The files are Parquet and JSON, described in docs/archive.md. They are the same byte for byte
    whatever the order of work, and can be verified, merged, rescored and exchanged with DELVE's method
    directories.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import redelve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = redelve.assess(["constant"], "demo/age", sizes=[512], archive=Path(folder, "kept"))
    ...     archive = redelve.Archive.open(Path(folder, "kept"))
    ...     len(archive.load().records), archive.verify().ok
    (2, True)
    """

    root: Path
    is_writable: bool = True
    _tasks: dict[str, TaskFacts] = field(default_factory=dict, repr=False)
    _methods: dict[str, MethodFacts] = field(default_factory=dict, repr=False)

    @staticmethod
    def open(path: StrPath, *, create: bool = False) -> Archive:
        """The archive in a folder or, for reading only, in a zip file; made if wanted and not there."""
        root = Path(path)
        if root.is_file():
            inside = next(iter(sorted(unzipped(root).rglob(layout.MARKER))), None)
            if inside is None:
                raise LocationError(f"{root}: there is no archive in it, no file {layout.MARKER}")
            layout.check_marker(inside.parent)
            return Archive(inside.parent, is_writable=False)
        if create and not (root / layout.MARKER).exists():
            layout.create(root, f"redelve {environment().get('redelve', '?')}")
        layout.check_marker(root)
        return Archive(root)

    # Writing

    def register(self, tasks: Mapping[str, TaskFacts], methods: Mapping[str, MethodFacts]) -> None:
        """Describe the tasks and methods whose records are to come; twice is no harm.

        A task or method of the same name but another digest is kept beside the one that is there.
        """
        self._check_writable()
        for method in methods.values():
            write_method(self.root, method)
        for task in tasks.values():
            write_task(self.root, task)
        self._tasks |= tasks
        self._methods |= methods

    def add(self, record: Record) -> None:
        """Keep a record: when this returns it is on the disk, whatever happens then."""
        self._check_writable()
        head, columns = self._prepared(record)
        write_fresh(self.root / layout.FRESH, head, columns)

    def _prepared(self, record: Record) -> tuple[Head, dict[str, object]]:
        job, answer = record.job, record.answer
        layout.checked_digest(record.digest, job)
        task, method_digest = self._task(job.task), self._method_digest(job.method)
        if not 0 <= job.instance < len(task.instances):
            raise SpecError(f"{job}: the task has instances 0 to {len(task.instances) - 1}")
        if not 0 <= record.seed < 2**64:
            raise SpecError(f"{job}: the seed {record.seed} has more than 64 bits")
        answers = {} if answer is None else answer_columns(answer)
        numbers = task.instances[job.instance].case_numbers
        lengths = {len(one) for one in (*record.losses.values(), *answers.values())}
        if lengths - {len(numbers)}:
            raise PredictionError(
                f"{job}: the instance has {len(numbers)} test cases, "
                f"but there are {', '.join(map(str, sorted(lengths)))} losses or answers"
            )
        columns: dict[str, object] = {}
        if lengths:
            columns = {**key_columns(job.instance, job.run, numbers), **answers}
            columns |= {LOSS + code: losses for code, losses in sorted(record.losses.items())}
        head = Head(
            job,
            record.digest,
            method_digest,
            task.digest,
            record.seed,
            record.status,
            record.fallback,
            len(numbers) if lengths else 0,
            tuple(sorted(record.losses)),
            tuple(answers),
            content_digest([job, record.seed, record.status, record.fallback], answer, record.losses),
            record.costs,
            record.started,
            _readable(record.message),
            {name: _readable(value) for name, value in record.environment.items()},
            {_readable(name): _readable_value(value) for name, value in record.told.items()},
        )
        return head, columns

    def _task(self, address: str) -> TaskFacts:
        if address not in self._tasks:
            paths = sorted((self.root / "tasks" / layout.segment(address)).glob("*.json"))
            self._tasks[address] = read_task(_only(paths, f"task {address}"), self.root)
        return self._tasks[address]

    def _method_digest(self, name: str) -> str:
        if name not in self._methods:
            known = [method for method in read_methods(self.root) if method.name == name]
            self._methods[name] = _only(known, f'method "{name}"')
        return self._methods[name].digest

    def _check_writable(self) -> None:
        if not self.is_writable:
            raise LocationError(f"{self.root}: an archive in a zip file can only be read: unzip it first")

    def compact(self) -> None:
        """Gather fresh files into one file for each method and task, sorted by job."""
        self._check_writable()
        with layout.locked(self.root):
            snapshot = read_snapshot(self.root)
            if snapshot.fresh:
                rebuild(snapshot, snapshot.entries)
            else:
                sweep(self.root, snapshot.files)

    def merge(self, other: Archive) -> MergeReport:
        """Take over the records of another archive; where both have one of the same digest, ours stays.

        What contradicts ours is reported, and kept in the folder `conflicts`.
        """
        self._check_writable()
        theirs = read_snapshot(other.root, is_foreign=True)
        for method in read_methods(other.root):
            write_method(self.root, method)
        for path in task_paths(other.root):
            write_task(self.root, read_task(path, other.root))
        with layout.locked(self.root):
            snapshot = read_snapshot(self.root)
            found = rebuild(snapshot, (*snapshot.entries, *theirs.entries))
        ours = {entry.head.digest for entry in snapshot.entries}
        offered = {entry.head.digest for entry in theirs.entries}
        told = tuple(f"{kept.head.job} ({kept.head.digest})" for kept, _ in found.conflicts)
        return MergeReport(len(offered - ours), len(offered & ours), told)

    def rescore(self, losses: Sequence[LossLike]) -> Results:
        """Compute more losses from the predictions and true values held, and keep them.

        A loss matrix comes as a loss, made by `parse_loss` with a way to read its file.
        """
        self._check_writable()
        with layout.locked(self.root):
            snapshot = read_snapshot(self.root)
            rebuild(snapshot, rescored(snapshot, losses))
        return self.load()

    def import_delve(self, directory: StrPath, facts_of: FactsOf) -> int:
        """Take over the losses and guesses of DELVE's method directories; how many records there were.

        `facts_of` tells of a task from its address and its directory.
        """
        count = 0
        for folder in task_folders(Path(directory)):
            method = imported_method(Path(directory), folder.method)
            task = facts_of(folder.address, folder.path)
            self.register({task.address: task}, {method.name: method})
            for record in imported_records(folder, task, method):
                self.add(record)
                count += 1
        return count

    # Reading

    def verify(self, losses: Sequence[Loss] = ()) -> VerifyReport:
        """Look for damage: checksums, documents, records that do not fit their task, wrong losses.

        Losses that are not known here are named in a note, unless they are given.
        """
        return verify(self.root, losses)

    def export_delve(self, directory: StrPath) -> ExportReport:
        """Write everything into a delve directory, where DELVE's commands can use it."""
        return export_results(self.load(answers=True), Path(directory))

    def done(self, *, retry_failed: bool = False) -> frozenset[str]:
        """The digests of the records held: those of finished jobs only, if failed ones are to be retried."""
        fresh = {
            one.digest for one in fresh_files(self.root / layout.FRESH) if one.is_done or not retry_failed
        }
        for attempt in range(5):
            try:
                return frozenset(fresh | self._compacted(retry_failed=retry_failed))
            except LocationError:  # compacted meanwhile
                if attempt == 4:
                    raise
        raise AssertionError

    def _compacted(self, *, retry_failed: bool) -> set[str]:
        found: set[str] = set()
        for name in files_of(read_manifest(self.root), "jobs"):
            table = read_table(self.root / name, ["digest", "status"])
            pairs = zip(table.column("digest").to_pylist(), table.column("status").to_pylist(), strict=True)
            found |= {digest for digest, status in pairs if status == "done" or not retry_failed}
        return found

    def load(
        self,
        *,
        methods: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        digests: Collection[str] | None = None,
        losses: Collection[str] | None = None,
        answers: bool = False,
    ) -> Results:
        """The results of all, or of some, methods and tasks, with all losses or with some.

        Of a method or task in several versions the one registered last here is taken; elsewhere name
        it with the beginning of its digest, as in "lin-1@3fa9". `digests` restricts the records to an
        experiment's.
        """
        heads = read_snapshot(self.root).resolved.kept
        if digests is not None:
            heads = tuple(entry for entry in heads if entry.head.digest in digests)
        chosen = choose(self.root, heads, methods, tasks, (self._methods, self._tasks))
        records = (
            entry.head.record(
                entry.source.loss_columns(entry.head, losses), self._answer(entry, chosen, answers)
            )
            for entry in chosen.entries
        )
        return Results(chosen.tasks, chosen.methods, tuple(records))

    def _answer(self, entry: SnapshotEntry, chosen: Chosen, wanted: bool) -> object:
        if not wanted:
            return None
        targets = chosen.tasks[entry.head.job.task].targets
        return answer_of(targets, entry.source.answer_columns(entry.head), f"{self.root}: {entry.head.job}")


def _readable(text: str) -> str:
    """The text without what cannot be written, such as bytes of file names that are no characters."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _readable_value(value: float | str) -> float | str:
    return _readable(value) if isinstance(value, str) else value


def _only(found: Sequence[Found], what: str) -> Found:
    if len(found) != 1:
        known = "is not described in the archive" if not found else f"is there in {len(found)} versions"
        raise SpecError(f"{what} {known}: register the experiment's tasks and methods first")
    return found[0]


SHOWN_DIGITS = 8


class _Described(Protocol):
    @property
    def digest(self) -> str: ...


Facts = TypeVar("Facts", bound=_Described)
Versions = dict[str, dict[str, Facts]]


@dataclass(frozen=True)
class Chosen:
    """The entries wanted, with what their methods and tasks are."""

    entries: tuple[SnapshotEntry, ...]
    methods: Mapping[str, MethodFacts]
    tasks: Mapping[str, TaskFacts]


def choose(
    root: Path,
    entries: Sequence[SnapshotEntry],
    methods: Sequence[str] | None,
    tasks: Sequence[str] | None,
    registered: tuple[Mapping[str, MethodFacts], Mapping[str, TaskFacts]],
) -> Chosen:
    """The entries of the methods and tasks named, or of all; one version of each."""
    known_methods = _by_name(read_methods(root), lambda one: one.name)
    bare = (read_task(path, root, with_truths=False) for path in task_paths(root))
    known_tasks = _by_name(bare, lambda one: one.address)
    used = {entry.head.job.method: set[str]() for entry in entries}
    used_tasks = {entry.head.job.task: set[str]() for entry in entries}
    for entry in entries:
        used[entry.head.job.method].add(entry.head.method_digest)
        used_tasks[entry.head.job.task].add(entry.head.task_digest)
    chosen_methods = _versions("method", known_methods, methods, used, registered[0])
    chosen_tasks = _versions("task", known_tasks, tasks, used_tasks, registered[1])
    wanted = [entry for entry in entries if _is_wanted(entry, chosen_methods, chosen_tasks)]
    filled = {
        name: read_task(task_path(root, name, facts.digest), root) for name, facts in chosen_tasks.items()
    }
    return Chosen(_last_of_each(wanted), chosen_methods, filled)


def _by_name(facts: Iterable[Facts], name: Callable[[Facts], str]) -> Versions[Facts]:
    found: Versions[Facts] = {}
    for one in facts:
        found.setdefault(name(one), {})[one.digest] = one
    return found


def _versions(
    kind: str,
    known: Versions[Facts],
    wanted: Sequence[str] | None,
    used: Mapping[str, set[str]],
    registered: Mapping[str, Facts],
) -> dict[str, Facts]:
    """One version of each name that is wanted."""
    chosen: dict[str, Facts] = {}
    for text in known if wanted is None else wanted:
        name, _, start = (text, "", "") if text in known else text.rpartition("@")
        if name not in known:
            raise LocationError(f'no {kind} "{text}" in the archive: there are {", ".join(known) or "none"}')
        matching = [digest for digest in known[name] if digest.startswith(start)]
        usable = [digest for digest in matching if digest in used.get(name, ())] or matching
        if name in registered and registered[name].digest in usable:
            usable = [registered[name].digest]
        if len(usable) != 1:
            shown = " or ".join(f"{name}@{digest[:SHOWN_DIGITS]}" for digest in usable or known[name])
            raise LocationError(f'{kind} "{text}" is there in {len(usable)} versions: choose {shown}')
        chosen[name] = known[name][usable[0]]
    return chosen


def _is_wanted(
    entry: SnapshotEntry, methods: Mapping[str, MethodFacts], tasks: Mapping[str, TaskFacts]
) -> bool:
    head = entry.head
    method, task = methods.get(head.job.method), tasks.get(head.job.task)
    if method is None or task is None:
        return False
    return method.digest == head.method_digest and task.digest == head.task_digest


def _last_of_each(entries: Sequence[SnapshotEntry]) -> tuple[SnapshotEntry, ...]:
    """Of several records of one job, made under different limits, the one made last."""
    found: dict[object, SnapshotEntry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.head.started, entry.head.digest)):
        found[entry.head.job] = entry
    return tuple(found.values())
