"""The model of the tail: what follows from it, what was printed, when it is refused."""

from dataclasses import replace
from math import inf, log

import numpy as np
import pytest
from benchmarks.calibration.times import Setting, bursts, exclusive_or, gamma, lomax, settings
from scipy import optimize

from redelve.errors import StatisticsError
from redelve.stats.training_time import TailModel, fit_tail, model_form, published_form, trial_times
from redelve.stats.training_time.likelihood import Peak, TailTimes, ever_interval, find_peak
from redelve.stats.training_time.tail import cut, fit_p_value

RNG = np.random.default_rng
TABLE_1 = TailModel(a=0.1, k=0.5, start=54, share_before=0.66)  # Hamey 1992, exclusive-or
LIGHT = Setting("k = 3", (gamma(0.5, 0, 1, 1e9, 40), lomax(0.4, 40, 0.01, 3)), 200)


# --- the finding about λ -----------------------------------------------------------------------------------


def test_the_printed_form_gives_the_published_numbers() -> None:
    """Table 1 has λ = 0.93 and 409, from a and k rounded to one digit."""
    found = published_form(TABLE_1, limit=2000, success_rate=0.76, mean=50)
    assert found.success_rate == pytest.approx(0.93, abs=0.01)
    assert found.corrected_mean == pytest.approx(409, abs=15)
    exact = replace(TABLE_1, k=0.55)  # also 0.5 to one digit
    assert published_form(exact, 2000, 0.76, 50).success_rate < 0.934


def test_the_form_of_the_model_gives_less() -> None:
    assert model_form(TABLE_1, limit=2000, success_rate=0.76) == pytest.approx(0.7677, abs=1e-4)


def test_the_form_of_the_model_finds_what_was_simulated_and_the_printed_one_does_not() -> None:
    """Two million trials without sampling error to speak of, from λ = 0.7677 and the published tail."""
    times = exclusive_or().draw(2_000_000, RNG(1))
    seen = float(np.mean(times <= 2000))
    model = replace(TABLE_1, share_before=float(np.mean(times <= 54)))
    assert model_form(model, 2000, seen) == pytest.approx(0.7677, abs=0.002)
    assert float(np.isfinite(times).mean()) == pytest.approx(0.7677, abs=0.002)
    printed = published_form(model, 2000, seen, float(times[times <= 2000].mean()))
    assert printed.success_rate == pytest.approx(0.938, abs=0.003)
    later = np.isfinite(times) & (times > 2000)
    assert later.mean() < 0.01  # the printed form promises 0.17 more


def test_the_printed_form_can_exceed_one_and_the_other_cannot() -> None:
    model = TailModel(0.01, 0.2, 10, 0.3)
    assert published_form(model, 500, 0.8, 50).success_rate > 1
    assert model_form(model, 500, 0.8) == 1
    assert published_form(replace(model, k=1.0), 500, 0.8, 50).corrected_mean is None


@pytest.mark.parametrize(("k", "limit"), [(3.0, 200.0), (2.5, 60.0), (8.0, 45.0)])
def test_the_mean_of_those_still_to_come(k: float, limit: float) -> None:
    """Printed is 1/(a(k − 1)) + T, which lacks the factor 1 + a(T − T₀)."""
    model = TailModel(0.01, k, 40, 0.5)
    times = lomax(1.0, 40, 0.01, k).draw(RNG(2), 4_000_000)
    later = times[times > limit]
    wanted, error = later.mean(), later.std() / np.sqrt(len(later))
    assert model.mean_after(limit) == pytest.approx(wanted, abs=6 * error)
    assert replace(model, k=1.0).mean_after(limit) is None


# --- likelihood --------------------------------------------------------------------------------------------


def test_the_likelihood_is_hameys_where_the_rate_is_below_one() -> None:
    """Up to a term that does not depend on a and k."""
    times = np.sort(lomax(1.0, 0, 0.02, 1.5).draw(RNG(3), 300))
    times = times[times < 400]
    tail = TailTimes(times, np.ones(len(times), np.int64), 500, 400.0)

    def hamey(a: float, k: float) -> float:  # section 5, T₀ = 0 and T = 400
        first = log(a) + log(k) - log(1 - (a * 400 + 1) ** -k)
        return len(times) * first - (k + 1) * float(np.log(a * times + 1).sum())

    differences = [
        tail.log_likelihood(a * k, k) - hamey(a, k) for a, k in ((0.02, 1.5), (0.1, 0.9), (0.005, 4.0))
    ]
    assert differences == pytest.approx([differences[0]] * 3)


