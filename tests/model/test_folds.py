"""Folds dealt in one place are the folds that were dealt in several before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.errors import SpecError
from redelve.model.designs import cross_validation_lists
from redelve.model.designs.folds import cut, cut_in_groups, dealt, groups_for, splits_of

CASES = np.arange(1, 13)
CLASSES = np.array([0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0])
GROUPS = np.array([1, 1, 1, 2, 2, -1, -1, -1, 3, 3, 4, -1])


@pytest.mark.parametrize(
    ("classes", "groups", "tested"),
    [
        (None, None, [[2, 6, 9, 12], [1, 5, 7, 11], [3, 4, 8, 10]]),
        (None, GROUPS, [[1, 2, 3, 4, 5, 11], [8, 9, 10, 12], [6, 7]]),
        (CLASSES, None, [[1, 6, 7, 10], [3, 5, 8, 11], [2, 4, 9, 12]]),
        (CLASSES, GROUPS, [[1, 2, 3, 6], [7, 8, 9, 10], [4, 5, 11, 12]]),
    ],
)  # made by commit 7164602
def test_the_folds_of_before_come_out(classes: object, groups: object, tested: list[list[int]]) -> None:
    lists = cross_validation_lists(CASES, 3, ("folds", 0), classes=classes, commonality=groups)  # type: ignore[arg-type]
    assert [testing.tolist() for _, testing in lists] == tested  # type: ignore[union-attr]
    for training, testing in lists:
        assert np.array_equal(np.setdiff1d(CASES, testing), training)


@given(st.integers(2, 60), st.integers(2, 9), st.integers(1, 4), st.integers(0, 99))
def test_folds_and_classes_in_them_differ_by_one_case_at_most(
    count: int, folds: int, classes: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    order, labels = rng.permutation(count), rng.integers(0, classes, count)
    for numbers in (dealt(order, folds), dealt(order, folds, labels), cut(order, folds)):
        assert np.ptp(np.bincount(numbers, minlength=folds)) <= 1
    numbers = dealt(order, folds, labels)
    for one in range(classes):
        assert np.ptp(np.bincount(numbers[labels == one], minlength=folds)) <= 1


@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 99))
def test_cutting_single_cases_is_cutting_groups_of_one(count: int, folds: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(count)
    single = [np.array([place]) for place in range(count)]
    assert np.array_equal(cut(order, folds), cut_in_groups(order, single, folds))


def test_splits_have_every_case_on_one_side() -> None:
    for outside, inside in splits_of(dealt(np.arange(7), 3), 3):
        assert sorted([*outside, *inside]) == list(range(7))


def test_more_folds_than_groups_are_refused() -> None:
    assert len(groups_for(8, 12, GROUPS)) == 8
    with pytest.raises(SpecError, match="can't make 9 folds of 8 groups of cases: choose 2 to 8"):
        groups_for(9, 12, GROUPS)
