"""What is wrong with a file: parsers collect problems, so that one reading can report all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from redelve.errors import FormatError


@dataclass(frozen=True)
class Problem:
    """A violated rule: where, which field, what value was found."""

    path: str
    line: int | None
    rule: str
    field: str = ""
    value: str = ""

    @property
    def message(self) -> str:
        """Field, value and rule in one line."""
        field = f"{self.field}: " if self.field else ""
        return f"{field}{self.rule}"

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.message}"


class Problems:
    """The problems found so far in one file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._found: list[Problem] = []

    def add(self, line: int | None, rule: str, *, field: str = "", value: str = "") -> None:
        """Note one violation."""
        self._found.append(Problem(self.path, line, rule, field, value))

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def raise_first(self) -> None:
        """Raise the first problem as an error, if there is any."""
        if self._found:
            first = self._found[0]
            raise FormatError(self.path, first.line, first.message)
