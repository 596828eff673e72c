"""Intervals for bounded scores of which few differ: published values, agreement with t, and their rates."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from redelve.stats.bounded_intervals import BoundedPairs, SeenDifferences
from redelve.stats.case_pairs import pairs_of_cases
from redelve.stats.families import PairFamily, unmoderated


def counted(wins: float, losses: float, cases: float) -> SeenDifferences:
    """Differences of right and wrong answers."""
    seen = np.array([[wins, cases - wins - losses, losses]])
    return SeenDifferences(np.array([[1.0, 0.0, -1.0]]), np.ones((1, 3)), seen)


def answers(wins: int, losses: int, cases: int) -> np.ndarray:
    """Two models' right and wrong answers with that many differences."""
    first, second = np.zeros(cases), np.zeros(cases)
    first[:wins], second[wins : wins + losses] = 1.0, 1.0
    return np.array([first, second])


def family(scores: np.ndarray) -> PairFamily:
    first, second = zip(*combinations(range(len(scores)), 2), strict=True)
    return unmoderated(pairs_of_cases(scores, (first, second), None, (0.0, 1.0)))


def as_t(z: float, cases: int) -> float:
    return float(z * np.sqrt((cases - 1) / (cases - z**2)))


def test_the_score_is_tangos() -> None:
    """One win, seven losses of 21: −0.517 to −0.026 (Fagerland, Lydersen and Laake 2014, Stat Med 33:2850).

    At the upper end the score is the smaller statistic and 1.96.
    """
    found = counted(7, 1, 21).statistics(np.array([0.026]))[0]
    assert found == pytest.approx(as_t(1.96, 21), abs=2e-3)


def test_the_other_statistic_is_the_likelihood_ratio_of_a_multinomial() -> None:
    """Maximised here over the losses' probability by itself."""

    q = np.linspace(0.5171, 0.7584, 200_001)
    seen, fit = np.array([1, 13, 7]) / 21, np.column_stack([q - 0.517, 1.517 - 2 * q, q])
    least = (42 * (seen * np.log(seen / fit)).sum(axis=1)).min()
    found = counted(1, 7, 21).turned().statistics(np.array([0.0]))
    assert found[0] == pytest.approx(stats.ttest_1samp([1] * 7 + [0] * 13 + [-1], 0).statistic)
    mirrored = counted(1, 7, 21).statistics(np.array([-0.517]))[0]
    assert mirrored == pytest.approx(as_t(np.sqrt(least), 21), rel=1e-6)


@pytest.mark.parametrize(("wins", "losses", "cases"), [(5, 0, 50), (9, 3, 50), (14, 2, 60), (1, 0, 200)])
def test_right_and_wrong_answers_have_the_p_values_of_the_paired_t_test(
    wins: int, losses: int, cases: int
) -> None:
    scores = answers(wins, losses, cases)
    expected = stats.ttest_rel(scores[0], scores[1]).pvalue
    assert family(scores).p_values()[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", [0.05, 0.05 / 406])
@pytest.mark.parametrize(("wins", "losses", "cases"), [(5, 0, 50), (9, 3, 50), (2, 2, 30), (0, 0, 40)])
def test_an_interval_ends_where_the_statistic_is_the_quantile(
    wins: int, losses: int, cases: int, level: float
) -> None:
    found = counted(wins, losses, cases)
    reach = float(stats.t.isf(level / 2, cases - 1))
    (low,) = found.lowest(reach)
    mean = (wins - losses) / cases
    root = brentq(lambda d: min(found.statistics(np.array([d]))[0], 1e3) - reach, -1 + 1e-9, mean - 1e-12)
    assert low == pytest.approx(root, abs=1e-7)


def test_claims_of_right_and_wrong_answers_are_made_exactly_where_intervals_leave_out_zero() -> None:
    rng = np.random.default_rng(3)
    found = family(np.where(rng.random((12, 80)) < np.linspace(0.02, 0.3, 12)[:, None], 0.0, 1.0))
    lows, highs = found.ends(0.05)
    np.testing.assert_array_equal(found.p_values() < 0.05, (lows > 0) | (highs < 0))
    assert 0 < (found.p_values() < 0.05).sum() < found.pairs


def test_scores_of_which_most_differ_have_t_intervals() -> None:
    rng = np.random.default_rng(3)
    found = family(rng.random((4, 40)))
    lows, highs = found.ends(0.05)
    np.testing.assert_allclose((highs - lows) / 2, found.half_widths(0.05))


def test_models_that_never_differ_have_an_interval() -> None:
    found = family(np.ones((2, 100)))
    (low,), (high,) = found.ends(0.05)
    assert found.p_values()[0] == 1.0
    assert low == -high
    assert high == pytest.approx(1.984**2 * 100 / 99 / (100 + 1.984**2 * 100 / 99), rel=0.05)


def test_counting_differences_gives_what_listing_them_gives() -> None:
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 4, (5, 60)) / 3
    first, second = (np.array(side) for side in zip(*combinations(range(5), 2), strict=True))
    pairs = BoundedPairs(scores, np.full(60, 1 / 60), (first, second), 1.0, 59.0)
    every = np.arange(len(pairs))
    counts, rows = pairs._counted(every), pairs._listed(every)
    shift = np.full(len(pairs), -0.1)
    np.testing.assert_allclose(counts.statistics(shift), rows.statistics(shift), rtol=1e-9)


