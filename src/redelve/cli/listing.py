"""How dls and mls show a directory of the DELVE hierarchy."""

from __future__ import annotations

import os
from collections.abc import Sequence

from redelve.cli.options import Option
from redelve.data.delve.roots import Overlay, Part
from redelve.errors import LocationError

LONG = Option("l", "group by directory, and print the true path of each", long="long")
WIDTH = 80


def in_columns(names: Sequence[str], width: int = WIDTH) -> str:
    """The names in columns that are filled from the top, as many as fit.

    >>> in_columns(["age", "colour", "income"], 16)
    'age     income\\ncolour'
    """
    if not names:
        return ""
    columns = max(1, width // (max(len(name) for name in names) + 1))
    rows = len(names) // columns + 1
    cell = width // columns
    lines = ["".join(name.ljust(cell) for name in names[row::rows]).rstrip() for row in range(rows)]
    return "\n".join(lines).rstrip()


def listing(overlay: Overlay, part: Part, cpath: str, *, written: str, long: bool) -> str:
    """The merged contents of an address's directories; a file's name is repeated as it was written."""
    kind = overlay.kind(cpath, part)
    if kind is None:
        raise LocationError(f'file "{cpath}" not found in delve path')
    if long:
        return _grouped(overlay, part, cpath, kind == "directory")
    text = in_columns(overlay.listdir(cpath, part)) if kind == "directory" else written
    return f"{text}\n" if text else ""


def _grouped(overlay: Overlay, part: Part, cpath: str, is_directory: bool) -> str:
    if is_directory:
        ending = "/" if cpath == "/" else ""
        groups = [(place + ending, names) for place, names in overlay.listings(cpath, part)]
    else:
        split = (os.path.split(place) for place in overlay.locate_all(cpath, part))
        groups = [(folder, [name]) for folder, name in split]
    return "\n".join(f"{place}:\n{in_columns(names)}".rstrip() + "\n" for place, names in groups)
