"""Small jobs: what redelve takes itself for each, in process and in cells, and what a second worker brings.

A job of about 1 ms (built-in lin-1, scikit-learn's Ridge) on 128 cases. What redelve takes is the time of a
job among many less that of the method's own learning and predicting in a bare loop, taken in turns with it:
by the clock and in processor time of all processes. The bounds are for a quiet machine of two cores.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge

from benchmarks.timing import Row
from redelve.data.tasks import assignments_for
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.contract import METHODS, Method, Predictor
from redelve.methods.shown import TrainingSet
from redelve.run.cells import Limits, let_go
from redelve.run.experiment import Experiment, lessons_of, plan
from redelve.run.experiment import run as carry_out
from redelve.run.results import Job
from redelve.run.workers import InProcess, Processes, Workers

COMMAND = "python -m benchmarks small_jobs"
TASK = "demo/age/std.128"
ROUNDS = 3
RUNS = 12
"""Times the task's eight instances are a round's jobs."""
BOUND_IN_PROCESS, BOUND_ISOLATED, BOUND_SPEED_UP = 0.3e-3, 5e-3, 1.7


@dataclass(frozen=True)
class Busy(Method):
    """The built-in lin-1 after so many seconds of arithmetic."""

    seconds: float = 0.005
    summary = "lin-1, later"
    identity = {"kind": "busy lin-1"}  # noqa: RUF012

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            pass
        return METHODS["lin-1"].learn(training, rng)


def spent() -> float:
    """Processor time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(action: Callable[[], object]) -> np.ndarray:
    """Seconds by the clock, and of processor time."""
    before = np.array([time.perf_counter(), spent()])
    action()
    return np.asarray(np.array([time.perf_counter(), spent()]) - before)


def a_job(method: Method, isolated: bool, workers: Callable[[], Workers] = InProcess) -> np.ndarray:
    """What a job takes among many: those of many runs less those of one, so that no start counts."""
    took, counts = [], []
    for runs in (1, 1 + RUNS):
        experiment = Experiment(
            {"small": method}, assignments_for(TASK), runs=runs, limits=Limits(isolated=isolated)
        )
        jobs = plan(experiment)

        def work(experiment: Experiment = experiment, jobs: Sequence[Job] = jobs) -> None:
            list(carry_out(experiment, jobs, workers()))
            let_go()  # what rests would begin before the next clock, and its time is told when it ends

        took.append(timed(work))
        counts.append(len(jobs))
    return np.asarray((took[1] - took[0]) / (counts[1] - counts[0]))


def bare(method: Method) -> np.ndarray:
    """What the method takes itself in a loop; each time it is shown cases that it has not seen."""
    (one,) = assignments_for(TASK).values()
    lessons = [lessons_of(one, instance) for _ in range(RUNS) for instance in one.instances]

    def loop() -> None:
        for training, inputs in lessons:
            method.learn(training, np.random.default_rng(1)).predict(inputs)

    return np.asarray(timed(loop) / len(lessons))


def own_rows(name: str, method: Method, isolated: bool, bound: float) -> list[Row]:
    """What redelve takes for a job beside the method: the medians of rounds in turns."""
    rounds = [a_job(method, isolated) - bare(method) for _ in range(ROUNDS)]
    wall, cpu = (statistics.median(one[kind] for one in rounds) for kind in (0, 1))
    against = f"the {1e3 * bound:g} ms it may take"
    rows = [("seconds", wall, bound), ("seconds of CPU, all processes", cpu, None)]
    return [
        {
            "name": f"redelve's own part of a small job, {name} ({unit})",
            "ours": value,
            "alternative": bound,
            "against": against,
            "ratio": value / bound,
            "bound": None if kept is None else 1.0,
            "command": COMMAND,
        }
        for unit, value, kept in rows
    ]


def speed_up_row(isolated: bool, bound: float | None) -> Row:
    """Two workers against one, with jobs of 5 ms: how much of the time is left."""
    where = "isolated" if isolated else "not isolated"
    rounds = [(a_job(Busy(), isolated, lambda: Processes(2)), a_job(Busy(), isolated)) for _ in range(ROUNDS)]
    return {
        "name": f"jobs of 5 ms with two workers, {where} (seconds a job)",
        "ours": statistics.median(two[0] for two, _ in rounds),
        "alternative": statistics.median(one[0] for _, one in rounds),
        "against": "one worker",
        "ratio": statistics.median(two[0] / one[0] for two, one in rounds),
        "bound": bound,
        "command": COMMAND,
    }


def run() -> list[Row]:
    lin, ridge = METHODS["lin-1"], sklearn_method(Ridge(), inputs="encoded")
    return [
        *own_rows("in process", lin, False, BOUND_IN_PROCESS),
        *own_rows("isolated, numpy", lin, True, BOUND_ISOLATED),
        *own_rows("isolated, scikit-learn", ridge, True, BOUND_ISOLATED),
        speed_up_row(False, 1 / BOUND_SPEED_UP),
        speed_up_row(True, None),
    ]
