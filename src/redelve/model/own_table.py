"""A table as its owner has it: the frame that estimators and functions are shown, unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.model.dataset import Rows


@dataclass(frozen=True, eq=False)
class OwnArrays:
    """Inputs that a user brought as an array, with what its columns are called here, and their targets."""

    inputs: NDArray[Any] = field(repr=False)
    names: tuple[str, ...]
    outputs: Any = field(repr=False)

    def shown(self, left_out: Collection[str]) -> tuple[NDArray[Any], Any]:
        """The array, without columns that no method is shown, and the targets."""
        places = [place for place, name in enumerate(self.names) if name not in left_out]
        return self.inputs if len(places) == len(self.names) else self.inputs[:, places], self.outputs


@dataclass(frozen=True, eq=False)
class OwnTable:
    """The user's frame beside DELVE's columns, read when somebody first asks for it.

    `read` gives the frame (pandas, polars or arrow), `count` is how many rows it must have (None: nobody
    knows), `rows` are those that are cases of the dataset, in its order (None: all). `target` names the
    column to predict, `left_out` those that no method is shown. Where the user has `arrays`, methods are
    shown these instead of the frame.
    """

    read: Callable[[], Any] = field(repr=False)
    count: int | None
    target: str
    left_out: tuple[str, ...] = ()
    rows: Rows | None = field(default=None, repr=False)
    arrays: OwnArrays | None = field(default=None, repr=False)

    @cached_property
    def _columns(self) -> tuple[Any, Any]:
        """The columns that methods are shown, and that of the target; rows that are no cases included."""
        if self.arrays is not None:
            return self.arrays.shown(self.left_out)
        frame = self.read()
        if self.count is not None and len(frame) != self.count:
            raise SpecError(
                f"as a data frame the table has {len(frame)} rows, but {self.count} cases were read from it: "
                "read it yourself (with pandas.read_csv, say) and give the frame"
            )
        target = _label(frame, self.target)
        if target is None:
            raise SpecError(
                f'read as a data frame, the table has no column "{self.target}" (it is the index): '
                "use reset_index() and give the frame"
            )
        hidden = {target, *(_label(frame, name) for name in self.left_out)}
        return _without(frame, hidden - {None}), frame[target]

    def inputs(self, cases: Rows) -> Any:
        """The columns that methods are shown, for cases of the dataset counted from 0; a copy."""
        return _taken(self._columns[0], cases if self.rows is None else self.rows[cases])

    def outputs(self, cases: Rows) -> Any:
        """The targets of these cases as the user has them; a copy."""
        found = _taken(self._columns[1], cases if self.rows is None else self.rows[cases])
        return found.to_pandas() if hasattr(found, "combine_chunks") else found  # arrow's are no sequences

    @cached_property
    def digest(self) -> str:
        """A hash of what methods are shown: names, types and every value, the index included."""
        hasher = hashlib.blake2b(digest_size=16)
        for part in self._columns:
            for piece in _content(part):
                hasher.update(piece)
        if self.rows is not None:
            hasher.update(self.rows.astype("<i8").tobytes())
        return hasher.hexdigest()


def _label(frame: Any, name: str) -> Any:
    """What the frame itself calls a column; None if it has no such column, as for groups given apart."""
    labels = list(getattr(frame, "column_names", None) or frame.columns)  # arrow's `columns` are values
    exact = {str(label): label for label in labels}
    if name in exact:
        return exact[name]
    return {" ".join(text.split()): label for text, label in exact.items()}.get(name)


def _without(frame: Any, hidden: set[Any]) -> Any:
    if hasattr(frame, "iloc"):
        return frame.loc[:, [label not in hidden for label in frame.columns]]
    return frame.drop(list(hidden)) if hasattr(frame, "drop") else frame.drop_columns(list(hidden))


def _taken(part: Any, rows: Rows) -> Any:
    """Some rows of a frame or of a column, whatever package they are of."""
    if hasattr(part, "iloc"):
        return part.iloc[rows]
    return part.take(rows) if hasattr(part, "combine_chunks") else part[rows]


def _content(part: Any) -> list[bytes]:
    """What makes a frame or column what it is, as bytes."""
    import pandas as pd

    if isinstance(part, np.ndarray):
        return [repr((str(part.dtype), part.shape)).encode(), _hashed(pd.Series(part.ravel()), index=False)]
    kind = f"{type(part).__module__}.{type(part).__name__}"
    if not hasattr(part, "iloc"):
        declared = str(getattr(part, "schema", None) or getattr(part, "dtype", None) or part.type)
        part = part.to_pandas()
        return [kind.encode(), declared.encode(), *_content(part)]
    columns = [part.iloc[:, place] for place in range(part.shape[1])] if part.ndim == 2 else [part]
    described = [repr((column.name, _described(column.dtype))).encode() for column in columns]
    values = [_hashed(column, index=False) for column in columns]
    return [kind.encode(), *described, *values, _hashed(pd.Series(0, index=part.index), index=True)]


def _described(dtype: Any) -> str:
    levels = list(dtype.categories) if hasattr(dtype, "categories") else ""
    return f"{dtype!r} {levels} {getattr(dtype, 'ordered', '')}"


def _hashed(column: Any, *, index: bool) -> bytes:
    import pandas as pd

    try:
        hashed: bytes = pd.util.hash_pandas_object(column, index=index).to_numpy().tobytes()
    except TypeError:  # lists and other things that have no hash
        return repr(column.tolist()).encode()
    return hashed
