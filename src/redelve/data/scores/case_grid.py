"""Scores as a grid: a row for every model, a column for every case, larger always better.

Answers repeated for a case are averaged. Where the limits of a score are known it is measured from the worst
to the best there can be, 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redelve.data.scores.score_table import ScoreTable
from redelve.errors import SpecError, hint

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
CaseKey = str | tuple[str, str]
"""A case by its name, or by the names of its task and itself where there are tasks."""


@dataclass(frozen=True, eq=False)
class CaseGrid:
    """Scores[model, case] of fixed models; NaN where a model has none.

    `units` numbers what counts as one: the case itself, or the group that it belongs to.
    """

    source: str
    models: tuple[str, ...]
    cases: tuple[CaseKey, ...]
    scores: Floats
    units: tuple[CaseKey, ...]
    """The unit that each case belongs to."""
    weights: Floats
    limits: tuple[float, float] | None
    """The worst and the best score there can be; None: the scores are as they were, times `sign`."""
    sign: int
    has_groups: bool
    """Whether the table says which group a case belongs to."""
    has_weights: bool
    """Whether the table says what a case weighs."""
    asked: Codes
    """How many answers of each model to each case the table has a row for, be it without a score."""
    answered: Codes
    """How many of them have a score."""
    notes: tuple[str, ...] = ()

    @property
    def is_bounded(self) -> bool:
        """Whether scores have limits, and so lie between 0 and 1 here."""
        return self.limits is not None

    @property
    def scale(self) -> float:
        """How much of the score a difference of 1 is."""
        return 1.0 if self.limits is None else abs(self.limits[1] - self.limits[0])

    @property
    def is_binary(self) -> bool:
        """Whether every score is the worst or the best there can be."""
        known = self.scores[~np.isnan(self.scores)]
        return self.is_bounded and bool(np.isin(known, (0.0, 1.0)).all())

    @property
    def has_clusters(self) -> bool:
        """Whether some unit has several cases."""
        return len(set(self.units)) < len(self.cases)

    @property
    def is_weighted(self) -> bool:
        """Whether cases have different weights."""
        return bool(np.unique(self.weights).size > 1)

    def row(self, model: str) -> Floats:
        """The scores of one model."""
        if model not in self.models:
            some = ", ".join(self.models[:12]) + (", …" if len(self.models) > 12 else "")
            meant = hint(model, self.models)
            raise SpecError(f'{self.source} has no model "{model}"{meant}: it has {some}')
        return np.asarray(self.scores[self.models.index(model)])

    def row_with_worst(self, model: str) -> Floats:
        """The scores of one model, answers without a score counted as the worst; they must have limits."""
        assert self.is_bounded
        row, place = self.row(model), self.models.index(model)
        return np.asarray(row * self.answered[place] / np.maximum(self.asked[place], 1))

    def empty_answers(self, model: str) -> tuple[int, int]:
        """How many answers of a model have no score beside others to the same case, of how many."""
        place = self.models.index(model)
        asked, answered = self.asked[place], self.answered[place]
        return int((asked - answered)[answered > 0].sum()), int(asked.sum())

    def answers(self, model: str, *, with_empty: bool = False) -> float:
        """How many answers a model has to a case, on average, where it has a score."""
        place = self.models.index(model)
        counts = (self.asked if with_empty else self.answered)[place][self.answered[place] > 0]
        return float(counts.mean()) if counts.size else 0.0


def grid_of(table: ScoreTable, *, is_unbounded: bool | None = None) -> CaseGrid:
    """The scores of a table, case by case; an error where something is twice or contradicts itself.

    `is_unbounded` says that they have no limits, or that you have not said so; None where they must have.
    """
    frame = table.frame
    if table.is_by_fold:
        raise SpecError(
            f"{table.source} has scores of folds, not of cases: this needs the score of every case; "
            "`redelve compare` takes scores of folds"
        )
    _refuse_twice(table)
    models, rows = _coded(frame["model"])
    cases, columns = _case_keys(frame)
    limits, notes = _limits(table, is_unbounded=is_unbounded)
    oriented, shape = _oriented(table, limits), (len(models), len(cases))
    places = rows * len(cases) + columns
    scores, answered = _means(oriented, places, shape)
    units = _of_case(table, "group", columns, cases)
    weights = _of_case(table, "weight", columns, cases)
    return CaseGrid(
        table.source,
        tuple(models),
        tuple(cases),
        scores,
        tuple(cases) if units is None else _scoped(units, cases),
        np.ones(len(cases)) if weights is None else np.asarray(weights, dtype=np.float64),
        limits if limits is None or table.higher_is_better else limits[::-1],
        1 if table.higher_is_better else -1,
        units is not None,
        weights is not None,
        np.bincount(places, minlength=scores.size).reshape(shape),
        answered,
        (*table.notes, *notes, *_tasks_told(frame)),
    )


def _tasks_told(frame: pd.DataFrame) -> list[str]:
    """That several tasks are one here, in words."""
    count = frame["task"].nunique() if "task" in frame.columns else 1
    together = f"cases of {count:,} tasks are taken together: this is about new cases of these tasks"
    return [together] if count > 1 else []


def _limits(
    table: ScoreTable, *, is_unbounded: bool | None
) -> tuple[tuple[float, float] | None, tuple[str, ...]]:
    """The limits that a score has, from 0 to 1 where all are inside; None where it has none."""
    low, high = table.limits
    if is_unbounded:
        return None, ()
    if isfinite(low) and isfinite(high):
        return (low, high), ()
    scores = table.frame["score"].to_numpy()
    least, most = float(np.nanmin(scores)), float(np.nanmax(scores))
    if least >= 0 and most <= 1:
        return (0.0, 1.0), (
            f"the {table.metric or 'score'} is taken to lie between 0 and 1, as all of these do",
        )
    or_none = "" if is_unbounded is None else '; or limits="none" (--limits none) where there are none'
    raise SpecError(
        f"{table.source}: scores go from {least:g} to {most:g}, and nobody says between which limits they "
        f"must lie: give limits=(lowest, highest) (on the command line --limits 0,100){or_none}"
    )


def _oriented(table: ScoreTable, limits: tuple[float, float] | None) -> Floats:
    """Scores of which larger is better, within 0 and 1 where there are limits."""
    scores = table.frame["score"].to_numpy(np.float64)
    if limits is None:
        return scores if table.higher_is_better else -scores
    low, high = limits
    return np.asarray(
        (scores - low) / (high - low) if table.higher_is_better else (high - scores) / (high - low)
    )


def _coded(column: Any) -> tuple[list[str], Codes]:
    """Names in the order in which they come, as texts, and which of them each row has."""
    import pandas as pd

    codes, levels = pd.factorize(column)
    return [str(level) for level in levels], np.asarray(codes, dtype=np.int64)


def _case_keys(frame: pd.DataFrame) -> tuple[list[CaseKey], Codes]:
    cases, of_case = _coded(frame["case"])
    if "task" not in frame.columns:
        return list(cases), of_case
    tasks, of_task = _coded(frame["task"])
    if len(tasks) == 1:
        return list(cases), of_case
    pairs, columns = np.unique(of_task * len(cases) + of_case, return_inverse=True)
    return [(tasks[pair // len(cases)], cases[pair % len(cases)]) for pair in pairs], np.asarray(columns)


def _refuse_twice(table: ScoreTable) -> None:
    frame = table.frame
    names = [name for name in ("task", "model", "case", "run") if name in frame.columns]
    twice = np.flatnonzero(frame.duplicated(names).to_numpy())
    if twice.size:
        from redelve.data.scores.score_table import place_of

        out = "number them in" if "run" not in names else "each must have another number in"
        raise SpecError(
            f"{place_of(table, int(twice[0]))} is there twice ({twice.size} such rows): if these are several "
            f'answers, {out} the column "run"; if not, remove one'
        )


def _means(scores: Floats, places: Codes, shape: tuple[int, int]) -> tuple[Floats, Codes]:
    """Mean scores of each model on each case, NaN where there is none; and of how many."""
    known = ~np.isnan(scores)
    size = shape[0] * shape[1]
    counts = np.bincount(places[known], minlength=size)
    sums = np.bincount(places[known], weights=scores[known], minlength=size)
    with np.errstate(invalid="ignore"):
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return np.asarray(means.reshape(shape)), counts.reshape(shape)


def empty_answers_told(empty: Mapping[str, tuple[int, int]], *, is_worst: bool = False) -> list[str]:
    """How many answers of whom have no score beside others to the same case; nothing where none has none."""
    told = ", ".join(f"{name} {count:,} of {asked:,}" for name, (count, asked) in empty.items() if count)
    what = "count as the worst score" if is_worst else "do not count"
    return [f"answers without a score {what}: {told}"] if told else []


def _of_case(table: ScoreTable, name: str, columns: Codes, cases: list[CaseKey]) -> list[Any] | None:
    """What a column says of each case, which must be the same in all of its rows."""
    if name not in table.frame.columns:
        return None
    values, codes = np.asarray(table.frame[name].to_numpy(), dtype=object), np.full(len(cases), -1)
    _, of_row = _coded(table.frame[name])
    codes[columns[::-1]] = of_row[::-1]
    differing = np.flatnonzero(codes[columns] != of_row)
    if differing.size:
        row = int(differing[0])
        raise SpecError(
            f"{table.source}: the {name} of case {shown(cases[columns[row]])} is {values[row]!r} in row "
            f"{table.row_number(row)} and another one before: a case has one"
        )
    first = np.full(len(cases), -1)
    first[columns[::-1]] = np.arange(len(columns))[::-1]
    return [values[place] for place in first]


def _scoped(groups: list[Any], cases: list[CaseKey]) -> tuple[CaseKey, ...]:
    """Groups within tasks: those of two tasks that are called the same are two; no group is one's own."""
    import pandas as pd

    return tuple(
        case if pd.isna(group) else (case[0], str(group)) if isinstance(case, tuple) else str(group)
        for group, case in zip(groups, cases, strict=True)
    )


def shown(case: CaseKey) -> str:
    """A case in words."""
    return f'"{case[1]}" of task "{case[0]}"' if isinstance(case, tuple) else f'"{case}"'
