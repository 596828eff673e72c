"""A study's experiment, carried out: what its archive holds is not done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from redelve.run.experiment import Experiment, plan, run
from redelve.run.results import Job, Record, Results
from redelve.run.workers import workers_for
from redelve.store import Archive

ARCHIVE = "archive"
"""What the archive of a study is called in the study's folder."""


def carry_out(
    experiment: Experiment,
    folder: Path | None,
    *,
    workers: int = 1,
    answers: bool = False,
    began: Callable[[Sequence[Job]], None] | None = None,
    ended: Callable[[Record, Sequence[Job]], None] = lambda *_: None,
) -> Results:
    """All results of an experiment; a folder's archive keeps every record as it is made.

    `began` is told what is left to do, `ended` that and every record. `answers` are read from the archive
    only if they are wanted. Jobs that failed are tried again.
    """
    archive = None
    if folder is not None:
        described = experiment.results(())
        archive = Archive.open(folder / ARCHIVE, create=True)
        archive.register(described.tasks, described.methods)
    jobs = plan(experiment, done=() if archive is None else archive.done(retry_failed=True))
    if began is not None:
        began(jobs)
    made: list[Record] = []
    for record in run(experiment, jobs, workers_for(workers)) if jobs else ():
        if archive is None:
            made.append(record)
        else:
            archive.add(record)
        ended(record, jobs)
    if archive is None:
        return experiment.results(made)
    if jobs:
        archive.compact()
    digests = {experiment.digest(job) for job in plan(experiment)}
    methods, tasks = tuple(experiment.methods), tuple(experiment.assignments)
    return archive.load(methods=methods, tasks=tasks, digests=digests, answers=answers)
