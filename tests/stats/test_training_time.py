"""Efficiency of trials that may fail: against the definitions, against brute force, and by simulation."""

import time
from collections.abc import Sequence

import numpy as np
import pytest
from benchmarks.calibration.times import (
    comparison_level,
    efficiency_covers,
    exclusive_or,
    jackknife_cover,
    settings,
)
from hypothesis import given
from hypothesis import strategies as st

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray
from redelve.stats.multiple import compare_all
from redelve.stats.training_time import (
    TrialTimes,
    bootstrap_efficiency,
    compare_efficiency,
    efficiency,
    efficiency_curve,
    estimate_efficiency,
    summarise_times,
    trial_times,
)

RNG = np.random.default_rng
EIGHT = trial_times([30, 32, 35, 36, 40, 44, 300, 2000], [1] * 7 + [0])
ENCODER = settings()[1]


def hameys_efficiency(times: FloatArray, limit: float) -> float:
    """As printed, section 4, with failed trials recorded at T and t just after `limit`."""
    just_after = np.nextafter(limit, np.inf)
    return float(1000 * (times < just_after).sum() / np.minimum(just_after, times).sum())


# --- trials ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "succeeded", "limit", "message"),
    [
        ([5.0], None, None, "at least two trials are needed: got 1"),
        ([[5.0, 6.0]], None, None, "one number per trial"),
        ([1.0, float("nan"), 3.0], None, 9.0, "1 of 3 times are NaN .the first is trial 1"),
        ([1.0, float("nan")], [0, 1], 9.0, "1 of 2 times are NaN"),
        ([1.0, 2.0, 3.0], [1, 0], None, r"one value per trial: got shape \(2,\) for 3 times"),
        ([1.0, 2.0], [1, 2], None, "true or false"),
        ([1.0, np.inf], None, None, "1 trials failed but no limit is given"),
        ([1.0, 5.0, 6.0], [1, 0, 0], None, "different times, from 5 to 6"),
        ([1.0, 5.0], [1, 0], 6.0, "stopped at 5, before the limit 6"),
        ([1.0, 7.0], [1, 1], 6.0, "succeeded at 7, after the limit 6"),
        ([0.0, 7.0], None, 6.0, "greater than zero: got 0"),
        ([1.0, 7.0], None, -6.0, "limit must be a positive number: got -6"),
        (["a", "b"], None, None, "times must be numbers"),
        ([1e-320, 7.0], None, 9.0, r"between 1e-100 and 1e\+100: got 9\.\S+e-321; choose another unit"),
        ([1.0, 1e200], None, None, "got 1e.200; choose another unit"),
        ([1.0, 7.0], None, 1e300, "got 1e.300; choose another unit"),
    ],
)
def test_bad_times_are_refused(
    times: Sequence[float], succeeded: Sequence[int] | None, limit: float | None, message: str
) -> None:
    with pytest.raises(StatisticsError, match=message):
        trial_times(times, succeeded, limit=limit)


def test_failed_trials_can_be_told_in_several_ways() -> None:
    wanted = trial_times([3, 4, 9, 9], limit=9)
    assert wanted == trial_times([3, 4, np.inf, np.inf], limit=9)
    assert wanted == trial_times([3, 4, np.nan, 12], [True, True, False, False], limit=9)
    assert wanted == trial_times([3, 4, 9, 9], [1, 1, 0, 0])
    assert hash(wanted) == hash(trial_times([9, 4, 3, 9], limit=9))
    assert wanted != trial_times([3, 4, 9, 9], [1, 1, 1, 0])
    assert wanted != "trials"


def test_the_usual_measures() -> None:
    times = np.array([30, 32, 35, 36, 40, 44, 300, 2000.0])
    found = summarise_times(EIGHT)
    assert found.success_rate == 7 / 8
    assert found.mean == pytest.approx(times[:7].mean())
    assert found.mean_error == pytest.approx(times[:7].std(ddof=1) / np.sqrt(7))
    assert found.median == 36
    assert found.harmonic_mean == pytest.approx(8 / (1 / times).sum())
    assert found.harmonic_mean_successful == pytest.approx(7 / (1 / times[:7]).sum())


