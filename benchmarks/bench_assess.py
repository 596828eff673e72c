"""An assessment (3 methods × 5 tasks × 8 instances) against a bare loop, cross_validate and benchopt."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from benchmarks.timing import Row, best_of
from redelve.assessment import assess
from redelve.data.tasks import assignments_for
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.contract import METHODS as BUILT_IN
from redelve.methods.contract import Method
from redelve.run.cells import Limits, let_go
from redelve.run.experiment import Experiment, plan, split
from redelve.run.experiment import run as carry_out

COMMAND = "python -m benchmarks assess"
Numbers = NDArray[np.float64]
Fit = tuple[Numbers, Numbers, Numbers, Numbers]
TASKS = [f"{name}/std.512" for name in ("kin-8nm/dist", "kin-8fm/dist", "kin-8nh/dist", "pumadyn-8nm/accel")]
TASKS.append("bank-8fm/rej/std.512")
METHODS: dict[str, Any] = {
    "forest": RandomForestRegressor(150, n_jobs=1),
    "boosting": HistGradientBoostingRegressor(max_iter=150),
    "svm": SVR(C=2.0),
}
ROUNDS = 2
BOUND_SERIAL, BOUND_TWO = 1.03, 0.53
HERE = Limits(isolated=False)

BENCHOPT = {
    "objective.py": """
import numpy as np
from benchopt import BaseObjective
class Objective(BaseObjective):
    name = "squared error"
    sampling_strategy = "run_once"
    def set_data(self, X, y, X_test, y_test):
        self.X, self.y, self.X_test, self.y_test = X, y, X_test, y_test
    def evaluate_result(self, guesses):
        return {"value": float(np.mean((guesses - self.y_test) ** 2))}
    def get_one_result(self):
        return {"guesses": np.zeros(len(self.y_test))}
    def get_objective(self):
        return {"X": self.X, "y": self.y, "X_test": self.X_test}
""",
    "datasets/fits.py": """
import numpy as np
from benchopt import BaseDataset
class Dataset(BaseDataset):
    name = "fits"
    parameters = {"number": list(range(COUNT))}
    def get_data(self):
        with np.load("FOLDER/fits.npz") as held:
            names = ("X", "y", "X_test", "y_test")
            return {name: held[f"{self.number}.{name}"] for name in names}
""",
    "solvers/method.py": """
import pickle
from benchopt import BaseSolver
from sklearn.base import clone
class Solver(BaseSolver):
    name = "method"
    sampling_strategy = "run_once"
    parameters = {"which": ["forest", "boosting", "svm"]}
    def set_objective(self, X, y, X_test):
        self.X, self.y, self.X_test = X, y, X_test
        with open("FOLDER/methods.pickle", "rb") as file:
            self.estimator = clone(pickle.load(file)[self.which])
    def run(self, _):
        self.guesses = self.estimator.fit(self.X, self.y).predict(self.X_test)
    def get_result(self):
        return {"guesses": self.guesses}
