"""Plan and run: experiments, jobs and records, workers, cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from redelve.registry import Registry, ValueKind

if TYPE_CHECKING:
    from redelve.run.workers.worker_contract import Workers

EXECUTORS: Registry[Callable[..., Workers]] = Registry(
    "executor", "redelve.executors", of=ValueKind("a function or class that makes workers", callable)
)
"""What makes workers, by name: a class or function that takes by keyword what it can use of `count`,
`threads` (of BLAS and OpenMP in each) and `scheduler` (an address). A `count` of None is its choice.
They are registered here by place, so that their names can be listed before any of them is imported."""

EXECUTORS.add("serial", "redelve.run.workers.handing_out:serial")
EXECUTORS.add("processes", "redelve.run.workers.processes:Processes")
EXECUTORS.add("loky", "redelve.run.workers.lent:loky_workers")
EXECUTORS.add("dask", "redelve.run.workers.cluster:Dask")
EXECUTORS.add("slurm", "redelve.run.workers.slurm:Slurm")