@pytest.mark.parametrize("whole", [True, False])
def test_the_simplex_finds_the_peak(whole: bool) -> None:
    times = lomax(1.0, 0, 0.05, 1.2).draw(RNG(4), 500)
    trials = trial_times(np.ceil(times) if whole else times, limit=300)
    tail = cut(trials, 0.0)
    assert (tail.begins is not None) == whole
    found = find_peak(tail)
    other = optimize.minimize(lambda p: -tail.log_likelihood(*np.exp(p)), [-3.0, 0.0], method="Powell")
    assert found.log_likelihood == pytest.approx(-other.fun, abs=0.01)


def test_an_interval_is_found_though_the_way_back_from_far_outside_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of some thousand simulated sets of trials one had a simplex that was stuck far outside the interval."""
    tail = cut(LIGHT.trials(1000, RNG(2)), 40.0)
    peak = find_peak(tail)
    sound = ever_interval(tail, peak, 1.92)

    def stuck(tail: TailTimes, near: Peak, *, ever: float) -> Peak:
        if near.k == peak.k or tail.log_likelihood(near.rate, near.k, ever) > peak.log_likelihood - 20:
            return find_peak(tail, near, ever=ever)
        return Peak(near.rate, near.k, tail.log_likelihood(near.rate, near.k, ever))

    monkeypatch.setattr("redelve.stats.training_time.likelihood.find_peak", stuck)
    low, high = ever_interval(tail, peak, 1.92)
    assert 0 < low < tail.ever(peak.rate, peak.k) < high
    assert (low, high) == pytest.approx(sound, abs=1e-3)


def test_grouping_many_times_changes_little() -> None:
    times = lomax(1.0, 0, 0.05, 1.2).draw(RNG(16), 20_000)
    tail = cut(trial_times(times, limit=300), 0.0)
    assert tail.grouped().successes == tail.successes
    one, two = find_peak(tail), find_peak(tail.grouped())
    assert one.k == pytest.approx(two.k, rel=0.005)
    assert one.rate == pytest.approx(two.rate, rel=0.005)


def test_epochs_are_steps() -> None:
    """Rounding up to whole epochs moves the estimates little although few of them hold half of the tail."""
    times = 54 + lomax(1.0, 0, 0.5, 1.5).draw(RNG(5), 5000)
    exact = fit_tail(trial_times(times, limit=100), start=54)
    whole = fit_tail(trial_times(np.ceil(times), np.ceil(times) <= 100, limit=100), start=54)
    assert exact.model is not None
    assert whole.model is not None
    assert whole.model.k == pytest.approx(exact.model.k, rel=0.1)
    assert whole.model.k == pytest.approx(1.5, rel=0.2)


# --- fits --------------------------------------------------------------------------------------------------


def test_trials_like_the_published_ones_give_the_published_model() -> None:
    """a = 0.1, k = 0.5, T₀ = 54, γ = 0.66; what is printed as 0.93 is 0.77."""
    found = fit_tail(exclusive_or().trials(10_000, RNG(6)))
    assert found.fits
    assert found.model is not None
    assert found.model.k == pytest.approx(0.5, abs=0.2)
    assert found.model.start == pytest.approx(54, abs=12)
    assert found.tail_successes > 800
    assert found.success_rate == pytest.approx(0.768, abs=0.02)
    assert found.as_published is not None
    assert found.as_published.success_rate == pytest.approx(0.93, abs=0.03)
    assert found.corrected_mean is None
    assert any("does not exist" in caveat for caveat in found.caveats)
    low, high = found.success_rate_interval or (0, 0)
    assert low < 0.7677 < high
    assert high - low < 0.04


def test_a_light_tail_gives_mean_and_median() -> None:
    found = fit_tail(LIGHT.trials(20_000, RNG(7)), start=40)
    assert found.model is not None
    assert found.model.share_before == pytest.approx(0.5, abs=0.02)
    assert found.success_rate == pytest.approx(0.9, abs=0.02)
    assert found.corrected_mean == pytest.approx(51.1, abs=4)
    assert found.corrected_median == pytest.approx(36, abs=2)
    for interval, value in (
        (found.corrected_mean_interval, found.corrected_mean),
        (found.corrected_median_interval, found.corrected_median),
    ):
        assert interval is not None
        assert value is not None
        assert interval[0] < value < interval[1]


def test_an_exponential_tail_is_the_limit_of_large_k() -> None:
    setting = Setting("constant rate", (gamma(0.9, 20, 1, 100),), 300)
    found = fit_tail(setting.trials(4000, RNG(17)), start=20)
    assert found.k_interval is not None
    assert found.k_interval[1] == inf
    for interval, truth in ((found.success_rate_interval, 0.9), (found.corrected_mean_interval, 120)):
        low, high = interval or (0, 0)
        assert low < truth < high


def test_the_success_rate_never_exceeds_one() -> None:
    """A tail with k = 0.3 of which most is still to come."""
    setting = Setting("slow", (gamma(0.3, 5, 2, 5, 30), lomax(0.7, 30, 0.02, 0.3)), 500)
    tails = [fit_tail(setting.trials(1500, RNG([9, seed])), start=30) for seed in range(6)]
    assert sum(tail.fits for tail in tails) >= 4
    for found in (tail for tail in tails if tail.fits):
        assert found.success_rate is not None
        assert found.success_rate <= 1
        low, high = found.success_rate_interval or (0, 0)
        assert low <= found.success_rate <= high == 1
        assert any("not excluded" in caveat for caveat in found.caveats)


def test_a_corrected_median_may_lie_beyond_what_was_seen() -> None:
    setting = Setting("late", (lomax(1.0, 5, 0.01, 1.5),), 40)
    found = fit_tail(setting.trials(3000, RNG(10)), start=5)
    assert found.corrected_median is not None
    assert found.corrected_median > 40
    truth = 5 + (2 ** (1 / 1.5) - 1) / 0.01
    low, high = found.corrected_median_interval or (0, 0)
    assert low < truth < high


def test_bursts_are_refused() -> None:
    """As descending epsilon was: Hamey could not model it."""
    found = fit_tail(bursts(1000, RNG(11)))
    assert not found.fits
    assert found.success_rate is None
    assert found.as_published is None
    assert found.reason is not None
    assert "Kolmogorov–Smirnov test rejects it" in found.reason
    assert found.caveats == (found.reason,)
    given_start = fit_tail(bursts(1000, RNG(11)), start=1500)
    assert "from 1500 on" in (given_start.reason or "")


def test_the_fit_test_keeps_near_its_level() -> None:
    rejected = []
    for seed in range(80):
        times = lomax(1.0, 0, 0.05, 1.5).draw(RNG([12, seed]), 200)
        tail = cut(trial_times(times, limit=400), 0.0)
        peak = find_peak(tail)
        rejected.append(fit_p_value(tail.distance(peak.rate, peak.k), tail.successes) < 0.1)
    assert 0.01 < np.mean(rejected) < 0.24
    assert fit_p_value(0.0, 100) == 1


def test_without_failures_there_is_nothing_to_model() -> None:
    found = fit_tail(settings()[1].trials(200, RNG(13)))
    assert (found.fits, found.success_rate) == (False, 1)
    assert list(found.success_rate_interval or ()) == pytest.approx([0.025 ** (1 / 200), 1])
    assert "no trial failed" in (found.reason or "")
    assert found.corrected_mean is not None


def test_too_little_to_model() -> None:
    with pytest.raises(StatisticsError, match="all 3 trials failed"):
        fit_tail(trial_times([5, 5, 5], limit=5))
    few = fit_tail(exclusive_or().trials(50, RNG(14)))
    assert "a tail is modelled from 50 up" in (few.reason or "")
    trials = exclusive_or().trials(500, RNG(15))
    assert "a tail needs 50" in (fit_tail(trials, start=1500).reason or "")
    with pytest.raises(StatisticsError, match="T₀ must lie between 0 and the limit 2000: got 2000"):
        fit_tail(trials, start=2000)
    with pytest.raises(StatisticsError, match="level of an interval"):
        fit_tail(trials, level=95)
