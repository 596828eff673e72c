"""Which weights share a standard deviation, what its prior is, and how strongly data bind a weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets.architecture import Architecture
from redelve.nets.data import Data
from redelve.nets.sampling.scale_priors import NetworkPrior, ScalePrior

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class RelevanceFamily:
    """Groups of one kind, one for each input, around a common precision ω with a prior of its own."""

    groups: slice
    prior: ScalePrior
    alpha: float

    @property
    def inputs(self) -> int:
        """How many."""
        return int(self.groups.stop - self.groups.start)


@dataclass(frozen=True, eq=False)
class PriorGroups:
    """Groups of weights in the order of their names; arrays have an element for each group.

    `places` has the group of every weight. A group's precision is Gamma of shape `alphas`/2 and rate
    `rates`, or for a family of relevances alpha/(2ω); it is fixed where `fixed` is above 0.
    """

    names: tuple[str, ...]
    places: NDArray[np.intp]
    alphas: Vector
    rates: Vector
    fixed: Vector
    families: tuple[RelevanceFamily, ...]
    outputs: int | None
    """The group of weights out of hidden units; None without hidden units."""

    @classmethod
    def of(cls, architecture: Architecture, prior: NetworkPrior) -> PriorGroups:
        """The groups of a network with at most one hidden layer and linear outputs."""
        if len(architecture.sizes) > 3 or architecture.activations[-1] != "identity":
            raise SpecError(
                f"sampling networks of layers {architecture.sizes} with {architecture.activations[-1]} "
                'outputs is not offered: use at most one hidden layer and "identity" outputs'
            )
        builder = _Builder(architecture, prior)
        hidden = len(architecture.sizes) == 3
        builder.add_inputs(1, prior.inputs)
        if hidden and architecture.shortcuts:
            builder.add_inputs(2, prior.direct)
        if hidden:
            width = prior.outputs.width / architecture.sizes[1] ** 0.5
            builder.add("layer 1 to layer 2", ScalePrior(width, prior.outputs.alpha))
            builder.add("biases of layer 1", prior.hidden_biases)
        builder.add(f"biases of layer {len(architecture.sizes) - 1}", prior.output_biases)
        return builder.done()

    @property
    def count(self) -> int:
        """How many groups."""
        return len(self.names)

    @property
    def sizes(self) -> Vector:
        """How many weights each has."""
        return np.bincount(self.places, minlength=self.count).astype(np.float64)

    @property
    def membership(self) -> Vector:
        """Weights × groups: 1 where a weight belongs to a group."""
        return np.asarray(self.places[:, None] == np.arange(self.count), dtype=np.float64)


class _Builder:
    """Groups under way."""

    def __init__(self, architecture: Architecture, prior: NetworkPrior) -> None:
        self._weights = architecture.groups()
        self._inputs, self._prior = architecture.inputs, prior
        self._places = np.full(architecture.connection_count, -1, dtype=np.intp)
        self._names: list[str] = []
        self._rows: list[tuple[float, float, float]] = []
        self._families: list[RelevanceFamily] = []

    def add(self, name: str, prior: ScalePrior) -> None:
        """One group, of the weights of this name, if there are any."""
        if name in self._weights:
            self._note(name, (name,), prior)

    def add_inputs(self, layer: int, prior: ScalePrior) -> None:
        """The weights out of the inputs to a layer: one group, or one for each input."""
        names = [f"input {number} to layer {layer}" for number in range(1, self._inputs + 1)]
        alpha = self._prior.relevance
        if alpha is None:
            self._note(f"inputs to layer {layer}", names, prior)
            return
        start = len(self._names)
        for name in names:
            self._note(name, (name,), ScalePrior(1.0, alpha))
        self._families.append(RelevanceFamily(slice(start, len(self._names)), prior, alpha))

    def _note(self, name: str, weights: list[str] | tuple[str, ...], prior: ScalePrior) -> None:
        for each in weights:
            self._places[self._weights[each]] = len(self._names)
        self._names.append(name)
        fixed = prior.width**-2 if prior.is_fixed else 0.0
        self._rows.append((1.0, 1.0, fixed) if fixed else (prior.alpha, prior.rate, 0.0))

    def done(self) -> PriorGroups:
        """What was built."""
        alphas, rates, fixed = np.array(self._rows).T
        name = "layer 1 to layer 2"
        outputs = self._names.index(name) if name in self._names else None
        names, families = tuple(self._names), tuple(self._families)
        return PriorGroups(names, self._places, alphas, rates, fixed, families, outputs)


def data_bounds(architecture: Architecture, data: Data, runs: int) -> tuple[Vector, Vector]:
    """What bounds the second derivative of ½ Σ (o − t)² by a weight, Σ x² or n; does it feed a hidden unit?

    The former runs × connections, the latter 0 or 1 for each connection. A weight into a hidden unit also
    has the squared weights out of it as a factor (Neal 1996, section 3.3.2).
    """
    squares = np.square(data.inputs, dtype=np.float64).sum(axis=-2)
    bounds = np.full((runs, architecture.connection_count), float(data.cases))
    feeds = np.zeros(architecture.connection_count)
    hidden = len(architecture.sizes) == 3
    for name, places in architecture.groups().items():
        if name.startswith("input "):
            bounds[:, places] = squares[..., int(name.split()[1]) - 1 : int(name.split()[1])]
        if hidden and name.endswith("layer 1"):
            feeds[places] = 1.0
            bounds[:, places] *= architecture.outputs
    return bounds, feeds
