"""What a network looks like: layers, activations, shortcuts, biases, and where each weight lives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets.activations import ACTIVATIONS


@dataclass(frozen=True)
class Layer:
    """One layer of hidden or output units: its rows in the table of units, and its activation."""

    rows: slice
    activation: str


@dataclass(frozen=True)
class Wire:
    """The connections out of one layer, as a matrix: a row for each unit fed, a column for each unit feeding.

    `source` is None for the inputs, else the feeding layer's rows, with its constant row if there is one.
    """

    source: slice | None
    targets: slice
    width: int
    constant: bool
    start: int
    first: bool

    @property
    def height(self) -> int:
        """How many units it feeds."""
        return int(self.targets.stop - self.targets.start)

    @property
    def place(self) -> slice:
        """Where its weights lie among all weights of a network: row after row, the bias last in each."""
        return slice(self.start, self.start + self.height * self.width)


@dataclass(frozen=True)
class Wiring:
    """All layers and wires; the table of units has a constant row after a layer that carries biases."""

    layers: tuple[Layer, ...]
    wires: tuple[Wire, ...]
    rows: int
    constant_rows: tuple[int, ...]


@dataclass(frozen=True)
class Architecture:
    """A feed-forward network with all connections between adjacent layers, or with all shortcuts too.

    `sizes` counts the units of each layer from inputs to outputs; `activations` names one for each layer but
    the inputs. Weights counts are PROBEN1's, biases included (Prechelt 1994, section 2.7 and table 7).

    >>> cancer1 = Architecture((9, 4, 2, 2), ("softsign", "softsign", "identity"), shortcuts=True)
    >>> cancer1.connection_count
    100
    """

    sizes: tuple[int, ...]
    activations: tuple[str, ...]
    shortcuts: bool = False
    biases: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(self.sizes))
        object.__setattr__(self, "activations", tuple(self.activations))
        if len(self.sizes) < 2 or min(self.sizes) < 1:
            raise SpecError(f"layer sizes {self.sizes}: give at least inputs and outputs, each 1 or more")
        if len(self.activations) != len(self.sizes) - 1:
            raise SpecError(
                f"{len(self.activations)} activations {self.activations} for layer sizes {self.sizes}: "
                f"give {len(self.sizes) - 1}, one for each layer but the inputs"
            )
        for name in self.activations:
            ACTIVATIONS[name]
        if "softmax" in self.activations[:-1]:
            raise SpecError(f'activations {self.activations}: "softmax" is for the outputs only')

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return self.sizes[0]

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return self.sizes[-1]

    @property
    def connection_count(self) -> int:
        """How many weights a network has, biases included."""
        return int(self.wiring.wires[-1].place.stop)

    def groups(self) -> dict[str, NDArray[np.intp]]:
        """Which weights belong together, by name: those out of each input, of each layer, and biases.

        Layers are counted from 0, the inputs; inputs from 1. Every weight is in exactly one group.

        >>> groups = Architecture((2, 3, 1), ("tanh", "identity"), shortcuts=True).groups()
        >>> list(groups)
        ['input 1 to layer 1', 'input 2 to layer 1', 'input 1 to layer 2', 'input 2 to layer 2', \
'layer 1 to layer 2', 'biases of layer 1', 'biases of layer 2']
        >>> groups["input 2 to layer 1"].tolist()
        [1, 4, 7]
        """
        found: dict[str, NDArray[np.intp]] = {}
        biases: dict[str, NDArray[np.intp]] = {}
        for source, wire in enumerate(self.wiring.wires):
            places = np.arange(wire.start, wire.place.stop).reshape(wire.height, wire.width)
            row = 0
            for layer in range(source + 1, len(self.sizes) if self.shortcuts else source + 2):
                own = places[row : row + self.sizes[layer]]
                row += self.sizes[layer]
                if source == 0:
                    names = [f"input {number} to layer {layer}" for number in range(1, self.inputs + 1)]
                    found |= zip(names, own[:, : self.inputs].T, strict=True)
                else:
                    found[f"layer {source} to layer {layer}"] = own[:, : self.sizes[source]].ravel()
                if wire.constant:
                    biases[f"biases of layer {layer}"] = own[:, -1]
        return found | biases

    @cached_property
    def biases_at(self) -> tuple[int, ...]:
        """The places of the biases among a network's weights.

        >>> Architecture((2, 2, 1), ("tanh", "identity")).biases_at
        (2, 5, 8)
        """
        return tuple(
            wire.start + row * wire.width + wire.width - 1
            for wire in self.wiring.wires
            if wire.constant
            for row in range(wire.height)
        )

    @cached_property
    def wiring(self) -> Wiring:
        """Where every unit and every weight lives."""
        return _wire(self)


def layered(sizes: Sequence[int], hidden: str, output: str, *, shortcuts: bool = False) -> Architecture:
    """An architecture whose hidden layers all have the same activation.

    >>> layered((9, 4, 2, 2), "softsign", "identity").activations
    ('softsign', 'softsign', 'identity')
    """
    activations = (hidden,) * (len(sizes) - 2) + (output,)
    return Architecture(tuple(sizes), activations, shortcuts=shortcuts)


def _wire(architecture: Architecture) -> Wiring:
    # A bias is a weight from a constant row of the first layer that feeds the unit: with shortcuts that is
    # always the inputs, without them each layer has a constant row for the next one.
    own_constants = architecture.biases and not architecture.shortcuts
    layers, constants, row = [], [], 0
    for number, size in enumerate(architecture.sizes[1:], start=1):
        layers.append(Layer(slice(row, row + size), architecture.activations[number - 1]))
        row += size
        if own_constants and number < len(architecture.sizes) - 1:
            constants.append(row)
            row += 1
    wires: list[Wire] = []
    for number, size in enumerate(architecture.sizes[:-1]):
        constant = architecture.biases and (number == 0 or own_constants)
        source = (
            None
            if number == 0
            else slice(layers[number - 1].rows.start, layers[number - 1].rows.stop + constant)
        )
        last = layers[-1] if architecture.shortcuts else layers[number]
        wires.append(
            Wire(
                source=source,
                targets=slice(layers[number].rows.start, last.rows.stop),
                width=size + constant,
                constant=constant,
                start=wires[-1].place.stop if wires else 0,
                first=number == 0 or not architecture.shortcuts,
            )
        )
    return Wiring(tuple(layers), tuple(wires), row, tuple(constants))
