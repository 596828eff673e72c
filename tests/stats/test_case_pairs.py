"""Fixed models on units that count differently: degrees of freedom with which t keeps its level."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from redelve.stats.case_pairs import chance_beyond, effective_units, pairs_of_cases, unit_df
from redelve.stats.families import unmoderated
from redelve.stats.one_partition import analyse_cases, compare_cases

HEAVY = {
    "3 of 30 and 30 of 1": [30] * 3 + [1] * 30,
    "2 of 50 and 100 of 1": [50] * 2 + [1] * 100,
    "5 of 10 and 50 of 1": [10] * 5 + [1] * 50,
    "3 of 100 and 100 of 1": [100] * 3 + [1] * 100,
    "1 of 20 and 40 of 1": [20] + [1] * 40,
    "log-normal": np.random.default_rng(1).lognormal(0, 1.5, 50).tolist(),
}


def parts_of(sizes: list[int]) -> np.ndarray:
    return np.array(sizes, dtype=float) / sum(sizes)


def chance(reach: float, parts: np.ndarray) -> float:
    sizes, counts = np.unique(parts, return_counts=True)
    return chance_beyond(reach, sizes, counts.astype(float))


@pytest.mark.parametrize("sizes", HEAVY.values(), ids=HEAVY)
@pytest.mark.parametrize("reach", [1.5, 2.5, 6.0])
def test_the_chance_of_large_t_is_that_of_simulated_units(sizes: list[int], reach: float) -> None:
    parts, rng = parts_of(sizes), np.random.default_rng(3)
    values = rng.standard_normal((20_000, parts.size))
    means = values @ parts
    errors = np.sqrt(np.square(values - means[:, None]) @ (parts**2 / (1 - parts)))
    expected = chance(reach, parts)
    assert abs(np.mean(np.abs(means) > reach * errors) - expected) < 4 * np.sqrt(expected / 20_000)


@pytest.mark.parametrize("reach", [0.5, 2.0, 30.0])
@pytest.mark.parametrize("units", [2, 3, 40])
def test_the_chance_of_units_that_count_the_same_is_students(units: int, reach: float) -> None:
    expected = 2 * stats.t.sf(reach, units - 1)
    assert chance(reach, np.full(units, 1 / units)) == pytest.approx(expected, rel=1e-3)


def test_units_that_count_the_same_have_one_degree_of_freedom_less() -> None:
    assert [unit_df(np.full(n, 1 / n), level) for n in (2, 7, 300) for level in (0.05, 1e-4)] == [
        *(1.0, 1.0),
        *(6.0, 6.0),
        *(299.0, 299.0),
    ]


@pytest.mark.parametrize("level", [0.05, 0.05 / 406])
@pytest.mark.parametrize("sizes", HEAVY.values(), ids=HEAVY)
def test_t_keeps_the_level_exactly_or_has_all_effective_units(sizes: list[int], level: float) -> None:
    parts = parts_of(sizes)
    df = unit_df(parts, level)
    found = chance(float(stats.t.isf(level / 2, df)), parts)
    if df == effective_units(parts) - 1:
        assert found <= level
    else:
        assert df < effective_units(parts) - 1
        assert found == pytest.approx(level, rel=1e-3)


@pytest.mark.parametrize("level", [0.05, 1e-5])
@pytest.mark.parametrize("others", [1, 3, 15])
def test_one_unit_with_nearly_all_weight_leaves_less_than_one_degree_of_freedom(
    others: int, level: float
) -> None:
    parts = parts_of([1000] + [1] * others)
    df = unit_df(parts, level)
    assert 0.25 <= df <= 1
    assert chance(min(float(stats.t.isf(level / 2, df)), 1e5), parts) < level * 1.001 or df == 0.25


def test_very_many_parts_are_taken_together_without_harm() -> None:
    parts = parts_of(np.random.default_rng(2).lognormal(0, 1.5, 200).tolist())
    df = unit_df(parts)
    assert df < effective_units(parts) - 2
    assert chance(float(stats.t.isf(0.025, df)), parts) == pytest.approx(0.05, abs=1e-4)


def test_what_is_kept_of_very_many_parts_is_small() -> None:
    rng = np.random.default_rng(6)
    unit_df(parts_of(rng.lognormal(0, 1, 100).tolist()))  # the imports that it needs
    tracemalloc.start()
    for _ in range(4):
        sizes = rng.lognormal(0, 1, 50_000)
        unit_df(sizes / sizes.sum())
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2 * sizes.nbytes


@pytest.mark.parametrize("level", [0.99, 0.95, 0.9, 0.8, 0.68])
@pytest.mark.parametrize("sizes", [*HEAVY.values(), [100, 1, 1, 1]], ids=[*HEAVY, "1 of 100 and 3 of 1"])
def test_an_interval_of_any_level_misses_as_often_as_it_says(sizes: list[int], level: float) -> None:
    parts = parts_of(sizes)
    found = analyse_cases(np.random.default_rng(7).standard_normal(parts.size), parts)
    ends = found.interval(level)
    assert ends is not None
    assert found.mean is not None
    assert found.interval_standard_error is not None
    missed = chance((ends[1] - found.mean) / found.interval_standard_error, parts)
    assert missed == pytest.approx(1 - level, rel=1e-3) or (level >= 0.95 and missed < 1 - level)


def test_the_p_value_of_two_models_and_their_interval_of_95_per_cent_agree() -> None:
    parts, rng = parts_of(HEAVY["3 of 30 and 30 of 1"]), np.random.default_rng(8)
    seen = []
    for _ in range(60):
        found = compare_cases(rng.standard_normal(parts.size), rng.normal(0.4, 1, parts.size), parts)
        ends = found.interval()
        assert ends is not None
        assert found.p_value is not None
        assert (found.p_value < 0.05) == (not ends[0] <= 0 <= ends[1])
        seen.append(found.p_value < 0.05)
    assert {True, False} <= set(seen)


def test_intervals_hold_on_to_a_few_sizes_of_units_and_can_be_pickled() -> None:
    sizes = np.random.default_rng(9).lognormal(0, 1, 50_000)
    found = analyse_cases(sizes, sizes / sizes.sum())
    kept = pickle.dumps(found)
    assert len(kept) < 10_000
    assert pickle.loads(kept).interval(0.8) == found.interval(0.8)


def test_a_pair_by_itself_needs_more_caution_than_claims_of_many() -> None:
    parts, rng = parts_of(HEAVY["5 of 10 and 50 of 1"]), np.random.default_rng(4)
    values = rng.standard_normal((6, parts.size))
    first, second = np.triu_indices(6, 1)
    found = unmoderated(pairs_of_cases(values, (list(first), list(second)), parts))
    squares = found.squares
    assert squares.case_df is not None
    assert squares.case_df[0] == unit_df(parts, 0.05 / 15) > unit_df(parts)
    alone = [
        unmoderated(pairs_of_cases(values[[a, b]], ([0], [1]), parts)).p_values()[0]
        for a, b in zip(first, second, strict=True)
    ]
    np.testing.assert_allclose(found.own_p_values(), alone)
    t = np.abs(squares.differences) / squares.standard_errors
    expected = np.minimum(15 * 2 * stats.t.sf(t, squares.case_df), 1.0)
    np.testing.assert_allclose(found.p_values()[squares.skewness == 0], expected[squares.skewness == 0])


@pytest.mark.parametrize("sizes", HEAVY.values(), ids=HEAVY)
@pytest.mark.parametrize("is_independent", [False, True])
def test_equal_models_are_seldom_told_apart_on_a_few_heavy_units(
    sizes: list[int], is_independent: bool
) -> None:
    """With one degree of freedom less than effective units 6 to 10 % of claims are false."""
    parts, rng, count = parts_of(sizes), np.random.default_rng(5), 1500
    scores = rng.standard_normal((count, 2, parts.size)) / np.sqrt(parts if is_independent else 1)
    means = (scores @ parts)[..., None]
    values = means + parts * (scores - means) * parts.size
    found = [unmoderated(pairs_of_cases(one, ([0], [1]), parts)).p_values()[0] < 0.05 for one in values]
    at_most = 5.0 if is_independent else 5.5
    assert 100 * np.mean(found) < at_most + 3 * np.sqrt(5 * 95 / count)
