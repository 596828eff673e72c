"""Baselines against their definitions, and standardised losses against DELVE's printed ones."""

from collections.abc import Callable
from math import log, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats import (
    baseline_absolute,
    baseline_absolute_angular,
    baseline_log_angular,
    baseline_log_discrete,
    baseline_log_gaussian,
    baseline_ranked_probability,
    baseline_squared,
    baseline_squared_angular,
    baseline_squared_probability,
    baseline_zero_one,
    standardise_log,
    standardise_ratio,
)
from redelve.stats.mean_squares import FloatArray

REAL = (baseline_squared, baseline_absolute, baseline_log_gaussian, baseline_ranked_probability)
DISCRETE = (baseline_zero_one, baseline_squared_probability, baseline_log_discrete)
ANGULAR = (baseline_squared_angular, baseline_absolute_angular, baseline_log_angular)
TARGETS = st.lists(st.floats(-720, 720), min_size=2, max_size=30).map(np.array)


def arcs(targets: FloatArray, guess: float, unit: float) -> FloatArray:
    """Shortest distances round the circle."""
    turn = np.mod(targets - guess, unit)
    return np.asarray(np.minimum(turn, unit - turn))


def test_squared_and_absolute_baselines_divide_by_one_less_than_n() -> None:
    assert baseline_squared([1, 2, 4, 9]) == pytest.approx(np.var([1, 2, 4, 9], ddof=1))
    assert baseline_absolute([1, 2, 4, 9]) == pytest.approx((2 + 1 + 1 + 6) / 3)
    assert baseline_absolute([5, 1, 2]) == pytest.approx((1 + 0 + 3) / 2)


def test_baselines_of_a_single_target_are_undefined() -> None:
    assert [baseline([3.0]) for baseline in REAL] == [None] * 4
    assert [baseline([3.0], 360.0) for baseline in ANGULAR] == [None] * 3


def test_discrete_baselines_come_from_shares() -> None:
    targets = ["a", "b", "a", "c", "a", "b", "a", "a"]  # shares 5/8, 2/8, 1/8
    assert baseline_zero_one(targets) == pytest.approx(3 / 8)
    assert baseline_squared_probability(targets) == pytest.approx(1 - (25 + 4 + 1) / 64)
    assert baseline_log_discrete(targets) == pytest.approx(sum(p / 8 * log(p / 8) for p in (5, 2, 1)))


def test_a_single_class_leaves_nothing_to_predict() -> None:
    assert [baseline([1, 1, 1]) for baseline in DISCRETE] == [0.0, 0.0, 0.0]


def test_the_ranked_probability_of_their_own_distribution_is_half_the_mean_distance_of_targets() -> None:
    targets = np.random.default_rng(1).gamma(2.0, size=40)
    every = np.abs(targets[:, None] - targets).mean()
    assert baseline_ranked_probability(targets) == pytest.approx(every / 2, rel=1e-12)


def test_gaussian_baseline_is_the_mean_log_density() -> None:
    targets = np.random.default_rng(0).normal(3.0, 2.0, size=1000)
    density = scipy_stats.norm(targets.mean(), targets.std(ddof=1)).logpdf(targets).mean()
    assert baseline_log_gaussian(targets) == pytest.approx(density, abs=1e-3)  # divisor n − 1 against n
    variance = targets.var(ddof=1)
    assert baseline_log_gaussian(targets) == pytest.approx(-0.5 * (log(2 * pi * variance) + 1), rel=1e-12)
    assert baseline_log_gaussian([2.0, 2.0]) is None


def test_losses_are_divided_by_the_sum_of_their_baselines() -> None:
    # mstats on /lin-1/demo/age/std.128 prints 400.729718 as 0.81974466 of a variance of 488.847.
    assert standardise_ratio(400.729718, [488.847]) == pytest.approx(0.81974466, rel=2e-6)
    assert standardise_ratio(6.0, [1.0, 2.0]) == 2.0
    assert standardise_ratio(np.inf, [2.0]) == np.inf


def test_log_losses_have_the_baselines_added() -> None:
    assert standardise_log(1.5, [-0.5, -0.25]) == 0.75
    assert standardise_log(np.inf, [-0.5]) == np.inf


def test_what_is_undefined_stays_so() -> None:
    assert standardise_ratio(None, [1.0]) is None
    assert standardise_ratio(1.0, [1.0, None]) is None
    assert standardise_ratio(1.0, [0.0]) is None
    assert standardise_log(None, [1.0]) is None
    assert standardise_log(1.0, [None]) is None
    assert standardise_log(1.0, [0.0]) == 1.0
    with pytest.raises(StatisticsError, match="got none"):
        standardise_ratio(1.0, [])


