"""The main job: methods on tasks, with honest uncertainty; from here to a table, a comparison, a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from redelve.data.tasks import TaskLike, assignments_for
from redelve.errors import SpecError
from redelve.findings import Contest, Findings, compare_methods, find
from redelve.findings.coverage import coverage_of
from redelve.findings.over_runs import Validation, many_runs
from redelve.findings.result_frames import (
    cases_frame,
    contests_frame,
    coverage_frame,
    findings_frame,
    jobs_frame,
    runs_frame,
)
from redelve.methods.adapters.adapt import as_method
from redelve.methods.contract import METHODS, Method, default_methods
from redelve.report.context import AttributeRow, DataDescription, ReportContext
from redelve.run.cells import Limits
from redelve.run.experiment import LEAVE_OUT, Experiment, assignment_targets, plan, run
from redelve.run.progress import shown
from redelve.run.results import Record, Results
from redelve.run.workers import Workers, workers_for
from redelve.store import Archive

if TYPE_CHECKING:
    import os

    import pandas as pd

MethodsLike = Mapping[str, Any] | Iterable[str] | None
"""Methods by name, of any kind `as_method` knows; or names of built-in ones; or None for a sensible set."""


class Options(TypedDict, total=False):
    """How an assessment is carried out; every option may be left out."""

    sizes: Sequence[int] | None
    """Training-set sizes to choose among those of the tasks."""
    losses: Sequence[str] | None
    """Codes of the losses to compute; all that apply if left out."""
    runs: int
    """Runs with different seeds on every training set; 2 or more tell seeds from training sets."""
    workers: int | str | Workers
    """1: this process; a number: so many processes; "dask" or an address such as tcp://host:8786."""
    limits: Limits
    """What a job may use: seconds, memory, threads; a process of its own."""
    on_failure: str
    """"leave out" or "baseline": what becomes of jobs that fail."""
    archive: str | os.PathLike[str] | None
    """A folder in which records are kept, so that work goes on where it was stopped."""
    progress: bool
    """Whether to show a progress bar on standard error."""


@dataclass(frozen=True)
class Contests:
    """Two methods compared on one or more tasks; printed, it reads like a paragraph of a paper."""

    tasks: tuple[str, ...]
    losses: tuple[str, ...]
    contests: tuple[Contest, ...]

    def __iter__(self) -> Iterator[Contest]:
        return iter(self.contests)

    def __len__(self) -> int:
        return len(self.contests)

    def __getitem__(self, position: int) -> Contest:
        return self.contests[position]

    def frame(self) -> pd.DataFrame:
        """A row for every task."""
        return contests_frame(list(zip(self.tasks, self.losses, self.contests, strict=True)))

    def __str__(self) -> str:
        return "\n".join(
            f"{task} ({loss}): {contest}"
            for task, loss, contest in zip(self.tasks, self.losses, self.contests, strict=True)
        )


@dataclass(frozen=True)
class Assessment:
    """The results of an assessment, and everything that can be asked of them.

    `loss` is the code of the loss to judge by; None: squared error, or zero-one where classes are predicted.
    """

    results: Results
    loss: str | None = None
    archive: Path | None = None
    data: tuple[DataDescription, ...] = field(default=(), repr=False)

    def judged_by(self, loss: str | None) -> Assessment:
        """The same results judged by another loss."""
        return replace(self, loss=loss)

    @cached_property
    def findings(self) -> Findings:
        """Expected losses, comparisons, curves, costs and validity notes."""
        return find(self.results, self.loss)

    def compare(self, first: str, second: str, task: str | None = None) -> Contests:
        """Two methods on every task, or on one: differences, intervals and p-values of valid paired tests."""
        chosen = [self._address(task)] if task is not None else list(self.results.tasks)
        contests = [compare_methods(self.results, first, second, address, self.loss) for address in chosen]
        codes = [self.findings.task(address).loss for address in chosen]
        return Contests(tuple(chosen), tuple(codes), tuple(contests))

    def frame(self) -> pd.DataFrame:
        """A row for every task and method: expected loss, standard error, interval, standard deviations."""
        return findings_frame(self.findings.tasks)

    def cases(self) -> pd.DataFrame:
        """A row for every job and test case with all its losses."""
        return cases_frame(self.results)

    def jobs(self) -> pd.DataFrame:
        """A row for every job: status, costs, and what its method told of its training."""
        return jobs_frame(self.results)

    def coverage(self, level: float = 0.9) -> pd.DataFrame:
        """How often the central intervals of predictive distributions hold the truth."""
        return coverage_frame(coverage_of(self._with_answers(), level))

    def runs(self, validation: Validation | None = None) -> pd.DataFrame:
        """Statistics over the runs on tasks with one training and one test set (PROBEN1, section 2.8).

        `validation` holds validation errors by method and number of the run, by which the best run is chosen.
        """
        found = [many_runs(self.results, task, validation) for task in self.findings.tasks]
        return runs_frame([one for one in found if one is not None])

    def error_percentages(self, output_range: tuple[float, float] = (0.0, 1.0)) -> pd.DataFrame:
        """PROBEN1's errors of every job: squared error percentage, winner-takes-all, thresholds (2.6)."""
        from redelve.findings.error_percentages import errors_frame

        return errors_frame(self._with_answers(), output_range=output_range)

    def report(self, path: str | os.PathLike[str], *, command: str = "") -> Path:
        """Write what was found: .html, .md or .tex by the name's ending, or a folder with everything."""
        from redelve.report.write import write_report

        about = ReportContext(
            command=command,
            data=self.data,
            archive="" if self.archive is None else self.archive.name,
            version=version("redelve"),
        )
        return write_report(self.findings, Path(path), about=about)

    def __str__(self) -> str:
        from redelve.report.text import summarise

        return summarise(self.findings)

    def _address(self, task: str) -> str:
        return self.results.task(task if task.startswith("/") else f"/{task}").address

    def _with_answers(self) -> Results:
        """The results with their predictions, which an archive gives only when they are asked for."""
        if self.archive is None:
            return self.results
        digests = {record.digest for record in self.results.records}
        loaded = Archive.open(self.archive).load(digests=digests, answers=True)
        return replace(self.results, records=loaded.records)


