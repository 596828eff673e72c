r"""The syntax of a line of cases: values, then `@index`, then a comment; `\` continues it (manual 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from redelve.errors import FormatError, RedelveError

Integers = npt.NDArray[np.int64]
Texts = npt.NDArray[np.object_]

_COMMENT = re.compile(rb"(?<![^ \t\r\v\f])#")
_INDEX = re.compile(rb"(?<![^ \t\r\v\f])@")
_INDEX_WORD = re.compile(rb"@[0-9]{1,18}")
_VALUE = "[^ \t\r\v\f\n\0#@\ufeff\ud800-\udfff][^ \t\r\v\f\n\0\ud800-\udfff]*"
_VALUES = re.compile(f"{_VALUE}(?: {_VALUE})*")
_UNWRITABLE = re.compile("[\n\0\ud800-\udfff]|\\\\[ \t\r\v\f]*$")


def end_of_case(block: bytes) -> int:
    r"""Where the last line that is complete and does not end in `\` ends; 0 when there is none."""
    cut = block.rfind(b"\n") + 1
    if b"\\" not in block:
        return cut
    while cut:
        start = block.rfind(b"\n", 0, cut - 1) + 1
        if not block[start:cut].rstrip().endswith(b"\\"):
            break
        cut = start
    return cut


def joined_lines(block: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a block with their numbers, continued lines made one."""
    held: list[bytes] = []
    start = first
    for number, line in enumerate(block.split(b"\n"), first):
        if not held:
            start = number
        stripped = line.rstrip()
        if stripped.endswith(b"\\"):
            held.append(stripped[:-1])
        else:
            yield start, b"".join([*held, line])
            held.clear()
    if held:
        yield start, b"".join(held)


class CaseLine(NamedTuple):
    """A line taken apart; the commonality index is −1 when there is none."""

    number: int
    values: bytes
    commonality: int
    comment: str | None


def dissect(path: Path, number: int, line: bytes) -> CaseLine:
    """Take values, index and comment of a line apart."""
    comment, index = None, -1
    if found := _COMMENT.search(line):
        comment = line[found.end() :].strip().decode()
        line = line[: found.start()]
    if found := _INDEX.search(line):
        words = line[found.start() :].split()
        if len(words) > 1 or not _INDEX_WORD.fullmatch(words[0]):
            got = b" ".join(words).decode(errors="replace")
            raise FormatError(path, number, f'expected "@" and digits after the last value but got "{got}"')
        index = int(words[0][1:])
        line = line[: found.start()]
    return CaseLine(number, line, index, comment)


def cut_into_words(
    path: Path, block: bytes, first: int, width: int | None
) -> Iterator[tuple[CaseLine, list[str]]]:
    """Every case of a block cut into words: the reference for the faster ways, and the finder of errors."""
    for number, text in joined_lines(block, first):
        if b"\0" in text:
            raise FormatError(path, number, "NUL byte: this is not a text file")
        try:
            text.decode()
        except UnicodeDecodeError as problem:
            byte = text[problem.start]
            raise FormatError(path, number, f"byte {byte:#04x} is neither ASCII nor UTF-8") from None
        line = dissect(path, number, text)
        words = line.values.split()
        if not words and line.commonality < 0:
            continue
        width = max(len(words), 1) if width is None else width
        if len(words) != width:
            plural = "s" * (width > 1)
            raise FormatError(path, number, f"expected {width} value{plural} but got {len(words)}")
        yield line, b"\n".join(words).decode().split("\n")


def case_lines(
    columns: Sequence[Sequence[str] | Texts],
    commonality: Sequence[int] | Integers | None = None,
    comments: Mapping[int, str] = MappingProxyType({}),
) -> Iterator[str]:
    r"""One line per case: values, commonality index where it is not −1, comment where there is one.

    >>> list(case_lines([["1.0", "5"], ["red", "?"]], commonality=[-1, 3], comments={1: "guessed"}))
    ['1.0 red\n', '5 ? @3 # guessed\n']
    """
    indices: Iterable[int] = repeat(-1) if commonality is None else commonality
    rows: Iterable[tuple[str, ...]] = zip(*columns, strict=True)
    for case, (row, index) in enumerate(zip(rows, indices, strict=commonality is not None)):
        line = " ".join(row)
        if not _VALUES.fullmatch(line) or line.count(" ") != len(row) - 1:
            bad = next(value for value in row if not re.fullmatch(_VALUE, value))
            why = "a value holds no blank and does not begin with # or @"
            raise RedelveError(f"case {case + 1}: {bad!r} cannot be written: {why}")
        line += _tail(index, comments.get(case))
        if _UNWRITABLE.search(line):
            raise RedelveError(
                f"case {case + 1} cannot be written: {line!r} ends in \\ or is more than a line"
            )
        yield line + "\n"


def _tail(index: int, comment: str | None) -> str:
    if index >= 10**18:
        raise RedelveError(f"commonality index {index} is too large: it may have at most 18 digits")
    mark = f" @{index}" if index >= 0 else ""
    return mark if comment is None else f"{mark} # {comment}".rstrip(" ")
