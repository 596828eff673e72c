"""Runs last: tables are units × cases × runs, and all runs go through each multiplication together.

For tiny networks on few cases, where a matrix product for each run would cost more to call than to do. Sums
are taken in halves, elementwise: a library's own sum may change its order with the number of runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.nets.architecture import Wire
from redelve.nets.backend import Array
from redelve.nets.data import Data
from redelve.nets.kernel import Block, KernelCases, NetworkKernel, Rows


def fold(table: Array, axis: int) -> Array:
    """Sum over `axis` in a fixed order, in place; the result is a view of `table`."""
    lead = (slice(None),) * axis
    count = table.shape[axis]
    while count > 1:
        half = count // 2
        table[(*lead, slice(0, half))] += table[(*lead, slice(count - half, count))]
        count -= half
    return table[(*lead, 0)]


class WideKernel(NetworkKernel):
    """The kernel for tiny networks."""

    cases_axis = 1

    def load(self, weights: NDArray[Any]) -> Array:
        """Weights, runs last."""
        return self.engine.array(weights.T)

    def unload(self, weights: Array) -> NDArray[Any]:
        """Runs × connections."""
        return self.engine.numpy(weights).T

    def prepare(self, data: Data) -> KernelCases:
        """Cases as inputs × cases × runs, the last axis of length 1 where all share them."""
        inputs, targets = (
            np.moveaxis(each if each.ndim == 3 else each[None], 0, -1).swapaxes(0, 1)
            for each in (data.inputs, data.targets)
        )
        weights = None
        if data.weights is not None:
            weights = self.engine.array(np.atleast_2d(data.weights).T[None])
        block = Block(self.engine.array(inputs), self.engine.array(targets), data.cases, weights)
        return KernelCases((block,), self._weight(data))

    def spread(self, per_run: Array) -> Array:
        """For the axis of runs, which is last."""
        return per_run

    def take(self, weights: Array, positions: Array) -> Array:
        """Some runs' weights."""
        return self.xp.take(weights, positions, axis=1)

    def _taken_table(self, table: Array, positions: Array) -> Array:
        return table if table.shape[2] == 1 and self.runs != 1 else self.xp.take(table, positions, axis=2)

    def dot(self, first: Array, second: Array) -> Array:
        """Σ over connections."""
        return fold(first * second, 0)

    def input_weights(self, weights: Array) -> Array:
        """A view of the first wire's matrix."""
        matrix = self._matrix(weights, self._wiring.wires[0])[:, : self.architecture.inputs, 0]
        return self.xp.moveaxis(matrix, -1, 0)

    def _shape(self, cases: int) -> tuple[int, int, int]:
        return self._wiring.rows, cases, self.runs

    def _rows(self, table: Array, rows: slice) -> Array:
        return table[rows]

    def _matrix(self, weights: Array, wire: Wire) -> Array:
        # One item for each column, the bias last: units × 1 × runs, ready to meet units × cases × runs.
        return weights[wire.place].reshape(wire.height, wire.width, 1, -1)

    def _feed(self, wire: Wire, matrix: Array, source: Array, targets: Rows) -> None:
        values, scratch = targets.values, targets.scratch
        size = wire.width - wire.constant
        if wire.constant:
            values[...] = matrix[:, size]
        elif wire.first:
            values[...] = 0.0
        for unit in range(size):
            self.xp.multiply(matrix[:, unit], source[unit], out=scratch)
            self.xp.add(values, scratch, out=values)

    def _pull(self, wire: Wire, matrix: Array, targets: Rows, origin: Rows) -> None:
        size = wire.width - wire.constant
        self.xp.multiply(matrix[0, :size], targets.deltas[0], out=origin.deltas)
        for unit in range(1, wire.height):
            self.xp.multiply(matrix[unit, :size], targets.deltas[unit], out=origin.scratch)
            self.xp.add(origin.deltas, origin.scratch, out=origin.deltas)

    def _outer(self, wire: Wire, source: Array | Block, targets: Rows, out: Array) -> None:
        values, size = source.inputs if isinstance(source, Block) else source, wire.width - wire.constant
        for unit in range(size):
            self.xp.multiply(targets.deltas, values[unit], out=targets.scratch)
            out[:, unit, 0] = fold(targets.scratch, 1)
        if wire.constant:
            targets.scratch[...] = targets.deltas
            out[:, size, 0] = fold(targets.scratch, 1)

    def _total(self, first: Array, second: Array, scratch: Array) -> Array:
        self.xp.multiply(first, second, out=scratch)
        return fold(fold(scratch, 1), 0) * 1.0  # an own array: the backward pass writes over the scratch

    def _largest(self, values: Array) -> Array:
        return self.xp.max(values.reshape(-1, self.runs), axis=0)

    def _spread_over_cases(self, per_run: Array) -> Array:
        return per_run

    def _outputs_as_numpy(self, values: Array) -> NDArray[Any]:
        return np.moveaxis(self.engine.numpy(values), -1, 0).swapaxes(1, 2)
