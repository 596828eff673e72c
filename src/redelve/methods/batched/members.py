"""Networks to be trained, wherever they come from; those that fit together are one batch of the engine."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.model.dataset import Numbers
from redelve.nets import (
    Adam,
    Architecture,
    Data,
    Engine,
    GradientDescent,
    MaxEpochs,
    Patience,
    Procedure,
    Rprop,
    ScaledConjugateGradients,
    Sets,
    StoppingRule,
    WeightDecay,
    draw,
    padded,
    train,
)
from redelve.nets.algorithms import Algorithm
from redelve.nets.error_functions import ErrorFunction

LARGEST_STACK = 2**27
"""Members with data of their own are stacked up to so many numbers (1 GiB); more are several batches."""

ENOUGH = 8
"""So many members with the same data are a batch by themselves on NumPy: they share one copy of it."""

PADDED = 1.125
"""Data are padded by an eighth at most."""

SOLVERS = ("rprop", "adam", "sgd", "scg")


@dataclass(frozen=True)
class MemberSettings:
    """What the members of a batch have in common."""

    architecture: Architecture
    error: ErrorFunction
    solver: str
    batch_size: int | None
    max_iter: int
    patience: int | None
    measure_every: int
    engine: Engine

    def stopping(self) -> StoppingRule:
        """At most so many epochs; with validation cases, when patience ends."""
        limit = MaxEpochs(self.max_iter)
        return limit if self.patience is None else Patience(self.patience) | limit

    @property
    def pads(self) -> bool:
        """Whether members of nearly as many cases are one batch: padding changes the order of sums.

        On NumPy a fit must be the same in any company, to the bit; and mini-batches are dealt by position.
        """
        return self.batch_size is None and not self.engine.is_numpy


@dataclass(frozen=True, eq=False)
class MemberData:
    """Cases of one network, ready for the engine."""

    inputs: Numbers
    targets: Numbers
    weights: Numbers | None = None

    @cached_property
    def digest(self) -> bytes:
        """A hash of shapes and values."""
        found = hashlib.blake2b(digest_size=16)
        for array in (self.inputs, self.targets, self.weights):
            if array is not None:
                found.update(str(array.shape).encode())
                found.update(np.ascontiguousarray(array).data)
        return found.digest()

    @property
    def shape(self) -> tuple[int, bool]:
        """What data of one batch have in common: the number of cases, and whether they have weights."""
        return len(self.inputs), self.weights is not None


@dataclass(frozen=True, eq=False)
class NetworkMember:
    """A network to be trained: settings, cases, first weights' seed, and the numbers that are its own."""

    settings: MemberSettings
    training: MemberData
    validation: MemberData | None
    seed: int
    decay: float
    rate: float
    momentum: float

    @cached_property
    def key(self) -> bytes:
        """A hash of all that decides how it ends."""
        own = (self.settings, self.seed, self.decay, self.rate, self.momentum)
        found = hashlib.blake2b(repr(own).encode(), digest_size=16)
        found.update(self.training.digest)
        found.update(b"" if self.validation is None else self.validation.digest)
        return found.digest()

    @property
    def batch(self) -> tuple[Any, ...]:
        """Members with equal ones can be trained as one batch; with padding, if their sizes are near."""
        if self.settings.pads:
            return self.settings, self.validation is None, self.decay > 0
        watched = None if self.validation is None else self.validation.shape
        return self.settings, self.training.shape, watched, self.decay > 0

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of its cases, for training and for validation."""
        return len(self.training.inputs), 0 if self.validation is None else len(self.validation.inputs)

    @property
    def size(self) -> int:
        """How many numbers its cases are."""
        watched = 0 if self.validation is None else self.validation.inputs.size
        return self.training.inputs.size + watched


@dataclass(frozen=True, eq=False)
class TrainedMember:
    """A network after training; `validation_error` is NaN without validation cases."""

    weights: Numbers
    epochs: int
    training_error: float
    validation_error: float


def train_members(members: Sequence[NetworkMember]) -> list[TrainedMember]:
    """Train them all, in as few batches as there are shapes; no member depends on its company."""
    found: dict[int, TrainedMember] = {}
    for places in batches(members):
        found.update(zip(places, _trained([members[place] for place in places]), strict=True))
    return [found[place] for place in range(len(members))]


def batches(members: Sequence[NetworkMember]) -> list[list[int]]:
    """The places of the members of each batch."""
    alike: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, member in enumerate(members):
        alike[member.batch].append(place)
    near = [some for places in alike.values() for some in _near(members, places)]
    return [part for places in near for part in _parts(members, places)]


def _near(members: Sequence[NetworkMember], places: Sequence[int]) -> list[list[int]]:
    """Members of one kind by their numbers of cases: a larger one is in a batch of smaller ones if near."""
    found: list[list[int]] = []
    for place in sorted(places, key=lambda one: members[one].counts):
        fewest = members[found[-1][0]].counts if found else (0, 0)
        if all(count <= PADDED * least for count, least in zip(members[place].counts, fewest, strict=True)):
            found[-1].append(place)
        else:
            found.append([place])
    return found


def _parts(members: Sequence[NetworkMember], places: Sequence[int]) -> list[list[int]]:
    """Members of one shape: those with the same data by themselves, if enough; the others in stacks."""
    same: dict[bytes, list[int]] = defaultdict(list)
    for place in places:
        same[_data_of(members[place])].append(place)
    enough = ENOUGH if members[places[0]].settings.engine.is_numpy else LARGEST_STACK
    found = [each for each in same.values() if len(each) >= enough]
    rest = [place for each in same.values() if len(each) < enough for place in each]
    step = max(LARGEST_STACK // members[places[0]].size, 1)
    return found + [rest[start : start + step] for start in range(0, len(rest), step)]


def _data_of(member: NetworkMember) -> bytes:
    return member.training.digest + (b"" if member.validation is None else member.validation.digest)


def _trained(members: Sequence[NetworkMember]) -> list[TrainedMember]:
    settings, seeds = members[0].settings, [member.seed for member in members]
    procedure = Procedure(
        _algorithm(members),
        settings.stopping(),
        settings.error,
        strips=settings.measure_every,
        decay=_decay(members),
    )
    watched = None if members[0].validation is None else _data([member.validation for member in members])
    sets = Sets(_data([member.training for member in members]), watched)
    first = first_weights(settings.architecture, seeds)
    made = train(settings.architecture, first, sets, procedure, seeds=seeds, engine=settings.engine)
    rows = zip(made.weights, made.epochs, made.lowest_training, made.lowest_validation, strict=True)
    return [
        TrainedMember(weights.astype(np.float64), int(epochs), float(learnt), float(judged))
        for weights, epochs, learnt, judged in rows
    ]


def _algorithm(members: Sequence[NetworkMember]) -> Algorithm:
    settings = members[0].settings
    if settings.solver == "rprop":
        return Rprop(variant="irprop-")
    if settings.solver == "scg":
        return ScaledConjugateGradients()
    rates = tuple(member.rate for member in members)
    if settings.solver == "adam":
        return Adam(rates, batch_size=settings.batch_size)
    # Rates are for the mean over a batch; the engine's gradients are sums.
    cases = [len(member.training.inputs) for member in members]
    counts = [min(settings.batch_size or count, count) for count in cases]
    momenta = tuple(member.momentum for member in members)
    return GradientDescent(
        tuple(rate / count for rate, count in zip(rates, counts, strict=True)),
        momentum=momenta,
        batch_size=settings.batch_size,
    )


def _decay(members: Sequence[NetworkMember]) -> WeightDecay | None:
    strengths = tuple(member.decay for member in members)
    return WeightDecay(strengths) if max(strengths) > 0 else None


def _data(given: Sequence[MemberData | None]) -> Data:
    parts = [each for each in given if each is not None]
    if len({each.digest for each in parts}) == 1:
        return Data(parts[0].inputs, parts[0].targets, parts[0].weights)
    weights = [each.weights for each in parts if each.weights is not None]
    if len({len(each.inputs) for each in parts}) > 1 or 0 < len(weights) < len(parts):
        return padded(
            [each.inputs for each in parts],
            [each.targets for each in parts],
            [np.ones(len(each.inputs)) if each.weights is None else each.weights for each in parts],
        )
    return Data(
        np.array([each.inputs for each in parts]),
        np.array([each.targets for each in parts]),
        np.array(weights) if weights else None,
    )


def first_weights(architecture: Architecture, seeds: Sequence[int]) -> NDArray[np.float64]:
    """Uniform between ±√(6 / (units feeding + units fed)), biases too (Glorot and Bengio 2010, eq. 16)."""
    units = draw(architecture, seeds, "weights", -1.0, 1.0)
    for wire in architecture.wiring.wires:
        units[:, wire.place] *= np.sqrt(6.0 / (wire.width - wire.constant + wire.height))
    return units
