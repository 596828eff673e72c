"""Columns of dates: recognised, and turned into the order of the cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.data.tables.frame_tables import column_of_values
from redelve.data.tables.table_columns import ColumnFacts
from redelve.errors import SpecError

FEWEST_DATES = 3
YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]+(\S.*))?")
YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[T ]+(\S.*))?")
DAY_FIRST, MONTH_FIRST = (2, 1, 0), (2, 0, 1)
"""Where year, month and day are."""
Moments = NDArray[np.datetime64]
AT_RANDOM = (
    'column "{name}" holds dates, but cases are drawn at random: methods learn from cases later than those '
    "they are tested on; if they are for future cases, "
)
"""Said where a design does not look at dates; what to do about it follows."""
GUESSED_AT_RANDOM = f'{AT_RANDOM}use `assess` with design="time" (--design time)'


def dates_in(facts: ColumnFacts) -> Moments | None:
    """The date of each row, NaT where it is missing; None if the column is not one of dates.

    Day and month of 03/04/2020 are told apart by the other rows; where no row does, it is no date.
    """
    if facts.column.kind not in ("text", "date") or facts.is_numeric or facts.known < FEWEST_DATES:
        return None
    codes, texts = facts.column.coded
    moments = parsed_dates(texts)
    if moments is None or len(np.unique(moments)) < FEWEST_DATES:
        return None
    return np.append(moments, np.datetime64("NaT", "us"))[codes]


def dated_columns(frame: Any) -> tuple[str, ...]:
    """The names of a frame's columns of dates; of what is no frame of pandas or polars, none."""
    if not hasattr(frame, "iloc") and not hasattr(frame, "get_column"):
        return ()
    names = list(getattr(frame, "columns", ()))
    columns = ((str(name), _of_frame(frame, place)) for place, name in enumerate(names))
    return tuple(name for name, values in columns if _are_dates(name, values))


def _of_frame(frame: Any, place: int) -> Any:
    return frame.iloc[:, place] if hasattr(frame, "iloc") else frame.to_series(place)


def _are_dates(name: str, values: Any) -> bool:
    """Whether loose values are dates; what cannot be read as texts or dates is none."""
    if getattr(values.dtype, "kind", "O") in "biufc":
        return False
    try:
        return dates_in(ColumnFacts(column_of_values(name, values))) is not None
    except SpecError:
        return False


def parsed_dates(texts: Sequence[str]) -> Moments | None:
    """The moments that texts are; None if one of them is no date, or the order of day and month is open.

    >>> parsed_dates(["2012/01/31", "2012-2-1 12:30"])
    array(['2012-01-31T00:00:00.000000', '2012-02-01T12:30:00.000000'],
          dtype='datetime64[us]')
    >>> parsed_dates(["31.12.2019", "1.2.2020"])[1].item().month
    2
    >>> parsed_dates(["1/2/2020", "3/4/2020"]) is None
    True
    """
    pattern = YEAR_FIRST if texts and YEAR_FIRST.fullmatch(texts[0]) else YEAR_LAST
    found = []
    for text in texts:
        match = pattern.fullmatch(text)
        if match is None:
            return None
        found.append(match.groups())
    places: tuple[int, ...] | None = (0, 1, 2)
    if pattern is YEAR_LAST:
        places = _day_and_month(texts, found)
    if places is None:
        return None
    try:
        moments = [_moment([int(part[place]) for place in places], part[3]) for part in found]
    except ValueError:
        return None
    return np.array(moments, dtype="datetime64[us]")


def _day_and_month(texts: Sequence[str], found: Sequence[tuple[str, ...]]) -> tuple[int, ...] | None:
    """Which comes first: what is above 12 is no month; with dots it is the day."""
    if any(int(part[0]) > 12 for part in found) or all("." in text for text in texts):
        return DAY_FIRST
    return MONTH_FIRST if any(int(part[1]) > 12 for part in found) else None


def _moment(parts: Sequence[int], clock: str | None) -> datetime:
    day = f"{parts[0]:04}-{parts[1]:02}-{parts[2]:02}"
    moment = datetime.fromisoformat(f"{day}T{clock.replace(' ', '')}" if clock else day)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def span(moments: Moments) -> str:
    """From when to when, in days."""
    known = moments[~np.isnat(moments)]
    first, last = (np.datetime_as_string(end, unit="D") for end in (known.min(), known.max()))
    return f"{first} to {last}"
