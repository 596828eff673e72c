"""Numerical encodings: location and spread taken out, and angles as points on a circle."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.errors import PredictionError, SpecError
from redelve.model import AttributePrior, Censored, Column, is_missing
from redelve.model.coding import Normalization
from redelve.model.dataset import Numbers
from redelve.model.encodings.encoder import (
    NUMERICAL,
    CodedColumn,
    Encoding,
    Subject,
    Texts,
    coded_numbers,
    encodings,
)
from redelve.text_numbers import is_integer, parse_number, round9, tcl

LARGEST_SPREAD = 1e150  # its square is still a number


def measure(training: Column) -> Normalization:
    """Mean, standard deviation, median, absolute deviation and extremes of a training column's numbers.

    Divisor n − 1 for both spreads, each figure but the extremes rounded to nine digits (DELVE 1.1). A
    censored value counts as its bound, a missing one not at all.
    """
    known = _numbers_and_bounds(training)[0]
    known = known[~np.isnan(known)]
    if len(known) == 0:
        return Normalization(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    divisor = max(len(known) - 1, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, median = float(known.mean()), float(np.median(known))
        variance = round9(float(((known - mean) ** 2).sum()) / divisor)
        deviation = float(np.abs(known - median).sum()) / divisor
    if not math.isfinite(mean + variance + median + deviation):
        raise SpecError(f"{np.abs(known).max():.9g} is too large to normalise")
    return Normalization(
        round9(mean),
        round9(math.sqrt(variance)),
        round9(median),
        round9(deviation),
        float(known.min()),
        float(known.max()),
    )


def _numbers_and_bounds(column: Column) -> tuple[Numbers, dict[int, Censored]]:
    """The numbers of a column, censored values standing for their bounds; missing ones stay NaN."""
    numbers = column.numbers()
    odd = np.flatnonzero(np.isnan(numbers))
    if len(odd) == 0:
        return numbers, {}
    numbers, texts, bounds = numbers.copy(), column.texts(), {}
    for row in odd.tolist():
        censored = Censored.parse(texts[row])
        if censored is not None:
            numbers[row], bounds[row] = censored.number, censored
        elif not is_missing(texts[row]):
            raise SpecError(f'expected a number but got "{texts[row]}"')
    return numbers, bounds


@dataclass(frozen=True)
class NumericEncoder:
    """Location and spread taken out: (x − location) / spread + centre; spread 0 counts as 1.

    A missing value is coded as `fill` + centre: as 0, that is as the location.
    """

    subject: Subject
    location: float
    spread: float
    fill: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The attribute's name, and a column telling where it is missing."""
        indicator = (f"{self.subject.name}:?",) if self.subject.missing == "indicator" else ()
        return (self.subject.name, *indicator)

    @property
    def _center(self) -> float:
        return self.subject.coding.center or 0.0

    @property
    def _scale(self) -> float:
        return self.spread or 1.0

    def encode(self, column: Column) -> list[CodedColumn]:
        """Normalised numbers; censored values keep their colon."""
        numbers, bounds = _checked_numbers(column, self.subject)
        gone = np.isnan(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            coded = (numbers - self.location) / self._scale + self._center
        coded[gone] = self.fill + self._center
        _check_finite(coded, column, self.subject)
        texts = _with_colons(coded, bounds) if bounds else None
        columns = [CodedColumn(self.subject.name, coded, texts)]
        return columns + _indicator(self.subject, gone)

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """Back to the original scale, nine digits; a colon of a censored value stays."""
        return _map_numbers(coded[0], self.subject.name, self._original)

    def decode_numbers(self, coded: Numbers) -> Numbers:
        """Back to the original scale, for methods that answer with numbers in memory."""
        return self.location + self._scale * (coded - self._center)

    def _original(self, number: float) -> float:
        return self.location + self._scale * (number - self._center)

    @property
    def log_density_shift(self) -> float:
        """Change of variable for a real target; probabilities of integers are not densities."""
        return -math.log(self._scale) if self.subject.prior.type == "real" else 0.0


def _checked_numbers(column: Column, subject: Subject) -> tuple[Numbers, dict[int, Censored]]:
    try:
        numbers, bounds = _numbers_and_bounds(column)
    except SpecError as error:
        raise SpecError(f"attribute {subject.name}: {error}") from None
    if subject.prior.type == "integer":
        _check_integers(column, numbers, subject)
    if subject.missing == "error" and np.isnan(numbers).any():
        row = int(np.flatnonzero(np.isnan(numbers))[0])
        raise SpecError(
            f'attribute {subject.name}: expected a number but got "{column.texts()[row]}": admit the missing '
            f"value in the range, give missing=indicator, or use `Cases: no missing`"
        )
    return numbers, bounds


def _check_integers(column: Column, numbers: Numbers, subject: Subject) -> None:
    fractional = np.flatnonzero(~np.isnan(numbers) & (numbers != np.floor(numbers)))
    if len(fractional):
        text = column.texts()[int(fractional[0])]
        raise SpecError(f'attribute {subject.name}: expected integer but got "{text}"')


def _check_finite(coded: Numbers, column: Column, subject: Subject) -> None:
    if not np.isfinite(coded).all():
        text = column.texts()[int(np.argmin(np.isfinite(coded)))]
        raise SpecError(f'attribute {subject.name}: "{text}" is too large to encode')


def _with_colons(coded: Numbers, bounds: dict[int, Censored]) -> Texts:
    texts = np.array([tcl(number) for number in coded.tolist()], dtype=object)
    for row, bound in bounds.items():
        texts[row] = f"{texts[row]}:" if bound.at_least else f":{texts[row]}"
    return texts


def _indicator(subject: Subject, gone: NDArray[np.bool_]) -> list[CodedColumn]:
    if subject.missing != "indicator":
        return []
    texts = np.where(gone, "1", "0").astype(object)
    return [CodedColumn(f"{subject.name}:?", gone.astype(np.float64), texts)]


def _map_numbers(coded: Texts, name: str, function: Callable[[float], float]) -> Texts:
    decoded = np.empty(len(coded), dtype=object)
    for row, text in enumerate(coded):
        bare = text.strip(":")
        number = parse_number(bare)
        if number is None:
            raise PredictionError(f'case {row + 1}: expected a number for {name} but got "{text}"')
        value = tcl(function(number))
        decoded[row] = text.replace(bare, value) if bare != text else value
    return decoded


def statistics_of(subject: Subject) -> Normalization:
    """The training statistics, which a normalising encoding can't do without."""
    if subject.statistics is None:
        raise SpecError(
            f'no training statistics given for "{subject.coding.method}" encoded attribute "{subject.name}": '
            "its normalize file lacks them; run mgendata again"
        )
    for spread in (subject.statistics.standard_deviation, subject.statistics.absolute_deviation):
        if not 0 <= spread <= LARGEST_SPREAD:
            raise SpecError(
                f'bad training statistics for attribute "{subject.name}": {spread:.9g} is no spread of '
                "numbers that can be computed with; run mgendata again"
            )
    return subject.statistics


def normalised_by_median(subject: Subject) -> NumericEncoder:
    """nm-abs: median 0 and absolute deviation from the median 1 in the training set."""
    statistics = statistics_of(subject)
    return NumericEncoder(subject, statistics.median, statistics.absolute_deviation)


def normalised_by_mean(subject: Subject) -> NumericEncoder:
    """nm-sqr: mean 0 and variance 1 in the training set."""
    statistics = statistics_of(subject)
    # DELVE squared and rerooted the deviation, rounding each time; the same is done here for equal digits.
    spread = round9(math.sqrt(round9(statistics.standard_deviation**2)))
    return NumericEncoder(subject, statistics.mean, spread)


@dataclass(frozen=True)
class RectangularEncoder:
    """rectan: sine, then cosine, of 2π x / unit."""

    subject: Subject
    unit: float

    @property
    def names(self) -> tuple[str, ...]:
        """Sine, cosine and perhaps a column telling where the angle is missing."""
        name = self.subject.name
        indicator = (f"{name}:?",) if self.subject.missing == "indicator" else ()
        return (f"sin(k*{name})", f"cos(k*{name})", *indicator)

    def encode(self, column: Column) -> list[CodedColumn]:
        """Sine and cosine; a missing angle is the centre of the circle."""
        numbers, bounds = _checked_numbers(column, self.subject)
        if bounds:
            raise SpecError(f"attribute {self.subject.name}: a censored angle can't be encoded: use copy")
        gone = np.isnan(numbers)
        with np.errstate(over="ignore"):
            angle = 2 * np.pi * np.where(gone, 0.0, numbers) / self.unit
        _check_finite(angle, column, self.subject)
        sine, cosine = np.where(gone, 0.0, np.sin(angle)), np.where(gone, 0.0, np.cos(angle))
        columns = [CodedColumn(self.names[0], sine), CodedColumn(self.names[1], cosine)]
        return columns + _indicator(self.subject, gone)

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """The angle of the point (cosine, sine), from 0 up to the unit."""
        sine, cosine = (coded_numbers(texts, self.subject.name) for texts in coded[:2])
        angle = np.arctan2(sine, cosine) / (2 * np.pi) * self.unit
        return np.array([tcl(value % self.unit) for value in angle.tolist()], dtype=object)

    @property
    def log_density_shift(self) -> float:
        """Densities of the coded target are per radian."""
        return math.log(2 * math.pi / self.unit)


def rectangular(subject: Subject) -> RectangularEncoder:
    """rectan needs the unit of the angle, such as 360 or 24."""
    unit = subject.coding.unit
    if unit is None:
        raise SpecError(f'no unit given for "rectan" encoded attribute "{subject.name}": add unit=modulus')
    if not unit > 0 or math.isinf(unit):
        raise SpecError(f'bad unit {unit:g} for attribute "{subject.name}": should be a positive number')
    return RectangularEncoder(subject, unit)


def _is_numerical(prior: AttributePrior) -> bool:
    return prior.type in NUMERICAL


def _is_angular(prior: AttributePrior) -> bool:
    return prior.type == "angular"


encodings.add("rectan", Encoding("rectan", rectangular, ("angular",), _is_angular, place=3))
encodings.add("nm-abs", Encoding("nm-abs", normalised_by_median, NUMERICAL, _is_numerical, place=12))
encodings.add("nm-sqr", Encoding("nm-sqr", normalised_by_mean, NUMERICAL, place=13))


def whole(texts: Texts) -> Texts:
    """Decoded integers made whole again: nine digits may have left 2.99999999 for 3."""
    return np.array([text if is_integer(text) else _nearest(text) for text in texts], dtype=object)


def _nearest(text: str) -> str:
    bare = text.strip(":")
    number = parse_number(bare)
    return text if number is None else text.replace(bare, str(math.floor(number + 0.5)))
