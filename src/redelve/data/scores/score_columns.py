"""What the columns of a plain table of scores are, long or wide: by their names, or as the user says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.data.scores.frame_files import stray_cell
from redelve.data.scores.score_table import (
    LONG,
    SLICE,
    WIDE,
    Rows,
    ScoreTable,
    are_truths,
    known_direction,
    no_such_column,
    plain_numbers,
    some_names,
)
from redelve.errors import SpecError, hint
from redelve.registry import value_told

if TYPE_CHECKING:
    import pandas as pd

SYNONYMS = {
    "model": ("model", "method", "model_name", "model_id", "system", "agent", "estimator", "classifier"),
    "case": ("case", "question", "question_id", "case_id", "item", "sample_id", "doc_id", "example_id", "id"),
    "task": ("task", "benchmark", "dataset", "data_set", "category", "subject"),
    "run": ("run", "epoch", "sample", "seed", "repeat", "trial"),
    "group": ("group", "cluster"),
    "fold": ("fold", "resample", "split"),
    "training_set": ("training_set",),
    "cost": ("cost",),
    "weight": ("weight",),
    "prompt": ("prompt", "prompt_hash"),
}
"""Other names by which columns are known, the usual ones first."""
KNOWN = {name for several in SYNONYMS.values() for name in several}
METRICS = ("metric", "metric_name", "scorer", "measure")
"""Names of columns that say which score a row has."""
IN_WIDE = ("case", "task", "group", "weight", "run", "fold", "training_set")
"""What columns of a wide table can mean; what an answer cost is not the same for all models."""
NUMBERED = {
    *("id", "ids", "idx", "index", "qid", "uid", "row", "unnamed"),
    *("case", "question", "item", "example", "instance", "problem"),
}
"""Words in the names of columns that number the cases."""
SAY_WHAT = "say what it is (as in slices=…, on the command line --slices)"
"""What to do with a column that is no model."""


@dataclass(frozen=True)
class ColumnNames:
    """How the columns of a table are called, by what they mean; None where nobody has said so."""

    named: Mapping[str, str]
    slices: tuple[str, ...] = ()
    """Columns that are kept for slices of the cases."""
    choosing: str = ""
    """How models are chosen, where the reader of the scores has no slices to offer."""
    metric: str | None = None
    """What the score is called, or which one is meant where a table has several."""
    is_alone: bool = False
    """Whether one model alone comes to nothing: no other table has scores, and nobody named the model."""

    def of(self, role: str, there: Sequence[str], source: str) -> str | None:
        """The column for a role: the one that was named, or one of the usual names."""
        wanted = self.named.get(role)
        if wanted is not None:
            if wanted not in there:
                raise no_such_column(list(there), wanted, role, source)
            return wanted
        lower = {name.lower(): name for name in reversed(there)}
        return next((lower[name] for name in SYNONYMS.get(role, ()) if name in lower), None)


# Long and wide tables


def long_table(frame: pd.DataFrame, names: ColumnNames, source: str) -> ScoreTable:
    """A plain table by its columns: long, or wide with a column for every model."""
    there = [str(name) for name in frame.columns]
    if len(set(there)) < len(there):
        again = next(name for name in there if there.count(name) > 1)
        raise SpecError(f'{source} has two columns "{again}": rename one of them')
    frame = frame.set_axis(there, axis=1)
    for name in names.slices:
        if name not in there:
            raise no_such_column(there, name, "slices", source)
    roles = {role: names.of(role, there, source) for role in SYNONYMS}
    taken = {role: name for role, name in roles.items() if name is not None}
    metric = _metric_of(frame, names, taken, source)
    found = _by_columns(metric.of(frame), names, taken, source, metric)
    return replace(found, columns=tuple(there), rows=metric.rows)


def _by_columns(
    frame: pd.DataFrame, names: ColumnNames, taken: dict[str, str], source: str, metric: _Metric
) -> ScoreTable:
    """A plain table, long or wide, of one metric."""
    beside = [] if "model" in taken else _no_scores(frame, names, taken)
    if beside and (case := _numbered_case(frame, taken, beside, source, names.slices)) is not None:
        taken["case"] = case
    has_model = "model" in taken
    score = _score_column(frame, names, {*taken.values(), *beside}, source, metric, has_model=has_model)
    if score is None and not has_model:
        return _from_wide(frame, taken, source, names, beside, metric)
    if score is None:
        raise _no_score([name for name in frame.columns if name not in taken.values()], taken, source)
    more = {f"{SLICE}{name}": name for name in names.slices}
    meant = {**taken, "score": score, **more}
    kept = frame[[*meant.values()]].set_axis([*meant], axis=1).reset_index(drop=True)
    notes = _how_long(list(frame.columns), meant, metric, source)
    return ScoreTable(source, kept, metric=metric.called(score), notes=notes)


def _how_long(
    there: Sequence[str], meant: Mapping[str, str], metric: _Metric, source: str
) -> tuple[str, ...]:
    """What the columns of a long table were taken as, where one has another name or is left out."""
    left = [name for name in there if name not in meant.values()]
    roles = {role: name for role, name in meant.items() if not role.startswith(SLICE)}
    if not left and not metric.note and all(role in (name, "score") for role, name in roles.items()):
        return ()
    told = [f"{role}: {name}" for role, name in roles.items()] + metric.note
    return (f"{source}: {LONG} {'; '.join(told + ([f'left out: {some_names(left)}'] if left else []))}",)


# One of several metrics


@dataclass(frozen=True)
class _Metric:
    """The metric that a column of a table names, and the rows that have it."""

    rows: Rows
    name: str = ""
    column: str = ""
    """Where it stands; empty where no column names metrics, or the column has a meaning that you gave it."""
    is_chosen: bool = False
    """Whether other rows have other metrics."""

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of a frame that have this metric, without the column that says so."""
        kept = frame.iloc[np.asarray(self.rows)].reset_index(drop=True) if self.is_chosen else frame
        return kept.drop(columns=self.column) if self.column else kept

    def called(self, score: str) -> str:
        """What the score is called: as the metric, unless only the name of its column tells the direction."""
        tells = score.lower() != "score" and known_direction(score) is not None
        return score if not self.name or (tells and known_direction(self.name) is None) else self.name

    @property
    def note(self) -> list[str]:
        """That only some rows are taken."""
        return [f"only rows with the metric {self.name}"] if self.is_chosen else []


