"""How costs grow: with the jobs in one archive (10³ to 10⁵), the methods compared (10 to 200), their tasks.

Records of tiny jobs go the way of a run's: handed to the archive, committed together, compacted, loaded. A
cost is linear if ten times as many jobs take ten times as long; the bounds are on the time of one job, and
on how much more one costs among 10⁵ than among 10³. docs/images/growth.png is drawn anew.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.bench_findings import made_results, made_task
from benchmarks.timing import Row
from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses, Target, Truth
from redelve.data.tasks import assignments_for
from redelve.findings import find
from redelve.methods.contract import named_methods
from redelve.model import Assignment
from redelve.model.dataset import digest
from redelve.report.page import write_report
from redelve.report.sections import ReportContext
from redelve.run.experiment import Experiment, plan
from redelve.run.results import Costs, InstanceFacts, Job, MethodFacts, Record, TaskFacts
from redelve.store import Archive

STEPS = ("plan", "add", "compact", "load")
COMMAND = "python -m benchmarks growth"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "growth.png"
JOBS = {1_000: (20, 5), 10_000: (100, 10), 100_000: (200, 50)}
"""Methods and tasks of so many jobs; each task has ten instances."""
METHODS = (10, 50, 200)
TASKS, MANY_TASKS, SETS, CASES = 5, 50, 10, 20
TARGET = Target("y", "real")
SCRIPT = "import sys; from benchmarks.bench_growth import told; told(*sys.argv[1:])"
Found = dict[str, dict[int, float]]
"""Costs by what was done and by how much there was of it."""


def made_tasks(count: int) -> dict[str, TaskFacts]:
    """Tasks of ten instances with twenty test cases each."""
    truths = tuple(Truth.exact(TARGET, np.linspace(-1, 1, CASES) + number) for number in range(SETS))
    numbers = [np.arange(CASES) + 1 + CASES * one for one in range(SETS)]
    instances = tuple(InstanceFacts(f"i{n}", 64, numbers[n], (truths[n],)) for n in range(SETS))
    addresses = [f"/bench{number}/y/std.64" for number in range(count)]
    return {
        one: TaskFacts(one, digest(one), "d", 64, "hierarchical", 1, (TARGET,), instances, {"S": 1.0})
        for one in addresses
    }


def made_records(tasks: dict[str, TaskFacts], methods: dict[str, MethodFacts]) -> Iterator[Record]:
    """Records in the order of a plan: task by task, instance by instance."""
    environment = {"python": "3.11", "numpy": "2", "redelve": "0.1"}
    for place, (address, task) in enumerate(tasks.items()):
        for number, instance in enumerate(task.instances):
            truth = instance.truths[0].values
            for rank, name in enumerate(methods):
                guess = truth * (1 - 0.001 * rank) + 0.01 * place
                job, answer = Job(address, name, number), Answer(Guesses((TARGET,), (guess,)))
                losses = {"S": (guess - truth) ** 2}
                yield Record(
                    job,
                    digest([address, name, number]),
                    number,
                    "done",
                    losses,
                    answer,
                    costs=Costs(0.001, 0.0001, 0.001, 10**7),
                    started="2026-11-16T12:00:00.000+00:00",
                    environment=environment,
                )


def made_experiment(methods: int, tasks: int) -> Experiment:
    """Methods on tables, each with ten folds."""
    (constant,) = named_methods(["constant"]).values()
    rng, assignments = np.random.default_rng(1), dict[str, Assignment]()
    for number in range(tasks):
        frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", f"y{number}"])
        found = assignments_for(frame, f"y{number}", options={"design": f"cv {SETS}"})
        assignments |= (
            {one.address: one for one in found.values()} if isinstance(found, dict) else dict(found)
        )
    return Experiment({f"m{number}": constant for number in range(methods)}, assignments)


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of CPU."""
    start = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def peak() -> float:
    """The most memory that this process had, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def step(what: str, folder: Path, count: int) -> dict[str, float]:
    """One step of an archive's life, for a process of its own, so that memory is its own too."""
    if what == "plan":
        experiment = made_experiment(*JOBS[count])
        clock, cpu = timed(lambda: plan(experiment))
        return {"clock": clock, "cpu": cpu, "memory": peak()}
    tasks = made_tasks(JOBS[count][1])
    methods = {f"m{n}": MethodFacts(f"m{n}", digest(n), {"n": n}, "") for n in range(JOBS[count][0])}
    archive = Archive.open(folder, create=True)
    if what == "add":
        archive.register(tasks, methods)
        making = timed(lambda: sum(1 for _ in made_records(tasks, methods)))  # is not the archive's cost

        def add() -> None:
            with closing(archive.commits()) as commits:
                for record in made_records(tasks, methods):
                    archive.add(record, commits)

        clock, cpu = (whole - bare for whole, bare in zip(timed(add), making, strict=True))
    else:
        use: dict[str, Callable[[], object]] = {"compact": archive.compact, "load": archive.load}
        clock, cpu = timed(use[what])
    return {"clock": clock, "cpu": cpu, "memory": peak()}


def told(what: str, folder: str, count: str) -> None:
    """Print what a step took."""
    sys.stdout.write(json.dumps(step(what, Path(folder), int(count))))


def measured_jobs() -> Found:
    """Every step: milliseconds a job by the clock and of CPU, megabytes at the peak."""
    found: Found = {}
    for count in JOBS:
        folder = Path(tempfile.mkdtemp(prefix="bench-growth-"))
        try:
            for what in STEPS:
                command = [sys.executable, "-c", SCRIPT, what, str(folder / "a"), str(count)]
                told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
                for kind in ("clock", "cpu"):
                    found.setdefault(f"{what}, {kind}", {})[count] = 1000 * told[kind] / count
                found.setdefault(f"{what}, memory", {})[count] = told["memory"]
        finally:
            shutil.rmtree(folder)
    return found


