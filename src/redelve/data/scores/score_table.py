"""The contract for results computed elsewhere: a long table with a row for every score.

Version 1. A row says which `model` was scored on which `case`, and the `score`. More columns are optional
(`COLUMNS`). Readers of other tools' files return a `ScoreTable`, and all that follows asks nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError, hint
from redelve.model.dataset import LARGEST
from redelve.registry import value_told

if TYPE_CHECKING:
    import pandas as pd

Rows = Sequence[int] | NDArray[np.int_]
VERSION = 1
COLUMNS = {
    "model": "who was scored: a model, a method, an agent",
    "case": "what it was scored on: a question, a test case",
    "score": "the number",
    "task": "which benchmark or data set the case belongs to",
    "run": "which of several answers to the same case: a sample, an epoch, a seed",
    "group": "which cases belong together: the same passage, repository, patient",
    "fold": "which fold or resample the score is of, where models were trained on the others",
    "training_set": "which training set the model learnt from",
    "cost": "what the answer cost",
    "weight": "how much the case counts",
    "prompt": "what the model was asked, or a hash of it",
}
"""The columns that have a meaning, and which."""
SLICE = "slice:"
"""Before the name of a column that is kept for slices of the cases."""
WIDE = "is read as a wide table"
"""So begins the note that tells what the columns of a wide table were taken as."""
OTHERS_HELD = "held other scores"
"""This is in the note that scores took the place of others in an archive."""
UNEVEN = "different numbers of answers to a case"
"""This is in the note that some models gave more answers than others."""
LONG = "columns are read as"
"""So begins the note that tells what the columns of a long table were taken as."""
BY_NAME = "is taken to be better, by its name"
"""So ends the note that tells which direction a score has, where nobody says so."""
SCORES_PER_MODEL = ("task", "model", "training_set", "fold", "case", "run")
"""What tells one score from another."""
ENDINGS = (
    ".csv",
    ".tsv",
    ".parquet",
    ".arff",
    ".json",
    ".jsonl",
    ".ndjson",
    ".npz",
    ".table",
    ".gz",
    ".bz2",
    ".xz",
    ".zst",
)
ALONE = "; the scores of one model alone cannot be compared: give a file for each model, or a column"
KINDS = {"M": "date", "m": "duration", "c": "complex number"}
HIGHER = (
    "accuracy",
    "acc",
    "correct",
    "score",
    "reward",
    "pass",
    "passed",
    "f1",
    "auc",
    "roc_auc",
    "exact_match",
    "acc_norm",
    "win",
    "r2",
    "recall",
    "precision",
    "bleu",
    "rouge",
    "success",
    "resolved",
    "em",
)
LOWER = (
    "loss",
    "error",
    "errors",
    "wrong",
    "rmse",
    "mae",
    "mse",
    "perplexity",
    "nll",
    "brier",
    "log_loss",
    "wer",
    "cer",
    "regret",
    "time",
    "seconds",
    "cost",
)
"""Names of which everybody knows whether more of it is better."""


def known_direction(name: str) -> bool | None:
    """Whether more is better, where the name of a score tells; None where it does not.

    >>> known_direction("accuracy"), known_direction("test_loss"), known_direction("blob")
    (True, False, None)
    >>> known_direction("exact_match,none"), known_direction("neg_mean_squared_error")
    (True, True)
    """
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    words = {*re.split(r"[,/]", plain), *re.split(r"[\W_]+", plain)}
    if words & {"neg", "negative", "minus"} and words & set(LOWER):
        return True
    if words & set(LOWER):
        return False
    return True if words & set(HIGHER) else None


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of models on cases, with what is known of them.

    `frame` has the columns of `COLUMNS` that are known, one row for every score; NaN: the score is missing.
    """

    source: str
    frame: pd.DataFrame = field(repr=False)
    metric: str = "score"
    """What the score is called; empty where nobody has said so."""
    higher_is_better: bool | None = None
    """Whether more is better; None where nobody has said so."""
    limits: tuple[float, float] = (-inf, inf)
    """The lowest and the highest score there can be."""
    ratio: float | None = None
    """Of scores of folds, test cases over training cases."""
    notes: tuple[str, ...] = ()
    """What must be told of how the scores were read."""
    by_order: tuple[str, ...] = ()
    """The sources that name no cases: these are the rows by their numbers."""
    columns: tuple[str, ...] = ()
    """What the source calls its columns; none where they are called as in the frame."""
    rows: Rows = ()
    """Which rows of the source these are, again and again for each model; none where all are, one by one."""

    @property
    def columns_told(self) -> str:
        """The columns, as the source calls them."""
        return some_names(self.columns or map(str, self.frame.columns))

    def row_number(self, row: int) -> int:
        """The number of a row in the source, counted from 1 without a header."""
        return 1 + (int(self.rows[row % len(self.rows)]) if len(self.rows) else row)

    @property
    def is_by_fold(self) -> bool:
        """Whether there is one score for a fold and none of its cases."""
        return "case" not in self.frame.columns

    def of_task(self, name: str) -> ScoreTable:
        """The same with every row of one task."""
        return replace(self, frame=self.frame.assign(task=name))


