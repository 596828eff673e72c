"""Hyperparameters of learning objects: their meanings, ranges and defaults."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from redelve.errors import SpecError


class UnsuitedError(SpecError, ValueError):
    """A hyperparameter or data that a learning object can't work with; scikit-learn asks for a ValueError."""


@dataclass(frozen=True)
class HyperparameterRange:
    """The values a hyperparameter may have, in words and as a question."""

    text: str
    accepts: Callable[[Any], bool]

    def or_none(self, meaning: str) -> HyperparameterRange:
        """None too, which means what `meaning` says."""
        return HyperparameterRange(
            f"{self.text}, or None: {meaning}", lambda value: value is None or self.accepts(value)
        )

    def or_else(self, other: HyperparameterRange) -> HyperparameterRange:
        """What either range has."""
        return HyperparameterRange(
            f"{self.text}, or {other.text}", lambda value: self.accepts(value) or other.accepts(value)
        )


def number(
    low: float = -math.inf, *, above: float | None = None, below: float = math.inf
) -> HyperparameterRange:
    """Numbers from `low`, or above `above`, and below `below`."""
    least = f"above {above:g}" if above is not None else f"{low:g} or more"
    if math.isfinite(below):
        text = f"number {least}, below {below:g}"
    else:
        text = f"number {least}" if above is not None or math.isfinite(low) else "any number"

    def accepts(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        number = float(value)
        return (number > above if above is not None else number >= low) and (
            number < below or below == math.inf
        )

    return HyperparameterRange(text, accepts)


def whole(low: int) -> HyperparameterRange:
    """Whole numbers from `low`."""

    def accepts(value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low

    return HyperparameterRange(f"whole number {low} or more", accepts)


def choice(*values: Any) -> HyperparameterRange:
    """One of a few values; 0 and 1 stand for False and True, as in the paper."""

    def accepts(value: Any) -> bool:
        return any(
            type(value) is not str and value == known for known in values if type(known) is not str
        ) or (isinstance(value, str) and value in values)

    return HyperparameterRange(" or ".join(map(str, values)), accepts)


def several(one: HyperparameterRange, text: str) -> HyperparameterRange:
    """A sequence of values, each in a range."""

    def accepts(value: Any) -> bool:
        is_sequence = hasattr(value, "__len__") and not isinstance(value, str)
        return is_sequence and len(value) > 0 and all(one.accepts(each) for each in value)

    return HyperparameterRange(text, accepts)


def having(text: str, *methods: str) -> HyperparameterRange:
    """Objects that have these methods."""
    return HyperparameterRange(text, lambda value: all(hasattr(value, method) for method in methods))


FLAG = choice(False, True)
SEED = HyperparameterRange("whole number, RandomState or None", lambda value: True)


@dataclass(frozen=True)
class Hyperparameter:
    """A hyperparameter's name, range and meaning; its default is in the signature of its object."""

    name: str
    range: HyperparameterRange
    meaning: str


RANDOM_STATE = Hyperparameter("random_state", SEED, "seed of what is drawn at random")


def check_hyperparameters(learner: Any) -> None:
    """Refuse values out of range; asked when training begins, as scikit-learn wants it."""
    for each in learner.hyperparameters:
        value = getattr(learner, each.name)
        if not each.range.accepts(value):
            raise UnsuitedError(f"{learner.called}: {each.name} is {value!r}: give {each.range.text}")


@dataclass(frozen=True)
class Default:
    """One row of what `default` shows."""

    name: str
    default: str
    range: str
    meaning: str


@dataclass(frozen=True)
class Defaults:
    """Hyperparameters of one object with defaults and ranges; printed, it is a table."""

    called: str
    rows: tuple[Default, ...]

    def __repr__(self) -> str:
        if not self.rows:
            return f"{self.called} has no hyperparameters"
        cells = [
            ("hyperparameter", "default", "range"),
            *((row.name, row.default, row.range) for row in self.rows),
        ]
        widths = [max(len(row[column]) for row in cells) for column in range(2)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in cells]
        return "\n".join([self.called, *lines])


def default(learner: Any) -> Defaults:
    """Hyperparameters, defaults and ranges of a learning object or of its class.

    >>> from redelve.methods.clop import standardize
    >>> default(standardize)
    standardize
    hyperparameter  default  range
    center          auto     False or True or auto
    """
    kind: Any = learner if isinstance(learner, type) else type(learner)
    if not hasattr(kind, "hyperparameters"):
        raise SpecError(
            f"{kind.__name__} is no learning object of CLOP: its own documentation tells its defaults"
        )
    known = inspect.signature(kind).parameters
    rows = [
        Default(each.name, _shown(known[each.name].default), each.range.text, each.meaning)
        for each in kind.hyperparameters
    ]
    return Defaults(kind.called, tuple(rows))


def _shown(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "(required)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def markdown_table(kinds: Iterable[Any]) -> str:
    """Objects × hyperparameters × defaults × ranges, as docs/clop.md shows them."""
    lines = ["| object | hyperparameter | default | range | meaning |", "|---|---|---|---|---|"]
    for kind in kinds:
        shown = default(kind)
        rows = shown.rows or (Default("", "", "", "no hyperparameters"),)
        for place, row in enumerate(rows):
            called = f"`{shown.called}`" if place == 0 else ""
            name = f"`{row.name}`" if row.name else ""
            lines.append(f"| {called} | {name} | {row.default} | {row.range} | {row.meaning} |")
    return "\n".join(lines)
