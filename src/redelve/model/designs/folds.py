"""Folds are dealt here and nowhere else: an order of the cases in, the fold of each case out.

The caller draws the order, so that each design, way and method keeps its own named randomness. Instances come
from folds, from a part held out and from bootstrap samples; nested cross-validation tests pairs of folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.model import Assignment, Instance
from redelve.model.dataset import Rows
from redelve.model.designs.dependence import Integers, group_labels, positions_by_group


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


def fold_instances(numbers: Rows, folds: int) -> tuple[Instance, ...]:
    """The instances that test a fold each, given the fold of each case."""
    return tuple(Instance(fold, *split) for fold, split in enumerate(splits_of(numbers, folds)))


def held_out(classes: Rows, share: float, rng: np.random.Generator) -> Instance:
    """The instance that tests this share of each class, one case at least."""
    members = [np.flatnonzero(classes == one) for one in np.unique(classes)]
    testing = [rng.permutation(one)[: max(round(share * one.size), 1)] for one in members]
    chosen = np.sort(np.concatenate(testing))
    return Instance(0, np.setdiff1d(np.arange(classes.size), chosen), chosen)


def bootstrap_instances(counts: NDArray[np.int64]) -> tuple[Instance, ...]:
    """For each sample the instance that trains on it and tests the cases outside.

    `counts` tells how often each sample (a row) holds each case; training cases repeat so often.
    """
    every = np.arange(counts.shape[1])
    return tuple(
        Instance(number, np.repeat(every, row), np.flatnonzero(row == 0)) for number, row in enumerate(counts)
    )


def nest(assignment: Assignment) -> Assignment:
    """Nested cross-validation of a task whose design is cross-validation.

    Parameters
    ----------
    assignment
        A task with three folds or more, such as `from_frame` makes of a small table.

    Returns
    -------
    Assignment
        The same folds, and for each repetition and each pair of folds an instance that trains on all
        other folds and tests on both.

    Raises
    ------
    RedelveError
        The design is not cross-validation, or has fewer than three folds.

    Notes
    -----
    What is learnt without folds j and k serves both as j's and as k's inner cross-validation, so K
    folds cost K(K + 1)/2 trainings a repetition. In return the interval for the expected loss is an
    honest one (Bates, Hastie and Tibshirani 2024, Journal of the American Statistical Association
    119:1434–1445).

    Examples
    --------
    >>> import pandas as pd
    >>> import redelve
    >>> table = pd.DataFrame({"x": [n % 13 for n in range(60)], "y": [n % 7 for n in range(60)]})
    >>> (folds,) = redelve.from_frame(table, "y").assignments
    >>> len(folds.instances), len(nest(folds).instances)
    (5, 15)
    """
    if assignment.scheme != "cross-validation":
        raise SpecError(
            f"{assignment.address} is {assignment.scheme}: only cross-validation can be nested; where there "
            "are disjoint training sets it is not needed"
        )
    folds = len(assignment.instances) // assignment.repetitions
    if folds < 3:
        raise SpecError(f"nested cross-validation needs three folds or more, not {folds}")
    instances = list(assignment.instances)
    for start in range(0, len(assignment.instances), folds):
        instances += pairs_of_folds(assignment.instances[start : start + folds], len(instances))
    return replace(assignment, instances=tuple(instances), scheme="nested-cross-validation")


def pairs_of_folds(folds: Sequence[Instance], first_number: int = 0) -> list[Instance]:
    """For every pair of folds, in the order of `combinations`, the instance that tests both."""
    made: list[Instance] = []
    for left, right in combinations(folds, 2):
        testing = np.sort(np.concatenate([left.testing, right.testing]))
        training = np.setdiff1d(left.training, right.testing)
        made.append(Instance(first_number + len(made), training, testing))
    return made


def outer_folds(instance_count: int, repetitions: int) -> int:
    """How many folds each repetition has, by the number of all instances.

    >>> outer_folds(2 * (10 + 45), 2)
    10
    """
    each = instance_count // repetitions
    return (isqrt(8 * each + 1) - 1) // 2