def plain_stem(path: Path) -> str:
    """A file's name without the endings that say how it is written.

    >>> plain_stem(Path("results/gpt-4.1.csv.gz"))
    'gpt-4.1'
    """
    name = path.name
    while (ending := Path(name).suffix) in ENDINGS and name != ending:
        name = name.removesuffix(ending)
    return name


def apart(names: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """The names, with the folders of their files where some are equal."""
    if len(set(names)) == len(names):
        return list(names)
    return [f"{path.resolve().parent.name}/{name}" for path, name in zip(paths, names, strict=True)]


def joined(tables: Sequence[ScoreTable], names: Sequence[str]) -> ScoreTable:
    """Tables one below the other; one without models holds the scores of one, of which the name is given."""
    import pandas as pd

    if len({one.metric for one in tables}) > 1:
        told = ", ".join(f"{one.source}: {one.metric or 'no name'}" for one in tables)
        raise SpecError(
            f"the files have scores of different names ({told}): say which column holds the score, or what "
            "all are called, as in metric=…"
        )
    if len({one.higher_is_better for one in tables}) > 1:
        told = ", ".join(f"{one.source}: {_better(one)}" for one in tables)
        raise SpecError(f"the files say different things of what is better ({told}): compare them apart")
    frames = [
        one.frame if "model" in one.frame.columns else one.frame.assign(model=name)
        for one, name in zip(tables, names, strict=True)
    ]
    if len(tables) == 1:
        return tables[0]
    ratios = {one.ratio for one in tables}
    return replace(
        tables[0],
        source=f"the table of {len(tables)} files",
        frame=pd.concat([_plain_texts(one) for one in frames], ignore_index=True),
        limits=(min(one.limits[0] for one in tables), max(one.limits[1] for one in tables)),
        ratio=ratios.pop() if len(ratios) == 1 else None,
        notes=_notes_of(tables),
        by_order=tuple(source for one in tables for source in one.by_order),
        columns=tuple(dict.fromkeys(name for one in tables for name in one.columns)),
        rows=(),
    )


def _notes_of(tables: Sequence[ScoreTable]) -> tuple[str, ...]:
    """The notes of all; of columns that are the same in all of them only one."""
    told = [{note.removeprefix(one.source) for note in one.notes if LONG in note} for one in tables]
    same = set.intersection(*told)
    names = some_names((one.source for one in tables), 3)
    each = ((note, note.removeprefix(one.source)) for one in tables for note in one.notes)
    return tuple(dict.fromkeys(f"{names}{bare}" if bare in same else note for note, bare in each))


def _better(table: ScoreTable) -> str:
    return {True: "higher", False: "lower", None: "not said"}[table.higher_is_better]


def _plain_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Categories as texts: those of different files differ."""
    coded = [name for name in frame.columns if str(frame[name].dtype) == "category"]
    return frame.astype(dict.fromkeys(coded, object))


def checked(table: ScoreTable) -> ScoreTable:
    """The same with scores as numbers; an error that names the culprit where something is wrong."""
    frame = table.frame
    for name in ("model", "score"):
        if name not in frame.columns:
            raise SpecError(
                f"{table.source} has no column for the {name} ({COLUMNS[name]}): it has "
                f"{table.columns_told}; name the column, as in {name}=…, or rename it to {name!r}"
                f"{ALONE if name == 'model' else ''}"
            )
    if not {"case", "fold"} & set(frame.columns):
        raise SpecError(
            f'{table.source} has neither a column "case" nor "fold": scores can only be compared case by '
            f"case or fold by fold; it has {table.columns_told}"
        )
    if not len(frame):
        raise SpecError(f"{table.source} has no rows: there is nothing to compare")
    for name in (column for column in COLUMNS if column in frame.columns):
        _refuse_nested(table, name)
    frame = frame.assign(score=_numbers(table, "score"))
    for name in (column for column in ("weight", "cost") if column in frame.columns):
        frame = frame.assign(**{name: _numbers(replace(table, frame=frame), name)})
    if frame["score"].isna().all():
        raise SpecError(f"{table.source} has no scores: all {len(frame):,} are missing")
    found = replace(table, frame=frame)
    for name in (column for column in SCORES_PER_MODEL if column in frame.columns):
        _refuse_nameless(found, name)
    _check_range(found)
    _check_weights(found)
    _check_ratio(found)
    return found


def some_names(names: Any, count: int = 12) -> str:
    """The first names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - count} more" if len(every) > count else ""
    return ", ".join(every[:count]) + more


