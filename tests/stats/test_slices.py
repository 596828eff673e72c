"""Differences in slices of the cases, with intervals that hold all together."""

import numpy as np
import pytest
from benchmarks.calibration.in_slices import SETTINGS, false_claims
from scipy import optimize
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats.bounded_tests import lowest_difference
from redelve.stats.families import pairs_of_sets
from redelve.stats.slices import LEAST_UNITS, compare_slices, score_interval, slices_of_squares

Z95 = 1.959963984540054


def test_the_score_interval_is_the_published_one() -> None:
    # Airway hyper-responsiveness, 1, 1, 7, 12 (Bentur et al. 2009): Fagerland, Lydersen and Laake (2014),
    # Statistics in Medicine 33:2850-2875, print -0.517 to -0.026 for Tango's interval.
    assert score_interval(1, 7, 21, Z95) == pytest.approx((-0.517, -0.026), abs=5e-4)
    # R, PropCIs 0.3-0: scoreci.mp(25, 28, 618, 0.90), of (28 - 25)/618.
    assert score_interval(28, 25, 618, 1.6448536) == pytest.approx((-0.0148, 0.0247), abs=5e-5)


@pytest.mark.parametrize("counts", [(9, 2, 40), (3, 3, 25), (15, 0, 30)])
def test_the_score_interval_turns_round_the_constrained_likelihood(counts: tuple[int, int, int]) -> None:
    b, c, n = counts
    for end in score_interval(b, c, n, Z95):

        def minus_likelihood(q: float, end: float = end) -> float:
            p = q + end
            rest = (n - b - c) * np.log1p(-p - q)
            return -float(b * np.log(p) + c * np.log(max(q, 1e-300)) * (c > 0) + rest)

        low = max(0.0, -end) + 1e-12
        found = optimize.minimize_scalar(
            minus_likelihood, bounds=(low, (1 - end) / 2 - 1e-12), method="bounded"
        )
        q = found.x if c else max(0.0, found.x)
        variance = (2 * q + end - end**2) / n
        assert abs((b - c) / n - end) / np.sqrt(variance) == pytest.approx(Z95, rel=2e-3)


@pytest.mark.parametrize("counts", [(9, 2, 40), (0, 4, 25)])
def test_the_score_interval_ends_where_the_test_of_a_margin_does(counts: tuple[int, int, int]) -> None:
    first, second, cases = counts
    values = np.repeat([1.0, -1.0, 0.0], [first, second, cases - first - second])
    ends = (lowest_difference(values, 0.025), -lowest_difference(-values, 0.025))
    assert score_interval(*counts, Z95) == pytest.approx(ends, abs=1e-6)


def test_without_a_case_that_differs_the_score_interval_still_has_a_width() -> None:
    expected = Z95**2 / (30 + Z95**2)  # the root of nδ²/(δ(1 − δ)) = z², in closed form
    assert score_interval(0, 0, 30, Z95) == pytest.approx((-expected, expected))


def test_at_zero_the_p_value_is_mcnemars() -> None:
    first = np.repeat([1.0, 0.0, 1.0, 0.0], [12, 5, 20, 63])
    second = np.repeat([0.0, 1.0, 1.0, 0.0], [12, 5, 20, 63])
    (found,) = compare_slices(first, second, [np.ones(100, dtype=bool)])
    assert found.p_value == pytest.approx(scipy_stats.chi2.sf((12 - 5) ** 2 / 17, 1))
    assert found.difference == pytest.approx(0.07)


def test_an_interval_leaves_out_zero_just_where_the_p_value_is_below_the_level() -> None:
    rng = np.random.default_rng(1)
    seen = set()
    for binary in (True, False):
        for _ in range(200):
            first, second = rng.random((2, 120)) + np.array([[rng.choice([0.0, 0.3])], [0.0]])
            if binary:
                first, second = (first > 0.8).astype(float), (second > 0.8).astype(float)
            members = [np.arange(120) < 60, np.arange(120) >= 60]
            for one in compare_slices(first, second, members):
                assert one.p_value is not None
                assert (one.worse != 0) == (one.p_value < 0.05)
                seen.add(one.worse != 0)
    assert seen == {True, False}


def test_self_normalised_intervals_have_their_closed_form() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 50))
    (found,) = compare_slices(first, second, [np.ones(50, dtype=bool)])
    assert found.low is not None
    at_the_end = first - second - found.low
    z = at_the_end.sum() / np.sqrt(np.square(at_the_end).sum())
    assert z == pytest.approx(Z95)


def test_all_slices_share_the_level() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 80))
    whole = np.ones(80, dtype=bool)
    (alone,) = compare_slices(first, second, [whole], level=0.01)
    five = compare_slices(first, second, [whole] * 5, level=0.05)
    assert {(one.low, one.high) for one in five} == {(alone.low, alone.high)}


def test_small_slices_are_described_and_take_no_part() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(2, 80))
    whole = np.ones(80, dtype=bool)
    few = np.arange(80) < LEAST_UNITS - 1
    alone, both = compare_slices(first, second, [whole]), compare_slices(first, second, [whole, few])
    assert (both[0].low, both[0].p_value) == (alone[0].low, alone[0].p_value)
    assert (both[1].low, both[1].p_value) == (None, None)
    assert both[1].difference == pytest.approx((first - second)[few].mean())


def test_dependent_cases_count_as_one() -> None:
    rng = np.random.default_rng(5)
    first, second = (rng.random((2, 40)) < 0.3).astype(float)
    labels = np.repeat(np.arange(40), 4)
    (single,) = compare_slices(first + 0.5, second + 0.5, [np.ones(40, dtype=bool)])  # not 0 and 1: no score
    whole = np.ones(160, dtype=bool)
    (found,) = compare_slices(np.repeat(first, 4), np.repeat(second, 4), [whole], groups=labels)
    assert (found.low, found.high, found.units) == pytest.approx((single.low, single.high, 40))


def test_slices_of_several_training_sets_go_by_their_own_analysis() -> None:
    rng = np.random.default_rng(6)
    rows = [[rng.normal(size=30) for _ in range(5)] for _ in range(2)]
    squares = pairs_of_sets(rows, ([0], [1]), "hierarchical")
    (found,) = slices_of_squares(squares, [30], [30])
    means = [one.mean() - two.mean() for one, two in zip(*rows, strict=True)]
    interval = scipy_stats.ttest_1samp(means, 0.0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert slices_of_squares(squares, [10], [10])[0].p_value is None


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(StatisticsError, match="same cases"):
        compare_slices([1.0, 2.0], [1.0, 2.0], [np.array([True])])
    with pytest.raises(StatisticsError, match="has no case"):
        compare_slices([1.0, 2.0], [1.0, 2.0], [np.array([False, False])])


@pytest.mark.parametrize("setting", [one for one in SETTINGS if one.is_quick], ids=lambda one: one.words)
def test_false_claims_are_made_in_at_most_five_per_cent(setting) -> None:  # type: ignore[no-untyped-def]
    count = 400 if setting.sets == 1 else 100
    rate = false_claims(setting, count, np.random.default_rng(7))
    assert rate < 5 + 3 * 100 * np.sqrt(0.05 * 0.95 / count)
