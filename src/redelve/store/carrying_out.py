"""The corridor from an experiment to its results: plan what is left, run it, keep every record, load."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from redelve.answers.losses import chosen_losses
from redelve.run.experiment import Experiment, plan, run
from redelve.run.results import Job, Record, Results
from redelve.run.workers import Ongoing, WorkersLike, workers_for
from redelve.store.archive import Archive

Records = Ongoing[Any, Record] | Generator[Record, None, None]
Watch = Callable[[Records, Sequence[Job]], Records]
"""Lets records pass and tells of them; it is given the jobs that are left to do, too."""


def carry_out(
    experiment: Experiment,
    archive: str | os.PathLike[str] | None = None,
    *,
    workers: WorkersLike = 1,
    retry_failed: bool = False,
    answers: bool = False,
    watch: Watch = lambda records, jobs: records,
) -> Results:
    """All results of an experiment; with an archive, what it holds is not done again.

    An archive keeps every record as soon as it is made. Its `answers` are read only if they are wanted.
    """
    kept = None if archive is None else Archive.open(archive, create=True)
    if kept is not None:
        facts = experiment.results(())
        kept.register(facts.tasks, facts.methods)
    jobs = plan(experiment, done=() if kept is None else kept.done(retry_failed=retry_failed))
    records: list[Record] = []
    with (
        closing(workers_for(workers, threads=experiment.limits.threads)) as staff,
        closing(watch(run(experiment, jobs, staff), jobs)) as made,
    ):
        for record in made:
            records.append(record) if kept is None else kept.add(record)
    return experiment.results(records) if kept is None else _loaded(kept, experiment, answers)


def _loaded(archive: Archive, experiment: Experiment, answers: bool) -> Results:
    """Everything in the archive that belongs to the experiment, by the losses that it asks for.

    Losses that the archive lacks are computed first.
    """
    archive.compact()
    digests = {experiment.digest(job) for job in plan(experiment)}
    methods, tasks = tuple(experiment.methods), tuple(experiment.assignments)
    wanted = chosen_losses(experiment.losses) if experiment.losses else ()
    codes = [one.code for one in wanted] or None
    load = partial(archive.load, methods=methods, tasks=tasks, digests=digests, losses=codes, answers=answers)
    records = load().records
    if lacking := [one for one in wanted if any(_lacks(of, one.code) for of in records)]:
        archive.rescore(lacking)
        records = load().records
    return experiment.results(records)


def _lacks(record: Record, code: str) -> bool:
    """Whether a job that came to an answer has no such loss."""
    return code not in record.losses and (record.status == "done" or record.fallback is not None)
