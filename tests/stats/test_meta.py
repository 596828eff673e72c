"""Differences over tasks: published variances between studies, statsmodels' intervals, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.over_tasks import (
    GAUSSIAN,
    SKEWED,
    Tasks,
    draw_tasks,
    simulate_pairs,
    simulate_tasks,
)
from hypothesis import given
from hypothesis import strategies as st

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import t_quantile
from redelve.stats.meta import effective_df, moderated_variances, paule_mandel, random_effects
from redelve.stats.moderation import SPREAD, trigamma_inverse

# Viechtbauer 2005, Journal of Educational and Behavioral Statistics 30:261–293, pages 271 and 272: the
# empirical Bayes estimate of Morris is Paule and Mandel's (DerSimonian and Kacker 2007).
PYGMALION = (
    [-0.581, 0.530, 0.771, 1.031, 0.553, 0.295, 0.078, 0.573, -0.176, -0.232],
    [0.023, 0.052, 0.060, 0.115, 0.095, 0.203, 0.200, 0.211, 0.051, 0.040],
)
TESTS = (
    [
        *(0.100, -0.162, -0.090, -0.049, -0.046, -0.010, -0.431, -0.261, 0.134),
        *(0.019, 0.175, 0.056, 0.045, 0.103, 0.121, -0.482, 0.290, 0.342),
    ],
    [
        *(0.016, 0.015, 0.050, 0.050, 0.032, 0.052, 0.036, 0.024, 0.034),
        *(0.033, 0.031, 0.034, 0.039, 0.167, 0.134, 0.096, 0.016, 0.035),
    ],
)
# Colditz et al. 1994: vaccinated with and without tuberculosis, controls with and without.
BCG = np.array(
    [
        [4, 119, 11, 128],
        [6, 300, 29, 274],
        [3, 228, 11, 209],
        [62, 13536, 248, 12619],
        [33, 5036, 47, 5761],
        [180, 1361, 372, 1079],
        [8, 2537, 10, 619],
        [505, 87886, 499, 87892],
        [29, 7470, 45, 7232],
        [17, 1699, 65, 1600],
        [186, 50448, 141, 27197],
        [5, 2493, 3, 2338],
        [27, 16886, 29, 17825],
    ],
    dtype=np.float64,
)


def log_risk_ratios() -> tuple[np.ndarray, np.ndarray]:
    treated, control = BCG[:, :2].sum(axis=1), BCG[:, 2:].sum(axis=1)
    effects = np.log(BCG[:, 0] / treated) - np.log(BCG[:, 2] / control)
    return effects, 1 / BCG[:, 0] - 1 / treated + 1 / BCG[:, 2] - 1 / control


@pytest.mark.parametrize(("study", "published"), [(PYGMALION, 0.192), (TESTS, 0.010)])
def test_the_variance_between_studies_is_the_published_one(
    study: tuple[list[float], list[float]], published: float
) -> None:
    assert float(paule_mandel(*study)) == pytest.approx(published, abs=5e-4)


def test_the_vaccine_of_thirteen_trials() -> None:
    """The restricted likelihood's estimate with τ² = 0.3132 is −0.7145 (metafor's example of `rma`)."""
    effects, variances = log_risk_ratios()
    assert float(random_effects(effects, variances, between=0.3132).means) == pytest.approx(-0.7145, abs=5e-5)


@pytest.mark.parametrize("study", [PYGMALION, TESTS, log_risk_ratios()])
def test_intervals_are_those_of_statsmodels(study: tuple[np.ndarray, np.ndarray]) -> None:
    combine_effects = pytest.importorskip("statsmodels.stats.meta_analysis").combine_effects
    theirs = combine_effects(np.array(study[0]), np.array(study[1]), method_re="iterated", use_t=False)
    found = random_effects(*study)
    assert float(found.between) == pytest.approx(theirs.tau2, abs=1e-5)
    assert float(found.means) == pytest.approx(theirs.mean_effect_re, abs=1e-5)
    assert float(found.standard_errors) == pytest.approx(theirs.sd_eff_w_re_hksj, rel=1e-4)


def test_without_heterogeneity_the_factor_stays_at_one() -> None:
    found = random_effects([0.1, 0.11, 0.12], [1.0, 1.0, 1.0])
    assert float(found.between) == 0
    assert float(found.standard_errors) == pytest.approx(3**-0.5)
    assert float(found.p_values()) == pytest.approx(0.866, abs=0.01)


def test_a_task_known_badly_counts_little_and_equal_errors_give_the_t_test() -> None:
    from scipy import stats as scipy_stats

    effects = np.array([0.3, -0.1, 0.5, 0.4, 0.2, 0.9])
    plain = random_effects(effects, np.full(6, 1e-9))
    assert float(plain.p_values()) == pytest.approx(scipy_stats.ttest_1samp(effects, 0).pvalue, rel=1e-6)
    rough = random_effects(np.append(effects, 50.0), np.append(np.full(6, 1e-3), 1e4))
    assert abs(float(rough.means) - float(plain.means)) < 0.5


def test_degrees_of_freedom_are_satterthwaites_with_the_information_of_restricted_likelihood() -> None:
    """ν = 2V²/(V′² Var τ²), V′ by differences, the information ½ tr PP with P that of the residuals."""
    variances, between = np.array([0.2, 0.5, 1.0, 3.0, 9.0]), 2.0
    weights = np.diag(1 / (variances + between))
    residual = weights - weights @ np.ones((5, 5)) @ weights / weights.sum()
    information = np.trace(residual @ residual) / 2

    def squared_error(tau: float) -> float:
        return float(1 / (1 / (variances + tau)).sum())

    slope = (squared_error(between + 1e-5) - squared_error(between - 1e-5)) / 2e-5
    expected = 2 * squared_error(between) ** 2 / (slope**2 / information)
    assert float(effective_df(variances, np.array(between))) == pytest.approx(expected, rel=1e-6)
    assert expected < 4


def test_degrees_of_freedom_are_one_less_than_tasks_where_errors_are_alike() -> None:
    alike = random_effects([[0.3, 0.1, 0.5, 0.2], [1.0, 2.0, 9.0, 4.0]], np.full((2, 4), 0.01))
    np.testing.assert_allclose(alike.df, 3.0)
    apart = random_effects([0.3, 0.1, 0.5, 0.2], [1e-4, 1.0, 1.0, 1.0])
    assert 2 <= float(apart.df) < 3
    assert float(random_effects([0.3, 0.1], [1e-4, 1.0]).df) == 1


def test_the_prediction_is_wider_than_the_interval_and_holds_the_spread() -> None:
    found = random_effects(*PYGMALION)
    assert float(found.prediction_half_widths(0.05)) > float(found.half_widths(0.05))
    spread = np.var(PYGMALION[0], ddof=1)
    expected = max(0.19206, spread - np.mean(PYGMALION[1]), spread / 2)
    assert float(found.spread) == pytest.approx(expected, rel=1e-3)


def test_equal_variances_are_left_alone_and_wild_ones_drawn_in() -> None:
    alike = moderated_variances([0.5, 0.5, 0.5, 0.5], 1e5)
    assert alike == pytest.approx([0.5] * 4, rel=1e-3)
    rough = np.array([0.1, 1.0, 1.1, 0.9, 1.2, 8.0])
    drawn = moderated_variances(rough, 3)
    assert 0.1 < drawn[0] < drawn[3] < drawn[5] < 8.0


def test_the_prior_is_smyths() -> None:
    """Moments of log variances (Smyth 2004, section 6.2), written out for one case."""
    from scipy.special import digamma, polygamma

    v, df = np.array([0.02, 0.5, 1.0, 3.0, 9.0]), 7.0
    e = np.log(v) - digamma(df / 2) + np.log(df / 2)
    prior = 2 * float(trigamma_inverse(np.array(e.var(ddof=1) - SPREAD * polygamma(1, df / 2))))
    centre = np.exp(e.mean() + digamma(prior / 2) - np.log(prior / 2))
    assert moderated_variances(v, df) == pytest.approx((prior * centre + df * v) / (prior + df))


def test_a_task_without_a_standard_error_has_the_prior_one() -> None:
    drawn = moderated_variances([1.0, 1.1, np.nan, 0.9], [7, 7, 7, 7])
    assert 0.7 < drawn[2] < 1.3


@given(st.floats(1e-3, 1e3), st.permutations(range(6)))
def test_units_and_the_order_of_tasks_change_nothing(unit: float, order: list[int]) -> None:
    effects, variances = np.array(PYGMALION[0][:6]), np.array(PYGMALION[1][:6])
    plain = random_effects(effects, moderated_variances(variances, 7))
    other = random_effects(unit * effects[order], moderated_variances(unit**2 * variances[order], 7))
    assert float(other.p_values()) == pytest.approx(float(plain.p_values()), rel=1e-6)
    assert float(other.means) == pytest.approx(unit * float(plain.means), rel=1e-6)


def test_many_pairs_at_once_are_pairs_one_by_one() -> None:
    effects = np.array([PYGMALION[0], TESTS[0][:10]])
    variances = np.array([PYGMALION[1], TESTS[1][:10]])
    both = random_effects(effects, variances)
    for place in range(2):
        assert both.means[place] == pytest.approx(
            float(random_effects(effects[place], variances[place]).means)
        )


def test_what_cannot_be_combined_is_refused() -> None:
    with pytest.raises(StatisticsError, match="two tasks or more"):
        random_effects([1.0], [1.0])
    with pytest.raises(StatisticsError, match="above zero"):
        random_effects([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(StatisticsError, match="no task has a standard error"):
        moderated_variances([np.nan, np.nan], 7)


def test_intervals_over_tasks_cover() -> None:
    """3000 data sets each: standard error 0.4; settings as in docs/calibration.md, other random numbers."""
    rng = np.random.default_rng(11)
    for setting in (Tasks(5, 4, 1.0), Tasks(5, 8, 3.0), Tasks(10, 4, 0.0), Tasks(30, 8, 1.0)):
        mean, new = simulate_tasks(setting, 3000, rng)
        assert mean > 95 - 1.2, setting
        assert new > 94 - 1.2, setting


def test_far_in_the_tail_intervals_miss_about_as_often_as_said() -> None:
    """At 0.1 %, with a standard error of 0.016 (40,000 data sets); T − 1 degrees of freedom miss more."""
    rng = np.random.default_rng(14)
    for setting in (Tasks(10, 8, 1.0), Tasks(10, 8, 2.0)):
        effects, variances, _ = draw_tasks(setting, 40_000, rng)
        found = random_effects(effects, moderated_variances(variances, 7))
        reach = np.abs(found.means / found.standard_errors)
        missed = np.abs(found.means) > found.half_widths(0.001)
        assert 100 * missed.mean() < 0.11 + 3 * 0.016, setting
        assert 100 * np.mean(reach > t_quantile(9.0, 0.999)) > 0.12, setting


def test_equal_methods_are_told_apart_as_often_as_said() -> None:
    """At 5 % for all pairs. Standard error 0.7."""
    rng = np.random.default_rng(13)
    for methods, setting in ((2, Tasks(10, 8, 1.0)), (10, Tasks(5, 8, 3.0)), (10, Tasks(20, 8, 1.0))):
        assert simulate_pairs(methods, setting, 1000, rng) < 5 + 3 * 0.7, setting


@pytest.mark.slow
def test_intervals_over_tasks_cover_everywhere() -> None:
    rng = np.random.default_rng(12)
    found = [simulate_tasks(setting, 20_000, rng) for setting in GAUSSIAN]
    assert min(mean for mean, _ in found) > 94 - 0.5
    assert min(new for _, new in found) > 93.5 - 0.5
    skewed = [simulate_tasks(setting, 20_000, rng) for setting in SKEWED]
    assert min(mean for mean, _ in skewed) > 90 - 0.6


def test_a_new_task_lies_where_it_is_predicted_also_with_few_tasks_known_unequally_well() -> None:
    """On T − 1 degrees of freedom 93.9 % of five tasks' predictions hold; 40,000 have an error of 0.11."""
    _, held = simulate_tasks(Tasks(5, 8, 3.0), 40_000, np.random.default_rng(9))
    assert held >= 94.3
