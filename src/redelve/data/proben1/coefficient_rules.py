"""How PROBEN1 writes an attribute's values as coefficients (section 2.4), told problem by problem.

A rule is a list: the attribute, the kind of rule, what belongs to it. Where the report leaves a choice, or
PROBEN1's file departs from the report, the rule is what the file has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log1p
from typing import Any

import numpy as np

from redelve.errors import SpecError
from redelve.model.dataset import Numbers

Coefficients = tuple[float, ...]
Table = Mapping[str, Sequence[str]]
"""The values of each attribute, as the raw file writes them."""
MISSING = "?"


def coefficients(table: Table, rules: Sequence[Sequence[Any]]) -> Numbers:
    """All coefficients, a row for each case, with the six digits that PROBEN1 writes.

    >>> table = {"size": ["5", "?", "10"], "colour": ["red", "blue", "red"]}
    >>> size = [["size", "number", 0, 10, 0.35], ["size", "missing"]]
    >>> coefficients(table, [*size, ["colour", "one-of", "red"]])
    array([[0.5 , 0.  , 1.  ],
           [0.35, 1.  , 0.  ],
           [1.  , 0.  , 1.  ]])
    """
    return np.hstack(
        [_block(table[name], rule) for names, *rule in rules for name in table if is_about(names, name)]
    )


def is_about(names: str, name: str) -> bool:
    """Whether a rule for `names` holds for an attribute: one that ends in * stands for several.

    >>> is_about("base*", "base12"), is_about("base1", "base12")
    (True, False)
    """
    return name.startswith(names[:-1]) if names.endswith("*") else name == names


def _block(values: Sequence[str], rule: Sequence[Any]) -> Numbers:
    kind, *given = rule
    if kind not in RULES:
        raise SpecError(f'"{kind}" is no rule: choose {", ".join(RULES)}')
    written = RULES[kind](*given)
    known = {value: tuple(map(six_digits, written(value))) for value in set(values)}
    return np.array([known[value] for value in values], dtype=np.float64)


def six_digits(value: float) -> float:
    """The number as C's %g prints it, and as PROBEN1's files have it.

    >>> six_digits(2 / 3)
    0.666667
    """
    return float(f"{value:g}")


def _number(least: float, extent: float, missing: float = 0.0) -> Callable[[str], Coefficients]:
    """One coefficient: how far above `least`, in units of `extent`; a fixed one if missing."""
    return lambda value: (missing if value == MISSING else (float(value) - least) / extent,)


def _logarithm(extent: float) -> Callable[[str], Coefficients]:
    """One coefficient: ln(1 + value) in units of `extent`."""
    return lambda value: (log1p(float(value)) / extent,)


def _one_of(*values: str) -> Callable[[str], Coefficients]:
    """1-of-m: a coefficient for each value listed; any other value is all zeros."""
    return lambda value: tuple(float(value == one) for one in values)


def _scale(*values: str) -> Callable[[str], Coefficients]:
    """Ordered values at equal distances on 0…1; any other value is 0."""
    places = {value: place / (len(values) - 1) for place, value in enumerate(values)}
    return lambda value: (places.get(value, 0.0),)


def _codes(codes: Mapping[str, Sequence[float]]) -> Callable[[str], Coefficients]:
    """The coefficients that are listed for a value; any other value is all zeros."""
    others = (0.0,) * len(next(iter(codes.values())))
    return lambda value: tuple(codes.get(value, others))


def _missing() -> Callable[[str], Coefficients]:
    """1 where the value is missing."""
    return lambda value: (float(value == MISSING),)


def _never() -> Callable[[str], Coefficients]:
    """A coefficient that is 0 in every example."""
    return lambda _: (0.0,)


RULES: Mapping[str, Callable[..., Callable[[str], Coefficients]]] = {
    "number": _number,
    "logarithm": _logarithm,
    "one-of": _one_of,
    "scale": _scale,
    "codes": _codes,
    "missing": _missing,
    "never": _never,
}
