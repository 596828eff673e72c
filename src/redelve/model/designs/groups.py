"""Groups of cases that have something in common (manual 3.2), and DELVE 1.1's random order of cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from redelve.errors import SpecError
from redelve.model import Instance, Prototask
from redelve.model.dataset import NO_COMMONALITY, Rows

Integers = Sequence[int] | Rows


def as_rows(integers: Integers) -> Rows:
    """The integers as an array."""
    return np.asarray(integers, dtype=np.int64)


def has_groups(commonality: Integers | None) -> bool:
    """Whether any case has a commonality index."""
    return commonality is not None and bool((as_rows(commonality) != NO_COMMONALITY).any())


def group_labels(commonality: Integers | None, count: int) -> Rows:
    """The group of each case: its commonality index, or a label above all indexes that no other case has."""
    own = np.arange(count, dtype=np.int64)
    if commonality is None:
        return own
    indexes = as_rows(commonality)
    if len(indexes) != count:
        raise SpecError(f"there are {len(indexes)} commonality indexes for {count} cases: give one for each")
    if count and indexes.min() < NO_COMMONALITY:
        raise SpecError(
            f"commonality index {indexes.min()} is negative: give 0 or more, or {NO_COMMONALITY} for none"
        )
    return np.where(indexes == NO_COMMONALITY, own + 1 + indexes.max(initial=NO_COMMONALITY), indexes)


def positions_by_group(labels: Rows) -> list[Rows]:
    """The positions of each group's cases; groups come in the order of their first cases."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    by_group = np.split(
        np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse, minlength=len(first)))[:-1]
    )
    return [by_group[group] for group in np.argsort(first)]


def group_ends(labels: Rows) -> Rows:
    """For each position, the first position after its group; refused when a group is torn apart."""
    changes = np.flatnonzero(np.diff(labels)) + 1
    bounds = np.concatenate([[0], changes, [len(labels)]])
    starts = labels[bounds[:-1]]
    found, runs = np.unique(starts, return_counts=True)
    if (runs > 1).any():
        torn = found[np.argmax(runs > 1)]
        raise SpecError(
            f"cases with commonality index {torn} don't follow one another in the prototask's order: "
            f"run dgenorder, and name the file it writes in Order"
        )
    return np.repeat(bounds[1:], np.diff(bounds))


def check_dependencies(prototask: Prototask, commonality: Integers | None) -> None:
    """Refuse a sequential prototask that has groups, another order, or a negative range (manual 4.1)."""
    if prototask.dependency_range is None:
        return
    name = f'sequential prototask "{prototask.name}"'
    if prototask.dependency_range < 0:
        raise SpecError(
            f"{name} has Maximum-Dependency-Range {prototask.dependency_range}: "
            f"give a number of cases, 0 or more"
        )
    if prototask.order != "retain":
        raise SpecError(
            f'{name} has Order "{prototask.order}": '
            f"write Order: retain, or leave out Maximum-Dependency-Range"
        )
    if has_groups(commonality):
        raise SpecError(
            f"{name} has cases with commonality indexes, which is not allowed: leave out "
            f"Maximum-Dependency-Range and run dgenorder, or leave out the indexes"
        )


def commonality_units(instances: Sequence[Instance], commonality: Integers | None) -> list[Rows]:
    """For each instance the group of every test case, so that standard errors can count groups, not cases.

    A case without an index has a label of its own; labels mean the same in all instances.
    """
    labels = labels_for(instances, commonality)
    return [labels[instance.testing] for instance in instances]


def labels_for(instances: Sequence[Instance], commonality: Integers | None) -> Rows:
    """The group of every case that the instances may use."""
    sets = [positions for instance in instances for positions in (instance.training, instance.testing)]
    used = 1 + max((int(positions.max(initial=-1)) for positions in sets), default=-1)
    count = used if commonality is None else len(commonality)
    if count < used:
        raise SpecError(
            f"there are {count} commonality indexes but the instances use case {used}: "
            f"give one for each case of the prototask"
        )
    return group_labels(commonality, count)


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
