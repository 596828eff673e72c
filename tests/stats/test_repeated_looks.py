"""P-values that allow for all planned looks: against published constants, and against simulated t-tests."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from redelve.stats.repeated_looks import RepeatedLooks
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
def test_any_look_is_below_its_level_as_often_as_it_should(
    p_values: dict[int, np.ndarray], sets: int, level: float
) -> None:
    looks = RepeatedLooks(planned_looks(sets))
    smallest = np.min([p_values[n] for n in looks.looks], axis=0)
    error = np.sqrt(level * (1 - level) / COUNT)
    assert np.mean(smallest < looks.of_each(level)) == pytest.approx(level, abs=3 * error + 0.01 * level)


def test_one_side_alone_has_half_of_it() -> None:
    drawn = np.random.default_rng(1).normal(size=(COUNT, 8))
    looks = RepeatedLooks(planned_looks(8))
    found = [
        looks.one_sided(scipy_stats.ttest_1samp(drawn[:, :n], 0.0, axis=1, alternative="less").pvalue)
        for n in looks.looks
    ]
    assert np.mean(np.min(found, axis=0) < 0.05) == pytest.approx(0.05, abs=0.003)


def test_with_many_sets_it_is_pococks_constant() -> None:
    """Jennison and Turnbull 2000, table 2.1: C_P(2, 0.05) = 2.178 for two looks at normal values."""
    found = RepeatedLooks((40, 80)).of_each(0.05)
    assert found == pytest.approx(2 * scipy_stats.norm.sf(2.178), rel=0.02)


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
def test_levels_of_each_look_are_the_inverse(level: float) -> None:
    looks = RepeatedLooks((4, 5, 6, 8))
    assert looks.over_all(np.array([looks.of_each(level)]))[0] == pytest.approx(level, rel=0.002)


def test_one_look_changes_nothing() -> None:
    assert RepeatedLooks((2,)).of_each(0.05) == 0.05
    assert RepeatedLooks((2,)).over_all(np.array([0.03, np.nan]))[0] == 0.03