def missed(cases: int, wins: float, losses: float, level: float) -> float:
    """Exact chance that an interval misses, over all numbers of wins and losses."""
    won, lost = (one.ravel() for one in np.meshgrid(np.arange(cases + 1), np.arange(cases + 1)))
    won, lost = won[won + lost <= cases], lost[won + lost <= cases]
    ties = cases - won - lost
    chance = stats.multinomial.pmf(np.stack([won, ties, lost], 1), cases, [wins, 1 - wins - losses, losses])
    likely = chance > 1e-9
    seen = np.stack([won, ties, lost], 1)[likely].astype(float)
    values = np.tile([1.0, 0.0, -1.0], (len(seen), 1))
    found = SeenDifferences(values, np.ones_like(values), seen)
    true, reach = np.full(len(seen), wins - losses), stats.t.isf(level / 2, cases - 1)
    is_out = (found.statistics(true) > reach) | (found.turned().statistics(-true) > reach)
    return float(chance[likely][is_out].sum())


@pytest.mark.parametrize("cases", [20, 50])
@pytest.mark.parametrize(
    ("wins", "losses"), [(0.01, 0.01), (0.02, 1e-9), (0.05, 0.05), (0.1, 1e-9), (0.09, 0.01), (0.125, 0.125)]
)
def test_intervals_of_rare_differences_miss_in_about_five_per_cent_at_most(
    cases: int, wins: float, losses: float
) -> None:
    """Computed, not simulated: a t-interval misses in up to 67 % of these samples."""
    assert missed(cases, wins, losses, 0.05) < 0.056


def rates(cases: int, level: float) -> np.ndarray:
    """How often two equal models are told apart, exactly, by how often they differ."""
    wins, losses = np.indices((cases + 1, cases + 1)).reshape(2, -1)
    is_there = wins + losses <= cases
    wins, losses = wins[is_there], losses[is_there]
    pairs = zip(wins.tolist(), losses.tolist(), strict=True)
    claimed = np.array([family(answers(*one, cases)).p_values()[0] < level for one in pairs])
    differing = np.linspace(0.05, 1, 20)[:, None]
    some = stats.binom.pmf(wins + losses, cases, differing) * stats.binom.pmf(wins, wins + losses, 0.5)
    return np.asarray((some * claimed).sum(axis=1))


@pytest.mark.parametrize("cases", [2, 3, 4, 5, 6, 7, 8, 9, 11, 14, 20, 29])
def test_few_right_and_wrong_answers_seldom_tell_equal_models_apart(cases: int) -> None:
    """By t alone 50, 25, 12.5 % with two, three and four cases, 12.5 and 8.5 % with seven and eight."""
    assert rates(cases, 0.05).max() < 0.05
    for models in (
        3,
        10,
        29,
    ):  # by Edwards's correction alone up to 4.9 times the level
        level = 0.05 / (models * (models - 1) / 2)
        assert rates(cases, level).max() <= level


@pytest.mark.parametrize(
    ("wins", "losses", "cases"),
    [(3, 0, 3), (4, 0, 8), (6, 0, 6), (7, 0, 7), (10, 0, 10), (12, 0, 12), (9, 1, 12), (12, 3, 49)],
)
def test_few_answers_are_near_the_exact_test_and_never_below(wins: int, losses: int, cases: int) -> None:
    """McNemar's exact test; intervals leave out zero where a difference is claimed."""
    found = family(answers(wins, losses, cases))
    exact = stats.binomtest(wins, wins + losses).pvalue
    (p,), ((low,), _) = found.p_values(), found.ends(0.05)
    assert exact * (1 - 1e-9) <= p < 1.4 * exact
    assert (p < 0.05) == (low > 0)


@pytest.mark.parametrize("limits", [(0.0, 100.0), (0.0, 1000.0), (-5.0, 15.0)])
@pytest.mark.parametrize(
    ("wins", "losses", "cases"), [(6, 0, 6), (9, 1, 12), (15, 1, 20), (30, 4, 60), (2, 1, 9)]
)
def test_limits_far_beyond_two_values_make_no_claim_harder(
    wins: int, losses: int, cases: int, limits: tuple[float, float]
) -> None:
    """The test is that of right and wrong answers; the interval allows for what was not seen."""
    scores = 10 * answers(wins, losses, cases)
    near, far = (unmoderated(pairs_of_cases(scores, ([0], [1]), None, one)) for one in ((0.0, 10.0), limits))
    assert far.p_values()[0] == pytest.approx(near.p_values()[0], rel=1e-9)
    assert far.own_p_values()[0] == pytest.approx(near.own_p_values()[0], rel=1e-9)
    (narrow,), (narrow_high,) = near.ends(0.05)
    (low,), (high,) = far.ends(0.05)
    assert low <= narrow + 1e-6
    assert high >= narrow_high - 1e-6
