"""The arrays of p-values in the paper's figures, as far as the text at hand keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

UNREADABLE = (
    "kin-32nm, pumadyn-32nm and bank-32nm of the main figures: the digits are in the text, the order of "
    "their columns is not",
    "the figure on ensembles (mlp-bgd-2 and mlp-bgd-2b): eleven digits without their places",
    "expected losses: drawn, not printed; and nearly every number in the running text",
)
"""What cannot be compared, and why."""


@dataclass(frozen=True)
class PrintedArray:
    """One array: `digits` has, by the better method and the other, the p-value in units of 0.01."""

    prototask: str
    figure: str
    size: int
    methods: tuple[str, ...]
    digits: Mapping[tuple[str, str], int]

    def better(self, first: str, second: str) -> str | None:
        """Which of two methods is significantly better in print; None if neither is."""
        for pair in ((first, second), (second, first)):
            if pair in self.digits:
                return pair[0]
        return None


@lru_cache(maxsize=1)
def printed_arrays() -> tuple[PrintedArray, ...]:
    """Every array that can be read."""
    text = files("redelve.studies.neal").joinpath("printed_digits.txt").read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in text.split("\n\n")[1:]]
    return tuple(_array(lines[0], [line.split() for line in lines[1:]]) for lines in blocks)


def _array(heading: str, rows: list[list[str]]) -> PrintedArray:
    prototask, figure, size = heading.split(", ")
    methods = tuple(row[0] for row in rows)
    digits = {
        (methods[column], row[0]): int(mark)
        for row in rows
        for column, mark in enumerate(row[1:])
        if mark != "."
    }
    return PrintedArray(prototask, figure, int(size), methods, digits)
