"""PROBEN1's rules of representation (section 2.4) as encodings: every attribute as numbers from 0 to 1.

Fitted on training cases only, as all encodings of redelve: values of test cases may lie outside 0…1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from redelve.encodings import CodedColumn, Encoder, Subject, bind, check_categorical
from redelve.encodings.contract import Numbers, Texts, coded_numbers
from redelve.encodings.discrete import TableEncoder
from redelve.errors import SpecError
from redelve.formats.proben1 import number_text
from redelve.model import CATEGORICAL, Attribute, AttributePrior, Column, is_missing
from redelve.model.coding import Coding


@dataclass(frozen=True)
class Rules:
    """The choices that section 2.4 leaves; the defaults are what PROBEN1 does most often.

    `missing`: an input that is 1 where the value is missing (which is then 0), or a fixed value: the mean of
    those known in the training cases, for classes a code of zeros. `ordinal`: m values on an equidistant
    scale, as nominal ones, or m − 1 inputs of which the first k are 1. `nominal`: 1-of-m, or a binary code
    as for gene. `scaled_by`: the training cases alone, or all cases as in PROBEN1's own files, which lets
    the greatest and least values of test cases be known.
    """

    missing: Literal["indicator", "fixed"] = "indicator"
    ordinal: Literal["scale", "1-of-m", "thermometer"] = "scale"
    nominal: Literal["1-of-m", "binary"] = "1-of-m"
    scaled_by: Literal["training", "all"] = "training"


STANDARD = Rules()


def represent_input(
    attribute: Attribute, prior: AttributePrior, training: Column, rules: Rules = STANDARD
) -> Encoder:
    """The encoder of an input, fitted on a training column."""
    missing = "error"
    if attribute.range.missing:
        missing = "indicator" if rules.missing == "indicator" else "impute"
    return _encoder(attribute, prior, training, (rules, missing))


def represent_output(attribute: Attribute, prior: AttributePrior, training: Column) -> Encoder:
    """The encoder of an output: 1-of-m for classes, even for two of them; numbers on the scale 0…1."""
    kind = "nominal" if prior.type in CATEGORICAL else prior.type
    return _encoder(attribute, replace(prior, type=kind), training, (STANDARD, "error"))


def _encoder(
    attribute: Attribute, prior: AttributePrior, training: Column, how: tuple[Rules, str]
) -> Encoder:
    rules, missing = how
    check_categorical(attribute, prior)
    subject = Subject(attribute, prior, Coding("0…1", unit=prior.unit, missing=missing), None)
    if prior.type in ("real", "integer"):
        return UnitScale.fit(subject, training)
    if prior.type == "angular":
        return UnitCircle(subject, bind(attribute, prior, Coding("rectan", unit=prior.unit, missing=missing)))
    if prior.type == "binary":
        passive = prior.passive or subject.levels[0]
        return _table(subject, [[float(level != passive)] for level in subject.levels], [subject.name])
    if prior.type == "ordinal" and rules.ordinal != "1-of-m":
        return _scale(subject) if rules.ordinal == "scale" else _thermometer(subject)
    return _binary_code(subject) if rules.nominal == "binary" else _one_of_m(subject)


def _one_of_m(subject: Subject) -> TableEncoder:
    """A column for each value, which is 1 where the attribute has it."""
    codes = np.eye(len(subject.levels)).tolist()
    return _table(subject, codes, [f"{subject.name}:{level}" for level in subject.levels])


def _binary_code(subject: Subject) -> TableEncoder:
    """The number of the value, from 0, in ⌈log₂ m⌉ binary digits, the highest first."""
    digits = max((len(subject.levels) - 1).bit_length(), 1)
    codes = [
        [float(level >> digit & 1) for digit in reversed(range(digits))]
        for level in range(len(subject.levels))
    ]
    return _table(subject, codes, [f"{subject.name}:bit{digit}" for digit in reversed(range(digits))])


def _scale(subject: Subject) -> TableEncoder:
    """Values at equal distances from 0 to 1."""
    steps = max(len(subject.levels) - 1, 1)
    return _table(subject, [[step / steps] for step in range(len(subject.levels))], [subject.name])


def _thermometer(subject: Subject) -> TableEncoder:
    """m − 1 columns, the leftmost k of which are 1 for the value number k, from 0."""
    levels = len(subject.levels)
    codes = [[float(step < level) for step in range(levels - 1)] for level in range(levels)]
    return _table(subject, codes, [f"{subject.name}:{level}" for level in subject.levels[1:]])


def _table(subject: Subject, codes: Sequence[Sequence[float]], names: Sequence[str]) -> TableEncoder:
    """A table of codes, with a row, and perhaps a column, for missing values."""
    rows = [[number_text(value) for value in code] for code in codes]
    names = list(names)
    if subject.missing != "error":
        rows.append(["0"] * len(names))
    if subject.missing == "indicator":
        rows = [[*row, "1" if place == len(codes) else "0"] for place, row in enumerate(rows)]
        names.append(f"{subject.name}:?")
    return TableEncoder(subject, tuple(names), tuple(map(tuple, rows)), subject.missing != "error")


@dataclass(frozen=True)
class UnitScale:
    """(x − least) / (greatest − least) by the training cases; a constant attribute keeps its unit.

    A missing value is `fill`: 0 beside an indicator, else the mean of the known ones.
    """

    subject: Subject
    least: float
    greatest: float
    fill: float

    @staticmethod
    def fit(subject: Subject, training: Column) -> UnitScale:
        """The scale on which the known training values reach from 0 to 1."""
        known = _known_numbers(subject, training)
        known = known[~np.isnan(known)]
        if not len(known):
            return UnitScale(subject, 0.0, 1.0, 0.0)
        made = UnitScale(subject, float(known.min()), float(known.max()), 0.0)
        if subject.missing == "indicator":
            return made
        return replace(made, fill=float(made._scaled(known).mean()))

    @property
    def _span(self) -> float:
        return self.greatest - self.least or 1.0

    def _scaled(self, numbers: Numbers) -> Numbers:
        return (numbers - self.least) / self._span

    @property
    def names(self) -> tuple[str, ...]:
        """The attribute's name, and a column telling where it is missing."""
        name = self.subject.name
        return (name, f"{name}:?") if self.subject.missing == "indicator" else (name,)

    def encode(self, column: Column) -> list[CodedColumn]:
        """The values on the scale."""
        numbers = _known_numbers(self.subject, column)
        gone = np.isnan(numbers)
        coded = [CodedColumn(self.subject.name, np.where(gone, self.fill, self._scaled(numbers)))]
        if self.subject.missing == "indicator":
            coded.append(CodedColumn(self.names[1], gone.astype(np.float64)))
        return coded

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """Back to the original scale."""
        numbers = self.least + self._span * coded_numbers(coded[0], self.subject.name)
        return np.array([number_text(number) for number in numbers.tolist()], dtype=object)

    @property
    def log_density_shift(self) -> float:
        """Change of variable."""
        return -float(np.log(self._span)) if self.subject.prior.type == "real" else 0.0


@dataclass(frozen=True)
class UnitCircle:
    """An angle as (sine + 1)/2 and (cosine + 1)/2; PROBEN1 has no rule for angles, this one is ours."""

    subject: Subject
    circle: Encoder

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
        back = [2 * coded_numbers(texts, self.subject.name) - 1 for texts in coded[:2]]
        texts = [np.array([repr(value) for value in one.tolist()], dtype=object) for one in back]
        return self.circle.decode(texts)

    @property
    def log_density_shift(self) -> float:
        """That of the circle."""
        return self.circle.log_density_shift


def _known_numbers(subject: Subject, column: Column) -> Numbers:
    """The numbers of a column, NaN where missing: that must be admitted, and nothing may be censored."""
    numbers = column.numbers()
    texts = column.texts() if np.isnan(numbers).any() else ()
    for row in np.flatnonzero(np.isnan(numbers)).tolist():
        if not is_missing(texts[row]) or subject.missing == "error":
            raise SpecError(
                f'attribute {subject.name}: "{texts[row]}" can\'t be written as a number from 0 to 1: leave '
                "such cases out, or admit the missing value in the attribute's range"
            )
    return numbers
