"""Names and values as DELVE can write them: without blanks and signs that its files give a meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence

from redelve.model import Censored, is_missing, is_value
from redelve.text_numbers import is_integer, is_number

LONGEST_NAME = 80
NOT_IN_PATHS = re.compile(r"[^A-Za-z0-9_.-]+")
MEANINGFUL = re.compile(r"[\s#\\,=]+|\.\.+")
BEGINNINGS = "[]()\\@#+-.:?0123456789"


def legal_name(text: str, otherwise: str = "data") -> str:
    """A name for a dataset or prototask, which becomes a folder's name too.

    >>> legal_name("House prices (2020)"), legal_name("../..")
    ('House_prices_2020', 'data')
    """
    return NOT_IN_PATHS.sub("_", text).strip("._-")[:LONGEST_NAME].strip("._-") or otherwise


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
