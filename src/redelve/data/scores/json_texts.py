"""JSON from files nobody vouches for: whole, line by line, or a first look; errors name the file and line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from redelve.data.files import json_value, open_bytes, read_text
from redelve.errors import FormatError, RedelveError

LARGEST_JSON = 2**31
FIRST_LOOK = 2**16


def head(path: Path, size: int = FIRST_LOOK) -> str:
    """The beginning of a file, decompressed; empty where it cannot be read as text."""
    try:
        with open_bytes(path) as stream:
            return stream.read(size).decode("utf-8", errors="ignore")
    except (OSError, RedelveError):
        return ""


def parsed(path: Path, line: int | None, text: str | bytes) -> Any:
    """What a JSON text says; an error that names its place where it is none."""
    try:
        return json_value(text, is_mended=True)
    except ValueError as error:
        raise FormatError(path, line, f"this is no JSON ({error}): the file may be cut off") from None


def read_json(path: Path) -> Any:
    """What a JSON file says."""
    return parsed(path, None, read_text(path, LARGEST_JSON))


def json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in a file that has one in every line, with their lines."""
    empty = True
    for number, line in enumerate(read_text(path, LARGEST_JSON).split("\n"), start=1):
        if line.strip():
            found = parsed(path, number, line)
            if not isinstance(found, dict):
                raise FormatError(path, number, f"expected an object with names and values, not {line[:40]}")
            empty = False
            yield number, found
    if empty:
        raise FormatError(path, None, "there are no rows")
