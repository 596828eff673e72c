"""Tables of MLflow and W&B: rows of an evaluation, or runs with their metrics; Parquet, CSV or their JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.data.scores.json_texts import head
from redelve.data.scores.readers.frame_reader import FrameReader
from redelve.data.scores.readers.reader_tools import chosen, short_hash
from redelve.data.scores.score_readers import ScoreWish
from redelve.data.scores.score_table import COLUMNS, ScoreTable, no_such_column
from redelve.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

SCORED = re.compile(r"(.+?)(/v\d+)?/(score|value)")
WANDB_RUN = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-(\w+)")
METRIC = re.compile(r"metrics\.(.+)")
ASKED = ("inputs", "input", "request", "question", "prompt")
CASES = ("case", "id", "sample_id", "question_id", "row_id", "request_id")
RUN_ROLES = {
    "model": ("params.model", "tags.model", "tags.mlflow.runName"),
    "task": ("params.dataset", "params.task", "tags.dataset"),
    "case": ("params.case",),
    "fold": ("params.fold", "params.split", "tags.fold"),
    "run": ("params.seed",),
}
NAMES = (".table.json", "_results_table.json")
"""How W&B and MLflow call their tables."""
NO_SCORES = ("row", "index", "_step", "_timestamp", "_runtime", "step")


class TrackedTables(FrameReader):
    """Rows of an evaluation (`correctness/score`, `*.table.json`), or runs (`metrics.accuracy`)."""

    title = "tables of MLflow and W&B"
    columns = tuple(name for name in COLUMNS if name != "score")
    plain_names = ("eval_results_table", "table", "media")
    in_folders = NAMES

    def model(self, path: Path) -> str:
        """The run that a table belongs to, by the folders of MLflow and W&B; else the name of the file."""
        return _run_of(path.resolve()) or super().model(path)

    def knows(self, columns: Sequence[str]) -> bool:
        """Scores named as MLflow does, or its runs."""
        return any(map(SCORED.fullmatch, columns)) or _are_runs(columns)

    def recognises_file(self, path: Path) -> bool:
        """Such a table, or JSON with a name that one of the two gives its tables."""
        return (path.name.endswith(NAMES) and path.is_file()) or super().recognises_file(path)

    def _scores(self, frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
        return self.scores(frame.set_axis([str(name) for name in frame.columns], axis=1), wish, source)

    def scores(self, frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
        """A row for every row of an evaluation, or for every run."""
        names = [str(name) for name in frame.columns]
        if _are_runs(names):
            return _of_runs(frame, wish, source)
        scored = {found[1]: name for name in names if (found := SCORED.fullmatch(name))}
        if not scored:
            scored = {name: name for name in names if _may_be_score(frame[name], name, wish)}
        kind = chosen(scored, replace(wish, score=_short(wish.score)), source)
        return _of_rows(frame, scored[kind], wish, ScoreTable(source, frame, kind))


def _run_of(path: Path) -> str:
    """The run in whose folder a file lies: its name where MLflow has written it down, else its id."""
    for folder in path.parents:
        if folder.name == "artifacts":
            named = folder.parent / "tags" / "mlflow.runName"
            return head(named, 200).strip() or folder.parent.name
        if found := WANDB_RUN.fullmatch(folder.name):
            return found[1]
    return ""


def _are_runs(columns: Sequence[str]) -> bool:
    return "run_id" in columns and any(map(METRIC.fullmatch, columns))


def _short(name: str | None) -> str | None:
    found = SCORED.fullmatch(name or "")
    return found[1] if found else name


def _may_be_score(column: Any, name: str, wish: ScoreWish) -> bool:
    others = {*NO_SCORES, *CASES, *wish.columns.values()} - {wish.columns.get("score", "")}
    return column.dtype.kind in "fiub" and name.lower() not in others


def _named(frame: pd.DataFrame, wish: ScoreWish, role: str, usual: Sequence[str], source: str) -> str | None:
    """The column for a role: the one that you named, or a usual one that is there."""
    wanted = wish.columns.get(role)
    if wanted is not None and wanted not in frame.columns:
        raise no_such_column([str(name) for name in frame.columns], wanted, role, source)
    return wanted or next((name for name in usual if name in frame.columns), None)


# Rows of an evaluation


def _of_rows(frame: pd.DataFrame, column: str, wish: ScoreWish, table: ScoreTable) -> ScoreTable:
    made = frame[[column]].set_axis(["score"], axis=1).reset_index(drop=True)
    notes: tuple[str, ...] = ()
    for role in ("model", "task", "run", "group", "weight", "cost", "fold"):
        if (name := _named(frame, wish, role, (role,), table.source)) is not None:
            made = made.assign(**{role: frame[name].to_numpy()})
    asked = next((name for name in ASKED if name in frame.columns), None)
    hashes = None if asked is None else [short_hash(_text(one)) for one in frame[asked]]
    case = _named(frame, wish, "case", CASES, table.source)
    if case is not None:
        made = made.assign(case=frame[case].to_numpy())
    elif hashes is not None and len(set(hashes)) == len(hashes):
        made = made.assign(case=hashes)
        notes = (f"rows are paired by what was asked, {asked}",)
    else:
        made = made.assign(case=np.arange(1, len(made) + 1))
        notes = ("rows are paired by their order, since nothing says which case each is of",)
    if hashes is not None:
        made = made.assign(prompt=hashes)
    return replace(table, frame=made, notes=notes)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


# Runs


def _of_runs(frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
    kinds = [found[1] for name in frame.columns if (found := METRIC.fullmatch(str(name)))]
    kind = chosen(kinds, replace(wish, score=(wish.score or "").removeprefix("metrics.") or None), source)
    notes = _check_ended(frame, wish, source)
    roles = {
        role: name
        for role in COLUMNS
        if role != "score" and (name := _named(frame, wish, role, RUN_ROLES.get(role, ()), source))
    }
    if "model" not in roles or not {"case", "fold"} & set(roles):
        lacking = "model" if "model" not in roles else "fold"
        there = [str(name) for name in frame.columns if str(name).startswith(("params.", "tags."))]
        raise SpecError(
            f"{source} has runs of MLflow, and nothing says which {lacking} each is of: name a column, as in "
            f"{lacking}=…; it has {', '.join(there[:12])}"
        )
    made = frame[list(roles.values())].set_axis(list(roles), axis=1)
    made = made.assign(score=frame[f"metrics.{kind}"]).reset_index(drop=True)
    return ScoreTable(source, made, kind, notes=notes)


def _check_ended(frame: pd.DataFrame, wish: ScoreWish, source: str) -> tuple[str, ...]:
    """Refuse runs that did not end well, or note it where they are wanted all the same."""
    if "status" not in frame.columns:
        return ()
    bad = frame[frame["status"].astype(str) != "FINISHED"]
    if not len(bad):
        return ()
    first = bad["status"].iloc[0]
    told = f'{len(bad)} of {len(frame)} runs in {source} did not end well (the first is "{first}")'
    if not wish.unfinished:
        raise SpecError(
            f"{told}: leave them out, or take them as they are by unfinished=True (on the command line "
            "--unfinished)"
        )
    return (f"{told}, and were taken all the same",)
