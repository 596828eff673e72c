"""Predictions that were saved with their truths: a column y_true, and one of predictions for every model."""

from __future__ import annotations

import tokenize
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.data.decompression import damage
from redelve.data.files import check_plain
from redelve.data.scores.readers.answer_scores import fold_ratio, measure_of
from redelve.data.scores.readers.frame_reader import FrameReader
from redelve.data.scores.score_readers import ScoreWish
from redelve.data.scores.score_table import ScoreTable
from redelve.errors import FormatError, SpecError

if TYPE_CHECKING:
    import pandas as pd

TRUTH = "y_true"
GUESS = "y_pred"
ROLES = ("case", "fold", "group", "weight", "task")
LARGEST_ARRAYS = 2**31


class SavedPredictions(FrameReader):
    """Tables and arrays with y_true: y_pred of one model, or a column for every model (y_pred_tree, tree)."""

    title = "predictions with their truths"
    columns = ROLES

    def knows(self, columns: Sequence[str]) -> bool:
        """A column y_true and others, which are no scores."""
        return TRUTH in columns and "score" not in columns and len(columns) > 1

    def recognises_file(self, path: Path) -> bool:
        """A table, or a file of arrays by numpy."""
        is_arrays = path.suffix == ".npz"
        return f"{TRUTH}.npy" in _array_names(path) if is_arrays else super().recognises_file(path)

    def frame(self, path: Path) -> pd.DataFrame:
        """A table, or arrays."""
        return _arrays(path) if path.suffix == ".npz" else super().frame(path)

    def takes(self, scores: Any) -> bool:
        """A frame with such columns, or arrays by such names."""
        if isinstance(scores, Mapping):
            return self.knows([str(name) for name in scores])
        return super().takes(scores)

    def read_object(self, scores: Any, wish: ScoreWish) -> ScoreTable:
        """The scores of predictions in a frame or in arrays."""
        return super().read_object(
            _frame(dict(scores), "the predictions") if isinstance(scores, Mapping) else scores, wish
        )

    def scores(self, frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
        """A row for every prediction of every model."""
        about = {role: name for role in ROLES if (name := wish.columns.get(role, role)) in frame.columns}
        if "model" in frame.columns and GUESS in frame.columns:
            return _long(frame, about, wish, source)
        guesses = [name for name in frame.columns if name not in (TRUTH, *about.values())]
        if GUESS in guesses:
            return _long(frame, about, wish, source)
        named = [name for name in guesses if name.startswith(f"{GUESS}_")] or guesses
        return _wide(frame, named, about, wish, source)


def _long(frame: pd.DataFrame, about: Mapping[str, str], wish: ScoreWish, source: str) -> ScoreTable:
    measure = measure_of(frame[TRUTH], frame[GUESS], wish, source)
    made = frame[list(about.values())].set_axis(list(about), axis=1)
    made = made.assign(score=measure.scores(frame[TRUTH], frame[GUESS]))
    if "model" in frame.columns:
        made = made.assign(model=frame["model"])
    if "case" not in about:
        by_model = frame.groupby("model", observed=True).cumcount() if "model" in frame.columns else None
        made = made.assign(case=np.arange(1, len(frame) + 1) if by_model is None else by_model + 1)
    one = made[made["model"] == made["model"].iloc[0]] if "model" in made.columns else made
    ratio = fold_ratio(one["fold"]) if "fold" in about else None
    parts = (measure.name, measure.higher_is_better, measure.limits, ratio, (measure.note,))
    return ScoreTable(source, made.reset_index(drop=True), *parts)


def _wide(
    frame: pd.DataFrame, guesses: Sequence[str], about: Mapping[str, str], wish: ScoreWish, source: str
) -> ScoreTable:
    """One table of all models below each other, scored alike."""
    import pandas as pd

    if not guesses:
        raise SpecError(f"{source} has truths and no predictions: it has {', '.join(frame.columns[:12])}")
    kept = frame[[TRUTH, *about.values()]]
    if "case" not in about:
        kept = kept.assign(case=np.arange(1, len(frame) + 1))
        about = {**about, "case": "case"}
    parts = [
        kept.assign(y_pred=frame[name].astype(object), model=name.removeprefix(f"{GUESS}_"))
        for name in guesses
    ]
    whole = pd.concat(parts, ignore_index=True)
    return _long(whole.assign(y_pred=whole[GUESS].infer_objects()), about, wish, source)


# Arrays


def _array_names(path: Path) -> list[str]:
    try:
        check_plain(path)
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except damage():
        return []


def _arrays(path: Path) -> pd.DataFrame:
    """The arrays in a file by numpy, never unpickled, and never more than a table holds."""
    try:
        check_plain(path)
        with zipfile.ZipFile(path) as archive:
            size = sum(one.file_size for one in archive.infolist())
        if size > LARGEST_ARRAYS:
            raise FormatError(path, None, f"its arrays have {size:,} bytes, too many for predictions")
        with np.load(path, allow_pickle=False) as found:
            return _frame({name: found[name] for name in found.files}, path.name)
    except damage(SyntaxError, tokenize.TokenError) as error:
        told = "it is damaged" if isinstance(error, OSError) else " ".join(str(error).split())[:120]
        raise FormatError(path, None, f"can't read its arrays ({told}): save them by numpy.savez") from None


def _frame(arrays: Mapping[Any, Any], source: str) -> pd.DataFrame:
    import pandas as pd

    found = {str(name): np.asarray(one) for name, one in arrays.items()}
    for name, one in found.items():
        if one.ndim != 1:
            raise SpecError(
                f'{source}: "{name}" has {one.ndim} dimensions: give one label or number for each case'
            )
        if len(one) != len(found[TRUTH]):
            raise SpecError(f'{source}: "{name}" has {len(one)} values and y_true {len(found[TRUTH])}')
    return pd.DataFrame(found)
