"""Trials: a classifier on a training set, guesses by every way, and the truth from many test cases."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from redelve.errors import RedelveError, SpecError
from redelve.performance import PerformanceGuess, parse_way
from redelve.run.cells import Limits
from redelve.run.experiment import Experiment
from redelve.run.progress import RecordStream
from redelve.run.results import Job, Record, Results
from redelve.stats.balanced_errors import balanced_errors
from redelve.store.archive import carry_out
from redelve.studies import ARCHIVE
from redelve.studies.wcci.classifiers import CLASSIFIERS, SELECTION, GuessedClassifier, guess_of
from redelve.studies.wcci.two_class_problems import LABELS, PROBLEMS
from redelve.studies.wcci.two_class_tasks import task_of

WAYS = (
    "apparent", "holdout:0.3", "kfold:2", "kfold:5", "kfold:10", "kfold-naive:10", "kfold:20", "loo",
    "repeated:10x5", "bootstrap:100", "632:100", "632+:100", "nested:5x5", "combined:10x5x100", "vc",
    "compression", "rademacher:5",
)  # fmt: skip
SELECTION_WAYS = ("uncorrected:10", "tibshirani:10", "bbc:10x500", "kfold:5")
"""k-fold of the choosing itself is nested cross-validation for model selection."""
QUICK_WAYS = ("apparent", "holdout:0.3", "kfold:2", "kfold:5", "kfold:10", "632+:20", "vc")
QUICK_SELECTION_WAYS = ("uncorrected:10", "tibshirani:10", "bbc:10x500")
USUAL_CLASSIFIERS = ("logistic", "svm", "tree")


@dataclass(frozen=True)
class TrialTask:
    """A classifier, or the choice among several, on one training set of a problem."""

    problem: str
    classifier: str
    instance: int


@dataclass(frozen=True)
class Tried:
    """What came of a task: the true BER on the test cases, its σ (equation 1), and the guesses."""

    task: TrialTask
    truth: float
    sigma: float
    training_cases: int
    test_cases: int
    guesses: tuple[PerformanceGuess, ...]


@dataclass(frozen=True)
class WcciPlan:
    """What is tried: every problem, classifier and instance, by these ways."""

    problems: tuple[str, ...] = ("twonorm", "ringnorm", "words", "rare", "digits")
    classifiers: tuple[str, ...] = (*USUAL_CLASSIFIERS, SELECTION)
    instances: int = 10
    ways: tuple[str, ...] = WAYS
    selection_ways: tuple[str, ...] = SELECTION_WAYS

    def __post_init__(self) -> None:
        for name in self.problems:
            PROBLEMS[name]
        known = (*CLASSIFIERS, SELECTION)
        for name in self.classifiers:
            if name not in known:
                raise SpecError(f'unknown classifier "{name}": known are {", ".join(known)}')
        if self.instances < 2:
            raise SpecError(f"standard errors need two instances or more: got {self.instances}")

    def method(self, classifier: str) -> GuessedClassifier:
        """A classifier with the ways that are tried on it."""
        ways = self.selection_ways if classifier == SELECTION else self.ways
        return GuessedClassifier(classifier, tuple(parse_way(way).name for way in ways))

    def tasks(self) -> tuple[TrialTask, ...]:
        """Instance by instance, so that whatever is done when a run is stopped can be compared."""
        return tuple(
            TrialTask(problem, classifier, instance)
            for instance in range(self.instances)
            for problem in self.problems
            for classifier in self.classifiers
        )

    def trials(self) -> dict[Job, TrialTask]:
        """The job of each task, in order."""
        addresses = {name: task_of(name, self.instances).address for name in self.problems}
        return {Job(addresses[one.problem], one.classifier, one.instance): one for one in self.tasks()}

    def experiment(self) -> Experiment:
        """All of it as jobs; a job's seed is the number of its training set."""
        tasks = [task_of(name, self.instances) for name in self.problems]
        return Experiment(
            {name: self.method(name) for name in self.classifiers},
            {task.address: task for task in tasks},
            losses=("Z",),
            limits=Limits(isolated=False),
            jobs={job: job.instance for job in self.trials()},
        )


QUICK = WcciPlan(
    problems=("twonorm", "rare"),
    classifiers=("logistic", "nearest", SELECTION),
    instances=2,
    ways=QUICK_WAYS,
    selection_ways=QUICK_SELECTION_WAYS,
)


def make_trials(
    plan: WcciPlan, folder: Path, progress: Callable[[str], None] = lambda _: None
) -> tuple[Tried, ...]:
    """Do what the folder's archive has not yet, and tell everything in the order of the tasks."""
    trials = plan.trials()
    told = _TrialProgress(trials, progress)
    results = carry_out(plan.experiment(), folder / ARCHIVE, retry="all", watch=told.watch)
    records = {record.job: record for record in results.records}
    return tuple(_tried(task, records[job], results, plan) for job, task in trials.items())


def _tried(task: TrialTask, record: Record, results: Results, plan: WcciPlan) -> Tried:
    if record.status != "done":
        raise RedelveError(f"{record.job} {record.status}: {record.message}")
    facts = results.task(record.job.task).instances[task.instance]
    labels = np.array(LABELS)[facts.truths[0].level_indexes]
    found = balanced_errors(labels, np.where(record.losses["Z"] > 0, -labels, labels))
    guesses = tuple(guess_of(record.told, way) for way in plan.method(task.classifier).ways)
    return Tried(task, found.ber, found.standard_error, facts.training_set_size, len(labels), guesses)


class _TrialProgress:
    """Tells of each trial when its turn has come."""

    def __init__(self, trials: dict[Job, TrialTask], tell: Callable[[str], None]) -> None:
        self._tell, self._total = tell, len(trials)
        self._numbered = {job: (number, task) for number, (job, task) in enumerate(trials.items(), 1)}

    def watch(self, records: RecordStream, jobs: Sequence[Job]) -> Generator[Record, None, None]:
        """The same records; a trial is told of when the one before has been kept."""
        self._waiting = iter(jobs)
        self._next()
        with closing(records):
            for record in records:
                yield record
                self._next()

    def _next(self) -> None:
        if (job := next(self._waiting, None)) is not None:
            number, task = self._numbered[job]
            self._tell(f"{number} of {self._total}: {task.problem}, {task.classifier}, {task.instance}")
