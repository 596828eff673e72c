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
    >>> len(folds.instances), len(redelve.nest(folds).instances)
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
