"""What a column of a table is, judged by its values and with a reason each; and how DELVE can write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn
from unicodedata import normalize
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from redelve.data.delve.keyed_lines import shown
from redelve.data.tables.description import ColumnDescription, Kind, Use
from redelve.data.tables.table_files import TableColumn, coded_numbers
from redelve.errors import SpecError
from redelve.model import (
    CATEGORICAL,
    Censored,
    Column,
    GappedColumn,
    LevelColumn,
    NumberColumn,
    Range,
    is_missing,
    is_value,
    parse_range,
)
from redelve.model.dataset import Numbers, Rows
from redelve.model.ranges import IntegerRange, RealInterval
from redelve.text_numbers import is_integer, is_number, parse_number

FEW_LEVELS, MOST_LEVELS = 20, 1000
FEW_NUMBERS = 10
FEW_ROWS, MANY_ROWS, COUNTLESS = 20_000, 200_000, 1000
SPANS = 8
LARGEST_EXACT = 2.0**53
FEWEST_TO_COUNT = 10

IDENTIFIER = re.compile(
    r"(?i:(.*[_ .-])?(id|idx|index|key|uuid|guid|rowid|row|rownames|rn)|unnamed: ?0)|.*[a-z]I[Dd]|no\.?|nr\.?"
)
DECIMAL_COMMA = re.compile(r"[+-]?\d[\d.]*(,\d+)?")
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}(\s.*)?")
WAYS_OUT = 'leave it out, or describe it with use = "ignore"'
NUMBERS_FOR_DATES = "numbers (days since some day, month, hour …)"
MISSING = "?"
ANY_NUMBER = "(-Inf,Inf)"
INFERRED = {text: parse_range(text) for text in (ANY_NUMBER, "[0,Inf)", "-Inf..Inf", "0..Inf")}
"""The ranges of columns that nobody described."""
LONGEST_NAME = 80
NOT_IN_PATHS = re.compile(r"[^\w.-]+")
NOT_ASCII = re.compile(r"_*[^\x00-\x7f]([^\x00-\x7f]|_)*")
MEANINGFUL = re.compile(r"[\s#\\,=]+|\.\.+")
BEGINNINGS = "[]()\\@#+-.:?0123456789"


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What is seen of a column's values."""

    column: TableColumn

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @cached_property
    def missing(self) -> int:
        """The number of missing values."""
        return int(self.column.missing.sum())

    @property
    def known(self) -> int:
        """The number of values."""
        return len(self.column) - self.missing

    @cached_property
    def is_numeric(self) -> bool:
        """Whether every known value is a finite number and none is a code like 007."""
        column = self.column
        if column.kind == "number":
            return column.numbers is not None
        return column.kind == "text" and column.numbers is not None and not column.has_codes

    @cached_property
    def numbers(self) -> Numbers:
        """The known numbers of a numeric column."""
        assert self.column.numbers is not None
        return self.column.numbers[~self.column.missing] if self.missing else self.column.numbers

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest of the numbers."""
        return float(self.numbers.min()), float(self.numbers.max())

    @cached_property
    def is_whole(self) -> bool:
        """Whether all numbers are whole and small enough to be exact."""
        return _are_whole(self.numbers[:FEW_ROWS]) and _are_whole(self.numbers)

    @property
    def not_whole(self) -> float:
        """The first number that is not, or can't be known to be, whole."""
        numbers = self.numbers
        whole = (numbers == np.floor(numbers)) & (np.abs(numbers) < LARGEST_EXACT)
        return float(numbers[~whole][0])

    @cached_property
    def coded(self) -> tuple[Rows, tuple[str, ...]]:
        """For each row the position of its value among the different ones, −1 where missing; and those.

        Numbers are in their shortest form, so that 1 and 1.0 are the same value.
        """
        if self.is_numeric and self.column.numbers is not None:
            return coded_numbers(self.column.numbers)
        return self.column.coded

    @cached_property
    def distinct(self) -> int:
        """The number of different values; where `has_countless`, only of those in the first rows."""
        if not self.is_numeric:
            return len(self.column.coded[1])
        if self.is_whole and self.extremes[1] - self.extremes[0] <= SPANS * len(self.numbers):
            seen = np.zeros(int(self.extremes[1] - self.extremes[0]) + 1, dtype=np.bool_)
            seen[(self.numbers - self.extremes[0]).astype(np.int64)] = True
            return int(seen.sum())
        return len(np.unique(self.numbers[:FEW_ROWS] if self.has_countless else self.numbers))

    @cached_property
    def has_countless(self) -> bool:
        """Whether there are so many fractions, of so many rows, that nobody wants them counted."""
        is_large = self.is_numeric and len(self.numbers) > MANY_ROWS and not self.is_whole
        return is_large and len(np.unique(self.numbers[:FEW_ROWS])) > COUNTLESS

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The different values in a sensible order: as declared, by number, or by the alphabet."""
        found = self.coded[1]
        if self.is_numeric:
            return found
        if self.column.kind == "ordered":
            occurring = set(found)
            return tuple(level for level in self.column.levels if level in occurring)
        return tuple(sorted(found, key=_place))

    def fail(self, message: str) -> NoReturn:
        """Raise an error about this column."""
        raise SpecError(f'column "{shown(self.name)}" {message}')


def _are_whole(numbers: Numbers) -> bool:
    return bool((numbers == np.floor(numbers)).all() and (np.abs(numbers) < LARGEST_EXACT).all())


def _place(text: str) -> tuple[float, str, str]:
    number = parse_number(text)
    return (np.inf if number is None else number, text.casefold(), text)


def infer_input(facts: ColumnFacts) -> ColumnDescription:
    """An input, or a column to be ignored, and why."""
    if facts.column.kind in ("date", "other"):
        return _ignored(facts, _undecided(facts))
    _check_kind(facts)
    if facts.known == 0:
        return _ignored(facts, "all values are missing")
    if facts.distinct == 1:
        return _ignored(facts, f'every known value is "{shown(facts.levels[0])}"')
    if facts.is_numeric:
        return _numeric_input(facts)
    if facts.column.kind == "text":
        return _text_input(facts)
    reason = f"declared as categories, {facts.distinct} of which occur"
    return as_type(facts, _categorical_type(facts), reason=reason)


def _check_kind(facts: ColumnFacts) -> None:
    """Refuse what can be neither numbers nor categories: a decision for people, not for a rule."""
    if facts.column.kind in ("date", "other"):
        facts.fail(f"{_undecided(facts)}, {WAYS_OUT}")
    if facts.column.kind == "number" and not facts.is_numeric:
        facts.fail(f"has infinite values: replace them, {WAYS_OUT}")


def _undecided(facts: ColumnFacts) -> str:
    declared = facts.column.declared
    if facts.column.kind == "date":
        return f"holds dates or times ({declared}): to use them, turn them into {NUMBERS_FOR_DATES}"
    return f"holds neither numbers nor texts ({declared})"


def _numeric_input(facts: ColumnFacts) -> ColumnDescription:
    all_differ = facts.distinct == len(facts.column) >= FEWEST_TO_COUNT
    if all_differ and facts.is_whole:
        if IDENTIFIER.fullmatch(facts.name):
            return _ignored(facts, "whole numbers that all differ, with the name of an identifier")
        if (np.diff(facts.numbers) == 1).all() and facts.numbers[0] in (0, 1):
            return _ignored(facts, "it counts the rows")
    return as_type(facts, _numeric_type(facts), reason=_numeric_reason(facts))


def _numeric_type(facts: ColumnFacts) -> str:
    if facts.distinct == 2:
        return "binary"
    return "integer" if facts.is_whole else "real"


def _numeric_reason(facts: ColumnFacts) -> str:
    if facts.distinct == 2:
        return "two different numbers"
    count = f"more than {COUNTLESS}" if facts.has_countless else f"{facts.distinct}"
    return f"{'whole numbers' if facts.is_whole else 'numbers'}, {count} different"


def _text_input(facts: ColumnFacts) -> ColumnDescription:
    oddity = _oddity(facts)
    if facts.distinct == facts.known > FEWEST_TO_COUNT:
        return _ignored(facts, oddity or "all texts differ, as those of an identifier")
    most = most_categories(facts)
    if facts.distinct > most:
        many = f"{facts.distinct} different texts are too many for categories (at most {most})"
        return _ignored(facts, oddity or many)
    reason = f"text with {facts.distinct} different values" + (f"; {oddity}" if oddity else "")
    return as_type(facts, _categorical_type(facts), reason=reason)


def most_categories(facts: ColumnFacts) -> int:
    """More different values than this are no categories."""
    return min(max(FEW_LEVELS, facts.known // 10), MOST_LEVELS)


def _oddity(facts: ColumnFacts) -> str:
    """What is strange about texts that are nearly something else; empty if nothing is."""
    texts = facts.column.coded[1]
    if sum(DATE.fullmatch(text) is not None for text in texts) >= 0.9 * len(texts):
        return f'values like "{shown(texts[0])}" are dates: to use them, turn them into {NUMBERS_FOR_DATES}'
    if all(DECIMAL_COMMA.fullmatch(text) for text in texts) and any("," in text for text in texts):
        with_comma = next(text for text in texts if "," in text)
        return f'values like "{with_comma}" are numbers with a comma: write a decimal point and no separators'
    odd = [text for text in texts if parse_number(text) is None]
    if odd and len(odd) <= 0.1 * len(texts):
        return f'most values are numbers but "{shown(odd[0])}" is not: correct it, or write ? if missing'
    return ""


def _categorical_type(facts: ColumnFacts) -> str:
    if facts.column.kind == "ordered":
        return "ordinal"
    return "binary" if facts.distinct == 2 else "nominal"


def _ignored(facts: ColumnFacts, reason: str) -> ColumnDescription:
    return ColumnDescription(facts.name, "ignore", reason=reason, in_frame=True)


def infer_target(facts: ColumnFacts) -> ColumnDescription:
    """The target: classes for categories, texts and two values; else numbers."""
    _check_kind(facts)
    if facts.distinct == 1:
        facts.fail(f'has only the value "{shown(facts.levels[0])}": it can\'t be the target')
    if facts.is_numeric and facts.distinct > 2:
        return _numeric_target(facts)
    if facts.column.kind == "text" and not facts.is_numeric:
        inferred = _text_input(facts)
        if inferred.use == "ignore":
            facts.fail(f"can't be the target: {inferred.reason}")
    reason = f"{facts.distinct} classes, so the task is classification"
    return as_type(facts, _categorical_type(facts), "target", reason=reason)


def _numeric_target(facts: ColumnFacts) -> ColumnDescription:
    reason = f"{_numeric_reason(facts)}, so the task is regression"
    if facts.is_whole and facts.distinct <= FEW_NUMBERS:
        reason += '; if they stand for classes, write type = "nominal", or "ordinal", and remove the range'
        reason += ', or give kind="classification"'
    return as_type(facts, _numeric_type(facts), "target", reason=reason)


def target_of_kind(facts: ColumnFacts, kind: Kind) -> ColumnDescription:
    """The target as classes, or as numbers, because the user or the methods want it so."""
    taken = "classes" if kind == "classification" else "numbers"
    reason = f"taken as {taken}, so the task is {kind}"
    if kind == "classification":
        return as_type(facts, _categorical_type(facts), "target", reason=reason)
    if not facts.is_numeric:
        facts.fail(f'holds texts such as "{shown(facts.levels[0])}": regression needs numbers')
    return as_type(facts, "integer" if facts.is_whole else "real", "target", reason=reason)


def other_kind(facts: ColumnFacts, inferred: ColumnDescription) -> Kind | None:
    """What else a target may be that was not described: numbers for two of them, classes for a few."""
    if not facts.is_numeric:
        return None
    if inferred.type in CATEGORICAL:
        return "regression"
    return "classification" if facts.is_whole and facts.distinct <= most_categories(facts) else None


def as_type(facts: ColumnFacts, kind: str, use: Use = "input", *, reason: str = "") -> ColumnDescription:
    """The column as one of a given type, with the range or the levels that its values suggest."""
    if not facts.known:
        facts.fail(f"can't be {kind}: it has no values; ignore it")
    missing = f"{facts.missing} missing" if facts.missing else ""
    reason = "; ".join(part for part in (reason, missing) if part)
    if kind in CATEGORICAL:
        return ColumnDescription(facts.name, use, kind, levels=_checked_levels(facts, kind), reason=reason)
    if not facts.is_numeric and facts.column.numbers is None:
        odd = next((text for text in facts.column.coded[1] if parse_number(text) is None), "Inf")
        facts.fail(f'can\'t be {kind}: "{shown(odd)}" is no number; correct it, or choose nominal')
    return ColumnDescription(facts.name, use, kind, range=_range(facts, kind), reason=reason)


def _checked_levels(facts: ColumnFacts, kind: str) -> tuple[str, ...]:
    levels = facts.levels
    if len(levels) < 2 or (kind == "binary" and len(levels) != 2):
        needed = "two" if kind == "binary" else "at least two"
        facts.fail(f"can't be {kind}: it has {len(levels)} different value(s), but {needed} are needed")
    return levels


def _range(facts: ColumnFacts, kind: str) -> str:
    is_negative = facts.extremes[0] < 0
    if kind != "integer":
        return ANY_NUMBER if is_negative else "[0,Inf)"
    if not facts.is_whole:
        facts.fail(f"can't be integer: it has the value {facts.not_whole:.9g}; choose real")
    return "-Inf..Inf" if is_negative else "0..Inf"


# --- values that DELVE can write --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coded:
    """A column's values, its range, and the levels that had to be written otherwise."""

    column: Column
    range: Range
    places: Rows | None = None
    """For categories the position of each row's level, −1 where missing."""
    numbers: Numbers | None = None
    """For numbers these, NaN where missing."""
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
    return Coded(_category_column(facts, own, [*written.values()]), allowed, own, renamed=renamed)


