"""Tails: the skewness against scipy, the share by hand, and when a t interval may be relied on."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.heavy_tails import TailSetting, measured
from scipy import stats as scipy_stats

from redelve.stats.mean_squares import COCHRAN, loss_tail


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
        assert not loss_tail(losses).is_heavy


@pytest.mark.parametrize("is_common", [False, True])
@pytest.mark.parametrize(("noise", "cases"), [("Gaussian", 400), ("log-normal 0.5", 4000), ("t, 8 df", 1000)])
def test_where_the_rule_is_silent_intervals_cover(noise: str, cases: int, is_common: bool) -> None:
    covers, warned, _ = measured(TailSetting(noise, cases, is_common), 600, np.random.default_rng(7))
    assert warned < 50
    assert covers >= 93 - 3 * 100 * np.sqrt(0.93 * 0.07 / 600)


@pytest.mark.parametrize("is_common", [False, True])
@pytest.mark.parametrize(
    ("noise", "cases"),
    [("log-normal 0.7", 1000), ("log-normal 0.5", 400), ("t, 4 df", 400), ("t, 3 df", 1000)],
)
def test_where_intervals_miss_too_often_the_rule_speaks(noise: str, cases: int, is_common: bool) -> None:
    covers, warned, unwarned = measured(TailSetting(noise, cases, is_common), 400, np.random.default_rng(8))
    assert covers < 94.5
    assert warned > 80
    assert unwarned <= 7 + 3 * 100 * np.sqrt(0.07 * 0.93 / 400)
