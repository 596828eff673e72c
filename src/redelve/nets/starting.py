"""Random starts: every run draws from its own seed and from nothing else."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets.architecture import Architecture


def draw(
    architecture: Architecture, seeds: Sequence[int], name: str, low: float, high: float
) -> NDArray[np.float64]:
    """Runs × connections numbers, uniform between `low` and `high`; another `name` draws other numbers."""
    if not low <= high:
        raise SpecError(f"{name} between {low} and {high}: give the smaller number first")
    purpose, count = zlib.crc32(name.encode()), architecture.connection_count
    rows = [_generator(seed, purpose).uniform(low, high, count) for seed in seeds]
    return np.array(rows).reshape(len(rows), count)


def _generator(seed: int, purpose: int) -> np.random.Generator:
    # Philox has an independent stream for every key, and is twice as fast to set up as the default generator.
    if not 0 <= seed < 2**64:
        raise SpecError(f"seed {seed}: give a number from 0 to 2^64 - 1, such as redelve.seeds.seed returns")
    return np.random.Generator(np.random.Philox(key=np.array([seed, purpose], dtype=np.uint64)))


def initial_weights(
    architecture: Architecture, seeds: Sequence[int], r: float, dtype: str = "float64"
) -> NDArray[Any]:
    """Weights of one network for each seed, uniform between -r and r, biases too.

    >>> architecture = Architecture((2, 2, 1), ("logistic", "logistic"))
    >>> both, alone = (initial_weights(architecture, seeds, 1.4) for seeds in ([7, 8], [8]))
    >>> bool((both[1] == alone[0]).all())
    True
    """
    return draw(architecture, seeds, "weights", -r, r).astype(dtype)
