"""A study's experiment, carried out: what its archive holds is not done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from redelve.run.experiment import Experiment, plan, run
from redelve.run.results import Job, Record, Results
from redelve.run.workers import Workers
from redelve.store import Archive

ARCHIVE = "archive"
"""What the archive of a study is called in the study's folder."""


def carry_out(
    experiment: Experiment,
    folder: Path | None,
    *,
    workers: Workers | None = None,
    answers: bool = False,
    began: Callable[[Sequence[Job]], None] = lambda _: None,
    ended: Callable[[Record], None] = lambda _: None,
) -> Results:
    """All results of an experiment; a folder's archive keeps every record as it is made.

    `began` is told what is left to do, `ended` every record. `answers` are read from the archive only if
    they are wanted. Jobs that failed are tried again.
    """
    archive = None if folder is None else Archive.open(folder / ARCHIVE, create=True)
    if archive is not None:
        described = experiment.results(())
        archive.register(described.tasks, described.methods)
    jobs = plan(experiment, done=() if archive is None else archive.done(retry_failed=True))
    began(jobs)
    made: list[Record] = []
    for record in run(experiment, jobs, workers) if jobs else ():
        if archive is None:
            made.append(record)
        else:
            archive.add(record)
        ended(record)
    if archive is None:
        return experiment.results(made)
    if jobs:
        archive.compact()
    digests = {experiment.digest(job) for job in plan(experiment)}
    methods, tasks = tuple(experiment.methods), tuple(experiment.assignments)
    return archive.load(methods=methods, tasks=tasks, digests=digests, answers=answers)
