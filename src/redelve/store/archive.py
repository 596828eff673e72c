"""The archive: a folder of plain files that takes records one by one and gives them back as results.

With it goes the corridor from an experiment to its results: plan what is left, run it, keep every record,
load.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from redelve.answers.losses import Loss, LossLike, chosen_losses
from redelve.answers.losses.class_metrics import RAISED_BY_FEW
from redelve.data.files import StrPath
from redelve.errors import LocationError, PredictionError, SpecError
from redelve.run.leases import Passes, SharedWork, sweep_leases
from redelve.run.pooled_answers import FOLDED, pooled_metrics, pooled_over_folds
from redelve.run.results import Job, MethodFacts, Record, Results, TaskFacts, environment
from redelve.store import layout
from redelve.store.delve import (
    ExportReport,
    FactsOf,
    check_folder,
    export_results,
    imported_method,
    imported_records,
    task_folders,
)
from redelve.store.fact_files import (
    Chosen,
    choose,
    read_methods,
    read_task,
    task_paths,
    write_method,
    write_remarks,
    write_task,
)
from redelve.store.fresh_records import GroupCommit, Unwritten, fresh_files, write_fresh
from redelve.store.heads import Head
from redelve.store.layout import unzipped
from redelve.store.look_files import (
    MergeSide,
    looked_before,
    races_on,
    read_races,
    refuse_other_races,
    take_over,
)
from redelve.store.record_rows import (
    LOSS,
    Columns,
    answer_columns,
    answer_of,
    content_digest,
    key_columns,
    read_table,
)
from redelve.store.rescoring import rescored
from redelve.store.retrying import checked_retry, is_to_be_retried
from redelve.store.same_data import aliases, apart, joined, same_data_told, with_others
from redelve.store.snapshot import (
    NEW,
    SnapshotEntry,
    files_of,
    keep_aside,
    read_manifest,
    read_snapshot,
    reading_ahead,
    rebuild,
    sweep,
    unlike,
)
from redelve.store.soundness import VerifyReport, verify

if TYPE_CHECKING:
    from redelve.run.cells import Limits
    from redelve.run.experiment import Experiment
    from redelve.run.progress import RecordStream
    from redelve.run.workers import WorkersLike

Found = TypeVar("Found")


@dataclass(frozen=True)
class MergeReport:
    """What came of merging: how many records were new, known already, or in conflict with those here."""

    added: int
    known: int
    conflicts: tuple[str, ...]
    apart: tuple[str, ...] = ()
    """The tasks that are there in several versions, with what differs: they are kept apart."""
    same: tuple[str, ...] = ()
    """The tasks that are the same under several names: their results stand together."""

    def __str__(self) -> str:
        lines = [f"{self.added} records added, {self.known} known already"]
        lines += [f"conflict: {each}" for each in self.conflicts]
        lines += [f"kept apart, as different tasks: {each}" for each in self.apart]
        lines += [f"known by its data: {each}" for each in self.same]
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
    >>> import redelve
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = redelve.assess(["constant"], "demo/age", sizes=[512], archive=folder)
    ...     archive = redelve.Archive.open(folder)
    ...     len(archive.load().records), archive.verify().ok
    (2, True)
    """

    root: Path
    is_writable: bool = True
    _tasks: dict[str, TaskFacts] = field(default_factory=dict, repr=False)
    _methods: dict[str, MethodFacts] = field(default_factory=dict, repr=False)
    _zip: Path | None = field(default=None, repr=False)
    """The zip file that it is out of."""

    @staticmethod
    def open(path: StrPath, *, create: bool = False) -> Archive:
        """The archive in a folder or, for reading only, in a zip file; made if wanted and not there.

        The folder may be that of `redelve assess`, which has its archive inside.
        """
        if not isinstance(path, str | os.PathLike):
            raise LocationError(f"path={path!r}: give the path of an archive, a folder or a zip file")
        root = Path(path)
        if "\0" in str(root):
            raise LocationError(f"{str(root)!r} is no path: it holds a NUL character")
        if root.is_file():
            inside = next(iter(sorted(unzipped(root).rglob(layout.MARKER))), None)
            if inside is None:
                raise LocationError(f"{root}: there is no archive in it, no file {layout.MARKER}")
            layout.check_marker(inside.parent)
            return Archive(inside.parent, is_writable=False, _zip=root)
        root = layout.root_in(root)
        marker = None
        if create and not (root / layout.MARKER).exists():
            marker = layout.create(root, f"redelve {environment().get('redelve', '?')}")
        layout.check_marker(root, marker)
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

    def add(self, record: Record, commits: GroupCommit | None = None) -> None:
        """Keep a record: when this returns it is on the disk, whatever happens then.

        With `commits` this returns at once: the record is on the disk when `commits.flush` returns.
        """
        self._check_writable()
        head, columns = self._prepared(record)
        if commits is None:
            write_fresh(self.root / layout.FRESH, head, columns)
        else:
            commits.add(head, columns)

    def put(self, records: Iterable[Record]) -> frozenset[tuple[str, str]]:
        """Keep records as all that their methods have on their tasks: all of them at one moment, or none.

        Returns the tasks and methods of which other records were held: these are put into `conflicts`.
        """
        self._check_writable()
        prepared = map(self._prepared, records)
        made = [SnapshotEntry(head, Unwritten(pa.table(columns)), NEW) for head, columns in prepared]
        if not unlike(read_snapshot(self.root).entries, made)[0]:
            self.compact()
            return frozenset()
        with layout.locked(self.root):
            snapshot = read_snapshot(self.root)
            versions, replaced = unlike(snapshot.entries, made)
            stay = [entry for entry in snapshot.entries if entry.head.version not in versions]
            for entry in replaced:
                keep_aside(self.root, entry)
            rebuild(snapshot, (*stay, *(entry for entry in made if entry.head.version in versions)))
        return frozenset((entry.head.job.task, entry.head.job.method) for entry in replaced)

    def commits(self) -> GroupCommit:
        """What takes many records at once and puts them on the disk together; close it at the end."""
        return GroupCommit(self.root / layout.FRESH)

    def _prepared(self, record: Record) -> tuple[Head, Columns]:
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
            found = f"there are {', '.join(map(str, sorted(lengths)))} losses or answers"
            raise PredictionError(f"{job}: the instance has {len(numbers)} test cases, but {found}")
        columns: Columns = {}
        if lengths:
            columns = {**key_columns(job.instance, job.run, numbers), **answers}
            columns |= {
                LOSS + code: pa.array(np.array(one, float)) for code, one in sorted(record.losses.items())
            }
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

    @property
    def _called(self) -> Path:
        """What its user calls it: a zip file is unpacked into a folder that nobody knows."""
        return self._zip or self.root

    def _check_writable(self) -> None:
        if not self.is_writable:
            raise LocationError(f"{self._called}: an archive in a zip file can only be read: unzip it first")

    def compact(self) -> None:
        """Gather fresh files into one file for each method and task, sorted by job.

        Where nothing can be written, as on a disk that can only be read, there must be none.
        """
        self._gather()
        sweep_leases(self.root / layout.LEASES)

    def _gather(self) -> None:
        self._check_writable()
        try:
            with layout.locked(self.root):
                snapshot = read_snapshot(self.root)
                if snapshot.fresh:
                    rebuild(snapshot, snapshot.entries)
                else:
                    sweep(self.root, snapshot.files)
        except OSError:
            if fresh_files(self.root / layout.FRESH):
                raise

    def merge(self, other: Archive) -> MergeReport:
        """Take over the records of another archive; where both have one of the same digest, ours stays.

        What contradicts ours is reported, and kept in the folder `conflicts`. Two races on one task with
        different plans are refused, and races of which looks would be forgotten because a record is lost.
        """
        self._check_writable()
        theirs = read_snapshot(other.root, is_foreign=True)
        with layout.locked(self.root):
            snapshot = read_snapshot(self.root)
            held, given = ([entry.head for entry in each.entries] for each in (snapshot, theirs))
            sides = (
                MergeSide(self.root, self._called, held),
                MergeSide(other.root, other._called, given),
            )
            refuse_other_races(*sides)
            for method in read_methods(other.root):
                write_method(self.root, method)
            for path in task_paths(other.root):
                write_task(self.root, read_task(path, other.root))
            found = rebuild(snapshot, (*snapshot.entries, *theirs.entries))
            take_over(*sides)
        ours, offered = {head.digest for head in held}, {head.digest for head in given}
        told = tuple(f"{kept.head.job} ({kept.head.digest})" for kept, _ in found.conflicts)
        every = [read_task(path, self.root, with_truths=False) for path in task_paths(self.root)]
        same = same_data_told(every, read_races(self.root).keys())
        return MergeReport(len(offered - ours), len(offered & ours), told, tuple(apart(self.root)), same)

    def rescore(self, losses: Sequence[LossLike]) -> Results:
        """Compute more losses from the predictions and true values held, and keep them.

        A loss matrix comes as a loss, made by `parse_loss` with a way to read its file.
        """
        self._check_writable()
        with layout.locked(self.root):
            snapshot = read_snapshot(self.root)
            rebuild(snapshot, rescored(snapshot, losses))
        return self.load()

    def import_delve(
        self, directory: StrPath, facts_of: FactsOf, *, warn: Callable[[str], None] = lambda text: None
    ) -> int:
        """Take over the losses and guesses of DELVE's method directories; how many records there were.

        `facts_of` tells of a task from its address and its directory. Results of other cases than the
        task's are an error, before anything is taken over; `warn` is told of instances without losses.
        """
        count = 0
        found = [(one, facts_of(one.address, one.path)) for one in task_folders(Path(directory))]
        for text in [text for folder, task in found for text in check_folder(folder, task)]:
            warn(text)
        for folder, task in found:
            method = imported_method(Path(directory), folder.method)
            self.register({task.address: task}, {method.name: method})
            with closing(self.commits()) as commits:
                for record in imported_records(folder, task, method):
                    self.add(record, commits)
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
        for attempt in range(5):
            try:
                listed = [one.digests() for one in fresh_files(self.root / layout.FRESH)]
                fresh = {
                    one for each in listed for one, is_done in each.items() if is_done or not retry_failed
                }
                return frozenset(fresh | self._compacted(retry_failed=retry_failed))
            except LocationError:  # compacted meanwhile
                if attempt == 4:
                    raise
        raise AssertionError

    def retried(self, retry: str | None, limits: Limits) -> frozenset[str]:
        """The digests of failed records that are to be replaced: by `retry`, or because `limits` are wider.

        `retry` is "failed", "crashed", "all" or "none"; None is for jobs that ran out of time or memory, if
        they had less of it than they would have now.
        """
        if retry is not None:
            checked_retry(retry)
        if self.done() == self.done(retry_failed=True):
            return frozenset()
        heads = (entry.head for entry in read_snapshot(self.root).resolved.kept)
        failed = (head for head in heads if head.status != "done")
        return frozenset(head.digest for head in failed if is_to_be_retried(head, retry, limits))

    def _compacted(self, *, retry_failed: bool) -> set[str]:
        found: set[str] = set()
        files = read_manifest(self.root)
        for name in files_of(files, "jobs"):
            table = read_table(self.root / name, files[name]["sha256"], ["digest", "status"])
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
        kept = heads = read_snapshot(self.root).resolved.kept
        if digests is not None:
            heads = tuple(entry for entry in heads if entry.head.digest in digests)
        with reading_ahead(heads if methods is tasks is None else (), losses):
            chosen = choose(self.root, heads, methods, tasks, (self._methods, self._tasks))
        pooled = _pooled_tasks(chosen, losses)
        records = (
            entry.head.record(
                entry.source.loss_columns(entry.head, losses),
                self._answer(entry, chosen, answers or entry.head.job.task in pooled),
            )
            for entry in chosen.entries
        )
        races = races_on(self.root, chosen.tasks, [entry.head for entry in kept], self._called)
        looked = looked_before(self.root, races)
        results = Results(chosen.tasks, chosen.methods, tuple(records), races, looked)
        results = joined(results) if len(results.tasks) > 1 else results
        if not pooled:
            return results
        found = pooled_over_folds(results)
        bare = (one if answers else replace(one, answer=None) for one in found.records)
        return replace(found, records=tuple(bare))

    def beside(self, results: Results) -> Results:
        """The results together with those of all other methods on the same tasks, by the same losses.

        Of a method in several versions the last is taken; methods that came to no answer are left aside.
        """
        versions = self._others(results)
        if not versions:
            return self._with_aliases(results)
        tasks = [f"{address}@{facts.digest}" for address, facts in results.tasks.items()]
        load = partial(self.load, methods=[f"{name}@{one}" for name, one in versions.items()], tasks=tasks)
        losses = {code: (one.job.task, code) for one in results.records for code in one.losses}
        found = load()
        held = [one.losses for one in found.records if one.has_losses]
        if lacking := [place for code, place in losses.items() if any(code not in one for one in held)]:
            self.rescore([results.task(task).loss(code) for task, code in lacking])
            found = load()
        methods = {**results.methods, **found.methods}
        return self._with_aliases(
            replace(results, methods=methods, records=(*results.records, *found.records))
        )

    def _with_aliases(self, results: Results) -> Results:
        """The results with those of further methods on the same data under other names."""
        names = {} if len(task_paths(self.root)) == len(results.tasks) else aliases(self.root, results.tasks)
        if not names:
            return results
        there = self.load(tasks=list(names))
        return with_others(results, there, {one.partition("@")[0]: own for one, own in names.items()})

    def _others(self, results: Results) -> dict[str, str]:
        """The digests, by name, of methods that have answers on the same tasks and are not among these."""
        last: dict[str, tuple[str, str]] = {}
        for entry in read_snapshot(self.root).resolved.kept:
            head = entry.head
            known = results.tasks.get(head.job.task)
            is_other = head.job.method not in results.methods and head.status == "done"
            if is_other and known is not None and head.task_digest == known.digest:
                last[head.job.method] = max(
                    last.get(head.job.method, ("", "")), (head.started, head.method_digest)
                )
        return {name: version for name, (_, version) in last.items()}

    def _answer(self, entry: SnapshotEntry, chosen: Chosen, wanted: bool) -> object:
        if not wanted:
            return None
        targets = chosen.tasks[entry.head.job.task].targets
        return answer_of(targets, entry.source.answer_columns(entry.head), self.root, entry.head.job)


