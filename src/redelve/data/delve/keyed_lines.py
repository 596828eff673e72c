"""The `key: value` lines that specification files are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from redelve.data.problems import Problems

COMMENT = re.compile(r"(?<!\\)#.*")


@dataclass(frozen=True)
class KeyedEntry:
    """One value and the line it stands on."""

    value: str
    line: int


def strip_comment(text: str) -> str:
    """The text before an unescaped `#`, without surrounding blanks."""
    return COMMENT.sub("", text).strip()


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, from 1."""
    return enumerate(text.split("\n"), start=1)


def parse_entries(lines: Iterable[tuple[int, str]], problems: Problems) -> dict[str, KeyedEntry]:
    """The entries by key (in lower case); a repeated key or a line without colon is a problem."""
    entries: dict[str, KeyedEntry] = {}
    for number, line in lines:
        bare = strip_comment(line)
        if not bare:
            continue
        key, colon, value = bare.partition(":")
        key = key.strip().lower()
        if not colon or not key:
            problems.add(number, f'expected "key: value" but got "{shown(bare)}"', value=bare)
        elif key in entries:
            problems.add(
                number, f'"{key}" is specified twice, first on line {entries[key].line}', value=value
            )
        else:
            entries[key] = KeyedEntry(value.strip(), number)
    return entries


def shown(text: str, longest: int = 60) -> str:
    """A text short enough for a message."""
    printable = "".join(character if character.isprintable() else "?" for character in text)
    return printable if len(printable) <= longest else printable[: longest - 3] + "..."


class KeyedFields:
    """Typed access to entries; what is missing or wrong becomes a problem and a harmless stand-in."""

    def __init__(self, entries: dict[str, KeyedEntry], problems: Problems) -> None:
        self._entries = entries
        self._problems = problems

    def text(self, key: str) -> str:
        """A required text."""
        if key not in self._entries:
            self._problems.add(None, f'"{key}" is not specified', field=key)
            return ""
        if not self._entries[key].value:
            self.complain(key, f'"{key}" is empty')
        return self._entries[key].value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """One of several words."""
        if default is not None and key not in self._entries:
            return default
        value = self.text(key)
        if value and value not in allowed:
            self.complain(key, f'bad {key} "{shown(value)}": should be {", ".join(allowed)}')
        return value

    def positive(self, key: str) -> int:
        """A whole number of at least 1."""
        value = self.text(key)
        return self._positive(key, value) if value else 1

    def positives(self, key: str) -> tuple[int, ...]:
        """Whole numbers of at least 1, separated by blanks."""
        return tuple(self._positive(key, word) for word in self.text(key).split())

    def line(self, key: str) -> int | None:
        """The line a key stands on."""
        return self._entries[key].line if key in self._entries else None

    def complain(self, key: str, rule: str) -> None:
        """Note a problem with this key's value."""
        value = self._entries[key].value if key in self._entries else ""
        self._problems.add(self.line(key), rule, field=key, value=value)

    def _positive(self, key: str, word: str) -> int:
        if word.isascii() and word.isdigit() and len(word) < 16 and int(word) > 0:
            return int(word)
        self.complain(key, f'expected a positive integer but got "{shown(word)}"')
        return 1
