"""What a user says of a table in a word: columns to leave out, and codes that stand for missing values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from redelve.data.delve.keyed_lines import shown
from redelve.data.tables.description import ColumnDescription, Description
from redelve.data.tables.table_files import FrameReader, Table, TableColumn
from redelve.errors import SpecError
from redelve.model.dataset import NumberColumn
from redelve.model.own_table import OwnArrays
from redelve.registry import check_kind, kinds_named, value_told
from redelve.text_numbers import parse_number

MissingLike = str | float | Sequence[str | float] | Mapping[str, str | float | Sequence[str | float]]
"""Codes for missing values: one, several, or for each column its own."""
NamesLike = str | Sequence[str]


def listed_codes(missing: MissingLike | None) -> tuple[str, ...]:
    """The codes as a description lists them: a value, or column=value.

    >>> listed_codes([-999, "none"]), listed_codes({"age": -1, "sex": ["?", "x"]})
    (('-999', 'none'), ('age=-1', 'sex=?', 'sex=x'))
    """
    if missing is None:
        return ()
    if isinstance(missing, Mapping):
        return tuple(f"{name}={code}" for name, codes in missing.items() for code in listed_codes(codes))
    several = [missing] if isinstance(missing, str | int | float) else missing
    if not np.iterable(several):
        raise SpecError(f"missing={value_told(missing)}: give the codes of missing values, as [-999]")
    return tuple(map(_text, several))


def _text(code: str | float) -> str:
    if not isinstance(code, str | Real):
        raise SpecError(f"missing={value_told(code)}: a code of missing values is a text or a number")
    check_kind("missing", code, kinds_named("str | float"))
    return code if isinstance(code, str) else str(NumberColumn(np.array([float(code)])).texts()[0])


def corrected(
    table: Table, given: Description, ignore: NamesLike | None, missing: MissingLike | None
) -> tuple[Table, Description]:
    """The table and its description as the user corrects them; a description keeps the codes."""
    codes = tuple(dict.fromkeys((*given.missing, *listed_codes(missing))))
    return with_missing(table, codes), replace(with_ignored(given, table, ignore), missing=codes)


def with_ignored(given: Description, table: Table, ignore: NamesLike | None) -> Description:
    """The description with columns that the user leaves out, whatever it says of them."""
    names = [] if ignore is None else [ignore] if isinstance(ignore, str) else list(ignore)
    unused = [ColumnDescription(table.column(name).name, "ignore") for name in names]
    others = [column for column in given.columns if column.name not in names]
    return replace(given, columns=(*others, *unused)) if unused else given


def with_missing(table: Table, codes: Iterable[str]) -> Table:
    """The table without the values that stand for missing ones."""
    entries = [_parted(entry, table.names) for entry in codes]
    for name, code in entries:
        table = _without(table, name, code)
    if table.own is None or not entries:
        return table
    return replace(
        table, own=partial(_gapped_frame, table.own, entries), arrays=_gapped_arrays(table, entries)
    )


def _gapped_arrays(table: Table, entries: Sequence[tuple[str, str]]) -> OwnArrays | None:
    """The user's own array without the codes."""
    if table.arrays is None or table.own is None:
        return None
    frame = _gapped_frame(table.own, entries)
    return replace(table.arrays, inputs=frame.loc[:, list(table.arrays.names)].to_numpy())


def _parted(entry: str, names: Sequence[str]) -> tuple[str, str]:
    """The column that an entry is for, empty for all, and the code."""
    name, separator, code = entry.partition("=")
    return (name, code) if separator and name in names else ("", entry)


def _gapped_frame(read: FrameReader, entries: Sequence[tuple[str, str]]) -> Any:
    """The user's own frame, pandas or polars, without the codes; arrow tables stay as they are."""
    frame = read()
    if not hasattr(frame, "columns") or hasattr(frame, "combine_chunks"):
        return frame
    changed = {}
    for label in frame.columns:
        codes = [code for name, code in entries if name in ("", str(label))]
        gapped = _gapped_series(frame[label], codes)
        if gapped is not None:
            changed[label] = gapped
    if not changed:
        return frame
    return frame.assign(**changed) if hasattr(frame, "assign") else frame.with_columns(**changed)


def _gapped_series(series: Any, codes: Sequence[str]) -> Any:
    """The column without these codes; None if it has none of them."""
    values = series.to_list()
    numbers = {number for code in codes if (number := parse_number(code)) is not None}
    found = [value in numbers if isinstance(value, int | float) else value in codes for value in values]
    if not any(found):
        return None
    if hasattr(series, "mask"):
        return series.mask(np.array(found))
    return type(series)(series.name, [None if gone else one for one, gone in zip(values, found, strict=True)])


def _without(table: Table, name: str, code: str) -> Table:
    columns = tuple(_gapped(one, code) if name in ("", one.name) else one for one in table.columns)
    before, after = (sum(one.values.null_count for one in some) for some in (table.columns, columns))
    if before == after:
        where = f'column "{shown(name)}"' if name else "no column"
        raise SpecError(
            f'"{shown(code)}" is to be missing, but {where} has {"no " * bool(name)}such value: correct it '
            "(missing, --missing)"
        )
    return replace(table, columns=columns)


def _gapped(column: TableColumn, code: str) -> TableColumn:
    values: Any = column.values
    if column.kind == "number":
        number = parse_number(code)
        if number is None:
            return column
        found = pc.equal(values, number)
        return replace(column, values=pc.if_else(found, pa.scalar(None, pa.float64()), values))
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    texts = pc.if_else(pc.equal(values.dictionary, code), pa.scalar(None, pa.string()), values.dictionary)
    coded = texts.dictionary_encode()
    levels = tuple(level for level in column.levels if level != code)
    kept = pa.DictionaryArray.from_arrays(coded.indices.take(values.indices), coded.dictionary)
    return replace(column, values=kept, levels=levels)
