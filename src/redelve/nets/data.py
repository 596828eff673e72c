"""The cases networks are trained and judged on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import SpecError
from redelve.nets.architecture import Architecture


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs and targets: cases × columns, the same for all runs, or runs × cases × columns."""

    inputs: NDArray[Any]
    targets: NDArray[Any]

    def __init__(self, inputs: ArrayLike, targets: ArrayLike) -> None:
        object.__setattr__(self, "inputs", np.asarray(inputs))
        object.__setattr__(self, "targets", np.asarray(targets))
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

    def of_runs(self, runs: NDArray[np.intp]) -> Data:
        """The data of some of the runs."""
        inputs, targets = (each[runs] if each.ndim == 3 else each for each in (self.inputs, self.targets))
        return Data(inputs, targets)


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
