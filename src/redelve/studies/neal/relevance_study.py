"""The whole study: what its archive lacks is run, then findings, questions and printed digits are judged."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from pathlib import Path

import numpy as np

from redelve.errors import RedelveError
from redelve.findings import Findings, TaskFindings, find
from redelve.nets import Engine
from redelve.run.experiment import Experiment
from redelve.run.progress import RecordStream, told_by_groups
from redelve.run.results import Job, Record, Results
from redelve.store.archive import carry_out
from redelve.studies import ARCHIVE
from redelve.studies.neal.paper_findings import (
    FINDINGS,
    QUESTIONS,
    Duel,
    JudgedFinding,
    judge,
    look_in,
)
from redelve.studies.neal.relevance_plan import NealPlan
from redelve.studies.neal.tested_methods import StudiedMethod

Progress = Callable[[str], None]
COVERED = "covered"
"""What a record tells: the share of its test cases in the central 90 % interval."""
INTERVAL = 0.9


@dataclass(frozen=True)
class NealStudy:
    """Everything that was found; what is judged is computed when somebody asks."""

    plan: NealPlan
    results: Results = field(repr=False)
    passes: Mapping[str, int | None] = field(repr=False)
    """Passes over the training cases by method; None where nobody counts them."""
    device: str = "cpu"

    @cached_property
    def findings(self) -> Findings:
        """Expected losses and comparisons."""
        return find(self.results, "S")

    @cached_property
    def tasks(self) -> Mapping[tuple[str, int], TaskFindings]:
        """What was found on each task, by prototask and size."""
        return {(prototask_of(one), one.task.training_set_size): one for one in self.findings.tasks}

    @cached_property
    def duels(self) -> Mapping[tuple[str, str, str, int], Duel]:
        """Every comparison, in both directions."""
        found = {}
        for place, task in self.tasks.items():
            for first, second in permutations([one.method for one in task.methods], 2):
                if (duel := duel_of(task, first, second, *place)) is not None:
                    found[first, second, *place] = duel
        return found

    @cached_property
    def judged(self) -> tuple[JudgedFinding, ...]:
        """The six findings."""
        return tuple(judge(one, look_in(self.duels)) for one in FINDINGS)

    @cached_property
    def answered(self) -> tuple[JudgedFinding, ...]:
        """The open questions."""
        return tuple(judge(one, look_in(self.duels)) for one in QUESTIONS)

    @cached_property
    def coverage(self) -> Mapping[tuple[str, str], np.ndarray]:
        """Shares covered, one of each training set, by method and prototask."""
        found: dict[tuple[str, str], list[float]] = {}
        for record in self.results.records:
            if COVERED in record.told:
                place = record.job.method, record.job.task.strip("/").rpartition("/")[0]
                found.setdefault(place, []).append(float(record.told[COVERED]))
        return {place: np.array(shares) for place, shares in found.items()}


def prototask_of(task: TaskFindings) -> str:
    """As in kin-8nm/dist."""
    return task.task.address.strip("/").rpartition("/")[0]


def duel_of(task: TaskFindings, first: str, second: str, prototask: str, size: int) -> Duel | None:
    """A comparison with the first method as the one that is claimed to be better."""
    contest = task.by_pair.get(frozenset((first, second)))
    losses = [task.method(name).standardised for name in (first, second)]
    if contest is None or contest.p_value is None or None in losses or not contest.standard_error:
        return None
    sign = 1 if contest.first == first else -1
    statistic = sign * (contest.difference or 0.0) / contest.standard_error
    return Duel(
        prototask, size, first, second, (losses[0] or 0.0, losses[1] or 0.0), statistic, contest.p_value
    )


def make_study(
    plan: NealPlan,
    *,
    engine: Engine | None = None,
    folder: Path | None = None,
    workers: int = 1,
    progress: Progress = lambda _: None,
) -> NealStudy:
    """Run what is missing, and tell everything.

    With a folder, records are kept in its archive, and those that it holds are not made again. `workers`
    processes share the work. On a device each of them does a method at a time and all its training sets at
    once: they take turns on the device, and one scores what it made while another trains.
    """
    used = engine or Engine()
    _ = used.xp  # what is missing is told before anything is run
    experiment = plan.experiment(used)
    results = carry_out(
        experiment,
        None if folder is None else folder / ARCHIVE,
        workers=workers,
        retry="all",
        watch=lambda records, jobs: _watched(experiment, records, jobs, progress),
    )
    for record in results.records:
        if record.status != "done":
            raise RedelveError(f"{record.job} {record.status}: {record.message}")
    return NealStudy(plan, results, _passes(experiment), used.device)


def _passes(experiment: Experiment) -> dict[str, int | None]:
    found = {}
    for name, method in experiment.methods.items():
        studied = getattr(method, "inner", method) if not isinstance(method, StudiedMethod) else method
        found[name] = getattr(studied, "passes", None)
    return found


def _watched(
    experiment: Experiment, records: RecordStream, jobs: Sequence[Job], progress: Progress
) -> Generator[Record, None, None]:
    """Records without their distributions, which would take gigabytes, but with how many cases they cover."""
    groups = {job: f"{job.method} on {job.task}" for job in jobs}

    def thinned() -> Generator[Record, None, None]:
        with closing(records):
            for record in records:
                yield _thinned(record, experiment)

    return told_by_groups(thinned(), jobs, groups, progress)


def _thinned(record: Record, experiment: Experiment) -> Record:
    answer = record.answer
    if answer is None or answer.distributions is None:
        return record
    pairs = zip(experiment.truths(record.job), answer.distributions.distributions, strict=True)
    below = np.array([one.probability_below(truth.values) for truth, one in pairs])
    inside = (np.abs(below - 0.5) <= INTERVAL / 2).all(axis=0)
    told = {**record.told, COVERED: float(inside.mean())}
    return replace(record, told=told, answer=replace(answer, distributions=None))
