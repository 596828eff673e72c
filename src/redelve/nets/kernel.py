"""Forward and backward passes of many networks at once: what both memory layouts have in common.

A *table* holds a number for each unit, case and run. `StackedKernel` (stacked.py) keeps runs first and
multiplies matrices, one product for each run; `WideKernel` (wide.py) keeps runs last, for tiny networks.
In both, every number of a run comes from operations whose order does not depend on the other runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.nets.activations import ACTIVATIONS
from redelve.nets.architecture import Architecture, Wire
from redelve.nets.backend import Array, Engine
from redelve.nets.data import Data
from redelve.nets.error_functions import CrossEntropy, ErrorFunction


@dataclass(frozen=True)
class Block:
    """Some cases, laid out for a kernel: inputs with their constant row, targets, perhaps weights."""

    inputs: Array
    targets: Array
    cases: int
    weights: Array | None = None
    lasting: bool = True
    """Whether it is seen in many epochs, which makes a copy in another order worth its time."""

    @cached_property
    def by_case(self) -> Array:
        """The inputs with cases first: a copy in memory where that speeds up products, else a view."""
        turned = self.inputs.swapaxes(-1, -2)
        is_copy = self.lasting and isinstance(turned, np.ndarray)
        return np.ascontiguousarray(turned) if is_copy else turned


@dataclass(frozen=True)
class KernelCases:
    """A data set laid out for a kernel, in blocks that fit the cache; `count` is what the cases weigh."""

    blocks: tuple[Block, ...]
    count: int | Array


@dataclass(frozen=True)
class Rows:
    """Some rows of the four tables: values of units, their deltas, what activations remember, scratch."""

    values: Array
    deltas: Array
    memory: Array
    scratch: Array


@dataclass(frozen=True)
class Tables:
    """The tables for one number of cases, cut into the rows that passes work on (cutting takes time, too).

    For each layer its rows; for each wire the rows it feeds and those it comes from (the latter without the
    constant row in `origins`; None for the inputs).
    """

    layers: tuple[Rows, ...]
    targets: tuple[Rows, ...]
    sources: tuple[Rows | None, ...]
    origins: tuple[Rows | None, ...]
    constants: tuple[Array, ...]


@dataclass
class KernelLook:
    """What a pass over the training cases saw: per run the error, the gradient, the largest deviation."""

    error: Array
    gradient: Array
    worst: Array | None


class NetworkKernel(ABC):
    """Passes of `runs` networks of one architecture."""

    cases_axis: int
    """The axis of cases in what `prepare` makes."""

    def __init__(self, architecture: Architecture, engine: Engine, error: ErrorFunction, runs: int) -> None:
        self.architecture = architecture
        self.engine = engine
        self.error = error
        self.runs = runs
        self.xp = engine.xp
        self._wiring = architecture.wiring
        self._activations = [ACTIVATIONS[layer.activation] for layer in self._wiring.layers]
        self._memory: list[Array] = []
        self._tables: dict[int, Tables] = {}
        self._matrices: list[tuple[Array, list[Array]]] = []
        self._second: Array | None = None

    # Layout: what the two kinds of kernel do differently.

    @abstractmethod
    def load(self, weights: NDArray[Any]) -> Array:
        """Weights (runs × connections) in this kernel's layout."""

    @abstractmethod
    def unload(self, weights: Array) -> NDArray[Any]:
        """Weights as runs × connections again."""

    @abstractmethod
    def prepare(self, data: Data) -> KernelCases:
        """Lay out a data set."""

    @abstractmethod
    def spread(self, per_run: Array) -> Array:
        """One number for each run, shaped to be combined with weights."""

    @abstractmethod
    def take(self, weights: Array, positions: Array) -> Array:
        """The weights of some of the runs."""

    @abstractmethod
    def _taken_table(self, table: Array, positions: Array) -> Array:
        """A table of cases of some of the runs, where runs have their own."""

    @abstractmethod
    def dot(self, first: Array, second: Array) -> Array:
        """The inner product of two weight vectors, per run."""

    @abstractmethod
    def input_weights(self, weights: Array) -> Array:
        """The weights out of the inputs, without biases: runs × units × inputs, a view."""

    @abstractmethod
    def _shape(self, cases: int) -> tuple[int, int, int]: ...

    @abstractmethod
    def _rows(self, table: Array, rows: slice) -> Array: ...

    @abstractmethod
    def _matrix(self, weights: Array, wire: Wire) -> Array: ...

    @abstractmethod
    def _feed(self, wire: Wire, matrix: Array, source: Array, targets: Rows) -> None:
        """Add matrix × source to the net inputs of the targets, or set them if this wire is their first."""

    @abstractmethod
    def _pull(self, wire: Wire, matrix: Array, targets: Rows, origin: Rows) -> None:
        """Bring the deltas of the targets back to the origin: matrix transposed × deltas."""

    @abstractmethod
    def _outer(self, wire: Wire, source: Array | Block, targets: Rows, out: Array) -> None:
        """The gradient of a wire's matrix: deltas × source (units or inputs) transposed, over all cases."""

    @abstractmethod
    def _total(self, first: Array, second: Array, scratch: Array) -> Array:
        """Σ over units and cases of the product, per run."""

    @abstractmethod
    def _largest(self, values: Array) -> Array: ...

    @abstractmethod
    def _spread_over_cases(self, per_run: Array) -> Array: ...

    @abstractmethod
    def _outputs_as_numpy(self, values: Array) -> NDArray[Any]: ...

    # Batches of cases.

    def joined(self, cases: KernelCases) -> KernelCases:
        """The same cases as one block, to choose from."""

        def together(name: str) -> Array | None:
            parts = [getattr(block, name) for block in cases.blocks]
            return None if parts[0] is None else self.xp.concatenate(parts, axis=self.cases_axis)

        count = sum(block.cases for block in cases.blocks)
        block = Block(together("inputs"), together("targets"), count, together("weights"))
        return KernelCases((block,), cases.count)

    def some_cases(self, cases: KernelCases, positions: Array) -> KernelCases:
        """Some cases of a single block, in this order; errors are still in the scale of all of them."""
        (block,) = cases.blocks

        def chosen(array: Array) -> Array:
            return self.xp.take(array, positions, axis=self.cases_axis)

        weights = None if block.weights is None else chosen(block.weights)
        part = Block(chosen(block.inputs), chosen(block.targets), len(positions), weights, lasting=False)
        return KernelCases((part,), cases.count)

    # Passes.

    def look(
        self,
        weights: Array,
        cases: KernelCases,
        *,
        tolerance: Array | None = None,
        worst: bool = False,
        out: Array | None = None,
    ) -> KernelLook:
        """Forward and backward over all cases; deviations within `tolerance` do not count in the gradient."""
        gradient = self.xp.empty_like(weights) if out is None else out
        seen = self._look_at(weights, cases.blocks[0], tolerance, worst, gradient)
        for block in cases.blocks[1:]:
            if self._second is None or self._second.shape != weights.shape:
                self._second = self.xp.empty_like(weights)
            more = self._look_at(weights, block, tolerance, worst, self._second)
            seen.gradient += more.gradient
            seen.error = seen.error + more.error
            seen.worst = None if seen.worst is None else self.xp.maximum(seen.worst, more.worst)
        seen.error = seen.error * self.error.scale(self.architecture, cases.count)
        return seen

    def errors(self, weights: Array, cases: KernelCases) -> Array:
        """The error of each run, forward only."""
        parts = [self._compare(block, self._forward(weights, block)) for block in cases.blocks]
        return sum(parts[1:], parts[0]) * self.error.scale(self.architecture, cases.count)

    def outputs(self, weights: Array, cases: KernelCases) -> NDArray[Any]:
        """The outputs of each run for each case: runs × cases × outputs."""
        parts = [
            self._outputs_as_numpy(self._forward(weights, block).layers[-1].values).copy()
            for block in cases.blocks
        ]
        return np.concatenate(parts, axis=1)

    def shrink(self, runs: int) -> None:
        """Work on fewer runs from now on."""
        self.runs = runs
        self._tables = {}
        self._matrices = []

    def _look_at(
        self, weights: Array, block: Block, tolerance: Array | None, worst: bool, gradient: Array
    ) -> KernelLook:
        tables = self._forward(weights, block)
        error = self._compare(block, tables)
        largest = None
        if worst or tolerance is not None:
            outputs = tables.layers[-1]
            self.xp.abs(outputs.deltas, out=outputs.scratch)
            if block.weights is not None:  # what weighs nothing is padding
                outputs.scratch[...] *= block.weights > 0
            largest = self._largest(outputs.scratch) if worst else None
            if tolerance is not None:
                outputs.deltas[...] *= outputs.scratch > self._spread_over_cases(tolerance)
        if block.weights is not None:
            tables.layers[-1].deltas[...] *= block.weights
        self._backward(weights, block, tables, gradient)
        return KernelLook(error, gradient, largest)

    def _forward(self, weights: Array, block: Block) -> Tables:
        tables = self._tables_for(block.cases)
        for row in tables.constants:
            row[...] = 1.0
        matrices = self._matrices_of(weights)
        for number, wire in enumerate(self._wiring.wires):
            source, layer = tables.sources[number], tables.layers[number]
            values = block.inputs if source is None else source.values
            self._feed(wire, matrices[number], values, tables.targets[number])
            self._activations[number].apply(self.xp, layer.values, layer.memory)
        if self._activations[-1].name == "softmax":
            self._softmax(tables.layers[-1])
        return tables

    def _compare(self, block: Block, tables: Tables) -> Array:
        """Deltas of the outputs become outputs - targets; the sum of errors is returned."""
        outputs = tables.layers[-1]
        self.xp.subtract(outputs.values, block.targets, out=outputs.deltas)
        if isinstance(self.error, CrossEntropy):
            return self._surprise(outputs, block)
        if block.weights is None:
            return self._total(outputs.deltas, outputs.deltas, outputs.scratch)
        return self._total(outputs.deltas, outputs.deltas * block.weights, outputs.scratch)

    def _surprise(self, outputs: Rows, block: Block) -> Array:
        """-Σ t ln o, and for logistic outputs -Σ (1 - t) ln (1 - o) too, zeros kept off the logarithm."""
        tiny = float(np.finfo(self.engine.dtype).tiny)
        targets = block.targets if block.weights is None else block.targets * block.weights
        error = -self._total(self.xp.log(self.xp.clip(outputs.values, tiny, None)), targets, outputs.scratch)
        if self._activations[-1].name == "logistic":
            others = self.xp.log(self.xp.clip(1.0 - outputs.values, tiny, None))
            rest = 1.0 - block.targets if block.weights is None else (1.0 - block.targets) * block.weights
            error = error - self._total(others, rest, outputs.scratch)
        return error

    def _backward(self, weights: Array, block: Block, tables: Tables, gradient: Array) -> None:
        matrices, gradients = self._matrices_of(weights), self._matrices_of(gradient)
        if not isinstance(self.error, CrossEntropy):  # its delta is outputs - targets already
            self._chain(-1, tables)
        for number in range(len(matrices) - 1, 0, -1):
            origin = tables.origins[number]
            assert origin is not None
            self._pull(self._wiring.wires[number], matrices[number], tables.targets[number], origin)
            self._chain(number - 1, tables)
        for number, wire in enumerate(self._wiring.wires):
            source = tables.sources[number]
            values = block if source is None else source.values
            self._outer(wire, values, tables.targets[number], gradients[number])

    def _chain(self, number: int, tables: Tables) -> None:
        rows = tables.layers[number]
        self._activations[number].chain(self.xp, rows.values, rows.deltas, rows.memory)

    def _softmax(self, outputs: Rows) -> None:
        values, peak = outputs.values, self._rows(outputs.scratch, slice(0, 1))
        units = [self._rows(values, slice(unit, unit + 1)) for unit in range(self.architecture.outputs)]
        peak[...] = units[0]
        for unit in units[1:]:
            self.xp.maximum(peak, unit, out=peak)
        values -= peak
        self.xp.exp(values, out=values)
        total = peak
        total[...] = units[0]
        for unit in units[1:]:
            total += unit
        values /= total

    # What cases weigh: one number, or one for each run.

    def _weight(self, data: Data) -> int | Array:
        weight = data.weight
        if isinstance(weight, int):
            return weight
        return self.engine.array(weight) if weight.ndim else float(weight)

    def take_cases(self, cases: KernelCases, positions: Array) -> KernelCases:
        """The cases of some of the runs."""

        def taken(table: Array | None) -> Array | None:
            return None if table is None else self._taken_table(table, positions)

        blocks = [
            Block(taken(each.inputs), taken(each.targets), each.cases, taken(each.weights))
            for each in cases.blocks
        ]
        return KernelCases(tuple(blocks), self._taken_weight(cases.count, positions))

    def _taken_weight(self, weight: int | Array, positions: Array) -> int | Array:
        return weight if isinstance(weight, int | float) else weight[positions]

    # Views that are worth keeping.

    def _matrices_of(self, weights: Array) -> list[Array]:
        for known, matrices in self._matrices:
            if known is weights:
                return matrices
        matrices = [self._matrix(weights, wire) for wire in self._wiring.wires]
        self._matrices = [*self._matrices[-3:], (weights, matrices)]
        return matrices

    def _tables_for(self, cases: int) -> Tables:
        if cases not in self._tables:
            shape = self._shape(cases)
            size = shape[0] * shape[1] * shape[2]
            if not self._memory or self._memory[0].shape[0] < size:
                self._memory = self.engine.empty(4, size)
                self._tables = {}
            self._tables[cases] = self._cut([memory[:size].reshape(shape) for memory in self._memory])
        return self._tables[cases]

    def _cut(self, tables: list[Array]) -> Tables:
        def rows(which: slice) -> Rows:
            return Rows(*(self._rows(table, which) for table in tables))

        def source(wire: Wire, constant: bool) -> Rows | None:
            if wire.source is None:
                return None
            return rows(slice(wire.source.start, wire.source.stop - (wire.constant and not constant)))

        wires = self._wiring.wires
        return Tables(
            layers=tuple(rows(layer.rows) for layer in self._wiring.layers),
            targets=tuple(rows(wire.targets) for wire in wires),
            sources=tuple(source(wire, True) for wire in wires),
            origins=tuple(source(wire, False) for wire in wires),
            constants=tuple(self._rows(tables[0], slice(row, row + 1)) for row in self._wiring.constant_rows),
        )
