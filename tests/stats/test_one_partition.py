"""One training set: intervals and tests for new seeds and new test cases, and nothing beyond."""

from __future__ import annotations

import timeit
import warnings

import numpy as np
import pytest
from scipy import stats

from redelve.errors import StatisticsError
from redelve.stats.anova import analyse_common, compare_common
from redelve.stats.one_partition import (
    ONE_RUN,
    THIS_TRAINING_SET,
    UNPAIRED_SEEDS,
    analyse_partition,
    compare_partition,
)


def drawn(rng: np.random.Generator, runs: int, cases: int, seeds: float, shared: float = 1.0) -> np.ndarray:
    """Losses with an effect of the seed, of the test case and a residual."""
    made = seeds * rng.standard_normal((runs, 1)) + shared * rng.standard_normal((1, cases))
    return np.asarray(made + rng.standard_normal((runs, cases)))


def test_one_run_is_a_t_test_over_test_cases() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random((1, 50)), rng.random((1, 50))
    found = compare_partition(first, second)
    expected = stats.ttest_rel(first[0], second[0])
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.interval() == pytest.approx(tuple(expected.confidence_interval()))
    one = analyse_partition(first)
    assert one.standard_error == pytest.approx(stats.sem(first[0]))
    assert one.sd_test_cases == pytest.approx(first.std(ddof=1))
    assert (one.training_sets, one.test_cases, one.sd_training) == (1, 50, None)
    assert one.caveats == (THIS_TRAINING_SET, ONE_RUN)


def test_several_runs_take_the_place_of_training_sets() -> None:
    rng = np.random.default_rng(1)
    first, second = drawn(rng, 6, 40, 0.5), drawn(rng, 6, 40, 0.5)
    assert analyse_partition(first).standard_error == analyse_common(first).standard_error
    found = compare_partition(first, second)
    assert found.p_value == compare_common(first, second).p_value
    assert found.caveats[:2] == (THIS_TRAINING_SET, UNPAIRED_SEEDS)


def test_caveats_speak_of_runs() -> None:
    rng = np.random.default_rng(2)
    caveats = analyse_partition(drawn(rng, 2, 40, 0.5)).caveats
    assert any(caveat.startswith("only 2 runs") for caveat in caveats)


def test_a_method_without_seeds_can_be_compared_with_one_that_has_them() -> None:
    rng = np.random.default_rng(3)
    fixed = np.tile(rng.random(40), (5, 1))
    assert compare_partition(fixed, drawn(rng, 8, 40, 0.5)).p_value is not None


@pytest.mark.parametrize(("runs", "seeds"), [(5, 0.0), (5, 0.5), (30, 0.5)])
def test_the_level_is_kept_for_new_seeds_and_test_cases(runs: int, seeds: float) -> None:
    rng = np.random.default_rng(4)
    rejected = 0
    for _ in range(600):
        first, second = drawn(rng, runs, 40, seeds), drawn(rng, runs, 40, seeds)
        p = compare_partition(first, second).p_value
        rejected += p is not None and p < 0.05
    assert rejected / 600 < 0.08


def test_bad_tables_are_refused() -> None:
    with pytest.raises(StatisticsError, match="runs × test cases"):
        analyse_partition([[1.0]])
    with pytest.raises(StatisticsError, match="3 and 4 test cases"):
        compare_partition([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0, 4.0]])


def test_ten_thousand_cases_of_one_run_are_not_walked_one_by_one() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.gamma(2.0, size=(2, 1, 10_000))
    plain = first[0] - second[0]

    def ours() -> object:
        return compare_partition(first, second)

    times = {one: min(timeit.repeat(one, number=5, repeat=3)) for one in (ours, lambda: np.sort(plain))}
    assert times.pop(ours) < 20 * min(times.values())


def test_one_run_with_an_infinite_or_unvarying_loss_has_a_mean_at_most() -> None:
    infinite = analyse_partition([[1.0, np.inf, 2.0]])
    assert (infinite.mean, infinite.standard_error, infinite.interval()) == (np.inf, None, None)
    both = compare_partition([[1.0, np.inf, 2.0]], [[1.0, np.inf, 2.0]])
    assert (both.difference, both.p_value) == (None, None)
    same = compare_partition([[1e9, 2e9, 3e9]], [[1e9 - 0.25, 2e9 - 0.25, 3e9 - 0.25]])
    assert (same.difference, same.p_value, same.interval()) == (0.25, None, None)


def test_a_loss_that_is_not_a_number_is_refused_by_its_place() -> None:
    with pytest.raises(StatisticsError, match=r"second method: the loss of training set 0, test case 2"):
        compare_partition([[1.0, 2.0, 3.0]], [[1.0, 2.0, np.nan]])


def test_losses_near_the_largest_number_have_no_standard_error_and_no_warning() -> None:
    losses = np.array([[1e300, 2e300, 0.0, 1e300]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = analyse_partition(losses)
    assert found.mean == 1e300
    assert found.standard_error is None
