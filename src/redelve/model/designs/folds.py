"""Folds are dealt here and nowhere else: an order of the cases in, the fold of each case out.

The caller draws the order, so that each design, way and method keeps its own named randomness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redelve.errors import SpecError
from redelve.model.dataset import Rows
from redelve.model.designs.groups import Integers, group_labels, positions_by_group


def dealt(order: Rows, folds: int, classes: Rows | None = None) -> Rows:
    """The fold of each case when cases are dealt in this order, like cards, class after class.

    Sizes of folds, and of classes in them, differ by one at most.

    >>> dealt(np.array([3, 0, 2, 1]), 2).tolist()
    [1, 1, 0, 0]
    >>> dealt(np.array([3, 0, 2, 1]), 2, np.array([0, 0, 1, 1])).tolist()
    [0, 1, 1, 0]
    """
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(len(order)) % folds
    return numbers


def dealt_in_groups(order: Rows, groups: Sequence[Rows], folds: int, classes: Rows) -> Rows:
    """The fold of each case when whole groups are dealt: the largest first, the others in this order.

    A group goes to the fold that has least of its classes so far.
    """
    class_count = int(classes.max()) + 1
    weights = 1 / np.maximum(np.bincount(classes, minlength=class_count), 1)
    held = np.zeros((folds, class_count))
    numbers = np.empty(len(classes), dtype=np.int64)
    for group in sorted((groups[place] for place in order), key=len, reverse=True):
        content = np.bincount(classes[group], minlength=class_count)
        crowding = held @ (weights * content) + held.sum(axis=1) * len(group) / len(classes)
        chosen = int(np.argmin(crowding))
        held[chosen] += content
        numbers[group] = chosen
    return numbers


def cut(order: Rows, folds: int) -> Rows:
    """The fold of each case when the order is cut into parts as equal as can be.

    >>> cut(np.array([3, 0, 2, 1, 4]), 2).tolist()
    [0, 1, 0, 0, 1]
    """
    numbers = np.empty(len(order), dtype=np.int64)
    for fold, part in enumerate(np.array_split(order, folds)):
        numbers[part] = fold
    return numbers


def cut_in_groups(order: Rows, groups: Sequence[Rows], folds: int) -> Rows:
    """The fold of each case when the order is one of whole groups."""
    sizes = [len(group) for group in groups]
    numbers = np.empty(sum(sizes), dtype=np.int64)
    numbers[np.concatenate(groups)] = np.repeat(cut(order, folds), sizes)
    return numbers


def splits_of(numbers: Rows, folds: int) -> list[tuple[Rows, Rows]]:
    """For each fold the cases outside and those inside."""
    return [(np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)) for fold in range(folds)]


def groups_for(folds: int, count: int, commonality: Integers | None) -> list[Rows]:
    """The positions of each group of cases; an error if so many folds can't be made of them."""
    groups = positions_by_group(group_labels(commonality, count))
    if not 2 <= folds <= len(groups):
        raise SpecError(
            f"can't make {folds} folds of {len(groups)} groups of cases: choose 2 to {len(groups)}"
        )
    return groups
