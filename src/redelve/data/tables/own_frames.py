"""The frames that users have, or would have read themselves: what estimators and functions are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.data.files import StrPath, open_bytes

if TYPE_CHECKING:
    from redelve.data.tables.csv_files import CsvManner
    from redelve.data.tables.table_files import TableColumn

FrameReader = Callable[[], Any]


def kept_frame(frame: Any) -> FrameReader:
    """The frame as it is now, whatever becomes of it later; copied where pandas does not copy on write."""
    import pandas as pd

    copies_on_write = int(pd.__version__.partition(".")[0]) >= 3
    kept = frame.copy(deep=not copies_on_write) if isinstance(frame, pd.DataFrame) else frame
    return partial(_itself, kept)


def _itself(frame: Any) -> Any:
    return frame


def csv_frame(path: StrPath, manner: CsvManner) -> FrameReader:
    """What pandas reads from the file if told how it is written; a lone ? is missing, as everywhere here."""
    return partial(_read_csv_frame, Path(path).absolute(), manner)


def _read_csv_frame(path: Path, manner: CsvManner) -> Any:
    import pandas as pd

    delimiter, decimal, encoding = manner
    with open_bytes(path) as stream:
        return pd.read_csv(stream, sep=delimiter, decimal=decimal, encoding=encoding, na_values="?")


def parquet_frame(path: StrPath) -> FrameReader:
    """What pandas reads from the file."""
    return partial(_read_parquet_frame, Path(path).absolute())


def _read_parquet_frame(path: Path) -> Any:
    import pandas as pd

    return pd.read_parquet(path)


def arff_frame(columns: Sequence[TableColumn]) -> FrameReader:
    """Numbers as floats, declared levels as categories, texts as pandas has them."""
    return partial(_made_arff_frame, columns)


def _made_arff_frame(columns: Sequence[TableColumn]) -> Any:
    import pandas as pd

    found = {column.name: column.values.to_pandas() for column in columns}
    for column in columns:
        if column.kind == "categories":
            found[column.name] = found[column.name].astype(pd.CategoricalDtype(list(column.levels)))
    return pd.DataFrame(found)