def test_the_median_is_where_half_of_the_successes_have_happened() -> None:
    assert summarise_times(trial_times([1, 2, 3, 4])).median == 2
    assert summarise_times(trial_times([1, 2, 3])).median == 2
    assert summarise_times(trial_times([5, 5, 9, 9], limit=9)).median == 5


def test_one_success_and_none() -> None:
    one = summarise_times(trial_times([5, 9, 9], limit=9))
    assert (one.mean, one.mean_error) == (5, None)
    none = summarise_times(trial_times([9, 9], limit=9))
    assert (none.success_rate, none.mean, none.harmonic_mean) == (0, None, None)
    with pytest.raises(StatisticsError, match="all 2 trials failed"):
        estimate_efficiency(trial_times([9, 9], limit=9))


# --- E(t) --------------------------------------------------------------------------------------------------

TIMES = st.lists(st.integers(1, 12), min_size=2, max_size=30).filter(lambda times: min(times) < 12)


@given(TIMES)
def test_the_curve_is_as_hamey_defines_it(times: list[int]) -> None:
    trials, given_times = trial_times(times, limit=12), np.array(times, dtype=float)
    curve = efficiency_curve(trials)
    wanted = [hameys_efficiency(given_times, t) for t in trials.times]
    assert curve.efficiency.tolist() == pytest.approx(wanted)
    grid = np.arange(0.5, 11.6, 0.5)
    assert curve.at(grid).tolist() == pytest.approx([hameys_efficiency(given_times, t) for t in grid])
    found = estimate_efficiency(trials)
    assert found.efficiency == pytest.approx(max(wanted))
    assert found.efficiency >= curve.at(grid).max() * (1 - 1e-12)


def test_nothing_is_known_beyond_the_limit_unless_all_succeeded() -> None:
    with pytest.raises(StatisticsError, match="at 3000: the trials stopped at 2000"):
        efficiency_curve(EIGHT).at(np.array([3000.0]))
    assert efficiency_curve(trial_times([1, 3])).at(np.array([99.0])).tolist() == [500.0]


def test_without_failures_the_peak_is_the_reciprocal_of_the_mean() -> None:
    """As in the encoder's row of Hamey's table 1: T_E and T_E2 infinite, t̄_E the mean."""
    trials = ENCODER.trials(1000, RNG(1))
    found = estimate_efficiency(trials)
    assert found.optimal_limit == np.inf
    assert found.range[1] == np.inf
    assert not found.range_is_open
    assert found.effort == pytest.approx(summarise_times(trials).mean)
    assert found.effort_error == pytest.approx(summarise_times(trials).mean_error, rel=0.02)


@given(TIMES)
def test_between_the_ends_of_the_range_efficiency_is_at_least_half(times: list[int]) -> None:
    trials = trial_times(times, limit=12)
    found, curve = estimate_efficiency(trials), efficiency_curve(trials)
    low, high = found.range
    assert low <= min(found.optimal_limit, 12) <= high
    inside = np.linspace(low, min(high, trials.limit), 50)
    assert curve.at(inside).min() >= found.efficiency / 2 * (1 - 1e-9)
    if not found.range_is_open and high < 12:
        assert curve.at(np.array([high]))[0] == pytest.approx(found.efficiency / 2)
    if low > trials.times[0]:
        assert curve.at(np.array([low * (1 - 1e-9)]))[0] < found.efficiency / 2


def test_a_range_that_outlasts_the_limit_is_open() -> None:
    found = estimate_efficiency(trial_times([5, 6, 7, 8, 9, 10], limit=10))
    assert found.range == (7, 10)  # from 6 on it falls below half once more
    assert found.range_is_open


# --- jackknife ---------------------------------------------------------------------------------------------


def without_each(trials: TrialTimes) -> FloatArray:
    """Peak efficiency without every trial in turn, by brute force."""
    times = np.append(np.repeat(trials.times, trials.counts), np.full(trials.failures, np.inf))
    found = []
    for left_out in range(len(times)):
        rest = np.delete(times, left_out)
        if not np.isfinite(rest).any():
            found.append(0.0)
            continue
        kept = trial_times(rest, np.isfinite(rest), limit=trials.limit)
        found.append(float(efficiency_curve(kept).efficiency.max()))
    return np.array(found)


