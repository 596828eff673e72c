"""Tests from mean squares against SciPy's distributions and against plain simulation."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from redelve.stats import analyse_common, compare_common
from redelve.stats.mean_squares import (
    cautious_p_value,
    f_p_value,
    f_test,
    hillis_test,
    quasi_f_test,
    t_quantile,
    t_test,
    two_t_half_width,
    two_t_p_value,
)


@pytest.mark.parametrize(("df1", "df2"), [(1.0, 1.0), (1.47, 4.95), (1.0, 1e9), (3.0, 7.5)])
def test_f_p_value_is_the_upper_tail(df1: float, df2: float) -> None:
    f = np.array([0.0, 0.1, 1.0, 14.8, 300.0])
    assert f_p_value(f, df1, df2) == pytest.approx(scipy_stats.f.sf(f, df1, df2), rel=1e-9)


def test_infinite_degrees_of_freedom_are_the_normal_limit() -> None:
    assert f_p_value(1.96**2, 1.0, np.inf) == pytest.approx(2 * scipy_stats.norm.sf(1.96), rel=1e-12)
    assert t_quantile(np.inf, 0.95) == pytest.approx(scipy_stats.norm.ppf(0.975), rel=1e-12)


@pytest.mark.parametrize("df", [1.0, 2.0, 3.7, 150.0, 1e8])
def test_t_quantile_encloses_its_level(df: float) -> None:
    assert t_quantile(df, 0.95) == pytest.approx(scipy_stats.t.ppf(0.975, df), rel=1e-8)


def test_every_test_takes_arrays() -> None:
    means, squares = np.array([0.1, 0.5]), (np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.ones(2))
    for k in range(2):
        one = (float(squares[0][k]), float(squares[1][k]), 1.0)
        for test in (f_test, hillis_test, quasi_f_test):
            both, single = test(means, squares, (4, 50)), test(means[k], one, (4, 50))
            assert [x[k] for x in both] == pytest.approx([float(x) for x in single], rel=1e-12)
        both_p = cautious_p_value(means, squares, (4, 50))
        assert both_p[k] == pytest.approx(float(cautious_p_value(means[k], one, (4, 50))), rel=1e-12)


def test_nothing_is_tested_without_variation() -> None:
    assert np.isnan(t_test(1.0, 0.0, (3, 4)).p_value)
    assert np.isnan(f_test(1.0, (0.0, 1.0, 2.0), (3, 4)).p_value)
    assert np.isnan(cautious_p_value(1.0, (0.0, 1.0, 2.0), (3, 4)))


def test_degrees_of_freedom_by_hand() -> None:
    # I = 4, J = 11, A = 3, C = 8 − 2 = 6: k = 5/3, kA = 5, (5 + 6)² / (25/3 + 36/10)
    assert f_test(1.0, (3.0, 8.0, 2.0), (4, 11)).df2 == pytest.approx(121 / (25 / 3 + 3.6), rel=1e-12)
    # Hillis: 3 · ((3 + 6)/3)²
    assert hillis_test(1.0, (3.0, 8.0, 2.0), (4, 11)).df2 == pytest.approx(27.0, rel=1e-12)
    assert f_test(1.0, (3.0, 1.0, 2.0), (4, 11)).df2 == pytest.approx(3.0)
    assert f_test(1.0, (0.0, 8.0, 2.0), (4, 11)).df2 == pytest.approx(10.0)


@pytest.mark.parametrize("training_sets", [2, 3, 4, 8, 60, 1000])
def test_cautious_p_value_is_the_t_test_when_test_cases_do_not_vary(training_sets: int) -> None:
    for t in (0.0, 0.5, 2.0, 12.0):
        mean = t / np.sqrt(training_sets * 200)
        expected = max(2 * float(scipy_stats.t.sf(t, training_sets - 1)), 1e-16)
        found = float(cautious_p_value(mean, (1.0, 1.0, 1.0), (training_sets, 200)))
        assert found == pytest.approx(expected, rel=1e-8)


def test_cautious_p_value_is_the_tail_of_two_t_variables() -> None:
    rng = np.random.default_rng(1)
    both = np.sqrt(2.0) * rng.standard_t(1, 400_000) + np.sqrt(3.0) * rng.standard_t(9, 400_000)
    expected = float(np.mean(np.abs(both) > 4.0))
    found = float(cautious_p_value(4.0 / np.sqrt(20), (2.0, 4.0, 1.0), (2, 10)))
    assert found == pytest.approx(expected, abs=4 * np.sqrt(0.28 * 0.72 / 400_000))


def test_cautious_interval_holds_what_the_cautious_test_does_not_reject() -> None:
    rng = np.random.default_rng(2)
    losses = rng.normal(size=(3, 40)) + rng.normal(size=(3, 1)) + 2 * rng.normal(size=40)
    plain, cautious = analyse_common(losses).interval(0.9), analyse_common(losses).cautious_interval(0.9)
    assert plain is not None
    assert cautious is not None
    assert cautious[0] < plain[0] < plain[1] < cautious[1]
    for edge in cautious:
        assert compare_common(losses - edge, np.zeros_like(losses)).cautious_p_value == pytest.approx(
            0.1, rel=1e-8
        )


@pytest.mark.parametrize("pairs", [30, 400])  # solved one by one, and interpolated
@pytest.mark.parametrize(
    ("dfs", "level"), [((7, 499), 0.001), ((3, 99), 1e-5), ((1, 99), 0.05), ((2, 4), 0.05), ((63, 9), 2e-6)]
)
def test_the_half_width_is_where_the_tail_has_the_level(
    pairs: int, dfs: tuple[int, int], level: float
) -> None:
    rng = np.random.default_rng(3)
    both = 10 ** rng.uniform(-4, 4, size=(2, pairs))
    both[1, :3] = 0.0
    sets, cases = (both[0], np.full(pairs, dfs[0])), (both[1], np.full(pairs, dfs[1]))
    found = two_t_half_width(sets, cases, level)
    p = two_t_p_value(np.square(found), sets, cases)
    assert p == pytest.approx(np.full(pairs, level), rel=1e-5)
    alone = scipy_stats.t.ppf(1 - level / 2, dfs[0]) * np.sqrt(both[0, :3])
    assert found[:3] == pytest.approx(alone, rel=1e-6)
