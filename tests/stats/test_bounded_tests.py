"""Worse, or not worse by the margin: against published values, exact levels, and simulation."""

from collections.abc import Callable
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.optimize import brentq

from redelve.stats.bounded_tests import (
    bounded_z,
    likeliest_tilt,
    mid_p,
    not_worse_p_value,
    sign_test,
    t_p_value,
    units_needed,
    worse_p_value,
)

SIGNS = np.array([1.0, -1.0, 0.0])


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("seen", [(2, 2, 46), (3, 3, 44), (21, 1, 78), (0, 0, 50), (0, 3, 40), (9, 0, 11)])
def test_the_tilt_is_where_the_likelihood_is_largest(seen: tuple[int, int, int], margin: float) -> None:
    """Of two wins, two losses and a margin of 0.1 Newton's first step ends where 1 + λx is 0."""
    counts, x = np.array(seen, dtype=float), np.where(np.array(seen) > 0, SIGNS + margin, 0.0)

    def slope(tilt: float) -> float:
        return float((counts * x / (1 + tilt * x)).sum())

    most = 1 / (1 - margin)
    end = most * (1 - 1e-12) if x.min() < 0 else most
    expected = 0.0 if slope(0.0) <= 0 else most if slope(end) > 0 else brentq(slope, 0.0, end, xtol=1e-14)
    if x.any():
        assert likeliest_tilt(x, counts, 1 - margin) == pytest.approx(expected, abs=1e-9)


def tango(wins: int, losses: int, n: int, margin: float) -> float:
    """Tango (1998), equations 9 and 10, with p(new) − p(old) = −margin."""
    d = -margin
    a, b, c = 2 * n, -wins - losses + (2 * n - wins + losses) * d, -losses * d * (1 - d)
    q = (sqrt(b * b - 4 * a * c) - b) / (2 * a)
    return (wins - losses - n * d) / sqrt(n * (2 * q + d * (1 - d)))


