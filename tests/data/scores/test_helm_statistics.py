"""Statistics of HELM by instance: a twin of what helm-run leaves in a run's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from redelve.data.scores import read_scores
from redelve.errors import RedelveError


def stat(name: str, value: float | None, split: str = "test", **about: Any) -> dict[str, Any]:
    if value is None:
        return {"name": {"name": name, "split": split, **about}, "count": 0, "sum": 0, "sum_squared": 0}
    return {"name": {"name": name, "split": split, **about}, "count": 1, "sum": value, "mean": value}


def entry(i: int, value: float | None, split: str = "test", **more: Any) -> dict[str, Any]:
    stats = [
        stat("num_references", 4, split),
        stat("exact_match", value, split),
        stat("f1_score", 0.5, split),
    ]
    return {"instance_id": f"id{i}", "train_trial_index": 0, "stats": stats, **more}


def run(folder: Path, model: str, entries: list[dict[str, Any]], names: list[str] | None = None) -> Path:
    place = folder / f"mmlu:subject=anatomy,method=joint,model={model.replace('/', '_')}"
    place.mkdir()
    spec = {
        "name": place.name,
        "adapter_spec": {"method": "joint", "model": model, "model_deployment": "x", "max_tokens": 1},
        "metric_specs": [{"class_name": "Basic", "args": {"names": names or ["exact_match"]}}],
    }
    (place / "run_spec.json").write_text(json.dumps(spec))
    path = place / "per_instance_stats.json"
    path.write_text(json.dumps(entries))
    return path


def test_the_runs_in_a_folder_are_compared_by_what_they_were_told_to_measure(tmp_path: Path) -> None:
    run(tmp_path, "org/one", [entry(i, 1.0) for i in range(3)])
    run(tmp_path, "org/two", [entry(i, float(i == 1)) for i in range(3)])
    table = read_scores(tmp_path)
    wide = table.frame.pivot(index="case", columns="model", values="score")
    assert list(wide["org/one"]) == [1.0, 1.0, 1.0]
    assert list(wide["org/two"]) == [0.0, 1.0, 0.0]
    assert (table.metric, set(table.frame["task"])) == ("exact_match", {"mmlu:subject=anatomy,method=joint"})
    assert table.frame["prompt"].nunique() == 1


def test_several_measures_need_a_choice(tmp_path: Path) -> None:
    path = run(tmp_path, "a", [entry(0, 1.0)], ["exact_match", "f1_score"])
    with pytest.raises(RedelveError, match=r"several scores \(exact_match, f1_score\)"):
        read_scores(path)
    assert list(read_scores(path, metric="f1_score").frame["score"]) == [0.5]
    assert list(read_scores(path, metric="num_references", higher_is_better=True).frame["score"]) == [4.0]


def test_the_test_split_is_taken_and_perturbed_instances_are_not(tmp_path: Path) -> None:
    typo = {"name": "typos", "robustness": True}
    rows = [entry(0, 1.0), entry(1, 1.0, "valid"), entry(2, None), entry(0, 0.0, perturbation=typo)]
    table = read_scores(run(tmp_path, "a", rows))
    assert list(table.frame["case"]) == ["id0", "id2"]
    assert table.frame["score"].isna().sum() == 1
    assert any("not those of valid" in note for note in table.notes)
    assert "perturbed instances are left out" in table.notes


def test_bad_runs_get_one_sentence(tmp_path: Path) -> None:
    path = run(tmp_path, "a", [entry(0, 1.0)])
    (path.parent / "run_spec.json").unlink()
    assert set(read_scores(path, metric="exact_match").frame["model"]) == {"a"}
    plain = tmp_path / "plain"
    plain.mkdir()
    moved = plain / "per_instance_stats.json"
    moved.write_text(path.read_text())
    with pytest.raises(RedelveError, match="which model this is"):
        read_scores(moved)
    path.write_text('[{"stats": []}]')
    with pytest.raises(RedelveError, match="instance_id"):
        read_scores(path)
    broken = entry(0, 1.0)
    broken["stats"][1]["mean"] = "good"
    path.write_text(json.dumps([broken]))
    with pytest.raises(RedelveError, match="'good', which is no number"):
        read_scores(path, metric="exact_match")


def test_two_runs_of_a_model_on_a_task_are_refused(tmp_path: Path) -> None:
    for suite in ("v1", "v2"):
        (tmp_path / suite).mkdir()
        run(tmp_path / suite, "a", [entry(0, 1.0)])
    with pytest.raises(RedelveError, match="are both of a on mmlu"):
        read_scores(tmp_path)