def place_of(table: ScoreTable, row: int) -> str:
    """A row in words: its number, counted from 1 without a header, with whose score it is."""
    one = table.frame.iloc[row]
    told = [f'{name} "{str(one[name])[:60]}"' for name in SCORES_PER_MODEL if name in table.frame.columns]
    return f"row {table.row_number(row)} of {table.source} ({', '.join(told)})"


def _numbers(table: ScoreTable, name: str) -> Any:
    """A column as floats; NaN where there is none, an error for what is no number."""
    import pandas as pd

    column = table.frame[name]
    if column.dtype.kind in "mMc":
        raise SpecError(
            f"{place_of(table, 0)}: the {name} is {column.iloc[0]!s:.40}, a {KINDS[column.dtype.kind]}: "
            "choose a column of plain numbers, or make numbers of it"
        )
    if column.dtype == bool:
        return column.astype(np.float64)
    if are_truths(column):
        column = column.map(TRUTHS)
    numbers = pd.to_numeric(column.map(as_real) if column.dtype == object else column, errors="coerce")
    numbers = numbers.astype(np.float64)
    strange = np.flatnonzero(numbers.isna().to_numpy() & column.notna().to_numpy())
    if strange.size:
        value = column.iloc[int(strange[0])]
        raise SpecError(
            f"{place_of(table, int(strange[0]))}: the {name} is {value_told(value)}, which is no number: "
            "give numbers, and leave it empty where there is none"
        )
    infinite = np.flatnonzero(np.abs(numbers.to_numpy()) > LARGEST)
    if infinite.size:
        value = numbers.iloc[int(infinite[0])]
        raise SpecError(
            f"{place_of(table, int(infinite[0]))}: the {name} is {_too_large(value)}, or leave it empty and "
            "say what a missing score counts as"
        )
    return numbers


def _too_large(value: float) -> str:
    if np.isinf(value):
        return "infinite, so no mean of it exists: give a finite number"
    return f"{value:g}, too large to be squared: give it in other units"


def as_real(value: Any) -> Any:
    """A whole number as a float, infinite where no float can hold it; anything else as it is."""
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        return inf if value > 0 else -inf


TRUTHS = {"True": 1, "False": 0, "true": 1, "false": 0, "TRUE": 1, "FALSE": 0, True: 1, False: 0}
"""What pandas, JSON and spreadsheets write for true and false."""


def are_truths(column: Any) -> bool:
    """Whether a column says true and false in words."""
    if column.dtype.kind in "fiu":
        return False
    known = column.dropna()
    return bool(len(known)) and bool(known.isin(list(TRUTHS)).all())


def plain_numbers(column: Any) -> Any:
    """A column of numbers, or of true and false, as floats."""
    return (column.map(TRUTHS) if are_truths(column) else column).to_numpy(np.float64)


