"""Losses of nested cross-validation, put where its estimate wants them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from redelve.findings.loss_tables import MethodLosses, Numbers
from redelve.model.designs.nested_design import outer_folds
from redelve.run.results import TaskFacts
from redelve.stats.resampled import NestedCV, nested_cross_validation


def outer_instances(facts: TaskFacts) -> int:
    """How many of a task's instances, the first ones, are folds; in plain cross-validation all are."""
    if facts.scheme != "nested-cross-validation":
        return len(facts.instances)
    return facts.repetitions * outer_folds(len(facts.instances), facts.repetitions)


def nested_estimate(facts: TaskFacts, losses: MethodLosses) -> NestedCV:
    """The expected loss with the standard error of Bates, Hastie and Tibshirani (2024)."""
    outer_count = outer_instances(facts)
    folds = outer_count // facts.repetitions
    outer = [losses.by_instance[number].mean(axis=0) for number in range(outer_count)]
    by_repetition, inner = [], []
    position = outer_count
    for repetition in range(facts.repetitions):
        start = repetition * folds
        members = [facts.instances[start + k].case_numbers for k in range(folds)]
        parts: list[list[Numbers]] = [[] for _ in range(folds)]
        for left, right in combinations(range(folds), 2):
            tested = facts.instances[position].case_numbers
            table = losses.by_instance[position].mean(axis=0)
            parts[left].append(table[np.isin(tested, members[right])])
            parts[right].append(table[np.isin(tested, members[left])])
            position += 1
        inner.append([np.concatenate(part) for part in parts])
        by_repetition.append(outer[start : start + folds])
    return nested_cross_validation(inner, by_repetition)
