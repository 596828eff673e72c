"""Tables of the times that trials took: CSV with a line of names, a trial a line (docs/training-time.md)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from math import inf, isnan
from pathlib import Path
from typing import NamedTuple

from redelve.data.files import read_text
from redelve.errors import FormatError

TIME = ("time", "times", "epoch", "epochs", "training_time", "seconds")
SUCCESS = ("success", "succeeded", "solved", "converged")
GROUP = ("algorithm", "group", "method")
FAILED = ("", "inf", "infinity", "failed", "fail", "timeout")
TRUTHS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
DELIMITERS = ",;\t"


class TimedTrial(NamedTuple):
    """A row: the time of a failed trial is where it stopped, infinite if that is not told.

    `succeeded` is None where only the time can tell: it does if it is before the limit.
    """

    time: float
    succeeded: bool | None


class Columns(NamedTuple):
    """Where in a row the time stands, whether it succeeded, and the name of the algorithm."""

    time: int
    success: int | None
    group: int | None
    width: int


def read_trials(
    path: Path, column: str | None = None, group: str | None = None
) -> dict[str, list[TimedTrial]]:
    """The trials of each algorithm in a CSV file; without a column of names they are all the file's."""
    text = read_text(path)
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    rows = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        numbered = ((rows.line_num, [cell.strip() for cell in row]) for row in rows if row)
        return _trials(path, numbered, column, group)
    except csv.Error as error:
        raise FormatError(path, None, f"can't read this as CSV: {error}") from None


Rows = Iterator[tuple[int, list[str]]]


def _trials(path: Path, rows: Rows, column: str | None, group: str | None) -> dict[str, list[TimedTrial]]:
    first = next(rows, None)
    if first is None:
        raise FormatError(
            path, None, "the file is empty: a line of names and a line for each trial are needed"
        )
    columns = _columns(path, first[1], column, group)
    found: dict[str, list[TimedTrial]] = {}
    for line, row in rows:
        if len(row) != columns.width:
            raise FormatError(
                path, line, f"expected {columns.width} values, as the first line, but got {len(row)}"
            )
        name = path.stem if columns.group is None else row[columns.group]
        if not name:
            raise FormatError(path, line, "the name of the algorithm is missing")
        found.setdefault(name, []).append(_trial(path, line, row, columns))
    if not found:
        raise FormatError(path, None, "there are no trials under the line of names")
    return found


def _columns(path: Path, names: list[str], column: str | None, group: str | None) -> Columns:
    time = _place(path, names, TIME, column)
    if time is None and len(names) == 1 and not _is_number(names[0]):
        time = 0
    if time is None:
        wanted = ", ".join(TIME)
        raise FormatError(
            path,
            1,
            f"no column has the times: name one of {wanted}, or give its name with -c ({_shown(names)})",
        )
    return Columns(time, _place(path, names, SUCCESS, None), _place(path, names, GROUP, group), len(names))


def _place(path: Path, names: list[str], usual: Sequence[str], asked: str | None) -> int | None:
    """Where the column stands that was asked for, or that has one of the usual names."""
    if asked is not None:
        if asked not in names:
            raise FormatError(path, 1, f'there is no column "{asked}": {_shown(names)}')
        return names.index(asked)
    lower = [name.lower() for name in names]
    return next((lower.index(name) for name in usual if name in lower), None)


def _shown(names: list[str]) -> str:
    return f"the first line has {', '.join(names[:12])}"


def _is_number(text: str) -> bool:
    try:
        float(text.removeprefix(">"))
    except ValueError:
        return False
    return True


def _trial(path: Path, line: int, row: list[str], columns: Columns) -> TimedTrial:
    text = row[columns.time]
    time = _time(path, line, text)
    if columns.success is None:
        return time
    told = TRUTHS.get(row[columns.success].lower())
    if told is None:
        raise FormatError(path, line, f'success must be 1 or 0, true or false: got "{row[columns.success]}"')
    if told and time.succeeded is False:
        raise FormatError(path, line, f'a trial that succeeded must have a time: got "{text}"')
    return TimedTrial(time.time, told)


def _time(path: Path, line: int, text: str) -> TimedTrial:
    if text.lower() in FAILED:
        return TimedTrial(inf, False)
    if not _is_number(text):
        raise FormatError(
            path,
            line,
            f'"{text}" is not a time: give a number; for a failed trial "failed" or the limit as >2000',
        )
    time = float(text.removeprefix(">"))
    if isnan(time):
        raise FormatError(
            path,
            line,
            f'the time is "{text}": leave the trial out if it was not run, the time empty if it failed',
        )
    if not 0 < time < inf:
        raise FormatError(path, line, f"a time must be greater than zero and finite: got {text}")
    return TimedTrial(time, False if text.startswith(">") else None)
