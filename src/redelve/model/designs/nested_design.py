"""Nested cross-validation (Bates, Hastie and Tibshirani 2024): every pair of folds is left out, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import isqrt

import numpy as np

from redelve.errors import SpecError
from redelve.model import Assignment, Instance


def nest(assignment: Assignment) -> Assignment:
    """A cross-validation assignment with the instances that its nested form needs.

    The folds come first. Then, for each repetition and each pair of its folds, an instance that trains on all
    other folds and tests on both: what is learnt without folds j and k serves both as j's and as k's inner
    cross-validation, so K folds cost K(K + 1)/2 trainings a repetition.
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
        instances += _pairs(assignment.instances[start : start + folds], len(instances))
    return replace(assignment, instances=tuple(instances), scheme="nested-cross-validation")


def _pairs(folds: Sequence[Instance], first_number: int) -> list[Instance]:
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
