"""The frames that users have, or would have read themselves: what estimators and functions are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.data.files import StrPath, open_bytes
from redelve.errors import SpecError
from redelve.text_numbers import parse_number

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


def gapped_frame(read: FrameReader, codes: Sequence[str]) -> FrameReader:
    """The same frame with gaps where the user says that values stand for missing ones."""
    return partial(_with_gaps, read, tuple(codes)) if codes else read


def _with_gaps(read: FrameReader, codes: Sequence[str]) -> Any:
    import pandas as pd

    frame = read()
    if not isinstance(frame, pd.DataFrame):
        raise SpecError(
            f"codes for missing values ({', '.join(codes)}) are for pandas frames and files: replace them in "
            "the frame yourself"
        )
    gapped = frame.copy(deep=False)
    for place, name in enumerate(frame.columns):
        wanted = [code for code in map(partial(_code_for, str(name), names=frame.columns), codes) if code]
        if wanted:
            gapped.isetitem(place, _gaps_in(frame.iloc[:, place], wanted))
    return gapped


def _code_for(name: str, entry: str, names: Iterable[Any]) -> str | None:
    """The code that an entry, `-999` or `age=-999`, has for a column; None if it is about another one."""
    column, separator, code = entry.partition("=")
    if not (separator and column in map(str, names)):
        return entry
    return code if column == name else None


def _gaps_in(series: Any, codes: Sequence[str]) -> Any:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype):
        numbers = [number for number in map(parse_number, codes) if number is not None]
        return series.mask(series.isin(numbers))
    return series.mask(series.astype(str).isin(list(codes)))


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
