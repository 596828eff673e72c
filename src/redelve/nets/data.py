"""The cases networks are trained and judged on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import SpecError
from redelve.nets.architecture import Architecture


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs and targets: cases × columns, the same for all runs, or runs × cases × columns.

    `weights` of cases (one for each case, or runs × cases) multiply a case's error; a weight of 0 makes the
    case padding, so that runs may have different numbers of cases. Reported errors are weighted means.
    """

    inputs: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[np.float64] | None

    def __init__(self, inputs: ArrayLike, targets: ArrayLike, weights: ArrayLike | None = None) -> None:
        object.__setattr__(self, "inputs", _as_table(inputs, "inputs"))
        object.__setattr__(self, "targets", _as_table(targets, "targets"))
        given = None if weights is None else np.asarray(weights, dtype=np.float64)
        object.__setattr__(self, "weights", given)
        if self.inputs.ndim not in (2, 3) or self.targets.ndim not in (2, 3):
            raise SpecError(
                f"inputs of shape {self.inputs.shape}, targets of shape {self.targets.shape}: "
                "give cases × columns or runs × cases × columns"
            )
        if self.inputs.shape[-2] != self.targets.shape[-2] or not self.cases:
            raise SpecError(
                f"{self.inputs.shape[-2]} cases of inputs, {self.targets.shape[-2]} of targets: "
                "give equal numbers, at least one"
            )
        if not (np.isfinite(self.inputs).all() and np.isfinite(self.targets).all()):
            raise SpecError("inputs or targets are not all finite: encode or leave out missing values first")
        if self.weights is not None:
            self._check_weights(self.weights)

    def _check_weights(self, weights: NDArray[np.float64]) -> None:
        if weights.ndim not in (1, 2) or weights.shape[-1] != self.cases:
            raise SpecError(
                f"case weights of shape {weights.shape} for {self.cases} cases: "
                "give one for each case, or runs × cases"
            )
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise SpecError(
                f"case weights from {weights.min()} to {weights.max()}: give finite ones, 0 or more"
            )
        if not (weights.max(axis=-1) > 0).all():
            raise SpecError("all case weights of a run are 0: give at least one case a weight above 0")

    @property
    def weight(self) -> int | NDArray[np.float64]:
        """How much all cases weigh together: their number, or the sum of their weights (of each run)."""
        return self.cases if self.weights is None else np.asarray(self.weights.sum(axis=-1))

    @property
    def cases(self) -> int:
        """How many cases (of each run)."""
        return int(self.inputs.shape[-2])

    def check(self, architecture: Architecture, runs: int, name: str) -> None:
        """Refuse data that do not fit the networks or the number of runs."""
        given = (self.inputs.shape[-1], self.targets.shape[-1])
        wanted = (architecture.inputs, architecture.outputs)
        if given != wanted:
            raise SpecError(
                f"{name} data have {given[0]} inputs and {given[1]} targets, "
                f"the architecture {wanted[0]} and {wanted[1]}: change one of them"
            )
        for array in (self.inputs, self.targets):
            if array.ndim == 3 and array.shape[0] != runs:
                raise SpecError(
                    f"{name} data are for {array.shape[0]} runs, weights for {runs}: give as many of each"
                )
        if self.weights is not None and self.weights.ndim == 2 and len(self.weights) != runs:
            raise SpecError(
                f"{name} data have case weights for {len(self.weights)} runs, the networks are {runs}: "
                "give as many of each"
            )

    def of_runs(self, runs: NDArray[np.intp]) -> Data:
        """The data of some of the runs."""
        inputs, targets = (each[runs] if each.ndim == 3 else each for each in (self.inputs, self.targets))
        own = self.weights is not None and self.weights.ndim == 2
        return Data(inputs, targets, self.weights[runs] if own and self.weights is not None else self.weights)


def padded(
    inputs: Sequence[ArrayLike], targets: Sequence[ArrayLike], weights: Sequence[ArrayLike] | None = None
) -> Data:
    """The data of runs with different numbers of cases: a table of inputs and one of targets for each run.

    All are brought to the largest number by cases of weight 0. `weights` has a list for each run.

    >>> padded([[[1.0], [2.0]], [[3.0]]], [[[0.0], [1.0]], [[1.0]]]).weights.tolist()
    [[1.0, 1.0], [1.0, 0.0]]
    """
    tables = [(np.asarray(x, dtype=np.float64), np.asarray(y)) for x, y in zip(inputs, targets, strict=True)]
    given = [np.ones(len(x)) for x, _ in tables] if weights is None else [np.asarray(w) for w in weights]
    most = max(len(x) for x, _ in tables)

    def full(table: NDArray[Any]) -> NDArray[Any]:
        return np.pad(table, [(0, most - len(table)), *[(0, 0)] * (table.ndim - 1)])

    def filled(table: NDArray[Any]) -> NDArray[Any]:
        """Padding repeats the last case: a target of zeros could be none that an error takes."""
        return np.pad(table, [(0, most - len(table)), (0, 0)], mode="edge")

    return Data(
        np.array([full(x) for x, _ in tables]),
        np.array([filled(y) for _, y in tables]),
        np.array([full(each) for each in given]),
    )


def _as_table(values: ArrayLike, name: str) -> NDArray[Any]:
    """An array; runs with unequal numbers of cases, or rows of unequal length, have none."""
    try:
        return np.asarray(values)
    except ValueError:
        raise SpecError(
            f"{name} are tables or rows of unequal sizes: give all runs as many cases, and all cases as many "
            "columns; runs with different numbers of cases go through redelve.nets.padded"
        ) from None


@dataclass(frozen=True)
class Sets:
    """Training cases; validation cases to stop by; test cases only for the curves that are asked for."""

    training: Data
    validation: Data | None = None
    test: Data | None = None

    def named(self) -> dict[str, Data]:
        """Those that are given, by name."""
        given = {"training": self.training, "validation": self.validation, "test": self.test}
        return {name: data for name, data in given.items() if data is not None}
