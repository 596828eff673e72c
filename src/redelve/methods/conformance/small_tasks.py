"""Small generated tasks of every kind, on which `check_method` tries a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from redelve.answers.predictions import Target, Truth, targets_of
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Attribute, AttributePrior, Cases, Column, NumberColumn, Prior, parse_range, written
from redelve.model.dataset import Numbers
from redelve.seeds import generator

LEVELS = {"binary": ("no", "yes"), "nominal": ("red", "green", "blue"), "ordinal": ("low", "middle", "high")}
RANGES = {"real": "(-Inf,Inf)", "integer": "-Inf..Inf", "angular": "[0,360)"}
TURN = 360.0
EVERY_KIND = ("real", "integer", "binary", "nominal", "ordinal", "angular")


@dataclass(frozen=True)
class SmallTask:
    """A training set, test inputs, and the truth about them."""

    training: TrainingSet
    inputs: TestInputs
    truths: tuple[Truth, ...] = field(repr=False)

    @property
    def targets(self) -> tuple[Target, ...]:
        """What is to be predicted."""
        return self.training.targets

    def reordered(self, order: Sequence[int]) -> TestInputs:
        """Some of the test inputs, in another order."""
        return TestInputs(
            self.inputs.attributes, self.inputs.prior, self.inputs.cases.select(np.array(order))
        )


def make_trial(
    target: str,
    *,
    inputs: Sequence[str] = ("real", "real", "real"),
    training: int = 40,
    testing: int = 12,
    quirk: str = "",
) -> SmallTask:
    """A task with inputs and a target of the given types; several targets are separated by blanks.

    Quirks: "missing" leaves out some values of the first input and of the first categorical one, "constant"
    makes all values of the first input equal, "single" gives all training cases the same level.
    """
    kinds, count = target.split(), training + testing
    rng = generator("check", target, *inputs, training, testing, quirk)
    hidden = rng.normal(size=(count, len(inputs)))
    if quirk == "constant":
        hidden[:, 0] = 0.5
    signals = [hidden @ rng.normal(size=len(inputs)) + 0.3 * rng.normal(size=count) for _ in kinds]
    if quirk == "single":
        signals = [np.where(np.arange(count) < training, -9.0, signal) for signal in signals]
    values = [_values(kind, column) for kind, column in zip(inputs, hidden.T, strict=True)]
    if quirk == "missing":
        _leave_out(values, inputs, rng)
    every = _attributes([*inputs, *kinds], may_be_missing=quirk == "missing", inputs=len(inputs))
    prior = Prior(
        "check", tuple(_prior(one, kind) for one, kind in zip(every, [*inputs, *kinds], strict=True))
    )
    return _trial(
        every, prior, values, [_values(*pair) for pair in zip(kinds, signals, strict=True)], training
    )


def _values(kind: str, signal: Numbers) -> list[str]:
    if kind in LEVELS:
        levels = LEVELS[kind]
        cuts = np.array([0.0]) if len(levels) == 2 else np.array([-0.5, 0.5])
        return [levels[position] for position in np.searchsorted(cuts, signal)]
    if kind == "integer":
        return [str(int(value)) for value in np.round(4 * signal)]
    numbers = np.round(np.mod(60 * signal, TURN), 3) if kind == "angular" else np.round(10 + 5 * signal, 6)
    return [repr(value) for value in numbers.tolist()]


def _leave_out(values: list[list[str]], kinds: Sequence[str], rng: np.random.Generator) -> None:
    first = next((k for k, kind in enumerate(kinds) if kind in LEVELS), 0)
    for position in {0, first}:
        for row in np.flatnonzero(rng.random(len(values[position])) < 0.3).tolist():
            values[position][row] = "?"


def _attributes(kinds: Sequence[str], *, may_be_missing: bool, inputs: int) -> list[Attribute]:
    attributes = []
    for number, kind in enumerate(kinds, start=1):
        text = RANGES.get(kind) or " ".join(LEVELS[kind])
        missing = " ?" if may_be_missing and number <= inputs else ""
        name = f"{'x' if number <= inputs else 'y'}{number}"
        attributes.append(Attribute(number, name, "u", parse_range(text + missing)))
    return attributes


def _prior(attribute: Attribute, kind: str) -> AttributePrior:
    return AttributePrior(attribute.number, "nlmh", kind, unit=TURN if kind == "angular" else None)


def _trial(
    every: Sequence[Attribute],
    prior: Prior,
    inputs: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    training: int,
) -> SmallTask:
    count = len(inputs)
    shown, wanted = tuple(every[:count]), tuple(every[count:])
    learnt = tuple(_column(values[:training]) for values in (*inputs, *targets))
    asked = tuple(_column(values[training:]) for values in inputs)
    testing = len(targets[0]) - training
    predicted = targets_of(wanted, prior)
    return SmallTask(
        TrainingSet(shown, wanted, prior, Cases(learnt, training), targets=predicted),
        TestInputs(shown, prior, Cases(asked, testing)),
        tuple(_truth(one, texts[training:]) for one, texts in zip(predicted, targets, strict=True)),
    )


def _column(values: Sequence[str]) -> Column:
    try:
        return NumberColumn(np.array(values, dtype=np.float64))
    except ValueError:
        return written(values)


def _truth(target: Target, texts: Sequence[str]) -> Truth:
    known: Mapping[str, int] = {level: index for index, level in enumerate(target.levels)}
    return Truth.exact(target, [float(known[text]) if known else float(text) for text in texts])
