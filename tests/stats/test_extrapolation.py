"""Twice the data: intervals that hold whatever the shape, verdicts that are hardly ever wrong."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.curves import (
    BREAKING,
    KNOWN,
    UNKNOWN,
    SkewedTrial,
    Trial,
    draw_curves,
    exponential,
    power_law,
    simulate_curves,
    trials,
)
from hypothesis import given
from hypothesis import strategies as st

from redelve.errors import StatisticsError
from redelve.stats.anova import analyse_common
from redelve.stats.extrapolation import SizeMeans, at_twice_the_data, means_by_case, means_by_set
from redelve.stats.mean_squares import FloatArray

SIZES = (64, 128, 256)


def exactly(means: list[float], sizes: tuple[int, ...] = SIZES, error: float = 1e-7) -> SizeMeans:
    """Means that are all but known."""
    return SizeMeans(sizes, np.array(means), error**2 * np.eye(len(means)), 7.0)


@pytest.mark.parametrize("exponent", [0.3, 0.5, 1.0, 1.5])
def test_a_power_law_is_found_again(exponent: float) -> None:
    """The fall of a + b n^(−c) from 256 to 512, written out."""
    losses = [0.4 + 3 * n**-exponent for n in (*SIZES, 512)]
    found = at_twice_the_data(exactly(losses[:3], error=2e-4))
    assert float(found.exponent) == pytest.approx(exponent, abs=0.03)
    true = 1 - losses[3] / losses[2]
    assert float(found.fall) == pytest.approx(true, rel=0.05)
    assert float(found.low) <= true <= float(found.high)


def test_an_exponential_is_in_the_interval_too() -> None:
    losses = [0.4 + 3 * np.exp(-2 * n / 256) for n in (*SIZES, 512)]
    found = at_twice_the_data(exactly(losses[:3], error=1e-3))
    assert float(found.low) <= 1 - losses[3] / losses[2] <= float(found.high)


def test_two_sizes_leave_the_shape_open() -> None:
    """The last step may be repeated in part, from almost none of it to (nearly) the whole."""
    found = at_twice_the_data(exactly([1.5, 1.0], (64, 128)))
    assert float(found.low) == pytest.approx(0.5 * np.exp(-4) * (1 + np.exp(-4)), rel=0.01)
    assert float(found.high) == pytest.approx(0.5, rel=0.01)
    assert np.isnan(found.fall)


def test_the_interval_of_two_sizes_is_a_t_interval_of_the_step() -> None:
    """With equal losses the logarithm, which repeats the step, gives the ends."""
    from scipy.stats import t

    rng = np.random.default_rng(1)
    step = rng.normal(size=8)
    table = np.array([5 + step - step.mean(), np.full(8, 5.0)])
    found = at_twice_the_data(means_by_set((64, 128), table), is_relative=False)
    assert float(found.high) == pytest.approx(t.ppf(0.975, 7) * step.std(ddof=1) / 8**0.5, rel=1e-6)
    assert float(found.low) == pytest.approx(-float(found.high), rel=1e-6)


def test_a_shape_that_nothing_fits_is_told() -> None:
    """Down, up: no shape goes through it."""
    found = at_twice_the_data(exactly([1.0, 0.5, 1.0]))
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_losses_that_do_not_vary_have_no_interval() -> None:
    found = at_twice_the_data(means_by_set(SIZES, np.ones((3, 4))))
    assert np.isnan(found.low)


def test_only_the_three_largest_sizes_count() -> None:
    rng = np.random.default_rng(2)
    table = 1 + rng.normal(0, 0.01, size=(5, 6)) + np.array([0.8, 0.4, 0.2, 0.1, 0.05])[:, None]
    every = at_twice_the_data(means_by_set((16, 32, 64, 128, 256), table))
    last = at_twice_the_data(means_by_set(SIZES, table[2:]))
    assert every.sizes == SIZES
    assert float(every.low) == float(last.low)


def test_common_test_cases_vary_as_in_the_analysis_of_one_size() -> None:
    """Each size's variance is (MS_a + MS_b − MS_ε)/(IJ), where MS_b exceeds MS_ε."""
    rng = np.random.default_rng(3)
    cases = rng.gamma(2.0, size=(1, 1, 60))
    losses = cases + 0.1 * rng.normal(size=(3, 8, 1)) + rng.normal(size=(3, 8, 60))
    found = means_by_case(SIZES, losses)
    for place in range(3):
        one = np.zeros((1, 3))
        one[0, place] = 1.0
        theirs = analyse_common(list(losses[place])).interval_standard_error
        assert float(np.sqrt(found.variance(one)[0])) == pytest.approx(theirs, rel=1e-9)
    step = np.array([[0.0, 1.0, -1.0]])
    assert found.variance(step)[0] < sum(found.variance(np.eye(3))[1:])  # cases are hard at every size


