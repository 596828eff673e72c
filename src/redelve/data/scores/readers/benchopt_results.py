"""Results of benchopt, Parquet or CSV: the last value that each solver reached, by dataset and repetition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from redelve.data.scores.readers.frame_reader import FrameReader
from redelve.data.scores.readers.reader_tools import chosen
from redelve.data.scores.score_readers import ScoreWish
from redelve.data.scores.score_table import ScoreTable
from redelve.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

DATA = ("dataset_name", "data_name")
PREFIX = "objective_"
NO_VALUES = ("objective_name",)
STRATEGIES = ("sampling_strategy", "stopping_strategy")
"""Columns of now and of before that say what a solver is stopped by."""


class BenchoptResults(FrameReader):
    """Curves of solvers on datasets, of which the end of each is the score."""

    title = "results of benchopt"
    columns = ("fold",)
    in_folders = (".parquet",)

    def knows(self, columns: Sequence[str]) -> bool:
        """Solver, dataset, repetition and how long a solver ran."""
        there = set(columns)
        return {"solver_name", "idx_rep", "stop_val"} <= there and bool(there & set(DATA))

    def scores(self, frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
        """A row for every solver, dataset and repetition.

        With several repetitions each dataset is a task, and its repetitions are the cases. With one, the
        datasets are the cases.
        """
        data = next(name for name in DATA if name in frame.columns)
        frame = frame.reset_index(drop=True)
        column = _value_column(frame, wish, source)
        last = _ends(frame, data)
        made, told = _designed(last, data, wish)
        made = made.assign(model=last["solver_name"], score=last[column])
        if "time" in last.columns:
            made = made.assign(cost=last["time"])
        name = column.removeprefix(PREFIX)
        return ScoreTable(
            source,
            made.reset_index(drop=True),
            metric="objective" if name == "value" else name,
            higher_is_better=False if name == "value" else None,
            notes=("the last value that a solver reached is its score", told),
        )


def _designed(last: pd.DataFrame, data: str, wish: ScoreWish) -> tuple[pd.DataFrame, str]:
    """What a task and what a case is, and what is told of it."""
    if "fold" in wish.columns:
        if wish.columns["fold"] != "idx_rep":
            raise SpecError(f'folds of benchopt are its repetitions, idx_rep, not "{wish.columns["fold"]}"')
        made = last[[]].assign(task=_tasks(last, data), fold=last["idx_rep"])
        return made, "the repetitions are folds of their datasets"
    if last["idx_rep"].nunique() > 1:
        made = last[[]].assign(task=_tasks(last, data), case="repetition " + last["idx_rep"].astype(str))
        return made, (
            "each dataset is a task and its repetitions are the cases, taken to be independent: where they "
            'are folds, say fold="idx_rep"'
        )
    objectives = last["objective_name"] if "objective_name" in last.columns else last[data].map(lambda _: "")
    told = "there is one repetition, so the datasets are the cases"
    return last[[]].assign(task=objectives, case=last[data]), told


def _value_column(frame: pd.DataFrame, wish: ScoreWish, source: str) -> str:
    """The column of the score: the objective itself unless you choose another."""
    values = [
        name
        for name in frame.columns
        if name.startswith(PREFIX) and name not in NO_VALUES and frame[name].dtype.kind in "fiu"
    ]
    if not values:
        raise SpecError(f"{source} has no column of numbers that begins with {PREFIX}")
    if wish.score is None and "objective_value" in values:
        return "objective_value"
    short = {name.removeprefix(PREFIX): name for name in values} | {name: name for name in values}
    if wish.score in short:
        return short[wish.score]
    return short[chosen([name.removeprefix(PREFIX) for name in values], wish, source)]


def _tasks(last: pd.DataFrame, data: str) -> pd.Series:
    """The dataset, with the objective where there are several."""
    names = last[data].astype(str)
    if "objective_name" in last.columns and last["objective_name"].nunique() > 1:
        return names + " | " + last["objective_name"].astype(str)
    return names


def _ends(frame: pd.DataFrame, data: str) -> pd.DataFrame:
    """The last row of every curve: the one with the most iterations, or the smallest tolerance."""
    keys = [name for name in ("objective_name", data, "solver_name", "idx_rep") if name in frame.columns]
    far = frame["stop_val"]
    for name in STRATEGIES:
        if name in frame.columns:
            far = far.where(frame[name].astype(str).str.lower() != "tolerance", -frame["stop_val"])
    order = far.sort_values(kind="stable").index
    return frame.loc[order].groupby(keys, observed=True, sort=True).tail(1).sort_index()
