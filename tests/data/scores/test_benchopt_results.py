"""Results of benchopt: twins with its columns, and genuine files where they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from redelve.data.scores import read_scores
from redelve.errors import RedelveError
from tests.data.scores.genuine import FOLDER, needs_genuine


def curves(repetitions: int = 2, data: str = "data_name") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "objective_name": "lasso",
                "solver_name": solver,
                data: name,
                "idx_rep": rep,
                "stop_val": stop,
                "time": 0.1 * stop,
                "objective_value": (2.0 if solver == "cd" else 3.0) + rep + 1 / (1 + stop),
                "objective_test_loss": 5.0 - rep,
                "platform": "Linux",
            }
            for solver in ("cd", "ista")
            for name in ("leukemia", "simulated[n=10]")
            for rep in range(repetitions)
            for stop in (10, 0, 1)
        ]
    )


@pytest.mark.parametrize("data", ["data_name", "dataset_name"])
def test_the_last_value_of_each_curve_is_the_score(tmp_path: Path, data: str) -> None:
    curves(data=data).to_parquet(tmp_path / "run.parquet")
    table = read_scores(tmp_path / "run.parquet")
    frame = table.frame
    assert len(frame) == 8
    assert set(frame["task"]) == {"leukemia", "simulated[n=10]"}
    assert set(frame["case"]) == {"repetition 0", "repetition 1"}
    one = frame[(frame["model"] == "cd") & (frame["case"] == "repetition 1")]
    assert list(one["score"]) == pytest.approx([3 + 1 / 11] * 2)
    assert list(one["cost"]) == pytest.approx([1.0] * 2)
    assert (table.metric, table.higher_is_better) == ("objective", False)


def test_the_end_of_a_curve_may_be_the_smallest_tolerance() -> None:
    by_tolerance = curves().assign(sampling_strategy="Tolerance")
    table = read_scores(by_tolerance)
    assert min(table.frame["score"]) == pytest.approx(2 + 1)


BENCHMARK = {
    "objective.py": """
from benchopt import BaseObjective
import numpy as np

class Objective(BaseObjective):
    name = "Least squares"

    def set_data(self, X, y):
        self.X, self.y = X, y

    def get_one_result(self):
        return dict(beta=np.zeros(3))

    def evaluate_result(self, beta):
        return dict(value=float(((self.y - self.X @ beta) ** 2).mean()))

    def get_objective(self):
        return dict(X=self.X, y=self.y)
""",
    "datasets/simulated.py": """
from benchopt import BaseDataset
import numpy as np

class Dataset(BaseDataset):
    name = "Simulated"

    def get_data(self):
        X = np.random.default_rng(0).normal(size=(20, 3))
        return dict(X=X, y=X @ [1.0, 2.0, 3.0])
""",
    "solvers/descent.py": """
from benchopt import BaseSolver
import numpy as np

class Solver(BaseSolver):
    name = "Descent"
    sampling_strategy = "iteration"
    parameters = {"step": [0.01, 0.1]}

    def set_objective(self, X, y):
        self.X, self.y = X, y

    def run(self, n_iter):
        self.beta = np.zeros(3)
        for _ in range(n_iter):
            self.beta -= self.step * self.X.T @ (self.X @ self.beta - self.y) / 20

    def get_result(self):
        return dict(beta=self.beta)
""",
}


def test_what_the_tool_writes_now_is_read(tmp_path: Path) -> None:
    pytest.importorskip("benchopt", exc_type=ImportError)
    for name, text in BENCHMARK.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    words = [sys.executable, "-m", "benchopt", "run", ".", "-n", "3", "-r", "2", "--no-plot", "--no-html"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    (path,) = (tmp_path / "outputs").glob("*.parquet")
    frame = read_scores(path).frame
    assert frame.equals(read_scores(tmp_path / "outputs").frame)
    assert set(frame["model"]) == {"Descent[step=0.01]", "Descent[step=0.1]"}
    assert set(frame["case"]) == {"repetition 0", "repetition 1"}
    best = frame.groupby("model")["score"].max()
    assert best["Descent[step=0.1]"] < best["Descent[step=0.01]"]


def test_repetitions_that_are_folds_are_called_so() -> None:
    table = read_scores(curves(), columns={"fold": "idx_rep"}, ratio=1.0)
    assert table.is_by_fold
    assert set(table.frame["fold"]) == {0, 1}
    with pytest.raises(RedelveError, match="folds of benchopt are its repetitions"):
        read_scores(curves(), columns={"fold": "split"})


def test_results_are_found_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    curves().to_parquet(tmp_path / "outputs" / "benchopt_run.parquet")
    (tmp_path / "outputs" / "notes.csv").write_text("a,b\n1,2\n")
    assert set(read_scores(tmp_path).frame["model"]) == set(read_scores(curves()).frame["model"])


def test_with_one_repetition_the_datasets_are_the_cases() -> None:
    table = read_scores(curves(1))
    assert set(table.frame["task"]) == {"lasso"}
    assert set(table.frame["case"]) == {"leukemia", "simulated[n=10]"}


def test_another_measure_is_chosen_by_name() -> None:
    for wanted in ("test_loss", "objective_test_loss"):
        table = read_scores(curves(), metric=wanted)
        assert (table.metric, table.higher_is_better) == ("test_loss", False)
        assert set(table.frame["score"]) == {4.0, 5.0}
    with pytest.raises(RedelveError, match='no score "speed", only value, test_loss'):
        read_scores(curves(), metric="speed")


@needs_genuine
def test_genuine_results_of_sbi_are_read() -> None:
    raw = pd.read_parquet(FOLDER / "benchopt" / "sbi.parquet")
    table = read_scores(FOLDER / "benchopt" / "sbi.parquet")
    assert len(table.frame) == 5 * 16 * 10
    assert not table.frame.duplicated(["model", "task", "case"]).any()
    one = raw[(raw["solver_name"] == "npe_sbi[flow=nsf,transforms=5]") & (raw["idx_rep"] == 3)]
    wanted = {
        name: part.sort_values("stop_val")["objective_value"].iloc[-1]
        for name, part in one.groupby("data_name")
    }
    mine = table.frame[(table.frame["model"] == "npe_sbi[flow=nsf,transforms=5]")]
    mine = mine[mine["case"] == "repetition 3"]
    assert dict(zip(mine["task"], mine["score"], strict=True)) == wanted
    assert read_scores(FOLDER / "benchopt" / "flamby.parquet").frame["model"].nunique() == 7
