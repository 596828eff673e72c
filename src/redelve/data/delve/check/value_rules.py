"""Checking a file of cases against the ranges of its attributes (manual 3.1, 3.3).

A sound file is read in the fast way and checked column by column. Where that finds lines which are no cases,
the file is read again line by line, so that all of them can be told, and the good ones are checked in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from redelve.data.delve.case_files import BLOCK_SIZE, RawCases, read_cases
from redelve.data.delve.case_lines import CaseLine, dissect, end_of_case, joined_lines
from redelve.data.delve.check.check_reports import MOST_SHOWN, FileReport, first_of
from redelve.data.delve.keyed_lines import shown
from redelve.data.delve.number_columns import parse_columns
from redelve.data.files import find_file, open_bytes, read_blocks
from redelve.data.problems import Problem
from redelve.errors import FormatError
from redelve.model import Attribute, Cases, Censored, Column, Range, is_missing, is_value, written
from redelve.model.dataset import NO_COMMONALITY, Numbers, Rows, Texts
from redelve.model.ranges import IntegerRange, RealInterval
from redelve.text_numbers import parse_number

Flags = NDArray[np.bool_]
PIECE = 1 << 20


def check_cases(
    path: str, attributes: Sequence[Attribute], *, has_commonality: bool
) -> tuple[FileReport, Cases | None]:
    """What is wrong with a file of cases, and the cases if all of its lines are some.

    Without attributes (the specification is broken) every line must have as many values as the first.
    """
    found = _Found(path, tuple(attributes), has_commonality, len(attributes))
    try:
        raw = read_cases(path, len(attributes) or None)
    except FormatError:
        _check_lines(found)
        return found.report(), None
    _check_block(found, _Block(raw.columns, raw.line, raw.commonality, _writes_only_integers(raw)))
    if not raw.count:
        found.note(None, "there are no cases")
    elif has_commonality and raw.commonality is None:
        found.note(None, "commonality indexes are said to be present, but no case has one")
    return found.report(), Cases(raw.columns, raw.count, raw.commonality, dict(raw.comments))


@dataclass(frozen=True, eq=False)
class _Block:
    """Some cases: their columns, the line of each case, commonality indexes if there are any."""

    columns: Sequence[Column]
    line: Callable[[int], int]
    commonality: Rows | None
    only_integers: bool = False


@dataclass
class _Found:
    """The problems found so far in one file: at least those of the first lines, and the number of all."""

    path: str
    attributes: tuple[Attribute, ...]
    has_commonality: bool
    width: int
    count: int = 0
    _kept: list[Problem] = field(default_factory=list)

    def note(self, line: int | None, rule: str) -> None:
        """One problem."""
        self.add([Problem(self.path, line, rule)], 1)

    def add(self, problems: Iterable[Problem], count: int) -> None:
        """The first of `count` problems."""
        self._kept.extend(problems)
        self.count += count
        if len(self._kept) > 20 * MOST_SHOWN:
            self._kept = list(first_of(self._kept))

    def report(self) -> FileReport:
        """What was found, by line."""
        return FileReport(self.path, first_of(self._kept), self.count)


def _check_block(found: _Found, block: _Block) -> None:
    for position, column in enumerate(block.columns):
        attribute = found.attributes[position] if found.attributes else None
        rows = _offending(column, attribute, only_integers=block.only_integers)
        if len(rows):
            texts = column.texts()
            problems = (
                _problem(found.path, block.line(row), texts[row], attribute)
                for row in rows[:MOST_SHOWN].tolist()
            )
            found.add(problems, len(rows))
    if block.commonality is not None and not found.has_commonality:
        rows = np.flatnonzero(block.commonality != NO_COMMONALITY)
        rule = 'unexpected commonality index "@{}": Dataset.spec does not say that they are present'
        indexes = [(row, int(block.commonality[row])) for row in rows[:MOST_SHOWN].tolist()]
        problems = (Problem(found.path, block.line(row), rule.format(index)) for row, index in indexes)
        found.add(problems, len(rows))


def _problem(path: str, line: int, text: str, attribute: Attribute | None) -> Problem:
    name = "" if attribute is None else attribute.name
    return Problem(path, line, _rule(text, attribute), name, text)


def _rule(text: str, attribute: Attribute | None) -> str:
    """The rule that a value violates."""
    value = shown(text)
    if attribute is None or not is_value(text):
        return f'"{value}" is no value: it is neither a number nor a category, nor missing or censored'
    allowed = shown(str(attribute.range))
    if is_missing(text):
        return f'missing value "{value}" is not listed in the range "{allowed}"'
    if Censored.parse(text) is not None:
        return f'censored value "{value}" includes no value of the range "{allowed}"'
    return f'value "{value}" is not in the range "{allowed}"'


def _offending(column: Column, attribute: Attribute | None, *, only_integers: bool) -> Rows:
    """The rows whose values are not allowed; texts are looked at only where numbers do not tell.

    An attribute whose range could not be read (it has no items) may have any legal value.
    """
    numbers = column.numbers()
    finite = np.isfinite(numbers)
    items = attribute.range.items if attribute is not None else ()
    if not items:
        return _judged(column, np.flatnonzero(~finite), is_value)
    good = finite & _within(numbers, [item for item in items if isinstance(item, RealInterval)])
    whole = finite & (numbers == np.floor(numbers))
    integer = whole & _within(numbers, [item for item in items if isinstance(item, IntegerRange)])
    singles = [number for item in items if (number := parse_number(item.text)) is not None]
    listed = finite & np.isin(numbers, singles)
    if only_integers:
        good |= integer
    unsure = ~good & (~finite | integer | listed)
    allowed = Range(items)
    bad = _judged(column, np.flatnonzero(unsure), lambda text: allowed.contains(text) and is_value(text))
    return np.union1d(np.flatnonzero(~good & ~unsure), bad)


def _within(numbers: Numbers, items: Sequence[RealInterval | IntegerRange]) -> Flags:
    inside = np.zeros(len(numbers), dtype=np.bool_)
    for item in items:
        is_open = isinstance(item, RealInterval) and not item.low_included
        above = numbers > item.low if is_open else numbers >= item.low
        is_open = isinstance(item, RealInterval) and not item.high_included
        inside |= above & (numbers < item.high if is_open else numbers <= item.high)
    return inside


def _judged(column: Column, rows: Rows, is_good: Callable[[str], bool]) -> Rows:
    """Those of the rows whose text is not good; every text is judged once."""
    if not len(rows):
        return rows
    texts = column.texts()[rows].tolist()
    verdict = {text: is_good(text) for text in set(texts)}
    return rows[np.fromiter((not verdict[text] for text in texts), np.bool_, len(texts))]


def _writes_only_integers(raw: RawCases) -> bool:
    """Whether no number of the file has a point or an exponent, so that whole numbers are integers."""
    with open_bytes(raw.path) as stream:
        while piece := stream.read(PIECE):
            if any(mark in piece for mark in (b".", b"e", b"E")):
                return False
    return True


def _check_lines(found: _Found) -> None:
    """Check a file of which some lines are no cases."""
    path = find_file(found.path) or found.path
    try:
        for block, lines in read_blocks(path, BLOCK_SIZE, end_of_case):
            _check_lines_of(found, block, lines.start)
    except FormatError as error:
        found.note(error.line, error.message)


def _check_lines_of(found: _Found, block: bytes, first: int) -> None:
    good = list(_good_lines(found, block, first))
    if good:
        columns = _columns_of([line.values for line in good], found.width)
        commonality = np.array([line.commonality for line in good], dtype=np.int64)
        _check_block(found, _Block(columns, lambda row: good[row].number, commonality))


def _good_lines(found: _Found, block: bytes, first: int) -> Iterator[CaseLine]:
    """The lines that are cases; the others are noted."""
    path = Path(found.path)
    for number, text in joined_lines(block, first):
        try:
            if b"\0" in text:
                raise FormatError(found.path, number, "NUL byte: this is not a text file")
            text.decode()
            has_tail = b"#" in text or b"@" in text
            line = dissect(path, number, text) if has_tail else CaseLine(number, text, -1, None)
        except FormatError as error:
            found.note(number, error.message)
            continue
        except UnicodeDecodeError as error:
            found.note(number, f"byte {text[error.start]:#04x} is neither ASCII nor UTF-8")
            continue
        count = len(line.values.split())
        found.width = found.width or count
        if count == found.width > 0:
            yield line
        elif count or line.commonality >= 0:
            plural, got = "s" * (found.width > 1), shown(" ".join(line.values.decode().split()))
            found.note(number, f'expected {found.width} value{plural} but got {count}: "{got}"')


def _columns_of(lines: list[bytes], width: int) -> Sequence[Column]:
    """The columns of lines with equally many values, which are cut into words only where it is needed."""
    try:
        numbers = parse_columns(b"\n".join(lines), width)
        return [_Cut(lines, position, column) for position, column in enumerate(numbers)]
    except ValueError:
        rows = (b"\n".join(line.split()).decode().split("\n") for line in lines)
        return [written(column) for column in zip(*rows, strict=True)]


@dataclass(frozen=True, eq=False)
class _Cut:
    """A column of numbers whose texts are still in their lines."""

    lines: Sequence[bytes]
    position: int
    values: Numbers

    def texts(self) -> Texts:
        return written(line.split()[self.position].decode() for line in self.lines).values

    def numbers(self) -> Numbers:
        return self.values
