"""Random starts: every run draws from its own seed and from nothing else."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets.architecture import Architecture

Words = NDArray[np.uint64]

FEW = 128
"""Up to so many numbers for each seed, all seeds are drawn from together."""

TOGETHER = 16_384
"""Seeds drawn from together: their words stay in the processor's cache."""

MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
BUMPS = np.array([0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B], dtype=np.uint64)
ROUNDS = 10
LOW_HALF, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def draw(
    architecture: Architecture, seeds: Sequence[int], name: str, low: float, high: float
) -> NDArray[np.float64]:
    """Runs × connections numbers, uniform between `low` and `high`; another `name` draws other numbers.

    A run's numbers are those of `numpy.random.Philox(key=[seed, crc32 of the name])`, whatever other seeds
    there are and however many.
    """
    if not low <= high:
        raise SpecError(f"{name} between {low} and {high}: give the smaller number first")
    keys, purpose, count = _keys(seeds), zlib.crc32(name.encode()), architecture.connection_count
    if count > FEW:
        return np.array(list(_one_by_one(keys, purpose, low, high, count))).reshape(len(keys), count)
    found = np.empty((len(keys), count))

    def fill(start: int) -> None:
        part = slice(start, start + TOGETHER)
        found[part] = low + (high - low) * _unit(keys[part], purpose, count)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(0, len(keys), TOGETHER)))
    return found


def initial_weights(
    architecture: Architecture, seeds: Sequence[int], r: float, dtype: str = "float64"
) -> NDArray[Any]:
    """Weights of one network for each seed, uniform between -r and r, biases too.

    >>> architecture = Architecture((2, 2, 1), ("logistic", "logistic"))
    >>> both, alone = (initial_weights(architecture, seeds, 1.4) for seeds in ([7, 8], [8]))
    >>> bool((both[1] == alone[0]).all())
    True
    """
    return draw(architecture, seeds, "weights", -r, r).astype(dtype, copy=False)


def _keys(seeds: Sequence[int]) -> Words:
    try:
        return np.array(seeds, dtype=np.uint64)
    except OverflowError:
        wrong = next(seed for seed in seeds if not 0 <= seed < 2**64)
        raise SpecError(
            f"seed {wrong}: give a number from 0 to 2^64 - 1, such as redelve.seeds.seed returns"
        ) from None


def _one_by_one(
    keys: Words, purpose: int, low: float, high: float, count: int
) -> Iterator[NDArray[np.float64]]:
    """The numbers of each key: one generator is set to one key after the other, faster than making many."""
    # Philox has an independent stream for every key.
    philox = np.random.Philox(key=np.array([0, purpose], dtype=np.uint64))
    begin, generator = philox.state, np.random.Generator(philox)
    for key in keys:
        begin["state"]["key"][0] = key
        philox.state = begin
        yield generator.uniform(low, high, count)


# --- the same stream for many keys at once -----------------------------------------------------------------


def _unit(keys: Words, purpose: int, count: int) -> NDArray[np.float64]:
    """Keys × count numbers from 0 to 1: 53 bits of each word, as NumPy makes them."""
    blocks = [_philox(keys, purpose, number) for number in range(1, (count + 3) // 4 + 1)]
    words = np.concatenate(blocks)[:count]
    return np.ascontiguousarray(((words >> np.uint64(11)) * 2.0**-53).T)


def _philox(keys: Words, purpose: int, number: int) -> Words:
    """Philox4x64-10 (Salmon, Moraes, Dror and Shaw 2011): 4 × keys words, block `number` of each stream."""
    first, second = keys.copy(), np.array([purpose], dtype=np.uint64)
    words = [np.full_like(keys, number), *(np.zeros_like(keys) for _ in range(3))]
    for _ in range(ROUNDS):
        (high0, low0), (high1, low1) = _product(MULTIPLIERS[0], words[0]), _product(MULTIPLIERS[1], words[2])
        words = [high1 ^ words[1] ^ first, low1, high0 ^ words[3] ^ second, low0]
        first += BUMPS[0]
        second += BUMPS[1]
    return np.array(words)


def _product(factor: int, words: Words) -> tuple[Words, Words]:
    """The high and the low 64 bits of factor × words, from products of halves."""
    low, high = np.uint64(factor & 0xFFFFFFFF), np.uint64(factor >> 32)
    below, above = words & LOW_HALF, words >> HALF
    crossed = above * low
    middle = ((below * low) >> HALF) + (crossed & LOW_HALF) + below * high
    return above * high + (crossed >> HALF) + (middle >> HALF), words * np.uint64(factor)
