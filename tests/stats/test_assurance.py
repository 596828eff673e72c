"""Assurance against integrals and simulations of its own, and whole: a pilot states, an experiment tries."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from benchmarks.calibration.stated_power import HEADLINE, Field, claimed, extended, found, stated
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats.assurance import (
    Pilot,
    assured_difference,
    assured_power,
    assured_test_cases,
    assured_training_sets,
    pilot_of,
)
from redelve.stats.case_pairs import unit_df
from redelve.stats.mean_squares import two_t_half_width

TEN = Pilot(6, 100, 0.02, within=0.005, prior_df=12.0, pairs=45, guard=2.5)
SHARED = replace(TEN, shared=0.03)


@pytest.mark.parametrize("sets", [3, 4, 8, 30])
@pytest.mark.parametrize("distance", [0.0, 1.0, 3.0, 5.0])
def test_alone_it_is_the_noncentral_t_averaged_over_the_variance(sets: int, distance: float) -> None:
    df = sets - 1
    t = float(scipy_stats.t.ppf(0.975, df))

    y = np.sqrt(scipy_stats.chi2.ppf((np.arange(2000) + 0.5) / 2000, df) / df)
    power = 1 - scipy_stats.nct.cdf(t, df, y * distance) + scipy_stats.nct.sf(t, df, -y * distance)
    pilot = Pilot(sets, 50, 2.0)
    found = assured_power(pilot, distance * sqrt(2.0 / sets), 0.05)
    assert found == pytest.approx(float(power.mean()), abs=1e-3)


def simulated(pilot: Pilot, difference: float, level: float, sets: int, count: int) -> float:
    """Chance of a claim by random draws of all that is not known, and the family's exact half widths."""
    rng = np.random.default_rng(5)
    df, prior = sets - 1, pilot.prior_df_of(sets)
    between = pilot.variance * pilot.df / rng.chisquare(pilot.df, count)
    shared = np.zeros(count)
    seen_shared = None
    if pilot.shared is not None:
        cases = pilot.test_cases - 1
        whole = (pilot.shared + pilot.within) * cases / rng.chisquare(cases, count)
        shared = np.maximum(whole - pilot.within, 0) * sets / pilot.training_sets
        again = (shared + pilot.within) * rng.chisquare(cases, count) / cases
        seen_shared = (np.maximum(again - pilot.within, 0.0), np.full(count, cases))
    own = between * rng.chisquare(df, count) / df
    drawn = np.maximum((prior * between + df * own) / (prior + df), pilot.within)
    reach = np.maximum(
        two_t_half_width((drawn, np.full(count, prior + df)), seen_shared, level / pilot.pairs),
        two_t_half_width((own, np.full(count, float(df))), seen_shared, level / pilot.guard),
    )
    mean = difference + np.sqrt((between + shared) / sets) * rng.standard_normal(count)
    return float(np.mean(np.abs(mean) > reach / sqrt(sets)))


@pytest.mark.parametrize("sets", [4, 6, 12])
@pytest.mark.parametrize("distance", [0.1, 0.2, 0.3])
def test_moderated_variances_and_guard_are_those_of_the_family(sets: int, distance: float) -> None:
    expected, count = simulated(TEN, distance, 0.04, sets, 200_000), 200_000
    slack = 3 * sqrt(expected * (1 - expected) / count) + 1e-3
    assert assured_power(TEN, distance, 0.04, training_sets=sets) == pytest.approx(expected, abs=slack)


@pytest.mark.parametrize("sets", [4, 12])
def test_common_test_cases_are_judged_by_the_cautious_rule(sets: int) -> None:
    count = 400
    expected = simulated(SHARED, 0.35, 0.05, sets, count)
    slack = 3 * sqrt(expected * (1 - expected) / count)
    assert assured_power(SHARED, 0.35, 0.05, training_sets=sets) == pytest.approx(expected, abs=slack)


@pytest.mark.parametrize("df", [3.0, 5.0, 27.0])
@pytest.mark.parametrize("level", [0.05, 0.02, 0.05 / 45])
def test_interpolated_half_widths_are_those_of_two_t_variables(df: float, level: float) -> None:
    from redelve.stats.assurance import _SharedCases

    shares = np.array([0.02, 0.11, 0.33, 0.57, 0.81, 0.93, 0.98])
    exact = two_t_half_width((1 - shares, np.full(7, df)), (shares, np.full(7, 99.0)), level)
    found = _SharedCases(shares, shares, np.ones((1, 1)), 99.0).reach((1 - shares, df), level)
    np.testing.assert_allclose(found, exact, rtol=0.005)


