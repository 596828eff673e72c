"""Columns of numbers, as DELVE's files hold them: rounding, printing and parsing many at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from redelve.text_numbers import is_number, tcl, with_point

Floats = npt.NDArray[np.float64]

_NUMBER_CHARACTERS = str.maketrans("", "", "0123456789+-.eE")
_AS_BLANK = bytes.maketrans(b"\t\r\v\f", b"    ")
_POWERS_OF_TEN = np.array([float(f"1e{power}") for power in range(23)])  # all exact doubles


def round9_array(values: npt.ArrayLike) -> Floats:
    """`round9` of every element, bit for bit; NaN and infinities stay as they are.

    A double is scaled to nine digits before the point, rounded and scaled back. Both scalings make at most
    one rounding error of 2⁻⁵³ as long as the power of ten is exact, so only what lies within 10⁻⁶ of a tie,
    and very large or small numbers, must be printed and read.

    >>> round9_array([2 / 3, 1e-7 / 3]).tolist()
    [0.666666667, 3.33333333e-08]
    """
    x = np.array(values, dtype=np.float64)
    flat = x.reshape(-1)
    usual = np.isfinite(flat) & (flat != 0)
    with np.errstate(all="ignore"):
        shift = 8 - np.floor(np.log10(np.abs(flat)))
        scalable = np.isfinite(shift) & (np.abs(shift) <= 22)
        power = np.where(scalable, shift, 0).astype(np.intp)
        down = _POWERS_OF_TEN[np.maximum(power, 0)]
        up = _POWERS_OF_TEN[np.maximum(-power, 0)]
        scaled = flat * down / up  # one of the two is 1
        fraction = np.abs(scaled - np.floor(scaled) - 0.5)
        inside = (np.abs(scaled) >= 1e8) & (np.abs(scaled) < 1e9)
        rounded = np.rint(scaled) / down * up
    unsure = np.flatnonzero(usual & ~(scalable & inside & (fraction > 1e-6)))
    rounded[unsure] = [float(f"{value:.9g}") for value in flat[unsure].tolist()]
    return np.where(usual, rounded, flat).reshape(x.shape)


def format_columns(columns: Sequence[npt.NDArray[Any] | Sequence[str]]) -> Iterator[str]:
    r"""Lines as in DELVE's encoded files: one blank before each item, floats by `tcl`, texts as they are.

    >>> list(format_columns([np.array([0.5, 2.0]), ["a", "b"]]))
    [' 0.5 a\n', ' 2.0 b\n']
    """
    for row in zip(*map(_column_texts, columns), strict=True):
        yield f" {' '.join(row)}\n"


def parse_columns(block: bytes, width: int) -> list[Floats]:
    r"""The inverse of `format_columns`: the columns of a block of lines that holds nothing but numbers.

    ValueError when the block holds anything else or lines of another width; empty lines are skipped.

    >>> parse_columns(b" 0.5   1\n 2.0\t-3\r\n", 2)
    [array([0.5, 2. ]), array([ 1., -3.])]
    """
    if b"n" in block or b"N" in block:  # pyarrow would read nan and inf as numbers
        raise ValueError("not a number")
    if b"\r" in block or _has_extra_blanks(block[:4096].rstrip()):
        block = single_blanks(block)
    try:
        columns = arrow_columns(block, width, "float64")
    except ValueError:
        single = single_blanks(block)
        if single is block:
            raise
        columns = arrow_columns(single, width, "float64")
    arrays = [column.to_numpy() for column in columns]
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("a number that no double can hold")
    return arrays


def arrow_columns(block: bytes, width: int, kind: str, wanted: Sequence[int] | None = None) -> list[Any]:
    """The wanted columns of lines with single blanks, as pyarrow reads them; ValueError when it cannot."""
    import pyarrow as pa
    from pyarrow import csv

    if block.startswith(b"\xef\xbb\xbf") or not width:
        raise ValueError("pyarrow would swallow the byte order mark, or take the first line for names")
    names = [str(position) for position in range(width)]
    options = {
        "read_options": csv.ReadOptions(column_names=names, block_size=max(1 << 20, 64 * width)),
        "parse_options": csv.ParseOptions(
            delimiter=" ", quote_char=False, double_quote=False, escape_char=False
        ),
        "convert_options": csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.type_for_alias(kind)),
            null_values=[],
            strings_can_be_null=False,
            include_columns=None if wanted is None else [names[position] for position in wanted],
        ),
    }
    try:
        return list(csv.read_csv(pa.BufferReader(block), **options).columns)
    except pa.ArrowException as problem:
        raise ValueError(str(problem)) from problem


def single_blanks(block: bytes) -> bytes:
    r"""One blank between values and none at the ends of lines.

    >>> single_blanks(b"  1   2 \n\t3\t4\r\n")
    b'1 2\n3 4\n'
    """
    if not _has_extra_blanks(block):
        return block
    codes = np.frombuffer(block.translate(_AS_BLANK), np.uint8)
    drop = codes == ord(" ")
    gap = drop | (codes == ord("\n"))
    drop[1:] &= gap[:-1]
    single: bytes = codes[~drop].tobytes()
    return single.replace(b" \n", b"\n").rstrip(b" ")


def _has_extra_blanks(block: bytes) -> bool:
    marks = (b"\t", b"\r", b"\v", b"\f", b"  ", b"\n ", b" \n")
    return block.startswith(b" ") or block.endswith(b" ") or any(mark in block for mark in marks)


def parse_numbers(texts: Sequence[str]) -> Floats:
    """`parse_number` of many texts, NaN instead of None.

    >>> parse_numbers(["5.0", "?", "nan", "1e3"]).tolist()
    [5.0, nan, nan, 1000.0]
    """
    try:
        # Of these characters Python makes a number exactly when DELVE does.
        if "".join(texts).translate(_NUMBER_CHARACTERS):
            raise ValueError
        values = np.array([float(text) for text in texts], dtype=np.float64)
    except ValueError:
        values = np.array([float(text) if is_number(text) else math.nan for text in texts], dtype=np.float64)
    values[np.isinf(values)] = math.nan
    return values


def _column_texts(column: npt.NDArray[Any] | Sequence[str]) -> Sequence[str]:
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
        return [str(value) for value in column]
    values: list[float] = column.tolist()
    if not np.isfinite(column).all():
        return [tcl(value) for value in values]
    printed = "%.9g " * len(values) % tuple(values)
    texts = printed.split()
    return texts if printed.count(".") == len(texts) else list(map(with_point, texts))
