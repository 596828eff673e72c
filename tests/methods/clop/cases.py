"""Small data for the tests of learning objects."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def two_classes(count: int = 60, features: int = 6, seed: int = 0) -> tuple[Numbers, NDArray[np.int64]]:
    """Labels of ±1; the first feature tells most, the second some, the others nothing."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, features))
    y = np.where(2 * X[:, 0] + X[:, 1] + 0.3 * random.normal(size=count) > 0, 1, -1)
    return X, y


def three_classes(count: int = 90, seed: int = 0) -> tuple[Numbers, NDArray[Any]]:
    """Three separate clouds with names."""
    random = np.random.default_rng(seed)
    codes = np.arange(count) % 3
    X = random.normal(size=(count, 4))
    X[:, :2] += 4 * np.array([[0, 0], [1, 0], [0, 1]])[codes]
    return X, np.array(["ash", "birch", "cedar"])[codes]


def sparse_counts(
    count: int = 50, features: int = 30, seed: int = 0
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """A sparse table, nine numbers of ten 0, none below 0; labels by two of the features."""
    random = np.random.default_rng(seed)
    table = np.where(random.uniform(size=(count, features)) < 0.1, random.uniform(1, 5, (count, features)), 0)
    y = np.where(np.arange(count) % 2, 1, -1)
    table[y > 0, 3] += 2.0
    table[:, 7] = np.where(random.uniform(size=count) < 0.8, y > 0, y < 0)
    return sp.csr_array(table), y