def _pooled_tasks(chosen: Chosen, losses: Collection[str] | None) -> set[str]:
    """The tasks with metrics that are computed anew from answers, such as those of all folds together."""
    codes: dict[str, set[str]] = {}
    for entry in chosen.entries:
        codes.setdefault(entry.head.job.task, set()).update(entry.head.losses)
    folded = {task for task in codes if chosen.tasks[task].scheme in FOLDED}
    return {
        task
        for task, known in codes.items()
        if (task in folded or any(code.startswith(RAISED_BY_FEW) for code in known))
        and pooled_metrics(chosen.tasks[task], known if losses is None else known.intersection(losses))
    }


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


Watch: TypeAlias = "Callable[[RecordStream, Sequence[Job]], RecordStream]"
"""Lets records pass and tells of them; it is given the jobs that are left to do, too."""


def carry_out(
    experiment: Experiment,
    archive: str | os.PathLike[str] | None = None,
    *,
    workers: WorkersLike = 1,
    retry: str | None = None,
    answers: bool = False,
    watch: Watch = lambda records, jobs: records,
) -> Results:
    """All results of an experiment; with an archive, what it holds is not done again.

    An archive is given every record as soon as it is made, and has it on the disk some hundredths of a second
    later; several processes share the work, and this one gives its claims back when it has read the results.
    Its `answers` are read only if they are wanted. Jobs that failed are done again as `Archive.retried` says.
    """
    from redelve.run.experiment import plan, run
    from redelve.run.workers import workers_for

    staffed = partial(workers_for, workers, threads=experiment.limits.threads)
    if retry is not None:
        checked_retry(retry)
    if archive is None:
        jobs = plan(experiment)
        with closing(staffed()) as staff, closing(watch(run(experiment, jobs, workers=staff), jobs)) as made:
            return experiment.results(list(made))
    kept = Archive.open(archive, create=True)
    kept.register(experiment.tasks, experiment.learners)
    commits, again = kept.commits(), kept.retried(retry, experiment.limits)
    with SharedWork(kept.root / layout.LEASES, kept.done, settle=commits.flush) as work:
        jobs = plan(experiment, done=work.known - again)
        with closing(commits), closing(staffed()) as staff:
            making = Passes(work, partial(run, experiment, workers=staff), experiment, jobs)
            with closing(watch(making, jobs)) as made:
                for record in made:
                    kept.add(record, commits)
        results = _loaded(kept, experiment, answers)
    sweep_leases(kept.root / layout.LEASES)
    return results


