"""Values as they are written in data files, and the range of those that an attribute may take (manual 3)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property

from redelve.errors import SpecError
from redelve.text_numbers import is_integer, is_number, parse_limit, parse_number

NOT_A_CATEGORY = "\\@#([+-.:0123456789"


def is_missing(text: str) -> bool:
    """Whether the value is missing: `?`, perhaps followed by a reason."""
    return text.startswith("?")


@dataclass(frozen=True)
class Censored:
    """A number known only to be at least (`12:`) or at most (`:12`) what is written."""

    number: float
    at_least: bool

    @staticmethod
    def parse(text: str) -> Censored | None:
        """The censored value written in `text`, or None.

        >>> Censored.parse("12:"), Censored.parse(":0.5"), Censored.parse("12")
        (Censored(number=12.0, at_least=True), Censored(number=0.5, at_least=False), None)
        """
        if text.endswith(":") and (number := parse_number(text[:-1])) is not None:
            return Censored(number, at_least=True)
        if text.startswith(":") and (number := parse_number(text[1:])) is not None:
            return Censored(number, at_least=False)
        return None


def is_value(text: str) -> bool:
    """Whether `text` is a legal value of any kind."""
    if not text or any(character.isspace() for character in text):
        return False
    if text[0] in NOT_A_CATEGORY:
        return is_number(text) or Censored.parse(text) is not None
    return Censored.parse(text) is not None or text.isprintable()


MOST_LISTED_VALUES = 100_000


@dataclass(frozen=True)
class RealInterval:
    """All numbers between two limits, each of which may be included, excluded or infinite."""

    low: float
    high: float
    low_included: bool
    high_included: bool
    text: str

    def contains(self, value: str) -> bool:
        """Whether the written value is a number in the interval."""
        number = parse_number(value)
        return number is not None and self.contains_number(number)

    def contains_number(self, number: float) -> bool:
        """Whether the number is in the interval."""
        above = number >= self.low if self.low_included else number > self.low
        below = number <= self.high if self.high_included else number < self.high
        return above and below

    def reaches(self, bound: Censored) -> bool:
        """Whether some value of the interval agrees with a censored value."""
        if self.low > self.high:
            return False
        if bound.at_least:
            return self.high > bound.number or self.contains_number(bound.number)
        return self.low < bound.number or self.contains_number(bound.number)

    @property
    def is_finite(self) -> bool:
        """Only an empty or one-point interval can be listed."""
        return self.low >= self.high

    def values(self) -> tuple[str, ...]:
        """The interval's only value, if it has one."""
        return (self.text[1:-1].split(",")[0],) if self.contains_number(self.low) else ()


@dataclass(frozen=True)
class IntegerRange:
    """All integers from low to high, both included."""

    low: float
    high: float
    text: str

    def contains(self, value: str) -> bool:
        """Whether the written value is an integer in the range."""
        return is_integer(value) and self.low <= float(value) <= self.high

    def reaches(self, bound: Censored) -> bool:
        """Whether some integer of the range agrees with a censored value."""
        if self.low > self.high:
            return False
        return self.high >= bound.number if bound.at_least else self.low <= bound.number

    @property
    def is_finite(self) -> bool:
        """Whether the integers can be listed."""
        return self.low > self.high or (math.isfinite(self.low) and math.isfinite(self.high))

    def values(self) -> tuple[str, ...]:
        """Every integer of the range, in order."""
        if not self.is_finite or self.high - self.low >= MOST_LISTED_VALUES:
            raise SpecError(f'can\'t list an infinite range: "{self.text}"')
        return tuple(str(number) for number in range(int(self.low), int(self.high) + 1))


