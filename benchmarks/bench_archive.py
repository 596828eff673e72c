"""An archive of 10⁷ losses: loading and analysing against bare pandas, adding against bare writing."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import Row
from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses, Target, Truth
from redelve.model.dataset import digest
from redelve.run.results import InstanceFacts, Job, MethodFacts, Record, TaskFacts
from redelve.store import Archive

COMMAND = "python -m benchmarks archive"
METHODS, INSTANCES, CASES = 10, 200, 5000
TASK = "/bench/y/std.64"

OURS = """
from redelve.stats import analyse_hierarchical
from redelve.store import Archive
{clock}
results = Archive.open(r"{path}").load()
found = {{}}
for name in results.methods:
    rows = [record.losses["S"] for record in results.of(name, "{task}")]
    analysis = analyse_hierarchical(rows)
    found[name] = analysis.mean, analysis.standard_error
{report}
"""
PANDAS = """
import pandas, pyarrow.dataset
{clock}
frame = pandas.read_parquet(r"{path}/losses", columns=["method", "instance", "loss.S"])
grouped = frame.groupby(["method", "instance"], observed=True)["loss.S"]
means, variances = grouped.mean(), grouped.var()
found = means.groupby("method", observed=True).agg(["mean", "sem"])
{report}
"""
CLOCK = "import time; start = time.perf_counter()"
REPORT = (
    "took, told = time.perf_counter() - start, open('/proc/self/status').read(); "
    "import json; print(json.dumps([took, int(told.partition('VmHWM:')[2].split()[0]) / 1024]))"
)
"""Not getrusage's: what it tells is never less than what the process had that started this one."""


def make(path: Path) -> list[float]:
    """Fill an archive; how long each record took to add, and a bare synchronised write of as many bytes."""
    rng = np.random.default_rng(1)
    target = Target("y", "real")
    numbers = [np.arange(CASES) + 1 + CASES * one for one in range(INSTANCES)]
    truths = [Truth.exact(target, rng.normal(size=CASES)) for _ in range(INSTANCES)]
    instances = tuple(InstanceFacts(f"i{n}", 64, numbers[n], (truths[n],)) for n in range(INSTANCES))
    task = TaskFacts(TASK, "t", "d", 64, "hierarchical", 1, (target,), instances, {"S": 1.0})
    methods = {f"m{n}": MethodFacts(f"m{n}", digest(n), {"n": n}, "") for n in range(METHODS)}
    archive = Archive.open(path, create=True)
    archive.register({TASK: task}, methods)
    times = []
    for name in methods:
        for instance in range(INSTANCES):
            guess = rng.normal(size=CASES)
            losses = {"S": (guess - truths[instance].values) ** 2}
            answer = Answer(Guesses((target,), (guess,)))
            job = Job(TASK, name, instance)
            record = Record(job, digest([name, instance]), 1, "done", losses, answer)
            start = time.perf_counter()
            archive.add(record)
            times.append(time.perf_counter() - start)
    archive.compact()
    return times


def bare_writes(folder: Path, count: int) -> list[float]:
    """The same bytes, written, synchronised and renamed without anything else."""
    folder.mkdir()
    data = os.urandom(CASES * 8 * 4)
    times = []
    for number in range(count):
        start = time.perf_counter()
        with (folder / "half").open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        (folder / "half").rename(folder / str(number))
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        times.append(time.perf_counter() - start)
    return times


def measured(script: str, path: Path, turns: int = 5) -> tuple[float, float]:
    """The best time and the least memory of a script in a process of its own."""
    text = script.format(path=path, task=TASK, clock=CLOCK, report=REPORT)
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", text], capture_output=True, check=True).stdout)
        for _ in range(turns)
    ]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def run() -> list[Row]:
    folder = Path(tempfile.mkdtemp(prefix="bench-archive-"))
    try:
        adding = statistics.median(make(folder / "archive"))
        writing = statistics.median(bare_writes(folder / "bare", 500))
        ours, pandas = measured(OURS, folder / "archive"), measured(PANDAS, folder / "archive")
    finally:
        shutil.rmtree(folder)
    what = f"archive of {METHODS * INSTANCES * CASES:.0e} losses: load and analyse"
    against = "pandas.read_parquet, groupby, mean and variance"
    rows = [
        (f"{what}, seconds", ours[0], pandas[0], against, 1.5),
        (f"{what}, MiB at the peak", ours[1], pandas[1], against, 1.5),
        ("archive: add a record of 5000 cases", adding, writing, "writing as many bytes, two fsyncs", 3.0),
    ]
    return [
        {
            "name": name,
            "ours": mine,
            "alternative": other,
            "against": than,
            "ratio": mine / other,
            "bound": bound,
            "command": COMMAND,
        }
        for name, mine, other, than, bound in rows
    ]
