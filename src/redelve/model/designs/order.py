"""The random order of cases that DELVE 1.1 makes, number for number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from redelve.errors import SpecError
from redelve.model.cases import Rows
from redelve.model.designs.groups import Integers, group_labels, positions_by_group

LONG_LAG, SHORT_LAG = 1279, 418
BITS = 24

Item = TypeVar("Item")


def random_order(count: int, seed: int = 0) -> Rows:
    """The numbers 1 to `count` in DELVE's random order.

    >>> random_order(10)
    array([ 6,  7,  1,  8,  4,  2, 10,  9,  5,  3])
    """
    if count < 0:
        raise SpecError(f"can't order {count} cases: give a count of 0 or more")
    return np.array(_shuffled(range(1, count + 1), uniforms(seed)), dtype=np.int64)


def random_order_of_groups(commonality: Integers, seed: int = 0) -> Rows:
    """A random order, counting from 1, that keeps cases with the same commonality index together.

    One stream of numbers serves for everything: first the groups are shuffled (they start in the order of
    their first cases), then the cases of each group, group after group in the new order. A case without an
    index (−1) is a group of its own; if there are only such cases, this is `random_order`.
    """
    stream = uniforms(seed)
    groups = positions_by_group(group_labels(commonality, len(commonality)))
    order = [case for group in _shuffled(groups, stream) for case in _shuffled(group.tolist(), stream)]
    return np.array(order, dtype=np.int64) + 1


def _shuffled(items: Sequence[Item], stream: Iterator[float]) -> list[Item]:
    """A forward Fisher–Yates shuffle; it takes one number for each item, the last included."""
    order = list(items)
    for place in range(len(order)):
        other = place + int((len(order) - place) * next(stream))
        order[place], order[other] = order[other], order[place]
    return order


def uniforms(seed: int = 0) -> Iterator[float]:
    """DELVE's random numbers in [0, 1): a lagged Fibonacci generator by subtraction (James 1990).

    The numbers have 24 significant bits, so they are kept as integers and subtraction is exact.
    """
    table = _start_table(seed)
    far, near = LONG_LAG - 1, SHORT_LAG - 1
    while True:
        table[far] = (table[far] - table[near]) % 2**BITS
        yield table[far] / 2**BITS
        far, near = (far - 1) % LONG_LAG, (near - 1) % LONG_LAG


def _start_table(seed: int) -> list[int]:
    """The table, filled bit by bit as by RMARIN (James 1990, A review of pseudorandom number generators)."""
    ij, kl = divmod(abs(seed) % 900_000_000, 30_082)
    i, j = ij // 177 % 177 + 2, ij % 177 + 2
    k, m = kl // 169 % 178 + 1, kl % 169
    table = []
    for _ in range(LONG_LAG):
        word = 0
        for _ in range(BITS):
            i, j, k = j, k, i * j % 179 * k % 179
            m = (53 * m + 1) % 169
            word = 2 * word + (m * k % 64 >= 32)
        table.append(word)
    return table
