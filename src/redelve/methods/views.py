"""A training set as arrays: what methods that want numbers are given, and the way back for their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.distributions import Distribution, Normal
from redelve.answers.predictions import (
    ClassProbabilities,
    DecisionValues,
    Guesses,
    Target,
    TargetDistributions,
)
from redelve.errors import PredictionError, SpecError
from redelve.methods.shown import EncodedTraining, TestInputs, TrainingSet
from redelve.model import Censored
from redelve.model.dataset import Numbers
from redelve.model.encodings import coded_columns, default_coding

ROUNDING = 1e-9
"""A probability that is less below 0 is a rounding error."""

Labels = NDArray[np.int64]
Inputs = Literal["encoded", "frame"]
Takes = Literal["all", "numerical", "categorical"]

SMALLEST_SHARE = 1e-6
"""A predictive standard deviation is never less than this share of that of the training targets."""


def is_numerical(target: Target) -> bool:
    """Whether a target is predicted by numbers."""
    return target.kind != "categorical"


def check_takes(takes: str) -> None:
    """Refuse a word that is none of those for kinds of target."""
    if takes not in get_args(Takes):
        raise SpecError(f'takes is "{takes}": choose one of {", ".join(get_args(Takes))}')


def why_not_taken(name: str, takes: Takes, targets: Sequence[Target]) -> str | None:
    """What keeps a method that takes only some kinds of target from these."""
    for target in targets:
        kind = "numerical" if is_numerical(target) else "categorical"
        if takes not in ("all", kind):
            return f'{name} takes {takes} targets only, but target "{target.name}" is {target.kind}'
    return None


def known_numbers(training: TrainingSet, position: int) -> Numbers:
    """A numerical target's training values; a censored one is its bound, a missing one is left out."""
    column = training.target_columns[position]
    numbers = column.numbers()
    odd = np.flatnonzero(np.isnan(numbers))
    if len(odd):
        texts, numbers = column.texts(), numbers.copy()
        for row in odd.tolist():
            bound = Censored.parse(texts[row])
            numbers[row] = np.nan if bound is None else bound.number
    return numbers[~np.isnan(numbers)]


@dataclass(frozen=True, eq=False)
class View:
    """A training set as a method is shown it.

    `encoded`: inputs by DELVE's rules (manual 7.3) and numerical targets normalised by them. `frame`: the
    user's own columns, unchanged, and targets as they are there. An angular target is two columns, sine and
    cosine, in both.
    """

    training: TrainingSet
    mode: Inputs = "encoded"

    @property
    def targets(self) -> tuple[Target, ...]:
        """What is to be predicted."""
        return self.training.targets

    @cached_property
    def encoded(self) -> EncodedTraining:
        """The encodings, fitted; a target's are without a column for missing values."""
        prior = self.training.prior
        codings = {
            one.number: replace(default_coding(prior.attribute(one.number)), missing="error")
            for one in self.training.target_attributes
        }
        return self.training.encode(codings)

    @cached_property
    def inputs(self) -> Any:
        """The training inputs: an array, or a data frame."""
        return self.encoded.inputs if self.mode == "encoded" else self.training.frame()

    def test(self, inputs: TestInputs) -> Any:
        """The test inputs in the same form."""
        return self.encoded.encode_inputs(inputs) if self.mode == "encoded" else inputs.frame()

    @cached_property
    def numerical(self) -> tuple[int, ...]:
        """Positions of the targets that are predicted by numbers."""
        return tuple(k for k, target in enumerate(self.targets) if is_numerical(target))

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """Positions of the targets that are predicted by levels."""
        return tuple(k for k, target in enumerate(self.targets) if not is_numerical(target))

    def columns(self, position: int) -> Numbers:
        """A numerical target as numbers to learn: a row for each case; two columns if it is angular."""
        if self.mode == "frame" and self.targets[position].kind != "angular":
            numbers = known_numbers(self.training, position)
            if len(numbers) == len(self.training):
                return numbers[:, None]
        encoder = self.encoded.target_encoders[position]
        coded = coded_columns(encoder, self.training.target_columns[position], len(self.training))
        return np.column_stack([column.numbers for column in coded])

    def outputs(self, position: int) -> Any:
        """A target as it is in the user's frame; numbers where the user has them as texts."""
        given, target = self.training.given_target(position), self.targets[position]
        if target.kind == "categorical" or _are_numbers(given):
            return given
        return known_numbers(self.training, position)

    def location_and_scale(self, position: int) -> tuple[float, float]:
        """What a learnt 0 stands for, and how much a learnt 1 adds to it."""
        return (0.0, 1.0) if self.mode == "frame" else self.encoded.location_and_scale(position)

    def decoded(self, position: int, learnt: Numbers) -> Numbers:
        """Guesses in the original domain for predictions of `columns`, a row for each case."""
        target = self.targets[position]
        if target.kind == "angular":
            assert target.unit is not None
            return np.asarray(
                np.arctan2(learnt[:, 0], learnt[:, 1]) / (2 * np.pi) * target.unit % target.unit
            )
        location, scale = self.location_and_scale(position)
        return np.asarray(location + scale * learnt[:, 0])

    def labels(self, position: int) -> Labels:
        """The level index of every training case of a categorical target."""
        values = self.training.target_values(position)
        if np.isnan(values).any():
            case = int(np.argmax(np.isnan(values)))
            raise PredictionError(
                f'training case {case + 1}: target "{self.targets[position].name}" is missing: '
                "leave such cases out of the prototask"
            )
        return values.astype(np.int64)

    def normal(self, position: int, learnt: Numbers, scale: Numbers) -> Normal | None:
        """The predictive distribution in the original domain; None for a target that has none."""
        if self.targets[position].kind not in ("real", "integer"):
            return None
        least = SMALLEST_SHARE * float(self.columns(position).std()) or SMALLEST_SHARE
        original = np.maximum(scale, least) * self.location_and_scale(position)[1]
        return Normal(self.decoded(position, learnt.reshape(len(learnt), -1)), original)


