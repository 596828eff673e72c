"""Every Eval Ever: records of single samples, a JSON object in every line; read and written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from redelve.data.files import StrPath, write_atomic
from redelve.data.scores.json_texts import head, json_objects, read_json
from redelve.data.scores.readers.reader_tools import (
    any_below,
    as_dict,
    as_list,
    chosen,
    expect,
    gathered,
    short_hash,
)
from redelve.data.scores.score_readers import ScoreReader, ScoreWish
from redelve.data.scores.score_table import ScoreTable, as_real
from redelve.errors import RedelveError, SpecError

SCHEMA_VERSION = "0.2.1"
ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz")
KEPT = ("run", "fold", "training_set", "group", "cost", "weight", "prompt")
"""Columns that go into a record's metadata, and come back from there."""


@dataclass(frozen=True)
class _Metric:
    """What the record of all samples says of a score."""

    better_if_lower: bool | None = None
    limits: tuple[float, float] = (-inf, inf)


class EveryEvalEver(ScoreReader):
    """Files of records by sample; what is better stands in the JSON file of the same name beside them."""

    title = "records of Every Eval Ever"

    def recognises(self, path: Path) -> bool:
        """A file of records, or a folder with such files."""
        return any_below(path, _is_records) if path.is_dir() else _is_records(path)

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        """A row for every record, of one of the results that samples count for."""
        import pandas as pd

        files = gathered(paths, _is_records, self.title)
        source = files[0].name if len(files) == 1 else f"{len(files)} files of records"
        rows = [row for path in files for row in _rows(path)]
        rows, name = _of_one_result(rows, wish, source)
        frame = pd.DataFrame(rows)
        about = _combined([_about(path, name) for path in files], source)
        frame, notes = _paired(_with_runs(frame))
        empty = [column for column in ("run", *KEPT) if column in frame and frame[column].isna().all()]
        return ScoreTable(
            source,
            frame.drop(columns=["evaluation", "hash", *empty]),
            metric=name or "score",
            higher_is_better=None if about.better_if_lower is None else not about.better_if_lower,
            limits=about.limits,
            notes=notes,
        )


def _is_records(path: Path) -> bool:
    if not path.name.endswith(ENDINGS):
        return False
    start = head(path).split("\n", 1)[0]
    return all(f'"{name}"' in start for name in ("evaluation_id", "model_id", "evaluation_name", "sample_id"))


# Reading


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line, record in json_objects(path):
        for name in ("model_id", "evaluation_name", "sample_id", "evaluation"):
            expect(name in record, path, line, f'this record has no "{name}"')
        score = as_dict(record["evaluation"]).get("score")
        expect(
            score is None or isinstance(score, int | float),
            path,
            line,
            f"the score is {score!r:.40}, which is no number",
        )
        asked = as_dict(record.get("input"))
        about = as_dict(record.get("metadata"))
        yield {
            "model": str(record["model_id"]),
            "task": str(record["evaluation_name"]),
            "case": str(record["sample_id"]),
            "score": float("nan") if score is None else float(as_real(score)),
            "evaluation": str(record.get("evaluation_id") or ""),
            "hash": str(record.get("sample_hash") or ""),
            "result": str(record.get("evaluation_result_id") or ""),
            **{column: about.get(column) for column in KEPT},
            "prompt": about.get("prompt") or _asked(asked),
        }


def _asked(asked: Mapping[str, Any]) -> str | None:
    text = asked.get("formatted") or asked.get("raw")
    return short_hash(text) if isinstance(text, str) and text else None


def _of_one_result(
    rows: list[dict[str, Any]], wish: ScoreWish, source: str
) -> tuple[list[dict[str, Any]], str]:
    """The records of one result: a sample has one for every metric that it counts for."""
    by_task: dict[str, set[str]] = {}
    for row in rows:
        by_task.setdefault(row["task"], set()).add(row["result"])
    named = wish.score if wish.score not in ("score", None) else None
    if named is None and all(len(results) == 1 for results in by_task.values()):
        return [_without_result(row) for row in rows], ""
    name = chosen((row["result"] for row in rows if row["result"]), wish, source)
    return [_without_result(row) for row in rows if row["result"] == name], name


def _without_result(row: dict[str, Any]) -> dict[str, Any]:
    return {column: value for column, value in row.items() if column != "result"}


