"""Tables of MLflow and W&B: twins of what they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from redelve.data.scores import read_scores
from redelve.errors import RedelveError


def mlflow_table(path: Path, scores: list[float], inputs: list[str] | None = None) -> Path:
    """As mlflow.evaluate leaves it: eval_results_table.json of a run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    asked = inputs or [f"What is {i}?" for i in range(len(scores))]
    rows = [[one, "4", "5", value, 0.1] for one, value in zip(asked, scores, strict=True)]
    columns = ["inputs", "ground_truth", "outputs", "answer_similarity/v1/score", "latency"]
    path.write_text(json.dumps({"columns": columns, "data": rows}))
    return path


def wandb_table(path: Path, rows: list[list[Any]]) -> Path:
    about = {"_type": "table", "column_types": {}, "columns": ["id", "text", "correct"], "data": rows}
    path.write_text(json.dumps({**about, "ncols": 3, "nrows": len(rows)}))
    return path


def runs() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "run_id": f"{model}{fold}",
                "experiment_id": "0",
                "status": "FINISHED",
                "metrics.accuracy": 0.5 + 0.1 * fold + 0.2 * (model == "tree"),
                "metrics.log_loss": 0.5,
                "params.model": model,
                "params.fold": str(fold),
                "tags.mlflow.runName": f"{model}-{fold}",
            }
            for model in ("tree", "forest")
            for fold in range(3)
        ]
    )


def test_tables_of_mlflow_are_paired_by_what_was_asked(tmp_path: Path) -> None:
    one = mlflow_table(tmp_path / "one" / "eval_results_table.json", [1.0, 3.0])
    two = mlflow_table(tmp_path / "two" / "eval_results_table.json", [2.0, 5.0], ["What is 1?", "What is 0?"])
    table = read_scores([one, two], higher_is_better=True)
    wide = table.frame.pivot(index="case", columns="model", values="score")
    assert sorted(map(tuple, wide[["one", "two"]].to_numpy().tolist())) == [(1.0, 5.0), (3.0, 2.0)]
    assert table.metric == "answer_similarity"
    assert any("paired by what was asked" in note for note in table.notes)
    with pytest.raises(RedelveError, match="higher or a lower answer_similarity is better"):
        read_scores([one, two])


def test_models_are_called_like_the_runs_in_whose_folders_they_lie(tmp_path: Path) -> None:
    """As MLflow 3 and W&B lay out their folders."""
    mine = tmp_path / "mlruns" / "0" / "cd4ce1b6"
    table = mlflow_table(mine / "artifacts" / "eval_results_table.json", [1.0, 3.0])
    assert set(read_scores(table, higher_is_better=True).frame["model"]) == {"cd4ce1b6"}
    (mine / "tags").mkdir()
    (mine / "tags" / "mlflow.runName").write_text("forest")
    assert set(read_scores(table, higher_is_better=True).frame["model"]) == {"forest"}
    theirs = tmp_path / "wandb" / "offline-run-20261116_130641-xtl0abfz" / "files" / "media" / "table"
    theirs.mkdir(parents=True)
    table = wandb_table(
        theirs / "eval_0_c4828252de841d870a28.table.json", [["q1", "a", True], ["q2", "b", False]]
    )
    assert set(read_scores(table).frame["model"]) == {"xtl0abfz"}


def test_tables_are_found_in_folders(tmp_path: Path) -> None:
    """The folders of a tracker as they are, with all else that lies in them."""
    for number, run in enumerate(("large", "small")):
        place = tmp_path / "mlruns" / "0" / run / "artifacts"
        mlflow_table(place / "eval_results_table.json", [1.0, 3.0 - number])
        (place.parent / "meta.yaml").write_text("status: 3\n")
    table = read_scores(tmp_path / "mlruns", higher_is_better=True)
    assert set(table.frame["model"]) == {"large", "small"}
    wandb = tmp_path / "wandb" / "offline-run-20261116_130641-xtl0abfz" / "files" / "media" / "table"
    wandb.mkdir(parents=True)
    wandb_table(wandb / "eval_0_c4828252de841d870a28.table.json", [["q1", "a", True], ["q2", "b", False]])
    assert set(read_scores(tmp_path / "wandb").frame["model"]) == {"xtl0abfz"}
    (tmp_path / "empty").mkdir()
    with pytest.raises(RedelveError, match="no tables of MLflow and W&B in this folder"):
        read_scores(tmp_path / "empty", reader="tracked")


def test_the_same_as_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"request": ["a", "b"], "correctness/value": [1, 0], "style/value": [1, 1]})
    frame.to_parquet(tmp_path / "one.parquet")
    with pytest.raises(RedelveError, match=r"several scores \(correctness, style\)"):
        read_scores(tmp_path / "one.parquet")
    for name in ("correctness", "correctness/value"):
        table = read_scores(tmp_path / "one.parquet", metric=name, higher_is_better=True)
        assert list(table.frame["score"]) == [1.0, 0.0]
        assert set(table.frame["model"]) == {"one"}


def test_tables_of_wandb_have_a_case_or_an_order(tmp_path: Path) -> None:
    one = wandb_table(tmp_path / "one.table.json", [["q1", "a", True], ["q2", "b", False]])
    two = wandb_table(tmp_path / "two.table.json", [["q2", "a", True], ["q1", "b", True]])
    table = read_scores([one, two])
    wide = table.frame.pivot(index="case", columns="model", values="score")
    assert wide.loc["q1"].to_dict() == {"one": 1.0, "two": 1.0}
    assert table.higher_is_better
    plain = wandb_table(tmp_path / "plain.table.json", [[0.5, "a", True], [0.25, "b", False]])
    plain.write_text(plain.read_text().replace('"id"', '"seconds"'))
    with pytest.raises(RedelveError, match=r"several scores \(seconds, correct\)"):
        read_scores(plain)
    assert "paired by their order" in read_scores(plain, metric="correct").notes[0]


def test_runs_of_mlflow_are_folds_of_models() -> None:
    table = read_scores(runs(), metric="accuracy", ratio=0.5)
    assert table.is_by_fold
    assert set(table.frame["model"]) == {"tree", "forest"}
    assert sorted(table.frame["score"]) == pytest.approx([0.5, 0.6, 0.7, 0.7, 0.8, 0.9])
    with pytest.raises(RedelveError, match=r"several scores \(accuracy, log_loss\)"):
        read_scores(runs())
    with pytest.raises(RedelveError, match=r"nothing says which fold each is of.*params\.model"):
        read_scores(runs().drop(columns="params.fold"), metric="accuracy")


def test_runs_that_failed_are_refused_or_noted() -> None:
    frame = runs()
    frame.loc[2, "status"] = "FAILED"
    with pytest.raises(RedelveError, match=r'1 of 6 runs in the frame did not end well .*"FAILED"'):
        read_scores(frame, metric="accuracy")
    assert "1 of 6 runs" in read_scores(frame, metric="accuracy", unfinished=True).notes[0]


def test_a_row_that_is_too_short_is_refused(tmp_path: Path) -> None:
    path = wandb_table(tmp_path / "one.table.json", [["q1", "a", True], ["q2", "b"]])
    with pytest.raises(RedelveError, match="row 2 of its data has not 3 values"):
        read_scores(path)
