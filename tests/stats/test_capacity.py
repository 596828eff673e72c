"""Bounds: worked by hand, and never below the truth in simulations."""

from math import comb, log, sqrt

import numpy as np
import pytest
from scipy.stats import beta

from redelve.errors import StatisticsError
from redelve.stats.capacity import binomial_upper, compression_bound, rademacher_bound, vc_bound


def test_the_vc_bound_by_hand() -> None:
    term = sqrt((3 * (log(2 * 1000 / 3) + 1) - log(0.05 / 4)) / 1000)
    assert vc_bound([20], [1000], 3) == pytest.approx(0.02 + term)
    half = sqrt((3 * (log(2 * 500 / 3) + 1) - log(0.025 / 4)) / 500)
    assert vc_bound([20, 0], [500, 500], 3) == pytest.approx((0.04 + half + half) / 2)


def test_a_capacity_beyond_the_cases_bounds_nothing() -> None:
    assert vc_bound([0], [100], 100) == 1.0
    with pytest.raises(StatisticsError, match="1 or more"):
        vc_bound([0], [100], 0)


def test_the_rademacher_bound_by_hand() -> None:
    term = 3 * sqrt(log(2 / 0.1) / (2 * 400))
    assert rademacher_bound(0.1, 0.2, [400], level=0.9) == pytest.approx(0.3 + term)
    assert rademacher_bound(0.1, -0.2, [400], level=0.9) == pytest.approx(0.1 + term)


@pytest.mark.parametrize(("wrong", "count"), [(0, 30), (3, 30), (29, 30)])
def test_the_binomial_bound_is_that_of_clopper_and_pearson(wrong: int, count: int) -> None:
    expected = beta.ppf(0.95, wrong + 1, count - wrong)
    assert binomial_upper(wrong, count, log(0.05)) == pytest.approx(expected)
    assert binomial_upper(count, count, log(0.05)) == 1.0


def test_the_compression_bound_by_hand() -> None:
    """2 of 50 cases kept, no errors: (1 − ε)⁴⁸ = 0.05/(50 C(50, 2))."""
    expected = 1 - (0.05 / (50 * comb(50, 2))) ** (1 / 48)
    assert compression_bound([0], [50], [2]) == pytest.approx(expected)


def test_the_vc_bound_holds_for_the_best_of_all_thresholds() -> None:
    """Thresholds on a line have dimension 1; labels are noise, so every rule errs half the time."""
    rng = np.random.default_rng(1)
    broken = 0
    for _ in range(200):
        labels = rng.integers(0, 2, 500)
        wrong = np.concatenate([[labels.sum()], labels.sum() + np.cumsum(1 - 2 * labels)])
        broken += vc_bound([int(wrong.min())], [500], 1) < 0.5
    assert broken <= 10
