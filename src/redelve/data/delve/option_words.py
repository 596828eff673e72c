"""The `key=value` options of prior and encoding files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redelve.data.delve.keyed_lines import shown
from redelve.text_numbers import parse_number

KEYS = ("passive", "center", "unit", "scale", "missing", "order")


@dataclass
class OptionWords:
    """The options found on one line."""

    passive: str | None = None
    center: float | None = None
    unit: float | None = None
    scale: str | None = None
    missing: str | None = None
    order: tuple[str, ...] | None = None


def parse_options(words: Sequence[str], complain: Callable[[str], None]) -> OptionWords:
    """The options in `words`; both spellings of centre are taken, violations are complained of."""
    options = OptionWords()
    seen: set[str] = set()
    for word in words:
        key, equals, value = word.partition("=")
        key = {"centre": "center"}.get(key.lower(), key.lower())
        if not equals or not value:
            complain(f'expected "key=value" but got "{shown(word)}"')
        elif key not in KEYS:
            complain(f'unknown option "{shown(key)}": known are {", ".join(KEYS)}')
        elif key in seen:
            complain(f'option "{key}" is given twice')
        else:
            seen.add(key)
            _set(options, key, value, complain)
    return options


def _set(options: OptionWords, key: str, value: str, complain: Callable[[str], None]) -> None:
    if key in ("center", "unit"):
        number = parse_number(value)
        if number is None:
            complain(f'expected a number for {key} but got "{shown(value)}"')
        else:
            setattr(options, key, number)
    elif key == "order":
        options.order = tuple(value.split(","))
    else:
        setattr(options, key, value)


def write_option(key: str, value: str | float | tuple[str, ...]) -> str:
    """One option as text; numbers in their shortest exact form."""
    if isinstance(value, tuple):
        return f"{key}={','.join(value)}"
    if isinstance(value, float):
        return f"{key}={int(value) if value.is_integer() and abs(value) < 1e15 else repr(value)}"
    return f"{key}={value}"