def test_angles_near_the_seam_are_near_each_other() -> None:
    angles = np.array([350.0, 355.0, 5.0, 10.0, 20.0])
    plain = np.array([-10.0, -5.0, 5.0, 10.0, 20.0])
    assert baseline_squared_angular(angles, 360.0) == pytest.approx(plain.var(ddof=1))
    assert baseline_absolute_angular(angles, 360.0) == pytest.approx(baseline_absolute(plain))


@given(targets=TARGETS)
def test_squared_angular_baseline_is_the_least_over_the_circle(targets: FloatArray) -> None:
    found = baseline_squared_angular(targets, 360.0)
    assert found is not None
    guesses = np.linspace(0, 360, 721)
    tried = min(float(np.square(arcs(targets, guess, 360.0)).sum()) for guess in guesses)
    found *= targets.size - 1
    assert found <= tried + 1e-6
    # Between neighbouring guesses the sum changes by at most 2·180·n times a quarter of a degree.
    assert found >= tried - 90 * targets.size


@given(targets=TARGETS)
def test_squared_angular_baseline_is_attained(targets: FloatArray) -> None:
    found = baseline_squared_angular(targets, 360.0)
    # Candidates: for each cut of the circle the mean of the targets unrolled from it (an O(n²) search).
    turns = np.sort(np.mod(targets, 360.0))
    guesses = [turns.mean() + 360.0 * k / turns.size for k in range(turns.size)]
    best = min(float(np.square(arcs(targets, guess, 360.0)).sum()) for guess in guesses)
    assert found == pytest.approx(best / (targets.size - 1), rel=1e-6, abs=1e-6)


@given(targets=TARGETS)
def test_absolute_angular_baseline_is_the_least_over_the_circle(targets: FloatArray) -> None:
    found = baseline_absolute_angular(targets, 360.0)
    guesses = np.concatenate([targets, targets + 180.0, np.linspace(0, 360, 181)])
    best = min(float(arcs(targets, guess, 360.0).sum()) for guess in guesses)
    assert found == pytest.approx(best / (targets.size - 1), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("concentration", [0.0, 0.3, 2.0, 40.0, 1e5])
def test_von_mises_baseline_is_the_greatest_mean_log_density(concentration: float) -> None:
    rng = np.random.default_rng(1)
    phases = rng.vonmises(0.5, concentration, size=400)
    kappa, centre, _ = scipy_stats.vonmises.fit(phases, fscale=1)
    expected = scipy_stats.vonmises(kappa, centre).logpdf(phases).mean()
    assert baseline_log_angular(phases, 2 * pi) == pytest.approx(expected, abs=1e-6)
    in_hours = 24 * phases / (2 * pi)
    assert baseline_log_angular(in_hours, 24.0) == pytest.approx(expected + log(2 * pi / 24), abs=1e-6)


def test_concentrated_angles_have_the_gaussian_baseline() -> None:
    angles = np.random.default_rng(2).normal(90.0, 1e-4, size=2000)
    assert baseline_log_angular(angles, 360.0) == pytest.approx(baseline_log_gaussian(angles), abs=1e-3)
    assert baseline_squared_angular(angles, 360.0) == pytest.approx(baseline_squared(angles), rel=1e-6)


def test_equal_angles_have_no_density() -> None:
    assert baseline_log_angular([10.0, 370.0, -350.0], 360.0) is None


@pytest.mark.parametrize("baseline", REAL)
def test_targets_must_be_finite(baseline: Callable[..., float | None]) -> None:
    with pytest.raises(StatisticsError, match=r"target 1 .* nan"):
        baseline([1.0, np.nan])
    with pytest.raises(StatisticsError, match="got none"):
        baseline([])


@pytest.mark.parametrize("baseline", DISCRETE)
def test_classes_must_be_known(baseline: Callable[..., float]) -> None:
    with pytest.raises(StatisticsError, match="target 0"):
        baseline([np.nan, 1.0])
    with pytest.raises(StatisticsError, match="got none"):
        baseline([])


@pytest.mark.parametrize("unit", [0.0, -360.0, np.inf])
def test_a_turn_has_a_length(unit: float) -> None:
    with pytest.raises(StatisticsError, match="full turn"):
        baseline_squared_angular([1.0, 2.0], unit)