@pytest.mark.parametrize("direct", [0, 3, 32])
@given(
    times=st.one_of(
        st.lists(st.integers(1, 12), min_size=3, max_size=25),
        st.lists(st.floats(0.01, 12), min_size=3, max_size=25),
    ).filter(lambda times: min(times) < 12)
)
def test_leaving_one_out_is_exact(direct: int, times: list[float]) -> None:
    trials = trial_times(times, limit=12)
    patch = pytest.MonkeyPatch()
    with patch.context() as changed:
        changed.setattr(efficiency, "DIRECT", direct)
        succeeded, failed = efficiency.leave_one_out(efficiency_curve(trials))
    found = np.append(np.repeat(succeeded, trials.counts), np.full(trials.failures, failed))
    assert found.tolist() == pytest.approx(without_each(trials).tolist())
    n, values = trials.trials, without_each(trials)
    wanted = np.sqrt((n - 1) / n * np.square(values - values.mean()).sum())
    assert estimate_efficiency(trials).standard_error == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("number", range(6))
def test_leaving_one_out_of_a_few_hundred_is_exact(number: int) -> None:
    trials = settings()[number].trials(300, RNG(number))
    succeeded, failed = efficiency.leave_one_out(efficiency_curve(trials))
    found = np.append(np.repeat(succeeded, trials.counts), np.full(trials.failures, failed))
    assert found.tolist() == pytest.approx(without_each(trials).tolist())


def test_the_published_precision_of_exclusive_or() -> None:
    """Hamey 1992, table 1: e = 17.1 ± 0.3 with N = 10,000, T_E = 49, range 26 to 235, t̄_E = 59."""
    found = estimate_efficiency(exclusive_or().trials(10_000, RNG(2)))
    low, high = found.interval() or (0, 0)
    assert found.efficiency == pytest.approx(17.1, abs=0.5)
    assert (high - low) / 2 == pytest.approx(0.3, abs=0.05)
    assert found.optimal_limit == pytest.approx(49, abs=4)
    assert found.range[0] == pytest.approx(26, abs=3)
    assert found.range[1] == pytest.approx(235, abs=20)
    assert found.effort == pytest.approx(59, abs=2)


def test_the_published_precision_of_the_encoder() -> None:
    """Hamey 1992: e = 8.1 ± 0.2 with N = 100, which is one standard error and not a 95 % interval."""
    found = [estimate_efficiency(ENCODER.trials(100, rng)) for rng in map(RNG, range(20))]
    assert np.mean([one.efficiency for one in found]) == pytest.approx(8.1, abs=0.15)
    assert np.mean([one.standard_error for one in found]) == pytest.approx(0.2, abs=0.03)


def test_a_million_trials_take_no_time() -> None:
    for whole in (True, False):
        times = 12 + RNG(3).gamma(4, 5, 1_000_000)
        start = time.process_time()
        found = estimate_efficiency(trial_times(np.ceil(times) if whole else times, limit=40.0))
        assert time.process_time() - start < 1.5
        assert 0 < found.standard_error < 0.03


def test_trials_all_alike_have_no_interval() -> None:
    found = estimate_efficiency(trial_times([5.0] * 40))
    assert (found.standard_error, found.interval()) == (0, None)
    assert any("same time" in caveat for caveat in found.caveats)
    assert compare_efficiency(trial_times([5.0] * 40), trial_times([5.0] * 40)).p_value is None


def test_caveats_are_said_when_they_hold_and_only_then() -> None:
    assert estimate_efficiency(exclusive_or().trials(1000, RNG(4))).caveats == ()
    few = estimate_efficiency(EIGHT).caveats
    assert "only 8 trials" in few[0]
    fluke = trial_times(np.append(RNG(5).gamma(9, 10, 100), 0.01))
    assert any("rests on 1 of 101 trials" in c for c in estimate_efficiency(fluke).caveats)
    early = exclusive_or().draw(500, RNG(6))
    assert any("may lie beyond" in c for c in estimate_efficiency(trial_times(early, limit=40)).caveats)


# --- bootstrap and comparison ------------------------------------------------------------------------------


