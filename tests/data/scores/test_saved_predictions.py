"""Predictions saved with y_true: tables, arrays by numpy, dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from redelve.data.scores import read_scores
from redelve.errors import RedelveError

X, Y = load_iris(return_X_y=True)
MODELS = {"tree": DecisionTreeClassifier(max_depth=1), "log": LogisticRegression(max_iter=1000)}


@pytest.fixture(scope="module")
def guesses() -> dict[str, Any]:
    return {name: cross_val_predict(model, X, Y, cv=3) for name, model in MODELS.items()}


def test_predictions_of_cross_val_predict(guesses: dict[str, Any], tmp_path: Path) -> None:
    wide = pd.DataFrame({"y_true": Y, **guesses})
    wide.to_csv(tmp_path / "both.csv", index=False)
    np.savez(tmp_path / "both.npz", y_true=Y, **guesses)
    for name, guess in guesses.items():
        pd.DataFrame({"y_true": Y, "y_pred": guess}).to_parquet(tmp_path / f"{name}.parquet")
        np.savez(tmp_path / f"{name}.npz", y_true=Y, y_pred=guess)
    ways = [
        {"y_true": Y, **guesses},
        wide,
        wide.rename(columns={"tree": "y_pred_tree", "log": "y_pred_log"}),
        tmp_path / "both.csv",
        tmp_path / "both.npz",
        [tmp_path / "tree.parquet", tmp_path / "log.parquet"],
        [tmp_path / "tree.npz", tmp_path / "log.npz"],
    ]
    for way in ways:
        table = read_scores(way)
        found = table.frame.pivot(index="case", columns="model", values="score")
        for name, guess in guesses.items():
            assert list(found[name]) == list((guess == Y).astype(float))
        assert (table.metric, table.higher_is_better, table.limits) == ("accuracy", True, (0.0, 1.0))


def test_labels_are_the_same_as_numbers_and_as_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("y_true,y_pred\n1,1.0\n2,1\n2,2\n")
    assert list(read_scores(path).frame["score"]) == [1.0, 0.0, 1.0]


def test_numbers_have_squared_errors_and_folds_their_ratio() -> None:
    frame = pd.DataFrame(
        {
            "y_true": [1.0, 2.0, 3.5, 4.0],
            "fold": [0, 0, 1, 1],
            "id": list("abcd"),
            "ridge": [1.5, 2.0, 3.0, 4.0],
        }
    )
    table = read_scores(frame, columns={"case": "id"})
    assert list(table.frame["score"]) == [0.25, 0.0, 0.25, 0.0]
    assert list(table.frame["case"]) == list("abcd")
    assert (table.metric, table.ratio) == ("squared_error", 1.0)


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ({"y_true": [1, 2], "tree": [1]}, '"tree" has 1 values and y_true 2'),
        ({"y_true": [1, 2], "tree": [[0.5, 0.5], [0.1, 0.9]]}, "2 dimensions"),
        (pd.DataFrame({"y_true": [1, 2], "fold": [0, 1]}), "truths and no predictions"),
    ],
)
def test_bad_predictions_get_one_sentence(scores: Any, told: str) -> None:
    with pytest.raises(RedelveError, match=told):
        read_scores(scores)


def test_files_of_equal_names_are_called_by_their_folders_too(tmp_path: Path) -> None:
    for name, guess in (("tree", 1), ("gpt-4.1", 0)):
        (tmp_path / name).mkdir()
        for file in ("run", name):
            (tmp_path / name / f"{file}.csv").write_text(f"y_true,y_pred\n1,{guess}\n0,{guess}\n")
    for file, wanted in (("run", {"tree/run", "gpt-4.1/run"}), ("", {"tree", "gpt-4.1"})):
        paths = [tmp_path / name / f"{file or name}.csv" for name in ("tree", "gpt-4.1")]
        assert set(read_scores(paths).frame["model"]) == wanted
        plain = [path.with_suffix(".tsv") for path in paths]
        for path in plain:
            path.write_text("case\tscore\n1\t1\n2\t0\n")
        assert set(read_scores(plain).frame["model"]) == wanted


def test_pickled_arrays_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", y_true=np.array(["a", None], dtype=object), y_pred=np.array([1, 2]))
    with pytest.raises(RedelveError, match="can't read its arrays"):
        read_scores(tmp_path / "a.npz")