def _refuse_nested(table: ScoreTable, name: str) -> None:
    """Refuse lists and objects, as JSON may have them."""
    import pandas as pd

    column = table.frame[name]
    if column.dtype != object or not pd.api.types.infer_dtype(column).startswith("mixed"):
        return
    nested = next(
        (i for i, one in enumerate(column) if isinstance(one, list | dict | set | np.ndarray)), None
    )
    if nested is not None:
        raise SpecError(
            f"row {table.row_number(nested)} of {table.source}: the {name} is "
            f"{str(column.iloc[nested])[:40]}, a list or an object: give a number or a text"
        )


def _refuse_nameless(table: ScoreTable, name: str) -> None:
    missing = np.flatnonzero(table.frame[name].isna().to_numpy())
    if missing.size:
        raise SpecError(
            f"row {table.row_number(int(missing[0]))} of {table.source} has no {name} ({missing.size} such "
            "rows): every score needs one; fill it in, or remove the rows"
        )


def _check_range(table: ScoreTable) -> None:
    low, high = table.limits
    if not low < high:
        raise SpecError(f"limits of a score go from the lowest to the highest, not from {low:g} to {high:g}")
    scores = table.frame["score"].to_numpy()
    outside = np.flatnonzero((scores < low) | (scores > high))
    if outside.size:
        row = int(outside[0])
        raise SpecError(
            f"{place_of(table, row)}: the score {scores[row]:g} is outside its limits, {low:g} to {high:g}: "
            "give the limits that the score really has"
        )


def _check_weights(table: ScoreTable) -> None:
    if "weight" not in table.frame.columns:
        return
    weights = table.frame["weight"].to_numpy()
    bad = np.flatnonzero(~(weights > 0))
    if bad.size:
        row = int(bad[0])
        raise SpecError(
            f"{place_of(table, row)}: the weight is {weights[row]:g}: weights are numbers above 0; leave out "
            "cases that do not count"
        )


def _check_ratio(table: ScoreTable) -> None:
    ratio = table.ratio
    if ratio is not None and not (isinstance(ratio, int | float) and 0 < ratio < inf):
        raise SpecError(
            f"ratio={value_told(ratio)}: the ratio of test cases to training cases is a number above 0, "
            "as 1/9 for ten folds"
        )


def with_direction(table: ScoreTable, higher_is_better: bool | None) -> ScoreTable:
    """The same with its direction: as said, or as the name tells, which is then noted."""
    if higher_is_better is None and table.higher_is_better is not None:
        return table
    if higher_is_better is not None:
        return replace(table, higher_is_better=higher_is_better)
    known = known_direction(table.metric)
    if known is None:
        raise SpecError(
            f"nobody says whether a higher or a lower {table.metric or 'score'} is better: give "
            "higher_is_better=True or False (on the command line --higher or --lower)"
        )
    better = "higher" if known else "lower"
    return replace(
        table,
        higher_is_better=known,
        notes=(*table.notes, f"a {better} {table.metric} {BY_NAME}"),
    )


def with_slices(table: ScoreTable, names: Sequence[str]) -> ScoreTable:
    """The same; an error where a column that is wanted for slices is not there."""
    there = [str(name) for name in table.frame.columns]
    for name in names:
        if f"{SLICE}{name}" not in there and name not in there:
            raise no_such_column([one.removeprefix(SLICE) for one in there], name, "slices", table.source)
    more = {f"{SLICE}{name}": table.frame[name] for name in names if f"{SLICE}{name}" not in there}
    return replace(table, frame=table.frame.assign(**more)) if more else table


def with_limits(table: ScoreTable) -> ScoreTable:
    """The same with limits told from the scores where all are 0 or 1."""
    if any(map(isfinite, table.limits)):
        return table
    scores = table.frame["score"].to_numpy()
    known = scores[~np.isnan(scores)]
    is_binary = known.size > 0 and bool(((known == 0) | (known == 1)).all())
    return replace(table, limits=(0.0, 1.0)) if is_binary else table


def no_such_column(table_columns: list[str], wanted: str, role: str, source: str) -> SpecError:
    """What is said of a column that was named and is not there."""
    meant = hint(wanted, table_columns)
    return SpecError(
        f'{source} has no column "{wanted}" for the {role}{meant}: it has {some_names(table_columns)}'
    )
