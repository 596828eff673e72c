"""Results of aeon and tsml-eval: a method's scores by dataset and resample, or its predictions in one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from redelve.data.files import read_text
from redelve.data.scores.json_texts import head
from redelve.data.scores.readers.answer_scores import measure_of
from redelve.data.scores.readers.reader_tools import any_below, chosen, expect, gathered
from redelve.data.scores.score_readers import ScoreReader, ScoreWish
from redelve.data.scores.score_table import ScoreTable, joined
from redelve.errors import FormatError, SpecError

LARGEST = 2**28
TABLE = re.compile(r"^\ufeff?\"?resamples?:?\"?\s*,", re.IGNORECASE)
PREDICTIONS = re.compile(r"^[^,\n]*,[^,\n]*,(TEST|TRAIN|NO SPLIT)\s*,[^,\n]*,", re.IGNORECASE)
DIRECTIONS = {"balacc": True, "auroc": True, "accuracy": True, "f1": True, "logloss": False, "fittime": False}
BOUNDED = {"balacc", "auroc", "accuracy", "f1"}


class TsmlResults(ScoreReader):
    """Files such as `HC2_accuracy.csv`, and `Predictions/DATASET/testResample0.csv` of a method."""

    title = "results of aeon and tsml-eval"

    def recognises(self, path: Path) -> bool:
        """Such a file, or a folder with such files."""
        return any_below(path, _is_result) if path.is_dir() else _is_result(path)

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        """Scores by dataset and resample; of single cases where the files are predictions in one resample."""
        whole = any(path.is_dir() for path in paths)
        files = gathered(paths, _is_result, self.title)
        tables = [path for path in files if TABLE.match(head(path, 200))]
        if tables and len(tables) < len(files):
            raise SpecError(
                f"{tables[0].name} is a table of resamples and others are predictions: give one kind of them"
            )
        return (
            _from_tables(files, wish) if tables else _from_predictions(files, wish, leave_out_training=whole)
        )


def _is_result(path: Path) -> bool:
    if not path.name.endswith((".csv", ".csv.gz")):
        return False
    start = head(path, 2000)
    return bool(TABLE.match(start) or PREDICTIONS.match(start))


def _lines(path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(read_text(path, LARGEST).splitlines()))
    except csv.Error as error:
        raise FormatError(path, None, f"this is no CSV ({error})") from None


def _number(path: Path, line: int, text: str) -> float:
    """A number; NaN where there is none."""
    if text.strip() in ("", "?", "nan", "NaN", "None"):
        return float("nan")
    try:
        return float(text)
    except ValueError:
        raise FormatError(path, line, f"{text[:40]!r} is no number") from None


# Tables of resamples


def _from_tables(files: Sequence[Path], wish: ScoreWish) -> ScoreTable:
    named = {path: _named(path) for path in files}
    kinds = [kind for _, kind in named.values()]
    kind = chosen(kinds, wish, f"{len(files)} files")
    kept = [path for path in files if named[path][1] == kind]
    tables = [
        ScoreTable(
            path.name,
            _resamples(path, named[path][0]),
            kind,
            DIRECTIONS.get(kind),
            (0.0, 1.0) if kind in BOUNDED else (-inf, inf),
        )
        for path in kept
    ]
    return joined(tables, [path.stem for path in kept])


def _named(path: Path) -> tuple[str, str]:
    """The method and the score in a file's name, as in HC2_accuracy.csv."""
    method, _, kind = path.name.split(".csv")[0].rpartition("_")
    return (method, kind.lower()) if method else (kind, "score")


