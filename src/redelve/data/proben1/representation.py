"""PROBEN1's rules of representation (section 2.4): which of redelve's encodings each attribute gets.

Fitted on training cases only, as all encodings of redelve: values of test cases may lie outside 0…1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from redelve.errors import SpecError
from redelve.model import CATEGORICAL, Assignment, Attribute, AttributePrior, Column, is_missing
from redelve.model.coding import Coding
from redelve.model.encodings import Encoder, bind, check_categorical, fit


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

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise SpecError(f'bad rule {name}="{getattr(self, name)}": choose {" or ".join(allowed)}')


CHOICES = {
    "missing": ("indicator", "fixed"),
    "ordinal": ("scale", "1-of-m", "thermometer"),
    "nominal": ("1-of-m", "binary"),
    "scaled_by": ("training", "all"),
}
STANDARD = Rules()
ORDINAL = {"scale": "0..1", "thermometer": "therm-01"}
NOMINAL = {"1-of-m": "1-of-n", "binary": "bits"}


def input_coding(attribute: Attribute, prior: AttributePrior, rules: Rules = STANDARD) -> Coding:
    """The encoding of an input."""
    missing = "error"
    if attribute.range.missing:
        missing = "indicator" if rules.missing == "indicator" else "impute"
    if prior.type == "binary":
        return Coding("0/1", prior.passive or attribute.range.values[0], missing=missing)
    if prior.type not in CATEGORICAL:
        return Coding("0..1", unit=prior.unit, missing=missing)
    method = ORDINAL.get(rules.ordinal) if prior.type == "ordinal" else None
    return Coding(method or NOMINAL[rules.nominal], missing=missing)


def output_coding(prior: AttributePrior) -> Coding:
    """The encoding of an output: 1-of-m for classes, even for two of them; numbers on the scale 0…1."""
    if prior.type in CATEGORICAL:
        return Coding("1-of-n", missing="error")
    return Coding("0..1", unit=prior.unit, missing="error")


def codings(given: Assignment, rules: Rules = STANDARD) -> dict[int, Coding]:
    """The encodings of a task's attributes by their numbers: for `TrainingSet.encode`, or to be written."""
    prior = given.task.prior
    chosen = {one.number: input_coding(one, prior.attribute(one.number), rules) for one in given.data.inputs}
    chosen.update({one.number: output_coding(prior.attribute(one.number)) for one in given.data.targets})
    return chosen


def represent_input(
    attribute: Attribute, prior: AttributePrior, training: Column, rules: Rules = STANDARD
) -> Encoder:
    """The encoder of an input, fitted on a training column."""
    return _fitted(attribute, prior, input_coding(attribute, prior, rules), training)


def represent_output(attribute: Attribute, prior: AttributePrior, training: Column) -> Encoder:
    """The encoder of an output, fitted on a training column."""
    return _fitted(attribute, prior, output_coding(prior), training)


def _fitted(attribute: Attribute, prior: AttributePrior, coding: Coding, training: Column) -> Encoder:
    check_categorical(attribute, prior)
    if prior.type in CATEGORICAL:
        return bind(attribute, prior, coding)
    check_writable(attribute, coding, training)
    return fit(attribute, prior, coding, training)


def check_writable(attribute: Attribute, coding: Coding, column: Column) -> None:
    """Refuse what a .dt file has no way to write: missing values not admitted, and censored ones."""
    numbers = column.numbers()
    texts = column.texts() if np.isnan(numbers).any() else ()
    for row in np.flatnonzero(np.isnan(numbers)).tolist():
        if not is_missing(texts[row]) or coding.missing == "error":
            raise SpecError(
                f'attribute {attribute.name}: "{texts[row]}" can\'t be written as a number from 0 to 1: '
                "leave such cases out, or admit the missing value in the attribute's range"
            )
