"""Public result sets from file to page by one command: small twins of them always, themselves where they are.

`docs/audits.md` says of each how many neighbours on its board are apart. Here the same numbers are computed
without redelve's statistics: paired t-tests, for folds with the correction of Nadeau and Bengio (2003), each
p-value times the number of comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import redelve
from redelve.cli.compare import compare
from tests.data.scores.genuine import FOLDER

Board = tuple[int, int, int, int]
"""Neighbours that are apart, of how many; pairs that are apart, of how many."""
Wide = dict[str, pd.DataFrame]
"""Scores by task: a row for every case or fold, a column for every model."""
TEXT = (Path(__file__).parent.parent / "docs" / "audits.md").read_text()


def claimed(tasks: Iterable[Any]) -> Board:
    """What redelve claims of tasks."""
    found = np.zeros(4, int)
    for task in tasks:
        board = [one.method for one in task.by_loss]
        beside = [task.contest(*pair).winner is not None for pair in pairwise(board)]
        of_all = [one.winner is not None for one in task.contests]
        found += np.array([sum(beside), len(beside), sum(of_all), len(of_all)])
    return tuple(map(int, found))  # type: ignore[return-value]


def computed(tables: Wide, ratio: float | None = None, *, parts: int = 1) -> Board:
    """The same by t-tests; `parts` is among how many tasks and other families the 5 % are shared."""
    found = np.zeros(4, int)
    for table in tables.values():
        board = list(table.mean().sort_values().index)
        comparisons = parts * len(board) * (len(board) - 1) / 2
        apart = {
            pair: p_value(table[pair[0]] - table[pair[1]], ratio) * comparisons < 0.05
            for pair in combinations(board, 2)
        }
        beside = [apart[pair] for pair in pairwise(board)]
        found += np.array([sum(beside), len(beside), sum(apart.values()), len(apart)])
    return tuple(map(int, found))  # type: ignore[return-value]


def p_value(differences: pd.Series[float], ratio: float | None) -> float:
    count, variance = len(differences), float(differences.var())
    if variance == 0:
        return 1.0
    error = np.sqrt(variance * (1 / count + (ratio or 0.0)))
    return float(2 * stats.t.sf(abs(differences.mean()) / error, count - 1))


def shown(arguments: list[Any], folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The text and the page of the one command."""
    page = folder / "report.html"
    assert compare([*map(str, arguments), "-o", str(page)]) == 0
    return " ".join(capsys.readouterr().out.split()), page.read_text()


# Twins


def questions(folder: Path) -> tuple[pd.DataFrame, Path]:
    """Wrong answers of models to questions, in a column each; one model lacks some."""
    rng, path = np.random.default_rng(1), folder / "questions.parquet"
    hard = rng.normal(size=600)
    skills = {"large": 1.6, "middle": 0.5, "twin": 0.5, "small": -0.6}
    wide = pd.DataFrame({name: (hard + rng.normal(size=600) > able) * 1.0 for name, able in skills.items()})
    wide.loc[hard > 2, "twin"] = np.nan
    wide.assign(category=np.where(np.arange(600) % 2, "law", "maths")).to_parquet(path)
    return wide.dropna(), path