@pytest.mark.parametrize("pilot", [Pilot(4, 50, 3.0), TEN, SHARED])
def test_the_smallest_difference_has_the_power_asked_for(pilot: Pilot) -> None:
    difference = assured_difference(pilot, 0.05, power=0.9)
    assert assured_power(pilot, difference, 0.05) == pytest.approx(0.9, abs=0.005)
    assert assured_power(pilot, -difference, 0.05) == assured_power(pilot, difference, 0.05)


@pytest.mark.parametrize("pilot", [Pilot(4, 50, 3.0), TEN, SHARED])
def test_everything_that_should_help_does(pilot: Pilot) -> None:
    base = assured_difference(pilot, 0.05)
    assert assured_difference(pilot, 0.05, training_sets=2 * pilot.training_sets) < base
    assert assured_difference(pilot, 0.05, power=0.5) < base
    assert assured_difference(pilot, 0.01) > base
    assert assured_difference(replace(pilot, prior_df=pilot.prior_df + 5), 0.05) < base
    if pilot.within:
        assert assured_difference(pilot, 0.05, test_cases=4 * pilot.test_cases) < base


def test_units_do_not_matter() -> None:
    scaled = replace(SHARED, variance=9 * 0.02, within=9 * 0.005, shared=9 * 0.03)
    assert assured_difference(scaled, 0.05) == pytest.approx(3 * assured_difference(SHARED, 0.05))


@pytest.mark.parametrize("pilot", [Pilot(4, 50, 0.02), TEN, SHARED])
def test_the_number_of_training_sets_is_the_smallest_that_is_enough(pilot: Pilot) -> None:
    sets = assured_training_sets(pilot, 0.36, 0.05)
    assert sets is not None
    assert assured_difference(pilot, 0.05, training_sets=sets) <= 0.36
    assert assured_difference(pilot, 0.05, training_sets=sets - 1) > 0.36


def test_no_number_of_training_sets_makes_up_for_few_common_test_cases() -> None:
    assert assured_training_sets(SHARED, 0.1, 0.05) is None
    cases = assured_test_cases(SHARED, 0.36, 0.05)
    assert cases is not None
    assert cases > SHARED.test_cases
    assert assured_test_cases(SHARED, 0.1, 0.05) is None  # training sets vary too


def test_a_pair_without_a_variance_is_no_pilot() -> None:
    family = Field(3, 4, 0.1).family(np.random.default_rng(1))
    assert pilot_of(family, 0) is not None
    unknown = replace(family, unfloored=np.full(3, np.nan))
    assert pilot_of(unknown, 0) is None


def test_degrees_of_freedom_grow_with_the_sets_where_the_family_allows_no_more() -> None:
    assert replace(TEN, is_prior_full=True).prior_df_of(11) == 24.0
    assert TEN.prior_df_of(11) == 12.0


GROUPS = {
    "one has half of all cases": ([60] + [1] * 60, 0.0, (0.8, 0.95)),
    "and half of its cases' variance": ([60] + [1] * 60, 0.3, (0.7, 0.85)),
    "of 1 to 10 cases": ([*range(1, 11)] * 3, 0.3, (0.75, 0.85)),
    "of 4 to 40 cases": (range(4, 41, 3), 0.0, (0.75, 0.85)),
    "three of 30 and thirty of 1": ([30] * 3 + [1] * 30, 0.3, (0.75, 0.85)),
    "five of 10 and fifty of 1": ([10] * 5 + [1] * 50, 0.3, (0.75, 0.85)),
}


