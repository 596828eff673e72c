"""Scores computed elsewhere: the contract's tables, long and wide, from frames and plain files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from redelve.data.scores import ScoreTable, read_scores
from redelve.errors import RedelveError

ROWS = [
    {"model": "a", "case": "q1", "score": 1},
    {"model": "a", "case": "q2", "score": 0},
    {"model": "b", "case": "q1", "score": 0},
    {"model": "b", "case": "q2", "score": 0},
]
LONG = pd.DataFrame(ROWS)


def as_rows(table: ScoreTable) -> list[tuple[str, str, float]]:
    frame = table.frame
    return sorted(zip(frame["model"].map(str), frame["case"].map(str), frame["score"], strict=True))


WANTED = [("a", "q1", 1.0), ("a", "q2", 0.0), ("b", "q1", 0.0), ("b", "q2", 0.0)]


def written(folder: Path, ending: str) -> Path:
    path = folder / f"scores{ending}"
    if ending == ".parquet":
        LONG.to_parquet(path)
    elif ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif ending == ".json":
        path.write_text(json.dumps(ROWS))
    else:
        LONG.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".jsonl", ".json"])
def test_the_same_scores_from_files(tmp_path: Path, ending: str) -> None:
    assert as_rows(read_scores(written(tmp_path, ending))) == WANTED


def test_the_same_scores_from_frames_and_rows() -> None:
    assert as_rows(read_scores(LONG)) == WANTED
    assert as_rows(read_scores(ROWS)) == WANTED
    polars = pytest.importorskip("polars")
    assert as_rows(read_scores(polars.DataFrame(ROWS))) == WANTED


def test_truths_are_ones_and_their_limits_known() -> None:
    table = read_scores(LONG.assign(score=LONG["score"] == 1))
    assert as_rows(table) == WANTED
    assert table.limits == (0.0, 1.0)


def test_the_index_that_pandas_writes_names_cases_or_is_left_out(tmp_path: Path) -> None:
    wide = pd.DataFrame({"a": [1, 0], "b": [0, 0]}, index=["q1", "q2"])
    wide.to_csv(tmp_path / "named.csv")
    assert as_rows(read_scores(tmp_path / "named.csv", higher_is_better=True)) == WANTED
    wide.reset_index(drop=True).to_csv(tmp_path / "counted.csv")
    counted = read_scores(tmp_path / "counted.csv", higher_is_better=True)
    assert set(counted.frame["model"]) == {"a", "b"}
    assert list(counted.frame["score"]) == [1, 0, 0, 0]
    pd.concat([LONG[:2], LONG[2:].reset_index(drop=True)]).to_csv(tmp_path / "long.csv")
    assert as_rows(read_scores(tmp_path / "long.csv", higher_is_better=True)) == WANTED
    (tmp_path / "gap.csv").write_text("model,,score\na,q1,1\nb,q1,0\n")
    with pytest.raises(RedelveError, match="column 2 has no name"):
        read_scores(tmp_path / "gap.csv", higher_is_better=True)


def test_a_wide_table_has_a_column_for_every_model() -> None:
    wide = pd.DataFrame({"question": ["q1", "q2"], "a": [1, 0], "b": [0, 0]})
    table = read_scores(wide, higher_is_better=True)
    assert as_rows(table) == WANTED
    assert "wide" in table.notes[0]


def test_files_without_models_are_called_by_their_names(tmp_path: Path) -> None:
    for model in ("a", "b"):
        LONG[LONG["model"] == model].drop(columns="model").to_csv(tmp_path / f"{model}.csv", index=False)
    assert as_rows(read_scores([tmp_path / "a.csv", tmp_path / "b.csv"])) == WANTED


def test_columns_by_other_names() -> None:
    frame = LONG.set_axis(["llm", "item", "acc"], axis=1)
    table = read_scores(frame, columns={"model": "llm"})
    assert as_rows(table) == WANTED
    assert table.metric == "acc"


def test_the_direction_is_said_or_told_by_the_name_and_noted() -> None:
    assert read_scores(LONG).higher_is_better
    assert any("by its name" in note for note in read_scores(LONG).notes)
    lower = read_scores(LONG.rename(columns={"score": "error"}))
    assert lower.higher_is_better is False
    with pytest.raises(RedelveError, match="higher or a lower blob is better"):
        read_scores(LONG.rename(columns={"score": "blob"}))
    with pytest.raises(RedelveError, match="higher or a lower score is better"):
        read_scores(pd.DataFrame({"case": [1, 2], "a": [0.0, 1.0], "b": [1.0, 1.0]}))


def test_what_is_no_number_is_refused_with_its_place() -> None:
    frame = LONG.assign(score=["1", "0", "high", "0"])
    with pytest.raises(RedelveError, match=r"row 3 of the frame .*\"b\".*'high'.*no number"):
        read_scores(frame)
    with pytest.raises(RedelveError, match=r"row 2 .* infinite"):
        read_scores(LONG.assign(score=[1.0, np.inf, 0.0, 0.0]))


MIXED = pd.DataFrame(
    [
        {"model": model, "task": task, "metric": metric, "case": f"q{i}", "score": 0.1 * i + (model == "b")}
        for model in "ab"
        for task, metric in (("t1", "accuracy"), ("t2", "loss"))
        for i in range(4)
    ]
)


def test_scores_of_several_metrics_are_not_taken_together() -> None:
    told = (
        r"the column metric tells of several scores \(accuracy, loss\), which cannot be taken together: "
        r'choose one, as in metric="accuracy" \(on the command line --metric accuracy\); if they are one and '
        "the same, remove the column"
    )
    for options in ({}, {"higher_is_better": True}, {"columns": {"task": "metric"}}, {"slices": ["metric"]}):
        with pytest.raises(RedelveError, match=told):
            read_scores(MIXED, **options)
    with pytest.raises(RedelveError, match="several scores"):
        read_scores(MIXED, metric="los")
    with pytest.raises(RedelveError, match=r"several scores \(accuracy, none\)"):
        read_scores(MIXED.assign(metric=MIXED["metric"].where(MIXED["metric"] != "loss")))


@pytest.mark.parametrize("options", [{"metric": "loss"}, {"columns": {"score": "loss"}}])
def test_the_rows_of_one_metric_are_chosen(options: dict[str, Any]) -> None:
    table = read_scores(MIXED, **options)
    assert set(table.frame["task"]) == {"t2"}
    assert (table.metric, table.higher_is_better) == ("loss", False)
    assert table.notes == (
        "the frame: columns are read as model: model; case: case; task: task; score: score; only rows with "
        "the metric loss",
        "a lower loss is taken to be better, by its name",
    )
    with pytest.raises(RedelveError, match=r'row 16 of the frame .* case "q3"'):
        read_scores(MIXED.assign(score=[0.0] * 15 + [np.inf]), **options)


def test_the_only_metric_names_the_score_and_its_direction() -> None:
    table = read_scores(LONG.assign(scorer="error"))
    assert (table.metric, table.higher_is_better) == ("error", False)
    assert table.notes == ("a lower error is taken to be better, by its name",)
    with pytest.raises(RedelveError, match="higher or a lower blob is better"):
        read_scores(LONG.assign(metric="blob"))
    with pytest.raises(RedelveError, match='there is no score "accuracy", only error'):
        read_scores(LONG.assign(metric="error"), metric="accuracy")
    named = read_scores(LONG.assign(metric="top 1").rename(columns={"score": "accuracy"}))
    assert (named.metric, named.higher_is_better) == ("accuracy", True)


def test_a_column_of_metrics_may_have_a_meaning_that_you_give_it() -> None:
    alike = MIXED.replace({"metric": {"loss": "recall"}})
    assert set(read_scores(alike, columns={"task": "metric"}).frame["task"]) == {"accuracy", "recall"}
    assert len(read_scores(alike, slices=["metric"]).frame) == 16


def test_a_wide_table_may_have_a_column_of_metrics() -> None:
    wide = MIXED.pivot_table(index=["metric", "case"], columns="model", values="score").reset_index()
    with pytest.raises(RedelveError, match="several scores"):
        read_scores(wide, higher_is_better=True)
    table = read_scores(wide, metric="loss")
    assert (table.metric, table.higher_is_better, len(table.frame)) == ("loss", False, 8)
    assert "case: case; only rows with the metric loss." in table.notes[0]
    wide["a"] = ["1"] * 7 + ["late"]
    with pytest.raises(RedelveError, match=r"in row 8 .*the column a has 'late'"):
        read_scores(wide, metric="loss")


def test_what_a_long_table_is_taken_as_is_told_where_it_is_not_plain() -> None:
    (note, _) = read_scores(LONG.rename(columns={"case": "question"}).assign(length=3, text="x")).notes
    assert note == (
        "the frame: columns are read as model: model; case: question; score: score; left out: length, text"
    )
    assert len(read_scores(LONG.rename(columns={"score": "accuracy"})).notes) == 1


def test_what_several_files_have_in_common_is_told_once(tmp_path: Path) -> None:
    for name in "ab":
        of_model = LONG[LONG["model"] == name].drop(columns="model").assign(length=3)
        of_model.to_csv(tmp_path / f"{name}.csv", index=False)
    table = read_scores([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert table.notes[0] == "a.csv, b.csv: columns are read as case: case; score: score; left out: length"
    assert len(table.notes) == 2


def test_a_metric_chooses_among_several_columns_of_scores() -> None:
    both = LONG.rename(columns={"score": "accuracy"}).assign(loss=[0.1, 0.9, 0.8, 0.7])
    table = read_scores(both, metric="loss")
    assert list(table.frame["score"]) == [0.1, 0.9, 0.8, 0.7]
    assert (table.metric, table.higher_is_better) == ("loss", False)
    assert as_rows(table) == as_rows(read_scores(both, columns={"score": "loss"}))
    called = read_scores(LONG, metric="accuracy")
    assert (called.metric, list(called.frame["score"])) == ("accuracy", [1, 0, 0, 0])