def _with_runs(frame: Any) -> Any:
    """Evaluations of the same model on the same task are runs."""
    if not frame["run"].isna().all():
        return frame
    several = frame.groupby(["model", "task"])["evaluation"].nunique().gt(1).any()
    return frame.assign(run=frame["evaluation"]) if several else frame


def _paired(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """Cases by their ids, or by their hashes where models share no id."""
    models = [set(part["case"]) for _, part in frame.groupby("model")]
    hashes = [set(part["hash"]) for _, part in frame.groupby("model")]
    if len(models) < 2 or set.intersection(*models) or (frame["hash"] == "").any():
        return frame, ()
    if not set.intersection(*hashes):
        return frame, ()
    return frame.assign(case=frame["hash"]), (
        "the models' records share no sample_id: they are paired by sample_hash",
    )


def _about(path: Path, result: str) -> _Metric:
    """What the file of all samples beside these records says of the score."""
    stem = path.name.split(".jsonl")[0].removesuffix("_samples")
    whole = path.with_name(f"{stem}.json")
    try:
        log = as_dict(read_json(whole)) if whole.is_file() else {}
    except RedelveError:
        log = {}
    results = [as_dict(one) for one in as_list(log.get("evaluation_results"))]
    if result:
        results = [one for one in results if one.get("evaluation_result_id") == result]
    metrics = [as_dict(one.get("metric_config")) for one in results]
    lower = {one["lower_is_better"] for one in metrics if isinstance(one.get("lower_is_better"), bool)}
    if len(lower) > 1:
        raise SpecError(
            f"{whole.name}: a lower score is better in some of its results and a higher one in others: "
            "choose one by metric=… (on the command line --metric)"
        )
    return _Metric(lower.pop() if lower else None, _limits(metrics))


def _limits(metrics: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """The lowest and the highest score of all, where all say so."""
    ends = [(one.get("min_score"), one.get("max_score")) for one in metrics]
    known = [
        (float(as_real(low)), float(as_real(high)))
        for low, high in ends
        if isinstance(low, int | float) and isinstance(high, int | float) and low < high
    ]
    if not known or len(known) < len(ends):
        return -inf, inf
    return min(low for low, _ in known), max(high for _, high in known)


def _combined(each: Sequence[_Metric], source: str) -> _Metric:
    lower = {one.better_if_lower for one in each if one.better_if_lower is not None}
    if len(lower) > 1:
        raise SpecError(f"{source} say different things of what is better: compare their tasks apart")
    limits = (min(one.limits[0] for one in each), max(one.limits[1] for one in each))
    return _Metric(lower.pop() if lower else None, limits)


# Writing


def write_every_eval_ever(table: ScoreTable, path: StrPath) -> None:
    """Write scores as records of Every Eval Ever, one line each.

    What was asked and answered is not known of scores alone, so `input` and `output` are empty; scores that
    are missing are left out. `is_correct` says whether a score is the best that its limits allow. Columns
    of the contract that the format has no place for stand in `metadata`.

    Parameters
    ----------
    table : ScoreTable
        Scores of models on cases, as `read_scores` returns them.
    path : str or path
        The file to write, such as `results_samples.jsonl`.
    """
    if table.is_by_fold:
        raise SpecError(
            f"{table.source} has scores of folds and none of cases: Every Eval Ever has records of cases only"
        )
    best = table.limits[1] if table.higher_is_better else table.limits[0]
    rows = table.frame[table.frame["score"].notna()].to_dict("records")
    records = (_record({str(name): value for name, value in row.items()}, table, best) for row in rows)
    write_atomic(path, (json.dumps(one, ensure_ascii=False) + "\n" for one in records))


def _record(row: Mapping[str, Any], table: ScoreTable, best: float) -> dict[str, Any]:
    task, model, score = str(row.get("task", table.metric)), str(row["model"]), float(row["score"])
    about = {name: str(row[name]) for name in KEPT if name in row}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{task}/{model}/redelve",
        "model_id": model,
        "evaluation_name": task,
        "sample_id": str(row["case"]),
        "interaction_type": "single_turn",
        "input": {"raw": "", "reference": []},
        "output": {"raw": []},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == best},
        "metadata": about or None,
    }
