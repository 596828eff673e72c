"""ARFF, the tables of Weka and OpenML: a header that declares the columns, then one row a line.

Read as texts. Sparse rows are filled up, and blanks may separate values. Dates and tables within tables are
refused or marked, never guessed at.
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
VALUE = re.compile(r"""\s*+(?:'((?:\\.|[^'\\])*+)'|"((?:\\.|[^"\\])*+)"|([^,\t'"]*+))\s*(,|\t|$)""")
"""Possessive, so that a line takes time that grows with it; blanks at the end of a bare value are in it."""
QUOTED = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
QUOTED_VALUE = re.compile(QUOTED)
BETWEEN_BLANKS = re.compile(rf"{QUOTED}|[^\s'\"]+")
SPARSE_ENTRY = re.compile(rf"(?:{QUOTED}|[^,'\"])+")
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
    usual = [column.levels[0] if column.levels else {"number": "0"}.get(column.kind) for column in columns]
    for number, line in lines:
        if line.startswith("{"):
            values = _sparse(line, usual, (path, number))
        elif len(columns) > 1 and _has_blanks_alone(line):
            values = [None if one == "?" else _unquoted(one) for one in BETWEEN_BLANKS.findall(line)]
        else:
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


def _has_blanks_alone(line: str) -> bool:
    """Whether values are separated by blanks, since there is neither comma nor tab outside of quotes."""
    if "'" in line or '"' in line:
        line = QUOTED_VALUE.sub("q", line)
    return "," not in line and "\t" not in line and " " in line


def _sparse(line: str, usual: list[str | None], place: tuple[str, int]) -> list[str | None]:
    """The values of a sparse row, {index value, …}: what it leaves out is 0 or the first level (Weka)."""
    inside = line[1:].rstrip()
    if not inside.endswith("}"):
        raise FormatError(*place, "this sparse row is not closed: end it with }")
    values = list(usual)
    for entry in SPARSE_ENTRY.findall(inside[:-1]):
        index, _, text = entry.strip().partition(" ")
        if not index.isdecimal() or int(index) >= len(values) or not text.strip():
            told = f'"{shown(entry.strip(), 40)}" is no index from 0 to {len(values) - 1} and a value'
            raise FormatError(*place, f"{told}, as a sparse row has them")
        bare = text.strip()
        values[int(index)] = None if bare == "?" else _unquoted(bare)
    return values


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
        values.append(_unescaped(quoted) if quoted is not None else _bare(bare.rstrip()))
        position = match.end()
    return values


def _bare(text: str) -> str | None:
    return None if text in ("?", "") else text


def _unquoted(text: str) -> str:
    return _unescaped(text[1:-1]) if text[0] in "'\"" else text


def _unescaped(text: str) -> str:
    return ESCAPE.sub(r"\1", text) if "\\" in text else text
