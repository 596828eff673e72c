"""The data's part of the energy of all chains: half the sum of squares, in float64, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.nets.architecture import Architecture
from redelve.nets.backend import Array, Engine
from redelve.nets.data import Data
from redelve.nets.error_functions import SquaredOutputError
from redelve.nets.sampling.fused_passes import FusedPasses, fits
from redelve.nets.stacked import StackedKernel


@dataclass(frozen=True)
class HalfSquares(SquaredOutputError):
    """½ Σ (output − target)², summed over cases and outputs: the error whose gradients are taken."""

    def scale(self, architecture: Architecture, cases: Any) -> Any:
        """A half of the sum."""
        return 0.5


class ChainKernel(StackedKernel):
    """The kernel of chains: errors are summed in float64 even for float32 weights."""

    def _total(self, first: Array, second: Array, scratch: Array) -> Array:
        left, right = (double(self.xp, each) for each in (first, second))
        return super()._total(left, right, scratch)


class Likelihood:
    """Passes of the networks of all chains over their training cases.

    With `weighted` every case of every chain has a weight, which t noise moves. `fused` does the same by
    kernels of the GPU where there are such for these networks.
    """

    fused: FusedPasses | None = None

    def __init__(
        self, architecture: Architecture, data: Data, chains: int, engine: Engine, *, weighted: bool
    ) -> None:
        if weighted:
            data = Data(data.inputs, data.targets, np.ones((chains, data.cases)))
        self.kernel = ChainKernel(architecture, engine, HalfSquares(), chains)
        self.cases = self.kernel.prepare(data)
        self.count, self.outputs = data.cases, architecture.outputs
        if not weighted and fits(architecture, engine):
            self.fused = FusedPasses(architecture, self.cases, chains, engine)

    def look(self, weights: Array, gradient: Array) -> Array:
        """Half the sum of squares of every chain; its gradient is written where you say."""
        if self.fused is not None:
            return self.fused.look(weights, gradient)
        return self.kernel.look(weights, self.cases, out=gradient).error

    def squares(self, weights: Array) -> Array:
        """Half the sum of squares of every chain."""
        if self.fused is not None:
            return self.fused.look(weights)
        return self.kernel.errors(weights, self.cases)

    def residual_squares(self, weights: Array) -> Array:
        """Squared errors, summed over outputs, of chains × cases, not weighted."""
        kernel, parts = self.kernel, []
        for block in self.cases.blocks:
            outputs = kernel._forward(weights, block).layers[-1]
            gaps = double(kernel.xp, outputs.values) - double(kernel.xp, block.targets)
            parts.append(kernel.xp.sum(gaps * gaps, axis=1))
        return kernel.xp.concat(parts, axis=1)

    def weigh(self, weights: Array) -> None:
        """Give every case of every chain this weight."""
        start = 0
        for block in self.cases.blocks:
            assert block.weights is not None
            block.weights[:, 0] = weights[:, start : start + block.cases]
            start += block.cases

    def replace_targets(self, targets: NDArray[Any]) -> None:
        """Put other targets (chains × cases × outputs) in the place of the known ones."""
        start = 0
        for block in self.cases.blocks:
            part = np.swapaxes(targets[:, start : start + block.cases], 1, 2)
            block.targets[...] = self.kernel.engine.array(part)
            start += block.cases


def double(xp: Any, values: Array) -> Array:
    """In float64."""
    return xp.astype(values, xp.float64)


def dots(xp: Any, first: Array, second: Array) -> Array:
    """Inner products in the order of one chain, whatever the others."""
    return xp.matmul(first[:, None, :], second[:, :, None])[:, 0, 0]
