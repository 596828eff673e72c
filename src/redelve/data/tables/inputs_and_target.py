"""Inputs and target as people hand them over: a frame and a column's name, X and y, arrays."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.model import OwnArrays
from redelve.registry import value_told

if TYPE_CHECKING:
    import pandas as pd

TARGET = "target"
TargetLike: TypeAlias = "str | int | Sequence[Any] | NDArray[Any] | pd.Series[Any]"
"""A column's name, or the values themselves, one for each row."""


def with_target(frame: Any, target: Any) -> tuple[Any, str | None, OwnArrays | None]:
    """The frame, the name of its target, and the arrays where the user brought such.

    Values that are given for the target become a column of the frame.
    """
    if isinstance(target, str) or target is None:
        return frame, target, None
    if isinstance(target, Integral) and not isinstance(target, bool):
        return frame, str(target), None
    if hasattr(frame, "toarray"):
        raise SpecError("the inputs are a sparse matrix: give X.toarray(), or a frame of its columns")
    _refuse_names(frame, target)
    values = np.asarray(target) if not hasattr(target, "array") else target
    if values.ndim == 2 and values.shape[1] == 1:
        values = np.asarray(values).ravel()
    if values.ndim != 1:
        raise SpecError(
            f"the target has {values.ndim} dimensions: give the name of a column, or one value for each row"
        )
    if len(values) != len(frame):
        raise SpecError(
            f"the target has {len(values)} values, but there are {len(frame)} rows: give one for each"
        )
    made = frame if _is_polars(frame) else _as_frame(frame)
    arrays = None if _is_frame(frame) else OwnArrays(np.array(frame), tuple(made.columns), _copied(values))
    return *_joined(made, values), arrays


def _refuse_names(frame: Any, target: Any) -> None:
    """Refuse a list of names: there is one target at a time."""
    is_list = (
        isinstance(target, list | tuple) and len(target) > 0 and all(isinstance(one, str) for one in target)
    )
    if not is_list or len(target) == len(frame):
        return
    if len(target) == 1:
        raise SpecError(
            f"target is the list {value_told(target)}: give the name alone, as in target={target[0]!r}"
        )
    raise SpecError(
        f"target is a list of {len(target)} names: methods are assessed on one target at a time; choose one, "
        f"as in target={target[0]!r}, and call again for the next"
    )


def _copied(values: Any) -> Any:
    """The values as they are now."""
    return values.copy() if hasattr(values, "copy") else values


def _joined(made: Any, values: Any) -> tuple[Any, str]:
    """A frame with the values as a column beside the inputs, row by row whatever the index."""
    import pandas as pd

    taken = {str(column) for column in made.columns}
    name = str(getattr(values, "name", None) or TARGET)
    while name in taken:
        name = f"{name}_{TARGET}"
    if _is_polars(made):
        import polars

        return made.with_columns(polars.Series(name, values)), name
    column = pd.Series(getattr(values, "array", values), index=made.index, name=name)
    return pd.concat([made, column], axis=1), name


def _is_polars(frame: Any) -> bool:
    return hasattr(frame, "with_columns") and hasattr(frame, "to_arrow")


def _is_frame(inputs: Any) -> bool:
    return hasattr(inputs, "iloc") or hasattr(inputs, "to_pandas")


def _as_frame(inputs: Any) -> Any:
    """Inputs as a pandas frame: as they are, from another library, or of an array's columns."""
    import pandas as pd

    if isinstance(inputs, pd.DataFrame):
        return inputs
    if hasattr(inputs, "to_pandas"):
        return inputs.to_pandas()
    array = np.asarray(inputs)
    if array.ndim != 2:
        raise SpecError(f"the inputs have {array.ndim} dimensions: give a table, a row for each case")
    return pd.DataFrame(array, columns=[f"x{number}" for number in range(1, array.shape[1] + 1)])
