"""Codes from 0 to 1, as PROBEN1 represents attributes (Prechelt 1994, section 2.4).

1-of-m is `1-of-n`, and a binary attribute is `0/1`. A missing number is 0 beside its indicator, as in
PROBEN1's heart and horse, or with `missing=impute` the mean of the known training values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redelve.errors import SpecError
from redelve.model import Column
from redelve.model.encodings.discrete import TableEncoder, check_columns, table_of
from redelve.model.encodings.encoder import (
    DISCRETE,
    NUMERICAL,
    CodedColumn,
    Encoder,
    Encoding,
    Subject,
    Texts,
    coded_numbers,
    encodings,
)
from redelve.model.encodings.numeric import NumericEncoder, RectangularEncoder, rectangular, statistics_of

UNIT = "0..1"


def unit(subject: Subject) -> Encoder:
    """0..1: numbers by their extremes, ordinal values at equal distances, angles as points on a circle."""
    if subject.prior.type == "ordinal":
        return equidistant(subject)
    if subject.prior.type == "angular":
        return UnitCircle(rectangular(subject))
    return scaled(subject)


def scaled(subject: Subject) -> NumericEncoder:
    """(x − least) / (greatest − least) by the training cases: others may lie outside 0 to 1."""
    statistics = statistics_of(subject)
    least, greatest = statistics.least, statistics.greatest
    if least is None or greatest is None or not least <= greatest:
        raise SpecError(
            f'no least and greatest training value given for "{UNIT}" encoded attribute "{subject.name}": '
            "its normalize file lacks them; run mgendata again"
        )
    span = greatest - least
    imputed = subject.missing == "impute" and span > 0
    return NumericEncoder(subject, least, span, (statistics.mean - least) / span if imputed else 0.0)


def equidistant(subject: Subject) -> TableEncoder:
    """Ordinal values at equal distances from 0 to 1."""
    steps = max(len(subject.levels) - 1, 1)
    return table_of(subject, [subject.name], [[repr(step / steps)] for step in range(len(subject.levels))])


def thermometer_of_ones(subject: Subject) -> TableEncoder:
    """therm-01: m − 1 columns, the leftmost k of which are 1 for the value number k, from 0."""
    steps = len(subject.levels) - 1
    if steps < 1:
        raise SpecError(
            f"a thermometer code for attribute {subject.name} needs at least two values in its range"
        )
    check_columns(subject, steps)
    codes = [["1" if step < level else "0" for step in range(steps)] for level in range(steps + 1)]
    return table_of(subject, [f"{subject.name}:{level}" for level in subject.levels[1:]], codes)


def binary_code(subject: Subject) -> TableEncoder:
    """bits: the number of the value, from 0, in ⌈log₂ m⌉ binary digits, the highest first."""
    digits = max((len(subject.levels) - 1).bit_length(), 1)
    places = range(digits - 1, -1, -1)
    codes = [[str(level >> place & 1) for place in places] for level in range(len(subject.levels))]
    return table_of(subject, [f"{subject.name}:bit{place}" for place in places], codes)


@dataclass(frozen=True)
class UnitCircle:
    """An angle as (sine + 1)/2 and (cosine + 1)/2; PROBEN1 has no rule for angles, this one is ours."""

    circle: RectangularEncoder

    @property
    def names(self) -> tuple[str, ...]:
        """Sine, cosine and perhaps a column telling where the angle is missing."""
        return self.circle.names

    def encode(self, column: Column) -> list[CodedColumn]:
        """A missing angle is the centre of the circle."""
        sine, cosine, *indicator = self.circle.encode(column)
        return [CodedColumn(one.name, (one.numbers + 1) / 2) for one in (sine, cosine)] + indicator

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """The angle of the point."""
        name = self.circle.subject.name
        back = [2 * coded_numbers(texts, name) - 1 for texts in coded[:2]]
        return self.circle.decode([np.array([repr(x) for x in one.tolist()], dtype=object) for one in back])

    @property
    def log_density_shift(self) -> float:
        """Densities are per radian, on whatever circle."""
        return self.circle.log_density_shift


encodings.add("therm-01", Encoding("therm-01", thermometer_of_ones, DISCRETE, place=10))
encodings.add("bits", Encoding("bits", binary_code, DISCRETE, place=11))
encodings.add(UNIT, Encoding(UNIT, unit, ("ordinal", *NUMERICAL, "angular"), place=14, needs_extremes=True))
