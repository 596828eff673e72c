"""P-values that allow for all planned looks: against published constants, and against simulated t-tests."""

import numpy as np
import pytest
from benchmarks.calibration.fewest_sets import TwoMethods
from scipy import stats as scipy_stats

from redelve.stats.repeated_looks import EFFECTS, LIKELY, RepeatedLooks, log_evidence
from redelve.stats.sequential import planned_looks

COUNT = 50_000


@pytest.fixture(scope="module")
def p_values() -> dict[int, np.ndarray]:
    """Two-sided p-values of one-sample t-tests of growing samples without an effect."""
    drawn = np.random.default_rng(0).normal(size=(COUNT, 32))
    numbers = sorted({*planned_looks(32), *planned_looks(11)})
    return {n: scipy_stats.ttest_1samp(drawn[:, :n], 0.0, axis=1).pvalue for n in numbers}


@pytest.mark.parametrize("sets", [5, 8, 11, 32])
@pytest.mark.parametrize("level", [0.05, 0.01, 0.002])
@pytest.mark.parametrize("by_evidence", [False, True])
def test_any_look_is_below_its_level_as_often_as_it_should(
    p_values: dict[int, np.ndarray], sets: int, level: float, by_evidence: bool
) -> None:
    looks = RepeatedLooks(planned_looks(sets), by_evidence)
    is_below = np.any([p_values[n] < looks.at(n).of_each(level) for n in looks.looks], axis=0)
    error = np.sqrt(level * (1 - level) / COUNT)
    assert np.mean(is_below) == pytest.approx(level, abs=3 * error + 0.01 * level)


@pytest.mark.parametrize("by_evidence", [False, True])
def test_one_side_alone_has_half_of_it(by_evidence: bool) -> None:
    drawn = np.random.default_rng(1).normal(size=(COUNT, 8))
    looks = RepeatedLooks(planned_looks(8), by_evidence)
    found = [
        looks.at(n).one_sided(scipy_stats.ttest_1samp(drawn[:, :n], 0.0, axis=1, alternative="less").pvalue)
        for n in looks.looks
    ]
    assert np.mean(np.min(found, axis=0) < 0.05) == pytest.approx(0.05, abs=0.003)


def test_with_many_sets_it_is_pococks_constant() -> None:
    """Jennison and Turnbull 2000, table 2.1: C_P(2, 0.05) = 2.178 for two looks at normal values."""
    found = RepeatedLooks((40, 80)).of_each(0.05)
    assert found == pytest.approx(2 * scipy_stats.norm.sf(2.178), rel=0.02)


@pytest.mark.parametrize("sets", [4, 9, 32])
def test_evidence_is_the_likelihood_ratio_of_noncentral_t(sets: int) -> None:
    """Against scipy's densities, at differences for which they are known to many digits."""
    scores = np.array([0.5, 1.5, 2.5])
    t = scipy_stats.t.isf(scipy_stats.norm.sf(scores), sets - 1)
    weights = (EFFECTS / LIKELY) ** 2 / (1 + (EFFECTS / LIKELY) ** 3)
    ratios = [
        scipy_stats.nct.pdf(t, sets - 1, effect * np.sqrt(sets)) / scipy_stats.t.pdf(t, sets - 1)
        if effect <= 8  # farther ones have next to no likelihood here, and scipy no digits
        else np.zeros_like(t)
        for effect in EFFECTS
    ]
    expected = np.average(ratios, axis=0, weights=weights)
    assert np.exp(log_evidence(sets, scores)) == pytest.approx(expected, rel=2e-3)


def test_looks_ask_for_the_same_evidence_and_less_at_the_last() -> None:
    looks = RepeatedLooks((4, 8, 16), by_evidence=True)
    for level in (0.05, 0.002):
        asked = [
            log_evidence(n, scipy_stats.norm.isf([looks.at(n).of_each(level) / 2])).item()
            for n in looks.looks
        ]
        assert asked[1] == pytest.approx(asked[0], abs=0.01)
        assert asked[2] == pytest.approx(asked[0] - np.log(4), abs=0.01)


