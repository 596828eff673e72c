"""How an attribute is to be presented to a method: data about encodings, not the encodings themselves."""

from __future__ import annotations

from dataclasses import dataclass

SCALES = ("none", "linear", "sqrt")
MISSING_TREATMENTS = ("indicator", "impute", "error")


@dataclass(frozen=True)
class Coding:
    """An encoding's name and options; `missing` None means: an indicator where the range admits it."""

    method: str
    passive: str | None = None
    center: float | None = None
    unit: float | None = None
    scale: str = "sqrt"
    missing: str | None = None


@dataclass(frozen=True)
class Normalization:
    """Location and spread of a numerical attribute in one training set (divisor n − 1, nine digits).

    `least` and `greatest` are its extremes, to the bit; None where a file of DELVE's does not tell them.
    """

    mean: float
    standard_deviation: float
    median: float
    absolute_deviation: float
    least: float | None = None
    greatest: float | None = None
