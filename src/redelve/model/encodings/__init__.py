"""Attribute values to numbers and back: fitted on training cases only (manual 7.3).

`default_coding` chooses by the prior, `measure` looks at a training column, `bind` makes the encoder.
Discrete encodings are tables of codes; decoding takes the nearest code, so a method may answer with any
numbers. Statistics are rounded to nine digits where DELVE wrote and reread them.
"""

from __future__ import annotations

from redelve.errors import SpecError
from redelve.model import CATEGORICAL, Attribute, AttributePrior, Column
from redelve.model.coding import MISSING_TREATMENTS, Coding, Normalization
from redelve.model.encodings import discrete, numeric, plain, unit  # noqa: F401  (each registers its encodings)
from redelve.model.encodings.encoder import CodedColumn, Encoder, Subject, alternatives, encodings
from redelve.model.encodings.numeric import measure, whole
from redelve.model.encodings.unit import kept_for

__all__ = [
    "CodedColumn",
    "Encoder",
    "Subject",
    "alternatives",
    "bind",
    "check_categorical",
    "default_coding",
    "encodings",
    "fit",
    "kept_for",
    "measure",
    "whole",
]

ALLOWED = {
    "angular": ("ignore", "copy", "rectan", "0..1"),
    "binary": ("ignore", "copy", "-1/+1", "0/1", "1-of-n"),
    "nominal": ("ignore", "copy", "1-of-n", "0-up", "1-up", "therm", "therm-01", "bits"),
    "ordinal": ("ignore", "copy", "1-of-n", "0-up", "1-up", "therm", "therm-01", "bits", "0..1"),
    "integer": ("ignore", "copy", "nm-abs", "nm-sqr", "0..1"),
    "real": ("ignore", "copy", "nm-abs", "nm-sqr", "0..1"),
}
DEFAULT = {
    "angular": "rectan",
    "nominal": "1-of-n",
    "ordinal": "therm",
    "integer": "nm-abs",
    "real": "nm-abs",
}


def default_coding(prior: AttributePrior) -> Coding:
    """The encoding chosen by the prior when a method does not choose (manual 7.3)."""
    if prior.type == "binary":
        method = "0/1" if prior.passive is not None else "-1/+1"
    else:
        method = DEFAULT[prior.type]
    return Coding(method, prior.passive, prior.center, prior.unit, missing=prior.missing)


def bind(
    attribute: Attribute, prior: AttributePrior, coding: Coding, statistics: Normalization | None = None
) -> Encoder:
    """The encoder for an attribute; normalising encodings need the training statistics."""
    if coding.method not in ALLOWED[prior.type]:
        raise SpecError(
            f'can\'t use "{coding.method}" encoding for "{prior.type}" attribute {attribute.name}: '
            f"choose one of {', '.join(ALLOWED[prior.type])}"
        )
    if coding.missing is not None and coding.missing not in MISSING_TREATMENTS:
        raise SpecError(
            f'bad missing option for "{attribute.name}", "{coding.missing}": '
            f"should be {', '.join(MISSING_TREATMENTS)}"
        )
    return encodings[coding.method](Subject(attribute, prior, coding, statistics))


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