def test_a_twin_of_mmlu_pro(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide, path = questions(tmp_path)
    text, page = shown([path, "--lower", "--pooled"], tmp_path, capsys)
    assert "large is the best of these models (95 % confidence)" in text
    assert re.search(r"(\d+) of 600 cases are left out.*\(twin \1\)", text)
    assert "is the best of these 4 models" in page
    found = claimed(redelve.compare_scores(path, higher_is_better=False, pooled=True).findings.tasks)
    assert found == computed({"all": wide}) == (2, 3, 5, 6)


def resamples(folder: Path) -> Wide:
    """Accuracies of three classifiers on resamples of data sets, a file for each classifier."""
    rng = np.random.default_rng(2)
    tables = {}
    for place, name in enumerate(("Coffee", "Trace", "Wafer", "Yoga")):
        base = 0.7 + 0.05 * rng.normal(size=(12, 1))
        noise = 0.02 * rng.normal(size=(12, 3))
        tables[name] = pd.DataFrame(
            base + noise + [0.12, 0.1 - 0.04 * place, 0.0], columns=["HC", "MR", "FP"]
        )
    for model in ("HC", "MR", "FP"):
        lines = [f"{name}," + ",".join(map(str, table[model])) for name, table in tables.items()]
        head = "Resamples:," + ",".join(map(str, range(12)))
        (folder / f"{model}_accuracy.csv").write_text("\n".join([head, *lines]) + "\n")
    return tables


def test_a_twin_of_the_bake_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = resamples(tmp_path)
    text, page = shown([tmp_path, "--ratio", "1"], tmp_path, capsys)
    assert "Over 4 tasks HC did best on average" in text
    assert all(name in page for name in tables)
    (tmp_path / "report.html").unlink()
    found = claimed(redelve.compare_scores(tmp_path, ratio=1).findings.tasks)
    falling = {name: -table for name, table in tables.items()}
    assert found == computed(falling, 1.0, parts=5)
    assert found[3] == 12
    assert computed(falling)[2] > found[2] > 0  # the naive test finds more


def solvers(folder: Path) -> tuple[Wide, Path]:
    """Curves of solvers, of which the last value counts."""
    rng, rows, tables = np.random.default_rng(3), [], {}
    for data in ("moons", "slcp"):
        ends = pd.DataFrame(rng.normal(size=(9, 3)) * 0.3 + [0.0, 0.1, 3.0], columns=["a", "b", "c"])
        tables[data] = ends
        for solver in ends.columns:
            for repetition, end in enumerate(ends[solver]):
                keys = {"objective_name": "NLL", "solver_name": solver, "data_name": data}
                steps = [{"stop_val": stop, "objective_value": end + 9 / stop - 1} for stop in (1, 9)]
                rows += [{**keys, "idx_rep": repetition, "time": 0.1, **step} for step in steps]
    pd.DataFrame(rows).to_parquet(folder / "curves.parquet")
    return tables, folder / "curves.parquet"


def test_a_twin_of_benchopt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables, path = solvers(tmp_path)
    text, page = shown([path], tmp_path, capsys)
    assert "moons b had the lowest objective; a could not be ruled out as the best" in text
    assert "repetitions are the cases" in page
    found = claimed(redelve.compare_scores(path).findings.tasks)
    assert found == computed(tables, parts=2) == (2, 4, 4, 6)


def runs(folder: Path, wrong: dict[str, set[int]]) -> pd.DataFrame:
    """Predictions of flows on ten folds, and the accuracy of each fold."""
    fields = ["repeat", "fold", "row_id"]
    head = "\n".join(f"@attribute {name} numeric" for name in fields)
    head = f"@relation R\n{head}\n@attribute prediction {{x,y}}\n@attribute truth {{x,y}}\n@data\n"
    for number, (flow, errors) in enumerate(wrong.items()):
        at = folder / str(100 + number)
        at.mkdir()
        rows = [f"0,{row % 10},{row},{'y' if row in errors else 'x'},x\n" for row in range(80)]
        (at / "predictions.arff").write_text(head + "".join(rows))
        (at / "run.xml").write_text(f"<oml:task_id>59</oml:task_id><oml:flow_name>{flow}</oml:flow_name>")
    lost = {
        flow: [sum(row % 10 == fold for row in rows) / 8 for fold in range(10)]
        for flow, rows in wrong.items()
    }
    return pd.DataFrame(lost)


@pytest.mark.parametrize(("errors", "wanted"), [({3, 14, 25}, (0, 1, 0, 1)), (set(range(30)), (1, 1, 1, 1))])
def test_a_twin_of_openml_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], errors: set[int], wanted: Board
) -> None:
    table = runs(tmp_path, {"forest(1)": {3, 14}, "stump(2)": errors})
    text, page = shown([tmp_path], tmp_path, capsys)
    assert "/task 59" in text
    assert "forest(1)" in page
    assert ("could not be told apart" in text) is (wanted[0] == 0)
    found = claimed(redelve.compare_scores(tmp_path).findings.tasks)
    assert found == computed({"task 59": table}, 1 / 9) == wanted


