"""Passes of chains by kernels that are made for them, where a GPU, Triton and the networks allow it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from redelve.nets.architecture import Architecture
from redelve.nets.backend import Array, Engine
from redelve.nets.kernel import KernelCases

LARGEST = 4096
"""Weights of a chain, laid out as a matrix, that its registers hold."""
NARROW = 32
"""Matrices less wide are fastest with few cases at a time and few threads (measured on an H200)."""
_COMPILING = threading.Lock()


def fits(architecture: Architecture, engine: Engine) -> bool:
    """Whether the kernels know such networks, and can be compiled for where these are."""
    known = architecture.activations == ("tanh", "identity") and architecture.outputs == 1
    placed = engine.device.startswith("cuda") and engine.dtype == "float32"
    return known and placed and architecture.biases and _room(architecture) <= LARGEST and _has_triton()


def _has_triton() -> bool:
    return find_spec("triton") is not None


def _sides(architecture: Architecture) -> tuple[int, int]:
    """Powers of two that hold hidden units and the output, and inputs, constant and the way out."""
    needed = architecture.sizes[1] + 1, architecture.inputs + 2
    return max(16, 1 << (needed[0] - 1).bit_length()), max(16, 1 << (needed[1] - 1).bit_length())


def _room(architecture: Architecture) -> int:
    units, wide = _sides(architecture)
    return units * wide


def places_of(architecture: Architecture) -> np.ndarray:
    """Where in a chain's weights those of the kernels' matrix are, -1 for none."""
    inputs, onward = architecture.wiring.wires
    hidden, numbers = architecture.sizes[1], np.arange(architecture.connection_count, dtype=np.int32)
    places = np.full(_sides(architecture), -1, dtype=np.int32)
    places[: inputs.height, : inputs.width] = numbers[inputs.place].reshape(inputs.height, inputs.width)
    places[:hidden, inputs.width] = numbers[onward.place][:hidden]
    if onward.constant:
        places[hidden, inputs.width - 1] = numbers[onward.place][hidden]
    return places


class FusedPasses:
    """Looks and leaps of all chains at once, one program each."""

    def __init__(self, architecture: Architecture, cases: KernelCases, chains: int, engine: Engine) -> None:
        from redelve.nets.sampling import leap_kernel

        self._kernels, self._xp = leap_kernel, engine.xp
        (block,) = cases.blocks
        self._places = engine.positions(places_of(architecture))
        tables = (
            each.expand(chains, *each.shape[-2:]).contiguous() for each in (block.inputs, block.targets)
        )
        sizes = architecture.connection_count, block.cases, architecture.sizes[1], architecture.inputs + 1
        self._known = self._places, *tables, *sizes
        units, wide = _sides(architecture)
        few = wide < NARROW
        self._cut = {"units": units, "wide": wide, "block": 32 if few else 128, "num_warps": 4 if few else 8}

    def look(self, weights: Array, gradient: Array | None = None) -> Array:
        """Half the sum of squares of every chain, in float64; its gradient is written where you say."""
        squares = self._xp.empty(len(weights), dtype=self._xp.float64, device=weights.device)
        room = self._xp.empty_like(weights) if gradient is None else gradient
        self._launch(self._kernels.look, weights, room, squares)
        return squares

    def leap(self, moving: Sequence[Array], kick: Array, pull: Array, steps: int, squares: Array) -> None:
        """Leapfrog steps of weights, velocities and forces; half sums of squares are those of the last."""
        self._launch(self._kernels.leap, *moving, kick, pull, steps, squares)

    def _launch(self, kernel: Any, weights: Array, *rest: Any) -> None:
        with _COMPILING:
            kernel[(len(weights),)](weights, *rest, *self._known, **self._cut)