@dataclass(frozen=True)
class SingleValue:
    """One permitted value, which may be a missing-value indicator."""

    text: str

    def contains(self, value: str) -> bool:
        """Whether the written value is this one, to the letter."""
        return value == self.text

    def reaches(self, bound: Censored) -> bool:
        """Whether this value agrees with a censored value."""
        number = parse_number(self.text)
        if number is None:
            return False
        return number >= bound.number if bound.at_least else number <= bound.number

    @property
    def is_finite(self) -> bool:
        """A single value can always be listed."""
        return True

    def values(self) -> tuple[str, ...]:
        """The value itself."""
        return (self.text,)


RangeItem = RealInterval | IntegerRange | SingleValue

ITEM = re.compile(r"[\[(]\s*+[^\s,\[(\])]*+(?:\s*+,\s*+[^\s\[(\])]*+)?\s*+[\])]|\S+")
INTEGERS = re.compile(r"([+-]?(?:\d+|inf))\.\.([+-]?(?:\d+|inf))", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Range:
    """The union of several items.

    >>> allowed = parse_range("(-Inf,0) (0,+Inf) ?")
    >>> [allowed.contains(value) for value in ("-2", "0", "1e3", "?", "?lost")]
    [True, False, True, True, False]
    """

    items: tuple[RangeItem, ...]

    def __str__(self) -> str:
        return " ".join(item.text for item in self.items)

    def contains(self, value: str) -> bool:
        """Whether a value as written in a data file (number, category, missing or censored) is allowed."""
        censored = Censored.parse(value)
        if censored is not None:
            return any(item.reaches(censored) for item in self.items)
        return any(item.contains(value) for item in self.items)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The missing-value indicators the range admits."""
        return tuple(item.text for item in self.items if is_missing(item.text))

    def without_missing(self) -> Range:
        """The range less its missing-value indicators; the same if nothing else is in it.

        >>> str(parse_range("[0,Inf) ? ?lost").without_missing()), str(parse_range("?").without_missing())
        ('[0,Inf)', '?')
        """
        return Range(tuple(item for item in self.items if not is_missing(item.text)) or self.items)

    @property
    def is_finite(self) -> bool:
        """Whether the values can be listed."""
        return all(item.is_finite for item in self.items)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """All values in order, integer ranges written out, missing-value indicators left out."""
        for item in self.items:
            if not item.is_finite:
                raise SpecError(f'can\'t list an infinite range: "{item.text}"')
        listed = [value for item in self.items if not is_missing(item.text) for value in item.values()]
        return tuple(dict.fromkeys(listed))


def parse_range(text: str) -> Range:
    """The range written in `text`, a list of items separated by blanks."""
    items = tuple(parse_item(item) for item in ITEM.findall(text))
    if not items:
        raise SpecError("the range is empty: give values, an interval like [0,Inf) or integers like 1..9")
    return Range(items)


def parse_item(text: str) -> RangeItem:
    """One item of a range."""
    if text[0] in "[(":
        return _parse_interval("".join(text.split()))
    if integers := INTEGERS.fullmatch(text):
        return IntegerRange(float(integers[1]), float(integers[2]), text)
    if ".." in text:
        raise SpecError(f'expected integer limits in range "{text}": write it like 1..9 or 0..Inf')
    if text[0] in "])\\@#+-.:0123456789" and parse_number(text) is None:
        raise SpecError(f'bad range item "{text}": neither a number, an interval nor a category')
    return SingleValue(text)


def _parse_interval(text: str) -> RealInterval:
    if text[-1] not in "])" or text.count(",") != 1:
        raise SpecError(f'bad interval "{text}" in range: write it like [0,Inf) or (-1,1]')
    low, high = text[1:-1].split(",")
    limits = [parse_limit(low), parse_limit(high)]
    for limit, written in zip(limits, (low, high), strict=True):
        if limit is None:
            raise SpecError(f'expected floating-point limit in range "{text}" but got "{written}"')
    assert limits[0] is not None
    assert limits[1] is not None
    return RealInterval(limits[0], limits[1], text[0] == "[", text[-1] == "]", text)
