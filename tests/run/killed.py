"""A program that fills an archive and prints a line for each record; tests kill it and whoever works for it.

Called with the name of the executor, the archive's folder and the number of instances.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from redelve.methods.shown import TrainingSet
from redelve.run.cells import Limits
from redelve.run.experiment import Experiment
from redelve.run.results import Job, Record
from redelve.run.workers import slurm, workers_from
from redelve.store.archive import carry_out
from tests.run import toys
from tests.run.toys import Toy, toy_experiment

FINISHED = "finished"
COUNTS = {"processes": 2, "dask": 2, "slurm": 4}


def takes_a_blink(training: TrainingSet) -> None:
    time.sleep(0.03)


def experiment(instances: int) -> Experiment:
    """Four jobs for each instance; none of them ends in the same way as another."""
    behaviours = (None, takes_a_blink, toys.draws_global_numbers, toys.warns)
    methods = {getattr(one, "__name__", "quick"): Toy(one) for one in behaviours}
    return toy_experiment(methods, instances, limits=Limits(isolated=True))


def told(records: Iterator[Record], _: Sequence[Job]) -> Iterator[Record]:
    """Print a line for each record, before it is kept."""
    for record in records:
        print(record.digest, flush=True)
        yield record


def main(executor: str, archive: str, instances: str) -> None:
    slurm.ASKED_EVERY = 1.0  # a cluster of our own may be asked as often as we like
    slurm.LINGERS = 0.0
    workers = workers_from(executor, count=COUNTS[executor])
    carry_out(experiment(int(instances)), Path(archive), workers=workers, watch=told)  # type: ignore[arg-type]
    print(FINISHED)


if __name__ == "__main__":
    main(*sys.argv[1:])
