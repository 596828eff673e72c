"""Instances of folds, hold-out and bootstrap samples."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from redelve.model.designs.folds import bootstrap_instances, dealt, fold_instances, held_out, pairs_of_folds


@given(st.integers(4, 40), st.integers(2, 6), st.integers(0, 99))
def test_every_case_is_tested_by_one_fold_and_learnt_from_by_the_others(
    count: int, folds: int, seed: int
) -> None:
    numbers = dealt(np.random.default_rng(seed).permutation(count), folds)
    made = fold_instances(numbers, folds)
    assert [one.number for one in made] == list(range(folds))
    assert sorted(case for one in made for case in one.testing) == list(range(count))
    for one in made:
        assert np.array_equal(one.training, np.setdiff1d(np.arange(count), one.testing))


def test_pairs_of_folds_test_both_and_train_on_neither() -> None:
    numbers = dealt(np.random.default_rng(1).permutation(17), 4)
    pairs = pairs_of_folds(fold_instances(numbers, 4))
    for made, pair in zip(pairs, combinations(range(4), 2), strict=True):
        assert np.array_equal(made.testing, np.flatnonzero(np.isin(numbers, pair)))
        assert np.array_equal(made.training, np.flatnonzero(~np.isin(numbers, pair)))


def test_the_part_held_out_has_its_share_of_each_class() -> None:
    classes = np.repeat([0, 1, 2], [50, 30, 3])
    made = held_out(classes, 0.3, np.random.default_rng(1))
    assert np.bincount(classes[made.testing]).tolist() == [15, 9, 1]
    assert sorted([*made.training, *made.testing]) == list(range(83))
    other = held_out(classes, 0.3, np.random.default_rng(2))
    assert not np.array_equal(made.testing, other.testing)


def test_bootstrap_samples_train_as_often_as_they_hold_a_case_and_test_the_rest() -> None:
    (made,) = bootstrap_instances(np.array([[2, 0, 1, 0]]))
    assert made.training.tolist() == [0, 0, 2]
    assert made.testing.tolist() == [1, 3]
