"""Scores of single predictions: right or wrong for labels, squared errors for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.data.scores.score_readers import ScoreWish
from redelve.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("accuracy", "squared_error", "absolute_error")


@dataclass(frozen=True)
class AnswerMeasure:
    """How predictions are scored."""

    name: str

    @property
    def higher_is_better(self) -> bool:
        """Whether more of it is better."""
        return self.name == "accuracy"

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest it can be."""
        return (0.0, 1.0) if self.name == "accuracy" else (0.0, inf)

    @property
    def note(self) -> str:
        """What is told of it."""
        return f"predictions are scored by {self.name.replace('_', ' ')}, case by case"

    def scores(self, truths: pd.Series, guesses: pd.Series) -> Any:
        """The score of every prediction; NaN where the prediction or the truth is missing."""
        if self.name == "accuracy":
            is_right = (_texts(truths) == _texts(guesses)).astype(float)
            return np.where(truths.isna() | guesses.isna(), np.nan, is_right)
        gap = np.abs(_floats(truths, "truth") - _floats(guesses, "prediction"))
        return gap if self.name == "absolute_error" else gap**2


def measure_of(truths: pd.Series, guesses: pd.Series, wish: ScoreWish, source: str) -> AnswerMeasure:
    """The measure that is wanted, or the usual one for such truths."""
    if wish.score in MEASURES:
        return AnswerMeasure(str(wish.score))
    if wish.score is not None:
        raise SpecError(
            f"{source} has predictions, which can be scored by {', '.join(MEASURES)}, not by {wish.score}"
        )
    return AnswerMeasure("accuracy" if _are_labels(truths, guesses) else "squared_error")


def _are_labels(truths: pd.Series, guesses: pd.Series) -> bool:
    if _is_numeric(truths) and _is_numeric(guesses):
        return bool(np.isin(guesses.dropna().unique(), truths.dropna().unique()).all())
    return True


def _is_numeric(column: pd.Series) -> bool:
    return column.dtype.kind in "fiu"


def _texts(column: pd.Series) -> Any:
    """Labels as texts: 1 and 1.0 and "1" are the same."""
    if _is_numeric(column):
        return np.array([format(one, ".17g") for one in column.to_numpy(float)], dtype=object)
    return column.astype(str).to_numpy()


def _floats(column: pd.Series, what: str) -> Any:
    import pandas as pd

    numbers = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(float)
    strange = np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy())
    if strange.size:
        raise SpecError(
            f"row {int(strange[0]) + 1}: the {what} {column.iloc[int(strange[0])]!r} is no number"
        )
    return numbers


def fold_ratio(folds: pd.Series) -> float | None:
    """Test cases over training cases in a cross-validation whose folds together are all cases.

    None of a single fold, whose training cases are not known.
    """
    counts = folds.value_counts().to_numpy(float)
    counts = counts[counts > 0]
    return float(np.mean(counts / (counts.sum() - counts))) if len(counts) > 1 else None
