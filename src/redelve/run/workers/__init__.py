"""Who does the work: this process, processes of this machine, a cluster; any Executor will do."""

from redelve.run.workers.cluster import Dask
from redelve.run.workers.named import workers_for, workers_from
from redelve.run.workers.processes import Processes
from redelve.run.workers.rota import Ongoing, as_they_end, batches_as_they_end
from redelve.run.workers.worker_contract import Given, InProcess, Lent, Made, WorkerLost, Workers

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