""",
}


def fits() -> list[Fit]:
    """Encoded training and test arrays of every instance, ready for a bare loop."""
    found = []
    for assignment in assignments_for(TASKS).values():
        for instance in assignment.instances:
            training, inputs, truths = split(assignment, instance)
            encoded = training.encode()
            location, scale = encoded.location_and_scale()
            truth = (truths[0].values - location) / scale
            found.append((encoded.inputs, encoded.targets[:, 0], encoded.encode_inputs(inputs), truth))
    return found


def bare_loop(data: list[Fit]) -> float:
    total = 0.0
    with threadpool_limits(1):
        for x, y, x_test, y_test in data:
            for estimator in METHODS.values():
                guesses = clone(estimator).fit(x, y).predict(x_test)
                total += float(((guesses - y_test) ** 2).mean())
    return total


def bare_loop_in_two(data: list[Fit]) -> None:
    """The same by two plain processes, each with every other fit: what two cores can do."""
    processes = []
    for part in range(2):
        if (pid := os.fork()) == 0:
            code = 1
            try:
                bare_loop(data[part::2])
                code = 0
            finally:
                os._exit(code)
        processes.append(pid)
    ends = [os.waitpid(pid, 0)[1] for pid in processes]
    if any(ends):
        raise RuntimeError("a process of the bare loop failed")


def with_cross_validate(data: list[Fit]) -> None:
    with threadpool_limits(1):
        for x, y, x_test, y_test in data:
            both = (np.vstack([x, x_test]), np.concatenate([y, y_test]))
            one_split = [(np.arange(len(y)), np.arange(len(y), len(y) + len(y_test)))]
            for estimator in METHODS.values():
                cross_validate(estimator, *both, cv=one_split, scoring="neg_mean_squared_error")


def benchopt_folder(data: list[Fit], folder: Path) -> None:
    import pickle

    names = ("X", "y", "X_test", "y_test")
    arrays = {
        f"{n}.{name}": array for n, fit in enumerate(data) for name, array in zip(names, fit, strict=True)
    }
    np.savez(folder / "fits.npz", **arrays)  # type: ignore[arg-type]
    (folder / "methods.pickle").write_bytes(pickle.dumps(METHODS))
    for name, text in BENCHOPT.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("FOLDER", str(folder)).replace("COUNT", str(len(data))))


def benchopt_run(folder: Path) -> None:
    command = [sys.executable, "-m", "benchopt", "run", str(folder), "--no-plot", "--no-html", "-n", "1"]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])


def row(name: str, ours: float, alternative: float, against: str, bound: float | None = None) -> Row:
    ratio = ours / alternative
    return {
        "name": name,
        "ours": ours,
        "alternative": alternative,
        "against": against,
        "ratio": ratio,
        "bound": bound,
        "command": COMMAND,
    }


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def job_seconds(method: Method, isolated: bool) -> float:
    """What a job takes when many are done: those of eight runs less those of one, so that no start counts."""
    tasks, took = assignments_for("demo/age/std.128"), []
    for runs in (1, 8):
        experiment = Experiment({"small": method}, tasks, runs=runs, limits=Limits(isolated=isolated))
        jobs = plan(experiment)
        let_go()  # both begin with loading libraries
        took.append((timed(lambda e=experiment, j=jobs: list(carry_out(e, j))), len(jobs)))  # type: ignore[misc]
    (once, few), (often, many) = took
    return (often - once) / (many - few)


def cell_row(name: str, method: Method, bound: float | None) -> Row:
    """What a cell costs beyond the same small job in process."""
    pairs = [(job_seconds(method, True), job_seconds(method, False)) for _ in range(3)]
    own = min(isolated for isolated, _ in pairs) - min(here for _, here in pairs)
    return row(
        f"a cell for a small job of {name}, beyond its work", own, 0.005, "the 5 ms it may take", bound
    )


def first_assess(limits: Limits | None = None, workers: int = 1) -> None:
    """An assessment as the first of a Python process has it: no ancestor of cells rests from the last one."""
    let_go()
    assess(METHODS, TASKS, limits=limits, workers=workers)


def two_processes(what: str, data: list[Fit]) -> list[Row]:
    """Two workers against one, and what two cores bring to a bare loop at the same time."""
    cells, cells_of_two, here, here_by_two, bare, bare_by_two = best_of(
        ROUNDS,
        first_assess,
        lambda: first_assess(workers=2),
        lambda: first_assess(HERE),
        lambda: first_assess(HERE, 2),
        lambda: bare_loop(data),
        lambda: bare_loop_in_two(data),
    )
    name, plain = f"assess with two processes: {what}", "a bare loop in two processes"
    return [
        row(f"{name}, a cell for each", cells_of_two, cells, "assess with one", BOUND_TWO),
        row(f"{name}, no cells", here_by_two, here, "assess with one", BOUND_TWO),
        row(
            f"a bare loop of the same fits in two processes: {what}", bare_by_two, bare, "a bare loop in one"
        ),
        row(f"{name}, a cell for each", cells_of_two, bare_by_two, plain),
        row(f"{name}, no cells", here_by_two, bare_by_two, plain),
    ]


def run() -> list[Row]:
    data = fits()
    serial, here, bare, crossed = best_of(
        ROUNDS,
        first_assess,
        lambda: first_assess(HERE),
        lambda: bare_loop(data),
        lambda: with_cross_validate(data),
    )
    what = f"3 methods × 5 tasks × 8 instances ({3 * len(data)} fits)"
    loop = "a bare loop of the same fits and predictions"
    rows = [
        row(f"assess: {what}, a cell for each", serial, bare, loop, BOUND_SERIAL),
        row(f"assess: {what}, in this process", here, bare, loop, BOUND_SERIAL),
        *two_processes(what, data),
        row(f"assess: {what}, a cell for each", serial, crossed, "scikit-learn's cross_validate, means only"),
    ]
    ridge = sklearn_method(Ridge(), inputs="encoded")
    rows += [cell_row("lin-1", BUILT_IN["lin-1"], 1.0), cell_row("scikit-learn's Ridge", ridge, None)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            import benchopt  # noqa: F401
        except ImportError:
            return rows
        benchopt_folder(data, folder)
        theirs = timed(lambda: benchopt_run(folder))
        rows.append(row(f"assess: {what}", serial, theirs, "benchopt run of the same fits, one by one"))
    return rows