def _category_column(facts: ColumnFacts, own: Rows, written: list[str]) -> Column:
    if facts.is_numeric and not facts.missing:
        return NumberColumn(facts.numbers)
    return LevelColumn(own.astype(np.min_scalar_type(-len(written) - 1)), (*written, MISSING))


def _numbers(facts: ColumnFacts, said: ColumnDescription) -> Coded:
    allowed = INFERRED.get(said.range or ANY_NUMBER) or parse_range(said.range or "")
    if not _is_plainly_inside(facts, allowed):
        outside = facts.numbers[~_inside(facts.numbers, allowed)]
        if len(outside):
            facts.fail(f'has the value {outside[0]:.9g}, which is not in its range "{said.range}": widen it')
    if facts.missing and not allowed.missing:
        allowed = parse_range(f"{allowed} {MISSING}")
    values = facts.column.numbers
    assert values is not None
    return Coded(_number_column(facts, values), allowed, numbers=values)


def _number_column(facts: ColumnFacts, values: Numbers) -> Column:
    if not facts.missing:
        return NumberColumn(values)
    return GappedColumn(values + 0.0 if np.signbit(values[values == 0]).any() else values)


def _is_plainly_inside(facts: ColumnFacts, allowed: Range) -> bool:
    """Whether the extremes alone show that every number is in the range."""
    numbers = np.array(facts.extremes)
    kinds = {type(item) for item in allowed.items}
    is_simple = len(allowed.items) == 1 and (kinds == {RealInterval} or facts.is_whole)
    return is_simple and kinds <= {RealInterval, IntegerRange} and bool(_inside(numbers, allowed).all())


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