@pytest.mark.parametrize("n", [20, 97, 400])
@pytest.mark.parametrize("margin", [0.01, 0.05, 0.3])
def test_it_is_tangos_z_on_right_and_wrong_answers(n: int, margin: float) -> None:
    for wins in range(0, n // 2, 1 + n // 15):
        for losses in range(0, n // 2, 1 + n // 15):
            if (wins - losses) / n > -margin:
                counts = np.array([wins, losses, n - wins - losses], dtype=float)
                z, _ = bounded_z(SIGNS + margin, margin - 1, counts)
                assert z == pytest.approx(tango(wins, losses, n, margin), abs=1e-8)
                whole, size = bounded_z(np.repeat(SIGNS, counts.astype(int)) + margin, margin - 1)
                assert whole == pytest.approx(z, abs=1e-10)
                assert size == n


def test_with_no_margin_it_is_mcnemars_z() -> None:
    z, _ = bounded_z(SIGNS, -1.0, np.array([11.0, 4.0, 60.0]))
    assert z == pytest.approx(7 / sqrt(15))


def test_it_is_scale_free_between_counts_and_scores() -> None:
    """A rubric whose marks are all or nothing is a right or wrong answer, but for t in place of z."""
    d = np.repeat(SIGNS, [10, 6, 84])
    almost = d.copy()
    almost[0] = 0.999
    assert not_worse_p_value(almost, 0.05) == pytest.approx(
        scipy_stats.t.sf(tango(10, 6, 100, 0.05), 99), abs=2e-4
    )


def test_worse_is_mcnemars_mid_p() -> None:
    exact = sum(comb(8, k) for k in (7, 8)) / 256
    assert mid_p(np.array(7.0), np.array(1.0)) == pytest.approx(exact - comb(8, 7) / 512)
    assert mid_p(np.array(0.0), np.array(0.0)) == 0.5
    assert mid_p(np.array(0.0), np.array(3.0)) == pytest.approx(1 - 1 / 16)
    assert mid_p(np.array(3.0), np.array(0.0)) == pytest.approx(1 / 16)
    assert worse_p_value(np.repeat(SIGNS, [1, 7, 9])) == pytest.approx(mid_p(np.array(7.0), np.array(1.0)))


def test_sign_tests_are_binomial_tails() -> None:
    for n in (1, 5, 30):
        for wins in range(n + 1):
            expected = scipy_stats.binom.sf(wins - 1, n, 0.5)
            assert sign_test(np.array(float(wins)), np.array(float(n - wins))) == pytest.approx(expected)


def exits(n: int, chances: tuple[float, float], margin: float) -> tuple[float, float]:
    """Exact chances of "not worse" and, else, of "worse", summed over all counts."""
    wins, losses = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    is_possible = wins + losses <= n
    counts = np.stack([wins, losses, n - wins - losses], axis=-1)[is_possible]
    chance = scipy_stats.multinomial.pmf(counts, n, [*chances, 1 - sum(chances)])
    counts, chance = counts[chance > 1e-10].astype(float), chance[chance > 1e-10]
    values = np.broadcast_to(SIGNS, counts.shape)
    not_worse = not_worse_p_value(values, margin, counts=counts) <= 0.05
    worse = (worse_p_value(values, counts=counts) <= 0.05) & ~not_worse
    return float(chance[not_worse].sum()), float(chance[worse].sum())


def test_exits_have_the_chances_measured_before() -> None:
    """Discordance 0.15, margin 0.05, in per cent: 22/4 and 56/5 unchanged, 5/58 at the margin."""
    assert np.round(100 * np.array(exits(50, (0.075, 0.075), 0.05))).tolist() == [22, 4]
    assert np.round(100 * np.array(exits(200, (0.075, 0.075), 0.05))).tolist() == [56, 5]
    assert np.round(100 * np.array(exits(200, (0.05, 0.10), 0.05))).tolist() == [5, 58]


@pytest.mark.parametrize("n", [50, 100, 300])
@pytest.mark.parametrize("margin", [0.02, 0.1])
@pytest.mark.parametrize("wins", [0.0, 0.01, 0.1])
def test_exact_levels_with_right_and_wrong_answers(n: int, margin: float, wins: float) -> None:
    """Wrongly worse in at most 5 %; wrongly not worse in 6.0 % at worst, where no answer got better."""
    assert exits(n, (wins, wins + margin), margin)[0] <= 0.0602
    assert exits(n, (wins + 0.01, wins + 0.01), margin)[1] <= 0.0505


Draw = Callable[[np.random.Generator, Any], Any]
SHAPES: dict[str, Draw] = {
    "rare losses": lambda rng, size: -0.5 * (rng.random(size) < 0.1),
    "wide": lambda rng, size: np.clip(rng.normal(-0.05, 0.3, size), -1, 0.9),
    "mostly the same": lambda rng, size: (
        np.where(rng.random(size) < 0.2, rng.uniform(-1, 1, size), 0.0) - 0.05
    ),
    "skewed": lambda rng, size: 0.0625 - 1.0625 * (rng.random(size) < 0.10588),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("n", [50, 200])
def test_levels_with_bounded_scores_are_kept(name: str, n: int) -> None:
    rng = np.random.default_rng([1, n])
    d = np.clip(SHAPES[name](rng, (1500, n)), -1, 1)
    margin = -float(np.clip(SHAPES[name](rng, 400_000), -1, 1).mean())
    rate = float((not_worse_p_value(d, margin) <= 0.05).mean())
    assert rate <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500) + 0.002  # the margin is estimated too
    assert (not_worse_p_value(d + margin, margin) <= 0.05).mean() > 2 * rate


def test_a_t_test_says_not_worse_of_models_that_are() -> None:
    """What the test is for: with rare losses the t-test is often wrong."""
    d = SHAPES["rare losses"](np.random.default_rng(2), (2000, 30))
    assert (t_p_value(d + 0.05) <= 0.05).mean() > 0.1
    assert (not_worse_p_value(d, 0.05) <= 0.05).mean() < 0.06


def test_false_blocks_with_bounded_scores_are_at_most_one_in_twenty() -> None:
    rng = np.random.default_rng(3)
    d = np.where(rng.random((4000, 100)) < 0.3, rng.uniform(-1, 1, (4000, 100)), 0.0)
    rate = float((worse_p_value(d) <= 0.05).mean())
    assert abs(rate - 0.05) <= 3 * np.sqrt(0.05 * 0.95 / 4000)


def test_the_t_test_is_scipys() -> None:
    x = np.random.default_rng(4).normal(0.3, 1.0, size=20)
    assert t_p_value(x) == pytest.approx(scipy_stats.ttest_1samp(x, 0.0, alternative="greater").pvalue)
    assert t_p_value(np.ones(5)) == 0.0
    assert t_p_value(np.zeros(5)) == 0.5


def test_units_count_by_their_weight() -> None:
    """Two clusters of a question each are what two questions are; half the weight needs more of them."""
    d = np.random.default_rng(5).uniform(-0.3, 0.3, 60)
    assert not_worse_p_value(d, 0.1, weights=np.ones(60)) == pytest.approx(not_worse_p_value(d, 0.1))
    assert units_needed(d / 2, 0.1, 0.05, weights=np.full(60, 0.5)) > units_needed(d, 0.1, 0.05)


@pytest.mark.parametrize("units", [40, 150])
def test_levels_with_clusters_of_unequal_size_are_kept(units: int) -> None:
    """Passages of one to eight questions that are lost or won together: by question one would be wrong."""
    rng = np.random.default_rng([6, units])
    sizes = rng.integers(1, 9, (1500, units))
    together = rng.choice([-1.0, 0.0, 1.0], p=[0.15, 0.8, 0.05], size=(1500, units))
    own = rng.binomial(sizes, 0.9)
    d, weights = together * own / 8.0, sizes / 8.0
    margin = 0.1 * 0.9  # the mean difference of a question is −0.1·0.9
    rate = float((not_worse_p_value(d, margin, weights=weights) <= 0.05).mean())
    assert rate <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)
    even = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=(1500, units)) * own / 8.0
    blocked = float((worse_p_value(even) <= 0.05).mean())
    assert blocked <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)
    by_question = [np.repeat(np.sign(row), size) for row, size in zip(even[:300], sizes[:300], strict=True)]
    assert np.mean([worse_p_value(one) <= 0.05 for one in by_question]) > 0.15