def _metric_of(frame: pd.DataFrame, names: ColumnNames, taken: Mapping[str, str], source: str) -> _Metric:
    """The metric that is chosen, or the only one; an error where there are several."""
    every = _Metric(range(len(frame)))
    column = next((name for name in frame.columns if _names_metrics(frame, name, names)), None)
    if column is None or not len(frame):
        return every
    known, of_row = _texts_of(frame[column])
    has_meaning = column in {*taken.values(), *names.slices}
    wanted = next((one for one in (names.metric, names.named.get("score")) if one in known), None)
    if wanted is not None:
        rows = np.flatnonzero(of_row == known.index(wanted))
        return _Metric(rows, wanted, "" if has_meaning else column, is_chosen=len(known) > 1)
    if has_meaning and not {True, False} <= {known_direction(one) for one in known}:
        return every
    if len(known) > 1:
        raise _several_metrics(known, column, names, source)
    if names.metric not in (None, *frame.columns):
        meant = hint(str(names.metric), known)
        raise SpecError(f'{source}: there is no score "{names.metric}", only {known[0]}{meant}')
    return _Metric(every.rows, known[0], column)


def _texts_of(column: Any) -> tuple[list[str], Any]:
    """The texts of a column, "none" where there is none, and which of them each row has."""
    import pandas as pd

    codes, levels = pd.factorize(column)
    known = [*map(str, levels), *(["none"] if (codes < 0).any() else [])]
    return known, np.where(codes < 0, len(levels), codes)


def _names_metrics(frame: pd.DataFrame, name: str, names: ColumnNames) -> bool:
    """Whether a column says which score a row has: by its name, and as it has texts."""
    if name.lower() not in METRICS or name == names.named.get("score"):
        return False
    return not _may_be_scores(frame[name], has_model=True)


def _several_metrics(known: Sequence[str], column: str, names: ColumnNames, source: str) -> SpecError:
    """Scores of different metrics are never taken together."""
    how = f'columns={{"score": "{known[0]}"}}' if names.choosing else f'metric="{known[0]}"'
    option = "score" if names.choosing else "metric"
    return SpecError(
        f"{source}: the column {column} tells of several scores ({some_names(known)}), which cannot be taken "
        f"together: choose one, as in {how} (on the command line --{option} {known[0]}); if they are one and "
        "the same, remove the column"
    )


# Columns of numbers


def _no_scores(frame: pd.DataFrame, names: ColumnNames, taken: Mapping[str, str]) -> list[str]:
    """The columns of numbers that hold no scores: they number cases, or have the name of something else."""
    told = {*taken.values(), *names.named.values(), *names.slices}
    left = [name for name in frame.columns if name not in told and frame[name].dtype.kind in "fiu"]
    return [name for name in left if name.lower() in KNOWN or _is_numbered(frame, name, taken)]


def _has_words_of_cases(name: str) -> bool:
    """Whether a column has a name as those that number the cases."""
    return bool({word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)} & NUMBERED)


