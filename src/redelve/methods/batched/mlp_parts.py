"""What the estimators are made of: their parameters' checks, standardised columns, validation cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.methods.batched.members import SOLVERS, MemberData
from redelve.model.dataset import Numbers
from redelve.nets.activations import ACTIVATIONS


@dataclass(frozen=True, eq=False)
class Standardised:
    """Columns brought to mean 0 and standard deviation 1; columns without spread only to mean 0."""

    mean: Numbers
    scale: Numbers

    @classmethod
    def of(cls, table: Numbers, weights: Numbers | None, wanted: bool) -> Standardised:
        """By weighted moments; where it is not wanted, columns stay as they are."""
        if not wanted:
            return cls(np.zeros(table.shape[1]), np.ones(table.shape[1]))
        mean = np.average(table, axis=0, weights=weights)
        spread = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weights))
        flat = spread <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
        return cls(mean, np.where(flat, 1.0, spread))

    def apply(self, table: Numbers) -> Numbers:
        """Standardised columns."""
        return np.asarray((table - self.mean) / self.scale)

    def undo(self, table: Numbers) -> Numbers:
        """Columns as they were."""
        return np.asarray(table * self.scale + self.mean)


def check_parameters(estimator: Any) -> None:
    """Refuse values that make no network."""
    hidden = estimator.hidden_layer_sizes
    demand(
        estimator, "hidden_layer_sizes", "whole numbers, 1 or more", is_whole(hidden, 1) or _all_whole(hidden)
    )
    demand(estimator, "solver", " or ".join(SOLVERS), estimator.solver in SOLVERS)
    units = [name for name in ACTIVATIONS if name != "softmax"]
    demand(estimator, "activation", ", ".join(units), estimator.activation in units)
    for name in ("max_iter", "n_iter_no_change", "measure_every", "n_networks"):
        demand(estimator, name, "a whole number, 1 or more", is_whole(getattr(estimator, name), 1))
    size = estimator.batch_size
    demand(estimator, "batch_size", '1 or more, "auto" or None', size in ("auto", None) or is_whole(size, 1))
    for name in ("alpha", "momentum"):
        demand(estimator, name, "a number, 0 or more", is_number(getattr(estimator, name), 0.0, np.inf))
    demand(
        estimator,
        "learning_rate_init",
        "a number above 0",
        is_number(estimator.learning_rate_init, 1e-300, np.inf),
    )
    fraction = estimator.validation_fraction
    demand(estimator, "validation_fraction", "a number between 0 and 1", is_number(fraction, 0.0, 1 - 1e-12))


def demand(estimator: Any, name: str, wanted: str, good: bool) -> None:
    """Refuse a parameter that is no good."""
    if not good:
        kind = type(estimator).__name__
        raise ValueError(f"{kind}: {name}={getattr(estimator, name)!r}: give {wanted}")


def is_whole(value: Any, least: int) -> bool:
    """Whether it is a whole number and large enough."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _all_whole(values: Any) -> bool:
    return isinstance(values, Sequence | np.ndarray) and all(is_whole(one, 1) for one in values)


def is_number(value: Any, least: float, most: float) -> bool:
    """Whether it is a number in these bounds."""
    return isinstance(value, Real) and not isinstance(value, bool) and least <= float(value) <= most


def with_weight(weights: Numbers) -> NDArray[np.bool_]:
    """Which cases weigh anything."""
    if weights.min() < 0:
        raise ValueError(f"sample_weight has {weights.min():g}: negative values are not taken")
    if not weights.any():
        raise ValueError("sample_weight is 0 for all cases: give at least one case a weight above 0")
    return weights > 0


def split_off(
    data: MemberData, count: int, strata: NDArray[np.intp] | None, random: np.random.Generator
) -> tuple[MemberData, MemberData]:
    """Cases to learn from and cases to stop by, evenly spaced through the classes in random order."""
    order = random.permutation(len(data.inputs))
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    count = min(count, len(order) - 1)
    places = ((np.arange(count) + random.random()) * len(order) / count).astype(np.intp)
    watched = np.zeros(len(order), dtype=bool)
    watched[order[places]] = True
    return _of_rows(data, ~watched), _of_rows(data, watched)


def _of_rows(data: MemberData, rows: NDArray[np.bool_]) -> MemberData:
    weights = None if data.weights is None else data.weights[rows]
    return MemberData(data.inputs[rows], data.targets[rows], weights)
