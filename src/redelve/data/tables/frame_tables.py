"""Tables made of data frames: pandas, polars, arrow."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa

from redelve.data.tables.table_files import (
    FrameReader,
    Table,
    TableColumn,
    arrow_column,
    check_names,
    table_from_arrow,
)
from redelve.errors import SpecError, kind_told


def table_from_frame(frame: Any, source: str = "the data frame") -> Table:
    """The table in a pandas DataFrame, an arrow table or anything that has `to_arrow`; no index is kept."""
    if isinstance(frame, pa.Table):
        return table_from_arrow(frame, source, kept_frame(frame))
    is_made = not isinstance(frame, type)
    if is_made and hasattr(frame, "to_arrow"):
        return table_from_arrow(frame.to_arrow(), source, kept_frame(frame))
    if not (is_made and hasattr(frame, "dtypes") and hasattr(frame, "columns") and hasattr(frame, "iloc")):
        raise SpecError(
            f"expected a pandas DataFrame but got {kind_told(frame)}: make one with pandas.DataFrame(…), "
            "give inputs and target as from_frame(X, y), or the path of a file"
        )
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise SpecError("the data frame has column names of several levels: join them into one text each")
    if not len(frame):
        raise SpecError("the data frame has no rows: give at least 10")
    names = [str(name) for name in frame.columns]
    check_names(names, source)
    columns = tuple(_column(name, frame.iloc[:, place]) for place, name in enumerate(names))
    return Table(source, columns, own=kept_frame(frame))


def kept_frame(frame: Any) -> FrameReader:
    """The frame as it is now, whatever becomes of it later; copied where pandas does not copy on write."""
    import pandas as pd

    copies_on_write = int(pd.__version__.partition(".")[0]) >= 3
    kept = frame.copy(deep=not copies_on_write) if isinstance(frame, pd.DataFrame) else frame
    return partial(_itself, kept)


def _itself(frame: Any) -> Any:
    return frame


def column_of_values(name: str, values: Any) -> TableColumn:
    """A column of loose values: a list, an array or a series."""
    try:
        return arrow_column(name, pa.array(values, from_pandas=True))
    except (pa.ArrowException, UnicodeError, ValueError, TypeError, OverflowError) as problem:
        raise SpecError(f"{name}: {problem}: give a list of texts or whole numbers") from None


def _column(name: str, series: Any) -> TableColumn:
    dtype = series.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return _categories(name, series)
    try:
        return arrow_column(name, pa.Array.from_pandas(series))
    except (pa.ArrowException, UnicodeError, ValueError, TypeError, OverflowError) as problem:
        if dtype.kind != "O":
            return TableColumn(name, pa.nulls(len(series), pa.string()), "other", declared=str(dtype))
        return _texts(name, series, problem)


def _categories(name: str, series: Any) -> TableColumn:
    levels = _levels(name, series.dtype.categories)
    codes = pa.array(series.cat.codes.to_numpy(), from_pandas=True)
    known = pa.compute.if_else(pa.compute.less(codes, 0), pa.scalar(None, codes.type), codes)
    texts = pa.array(levels, pa.string()).take(known)
    kind = "ordered" if series.dtype.ordered else "categories"
    return TableColumn(name, texts, kind, tuple(levels), str(series.dtype))  # type: ignore[arg-type]


def _levels(name: str, categories: Any) -> list[str]:
    """The names of categories, each a text that can be written."""
    try:
        levels = [str(level) for level in categories]
        "".join(levels).encode()
    except ValueError as problem:
        raise SpecError(
            f'a category of "{name}" can\'t be read as text ({problem}): clean it first'
        ) from None
    return levels


def _texts(name: str, series: Any, problem: Exception) -> TableColumn:
    """A column of mixed Python objects, each as text."""
    gone = series.isna().to_numpy()
    try:
        texts = [None if is_gone else str(value) for value, is_gone in zip(series, gone, strict=True)]
        return arrow_column(name, pa.array(texts, pa.string()))
    except (pa.ArrowException, ValueError):  # half a character, a number with too many digits
        raise SpecError(f'column "{name}" can\'t be read as text ({problem}): clean it first') from None
