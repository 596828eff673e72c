"""Discrete encodings: tables of codes, decoded to the nearest code."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.model import AttributePrior, Column, is_missing
from redelve.model.coding import SCALES
from redelve.model.encodings.encoder import (
    DISCRETE,
    CodedColumn,
    Encoding,
    Subject,
    Texts,
    alternatives,
    coded_numbers,
    encodings,
)
from redelve.text_numbers import tcl

MOST_COLUMNS = 4096  # a table of codes has as many rows


@dataclass(frozen=True)
class TableEncoder:
    """Each level has a row of code texts; the last row, if `has_missing`, is the code of a missing value."""

    subject: Subject
    names: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    has_missing: bool = False
    log_density_shift: float = 0.0

    def encode(self, column: Column) -> list[CodedColumn]:
        """The codes of the column's levels."""
        rows = self._rows(column.texts())
        columns = []
        for position, name in enumerate(self.names):
            texts = np.array([code[position] for code in self.codes], dtype=object)
            columns.append(CodedColumn(name, texts.astype(np.float64)[rows], texts[rows]))
        return columns

    def _rows(self, texts: Texts) -> NDArray[np.int64]:
        positions = {level: row for row, level in enumerate(self.subject.levels)}
        known, inverse = np.unique(texts.astype(str), return_inverse=True)
        rows = np.array([self._row(str(text), positions) for text in known], dtype=np.int64)
        return rows[inverse]

    def _row(self, text: str, positions: dict[str, int]) -> int:
        if text in positions:
            return positions[text]
        if is_missing(text) and self.has_missing:
            return len(self.codes) - 1
        raise SpecError(
            f'bad value to encode "{text}" for attribute {self.subject.name}: '
            f"should be {alternatives(self.subject.levels)}"
        )

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """The level whose code is nearest (for 1-of-n: the largest number wins)."""
        numbers = np.column_stack([coded_numbers(texts, self.subject.name) for texts in coded])
        codes = np.array(self.codes[: len(self.subject.levels)], dtype=np.float64)
        scale = np.maximum(np.abs(numbers).max(axis=1, keepdims=True), 1.0)  # against overflow
        distances = (codes**2).sum(axis=1) / scale - 2 * (numbers / scale) @ codes.T
        levels: Texts = np.array(self.subject.levels, dtype=object)
        decoded: Texts = levels[distances.argmin(axis=1)]
        return decoded


def table_of(subject: Subject, names: Sequence[str], codes: Sequence[Sequence[str]]) -> TableEncoder:
    """A table without, with an added column, or with a neutral row for missing values."""
    if subject.missing == "error":
        return TableEncoder(subject, tuple(names), tuple(map(tuple, codes)))
    neutral = ["0"] * len(names)
    if subject.missing == "impute":
        return TableEncoder(subject, tuple(names), (*map(tuple, codes), tuple(neutral)), has_missing=True)
    wider = [(*code, "0") for code in codes] + [(*neutral, "1")]
    return TableEncoder(subject, (*names, f"{subject.name}:?"), tuple(wider), has_missing=True)


def _two_levels(subject: Subject) -> tuple[str, str]:
    if len(subject.levels) != 2:
        raise SpecError(
            f"expected two values in range of attribute {subject.name}, but got {len(subject.levels)}"
        )
    return subject.levels[0], subject.levels[1]


def _check_passive(subject: Subject) -> str | None:
    passive = subject.coding.passive
    if passive is not None and passive not in subject.levels:
        raise SpecError(
            f'bad passive value "{passive}" for attribute {subject.name}: '
            f"should be {alternatives(subject.levels)}"
        )
    return passive


def check_columns(subject: Subject, count: int) -> None:
    """Refuse codes so wide that they would fill the memory."""
    if count > MOST_COLUMNS:
        raise SpecError(
            f'"{subject.coding.method}" encoding would give attribute {subject.name} {count} columns: '
            f"at most {MOST_COLUMNS} are allowed; use 0-up, 1-up, copy or ignore"
        )


def symmetric(subject: Subject) -> TableEncoder:
    """−1/+1: the first value of the range is −1, the second 1."""
    _two_levels(subject)
    return table_of(subject, [subject.name], [["-1"], ["1"]])


def active_passive(subject: Subject) -> TableEncoder:
    """0/1: the passive value is 0, the other 1."""
    levels = _two_levels(subject)
    passive = _check_passive(subject)
    if passive is None:
        raise SpecError(
            f'no passive value given for "0/1" encoded attribute "{subject.name}": add passive=value'
        )
    return table_of(subject, [subject.name], [["0" if level == passive else "1"] for level in levels])


def one_of_n(subject: Subject) -> TableEncoder:
    """1-of-n: a column for each value but the passive one."""
    passive = _check_passive(subject)
    shown = [level for level in subject.levels if level != passive]
    check_columns(subject, len(shown))
    codes = [["1" if level == column else "0" for column in shown] for level in subject.levels]
    return table_of(subject, [f"{subject.name}:{level}" for level in shown], codes)


def thermometer(subject: Subject) -> TableEncoder:
    """therm: the k-th value (from 0) has k columns at +x and the others at −x, x by `scale`."""
    levels, scale = subject.levels, subject.coding.scale
    if scale not in SCALES:
        raise SpecError(f'bad scale option for "{subject.name}", "{scale}": should be none, linear, or sqrt')
    if len(levels) < 2:
        raise SpecError(
            f"a thermometer code for attribute {subject.name} needs at least two values in its range"
        )
    steps = len(levels) - 1
    check_columns(subject, steps)
    height = {"none": 1.0, "linear": 1 / steps, "sqrt": 1 / math.sqrt(steps)}[scale]
    codes = [[tcl(height if step < k else -height) for step in range(steps)] for k in range(len(levels))]
    return table_of(subject, [f"{subject.name}:{level}" for level in levels[1:]], codes)


def counting_from(start: int) -> Callable[[Subject], TableEncoder]:
    """0-up and 1-up: the position of the value; a missing value is one further level."""

    def count(subject: Subject) -> TableEncoder:
        has_missing = subject.missing != "error"
        codes = tuple((str(start + row),) for row in range(len(subject.levels) + has_missing))
        return TableEncoder(subject, (subject.name,), codes, has_missing)

    return count


def _is_symmetric(prior: AttributePrior) -> bool:
    return prior.type == "binary" and prior.passive is None


def _is_active_passive(prior: AttributePrior) -> bool:
    return prior.type == "binary" and prior.passive is not None


def _is_nominal(prior: AttributePrior) -> bool:
    return prior.type == "nominal"


def _is_ordinal(prior: AttributePrior) -> bool:
    return prior.type == "ordinal"


encodings.add("-1/+1", Encoding("-1/+1", symmetric, ("binary",), _is_symmetric, place=4))
encodings.add("0/1", Encoding("0/1", active_passive, ("binary",), _is_active_passive, place=5))
encodings.add("1-of-n", Encoding("1-of-n", one_of_n, ("binary", *DISCRETE), _is_nominal, place=6))
encodings.add("0-up", Encoding("0-up", counting_from(0), DISCRETE, place=7))
encodings.add("1-up", Encoding("1-up", counting_from(1), DISCRETE, place=8))
encodings.add("therm", Encoding("therm", thermometer, DISCRETE, _is_ordinal, place=9))
