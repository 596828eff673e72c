"""Benchmark problems of training time: all cases are trained on, and all must be answered correctly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from redelve.errors import SpecError
from redelve.nets import Architecture, Data, layered

MOST_BITS = 16
"""Parity of so many bits has 65,536 cases."""

SPIRAL_POINTS = 97
SPIRAL_RADIUS = 6.5
SPIRAL_LAYERS = (2, 5, 5, 5, 1)

EXAMPLES = "xor, encoder, encoder-8-3, parity-3, parity-4-8, two-spirals"


@dataclass(frozen=True, eq=False)
class TrainingProblem:
    """Inputs and targets of 0 and 1 (inputs of the spirals apart), and the network that is to learn them."""

    name: str
    title: str
    architecture: Architecture
    data: Data

    @property
    def layers(self) -> str:
        """The network as Hamey writes it: 2-2-1."""
        return "-".join(map(str, self.architecture.sizes))


def exclusive_or() -> TrainingProblem:
    """Two inputs that differ (Rumelhart, Hinton and Williams 1986, page 334)."""
    data = Data([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]])
    return TrainingProblem("xor", "exclusive-or", _network(2, 2, 1), data)


def encoder(patterns: int = 10, hidden: int = 5) -> TrainingProblem:
    """One of n inputs is 1; the outputs are to say which, through fewer hidden units (Fahlman 1988).

    >>> encoder(8, 3).layers
    '8-3-8'
    """
    if patterns < 2 or hidden < 1:
        raise SpecError(f"encoder {patterns}-{hidden}-{patterns}: give 2 or more inputs and 1 hidden unit")
    name = f"encoder-{patterns}-{hidden}"
    data = Data(np.eye(patterns), np.eye(patterns))
    return TrainingProblem(name, "encoder/decoder", _network(patterns, hidden, patterns), data)


def parity(bits: int = 3, hidden: int | None = None) -> TrainingProblem:
    """Whether the number of inputs that are 1 is odd; as many hidden units as inputs unless told otherwise.

    (Rumelhart, Hinton and Williams 1986, page 334.)
    """
    units = bits if hidden is None else hidden
    if not 2 <= bits <= MOST_BITS or units < 1:
        raise SpecError(f"parity of {bits} bits, {units} hidden units: give 2 to {MOST_BITS} bits, 1 unit")
    inputs = np.array(list(product((0, 1), repeat=bits)))
    name = f"parity-{bits}" if units == bits else f"parity-{bits}-{units}"
    return TrainingProblem(
        name, f"parity of {bits}", _network(bits, units, 1), Data(inputs, inputs.sum(1)[:, None] % 2)
    )


def two_spirals() -> TrainingProblem:
    """194 points on two spirals that are wound about each other three times (Lang and Witbrock 1988).

    Point i of 0 … 96 has the angle iπ/16 and the distance 6.5(104 − i)/104 from the centre; the other spiral
    is opposite. The network has three hidden layers of five units and all shortcuts, as theirs.
    """
    place = np.arange(SPIRAL_POINTS)
    angle, distance = place * np.pi / 16, SPIRAL_RADIUS * (104 - place) / 104
    one = np.column_stack((distance * np.sin(angle), distance * np.cos(angle)))
    targets = np.repeat([[1], [0]], SPIRAL_POINTS, axis=0)
    network = layered(SPIRAL_LAYERS, "logistic", "logistic", shortcuts=True)
    return TrainingProblem("two-spirals", "two spirals", network, Data(np.concatenate((one, -one)), targets))


def _network(*sizes: int) -> Architecture:
    return layered(sizes, "logistic", "logistic")


def _encoder_named(patterns: int = 10, hidden: int = 5, outputs: int | None = None) -> TrainingProblem:
    if outputs not in (None, patterns):
        raise SpecError(f"encoder {patterns}-{hidden}-{outputs}: an encoder has as many outputs as inputs")
    return encoder(patterns, hidden)


KINDS: dict[str, Callable[..., TrainingProblem]] = {
    "xor": exclusive_or,
    "exclusive-or": exclusive_or,
    "encoder": _encoder_named,
    "parity": parity,
    "two-spirals": two_spirals,
}
MOST_NUMBERS = {"encoder": 3, "parity": 2}


def problem_named(name: str) -> TrainingProblem:
    """A problem by its name: a kind, and numbers of units where it has any.

    >>> problem_named("encoder-10-5-10").name, problem_named("parity-4-8").layers
    ('encoder-10-5', '4-8-1')
    """
    kind = next((kind for kind in KINDS if name == kind or name.startswith(f"{kind}-")), None)
    words = [] if kind is None else name.removeprefix(kind).split("-")[1:]
    if kind is None or len(words) > MOST_NUMBERS.get(kind, 0) or not all(word.isdecimal() for word in words):
        raise SpecError(f'unknown problem "{name}": give one such as {EXAMPLES}')
    return KINDS[kind](*map(int, words))