def measured_methods() -> Found:
    """Findings and page of five tasks, by the number of methods."""
    find(made_results(3, made_bench_tasks(1)))  # packages are imported
    return _by_count({count: (count, TASKS) for count in METHODS})


def measured_tasks() -> Found:
    """Findings and page of 200 methods, by the number of tasks."""
    return _by_count({count: (max(METHODS), count) for count in (TASKS, MANY_TASKS)})


def made_bench_tasks(count: int) -> list[TaskFacts]:
    """So many tasks with ten training sets each."""
    return [made_task(f"/data{number}/y/std.64", SETS, CASES) for number in range(count)]


def _by_count(shapes: dict[int, tuple[int, int]]) -> Found:
    """Findings and page of so many methods and tasks: seconds of CPU, megabytes of the page."""
    found: Found = {"findings": {}, "page": {}, "size": {}}
    for count, (methods, tasks) in shapes.items():
        results = made_results(methods, made_bench_tasks(tasks))
        start = time.process_time()
        findings = find(results)
        found["findings"][count] = time.process_time() - start
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            write = partial(write_report, findings, path, about=ReportContext())
            found["page"][count] = timed(write)[1]
            found["size"][count] = path.stat().st_size / 1e6
    return found


def draw(jobs: Found, methods: Found, path: Path) -> None:
    """Two figures side by side, on logarithmic scales, with lines of the slopes that linear growth has."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained", dpi=110)
    left, right = figure.subplots(1, 2)
    for what, marker in (("add", "o"), ("compact", "s"), ("load", "^")):
        counts = list(jobs[f"{what}, cpu"])
        for kind, style in (("clock", "-"), ("cpu", ":")):
            seconds = [jobs[f"{what}, {kind}"][count] * count / 1000 for count in counts]
            left.loglog(counts, seconds, marker=marker, linestyle=style, label=f"{what}, {kind}")
    ends = np.array([min(JOBS), max(JOBS)])
    left.loglog(ends, ends * 0.001, color="0.6", linewidth=1, label="1 ms a job")
    left.set(xlabel="jobs in the archive", ylabel="seconds", title="One archive, tiny jobs")
    for what, words, marker in (
        ("findings", "findings, s of CPU", "o"),
        ("page", "page, s of CPU", "s"),
        ("size", "page, MB", "^"),
    ):
        right.loglog(list(methods[what]), list(methods[what].values()), marker=marker, label=words)
    ends = np.array([min(METHODS), max(METHODS)])
    right.loglog(ends, ends / ends[0], color="0.6", linewidth=1, label="in proportion to methods")
    right.loglog(ends, (ends / ends[0]) ** 2, color="0.6", linewidth=1, linestyle="--", label="to pairs")
    right.set(xlabel="methods", title=f"{TASKS} tasks of {SETS} training sets")
    for axes in (left, right):
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(path)


def run() -> list[Row]:
    """The curves, the figure, and a row for each bound."""
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[1]))
    jobs, methods, tasks = measured_jobs(), measured_methods(), measured_tasks()
    sys.stderr.write(f"{json.dumps({**jobs, **methods, 'by tasks': tasks}, indent=1)}\n")
    draw(jobs, methods, PICTURE)
    return [
        *_of_jobs(jobs, min(JOBS), max(JOBS)),
        *_of_methods(methods, *METHODS[1:]),
        *_of_tasks(tasks, TASKS, MANY_TASKS),
    ]


def _of_jobs(jobs: Found, few: int, many: int) -> Iterator[Row]:
    for what, bound in (("add", 0.5), ("compact", 1.0)):
        for kind in ("clock", "cpu"):
            name = f"archive, {what} {many:,} jobs: ms a job, {kind}"
            yield _row(name, jobs[f"{what}, {kind}"][many], bound, f"{bound:g} ms", 1.0)
    for what in STEPS:
        each = jobs[f"{what}, cpu"]
        name = f"{what}: ms of CPU a job, of {many:,} jobs"
        yield _row(name, each[many], each[few], f"of {few:,} jobs", 1.5)
    for what in ("add", "compact", "load"):
        each, most = jobs[f"{what}, memory"], 1.5 if what == "add" else None
        yield _row(f"{what} {many:,} jobs: MB at the peak", each[many], each[few], f"{few:,} jobs", most)


def _of_methods(found: Found, some: int, many: int) -> Iterator[Row]:
    """Findings may grow as pairs do, which they compare; pages as methods do."""
    for what, words, power in (("findings", "s of CPU", 2), ("page", "s of CPU", 1), ("size", "MB", 1)):
        name = f"{'page' if what == 'size' else what} of {TASKS} tasks, {many} methods ({words})"
        yield _row(name, found[what][many], found[what][some], f"{some} methods", (many / some) ** power)


def _of_tasks(found: Found, some: int, many: int) -> Iterator[Row]:
    """Everything may grow as tasks do."""
    for what, words in (("findings", "s of CPU"), ("page", "s of CPU"), ("size", "MB")):
        name = f"{'page' if what == 'size' else what} of {max(METHODS)} methods, {many} tasks ({words})"
        yield _row(name, found[what][many], found[what][some], f"{some} tasks", many / some)


def _row(name: str, ours: float, other: float, against: str, bound: float | None) -> Row:
    return {
        "name": name,
        "ours": ours,
        "alternative": other,
        "against": against,
        "ratio": ours / other,
        "bound": bound,
        "command": COMMAND,
    }
