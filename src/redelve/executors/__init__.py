"""Who does the work: this process, processes of this machine, a cluster; any Executor will do."""

from redelve.executors.cluster import Dask
from redelve.executors.contract import Given, InProcess, Lent, Made, WorkerLost, Workers
from redelve.executors.named import workers_for, workers_from
from redelve.executors.processes import Processes
from redelve.executors.rota import Ongoing, as_they_end, batches_as_they_end

__all__ = [
    "Dask",
    "Given",
    "InProcess",
    "Lent",
    "Made",
    "Ongoing",
    "Processes",
    "WorkerLost",
    "Workers",
    "as_they_end",
    "batches_as_they_end",
    "workers_for",
    "workers_from",
]
