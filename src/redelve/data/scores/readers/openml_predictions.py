"""Predictions of OpenML runs, `predictions.arff`: repeat, fold, row_id, prediction, and the truth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from redelve.data.files import read_text
from redelve.data.scores.readers.answer_scores import fold_ratio, measure_of
from redelve.data.scores.readers.frame_reader import FrameReader
from redelve.data.scores.readers.reader_tools import gathered
from redelve.data.scores.score_readers import ScoreWish
from redelve.data.scores.score_table import ScoreTable
from redelve.errors import RedelveError, SpecError

if TYPE_CHECKING:
    import pandas as pd

TRUTHS = ("truth", "correct")
LARGEST_DESCRIPTION = 2**26
DESCRIPTIONS = ("description.xml", "run.xml")
"""What the Python and the R package of OpenML call the description of a run."""


class OpenmlPredictions(FrameReader):
    """Predictions of runs; the description beside them, where it is there, says their flow and task."""

    title = "predictions of OpenML"
    plain_names = ("predictions", "prediction")
    in_folders = ("predictions.arff",)

    def knows(self, columns: Sequence[str]) -> bool:
        """Repeat, fold, row_id and prediction, with a truth."""
        there = {name.lower() for name in columns}
        return {"fold", "row_id", "prediction"} <= there and bool(there & set(TRUTHS))

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        """The scores of all predictions in these files or folders."""
        found = gathered(paths, self._is_in_folder, self.title)
        table = super().read(found, wish)
        tasks = [_described(path, "task_id") for path in found]
        if len(set(tasks)) > 1 and not all(tasks):
            raise SpecError("some of these runs say what their task is and others do not: compare them apart")
        return table

    def _of_file(self, path: Path, wish: ScoreWish, name: str) -> ScoreTable:
        table = super()._of_file(path, wish, name)
        task = _described(path, "task_id")
        return table.of_task(f"task {task}") if task else table

    def model(self, path: Path) -> str:
        """The flow's name, or that of the file or folder."""
        return _described(path, "flow_name") or super().model(path)

    def scores(self, frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
        """A row for every prediction: its case is the row, its fold the repeat with the fold."""
        frame = frame.set_axis([name.lower() for name in frame.columns], axis=1)
        if "sample" in frame.columns and frame["sample"].nunique() > 1:
            raise SpecError(
                f"{source} has predictions of a learning curve (several values of sample): keep those of one"
            )
        truth = next(name for name in TRUTHS if name in frame.columns)
        measure = measure_of(frame[truth], frame["prediction"], wish, source)
        score = measure.scores(frame[truth], frame["prediction"])
        made = frame[["row_id"]].set_axis(["case"], axis=1).assign(score=score)
        if "model" in frame.columns:
            made = made.assign(model=frame["model"])
        folds, ratio = _folds(frame)
        if folds is not None:
            made = made.assign(fold=folds)
        about = (measure.name, measure.higher_is_better, measure.limits, ratio, (measure.note,))
        return ScoreTable(source, made.reset_index(drop=True), *about)


def _folds(frame: pd.DataFrame) -> tuple[pd.Series | None, float | None]:
    """The folds, apart for every repeat, and their ratio; none where all predictions are of one."""
    one = frame[frame["model"] == frame["model"].iloc[0]] if "model" in frame.columns else frame
    repeats = frame["repeat"] if "repeat" in frame.columns else frame["fold"].map(lambda _: 0)
    ratios = [fold_ratio(part) for _, part in one["fold"].groupby(repeats.loc[one.index], observed=True)]
    folds = frame["fold"].astype(str)
    if repeats.nunique() > 1:
        folds = repeats.astype(str) + "." + folds
    if folds.nunique() == 1:
        return None, None
    known = [ratio for ratio in ratios if ratio is not None]
    return folds, float(np.mean(known)) if len(known) == len(ratios) else None


def _described(path: Path, what: str) -> str:
    """What the description of a run says; empty where there is none."""
    beside = next((one for name in DESCRIPTIONS if (one := path.with_name(name)).is_file()), None)
    try:
        text = "" if beside is None else read_text(beside, LARGEST_DESCRIPTION)
    except RedelveError:
        return ""
    found = re.search(rf"<oml:{what}>\s*([^<]+?)\s*</oml:{what}>", text)
    return found[1] if found else ""
