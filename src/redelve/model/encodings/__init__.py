"""Attribute values to numbers and back: fitted on training cases only (manual 7.3).

`default_coding` chooses by the prior, `measure` looks at a training column, `bind` makes the encoder.
Discrete encodings are tables of codes; decoding takes the nearest code, so a method may answer with any
numbers. Statistics are rounded to nine digits where DELVE wrote and reread them.
"""

from __future__ import annotations

from redelve.errors import ANY_FAULT, SpecError, blame
from redelve.model import CATEGORICAL, Attribute, AttributePrior, Column
from redelve.model.coding import MISSING_TREATMENTS, Coding, Normalization
from redelve.model.encodings import discrete, numeric, plain, unit  # noqa: F401  (each registers its encodings)
from redelve.model.encodings.encoder import (
    NUMERICAL,
    CodedColumn,
    Encoder,
    Encoding,
    Subject,
    alternatives,
    coded_columns,
    encoding_of,
    encodings,
    encodings_for,
)
from redelve.model.encodings.numeric import measure, whole

__all__ = [
    "CodedColumn",
    "Encoder",
    "Encoding",
    "Subject",
    "alternatives",
    "bind",
    "check_categorical",
    "coded_columns",
    "default_coding",
    "encodings",
    "encodings_for",
    "fit",
    "kept_for",
    "measure",
    "whole",
]


def default_coding(prior: AttributePrior) -> Coding:
    """The encoding chosen by the prior when a method does not choose (manual 7.3)."""
    chosen = next(one for one in encodings_for(prior.type) if one.is_default_for(prior))
    return Coding(chosen.name, prior.passive, prior.center, prior.unit, missing=prior.missing)


def bind(
    attribute: Attribute, prior: AttributePrior, coding: Coding, statistics: Normalization | None = None
) -> Encoder:
    """The encoder for an attribute; normalising encodings need the training statistics."""
    encoding = encoding_of(coding, prior.type)
    if encoding is None:
        raise SpecError(
            f'can\'t use "{coding.method}" encoding for "{prior.type}" attribute {attribute.name}: '
            f"choose one of {', '.join(one.name for one in encodings_for(prior.type))}"
        )
    if coding.missing is not None and coding.missing not in MISSING_TREATMENTS:
        raise SpecError(
            f'bad missing option for "{attribute.name}", "{coding.missing}": '
            f"should be {', '.join(MISSING_TREATMENTS)}"
        )
    try:
        return encoding.make(Subject(attribute, prior, coding, statistics))
    except ANY_FAULT as error:
        blame(f'encoding "{encoding.name}"', encoding.make, error)
        raise


def kept_for(coding: Coding, measured: Normalization) -> Normalization:
    """What of the statistics a coding needs: the extremes only where it says so, as DELVE has none."""
    used = (encoding_of(coding, kind) for kind in NUMERICAL)
    if any(one is not None and one.needs_extremes for one in used):
        return measured
    four = (measured.mean, measured.standard_deviation, measured.median, measured.absolute_deviation)
    return Normalization(*four)


def fit(attribute: Attribute, prior: AttributePrior, coding: Coding, training: Column) -> Encoder:
    """The encoder for an attribute, fitted on a training column and nothing else."""
    statistics = measure(training) if prior.type in ("real", "integer") else None
    return bind(attribute, prior, coding, statistics)


def check_categorical(attribute: Attribute, prior: AttributePrior) -> None:
    """A categorical attribute needs a range that can be listed, and an order that lists it."""
    if prior.type not in CATEGORICAL:
        return
    levels = attribute.range.values
    if prior.order is not None and sorted(prior.order) != sorted(levels):
        raise SpecError(
            f"the order given for attribute {attribute.name} is no rearrangement of its values: "
            f"{' '.join(prior.order)} against {' '.join(levels)}"
        )
