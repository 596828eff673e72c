"""Tails: the skewness against scipy, the share by hand, and when a t interval may be relied on."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.heavy_tails import TailSetting, false_warnings, measured
from scipy import integrate
from scipy import stats as scipy_stats

from redelve.stats.mean_squares import BY_LUCK, COCHRAN, gaussian_top_share, loss_tail


def test_the_strength_is_the_squared_skewness_over_the_number_of_cases() -> None:
    losses = np.random.default_rng(1).exponential(size=300)
    found = loss_tail(losses)
    assert found.strength == pytest.approx(scipy_stats.skew(losses) ** 2 / 300)
    assert found.top_share == pytest.approx(np.sort(losses)[-3:].sum() / losses.sum())


def test_cochrans_rule_draws_the_line() -> None:
    """n > 25 G₁²: an exponential has G₁ = 2, so 100 cases are just enough."""
    losses = -np.log((np.arange(100_000) + 0.5) / 100_000)
    strength = loss_tail(losses).strength * 100_000 / 100
    assert strength == pytest.approx(COCHRAN, rel=0.02)


def test_losses_without_a_zero_are_measured_from_the_smallest() -> None:
    losses = np.random.default_rng(2).normal(size=500)
    moved = loss_tail(losses + 7, lowest=-np.inf)
    assert moved.strength == pytest.approx(loss_tail(losses, lowest=-np.inf).strength)
    assert moved.top_share == pytest.approx(loss_tail(losses, lowest=-np.inf).top_share)


@pytest.mark.parametrize("losses", [np.zeros(10), np.full(10, 3.0), np.array([1.0, np.inf]), np.ones(1)])
def test_what_does_not_vary_or_is_infinite_has_no_tail(losses: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):
        assert not loss_tail(losses).is_heavy()


def test_the_share_of_gaussian_errors_is_that_of_their_tail() -> None:
    """Its expected value against an integral; 1 + 0.42/√m times it is the 95 % quantile of drawn shares."""
    z = scipy_stats.norm.isf(0.005)
    tail, _ = integrate.quad(lambda x: 2 * x * x * scipy_stats.norm.pdf(x), z, np.inf)
    assert gaussian_top_share(100, 10_000) / (1 + BY_LUCK / 10) == pytest.approx(tail, rel=1e-6)
    drawn = np.sort(np.square(np.random.default_rng(5).normal(size=(4000, 60))), axis=1)
    shares = drawn[:, -1] / drawn.sum(axis=1)
    assert np.mean(shares > gaussian_top_share(1, 60)) == pytest.approx(0.045, abs=3 * 0.0033)
    assert np.mean(shares > gaussian_top_share(1, 60, methods=10)) == pytest.approx(0.0055, abs=3 * 0.0012)


@pytest.mark.parametrize(("methods", "cases"), [(1, 60), (1, 200), (2, 100), (10, 60), (10, 400)])
def test_few_tables_with_gaussian_noise_are_warned_of(methods: int, cases: int) -> None:
    rate = false_warnings(methods, cases, 1000, np.random.default_rng(6))
    assert rate <= 5 + 3 * 100 * np.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.parametrize(
    ("noise", "cases", "is_common"),
    [
        ("Gaussian", 400, False),
        ("Gaussian", 400, True),
        ("log-normal 0.5", 4000, False),
        pytest.param("log-normal 0.5", 4000, True, marks=pytest.mark.slow),
        ("t, 8 df", 1000, False),
        ("t, 8 df", 1000, True),
    ],
)
def test_where_the_rule_is_silent_intervals_cover(noise: str, cases: int, is_common: bool) -> None:
    covers, warned, _ = measured(TailSetting(noise, cases, is_common), 600, np.random.default_rng(7))
    assert warned < 50
    assert covers >= 93 - 3 * 100 * np.sqrt(0.93 * 0.07 / 600)


@pytest.mark.parametrize("is_common", [False, True])
@pytest.mark.parametrize(
    ("noise", "cases", "often"),
    [
        ("log-normal 0.7", 104, 87),
        ("log-normal 0.7", 1000, 80),
        ("log-normal 0.5", 400, 80),
        ("t, 4 df", 400, 80),
        ("t, 3 df", 1000, 80),
    ],
)
def test_where_intervals_miss_too_often_the_rule_speaks(
    noise: str, cases: int, often: float, is_common: bool
) -> None:
    covers, warned, unwarned = measured(TailSetting(noise, cases, is_common), 400, np.random.default_rng(8))
    assert covers < 94.5
    assert warned > often
    assert unwarned <= 7 + 3 * 100 * np.sqrt(0.07 * 0.93 / 400)
