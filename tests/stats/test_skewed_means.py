"""Means of skewed values: Hall's transformation, agreement of claims with intervals, and rates."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from benchmarks.calibration.brought_scores import Shape, gap, score_rates
from scipy import stats

from redelve.stats.case_pairs import pairs_of_cases
from redelve.stats.families import PairFamily, unmoderated
from redelve.stats.one_partition import compare_cases
from redelve.stats.skewed_means import BY_CHANCE, allowed_t, beyond_chance, pair_skewness, skewed_reach


def skewed_scores(models: int, cases: int) -> np.ndarray:
    """One model that always has 0.9; others with 1 nine times in ten, else 0 or nearly so."""
    rng = np.random.default_rng(5)
    scores = np.where(rng.random((models, cases)) < 0.9, 1.0, 0.1 * rng.random((models, cases)))
    scores[0] = 0.9
    return scores


def family(scores: np.ndarray, parts: np.ndarray | None = None) -> PairFamily:
    first, second = zip(*combinations(range(len(scores)), 2), strict=True)
    return unmoderated(pairs_of_cases(scores, (first, second), parts, (0.0, 1.0)))


def test_the_skewness_of_every_pair_is_scipys() -> None:
    scores = skewed_scores(6, 40)
    scores[5] = scores[4] + 1e-7 * np.random.default_rng(1).random(40)  # cubes of products would lose it
    first, second = np.triu_indices(6, 1)
    centred = scores - scores.mean(axis=1, keepdims=True)
    squares = np.square(centred[first] - centred[second]).sum(axis=1)
    found = pair_skewness(centred, squares, first, second)
    expected = stats.skew(scores[first] - scores[second], axis=1) / np.sqrt(40)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("skewness", [-0.9, -0.2, -1e-4])
@pytest.mark.parametrize("t", [0.5, 2.0, 6.0])
def test_it_is_halls_transformation_and_its_inverse(t: float, skewness: float) -> None:
    """Hall (1992): T + n^(-1/2)γ(aT² + b) + n^(-1)(aγ)²T³/3, a = 1/3 and b = 1/6, written for n = 25."""
    n, a, b = 25, 1 / 3, 1 / 6
    gamma = skewness * np.sqrt(n)
    hall = t + gamma * (a * t**2 + b) / np.sqrt(n) + (a * gamma) ** 2 * t**3 / (3 * n)
    (found,) = allowed_t(np.array([t]), np.array([skewness]))
    assert found == pytest.approx(min(max(hall, 0.0), t))
    if 0 < hall < t:
        assert skewed_reach(found, np.array([skewness]))[0] == pytest.approx(t, rel=1e-5)


def test_skewness_with_the_difference_changes_nothing() -> None:
    np.testing.assert_array_equal(allowed_t(np.array([3.0, -3.0]), np.array([0.5, -0.5])), [3.0, 3.0])
    assert skewed_reach(2.0, np.array([0.5]))[0] == 2.0


def test_twice_the_standard_error_of_a_gaussian_samples_skewness_counts_as_none() -> None:
    chance = BY_CHANCE * np.sqrt(6 / 50) / np.sqrt(50)
    np.testing.assert_allclose(beyond_chance(np.array([chance + 0.1, -chance]), 50.0), [0.1, 0.0], atol=1e-15)


@pytest.mark.parametrize("parts", [None, np.arange(1, 61) / np.arange(1, 61).sum()])
def test_claims_are_made_exactly_where_intervals_leave_out_zero(parts: np.ndarray | None) -> None:
    scores = skewed_scores(12, 60)
    scores[6:] *= np.linspace(0.99, 0.6, 6)[:, None]
    found = family(scores, parts)
    assert found.squares.skewness is not None
    assert (np.abs(found.squares.skewness) > 0).any()
    for level in (0.05, 0.5):
        lows, highs = found.ends(level)
        np.testing.assert_array_equal(found.p_values() < level, (lows > 0) | (highs < 0))
        assert 0 < (found.p_values() < level).sum() < found.pairs


def test_two_models_by_themselves_have_the_p_value_and_the_interval_of_their_family() -> None:
    scores = np.array([[0.9] * 50, [1.0] * 48 + [0.0, 0.02]])
    alone, found = compare_cases(*scores), family(scores)
    assert alone.p_value is not None
    (low,), (high,) = found.ends(0.05)
    assert alone.p_value == pytest.approx(found.p_values()[0])
    assert stats.ttest_rel(*scores).pvalue < 0.05 < alone.p_value
    assert alone.interval(0.95) == pytest.approx((low, high))


def test_right_and_wrong_answers_keep_the_paired_t_test_beside_other_scores() -> None:
    rng = np.random.default_rng(2)
    right = (rng.random((2, 30)) < np.array([[0.95], [0.05]])).astype(float)
    found = family(np.vstack([right, rng.random(30)]))
    assert found.own_p_values()[0] == pytest.approx(stats.ttest_rel(*right).pvalue)


@pytest.mark.parametrize("cases", [50, 200])
def test_a_constant_model_is_seldom_falsely_claimed_to_differ(cases: int) -> None:
    """By t alone 12 and 8 % of claims are false; three standard errors above 5 % are allowed."""
    count = 2000
    found = score_rates(Shape("bounded, one model constant", cases), 2, count, np.random.default_rng(1))
    assert max(found.claims, found.misses) < 5 + 3 * np.sqrt(5 * 95 / count)
    assert found.t_misses > 7


@pytest.mark.parametrize("kind", ["bounded", "unbounded, Gaussian"])
def test_where_differences_are_symmetric_power_is_that_of_t(kind: str) -> None:
    setting = Shape(kind, 50, ahead=gap(0.033 if kind == "bounded" else 2.0, 50, 2.2))
    found = score_rates(setting, 2, 2000, np.random.default_rng(1))
    assert found.bare - found.power <= 0.5
    assert 30 < found.power < 90
