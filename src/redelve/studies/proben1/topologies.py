"""The networks of PROBEN1's section 3.3: linear ones, the twelve that were tried, and the pivots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redelve.errors import SpecError
from redelve.nets import Architecture, layered

Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = (
    (2,), (4,), (8,), (16,), (24,), (32,), (2, 2), (4, 2), (4, 4), (8, 4), (8, 8), (16, 8),
)  # fmt: skip
"""Hidden nodes of the twelve topologies of section 3.3.2."""
OUTPUTS = {"linear": "identity", "sigmoid": "softsign"}
CLOSE_TO_BEST = 1.05
"""A run is a candidate if its validation error is at most 5 % above the lowest (section 3.3.2)."""


@dataclass(frozen=True)
class Topology:
    """Hidden nodes by layers (none: a linear network), kind of the output nodes, shortcuts or not.

    >>> pivot = Topology.parse("16+8", "linear")
    >>> str(pivot), pivot.connections(9, 6), str(Topology.parse("32+0", "sigmoid"))
    ('16+8 linear', 572, '32+0 sigmoid')
    """

    hidden: Shape = ()
    output: str = "linear"
    shortcuts: bool = True

    @classmethod
    def parse(cls, hidden: str, output: str, *, shortcuts: bool = True) -> Topology:
        """From PROBEN1's way of writing, as in 16+8 or 32+0, and `linear` or `sigmoid`."""
        if output not in OUTPUTS:
            raise SpecError(f'output nodes "{output}": known are {", ".join(OUTPUTS)}')
        return cls(tuple(int(part) for part in hidden.split("+") if part != "0"), output, shortcuts)

    @property
    def nodes(self) -> str:
        """Hidden nodes as PROBEN1 writes them."""
        return "+".join(map(str, (*self.hidden, 0, 0)[:2]))

    def __str__(self) -> str:
        return f"{self.nodes} {self.output}"

    def network(self, inputs: int, outputs: int) -> Architecture:
        """The network; y = x/(1 + |x|) is the sigmoid."""
        sizes = (inputs, *self.hidden, outputs)
        shortcuts = self.shortcuts and bool(self.hidden)
        return layered(sizes, "softsign", OUTPUTS[self.output], shortcuts=shortcuts)

    def connections(self, inputs: int, outputs: int) -> int:
        """How many weights it has, biases included."""
        return count_connections((inputs, *self.hidden, outputs), shortcuts=self.shortcuts)


def count_connections(nodes: Sequence[int], *, shortcuts: bool) -> int:
    """The weights of a layered network, with the bias of every hidden and output node.

    >>> count_connections((9, 16, 8, 6), shortcuts=True)
    572
    """
    layers = range(1, len(nodes))
    sources = {k: sum(nodes[:k]) if shortcuts else nodes[k - 1] for k in layers}
    return sum((sources[k] + 1) * nodes[k] for k in layers)


TRIED = tuple(Topology(shape, output) for shape in SHAPES for output in ("linear", "linear", "sigmoid"))
"""The 36 runs of section 3.3.2: each topology twice with linear and once with sigmoidal output nodes."""


def candidates(validation_errors: Sequence[float]) -> list[int]:
    """The runs whose validation error is at most 5 % above the lowest, best first (section 3.3.2)."""
    order = sorted(range(len(validation_errors)), key=lambda run: validation_errors[run])
    limit = CLOSE_TO_BEST * validation_errors[order[0]]
    return [run for run in order if validation_errors[run] <= limit]


def pivot(chosen: Sequence[Topology], inputs: int, outputs: int) -> Topology:
    """The pivot architecture of the candidates, which are given best first (section 3.3.2).

    The largest topology; of its linear and sigmoidal forms the better one, unless the linear one is there
    twice: then that. The report does not say what makes a topology large. Connections are taken here, and
    of equal numbers the topology of two layers (glass: 32+0 and 16+8 have 572 each).
    """
    largest = max(chosen, key=lambda one: (one.connections(inputs, outputs), len(one.hidden))).hidden
    forms = [one for one in chosen if one.hidden == largest]
    linear = [one for one in forms if one.output == "linear"]
    return linear[0] if len(linear) > 1 else forms[0]