@given(st.floats(0.01, 100), st.integers(0, 1000))
def test_the_unit_of_the_loss_changes_nothing(unit: float, seed: int) -> None:
    drawn, _ = draw_curves(power_law(0.5, 0.5), Trial(3, 6, 0.05), 1, np.random.default_rng(seed))
    plain, other = (at_twice_the_data(means_by_set(SIZES, scale * drawn[0])) for scale in (1.0, unit))
    assert float(other.low) == pytest.approx(float(plain.low), rel=1e-6, abs=1e-9, nan_ok=True)
    assert float(other.high) == pytest.approx(float(plain.high), rel=1e-6, abs=1e-9, nan_ok=True)


def test_amounts_do_not_care_where_zero_is() -> None:
    drawn, _ = draw_curves(power_law(0.5, 0.5), Trial(3, 6, 0.05), 1, np.random.default_rng(4))
    plain, lower = (
        at_twice_the_data(means_by_set(SIZES, drawn[0] - shift), is_relative=False) for shift in (0.0, 9.0)
    )
    assert float(lower.low) == pytest.approx(float(plain.low))


def test_what_is_no_curve_is_refused() -> None:
    with pytest.raises(StatisticsError, match=r"two training-set sizes or more.*got \[64\]"):
        means_by_set((64,), np.ones((1, 4)))
    with pytest.raises(StatisticsError, match="in increasing order"):
        means_by_set((128, 64), np.ones((2, 4)))
    with pytest.raises(StatisticsError, match="two of them at least: got 1"):
        means_by_set((64, 128), np.ones((2, 1)))


COUNT = 1000
"""Standard error of a coverage of 95 %: 0.7 points."""


@pytest.mark.parametrize("trial", [Trial(2, 8, 0.05, 0.8), Trial(3, 4, 0.05), Trial(3, 8, 0.01, 0.5, True)])
def test_intervals_cover_and_verdicts_are_right(trial: Trial) -> None:
    rng = np.random.default_rng(5)
    for name in ("flat", "power law, c = 0.5, to one half", "exponential, rate 2, to 0.8"):
        rates = simulate_curves(KNOWN[name], trial, COUNT, rng)
        assert rates.coverage > 95 - 3 * 0.7, name
        assert max(rates.false_yes, rates.false_no) < 2.5, name


def test_shapes_that_it_does_not_know_do_not_make_it_say_yes() -> None:
    rng = np.random.default_rng(6)
    for name, curve in UNKNOWN.items():
        rates = simulate_curves(curve, Trial(5, 8, 0.05, 0.8), COUNT, rng)
        assert rates.false_yes < 2.5, name
        assert rates.false_no < 2.5, name


def test_skewed_training_sets_make_it_understate_the_fall_but_not_err_in_the_verdict() -> None:
    """What docs/comparisons.md says of intervals that miss more often."""
    rng = np.random.default_rng(9)
    trial = SkewedTrial("flat", (32, 256), 8, 0.2, 0.0)
    assert trial.simulate("Gaussian", COUNT, rng).all.coverage > 95 - 3 * 0.7
    rates = trial.simulate("log-normal 1", COUNT, rng)
    assert 84 < rates.all.coverage < 91
    assert rates.below > 8 > rates.above
    assert rates.all.false_yes < 2.5


def test_shapes_that_turn_at_the_largest_size_deceive_it() -> None:
    rng = np.random.default_rng(10)
    rates = {name: simulate_curves(curve, Trial(3, 4, 0.01), COUNT, rng) for name, curve in BREAKING.items()}
    assert rates["level, but 30 % lower at twice the largest size"].false_no > 50
    assert 5 < rates["a staircase, 10 % lower from the largest size on"].false_yes < 25
    assert rates["double descent, its peak at half of it"].coverage > 90


def test_it_can_say_yes_and_no() -> None:
    rng = np.random.default_rng(7)
    assert simulate_curves(power_law(0.5, 1), Trial(3, 8, 0.05, 0.8), 200, rng).yes > 90
    assert simulate_curves(KNOWN["flat"], Trial(3, 8, 0.01, 0.8), 200, rng).no > 90
    assert simulate_curves(exponential(0.5, 1), Trial(3, 8, 0.02), 200, rng).yes > 90


@pytest.mark.slow
def test_verdicts_are_right_everywhere() -> None:
    rng = np.random.default_rng(8)
    for trial in trials():
        for name, curve in {**KNOWN, **UNKNOWN}.items():
            rates = simulate_curves(curve, trial, 2000, rng)
            assert rates.false_yes < 5, (name, trial)
            assert rates.false_no < 5, (name, trial)
            if name in KNOWN:
                assert rates.coverage > 95 - 3 * 0.5, (name, trial)


def spread_of(losses: FloatArray) -> float:
    """Variance of the step, by the training sets alone."""
    return float((losses[0] - losses[1]).mean(axis=1).var(ddof=1) / losses.shape[1])


def test_the_variance_of_a_step_is_that_of_its_paired_differences() -> None:
    rng = np.random.default_rng(9)
    losses = rng.normal(size=(2, 6, 30)) + rng.normal(size=(1, 6, 1))
    found = means_by_set((64, 128), losses.mean(axis=2))
    assert found.variance(np.array([[1.0, -1.0]]))[0] == pytest.approx(spread_of(losses))
