"""A problem's raw file as columns of text, as `rebuilt/NAME.toml` tells how it is read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from redelve.data.catalogue.packaged import Reading, table
from redelve.data.proben1.coefficient_rules import MISSING, Table, is_about

Columns = dict[str, list[str]]


class RawDescription(NamedTuple):
    """How a problem's raw file is read, and what becomes of it."""

    columns: tuple[str, ...]
    reading: Reading
    inputs: list[list[Any]]
    outputs: list[list[Any]]
    kinds: tuple[str, str]
    """Whether the file declares its inputs and its outputs boolean or real."""
    missing: str = MISSING
    unusable: Mapping[str, Sequence[str]] = {}
    """Values of an attribute (or of several, as in base*) whose cases PROBEN1 leaves out."""
    second: SecondFile | None = None

    @classmethod
    def of(cls, problem: str) -> RawDescription:
        """What the problem's file says."""
        text = (files(str(__package__)) / "rebuilt" / f"{problem}.toml").read_text(encoding="utf-8")
        given = tomllib.loads(text)
        columns, reading = spelt_out(given.pop("columns")), Reading(**given.pop("reading", {}))
        kinds = (given.pop("inputs_are"), given.pop("outputs_are"))
        second = SecondFile(**given.pop("second")) if "second" in given else None
        return cls(columns=columns, reading=reading, kinds=kinds, second=second, **given)


class SecondFile(NamedTuple):
    """A file that tells an attribute which the first one lacks."""

    columns: list[str]
    reading: dict[str, Any]
    same: list[str]
    """Numbers of both files, by which cases are recognised."""
    told: str
    known: dict[str, str]
    """The attribute of cases that the second file lacks, by their numbers in the first, from 1."""

    def told_of(self, first: Columns, content: bytes) -> list[str]:
        """The attribute, for each case of the first file."""
        other = _columns(content, self.columns, Reading(**self.reading), MISSING)
        values: dict[tuple[float, ...], list[str]] = {}
        for numbers, value in zip(_numbers(other, self.same), other[self.told], strict=True):
            values.setdefault(numbers, []).append(value)
        cases = enumerate(_numbers(first, self.same), start=1)
        return [self.known.get(str(number)) or values[numbers].pop(0) for number, numbers in cases]


def _numbers(of: Columns, names: Sequence[str]) -> list[tuple[float, ...]]:
    return list(zip(*(map(float, of[name]) for name in names), strict=True))


def spelt_out(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns; one that ends in a star and a number stands for so many.

    >>> spelt_out(["base*3", "class"])
    ('base1', 'base2', 'base3', 'class')
    """
    found: list[str] = []
    for name in names:
        stem, star, count = name.partition("*")
        found += [f"{stem}{number}" for number in range(1, int(count) + 1)] if star else [stem]
    return tuple(found)


def raw_table(described: RawDescription, contents: Sequence[bytes]) -> Table:
    """The values of each attribute, of the cases that PROBEN1 uses."""
    found = _columns(contents[0], described.columns, described.reading, described.missing)
    if described.second is not None:
        found[described.second.told] = described.second.told_of(found, contents[1])
    refused = [
        (found[name], set(values))
        for names, values in described.unusable.items()
        for name in described.columns
        if is_about(names, name)
    ]
    cases = range(len(found[described.columns[0]]))
    used = [case for case in cases if not any(column[case] in values for column, values in refused)]
    return {name: [values[case] for case in used] for name, values in found.items()}


def _columns(content: bytes, names: Sequence[str], reading: Reading, missing: str) -> Columns:
    """The values of each attribute; quotation marks and lines of comment (after %) are left out."""
    lines = content.replace(b'"', b"").splitlines(keepends=True)
    rows = table(b"".join(line for line in lines if not line.startswith(b"%")), reading)
    columns = (
        [MISSING if value == missing else value for value in column] for column in zip(*rows, strict=True)
    )
    return dict(zip(names, columns, strict=True))
