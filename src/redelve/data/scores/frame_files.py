"""Tables in files as frames of pandas: CSV, Parquet, ARFF, JSON; and columns that are nearly numbers."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.data.scores.json_texts import head, json_objects, read_json
from redelve.data.scores.score_table import TRUTHS, are_truths
from redelve.data.tables.csv_files import CODE, WITH_COMMA
from redelve.data.tables.table_files import Table, bare_name, check_names, read_table
from redelve.errors import FormatError
from redelve.text_numbers import parse_number

if TYPE_CHECKING:
    import pandas as pd

JSON_LINES = (".jsonl", ".ndjson")
INDEX = "Unnamed: 0"
"""What pandas calls the index that it has written without a name."""
FEW = 1000
"""So many numbers at first show that a column has others than whole ones."""
KEYS = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:')
NEARLY = 0.5
"""A column of texts of which so many are numbers, or say true and false, holds scores but for a few cells."""
BEGINS = frozenset("0123456789+-.,tTfF")
"""What numbers, true and false begin with: other texts need no closer look."""
ATTRIBUTES = re.compile(
    r"^@attribute\s+(?:'((?:[^'\\]|\\.)*)'|\"([^\"]*)\"|(\S+))", re.IGNORECASE | re.MULTILINE
)


def frame_of_file(path: Path) -> pd.DataFrame:
    """The table in a file, as pandas has it: texts coded, whole numbers whole."""
    import pandas as pd

    ending = Path(bare_name(path)).suffix.lower()
    if ending in JSON_LINES:
        return pd.DataFrame([row for _, row in json_objects(path)])
    if ending == ".json":
        return _json_table(path, read_json(path))
    try:
        return _without_count(_frame_of(read_table(path, index_name=INDEX)))
    except UnicodeDecodeError as error:
        raise FormatError(
            path, None, f"a text in it is not UTF-8 ({error.reason}): the file is damaged"
        ) from None


def column_names(path: Path) -> list[str]:
    """The columns of the table in a file, by a quick look that raises nothing; none where it has no table."""
    ending = Path(bare_name(path)).suffix.lower()
    try:
        if ending == ".parquet":
            return _parquet_columns(path)
        return [name for name in _text_columns(ending, head(path)) if name]
    except (OSError, TypeError, ValueError, csv.Error, RecursionError):
        return []


def _parquet_columns(path: Path) -> list[str]:
    from pyarrow import parquet

    with path.open("rb") as stream:
        return list(map(str, parquet.read_schema(stream).names))


def _text_columns(ending: str, start: str) -> list[str]:
    first = start.split("\n", 1)[0].rstrip("\r")
    if ending in JSON_LINES:
        return list(json.loads(first))
    if ending == ".json":
        listed = re.search(r'"columns"\s*:\s*(\[[^\]]*\])', start)
        return list(map(str, json.loads(listed[1]))) if listed else KEYS.findall(start)
    if ending == ".arff":
        return ["".join(groups) for groups in ATTRIBUTES.findall(start)]
    if ending in (".csv", ".tsv"):
        mark = max(",;\t", key=first.count)
        return [name.strip() for name in next(csv.reader([first.lstrip("\ufeff")], delimiter=mark), [])]
    return []


def _frame_of(table: Table) -> pd.DataFrame:
    """A table's columns as pandas has them."""
    import pandas as pd

    found = {}
    for column in table.columns:
        if column.kind == "number":
            found[column.name] = _whole_numbers(column.values.to_numpy(zero_copy_only=False))
        else:
            codes, levels = column.coded
            found[column.name] = pd.Categorical.from_codes(codes, pd.Index(levels, dtype=object))
    return pd.DataFrame(found, copy=False)


def _without_count(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame less an index that pandas wrote with it and that counts rows; one of texts names the cases."""
    is_count = INDEX in frame.columns and frame[INDEX].dtype.kind in "fiu"
    return frame.drop(columns=INDEX) if is_count and len(frame.columns) > 1 else frame


def _whole_numbers(numbers: Any) -> Any:
    """Numbers as integers where all are: a case 17 is not called 17.0."""
    if not len(numbers) or not np.array_equal(numbers[:FEW], np.floor(numbers[:FEW])):
        return numbers
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int64)
    is_whole = max(-int(whole.min()), int(whole.max())) < 2**53 and bool((whole == numbers).all())
    return whole if is_whole else numbers


def _json_table(path: Path, found: Any) -> pd.DataFrame:
    """A table as JSON: a list of rows, columns with data, or a list for every column."""
    import pandas as pd

    if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
        return pd.DataFrame(found)
    if (
        isinstance(found, dict)
        and isinstance(found.get("columns"), list)
        and isinstance(found.get("data"), list)
    ):
        names, rows = list(map(str, found["columns"])), found["data"]
        check_names(names, str(path))
        uneven = next(
            (i for i, row in enumerate(rows, 1) if not isinstance(row, list) or len(row) != len(names)), None
        )
        if uneven is not None:
            raise FormatError(
                path, None, f"row {uneven} of its data has not {len(names)} values as it has columns"
            )
        return pd.DataFrame(rows, columns=names)
    if isinstance(found, Mapping) and found and all(isinstance(one, list) for one in found.values()):
        if len({len(one) for one in found.values()}) > 1:
            raise FormatError(path, None, "its columns have different lengths")
        return pd.DataFrame(found)
    raise FormatError(path, None, "expected a list of objects, one for every score")


def stray_cell(column: Any) -> tuple[int, str] | None:
    """Row and text of the cell that keeps a column from being scores; None where most cells are none."""
    import pandas as pd

    if column.dtype.kind in "fiubmMc" or are_truths(column):
        return None
    is_coded = str(column.dtype) == "category"
    codes, levels = pd.factorize(column if is_coded else column.map(str, na_action="ignore"))
    kinds = np.array([_kind(text) if text[:1] in BEGINS else "text" for text in levels], dtype=object)
    stray = _strangers(kinds, np.bincount(codes[codes >= 0], minlength=len(kinds)))
    if not stray.size:
        return None
    row = int(np.flatnonzero(np.isin(codes, stray))[0])
    return row, str(levels[codes[row]])


def _kind(text: str) -> str:
    """What a cell is: a number, one with a decimal comma, true or false, or any other text."""
    if text in TRUTHS:
        return "truth"
    if parse_number(text) is not None:
        return "text" if re.match(CODE, text) else "number"
    return "comma" if re.match(WITH_COMMA, text) else "text"


def _strangers(kinds: Any, counts: Any) -> Any:
    """The places of texts that do not belong, where at least half of the cells are scores; else none."""
    many = {kind: int(counts[kinds == kind].sum()) for kind in ("number", "comma", "truth")}
    enough = NEARLY * counts.sum()
    foreign: tuple[str, ...] = ()
    if 0 < enough <= many["number"] + many["comma"]:
        foreign = ("text", "truth", "comma")  # commas alone are read: where they were not, they are wrong
    elif 0 < enough <= many["truth"]:
        foreign = ("text", "number", "comma")
    found = (np.flatnonzero(kinds == kind) for kind in foreign)
    return next((places for places in found if places.size), np.array([], dtype=np.int64))