def _is_numbered(frame: pd.DataFrame, name: str, taken: Mapping[str, str]) -> bool:
    """Whether a column numbers the cases: by its name, and as whole numbers that are all different."""
    if not _has_words_of_cases(name) or not len(frame):
        return False
    numbers = plain_numbers(frame[name])
    within = [taken[role] for role in ("task", "run", "fold", "training_set") if role in taken]
    is_whole = bool((np.isfinite(numbers) & (numbers == np.round(numbers))).all())
    return is_whole and not frame[[*within, name]].duplicated().any()


def _numbered_case(
    frame: pd.DataFrame,
    taken: Mapping[str, str],
    beside: Sequence[str],
    source: str,
    slices: Sequence[str],
) -> str | None:
    """The column that tells cases apart where one numbers them: the only one of texts, or that one."""
    if "case" in taken or ("fold" in taken and not frame[taken["fold"]].duplicated().any()):
        return None
    found = [name for name in beside if _is_numbered(frame, name, taken)]
    told = {*taken.values(), *slices}
    texts = [name for name in frame.columns if name not in told and not _is_numeric(frame[name])]
    if found and len(texts) == 1 and not frame[texts[0]].duplicated().any():
        return texts[0]
    if len(found) > 1:
        raise SpecError(
            f"{source}: which column tells the cases apart, {' or '.join(found)}? name it, as in case=… (on "
            "the command line --case)"
        )
    return found[0] if found else None


def _no_score(left: Sequence[str], taken: Mapping[str, str], source: str) -> SpecError:
    """Nothing says which column holds the scores; without cases they may all do, a row for each model."""
    turned = (
        "; or, where they are cases or tasks, turn the table round: a row for each, a column for each model"
        if len(left) > 1 and not {"case", "fold"} & set(taken)
        else ""
    )
    return SpecError(
        f"{source}: which column holds the score? left are {', '.join(left[:12]) or 'none'}: name it, as in "
        f"score=… (on the command line --score){turned}"
    )


def _score_column(
    frame: pd.DataFrame, names: ColumnNames, told: set[str], source: str, metric: _Metric, *, has_model: bool
) -> str | None:
    """The column of scores: the one named, one called so, or the only one left with a name that tells."""
    there = list(frame.columns)
    wanted = names.named.get("score")
    if wanted is not None and (wanted in there or wanted != metric.name):
        if wanted not in there:
            raise no_such_column(there, wanted, "score", source)
        return wanted
    if names.metric in there and names.metric not in told:
        return names.metric
    if "score" in there:
        return "score"
    used = {*told, *names.slices}
    left = [name for name in there if name not in used and _may_be_scores(frame[name], has_model)]
    telling = [name for name in left if known_direction(name) is not None]
    if has_model and len(left) == 1:
        return left[0]
    if has_model and not left:  # texts that are no numbers get a sentence of their own
        telling = [name for name in there if name not in used and known_direction(name) is not None]
        return telling[0] if len(telling) == 1 else None
    return telling[0] if len(telling) == 1 and (len(left) == 1 or has_model) else None


def _may_be_scores(column: Any, has_model: bool) -> bool:
    """Whether a column has numbers; of a long table a few cells may be wrong, which is told later."""
    return _is_numeric(column) or (has_model and stray_cell(column) is not None)


def _is_numeric(column: Any) -> bool:
    """Whether a column has numbers, or says true and false."""
    return bool(column.dtype.kind in "fiub") or are_truths(column)


def _from_wide(
    frame: pd.DataFrame,
    taken: Mapping[str, str],
    source: str,
    names: ColumnNames,
    beside: Sequence[str],
    metric: _Metric,
) -> ScoreTable:
    """A table with a row for every case and a column for every model, made long.

    `beside` are the columns of numbers that hold no scores.
    """
    import pandas as pd

    slices = names.slices
    about = {role: name for role, name in taken.items() if role in IN_WIDE}
    about |= {f"{SLICE}{name}": name for name in slices}
    told = {*taken.values(), *slices, *beside}
    left = [name for name in frame.columns if name not in told]
    _refuse_stray_cells(frame, left, taken, names, source, metric)
    models = [name for name in frame.columns if name not in told and _is_numeric(frame[name])]
    known = {*about.values(), *beside, *models}
    texts = [name for name in frame.columns if name not in known and not _is_numeric(frame[name])]
    if len(models) < 2:
        raise _too_few_models(models, list(frame.columns), names, source)
    _refuse_another_scale(frame, models, source, has_slices=not names.choosing)
    if "case" not in about and len(texts) == 1:
        about["case"] = texts[0]
    parts = {role: np.tile(frame[name].to_numpy(), len(models)) for role, name in about.items()}
    if not {"case", "fold"} & set(about):
        parts["case"] = np.tile(np.arange(1, len(frame) + 1), len(models))
    whose = np.repeat(np.arange(len(models)), len(frame))
    made = pd.DataFrame(
        {
            "model": pd.Categorical.from_codes(whose, pd.Index(models, dtype=object)),
            **parts,
            "score": np.concatenate([plain_numbers(frame[name]) for name in models]),
        }
    )
    note = _how_wide(list(frame.columns), models, about, metric, names.choosing or SAY_WHAT)
    by_order = () if {"case", "fold"} & set(about) else (source,)
    return ScoreTable(source, made, metric=metric.name, notes=(f"{source} {note}",), by_order=by_order)


