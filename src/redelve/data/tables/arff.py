"""ARFF, the tables of Weka and OpenML: a header that declares the columns, then one row a line.

Read as texts. Sparse rows, dates and tables within tables are refused or marked, never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from redelve.data.delve.keyed_lines import shown
from redelve.errors import FormatError
from redelve.text_numbers import parse_number

ArffKind = Literal["number", "categories", "text", "date"]
NUMERIC = ("numeric", "real", "integer")
NO_NUMBER = ("nan", "na")  # some programs write a missing number so

ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s{]+)\s*(.*)""", re.IGNORECASE | re.DOTALL
)
VALUE = re.compile(r"""\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|([^,\t'"]*?))\s*(,|\t|$)""")
ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True)
class ArffColumn:
    """A declared column and its values, None where missing."""

    name: str
    kind: ArffKind
    levels: tuple[str, ...] = ()
    declared: str = ""
    values: list[str | None] = field(default_factory=list, repr=False)


def parse_arff(text: str, path: str) -> list[ArffColumn]:
    """The columns of an ARFF file with the given text; `path` is for messages."""
    lines = _lines(text)
    columns = _header(lines, path)
    rows = list(_rows(lines, columns, path))
    by_column = [list(values) for values in zip(*rows, strict=True)] if rows else [[] for _ in columns]
    return [replace(column, values=values) for column, values in zip(columns, by_column, strict=True)]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, numbered from 1."""
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.strip()
        if bare and not bare.startswith("%"):
            yield number, bare


def _header(lines: Iterator[tuple[int, str]], path: str) -> list[ArffColumn]:
    columns: list[ArffColumn] = []
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@data":
            if not columns:
                raise FormatError(path, number, "@data comes before any @attribute: declare columns first")
            return columns
        if word.startswith("@attribute"):
            columns.append(_attribute(line, number, path))
        elif word != "@relation":
            raise FormatError(
                path,
                number,
                f'expected @relation, @attribute or @data but got "{shown(line, 40)}": is this ARFF?',
            )
    raise FormatError(path, None, "there is no @data line: this is no complete ARFF file")


def _attribute(line: str, number: int, path: str) -> ArffColumn:
    match = ATTRIBUTE.fullmatch(line)
    if match is None or not match[2].strip():
        raise FormatError(path, number, f'expected "@attribute name type" but got "{shown(line)}"')
    name, declared = _unquoted(match[1]), match[2].strip()
    if declared.startswith("{"):
        return ArffColumn(name, "categories", _levels(name, declared, number, path), declared)
    word = declared.split()[0].lower()
    if word in NUMERIC:
        return ArffColumn(name, "number", declared=declared)
    if word in ("string", "date"):
        return ArffColumn(name, "text" if word == "string" else "date", declared=declared)
    raise FormatError(
        path,
        number,
        f'column "{shown(name)}" has the type "{shown(declared, 40)}", which is not read: '
        "make it numeric, nominal {a,b} or string, or leave it out",
    )


def _levels(name: str, declared: str, number: int, path: str) -> tuple[str, ...]:
    if not declared.endswith("}"):
        raise FormatError(path, number, f'the levels of "{shown(name)}" are not closed: end the line with }}')
    inside = declared[1:-1].strip()
    listed = [level or "?" for level in _values(inside, number, path)] if inside else []
    if not listed or len(set(listed)) < len(listed):
        what = "no levels" if not listed else "a level twice"
        raise FormatError(path, number, f'column "{shown(name)}" lists {what}: list each once, like {{a,b}}')
    return tuple(listed)


def _rows(
    lines: Iterator[tuple[int, str]], columns: list[ArffColumn], path: str
) -> Iterator[list[str | None]]:
    allowed = [frozenset(column.levels) for column in columns]
    for number, line in lines:
        if line.startswith("{"):
            raise FormatError(
                path, number, "sparse rows, {index value, …}, are not read: save the table with full rows"
            )
        values = _values(line, number, path)
        if len(values) != len(columns):
            raise FormatError(
                path,
                number,
                f"expected {len(columns)} values, one per @attribute, but got {len(values)}",
            )
        for place, column in enumerate(columns):
            if column.kind in ("number", "categories") and (value := values[place]) is not None:
                values[place] = _checked(value, column, allowed[place], (path, number))
        yield values


def _checked(value: str, column: ArffColumn, allowed: frozenset[str], place: tuple[str, int]) -> str | None:
    if column.kind == "categories":
        if value in allowed:
            return value
        raise FormatError(
            *place, f'"{shown(value, 40)}" is not among the declared levels of "{shown(column.name)}"'
        )
    if value.lower() in NO_NUMBER:
        return None
    if parse_number(value) is None:
        raise FormatError(
            *place, f'column "{shown(column.name)}" is declared numeric but has "{shown(value, 40)}"'
        )
    return value


def _values(line: str, number: int, path: str) -> list[str | None]:
    """The values of one line; an unquoted ? is missing."""
    if "'" not in line and '"' not in line and "\t" not in line:
        return [None if (bare := value.strip()) in ("?", "") else bare for value in line.split(",")]
    values: list[str | None] = []
    position, separator = 0, ","
    while separator:
        match = VALUE.match(line, position)
        if match is None:
            raise FormatError(path, number, f'can\'t read "{shown(line[position:], 40)}": check its quotes')
        single, double, bare, separator = match.groups()
        quoted = single if single is not None else double
        values.append(_unescaped(quoted) if quoted is not None else None if bare in ("?", "") else bare)
        position = match.end()
    return values


def _unquoted(text: str) -> str:
    return _unescaped(text[1:-1]) if text[0] in "'\"" else text


def _unescaped(text: str) -> str:
    return ESCAPE.sub(r"\1", text) if "\\" in text else text
