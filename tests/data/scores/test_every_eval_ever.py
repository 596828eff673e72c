"""Records of Every Eval Ever: a twin by its schema (instance_level_eval 0.2.1), and what redelve writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from redelve.data.scores import read_scores
from redelve.data.scores.readers.every_eval_ever import write_every_eval_ever
from redelve.errors import RedelveError

REQUIRED = {
    "schema_version": str,
    "evaluation_id": str,
    "model_id": str,
    "evaluation_name": str,
    "sample_id": str,
    "interaction_type": str,
    "input": dict,
    "answer_attribution": list,
    "evaluation": dict,
}
"""What the schema requires of every record, and of which type."""
ALLOWED = {*REQUIRED, "sample_hash", "output", "messages", "token_usage", "performance", "error", "metadata"}


def record(model: str, i: int, score: float | None, **more: Any) -> dict[str, Any]:
    return {
        "schema_version": "0.2.1",
        "evaluation_id": f"sums/{model}/1",
        "model_id": model,
        "evaluation_name": "sums",
        "sample_id": f"id{i}",
        "sample_hash": f"{i:064x}",
        "interaction_type": "single_turn",
        "input": {"raw": f"What is {i} + {i}?", "reference": [str(i + i)]},
        "output": {"raw": ["4"]},
        "messages": None,
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == 1},
        "error": None,
        "metadata": None,
        **more,
    }


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def two_models(path: Path) -> Path:
    rows = [record("one", i, 1.0) for i in range(3)] + [record("two", i, float(i == 0)) for i in range(3)]
    return write(path, rows)


def pivot(table: Any) -> dict[str, list[float]]:
    wide = table.frame.pivot(index="case", columns="model", values="score")
    return {str(model): list(wide[model]) for model in wide.columns}


def test_a_file_of_records_is_read(tmp_path: Path) -> None:
    table = read_scores(two_models(tmp_path / "all_samples.jsonl"))
    assert pivot(table) == {"one": [1.0, 1.0, 1.0], "two": [1.0, 0.0, 0.0]}
    assert set(table.frame.columns) == {"model", "task", "case", "score", "prompt"}
    assert table.higher_is_better


def test_the_file_of_the_whole_evaluation_says_what_is_better(tmp_path: Path) -> None:
    path = two_models(tmp_path / "abc_samples.jsonl")
    config = {"lower_is_better": True, "min_score": 0, "max_score": 5}
    (tmp_path / "abc.json").write_text(json.dumps({"evaluation_results": [{"metric_config": config}]}))
    table = read_scores(path)
    assert (table.higher_is_better, table.limits) == (False, (0.0, 5.0))


def test_a_sample_that_counts_for_several_results_needs_a_choice(tmp_path: Path) -> None:
    rows = [
        record("one", i, value, evaluation_result_id=result)
        for i in range(2)
        for result, value in (("em", 1.0), ("f1", 0.5))
    ]
    path = write(tmp_path / "a_samples.jsonl", rows)
    with pytest.raises(RedelveError, match=r"several scores \(em, f1\)"):
        read_scores(path)
    assert list(read_scores(path, metric="f1").frame["score"]) == [0.5, 0.5]


def test_several_evaluations_of_a_model_are_runs(tmp_path: Path) -> None:
    rows = [record("one", i, 1.0, evaluation_id=f"sums/one/{k}") for i in range(2) for k in range(3)]
    frame = read_scores(write(tmp_path / "a_samples.jsonl", rows)).frame
    assert frame["run"].nunique() == 3


def test_models_without_a_common_id_are_paired_by_hash(tmp_path: Path) -> None:
    rows = [record(model, i, 1.0, sample_id=f"{model}-{i}") for model in ("one", "two") for i in range(2)]
    table = read_scores(write(tmp_path / "a_samples.jsonl", rows))
    assert table.frame["case"].nunique() == 2
    assert any("sample_hash" in note for note in table.notes)


def test_a_record_with_an_error_and_no_score_is_missing(tmp_path: Path) -> None:
    rows = [record("one", 0, None, error="timeout"), record("one", 1, 1.0)]
    assert read_scores(write(tmp_path / "a_samples.jsonl", rows)).frame["score"].isna().sum() == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"evaluation": {"score": "good"}}, "line 1: the score is 'good', which is no number"),
        ({"evaluation": {"score": float("inf")}}, "row 1 .* infinite"),
    ],
)
def test_bad_records_get_one_sentence(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    with pytest.raises(RedelveError, match=told):
        read_scores(write(tmp_path / "a_samples.jsonl", [record("one", 0, 1.0, **change)]))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        [
            {"model": m, "case": f"q{i}", "task": t, "run": str(r), "group": f"g{i // 2}"}
            for m in ("a", "b")
            for i in range(4)
            for t in ("x", "y")
            for r in (1, 2)
        ]
    )
    frame["score"] = rng.random(len(frame)).round(3)
    frame.loc[3, "score"] = np.nan
    table = read_scores(frame, higher_is_better=True, limits=(0, 1))
    path = tmp_path / "out_samples.jsonl"
    write_every_eval_ever(table, path)
    again = read_scores(path).frame
    wanted = table.frame.dropna().reset_index(drop=True)
    pd.testing.assert_frame_equal(again[wanted.columns], wanted, check_dtype=False)


def test_what_is_written_keeps_to_the_schema(tmp_path: Path) -> None:
    table = read_scores([{"model": "a", "case": 1, "score": 1}, {"model": "a", "case": 2, "score": 0}])
    write_every_eval_ever(table, tmp_path / "out.jsonl")
    for line, right in zip((tmp_path / "out.jsonl").read_text().splitlines(), (True, False), strict=True):
        one = json.loads(line)
        assert set(one) <= ALLOWED
        assert all(isinstance(one[name], kind) for name, kind in REQUIRED.items())
        assert set(one["input"]) >= {"raw", "reference"}
        assert one["output"] == {"raw": []}
        assert one["evaluation"] == {"score": float(right), "is_correct": right}


def test_scores_of_folds_have_no_records(tmp_path: Path) -> None:
    folds = pd.DataFrame({"model": ["a", "a"], "fold": [0, 1], "score": [1.0, 2.0]})
    with pytest.raises(RedelveError, match="scores of folds"):
        write_every_eval_ever(read_scores(folds, ratio=1.0), tmp_path / "x.jsonl")