def assess(
    methods: MethodsLike, tasks: TaskLike | Iterable[TaskLike], **options: Unpack[Options]
) -> Assessment:
    """Run the methods on the tasks and analyse what comes of it.

    `methods` are scikit-learn estimators, functions, programs or names of built-in methods; `tasks` are
    addresses such as "kin-8nm/dist" or tables made ready by `from_frame` or `from_file`. With an archive,
    jobs that it holds already are not done again.
    """
    experiment = experiment_for(methods, tasks, **options)
    archive = options.get("archive")
    records = carry_out(experiment, **options)
    data = described(experiment)
    if archive is None:
        return Assessment(experiment.results(records), data=data)
    return Assessment(kept_results(experiment, Path(archive), records), archive=Path(archive), data=data)


def described(experiment: Experiment) -> tuple[DataDescription, ...]:
    """The datasets of an experiment in words, with the attributes that its tasks use."""
    found: dict[str, DataDescription] = {}
    for one in experiment.assignments.values():
        prior = one.task.prior
        roles = [(attribute, "input") for attribute in one.data.inputs]
        roles += [(attribute, "target") for attribute in one.data.targets]
        rows = tuple(
            AttributeRow(
                attribute.name,
                role,
                prior.attribute(attribute.number).type,
                str(attribute.range),
                attribute.description,
            )
            for attribute, role in roles
        )
        spec = one.dataset
        found.setdefault(spec.name, DataDescription(spec.name, spec.title or "", attributes=rows))
    return tuple(found.values())


def experiment_for(
    methods: MethodsLike, tasks: TaskLike | Iterable[TaskLike], **options: Unpack[Options]
) -> Experiment:
    """What is to be done, checked as far as it can be before anything is done."""
    assignments = assignments_for(tasks, sizes=options.get("sizes"))
    targets = {target for one in assignments.values() for target in assignment_targets(one)}
    losses = options.get("losses")
    return Experiment(
        named_methods(methods if methods is not None else default_methods(tuple(targets))),
        assignments,
        runs=options.get("runs", 1),
        losses=None if losses is None else tuple(losses),
        limits=options.get("limits", Limits()),
        on_failure=options.get("on_failure", LEAVE_OUT),
    )


def named_methods(methods: Mapping[str, Any] | Iterable[str]) -> dict[str, Method]:
    """Methods by name, made from whatever was given for them."""
    if isinstance(methods, Mapping):
        return {check_name(name): as_method(one) for name, one in methods.items()}
    if isinstance(methods, str):
        methods = (methods,)
    found = {}
    for one in methods:
        if not isinstance(one, str):
            raise SpecError(
                f"a method without a name was given ({type(one).__name__}): give a dictionary of names and "
                'methods, as in {"ridge": Ridge()}'
            )
        found[one] = METHODS[one]
    return found


def check_name(name: object) -> str:
    """A method's name, which is also the name of folders and a part of addresses."""
    if not isinstance(name, str) or not name or name[0] in ".-" or any(c in name for c in "/\\\0\n\t "):
        raise SpecError(
            f"bad name of a method: {name!r}; use letters, digits, dots and dashes, as in forest-500"
        )
    return name


def carry_out(experiment: Experiment, **options: Unpack[Options]) -> Iterator[Record]:
    """The records of all jobs not done yet; with an archive each is kept as soon as it is made."""
    place = options.get("archive")
    archive = None if place is None else Archive.open(Path(place), create=True)
    done: frozenset[str] = frozenset()
    if archive is not None:
        described = experiment.results(())
        archive.register(described.tasks, described.methods)
        done = archive.done()
    jobs = plan(experiment, done=done)
    workers = workers_for(options.get("workers", 1), threads=experiment.limits.threads)
    records: Iterator[Record] = run(experiment, jobs, workers)
    try:
        for record in shown(records, len(jobs)) if options.get("progress") else records:
            if archive is not None:
                archive.add(record)
            yield record
    finally:
        workers.close()


def kept_results(experiment: Experiment, path: Path, records: Iterable[Record]) -> Results:
    """Do what is left to do, then read everything that belongs to the experiment from its archive."""
    for _ in records:
        pass
    archive = Archive.open(path)
    archive.compact()
    digests = {experiment.digest(job) for job in plan(experiment)}
    loaded = archive.load(digests=digests).records
    wanted = experiment.losses or ()
    if lacking := [code for code in wanted if any(one.losses and code not in one.losses for one in loaded)]:
        archive.rescore(lacking)
        loaded = archive.load(digests=digests).records
    return experiment.results(loaded)