def test_where_nothing_changed_enough_cases_are_told_to_show_it() -> None:
    """That many cases without a change are "not worse"; and small changes do not count as large ones."""
    for margin in (0.01, 0.05):
        n = units_needed(np.zeros(300), margin, 0.05)
        assert not_worse_p_value(np.zeros(n), margin) <= 0.05
        assert not_worse_p_value(np.zeros(n // 2), margin) > 0.05
    small = np.tile([-0.02, 0.02, 0.0], 100)
    assert units_needed(small, 0.05, 0.05) < units_needed(np.zeros(300), 0.05, 0.05)


@pytest.mark.parametrize(("margin", "half"), [(0.05, 0.075), (0.1, 0.15)])
def test_as_many_cases_as_told_settle_it_four_times_in_five(margin: float, half: float) -> None:
    d = np.repeat(SIGNS, [round(1000 * half), round(1000 * half), round(1000 - 2000 * half)])
    n = units_needed(d, margin, 0.05)
    assert 0.76 < exits(n, (half, half), margin)[0] < 0.85


@pytest.mark.parametrize(("cases", "changed"), [(50, 0.3), (200, 0.1), (1000, 0.02)])
def test_builds_whose_blocks_are_confirmed_are_seldom_blocked(cases: int, changed: float) -> None:
    """docs/gate-and-race.md: three times as many fresh cases, at 0.01; any of 100 builds in 5 %."""
    rng, count = np.random.default_rng(1), 20_000

    def blocked(several: int, level: float, loss: float) -> float:
        chances = [(changed - loss) / 2, (changed + loss) / 2, 1 - changed]
        counts = rng.multinomial(several, chances, count).astype(float)
        return float((worse_p_value(SIGNS, counts=counts) < level).mean())

    each = blocked(cases, 0.05, 0.0) * blocked(3 * cases, 0.01, 0.0)
    error = 0.0005 * sqrt(0.95 / 0.05 / count + 0.99 / 0.01 / count)
    assert 1 - (1 - each) ** 100 < 1 - (1 - 0.0005 - 3 * error) ** 100
    loss = 2.6 * sqrt(changed / cases)
    once, again = blocked(cases, 0.05, loss), blocked(3 * cases, 0.01, loss)
    assert once > 0.75
    assert once * again > once - 0.02