# --- names that DELVE can write ---------------------------------------------------------------------------


def legal_name(text: str, otherwise: str = "data") -> str:
    """A name for a dataset or prototask, which becomes a folder's name too; letters of any alphabet stay.

    >>> legal_name("House prices (2020)"), legal_name("../.."), legal_name("Größe (cm) 身長")
    ('House_prices_2020', 'data', 'Größe_cm_身長')
    """
    plain = NOT_IN_PATHS.sub("_", normalize("NFC", text)).strip("._-")[:LONGEST_NAME].strip("._-")
    while not plain.isascii() and len(quote(plain)) > LONGEST_NAME:  # as an archive writes it
        plain = plain[:-1]
    return plain.strip("._-") or otherwise


def former_name(name: str, otherwise: str = "data") -> str:
    """What a name was before letters of other alphabets stayed; of ASCII letters, the name itself.

    >>> former_name("Größe_cm_身長"), former_name("house_prices"), former_name("身長")
    ('Gr_e_cm', 'house_prices', 'data')
    """
    return name if name.isascii() else NOT_ASCII.sub("_", name).strip("._-") or otherwise


def attribute_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names for attributes: no blanks, not a whole number, all different.

    >>> attribute_names(["size", "no. of rooms", "1990", "no._of rooms"])
    ('size', 'no._of_rooms', 'x1990', 'no._of_rooms_2')
    """
    used: set[str] = set()
    result = []
    for name in names:
        bare = _printable(MEANINGFUL.sub("_", name.strip())) or "x"
        result.append(_unused(f"x{bare}" if is_integer(bare) else bare, used))
    return tuple(result)


def written_levels(levels: Sequence[str]) -> dict[str, str]:
    """How each level is written in DELVE's files: as it is if that is legal, else altered but still unique.

    >>> written_levels(["New York", "New_York", "1st", "<=50K", "007"])
    {'New York': 'New_York_2', 'New_York': 'New_York', '1st': 'v_1st', '<=50K': '<=50K', '007': '007'}
    """
    used = {level for level in levels if _is_legal(level)}
    return {level: level if _is_legal(level) else _unused(_altered(level), used) for level in levels}


def _is_legal(level: str) -> bool:
    if is_number(level):
        return True
    plain = is_value(level) and not is_missing(level) and Censored.parse(level) is None
    return plain and level[0] not in BEGINNINGS and not re.search(r"[#\\,]|\.\.", level)


def _altered(level: str) -> str:
    bare = _printable(MEANINGFUL.sub("_", level.strip()))
    is_plain = bool(bare) and bare[0] not in BEGINNINGS and Censored.parse(bare) is None
    return bare if is_plain else f"v_{bare}"


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "_" for character in text)


def _unused(name: str, used: set[str]) -> str:
    """The name, with a number if it is taken; it counts as used from now on."""
    number, candidate = 1, name
    while candidate in used:
        number += 1
        candidate = f"{name}_{number}"
    used.add(candidate)
    return candidate
