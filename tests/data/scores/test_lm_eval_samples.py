"""Samples of lm-evaluation-harness: a synthetic twin of what its EvaluationTracker writes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from redelve.data.scores import read_scores
from redelve.errors import RedelveError

DATE = "2026-01-21T03-44-18.458309"
RIGHT = {"org/one": [1, 0, 1, 1], "org/two": [0, 0, 1, 0]}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def sample(i: int, right: float, **more: Any) -> dict[str, Any]:
    doc = {"question": f"What is {i} + {i}?"}
    return {
        "doc_id": i,
        "doc": doc,
        "target": str(i + i),
        "arguments": {"gen_args_0": {"arg_0": f"Q: {doc['question']}"}},
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": sha(json.dumps(doc)),
        "prompt_hash": sha(f"Q: {doc['question']}"),
        "target_hash": sha(str(i + i)),
        "acc": float(right),
        **more,
    }


def results(model: str, count: int = 4, **more: Any) -> dict[str, Any]:
    return {
        "results": {"sums": {"acc,none": 0.5}},
        "higher_is_better": {"sums": {"acc": True}},
        "n-samples": {"sums": {"original": 100, "effective": count}},
        "config": {"model": "hf", "model_args": f"pretrained={model},dtype=float"},
        "model_name": model,
        **more,
    }


def write(folder: Path, model: str, rows: list[dict[str, Any]], about: dict[str, Any] | None = None) -> Path:
    place = folder / model.replace("/", "__")
    place.mkdir(exist_ok=True)
    if about is not None:
        (place / f"results_{DATE}.json").write_text(json.dumps(about))
    path = place / f"samples_sums_{DATE}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for model, right in RIGHT.items():
        rows = [sample(i, value) for i, value in enumerate(right)]
        write(tmp_path, model, rows if model == "org/one" else rows[::-1], results(model))
    return tmp_path


def test_documents_are_paired_by_their_hash_and_not_by_their_order(folder: Path) -> None:
    table = read_scores(folder)
    wide = table.frame.pivot(index="case", columns="model", values="score")
    for i in range(4):
        wanted = {model: float(right[i]) for model, right in RIGHT.items()}
        assert dict(wide.loc[sample(i, 0)["doc_hash"]]) == wanted
    assert (table.metric, table.higher_is_better, set(table.frame["task"])) == ("acc", True, {"sums"})
    assert table.frame.groupby("case")["prompt"].nunique().eq(1).all()


def test_without_results_the_folder_is_the_model(tmp_path: Path) -> None:
    path = write(tmp_path, "org/one", [sample(0, 1), sample(1, 0)])
    assert set(read_scores(path).frame["model"]) == {"org/one"}


def test_several_metrics_and_filters_are_chosen_by_their_own_names(tmp_path: Path) -> None:
    two = {"metrics": ["acc", "acc_norm"], "acc_norm": 1.0}
    path = write(tmp_path, "a", [sample(i, 0, **two) for i in range(3)])
    with pytest.raises(RedelveError, match=r"several scores \(acc, acc_norm\).*metric=\"acc\""):
        read_scores(path)
    assert set(read_scores(path, metric="acc_norm").frame["score"]) == {1.0}
    rows = [sample(i, way == "strict", filter=way) for i in range(3) for way in ("strict", "flexible")]
    path = write(tmp_path, "b", rows)
    with pytest.raises(RedelveError, match=r"several scores \(acc,strict, acc,flexible\)"):
        read_scores(path)
    table = read_scores(path, metric="acc,strict")
    assert list(table.frame["score"]) == [1.0, 1.0, 1.0]
    assert list(read_scores(write(tmp_path, "c", [sample(0, 1)]), metric="acc,none").frame["score"]) == [1.0]


def test_equal_documents_are_told_apart_by_their_order(tmp_path: Path) -> None:
    twin = {"doc_hash": "same"}
    path = write(tmp_path, "a", [sample(1, 0, **twin), sample(0, 1, **twin), sample(2, 1)])
    frame = read_scores(path).frame
    assert dict(zip(frame["case"], frame["score"], strict=True))["same"] == 1.0
    assert dict(zip(frame["case"], frame["score"], strict=True))["same#2"] == 0.0


def test_lists_such_as_the_parts_of_a_perplexity_are_no_scores(tmp_path: Path) -> None:
    parts = {"metrics": ["acc", "word_perplexity"], "word_perplexity": [-12.5, 4]}
    assert read_scores(write(tmp_path, "a", [sample(0, 1, **parts)])).metric == "acc"


def test_half_a_file_is_refused_or_noted(tmp_path: Path) -> None:
    path = write(tmp_path, "a", [sample(i, 1) for i in range(2)], results("a"))
    with pytest.raises(RedelveError, match="has 2 of the 4 documents"):
        read_scores(path)
    assert "2 of the 4" in read_scores(path, unfinished=True).notes[0]
    path.write_text(path.read_text()[:-40])
    with pytest.raises(RedelveError, match=r"line 2.*cut off"):
        read_scores(path)


def test_two_files_of_a_model_on_a_task_are_refused(folder: Path) -> None:
    (one,) = (folder / "org__one").glob("samples*")
    again = one.with_name("samples_sums_2026-02-21T03-44-18.458309.jsonl")
    again.write_text(one.read_text())
    (folder / "org__one" / "results_2026-02-21T03-44-18.458309.json").write_text(
        json.dumps(results("org/one"))
    )
    with pytest.raises(RedelveError, match="are both of org/one on sums: give only one"):
        read_scores(folder)


def test_tasks_that_want_different_things_are_refused(folder: Path) -> None:
    (one,) = (folder / "org__one").glob("samples*")
    other = one.with_name(one.name.replace("sums", "losses"))
    other.write_text(one.read_text())
    about = results("org/one")
    about["higher_is_better"]["losses"] = {"acc": False}
    (one.parent / f"results_{DATE}.json").write_text(json.dumps(about))
    with pytest.raises(RedelveError, match="higher acc is better on sums, a lower one on losses"):
        read_scores([one, other])


def test_files_without_a_common_metric_are_refused(tmp_path: Path) -> None:
    one = write(tmp_path, "a", [sample(0, 1)])
    row = {**sample(0, 1), "metrics": ["bleu"], "bleu": 3.0}
    with pytest.raises(RedelveError, match="no metric in common"):
        read_scores([one, write(tmp_path, "b", [row])])
