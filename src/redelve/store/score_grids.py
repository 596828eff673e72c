"""Scores of models in arrays: what a table's rows say of every model, answer and case of an instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redelve.data.scores.score_table import SLICE
from redelve.errors import SpecError, StatisticsError
from redelve.model.dataset import Numbers

if TYPE_CHECKING:
    import pandas as pd

Places = NDArray[np.int64]
FEW_CASES = 2


@dataclass(frozen=True)
class NamedPlaces:
    """A column as places among its different values, which are in the order of their names."""

    places: Places
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class ScoreGrid:
    """The scores of an instance by model, run and case, NaN where there is none; and what its cases are."""

    scores: Numbers
    present: NDArray[np.bool_]
    """Which models have any score here."""
    cases: tuple[str, ...]
    asked: NDArray[np.bool_]
    """Which scores have a row in the table, be it an empty one."""
    groups: Places | None = None
    weights: Numbers | None = None
    columns: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    """What else is known of the cases."""
    answers: Numbers | None = None
    """How many answers to a case each model has on average, where they were averaged."""


def named_places(frame: pd.DataFrame, column: str) -> NamedPlaces:
    """The values of a column as places among their sorted names."""
    import pandas as pd

    codes, values = pd.factorize(frame[column])
    names = [str(value) for value in values]
    order = np.argsort(np.array(names, dtype=object), kind="stable")
    if len(set(names)) < len(names):
        again = next(one for one in names if names.count(one) > 1)
        raise SpecError(f'the column {column} has "{again}" as a number and as a text: write it in one way')
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return NamedPlaces(place[codes], tuple(names[i] for i in order))


def _places_or_one(frame: pd.DataFrame, column: str) -> NamedPlaces:
    """The values of a column; of one that is not there, a single one without a name."""
    if column in frame.columns:
        return named_places(frame, column)
    return NamedPlaces(np.zeros(len(frame), np.int64), ("",))


def rows_by(coded: NamedPlaces) -> dict[str, Places]:
    """The rows that have each of the values."""
    order = np.argsort(coded.places, kind="stable")
    ends = np.searchsorted(coded.places[order], np.arange(len(coded) + 1))
    return {name: order[ends[i] : ends[i + 1]] for i, name in enumerate(coded.names)}


def score_grid(frame: pd.DataFrame, whose: Places, models: NamedPlaces, place: str) -> ScoreGrid:
    """The scores of these rows as an array of models, runs and cases."""
    cases, runs = _places_or_one(frame, "case"), _places_or_one(frame, "run")
    scores = np.full((len(models), len(runs), len(cases)), np.nan)
    given = frame["score"].to_numpy()
    flat = (whose * len(runs) + runs.places) * len(cases) + cases.places
    scores.reshape(-1)[flat] = given
    is_there = np.zeros(scores.size, dtype=np.bool_)
    is_there[flat] = True
    if int(is_there.sum()) < flat.size:
        raise _twice(flat, models, runs, cases, place)
    groups = _of_cases(frame, "group", cases, place)
    weights = _of_cases(frame, "weight", cases, place)
    numbers = None if groups is None else _coded_groups(groups)
    present = ~np.isnan(scores).all(axis=(1, 2))
    more = [one.removeprefix(SLICE) for one in map(str, frame.columns) if one.startswith(SLICE)]
    return ScoreGrid(
        scores,
        present,
        cases.names,
        is_there.reshape(scores.shape),
        numbers,
        None if weights is None else weights.astype(np.float64),
        {name: _labels_of_cases(frame, name, cases, place) for name in more},
    )


def _labels_of_cases(frame: pd.DataFrame, name: str, cases: NamedPlaces, place: str) -> NDArray[np.str_]:
    """What a column for slices says of every case, as texts; empty where it says nothing."""
    import pandas as pd

    codes, values = pd.factorize(frame[f"{SLICE}{name}"])
    texts = np.array([*map(str, values), ""], dtype=np.str_)
    found = np.empty(len(cases), dtype=np.int64)
    found[cases.places] = codes
    differing = np.flatnonzero(found[cases.places] != codes)
    if differing.size:
        where = int(cases.places[differing[0]])
        raise SpecError(
            f'{place}: case "{cases.names[where]}" has two values of {name}, "{texts[codes[differing[0]]]}" '
            f'and "{texts[found[where]]}": a case has one'
        )
    return np.asarray(texts[found])


def _twice(flat: Places, models: NamedPlaces, runs: NamedPlaces, cases: NamedPlaces, place: str) -> SpecError:
    order = np.argsort(flat, kind="stable")
    again = int(flat[order][np.flatnonzero(np.diff(flat[order]) == 0)[0]])
    who, rest = divmod(again, len(runs) * len(cases))
    run, case = divmod(rest, len(cases))
    of_case = f' on case "{cases.names[case]}"' if cases.names != ("",) else ""
    in_run = f', run "{runs.names[run]}"' if len(runs) > 1 else ""
    count = int(flat.size - np.unique(flat).size)
    rows = "rows" if count > 1 else "row"
    return SpecError(
        f'{place} has two scores of model "{models.names[who]}"{of_case}{in_run} '
        f"({count:,} {rows} too many): remove one, or say which column counts the answers to a case, as in "
        "run=… (--run)"
    )


def _of_cases(frame: pd.DataFrame, column: str, cases: NamedPlaces, place: str) -> NDArray[Any] | None:
    """What a column says of every case; an error where it says two things of one."""
    if column not in frame.columns:
        return None
    values = frame[column].to_numpy(dtype=object)
    nowhere = np.flatnonzero(frame[column].isna().to_numpy())
    if nowhere.size:  # a case that belongs to no group is one of its own
        values = values.copy()
        values[nowhere] = [f"case {cases.names[i]} alone" for i in cases.places[nowhere]]
    found = np.empty(len(cases), dtype=object)
    found[cases.places] = values
    differing = np.flatnonzero(found[cases.places] != values)
    if differing.size:
        row = int(differing[0])
        name = cases.names[int(cases.places[row])]
        raise SpecError(
            f'{place}: case "{name}" has two values of {column}, {values[row]!r} and '
            f"{found[cases.places[row]]!r}: a case has one"
        )
    return found


def _coded_groups(groups: NDArray[Any]) -> Places:
    _, places = np.unique(groups.astype(str), return_inverse=True)
    return places.astype(np.int64)


def completed(one: ScoreGrid, worst: float | None, place: str) -> ScoreGrid:
    """The cases that all models have scores on."""
    scores = one.scores if worst is None else _with_worst(one, worst)
    common = np.asarray((~np.isnan(scores[one.present]).all(axis=1)).all(axis=0))
    if one.cases != ("",) and len(one.cases) < FEW_CASES:
        raise StatisticsError(
            f"{place} has a single case, {one.cases[0]}: nothing can be compared on it; give the scores "
            "of more cases, or of several repetitions"
        )
    if one.cases != ("",) and common.sum() < FEW_CASES:
        raise StatisticsError(
            f"{place}: {int(common.sum())} of {len(one.cases)} cases have a score of every model: nothing "
            "can be compared; leave out the models that lack most, or count missing scores as the worst ones "
            '(missing="worst", --missing worst)'
        )
    kept = np.flatnonzero(common)
    return ScoreGrid(
        scores[:, :, kept],
        one.present,
        tuple(one.cases[i] for i in kept),
        one.asked[:, :, kept],
        None if one.groups is None else one.groups[kept],
        None if one.weights is None else one.weights[kept],
        {name: values[kept] for name, values in one.columns.items()},
    )


def _with_worst(one: ScoreGrid, worst: float) -> Numbers:
    """The scores, the worst for empty ones and for all answers of a model to a case that it lacks."""
    lacks = np.asarray(np.isnan(one.scores).all(axis=1))
    answers = np.asarray(one.asked.any(axis=2))
    is_missing = one.asked | (lacks[:, None, :] & answers[:, :, None])
    return np.where(np.isnan(one.scores) & is_missing, worst, one.scores)


def evened(kept: Sequence[ScoreGrid]) -> list[ScoreGrid]:
    """Repeated answers averaged, unless all models have the same number of them to all cases."""
    is_even = len({one.scores.shape[1] for one in kept}) == 1
    if is_even and not any(np.isnan(one.scores[one.present]).any() for one in kept):
        return list(kept)
    return [_of_means(one) for one in kept]


def _of_means(one: ScoreGrid) -> ScoreGrid:
    """The mean over the answers that there are, and how many there are."""
    counts = (~np.isnan(one.scores)).sum(axis=1)
    means = np.where(counts > 0, np.nansum(one.scores, axis=1) / np.maximum(counts, 1), np.nan)
    return replace(one, scores=means[:, None, :], answers=counts.mean(axis=1))
