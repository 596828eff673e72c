"""Why an estimator could not learn from a frame, in words that tell the way out; and what it left lying."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from redelve.errors import PredictionError, RedelveError

ABOUT_TEXTS = re.compile(
    "could not convert|cannot convert|can't multiply sequence|argument must be a string or a real number|"
    "unsupported operand|dtypes (for data )?must be|bad value|cannot (be )?cast|must be real number",
    re.IGNORECASE,
)
ABOUT_MISSING = re.compile("contains NaN|missing values|contains infinity", re.IGNORECASE)
MOST_NAMED = 6


class FrameNotTakenError(PredictionError):
    """An estimator can't learn from a frame with texts or missing values as they are."""


@contextmanager
def explained(estimator: Any, inputs: Any, otherwise: str = "") -> Iterator[None]:
    """What an estimator raises over inputs that it can't take comes with what to do about it."""
    try:
        yield
    except RedelveError:
        raise
    except (ValueError, TypeError) as problem:
        way_out = _way_out(str(problem), inputs)
        if not way_out:
            raise
        name = type(estimator).__name__
        raise FrameNotTakenError(
            f"{name}: {type(problem).__name__}: {_first_line(problem)}; {way_out}{otherwise}"
        ) from problem


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [""])[0].rstrip(". ")


def _way_out(message: str, inputs: Any) -> str:
    if ABOUT_MISSING.search(message):
        return (
            "values are missing, and are handed on as they are: put an imputer before it "
            "(make_pipeline(SimpleImputer(), …))"
        )
    texts = _not_numbers(inputs)
    if ABOUT_TEXTS.search(message) and texts:
        named = ", ".join(texts[:MOST_NAMED]) + (" …" if len(texts) > MOST_NAMED else "")
        return (
            f"columns that are no numbers ({named}) are handed on as they are: encode them in a pipeline "
            "(make_column_transformer((OneHotEncoder(), [...]), …))"
        )
    return ""


ENCODED = (
    ', or ask for encoded inputs: sklearn_method(estimator, inputs="encoded") of '
    "redelve.methods.adapters.sklearn_adapter"
)


def _not_numbers(frame: Any) -> list[str]:
    import pandas as pd

    if isinstance(frame, np.ndarray) and frame.ndim == 2:
        frame = pd.DataFrame(frame).infer_objects()
    if not isinstance(frame, pd.DataFrame):
        return []
    kinds = zip(frame.columns, frame.dtypes, strict=True)
    return [str(name) for name, dtype in kinds if not pd.api.types.is_numeric_dtype(dtype)]


def tell_of_columns_left(*fitted: Any) -> None:
    """Warn where a ColumnTransformer selects nothing by one of its parts and drops columns all the same."""
    for model in _models(fitted):
        for columns in _column_transformers(model):
            empty = [
                name for name, _, chosen in columns.transformers_ if name != "remainder" and _is_none(chosen)
            ]
            dropped = [str(one) for one in _dropped(columns)]
            if empty and dropped:
                named = ", ".join(dropped[:MOST_NAMED]) + (" …" if len(dropped) > MOST_NAMED else "")
                warnings.warn(
                    f"{' and '.join(empty)} of the ColumnTransformer selects no column, and {named} are used "
                    "by no part of it: check its selectors against the frame's dtypes",
                    stacklevel=2,
                )


def _models(fitted: Iterable[Any]) -> Iterator[Any]:
    for one in fitted:
        if isinstance(one, Iterable):
            yield from _models(one)
        elif one is not None:
            yield from getattr(one, "models", (getattr(one, "model", None),))


def _column_transformers(model: Any) -> Iterator[Any]:
    """Those of a fitted pipeline or search, in which order they are met."""
    best = getattr(model, "best_estimator_", None)
    if best is not None:
        yield from _column_transformers(best)
    for _, step in getattr(model, "steps", ()):
        yield from _column_transformers(step)
    if hasattr(model, "transformers_") and hasattr(model, "remainder"):
        yield model


def _is_none(chosen: Any) -> bool:
    return hasattr(chosen, "__len__") and not isinstance(chosen, str) and len(chosen) == 0


def _dropped(columns: Any) -> list[Any]:
    left = [chosen for name, what, chosen in columns.transformers_ if name == "remainder" and what == "drop"]
    chosen = list(left[0]) if left and hasattr(left[0], "__iter__") else []
    names = list(getattr(columns, "feature_names_in_", ()))
    return [names[one] if names and isinstance(one, int | np.integer) else one for one in chosen]
