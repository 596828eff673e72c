"""All pairs at once find what the comparisons of two methods find one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redelve.errors import StatisticsError
from redelve.stats.anova import compare_common, compare_hierarchical
from redelve.stats.families import PairSquares, joined, pairs_of_means, pairs_of_sets
from redelve.stats.mean_squares import FloatArray
from redelve.stats.one_partition import compare_partition
from redelve.stats.resampled import compare_resampled

PLACES = tuple(zip(*combinations(range(4), 2), strict=True))
BOTH = (PLACES[0], PLACES[1])


def drawn(seed: int, sizes: tuple[int, ...]) -> list[list[FloatArray]]:
    """Losses of four methods on sets of these sizes; a shared part makes methods alike."""
    rng = np.random.default_rng(seed)
    shared = [rng.exponential(size=size) for size in sizes]
    return [[part + rng.normal(rng.normal(), 0.3, size=part.size) for part in shared] for _ in range(4)]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([(9, 9, 9), (3, 8, 5, 4), (200, 200)]))
def test_own_test_cases_give_the_t_test(seed: int, sizes: tuple[int, ...]) -> None:
    losses = drawn(seed, sizes)
    found = pairs_of_sets(losses, BOTH, "hierarchical")
    for place, (p, q) in enumerate(combinations(range(4), 2)):
        test = compare_hierarchical(losses[p], losses[q])
        assert test.difference == pytest.approx(found.differences[place], rel=1e-10)
        assert test.differences.interval_standard_error == pytest.approx(found.standard_errors[place])
        squares = test.differences.mean_squares
        assert squares is not None
        assert squares.residual is not None
        assert squares.residual / test.differences.effective_test_cases == pytest.approx(found.within[place])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([(3, 40), (2, 2), (8, 100)]))
def test_common_test_cases_give_the_f_test(seed: int, shape: tuple[int, int]) -> None:
    losses = drawn(seed, (shape[1],) * shape[0])
    found = pairs_of_sets(losses, BOTH, "common")
    assert found.shared is not None
    for place, (p, q) in enumerate(combinations(range(4), 2)):
        test = compare_common(losses[p], losses[q])
        assert test.difference == pytest.approx(found.differences[place], rel=1e-10)
        assert test.differences.interval_standard_error == pytest.approx(found.standard_errors[place])
        training, cases, residual = test.differences.crossed_mean_squares() or (0, 0, 0)
        assert training / shape[1] == pytest.approx(found.between[place])
        assert max(cases - residual, 0) / shape[1] == pytest.approx(found.shared[place], abs=1e-12)


def test_folds_give_the_corrected_resampled_test() -> None:
    means = np.random.default_rng(1).exponential(size=(4, 10))
    found = pairs_of_means(means, BOTH, 1 / 10 + 1 / 9)
    test = compare_resampled(means[0], means[1], ratio=1 / 9)
    assert test.difference == pytest.approx(found.differences[0])
    assert test.standard_error == pytest.approx(found.standard_errors[0])
    assert test.degrees_of_freedom == found.df[0]


def test_cases_of_one_test_set_give_the_paired_test() -> None:
    cases = np.random.default_rng(2).exponential(size=(4, 50))
    found = pairs_of_means(cases, BOTH, 1 / 50)
    test = compare_partition(cases[:1], cases[1:2])
    assert test.difference == pytest.approx(found.differences[0])
    assert test.differences.interval_standard_error == pytest.approx(found.standard_errors[0])


def test_methods_that_are_almost_the_same_lose_no_digits() -> None:
    rng = np.random.default_rng(3)
    base = rng.exponential(size=(4, 300)) * 1e6
    twin = base + rng.normal(size=base.shape) * 1e-3
    found = pairs_of_sets([list(base), list(twin)], ([0], [1]), "hierarchical")
    test = compare_hierarchical(list(base), list(twin))
    squares = test.differences.mean_squares
    assert squares is not None
    assert squares.residual is not None
    assert squares.residual / 300 == pytest.approx(found.within[0], rel=1e-5)


def test_an_infinite_loss_leaves_no_variance_but_for_the_others() -> None:
    losses = drawn(4, (5, 5))
    losses[1][0][2] = np.inf
    found = pairs_of_sets(losses, BOTH, "hierarchical")
    assert np.isnan(found.between).tolist() == [True, False, False, True, True, False]
    assert found.differences[0] == -np.inf


def test_a_method_that_never_differs_has_no_test() -> None:
    rows = [np.arange(5.0), np.arange(5.0)]
    found = pairs_of_sets([rows, [row + 1 for row in rows]], ([0], [1]), "common")
    assert found.differences.tolist() == [-1.0]
    assert np.isnan(found.between).all()


def test_set_means_that_tie_leave_what_cases_vary() -> None:
    first = np.array([[1.0, -1, 0, 1, 0, 1, 0, 0], [-1, 1, 0, 1, 1, 0, 0, 0]])
    found = pairs_of_sets([list(first), list(np.zeros((2, 8)))], ([0], [1]), "common")
    assert found.differences.tolist() == [0.25]
    assert found.between[0] == found.within[0] > 0


def test_one_training_set_is_refused() -> None:
    with pytest.raises(StatisticsError, match="fewer than two training sets: got 1"):
        pairs_of_sets([[np.ones(3)], [np.ones(3)]], ([0], [1]), "hierarchical")


def test_tables_join() -> None:
    losses = drawn(5, (6, 6, 6))
    whole = pairs_of_sets(losses, BOTH, "hierarchical")
    parts = [
        pairs_of_sets([losses[p], losses[q]], ([0], [1]), "hierarchical")
        for p, q in combinations(range(4), 2)
    ]
    together: PairSquares = joined(parts)
    np.testing.assert_allclose(together.between, whole.between)
    assert together.shared is None
