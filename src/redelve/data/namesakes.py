"""Tables of one name: the same table may be there several times, two different ones may not."""

from __future__ import annotations

import filecmp
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from redelve.errors import SpecError
from redelve.model import Assignment
from redelve.model.dataset import Column, Rows


def refuse_other_files(names: Sequence[str]) -> None:
    """Refuse files with different contents that would share a name and a description."""
    there = [Path(name) for name in names if Path(name).is_file()]
    for one, other in combinations(there, 2):
        stem = one.name.partition(".")[0]
        if stem == other.name.partition(".")[0] and not filecmp.cmp(one, other, shallow=False):
            raise SpecError(
                f'two different tables are called "{stem}": {one} and {other} would have one description, '
                f"{stem}.toml, and count as one data set; rename one of the files"
            )


def refuse_namesakes(found: Sequence[Assignment], sources: Mapping[str, str]) -> None:
    """Refuse different data under one dataset's name; `sources` tells by address what each task came from."""
    for one, other in combinations(found, 2):
        name = one.dataset.name
        if other.dataset.name != name or _are_same(one, other):
            continue
        first, second = (_told(each, sources.get(each.address, "")) for each in (one, other))
        raise SpecError(
            f'two different tables are called "{name}": {first}, and {second}; they would count as one '
            'data set: give one of them another name, as in task(frame, "price", name="houses"), or rename '
            "its file"
        )


def _told(one: Assignment, source: str) -> str:
    return f"{source or 'one'} with {_row_count(one)} rows ({one.address})"


def _are_same(one: Assignment, other: Assignment) -> bool:
    """Whether two tasks may be of the same table; prototasks of the catalogue are, by their address."""
    if one.data is other.data:
        return True
    if one.task.prototask.name == other.task.prototask.name:
        if one.data.cases.content_digest == other.data.cases.content_digest:
            return True
    elif one.own is None or other.own is None:
        return one.own is other.own
    return _row_count(one) == _row_count(other) and _have_same_values(one, other)


def _row_count(one: Assignment) -> int:
    known = None if one.own is None else one.own.count
    return one.data.cases.count if known is None else known


def _have_same_values(one: Assignment, other: Assignment) -> bool:
    """Whether columns of one name have the same values in rows that both have."""
    _, here, there = np.intersect1d(_rows(one), _rows(other), assume_unique=True, return_indices=True)
    first, second = _columns(one), _columns(other)
    shared = [name for name in first if name in second]
    return bool(shared) and all(_is_same(first[name], here, second[name], there) for name in shared)


def _rows(one: Assignment) -> Rows:
    """The row of the table that each case is from, counted from 0."""
    rows = one.data.case_numbers - 1
    return rows if one.own is None or one.own.rows is None else one.own.rows[rows]


def _columns(one: Assignment) -> dict[str, Column]:
    names = (attribute.name for attribute in one.data.attributes)
    return dict(zip(names, one.data.cases.columns, strict=True))


def _is_same(one: Column, here: Rows, other: Column, there: Rows) -> bool:
    """Whether two columns have the same values; texts are compared where they are no numbers."""
    first, second = one.numbers()[here], other.numbers()[there]
    if not np.array_equal(first, second, equal_nan=True):
        return False
    gone = np.isnan(first)
    return not gone.any() or bool(np.array_equal(one.texts()[here[gone]], other.texts()[there[gone]]))
