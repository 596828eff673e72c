"""Settings of a network as methods of one experiment: trained together, method by method, job by job."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterable
from itertools import groupby, product
from typing import Any

import numpy as np

from benchmarks.timing import Row
from redelve.data.tasks import assignments_for
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.run.cells import Limits, let_go
from redelve.run.experiment import Experiment, grouped, pack_together, perform_batch, plan
from redelve.run.results import Job

COMMAND = "OPENBLAS_NUM_THREADS=1 python -m benchmarks settings"
TASK, SETTINGS = "demo/age/std.64", (4, 32)


def experiment_of(count: int, *, isolated: bool) -> Experiment:
    """`count` weight decays on the instances of a task."""
    from redelve.methods.batched import BatchedMLPRegressor

    alphas = np.geomspace(1e-3, 10, count)
    estimators = {f"{alpha:.3g}": BatchedMLPRegressor((8,), alpha=alpha) for alpha in alphas}
    methods = {name: sklearn_method(one, inputs="encoded") for name, one in estimators.items()}
    return Experiment(methods, assignments_for(TASK), limits=Limits(isolated=isolated))


def by_method(jobs: Iterable[Job]) -> list[list[Job]]:
    """As batches of one method each."""
    ordered = sorted(jobs, key=lambda job: job.method)
    return [list(own) for _, own in groupby(ordered, key=lambda job: job.method)]


def cpu() -> float:
    """CPU seconds of this process and of the cells that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def seconds(experiment: Experiment, pieces: Iterable[list[Job]]) -> tuple[float, dict[Job, Any]]:
    """The CPU seconds of all jobs, and their losses."""
    begin, found = cpu(), {}
    for piece in pieces:
        for record in perform_batch(pack_together(experiment, piece)):
            found[record.job] = {code: loss.tolist() for code, loss in record.losses.items()}
    let_go()
    return cpu() - begin, found


def rows_of(count: int, *, isolated: bool) -> list[Row]:
    experiment = experiment_of(count, isolated=isolated)
    jobs = plan(experiment)
    ways: dict[str, Callable[[], Iterable[list[Job]]]] = {
        "together": lambda: grouped(experiment, jobs),
        "method by method": lambda: by_method(jobs),
        "job by job": lambda: [[job] for job in jobs],
    }
    best, losses = dict.fromkeys(ways, float("inf")), []
    for _ in range(2):
        for name, pieces in ways.items():
            took, found = seconds(experiment, pieces())
            best[name] = min(best[name], took)
            losses.append(found)
    assert all(each == losses[0] for each in losses), "records depend on the batch"
    where = "each batch in a process of its own" if isolated else "in one process"
    return [
        {
            "name": f"settings: {count} decays × {len(jobs) // count} training sets, {where} (CPU seconds)",
            "ours": best["together"],
            "alternative": best[name],
            "against": f"the same {name}",
            "ratio": best["together"] / best[name],
            "bound": None,
            "command": COMMAND,
        }
        for name in ways
        if name != "together"
    ]


def run() -> list[Row]:
    pairs = product((False, True), SETTINGS)
    return [row for isolated, count in pairs for row in rows_of(count, isolated=isolated)]