def search(path: Path) -> pd.DataFrame:
    """What pandas writes of a search in three folds, with its index and semicolons."""
    rng = np.random.default_rng(5)
    scores = 0.9 + 0.02 * rng.normal(size=(4, 3)) + np.array([[0.0], [0.001], [0.002], [-0.3]])
    table = pd.DataFrame({"mean_fit_time": 0.1, "param_depth": [1, 3, 5, 0]}, index=range(4))
    table["params"] = [str({"depth": depth}) for depth in table["param_depth"]]
    for fold in range(3):
        table[f"split{fold}_test_score"] = scores[:, fold]
    table.assign(mean_test_score=scores.mean(axis=1)).to_csv(path, sep=";")
    return pd.DataFrame(-scores.T, columns=[f"depth={depth}" for depth in table["param_depth"]])


def test_a_twin_of_a_grid_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cv_results.csv"
    table = search(path)
    text, page = shown([path, "--ratio", "1/2"], tmp_path, capsys)
    assert "depth=3 had the highest score; depth=5 and depth=1 could not be ruled out as the best" in text
    assert "V030 chosen as the best of several: 4 candidates of a search are compared" in text
    assert "4 candidates of a search are compared" in page
    found = claimed(redelve.compare_scores(path, ratio=0.5).findings.tasks)
    assert found == computed({"search": table}, 0.5)
    assert computed({"search": table})[2] > found[2]  # the naive test finds more


# The real ones


def told(name: str) -> list[int]:
    """The numbers in a row of the page's table: "7 of 28", "376 of 406", …"""
    row = next(line for line in TEXT.splitlines() if line.startswith(f"| {name} "))
    return [
        int(number.replace(",", "")) for pair in re.findall(r"([\d,]+) of ([\d,]+)", row) for number in pair
    ]


def genuine(name: str) -> Path:
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"there is no {path}: docs/audits.md says where it comes from")
    return path


@cache
def audited(name: str, **options: Any) -> redelve.Assessment:
    return redelve.compare_scores(genuine(name), **options)


def alone(found: redelve.Assessment) -> Board:
    """What is claimed of each task by itself."""
    return claimed(found.findings.tasks)


def together(found: redelve.Assessment) -> Board:
    """What is claimed of the average over tasks."""
    across = found.findings.across
    assert across is not None
    won = {frozenset((one.first, one.second)): one.winner is not None for one in across.pairs}
    board = [one.method for one in across.by_loss]
    beside = [won[frozenset(pair)] for pair in pairwise(board)]
    return sum(beside), len(beside), sum(won.values()), len(won)


MMLU = "mmlu-pro-29-models.parquet"
REAL: dict[str, Callable[[], Board]] = {
    "MMLU-Pro": lambda: alone(audited(MMLU, higher_is_better=False, pooled=True)),
    "sbi": lambda: together(audited("benchopt/sbi.parquet")),
    "sbi, task by task": lambda: alone(audited("benchopt/sbi.parquet")),
    "OpenML": lambda: alone(audited("openml-iris")),
    "grid search": lambda: alone(audited("icassp-2019/cv_results.csv", ratio=0.5)),
}
SLOW: dict[str, Callable[[], Board]] = {
    "MMLU-Pro, over subjects": lambda: together(audited(MMLU, higher_is_better=False)),
    "bake-off": lambda: together(audited("tsc-bakeoff", ratio=1)),
    "bake-off, task by task": lambda: alone(audited("tsc-bakeoff", ratio=1)),
}


@pytest.mark.parametrize(
    "name", [*REAL, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)], ids=str
)
def test_the_page_tells_what_the_command_finds(name: str) -> None:
    assert list((REAL | SLOW)[name]()) == told(name)


def test_mmlu_pro_by_plain_t_tests() -> None:
    wide = pd.read_parquet(genuine(MMLU)).drop(columns="category").dropna()
    assert list(computed({"all": wide})) == told("MMLU-Pro")


@pytest.mark.parametrize(("ratio", "wanted"), [(None, 90), (0.5, 37), (1.0, 24), (2.0, 17)])
def test_hc2_and_mr_hydra_differ_on_fewer_data_sets_than_it_seems(ratio: float | None, wanted: int) -> None:
    folder = genuine("tsc-bakeoff")
    one, two = (pd.read_csv(folder / f"{name}_accuracy.csv", index_col=0) for name in ("HC2", "MR-Hydra"))
    assert sum(p_value(one.loc[name] - two.loc[name], ratio) < 0.05 for name in one.index) == wanted
