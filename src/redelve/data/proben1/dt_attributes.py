"""A .dt file's coefficients as attributes: inputs are real or binary, outputs a class, answers or numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redelve.data.proben1.dt_files import DtFile, number_text
from redelve.model import Attribute, AttributePrior, Column, NumberColumn, parse_range, written
from redelve.model.dataset import Numbers

ANY_LEVEL = "NLMH"


def input_column(number: int, values: Numbers) -> tuple[Attribute, Column, AttributePrior]:
    """An input; one that is never but 0 and 1, or −1 and 1, is binary (as tables 1 and 2 count them)."""
    different = set(np.unique(values).tolist())
    for levels, passive in (((0.0, 1.0), "0"), ((-1.0, 1.0), None)):
        if different <= set(levels):
            allowed = " ".join(number_text(level) for level in levels)
            texts = written(number_text(value) for value in values.tolist())
            prior = AttributePrior(number, ANY_LEVEL, "binary", passive=passive)
            return Attribute(number, f"in{number}", "?", parse_range(allowed)), texts, prior
    return real_input(number, values)


def real_input(number: int, values: Numbers) -> tuple[Attribute, Column, AttributePrior]:
    """An input that is taken as a number, whatever values it has."""
    attribute = Attribute(number, f"in{number}", "?", parse_range(_interval(values)))
    return attribute, NumberColumn(values), AttributePrior(number, ANY_LEVEL, "real")


def _interval(values: Numbers) -> str:
    """The scale that the values are on: 0…1 or −1…1 as in PROBEN1, else any."""
    if values.max() <= 1:
        if values.min() >= 0:
            return "[0,1]"
        if values.min() >= -1:
            return "[-1,1]"
    return "(-Inf,Inf)"


@dataclass(frozen=True, eq=False)
class TargetColumn:
    """A target: its name, range and type, and its values."""

    name: str
    range: str
    type: str
    column: Column
    description: str = ""

    def attribute(self, number: int) -> Attribute:
        """The target as an attribute with this number."""
        return Attribute(number, self.name, "?", parse_range(self.range), self.description)

    def prior(self, number: int) -> AttributePrior:
        """What is believed of it."""
        return AttributePrior(number, ANY_LEVEL, self.type, passive="0" if self.type == "binary" else None)


@dataclass(frozen=True, eq=False)
class Targets:
    """What a file's outputs are taken for."""

    name: str
    columns: tuple[TargetColumn, ...]
    cautions: tuple[str, ...] = ()


def targets_of(file: DtFile) -> Targets:
    """A class if all outputs are boolean and one of them is 1; yes or no each; else numbers."""
    outputs = file.outputs
    if file.header.real_out or not np.isin(outputs, (0.0, 1.0)).all():
        return real_targets(file)
    classes = outputs.shape[1]
    is_class = outputs.sum(axis=1) == 1
    if classes > 1 and is_class.all():
        levels = [f"c{place}" for place in range(1, classes + 1)]
        column = written(levels[place] for place in outputs.argmax(axis=1).tolist())
        about = "the output that is 1"
        return Targets("class", (TargetColumn("class", " ".join(levels), "nominal", column, about),))
    columns = tuple(_yes_or_no(place, values) for place, values in enumerate(outputs.T, start=1))
    if classes == 1:
        return Targets("outputs", columns)
    row = int(np.argmin(is_class))
    seen = " ".join(number_text(value) for value in outputs[row].tolist())
    caution = (
        f"the outputs are no 1-of-{classes} code ({seen} in line {file.lines[row]}), so they are taken as "
        f"{classes} separate answers, each 0 or 1"
    )
    return Targets("outputs", columns, (caution,))


def real_targets(file: DtFile) -> Targets:
    """Every output a number, whatever values it has."""
    return Targets("outputs", tuple(_real(place, values) for place, values in enumerate(file.outputs.T, 1)))


def _real(place: int, values: Numbers) -> TargetColumn:
    return TargetColumn(f"out{place}", _interval(values), "real", NumberColumn(values))


def _yes_or_no(place: int, values: Numbers) -> TargetColumn:
    texts = written(number_text(value) for value in values.tolist())
    return TargetColumn(f"out{place}", "0 1", "binary", texts)