def _too_few_models(
    models: Sequence[str], columns: Sequence[str], names: ColumnNames, source: str
) -> SpecError:
    """What is wrong with a wide table of one model or none, and what can be done."""
    way_out = ""
    if models and names.is_alone:
        way_out = f"; {models[0]} alone cannot be compared: give a column or a file for each model"
    elif models:
        said = f"as in score=… (on the command line --score {models[0]})"
        way_out = f"; if {models[0]} is the score of one model, say so, {said}"
    return SpecError(
        f'{source} has no column "model", and no two columns of numbers that could be models: a long '
        "table has the columns model, case and score, a wide one a column of scores for every model; it "
        f"has {some_names(columns)}{way_out}"
    )


def _refuse_stray_cells(
    frame: pd.DataFrame,
    left: Sequence[str],
    taken: Mapping[str, str],
    names: ColumnNames,
    source: str,
    metric: _Metric,
) -> None:
    """Refuse a column that is numbers but for a few cells: left out, it would make another model the best."""
    for name in left:
        found = None if _names_cases(frame, name) else stray_cell(frame[name])
        if found is None:
            continue
        row, text = found
        case = f' (case "{str(frame[taken["case"]].iloc[row])[:60]}")' if "case" in taken else ""
        place = f"{source}: in row {metric.rows[row] + 1}{case} the column {name}"
        raise SpecError(
            f"{place} has {value_told(text)}, which is no number, where most of its cells are: mend the "
            "cell, or leave it empty if there is no score; if the column is no model, "
            f"{_way_out(name, taken, names)}"
        )


def _names_cases(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column of texts is one of names: by its own name, and as all are different."""
    return name.lower() in KNOWN or (_has_words_of_cases(name) and not frame[name].duplicated().any())


def _way_out(name: str, taken: Mapping[str, str], names: ColumnNames) -> str:
    """What to do with a column that is no model."""
    roles = ([] if "case" in taken else ["case"]) + ([] if names.choosing else ["slices"])
    if not roles:
        return "remove it"
    keywords, options = " or ".join(f"{role}=…" for role in roles), " or ".join(f"--{role}" for role in roles)
    return f"say what it is (as in {keywords}, on the command line {options} {name}) or remove it"


def _refuse_another_scale(
    frame: pd.DataFrame, models: Sequence[str], source: str, *, has_slices: bool
) -> None:
    """Refuse a column with numbers above 1 or below 0 where most columns have only 0 and 1."""
    numbers = {name: plain_numbers(frame[name]) for name in models}
    binary = [name for name, given in numbers.items() if np.isin(given[~np.isnan(given)], (0, 1)).all()]
    other = [name for name, given in numbers.items() if (given < 0).any() or (given > 1).any()]
    if other and len(binary) > max(1, len(models) / 2):
        way_out = f"{SAY_WHAT[:-1]} {other[0]}) or remove it" if has_slices else "remove it"
        raise SpecError(
            f"{source}: the column {other[0]} goes from {np.nanmin(numbers[other[0]]):g} to "
            f"{np.nanmax(numbers[other[0]]):g}, where {some_names(binary)} have only 0 and 1: if it is no "
            f"model, {way_out}"
        )


def _how_wide(
    there: Sequence[str], models: Sequence[str], about: Mapping[str, str], metric: _Metric, way_out: str
) -> str:
    """What the columns of a wide table were taken as, for somebody to see which of them is no model."""
    roles = [f"{role.partition(':')[0]}: {name}" for role, name in about.items()]
    roles += [] if {"case", "fold"} & set(about) else ["case: each row"]
    roles += metric.note
    left = [name for name in there if name not in models and name not in about.values()]
    roles += [f"left out: {some_names(left)}"] if left else []
    return (
        f"{WIDE} with {len(models)} models, {some_names(models)}; {'; '.join(roles)}. If a column is no "
        f"model, {way_out} or remove it"
    )
