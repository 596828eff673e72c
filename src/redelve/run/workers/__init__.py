"""Who does the work: this process, processes of this machine, a cluster; any Executor will do."""

from redelve.run import EXECUTORS
from redelve.run.workers.cluster import Dask
from redelve.run.workers.handing_out import (
    InProcess,
    Ongoing,
    WorkersLike,
    as_they_end,
    batches_as_they_end,
    workers_for,
    workers_from,
)
from redelve.run.workers.lent import Lent, loky_workers
from redelve.run.workers.processes import Processes
from redelve.run.workers.worker_contract import Given, Made, WorkerLost, Workers

__all__ = [
    "EXECUTORS",
    "Dask",
    "Given",
    "InProcess",
    "Lent",
    "Made",
    "Ongoing",
    "Processes",
    "WorkerLost",
    "Workers",
    "WorkersLike",
    "as_they_end",
    "batches_as_they_end",
    "loky_workers",
    "workers_for",
    "workers_from",
]
