"""What each method that comes with redelve does: a text file each, and the methods' `summary` (manual 7.1).

The built-in delve directory shows them as Summary files. Commands that only list read this, so it imports
little.
"""
# ruff: noqa: PTH118, PTH120, PTH123, PTH208
# pathlib alone takes half as long as Python itself to start.

from __future__ import annotations

import os


def _read() -> dict[str, str]:
    folder = os.path.dirname(__file__)
    found = {}
    for name in sorted(one.removesuffix(".txt") for one in os.listdir(folder) if one.endswith(".txt")):
        with open(os.path.join(folder, f"{name}.txt"), encoding="utf-8") as file:
            found[name] = file.read()
    return found


SUMMARIES = _read()
"""The texts, by the name of the method."""
