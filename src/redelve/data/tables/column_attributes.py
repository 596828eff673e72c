"""A described column as an attribute's column: numbers as numbers, categories as DELVE can write them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from redelve.data.delve.keyed_lines import shown
from redelve.data.tables.description import ColumnDescription
from redelve.data.tables.inference import ColumnFacts
from redelve.data.tables.legal_names import written_levels
from redelve.model import CATEGORICAL, Column, NumberColumn, Range, WrittenColumn, parse_range
from redelve.model.cases import Numbers, Rows
from redelve.model.ranges import IntegerRange, RealInterval
from redelve.text_numbers import parse_number

MISSING = "?"


@dataclass(frozen=True, eq=False)
class Coded:
    """A column's values, its range, and the levels that had to be written otherwise."""

    column: Column
    range: Range
    identities: Rows
    """Equal for rows with equal values; for categories the position of the level, −1 where missing."""
    renamed: dict[str, str] = field(default_factory=dict)


def coded_column(facts: ColumnFacts, said: ColumnDescription) -> Coded:
    """The column under its description, whose every value must be in the range or among the levels."""
    return _categories(facts, said) if said.type in CATEGORICAL else _numbers(facts, said)


def _categories(facts: ColumnFacts, said: ColumnDescription) -> Coded:
    codes, texts = facts.coded
    levels = said.levels or ()
    place = {level: position for position, level in enumerate(levels)}
    strange = next((text for text in texts if text not in place), None)
    if strange is not None:
        facts.fail(
            f'has the value "{shown(strange, 40)}", which is not among its levels: add it, or correct it'
        )
    own = np.array([place[text] for text in texts] + [-1], dtype=np.int64)[codes]
    written = written_levels(levels)
    allowed = parse_range(" ".join([*written.values(), *[MISSING] * (facts.missing > 0)]))
    renamed = {level: text for level, text in written.items() if level != text}
    return Coded(_category_column(facts, own, [*written.values()]), allowed, own, renamed)


def _category_column(facts: ColumnFacts, own: Rows, written: list[str]) -> Column:
    if facts.is_numeric and not facts.missing:
        return NumberColumn(facts.numbers)
    names = np.array([*written, MISSING], dtype=object)
    return WrittenColumn(names[own])


def _numbers(facts: ColumnFacts, said: ColumnDescription) -> Coded:
    allowed = parse_range(said.range or "(-Inf,Inf)")
    outside = facts.numbers[~_inside(facts.numbers, allowed)]
    if len(outside):
        facts.fail(f'has the value {outside[0]:.9g}, which is not in its range "{said.range}": widen it')
    if facts.missing and not allowed.missing:
        allowed = parse_range(f"{allowed} {MISSING}")
    values = facts.column.numbers
    assert values is not None
    identities = np.unique(values, return_inverse=True)[1]
    return Coded(_number_column(facts, values), allowed, identities)


def _number_column(facts: ColumnFacts, values: Numbers) -> Column:
    if not facts.missing:
        return NumberColumn(values)
    texts = np.full(len(values), MISSING, dtype=object)
    texts[~facts.column.missing] = NumberColumn(facts.numbers).texts()
    return WrittenColumn(texts)


def _inside(numbers: Numbers, allowed: Range) -> NDArray[np.bool_]:
    """Which numbers the range admits."""
    inside = np.zeros(len(numbers), dtype=np.bool_)
    for item in allowed.items:
        if isinstance(item, RealInterval):
            above = numbers >= item.low if item.low_included else numbers > item.low
            inside |= above & (numbers <= item.high if item.high_included else numbers < item.high)
        elif isinstance(item, IntegerRange):
            inside |= (numbers == np.floor(numbers)) & (numbers >= item.low) & (numbers <= item.high)
        elif (single := parse_number(item.text)) is not None:
            inside |= numbers == single
    return inside