def test_a_clear_winner_is_found_sooner_by_evidence() -> None:
    """Two standard deviations ahead: the fewest sets that any rule with these looks can do with are 4.98."""
    drawn = np.random.default_rng(2).normal(2.0, 1.0, size=(20_000, 32))
    sets = {}
    for by_evidence in (False, True):
        looks, found = RepeatedLooks(planned_looks(32), by_evidence), np.full(len(drawn), 32)
        for n in reversed(looks.looks):
            p = scipy_stats.ttest_1samp(drawn[:, :n], 0.0, axis=1).pvalue
            found[p < looks.at(n).of_each(0.05)] = n
        sets[by_evidence] = found.mean()
    assert sets[False] == pytest.approx(5.73, abs=0.05)
    assert sets[True] == pytest.approx(5.20, abs=0.04)


@pytest.mark.parametrize("sets", [4, 7, 32])
def test_p_values_by_evidence_grow_with_p_and_allow_for_looks(sets: int) -> None:
    looks = RepeatedLooks(planned_looks(32), by_evidence=True).at(sets)
    p = np.logspace(-30, 0, 200)
    found = looks.over_all(p)
    assert (found >= p).all()
    assert (np.diff(found) >= 0).all()
    assert looks.over_all(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert (np.diff(looks.one_sided(np.linspace(0.0, 1.0, 101))) >= 0).all()


def test_it_allows_for_less_than_all_looks_and_more_than_one() -> None:
    looks = RepeatedLooks(planned_looks(32))
    p = np.logspace(-10, -0.5, 50)
    found = looks.over_all(p)
    assert (found > p).all()
    assert (found <= len(looks.looks) * p).all()
    assert (np.diff(found) > 0).all()
    assert (np.diff(looks.one_sided(np.linspace(0.0, 1.0, 101))) >= 0).all()
    assert looks.over_all(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert np.isnan(looks.over_all(np.array([np.nan]))).all()


@pytest.mark.parametrize("level", [1e-9, 1e-6, 0.001, 0.05, 0.5])
@pytest.mark.parametrize("by_evidence", [False, True])
def test_levels_of_each_look_are_the_inverse(level: float, by_evidence: bool) -> None:
    looks = RepeatedLooks((4, 5, 6, 8), by_evidence).at(6)
    assert looks.over_all(np.array([looks.of_each(level)]))[0] == pytest.approx(level, rel=0.002)


def test_one_look_changes_nothing() -> None:
    assert RepeatedLooks((2,)).of_each(0.05) == 0.05
    assert RepeatedLooks((2,)).over_all(np.array([0.03, np.nan]))[0] == 0.03


def test_the_chain_with_a_difference_has_the_power_of_one_t_test() -> None:
    (claimed, used), level = TwoMethods((6,)).outcome(TwoMethods((6,)).of_levels([0.01]), 2.0), 0.01
    power = scipy_stats.nct.sf(scipy_stats.t.isf(level / 2, 5), 5, 2 * np.sqrt(6)).item()
    assert claimed == pytest.approx(power, abs=0.002)
    assert used == pytest.approx(6.0)


def test_no_rule_has_fewer_sets_than_the_best() -> None:
    race = TwoMethods((4, 5, 6, 7), (0.0, 1.0, 2.0))
    best = race.best({2.0: 1.0}, {})
    assert race.outcome(best, 0.0)[0] == pytest.approx(0.05, abs=1e-4)
    rules: list[tuple[float, ...]] = [(0.05, 1e-9, 1e-9, 1e-9)]
    for by_evidence in (False, True):
        looks = RepeatedLooks(race.looks, by_evidence)
        rules.append(tuple(looks.at(sets).of_each(0.05) for sets in looks.looks))
    for levels in rules:
        rule = race.of_levels(levels)
        assert race.outcome(rule, 0.0)[0] == pytest.approx(0.05, abs=5e-4)
        assert race.outcome(best, 2.0)[1] < race.outcome(rule, 2.0)[1]
