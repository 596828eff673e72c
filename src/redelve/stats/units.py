"""Dependent test cases: those that share a commonality index count as one unit in every standard error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray

Labels = NDArray[Any]


def pool_units(
    losses: ArrayLike | Sequence[ArrayLike], groups: ArrayLike | Sequence[ArrayLike]
) -> list[FloatArray]:
    """One value per unit instead of one per test case, with every training set's mean unchanged.

    u_ig = ȳ_i + (G/J) Σ_{j∈g} (y_ij − ȳ_i), the linearised ratio of sums over units (Cochran 1977, ch. 6);
    with units of equal size it is the mean of the unit. `groups` holds a label per test case: one vector for
    a common test set, one vector per training set in the hierarchical scheme. The rows that come back go to
    the analyses in place of the losses. Losses of several runs, losses[i][r, j], are pooled run by run.

    >>> [row.tolist() for row in pool_units([[1.0, 3.0, 5.0, 7.0], [2.0, 2.0, 4.0, 6.0]], [0, 0, 1, 1])]
    [[2.0, 6.0], [2.0, 5.0]]
    """
    rows = [np.asarray(row, dtype=np.float64) for row in losses]  # type: ignore[union-attr]
    return [
        _pool(row, labels, i)
        for i, (row, labels) in enumerate(zip(rows, _labels(groups, len(rows)), strict=True))
    ]


def weighted(losses: FloatArray, weights: FloatArray) -> FloatArray:
    """Values whose plain mean is the weighted mean of the losses, and whose spread is that of it.

    u_j = m + w_j (y_j − m)/w̄ with m the weighted mean: the linearised ratio of Σ w y to Σ w (Cochran 1977,
    ch. 6). It is linear in the losses, so differences of two methods come out weighted as well.

    >>> weighted(np.array([1.0, 0.0, 0.0]), np.array([2.0, 1.0, 1.0])).tolist()
    [1.25, 0.125, 0.125]
    """
    mean = float(losses @ weights / weights.sum())
    return np.asarray(mean + weights * (losses - mean) / weights.mean())


def _labels(groups: ArrayLike | Sequence[ArrayLike], training_sets: int) -> list[Labels]:
    """Labels of every training set's test cases; a vector of labels serves them all."""
    vectors = [np.asarray(group) for group in groups]  # type: ignore[union-attr]
    if all(vector.ndim == 0 for vector in vectors):
        return [np.asarray(groups)] * training_sets
    if len(vectors) != training_sets:
        raise StatisticsError(
            "groups are one vector of labels, or one for each training set: "
            f"got {len(vectors)} for {training_sets} training sets"
        )
    refuse_shared_units(vectors)
    return vectors


def refuse_shared_units(vectors: Sequence[Labels]) -> None:
    """A unit in two test sets would make two training sets dependent, and no t-test could be believed."""
    owner: dict[object, int] = {}
    for i, vector in enumerate(vectors):
        for label in np.unique(vector).tolist():
            if owner.setdefault(label, i) != i:
                raise StatisticsError(
                    f"unit {label!r} has test cases in the test sets of training sets {owner[label]}, {i}, "
                    "which are therefore not independent: draw test sets that keep units whole, or, if these "
                    "are different units, give them different labels"
                )


def _pool(row: FloatArray, labels: Labels, i: int) -> FloatArray:
    if row.ndim == 0 or labels.ndim != 1 or row.shape[-1] != labels.size or not labels.size:
        raise StatisticsError(
            f"training set {i}: losses of shape {row.shape} do not fit group labels of shape {labels.shape}"
        )
    units, index = np.unique(labels, return_inverse=True)
    if units.size == labels.size:
        return row
    mean = row.mean(axis=-1, keepdims=True)
    deviation = (row - mean).reshape(-1, labels.size)
    sums = np.stack([np.bincount(index, weights=one, minlength=units.size) for one in deviation])
    return np.asarray(mean + units.size / labels.size * sums.reshape(*row.shape[:-1], units.size))
