"""The first answer: one CSV and five methods, from the command to the report, against a bare loop.

The table is statsmodels' `fair` (6366 cases, eight inputs): how long somebody has been married. The methods
are scikit-learn's, made in a file that both sides import. The bare loop reads the CSV with pandas and fits,
predicts and averages squared errors of the same cases; it keeps nothing, tests nothing and draws nothing.
Each side is a fresh process, and takes turns with the other; both use one thread. CPU is that of the whole
process tree.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.timing import Row

ROUNDS = 3
BOUND = 2.0
TARGET = "yrs_married"
COMMAND = "python -m benchmarks first_answer"

METHODS = """
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

ridge = make_pipeline(StandardScaler(), Ridge())
neighbours = make_pipeline(StandardScaler(), KNeighborsRegressor(10))
forest = RandomForestRegressor()
boosting = HistGradientBoostingRegressor()
svm = make_pipeline(StandardScaler(), SVR())
"""

BARE = """
import sys
import numpy as np
import pandas as pd
from sklearn.base import clone
import five

frame = pd.read_csv("fair.csv")
inputs, target = frame.drop(columns="TARGET"), frame["TARGET"]
rows = np.load("rows.npz")
names = ("ridge", "neighbours", "forest", "boosting", "svm")
losses = {name: {} for name in names}
for number in range(len(rows.files) // 2):
    training, testing = rows[f"training{number}"], rows[f"testing{number}"]
    for name in names:
        fitted = clone(getattr(five, name)).fit(inputs.iloc[training], target.iloc[training])
        errors = fitted.predict(inputs.iloc[testing]) - target.iloc[testing]
        losses[name].setdefault(len(training), []).append(float((errors**2).mean()))
for name, by_size in losses.items():
    for size, found in by_size.items():
        print(name, size, repr(float(np.mean(found))))
"""


def prepare(folder: Path) -> None:
    """The table, the methods, the bare loop and the rows of its training and test sets."""
    from statsmodels.datasets import fair

    fair.load_pandas().data.to_csv(folder / "fair.csv", index=False)
    (folder / "five.py").write_text(METHODS)
    (folder / "bare.py").write_text(BARE.replace("TARGET", TARGET))
    np.savez(folder / "rows.npz", **rows_of(folder / "fair.csv"))  # type: ignore[arg-type]


def rows_of(path: Path) -> dict[str, np.ndarray]:
    """The rows of the table that train and test in each instance of the default design."""
    from redelve.data.tables import Description
    from redelve.data.tasks import assignments_for, task

    found = {}
    instances = [
        (one, instance)
        for one in assignments_for(task(path, TARGET, description=Description(is_nameless=True))).values()
        for instance in one.instances
    ]
    for number, (one, instance) in enumerate(instances):
        found[f"training{number}"] = one.data.case_numbers[instance.training] - 1
        found[f"testing{number}"] = one.data.case_numbers[instance.testing] - 1
    return found


def spent(command: Sequence[str], folder: Path) -> tuple[float, float, str]:
    """Seconds by the clock and of CPU, with all that was started and waited for; and what was printed."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "REDELVE_HOME": str(folder / "home")}
    start = time.perf_counter()
    with (folder / "printed").open("w+") as printed:
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, **threads}, stdout=printed)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        printed.seek(0)
        text = printed.read()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}: {text[-2000:]}")
    return seconds, usage.ru_utime + usage.ru_stime, text


def check_losses(folder: Path, out: Path, printed: str) -> None:
    """Both sides did the same fits: means of squared errors are equal, but for forests, which use a seed."""
    from redelve.store import Archive

    results = Archive.open(out).load()
    for line in printed.splitlines():
        name, size, told = line.split()
        if name == "forest":
            continue
        records = [
            one
            for one in results.records
            if one.job.method == name and results.task(one.job.task).training_set_size == int(size)
        ]
        mean = float(np.mean([one.losses["S"].mean() for one in records]))
        if not np.isclose(mean, float(told), rtol=1e-9):
            raise AssertionError(f"{name} at {size}: {mean} in the archive, {told} in the bare loop")


def run() -> list[Row]:
    """Wall and CPU time of the two, the medians of rounds in turns."""
    redelve = str(Path(sys.executable).with_name("redelve"))
    ours, bare = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for number in range(ROUNDS):
            words = ["assess", "fair.csv", "-t", TARGET, "-m", "five.py", "-q", "-o", f"out{number}"]
            ours.append(spent([redelve, *words], folder))
            bare.append(spent([sys.executable, "bare.py"], folder))
        check_losses(folder, folder / "out0", bare[0][2])
    return [
        row("seconds", [one[0] for one in ours], [one[0] for one in bare]),
        row("seconds of CPU, all processes", [one[1] for one in ours], [one[1] for one in bare]),
    ]


def row(unit: str, ours: Sequence[float], bare: Sequence[float]) -> Row:
    """The medians, and the median of the ratios of each round."""
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    return {
        "name": f"first answer: one CSV, five methods, 190 fits in cells, tests, report ({unit})",
        "against": "a bare loop of the same fits, means only, in one process",
        "ours": statistics.median(ours),
        "alternative": statistics.median(bare),
        "ratio": statistics.median(ratios),
        "bound": BOUND,
        "command": COMMAND,
    }
