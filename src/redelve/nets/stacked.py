"""Runs first: tables are runs × units × cases, and every run has its own matrix products (BLAS)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.nets.architecture import Wire
from redelve.nets.backend import Array
from redelve.nets.data import Data
from redelve.nets.kernel import Block, KernelCases, NetworkKernel, Rows

TABLE_SIZE = 32_768
"""Cases are cut into blocks such that a table of one run has about this many numbers at most."""


PRODUCT_SIZE = 1_000_000
"""Products of at most so many multiplications are done by OpenBLAS as they are; before larger ones it copies
both matrices, which for few units takes longer than multiplying."""


class StackedKernel(NetworkKernel):
    """The kernel for networks of ordinary size."""

    cases_axis = -1

    def load(self, weights: NDArray[Any]) -> Array:
        """Weights, runs first."""
        return self.engine.array(weights)

    def unload(self, weights: Array) -> NDArray[Any]:
        """Runs × connections."""
        return self.engine.numpy(weights)

    def prepare(self, data: Data) -> KernelCases:
        """Cases as runs × inputs × cases, or without runs where all share them."""
        inputs = np.swapaxes(data.inputs, -1, -2)
        if self._wiring.wires[0].constant:
            inputs = np.concatenate([inputs, np.ones((*inputs.shape[:-2], 1, inputs.shape[-1]))], axis=-2)
        targets = np.swapaxes(data.targets, -1, -2)
        weights = None if data.weights is None else data.weights[..., None, :]
        count = self._block_count(data.cases) if self.engine.device == "cpu" else 1
        edges = [data.cases * part // count for part in range(count + 1)]
        blocks = [
            Block(
                self.engine.array(inputs[..., start:stop]),
                self.engine.array(targets[..., start:stop]),
                stop - start,
                None if weights is None else self.engine.array(weights[..., start:stop]),
            )
            for start, stop in pairwise(edges)
        ]
        return KernelCases(tuple(blocks), self._weight(data))

    def _block_count(self, cases: int) -> int:
        """As many blocks as keep tables in the cache and products small."""
        largest = max(wire.height * wire.width for wire in self._wiring.wires)
        return math.ceil(max(cases * self._wiring.rows / TABLE_SIZE, cases * largest / PRODUCT_SIZE))

    def spread(self, per_run: Array) -> Array:
        """For the axis of runs, which is first."""
        return per_run[:, None]

    def take(self, weights: Array, positions: Array) -> Array:
        """Some runs' weights."""
        return weights[positions]

    def _taken_table(self, table: Array, positions: Array) -> Array:
        return table[positions] if table.ndim == 3 else table

    def dot(self, first: Array, second: Array) -> Array:
        """Σ over connections."""
        return self.xp.matmul(first[:, None, :], second[:, :, None])[:, 0, 0]

    def input_weights(self, weights: Array) -> Array:
        """A view of the first wire's matrix."""
        return self._matrix(weights, self._wiring.wires[0])[:, :, : self.architecture.inputs]

    def _shape(self, cases: int) -> tuple[int, int, int]:
        return self.runs, self._wiring.rows, cases

    def _rows(self, table: Array, rows: slice) -> Array:
        return table[:, rows]

    def _matrix(self, weights: Array, wire: Wire) -> Array:
        return weights[:, wire.place].reshape(-1, wire.height, wire.width)

    def _feed(self, wire: Wire, matrix: Array, source: Array, targets: Rows) -> None:
        if wire.first:
            self.engine.matmul(matrix, source, targets.values)
        else:
            self.engine.matmul(matrix, source, targets.scratch)
            self.xp.add(targets.values, targets.scratch, out=targets.values)

    def _pull(self, wire: Wire, matrix: Array, targets: Rows, origin: Rows) -> None:
        matrix = matrix[:, :, : wire.width - wire.constant].swapaxes(1, 2)
        if wire.height == 1:  # a column times a row, for which NumPy does not call the library
            self.xp.multiply(matrix, targets.deltas, out=origin.deltas)
        else:
            self.engine.matmul(matrix, targets.deltas, origin.deltas)

    def _outer(self, wire: Wire, source: Array | Block, targets: Rows, out: Array) -> None:
        turned = source.by_case if isinstance(source, Block) else source.swapaxes(-1, -2)
        self.engine.matmul(targets.deltas, turned, out)

    def _total(self, first: Array, second: Array, scratch: Array) -> Array:
        left = first.reshape(self.runs, 1, -1)
        right = second.reshape(self.runs if second.ndim == 3 else 1, -1, 1)
        return self.xp.matmul(left, right)[:, 0, 0]

    def _largest(self, values: Array) -> Array:
        return self.xp.max(values.reshape(self.runs, -1), axis=1)

    def _spread_over_cases(self, per_run: Array) -> Array:
        return per_run[:, None, None]

    def _outputs_as_numpy(self, values: Array) -> NDArray[Any]:
        return np.swapaxes(self.engine.numpy(values), 1, 2)
