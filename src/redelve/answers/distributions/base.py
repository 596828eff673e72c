"""What every predictive distribution can do, and checks of parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from redelve.errors import PredictionError
from redelve.model.dataset import Numbers

CRPS_LEVELS = 200
"""Levels at which a distribution without a closed form is compared with the truth for its CRPS."""


class Distribution(ABC):
    """One predictive distribution per test case; the fields of a subclass are arrays with a row per case."""

    kind: ClassVar[str]

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def log_density(self, values: Numbers) -> Numbers:
        """The log density of each case's value."""

    @abstractmethod
    def probability_below(self, values: Numbers) -> Numbers:
        """The probability, case by case, of at most the value."""

    def probability_above(self, values: Numbers) -> Numbers:
        """The probability, case by case, of more than the value; kinds that can keep small ones exact do."""
        return 1.0 - self.probability_below(values)

    @abstractmethod
    def quantile(self, level: float) -> Numbers:
        """What each case stays below with probability `level`."""

    @abstractmethod
    def mean(self) -> Numbers:
        """The best guess for squared error."""

    def median(self) -> Numbers:
        """The best guess for absolute error."""
        return self.quantile(0.5)

    def crps(self, values: Numbers) -> Numbers:
        """The continuous ranked probability score, ∫ (F(x) − 1[x ≥ value])² dx (Gneiting and Raftery 2007).

        Without a closed form it is twice the quantile loss averaged over equally spaced levels, which
        tends to the same as the levels become many (Gneiting and Ranjan 2011, eq. 9).
        """
        levels = (np.arange(CRPS_LEVELS) + 0.5) / CRPS_LEVELS
        total = np.zeros(len(self))
        for level in levels.tolist():
            gap = values - self.quantile(level)
            total += np.where(gap >= 0, level * gap, (level - 1) * gap)
        return 2 * total / CRPS_LEVELS

    def covers(self, values: Numbers, level: float = 0.9) -> NDArray[np.bool_]:
        """Whether each value lies in the central interval of the given probability."""
        tail = (1 - level) / 2
        inside: NDArray[np.bool_] = (values >= self.quantile(tail)) & (values <= self.quantile(1 - tail))
        return inside

    def parameters(self) -> dict[str, Numbers]:
        """The arrays that make up the distribution, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def column(values: Numbers, name: str) -> Numbers:
    """One finite number per case, not to be changed."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise PredictionError(f"{name} of a predictive distribution must be one finite number per case")
    array.setflags(write=False)
    return array


def table(values: Numbers, name: str) -> Numbers:
    """A row of finite numbers per case, not to be changed."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] == 0 or not np.isfinite(array).all():
        raise PredictionError(f"{name} of a predictive distribution must be a row of finite numbers per case")
    array.setflags(write=False)
    return array


def check_positive(values: Numbers, name: str) -> None:
    """Refuse numbers that are not above zero, naming the first case."""
    if (values <= 0).any():
        case = int(np.argmax((values <= 0).reshape(len(values), -1).any(axis=1)))
        raise PredictionError(f"case {case + 1}: {name} must be positive but is {np.min(values[case]):g}")


def check_same_shape(**arrays: Numbers) -> None:
    """Refuse parameters that do not speak of the same cases."""
    if len({array.shape for array in arrays.values()}) > 1:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise PredictionError(f"the parameters of a distribution must have the same shape: got {found}")