def test_the_bootstrap_uses_its_seed() -> None:
    one, same, other = (bootstrap_efficiency(EIGHT, seed=seed, resamples=50) for seed in (1, 1, 2))
    assert np.array_equal(one.resamples, same.resamples)
    assert not np.array_equal(one.resamples, other.resamples)
    with pytest.raises(StatisticsError, match="two resamples are needed: got 1"):
        bootstrap_efficiency(EIGHT, seed=1, resamples=1)


@pytest.mark.parametrize("whole", [True, False])
def test_the_bootstrap_is_that_of_drawn_trials(whole: bool) -> None:
    """Counts drawn by either way give what drawing the trials one by one gives."""
    times = exclusive_or().draw(200, RNG(7)) + (0 if whole else RNG(8).random(200))
    found = bootstrap_efficiency(trial_times(times, limit=2001), seed=9, resamples=2000)
    rng, drawn = RNG(10), []
    for _ in range(1000):
        drawn.append(estimate_efficiency(trial_times(rng.choice(times, 200), limit=2001)).efficiency)
    assert found.standard_error == pytest.approx(np.std(drawn), rel=0.1)
    assert found.efficiency + found.bias == pytest.approx(np.mean(drawn), abs=0.3)
    assert found.corrected == pytest.approx(found.efficiency - found.bias)


def test_jackknife_and_bootstrap_agree_where_trials_are_many() -> None:
    trials = exclusive_or().trials(10_000, RNG(11))
    one, two = estimate_efficiency(trials), bootstrap_efficiency(trials, seed=12)
    assert one.standard_error == pytest.approx(two.standard_error, rel=0.08)


def test_ten_thousand_trials_are_bootstrapped_in_seconds() -> None:
    trials = settings()[2].trials(10_000, RNG(13))
    start = time.process_time()
    bootstrap_efficiency(trials, seed=14)
    assert time.process_time() - start < 4


def test_a_comparison_is_fair_to_both() -> None:
    first, second = exclusive_or().trials(400, RNG(15)), ENCODER.trials(300, RNG(16))
    one, two = compare_efficiency(first, second), compare_efficiency(second, first)
    assert one.difference == -two.difference > 0
    assert one.p_value == two.p_value
    assert one.ratio == pytest.approx(1 / two.ratio)
    assert one.p_value is not None
    assert one.p_value < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_the_interval_leaves_out_zero_when_the_test_rejects(seed: int) -> None:
    rng = RNG([17, seed])
    found = compare_efficiency(exclusive_or().trials(50, rng), exclusive_or().trials(60, rng))
    assert found.p_value is not None
    for level in (found.p_value * 1.01, found.p_value / 1.01):
        low, high = found.interval(1 - level) or (0, 0)
        assert (low <= 0 <= high) == (level < found.p_value)


def test_several_algorithms_are_compared_pair_by_pair() -> None:
    trials = {s.name: s.trials(200, RNG(18)) for s in settings()[:3]}
    found = compare_all(trials, compare_efficiency)
    assert len(found.pairs) == 3
    adjusted = {(p.first, p.second): p.adjusted_p_value or 0.0 for p in found.pairs}
    assert adjusted["exclusive-or", "encoder"] < 1e-4
    assert adjusted["encoder", "heavy tails"] > 0.05


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("size", [30, 300])
def test_jackknife_intervals_cover(number: int, size: int) -> None:
    cover = jackknife_cover(settings()[number], size, 400, RNG([19, number, size]))
    assert cover > 89  # docs/calibration.md: 92 and more; four standard errors


def test_percentiles_of_the_bootstrap_cover_badly_and_its_interval_does_not() -> None:
    covers = efficiency_covers(settings()[3], 100, 250, RNG(20))
    assert covers[1] > 90
    assert covers[2] < 92


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (5, 5), (4, 1)])
def test_comparisons_keep_their_level(first: int, second: int) -> None:
    pair = (settings()[first], settings()[second])
    assert comparison_level(pair, (60, 60), 400, RNG([21, first])) < 5 + 4 * 1.1


@pytest.mark.parametrize("number", range(6))
def test_the_true_efficiency_of_simulated_settings(number: int) -> None:
    setting = settings()[number]
    found = estimate_efficiency(setting.trials(200_000, RNG([22, number])))
    assert found.efficiency == pytest.approx(setting.efficiency(), abs=4 * found.standard_error)