def _are_numbers(values: Any) -> bool:
    import pandas as pd

    dtype = values.dtype
    return bool(dtype.is_numeric() if hasattr(dtype, "is_numeric") else pd.api.types.is_numeric_dtype(dtype))


@dataclass(frozen=True, eq=False)
class ViewPart:
    """What is predicted of one target, in the original domain.

    `told` are the probabilities to the last bit as an estimator gave them, zeros included.
    """

    guesses: Numbers
    probabilities: Numbers | None = None
    distribution: Distribution | None = None
    told: Numbers | None = None
    decision_values: Numbers | None = None
    """Of a classifier that tells no probabilities."""


def answer_of(targets: Sequence[Target], parts: Mapping[int, ViewPart] | Sequence[ViewPart]) -> Answer:
    """The answer that the parts for all targets make; class probabilities only where there is one target."""
    ordered = [parts[position] for position in range(len(targets))]
    probabilities, distributions = None, None
    if len(targets) == 1 and ordered[0].probabilities is not None:
        probabilities = ClassProbabilities.from_probabilities(
            targets[0], ordered[0].probabilities, ordered[0].told
        )
    scores = ordered[0].decision_values if len(targets) == 1 else None
    known = [part.distribution for part in ordered if part.distribution is not None]
    if len(known) == len(targets):
        distributions = TargetDistributions(tuple(targets), tuple(known))
    guesses = Guesses(tuple(targets), tuple(part.guesses for part in ordered))
    return Answer(
        guesses=guesses,
        probabilities=probabilities,
        distributions=distributions,
        decision_values=None if scores is None else DecisionValues(targets[0], scores),
    )


def regression_parts(view: View, means: Numbers, deviations: Numbers | None) -> dict[int, ViewPart]:
    """Guesses, and normal distributions where deviations are told, for columns of all numerical targets."""
    parts, start = {}, 0
    for position in view.numerical:
        end = start + (2 if view.targets[position].kind == "angular" else 1)
        learnt, distribution = means[:, start:end], None
        if deviations is not None:
            distribution = view.normal(position, learnt, deviations[:, start])
        parts[position] = ViewPart(view.decoded(position, learnt), distribution=distribution)
        start = end
    return parts


def not_negative(who: str, told: Numbers) -> Numbers:
    """Probabilities as they were told, rounding errors below 0 taken as 0; negative ones are refused.

    >>> not_negative("svm", np.array([[1.0, -1e-17]])).tolist()
    [[1.0, 0.0]]
    """
    below = told < 0
    if not below.any():
        return told
    case, column = (int(place) for place in np.argwhere(told == np.nanmin(told))[0])
    if told[case, column] < -ROUNDING:
        raise PredictionError(
            f"{who} told the probability {told[case, column]:.6g} for test case {case + 1}, column "
            f"{column + 1}: expected a finite number of at least 0"
        )
    return np.where(below, 0.0, told)


def without_zeros(probabilities: Numbers, case_count: int) -> Numbers:
    """A level held to be impossible gets 1/(n + K) all the same, and the others make room for it.

    n is the number of training cases, K that of levels: so few cases cannot show that a level never occurs,
    and its log loss would be infinite. The likeliest level stays the likeliest.

    >>> without_zeros(np.array([[0.25, 0.75, 0.0]]), 7).tolist()
    [[0.225, 0.675, 0.1]]
    """
    share = 1 / (case_count + probabilities.shape[1])
    impossible = probabilities <= 0
    room = 1 - share * impossible.sum(axis=1, keepdims=True)
    total = np.where(impossible, 0.0, probabilities).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Numbers = np.where(impossible, share, probabilities * room / total)
    return shares


def one_level(labels: Labels, level_count: int, count: int) -> ViewPart:
    """The answer where all training cases have the same level: that one, with probability (n + 1)/(n + K)."""
    shares = np.full((count, level_count), 1 / (len(labels) + level_count))
    shares[:, labels[0]] = (len(labels) + 1) / (len(labels) + level_count)
    return ViewPart(np.full(count, float(labels[0])), shares)