def keep_results(path: StrPath, results: Results) -> frozenset[tuple[str, str]]:
    """Keep results that were not made by an experiment, in place of others of the same methods and tasks.

    Returns the tasks and methods of which the archive held others.
    """
    kept = Archive.open(path, create=True)
    kept.register(results.tasks, results.methods)
    replaced = kept.put(results.records)
    heads = [entry.head for entry in read_snapshot(kept.root).entries]
    for task in results.tasks.values():
        if {head.job.method for head in heads if head.task_digest == task.digest} <= results.methods.keys():
            write_remarks(kept.root, task)
    return replaced


def _loaded(archive: Archive, experiment: Experiment, answers: bool) -> Results:
    """Everything in the archive that belongs to the experiment, by the losses that it asks for.

    Losses that the archive lacks are computed first. Answers are read where a metric of all folds together is
    the user's own, which the experiment alone can work out of them.
    """
    from redelve.run.experiment import plan

    archive._gather()
    digests = {experiment.digest(job) for job in plan(experiment)}
    methods, tasks = tuple(experiment.methods), tuple(experiment.assignments)
    wanted = chosen_losses(experiment.losses) if experiment.losses else ()
    codes = [one.code for one in wanted] or None
    asked = answers or any(not (one.mean_of_cases or one.is_builtin) for one in wanted)
    load = partial(archive.load, methods=methods, tasks=tasks, digests=digests, losses=codes, answers=asked)
    records = load().records
    answered = [one for one in records if one.status == "done" or one.fallback is not None]
    if lacking := [loss for loss in wanted if any(loss.code not in one.losses for one in answered)]:
        archive.rescore(lacking)
        records = load().records
    return replace(experiment.results(records), looked=looked_before(archive.root, ()))