def _resamples(path: Path, method: str) -> Any:
    """A row for every dataset and resample."""
    import pandas as pd

    first, *rest = _lines(path)
    resamples = [name.strip() for name in first[1:] if name.strip()]
    expect(bool(resamples) and bool(rest), path, 1, "there are no resamples, or no datasets")
    rows = []
    for line, values in enumerate(rest, start=2):
        if not any(value.strip() for value in values):
            continue
        expect(
            len(values) == len(resamples) + 1,
            path,
            line,
            f"{len(values) - 1} scores for {len(resamples)} resamples: the file is cut off",
        )
        scores = [_number(path, line, value) for value in values[1:]]
        rows += [
            {"model": method, "task": values[0].strip(), "fold": fold, "score": score}
            for fold, score in zip(resamples, scores, strict=True)
        ]
    return pd.DataFrame(rows)


# Predictions


@dataclass(frozen=True)
class _Predictions:
    """The predictions of a method on the test cases of a resample."""

    path: Path
    task: str
    model: str
    resample: str
    truths: Sequence[str]
    guesses: Sequence[str]


def _from_predictions(files: Sequence[Path], wish: ScoreWish, *, leave_out_training: bool) -> ScoreTable:
    found = [one for path in files for one in _predictions(path, leave_out_training)]
    if not found:
        raise SpecError("there are predictions on training cases only: give those on test cases")
    _refuse_twice(found)
    truths, guesses = _columns(found)
    source = found[0].path.name if len(found) == 1 else f"{len(found)} files of predictions"
    measure = measure_of(truths, guesses, wish, source)
    frame = _cases(found).assign(score=measure.scores(truths, guesses))
    if frame["fold"].nunique() == 1:
        frame = frame.drop(columns="fold")
    else:  # resamples share cases, in no way that the files tell: they count as wholes, with a ratio
        each = frame.groupby(["model", "task", "fold"], sort=False, observed=True)["score"]
        frame = each.mean().where(each.count() == each.size()).reset_index()
    table = ScoreTable(source, frame, measure.name, measure.higher_is_better, measure.limits)
    return replace(table, notes=(measure.note,))


def _predictions(path: Path, leave_out_training: bool) -> Iterator[_Predictions]:
    lines = _lines(path)
    expect(len(lines) > 3, path, None, "there are no predictions under its three lines of header")
    about = [part.strip() for part in lines[0]]
    if about[2].upper() == "TRAIN":
        if leave_out_training:
            return
        raise SpecError(f"{path.name} has predictions on training cases: give those on test cases")
    rows = [(number, row) for number, row in enumerate(lines[3:], start=4) if row]
    for number, row in rows:
        expect(len(row) > 1, path, number, "a truth and a prediction were expected: the file is cut off")
    yield _Predictions(
        path,
        about[0] or "cases",
        about[1] or path.resolve().parent.name,
        about[3],
        [row[0].strip() for _, row in rows],
        [row[1].strip() for _, row in rows],
    )


def _refuse_twice(found: Sequence[_Predictions]) -> None:
    seen: dict[tuple[str, str, str], Path] = {}
    for one in found:
        former = seen.setdefault((one.model, one.task, one.resample), one.path)
        if former is not one.path:
            raise SpecError(
                f"{one.path} and {former} are both of {one.model} on resample {one.resample} of {one.task}: "
                "give only one of them"
            )


def _columns(found: Sequence[_Predictions]) -> tuple[Any, Any]:
    """The truths and the predictions, as numbers where all are."""
    import pandas as pd

    columns = []
    for part in ("truths", "guesses"):
        texts = pd.Series([one for each in found for one in getattr(each, part)], dtype=object)
        known = texts.mask(texts.isin(["?", "", "nan"]))
        numbers = pd.to_numeric(known, errors="coerce")
        columns.append(numbers if numbers.isna().equals(known.isna()) else known)
    return columns[0], columns[1]


def _cases(found: Sequence[_Predictions]) -> Any:
    """Whose prediction of which case of which resample each is."""
    import pandas as pd

    return pd.DataFrame(
        [
            {"model": one.model, "task": one.task, "fold": one.resample, "case": str(i)}
            for one in found
            for i in range(1, len(one.truths) + 1)
        ]
    )
