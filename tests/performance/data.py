"""Cases for the tests of this room."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def two_classes(cases: int = 60, seed: int = 1, shift: float = 1.0) -> tuple[NDArray[Any], NDArray[Any]]:
    """As many cases of each class, three inputs, one of which tells."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(["no", "yes"], [cases // 2, cases - cases // 2])
    inputs = rng.normal(size=(cases, 3))
    inputs[labels == "yes", 0] += shift
    order = rng.permutation(cases)
    return inputs[order], labels[order]


def numbers(cases: int = 60, seed: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numbers that depend on the first of three inputs."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(cases, 3))
    return inputs, 2 * inputs[:, 0] + rng.normal(size=cases)