@pytest.mark.parametrize(("sizes", "shared", "expected"), GROUPS.values(), ids=GROUPS)
def test_stated_power_is_true_of_unequal_groups(
    sizes: list[int], shared: float, expected: tuple[float, float]
) -> None:
    """As brought scores in groups are compared: CR2 variances, degrees of freedom of unequal groups."""
    rng, count, n = np.random.default_rng(5), np.array(sizes, dtype=float), sum(sizes)
    part = count / n
    df = unit_df(part)
    sums = rng.normal(size=(10_300, len(sizes))) * np.sqrt(count * (1 - shared) + count**2 * shared)
    means = sums.sum(axis=1) / n
    errors = np.sqrt((((sums - means[:, None] * count) / n) ** 2 / (1 - part)).sum(axis=1))
    pilots, later = errors[:300], (means[300:], errors[300:])
    reach = scipy_stats.t.isf(0.025, df)
    found = []
    for error in pilots:
        stated = assured_difference(Pilot(len(sizes), 1.0, error**2 * len(sizes), case_df=df), 0.05)
        found.append(np.mean(np.abs(later[0] + stated) > reach * later[1]))
    low, high = expected
    assert low <= float(np.mean(found)) <= high


def test_fewer_degrees_of_freedom_of_cases_ask_for_larger_differences_and_more_sets() -> None:
    whole, fewer = Pilot(20, 1.0, 1.0), Pilot(20, 1.0, 1.0, case_df=3.0)
    assert assured_difference(replace(whole, case_df=19.0), 0.05) == assured_difference(whole, 0.05)
    assert assured_difference(fewer, 0.05) > 1.3 * assured_difference(whole, 0.05)
    assert (assured_training_sets(fewer, 0.5, 0.05) or 0) > (assured_training_sets(whole, 0.5, 0.05) or 0)
    common = replace(SHARED, test_cases=30.0)
    assert assured_difference(replace(common, case_df=5.0), 0.05) > assured_difference(common, 0.05)
    assert assured_difference(replace(common, case_df=29.0), 0.05) == assured_difference(common, 0.05)


def test_impossible_plans_are_refused() -> None:
    with pytest.raises(StatisticsError, match=r"got 0\.05 and 0\.01"):
        assured_difference(TEN, 0.05, power=0.01)
    with pytest.raises(StatisticsError, match="two training sets at least: got 1"):
        assured_power(TEN, 0.1, 0.05, training_sets=1)


def test_what_is_claimed_of_some_pairs_is_what_the_family_claims() -> None:
    rng = np.random.default_rng(2)
    for sd_test_cases in (None, 0.3):
        family = Field(5, 6, 0.2, sd_test_cases).family(rng)
        whole = family.p_values() < 0.3
        places = np.array([7, 2, 5, 0])
        np.testing.assert_array_equal(claimed(family, places, np.zeros(4), 0.3), whole[places])


def near_eighty(hits: np.ndarray, low: float = 0.75, high: float = 0.85) -> bool:
    """Whether a share may be from 0.75 to 0.85, by three standard errors."""
    slack = 3 * float(hits.std()) / sqrt(len(hits))
    return bool(low - slack <= hits.mean() <= high + slack)


def settings() -> Iterator[Any]:
    """All of them; half, in which each two of the three meet, are quick."""
    for (row, methods), (column, sets), common in product(
        enumerate((2, 5, 10)), enumerate((4, 8)), (False, True)
    ):
        marks = () if (row + column) % 2 == common else pytest.mark.slow
        yield pytest.param(methods, sets, 0.3 if common else None, marks=marks)


@pytest.mark.parametrize(("methods", "sets", "sd_test_cases"), list(settings()))
def test_stated_power_is_true(methods: int, sets: int, sd_test_cases: float | None) -> None:
    """The whole way: a pilot states a difference, and the family's rule is tried at it."""
    assert near_eighty(stated(Field(methods, sets, 0.1, sd_test_cases), 100, np.random.default_rng(11)))


def test_two_deviations_are_found_among_ten_methods_at_the_headline() -> None:
    assert found(HEADLINE, 2.0, 60, np.random.default_rng(12)).mean() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("methods", [2, 5, 10])
@pytest.mark.parametrize("sets", [4, 8])
@pytest.mark.parametrize("sds", [(0.0, None), (0.4, None), (0.0, 0.1), (0.2, 1.0)])
def test_stated_power_is_true_wherever_the_variance_comes_from(
    methods: int, sets: int, sds: tuple[float, float | None]
) -> None:
    assert near_eighty(stated(Field(methods, sets, *sds), 1000, np.random.default_rng(13)))


@pytest.mark.slow
@pytest.mark.parametrize("methods", [2, 5, 10])
def test_stated_numbers_of_training_sets_are_enough(methods: int) -> None:
    hits = extended(Field(methods, 4, 0.1), 0.2, 1000, np.random.default_rng(14))
    assert near_eighty(hits, 0.78, 0.88)
