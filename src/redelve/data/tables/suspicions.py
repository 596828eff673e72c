"""What looks wrong about a table before anything is run on it, and the option that cures it.

What is said is true of the rows as they are. That an input gives the target away is said only if chance would
not do it once in a thousand million tables; docs/own-data.md lists the rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from redelve.data.delve.keyed_lines import shown
from redelve.data.tables.description import ColumnDescription
from redelve.data.tables.table_columns import FEW_ROWS, ColumnFacts
from redelve.model import CATEGORICAL
from redelve.model.dataset import Numbers, Rows

ROWS_LOOKED_AT = (200, 2000)
"""Most inputs are cleared by a few rows; what a few thousand don't clear is looked at in all."""
CHANCE = 1e-9
FEWEST = 20
CODES = frozenset(
    {-1.0, -9.0, *(sign * (10.0**digits - 1) for sign in (-1, 1) for digits in range(2, 8)), -8888.0, 8888.0}
)
FAR, FEWEST_OTHERS = 0.25, 10


def suspicions(
    facts: Sequence[ColumnFacts],
    columns: Sequence[ColumnDescription],
    target: ColumnDescription,
    rows: Rows | None = None,
) -> tuple[str, ...]:
    """What should be looked at, most serious first; `rows` are the cases without their twins."""
    pairs = list(zip(facts, columns, strict=True))
    inputs = [one for one, said in pairs if said.use == "input"]
    answer = next(one for one, said in pairs if said.use == "target")
    giving = _giving_away(inputs, answer, rows, is_class=target.type in CATEGORICAL)
    codes = filter(None, map(_code, [*inputs, answer]))
    return (*giving, *codes, *filter(None, map(_counter, inputs)))


# --- inputs that give the target away ----------------------------------------------------------------------


def _giving_away(
    inputs: Sequence[ColumnFacts], answer: ColumnFacts, rows: Rows | None, *, is_class: bool
) -> Iterator[str]:
    every = np.arange(len(answer.column)) if rows is None else rows
    suspected = list(inputs) if len(every) >= FEWEST else []
    for most in ROWS_LOOKED_AT:
        some = every[:: -(-len(every) // most)]
        target = _values(answer, some)
        suspected = [one for one in suspected if _Pair(_values(one, some), target, is_class).verdict]
    for one in suspected:
        pair = _Pair(_values(one, every), _values(answer, every), is_class, one.is_numeric)
        if pair.verdict and pair.log_chance < math.log(CHANCE / len(inputs)):
            name = shown(one.name)
            yield (
                f'column "{name}" {pair.verdict} the target: if it is known only once the target is, losses '
                f'say nothing of new cases; then leave it out (--ignore "{name}", ignore="{name}")'
            )


def _values(facts: ColumnFacts, rows: Rows) -> Numbers:
    """Numbers, or the places of texts; NaN where missing."""
    if facts.is_numeric and facts.column.numbers is not None:
        return facts.column.numbers[rows]
    codes = facts.coded[0][rows].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


@dataclass(frozen=True)
class _Pair:
    """An input and the target in the same rows; what is missing of the input counts as a value."""

    one: Numbers
    target: Numbers
    is_class: bool
    is_ordered: bool = True

    @cached_property
    def verdict(self) -> str:
        """How the input tells the target of every row; empty if it does not."""
        if self.is_ordered and np.array_equal(self.one, self.target):
            return "is equal to"
        if self._is_function:
            own = len(self._levels[0]) == len(self._classes[0])
            return "has a value of its own for each value of" if own else "alone tells"
        if self.is_ordered and not np.isnan(self.one).any():
            return self._by_order
        return ""

    @cached_property
    def _levels(self) -> tuple[Numbers, Rows]:
        found = np.unique(self.one, return_inverse=True)
        return found[0], found[1]

    @cached_property
    def _classes(self) -> tuple[Numbers, Rows]:
        found = np.unique(self.target, return_inverse=True)
        return found[0], found[1]

    @cached_property
    def _is_function(self) -> bool:
        """Whether rows with the same value have the same target, and there are such rows."""
        (levels, places), (classes, of_class) = self._levels, self._classes
        if 2 * len(levels) > len(self.one):
            return False
        return len(np.unique(places * len(classes) + of_class)) == len(levels)

    @cached_property
    def _by_order(self) -> str:
        """How the order of the input tells the target."""
        order = np.lexsort((self.target, self.one))
        one, target = self.one[order], self.target[order]
        if self.is_class:
            ends = target[1:] != target[:-1]
            parts = int(ends.sum()) + 1 == len(self._classes[0]) and (one[1:] != one[:-1])[ends].all()
            return "alone, by thresholds, tells" if parts else ""
        if (target[1:] >= target[:-1]).all():
            return "puts the cases into the same order as"
        falling = self.target[np.lexsort((-self.target, self.one))]
        return "puts the cases into the reverse order of" if (falling[1:] <= falling[:-1]).all() else ""

    @property
    def log_chance(self) -> float:
        """The logarithm of the chance of this, or of a bound on it, if input and target were independent.

        For a function every level must have drawn its target again and again. For an order it is the share of
        the orders of the rows that will do.
        """
        levels, classes = (np.bincount(places) for _, places in (self._levels, self._classes))
        if self._is_function:
            shares = classes / classes.sum()
            return float(sum(np.log(np.sum(shares**count)) for count in levels))
        orders = [math.lgamma(count + 1) for count in (*levels, *classes)]
        ways = math.lgamma(len(classes) + 1) if self.is_class else math.log(2)
        return ways + sum(orders) - math.lgamma(len(self.one) + 1)


# --- codes and counters ------------------------------------------------------------------------------------


def _code(facts: ColumnFacts) -> str:
    """A number such as -999 that is repeated, far from all others."""
    if not facts.is_numeric:
        return ""
    for code in set(facts.extremes) & CODES:
        others = facts.numbers[facts.numbers != code]
        times = len(facts.numbers) - len(others)
        if times < 2 or len(np.unique(others[:FEW_ROWS])) < FEWEST_OTHERS:
            continue
        low, high = float(others.min()), float(others.max())
        if max(low - code, code - high) >= FAR * (high - low):
            name, shape = shown(facts.name), f"{code:.0f}"
            return (
                f'column "{name}" is {shape} {times} times, far from the rest ({low:.6g} to {high:.6g}): '
                f'if that means "missing", say so (--missing "{name}={shape}", missing={{"{name}": {shape}}})'
            )
    return ""


def _counter(facts: ColumnFacts) -> str:
    """Whole numbers that all differ, without gaps or rising from row to row."""
    if not facts.is_numeric or facts.missing or facts.known < FEWEST or not facts.is_whole:
        return ""
    low, high = facts.extremes
    if facts.distinct < facts.known:
        return ""
    rises = bool((np.diff(facts.numbers) > 0).all())
    if not rises and high - low >= facts.known:
        return ""
    what = "rises from row to row" if rises else f"has every number from {low:.0f} to {high:.0f} once"
    name = shown(facts.name)
    return (
        f'column "{name}" {what}: if it only numbers the cases, leave it out (--ignore "{name}", '
        f'ignore="{name}"); if it is a time, random sets look into the future (--design time, design="time")'
    )
