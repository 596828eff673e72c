"""Adjusted p-values and the group of methods that may be the best: properties, and errors by simulation."""

import numpy as np
import pytest
from benchmarks.calibration.many import Methods, all_pairs, mean_squares, simulate_methods
from hypothesis import given
from hypothesis import strategies as st

from redelve.errors import StatisticsError
from redelve.stats import compare_common, compare_hierarchical
from redelve.stats.mean_squares import FloatArray, cautious_p_value, f_test
from redelve.stats.multiple import best_group, compare_all, holm

P_VALUES = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)


def test_holm_on_a_worked_example() -> None:
    # 4 × 0.005, 3 × 0.01, 2 × 0.03 and then the larger of 0.04 and what came before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_holm_decides_demsars_example_as_he_does() -> None:
    # Demšar (2006), table 7: p = 0.016, 0.019, 0.607 against 0.017, 0.025, 0.050; two are rejected.
    adjusted = holm([0.016, 0.607, 0.019])
    assert adjusted == pytest.approx((0.048, 0.607, 0.048))


@given(P_VALUES)
def test_adjusted_values_lie_between_the_raw_ones_and_bonferronis(p_values: list[float | None]) -> None:
    count = sum(p is not None for p in p_values)
    for raw, adjusted in zip(p_values, holm(p_values), strict=True):
        assert (raw is None) == (adjusted is None)
        if raw is not None and adjusted is not None:
            assert raw <= adjusted <= min(1.0, count * raw) + 1e-15


@given(P_VALUES)
def test_adjusting_keeps_the_order(p_values: list[float | None]) -> None:
    pairs = [(p, q) for p, q in zip(p_values, holm(p_values), strict=True) if p is not None and q is not None]
    ordered = [q for _, q in sorted(pairs)]
    assert ordered == sorted(ordered)


@given(P_VALUES, st.randoms(use_true_random=False))
def test_adjusting_does_not_depend_on_the_order_given(p_values: list[float | None], random: object) -> None:
    order = list(range(len(p_values)))
    random.shuffle(order)  # type: ignore[attr-defined]
    adjusted = holm(p_values)
    assert holm([p_values[i] for i in order]) == tuple(adjusted[i] for i in order)


@given(P_VALUES)
def test_undefined_values_do_not_count(p_values: list[float | None]) -> None:
    defined = [p for p in p_values if p is not None]
    assert tuple(p for p in holm([None, *p_values, float("nan")]) if p is not None) == holm(defined)


def test_holm_refuses_what_is_no_p_value() -> None:
    with pytest.raises(StatisticsError, match=r"between 0 and 1: got 1\.2"):
        holm([0.5, 1.2])


def tables(seed: int, means: list[float], shape: tuple[int, int] = (6, 40)) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=shape)
    return {f"m{i}": shared + mean + rng.normal(size=shape) for i, mean in enumerate(means)}


def test_every_pair_is_compared_once_and_adjusted_together() -> None:
    result = compare_all(tables(1, [0.0, 0.1, 3.0]), compare_hierarchical)
    assert [(pair.first, pair.second) for pair in result.pairs] == [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
    assert result.family == 3
    adjusted = holm([pair.test.p_value for pair in result.pairs])
    assert tuple(pair.adjusted_p_value for pair in result.pairs) == adjusted


def test_adjustments_start_from_the_cautious_p_value() -> None:
    losses = tables(2, [0.0, 0.2], (2, 40))
    pair = compare_all(losses, compare_common).pairs[0]
    comparison = compare_common(losses["m0"], losses["m1"])
    assert pair.adjusted_p_value == comparison.cautious_p_value != comparison.p_value


def test_caveats_of_the_comparisons_come_along_once() -> None:
    result = compare_all(tables(3, [0.0, 0.1, 0.2], (2, 40)), compare_hierarchical)
    assert len(result.caveats) == len(set(result.caveats)) > 0
    assert set(result.pairs[0].test.caveats) <= set(result.caveats)


def test_a_pair_without_a_test_is_named_and_not_counted() -> None:
    losses = tables(4, [0.0, 1.0])
    losses["same"] = losses["m0"]
    result = compare_all(losses, compare_hierarchical)
    assert result.family == 2
    assert "no test is defined between m0 and same: they count as not distinguished" in result.caveats
    assert best_group(result).members == ("m0", "same")


def test_one_method_is_no_comparison() -> None:
    with pytest.raises(StatisticsError, match="two methods: got alone"):
        compare_all({"alone": [[1.0], [2.0]]}, compare_hierarchical)


def test_a_much_worse_method_is_not_in_the_group() -> None:
    group = best_group(compare_all(tables(5, [0.0, 0.01, 5.0]), compare_hierarchical))
    worst = group.standings[2]
    assert group.best_looking in group.members == ("m0", "m1")
    assert worst.difference == pytest.approx(5.0, abs=0.5)
    assert worst.standard_error is not None
    assert worst.p_value is not None
    assert worst.p_value < 0.01
    assert worst.rival in ("m0", "m1")
    assert group.confidence == 0.95


def test_the_best_looking_method_differs_from_itself_by_nothing() -> None:
    group = best_group(compare_all(tables(6, [0.0, 1.0]), compare_hierarchical))
    assert group.best_looking == "m0"
    assert (group.standings[0].difference, group.standings[0].in_group) == (0.0, True)


def test_methods_with_infinite_losses_are_not_best_looking_but_stay_for_want_of_a_test() -> None:
    losses = tables(7, [0.0, 1.0])
    losses["broken"] = np.where(np.arange(40) == 0, np.inf, losses["m0"])
    group = best_group(compare_all(losses, compare_hierarchical))
    assert group.best_looking == "m0"
    assert [standing.p_value for standing in group.standings][2] is None
    assert group.members == ("m0", "broken")
    only = {"a": losses["broken"], "b": losses["broken"] + 1}
    assert best_group(compare_all(only, compare_hierarchical)).best_looking is None


MEANS = st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=2, max_size=5)


@given(MEANS, st.integers(0, 5))
def test_the_best_looking_method_is_always_in_the_group(means: list[float], seed: int) -> None:
    group = best_group(compare_all(tables(seed, means, (4, 10)), compare_hierarchical))
    assert group.best_looking in group.members


@given(MEANS, st.integers(0, 5))
def test_the_group_does_not_depend_on_the_order_of_methods(means: list[float], seed: int) -> None:
    losses = tables(seed, means, (4, 10))
    turned = dict(reversed(losses.items()))
    groups = [set(best_group(compare_all(some, compare_hierarchical)).members) for some in (losses, turned)]
    assert groups[0] == groups[1]


@given(MEANS, st.integers(0, 5))
def test_more_confidence_makes_a_larger_group(means: list[float], seed: int) -> None:
    comparisons = compare_all(tables(seed, means, (4, 10)), compare_hierarchical)
    small, large = best_group(comparisons, level=0.2).members, best_group(comparisons, level=0.01).members
    assert set(small) <= set(large)


SETTINGS = (
    Methods(2, 2, 0.3, None),
    Methods(5, 4, 0.3, None),
    Methods(8, 8, 0.3, None),
    Methods(5, 4, 0.3, None, ahead=0.2),
    Methods(4, 2, 0.5, 0.5),
    Methods(5, 4, 0.1, 0.5),
    Methods(5, 8, 0.5, 0.5),
)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_truly_best_method_is_in_the_group_and_equal_ones_are_not_told_apart(setting: Methods) -> None:
    count = 600
    missed, found = simulate_methods(setting, count, np.random.default_rng(8))
    assert missed < 5 + 400 * np.sqrt(0.05 * 0.95 / count)
    if not setting.ahead:
        assert found < 5 + 400 * np.sqrt(0.05 * 0.95 / count)


@pytest.mark.slow
@pytest.mark.parametrize("setting", [*SETTINGS, Methods(10, 2, 0.5, 0.5), Methods(10, 4, 0.1, 0.5)], ids=str)
def test_the_group_misses_the_best_in_at_most_five_per_cent(setting: Methods) -> None:
    count = 4000
    missed, found = simulate_methods(setting, count, np.random.default_rng(9))
    assert missed < 5 + 400 * np.sqrt(0.05 * 0.95 / count)
    if not setting.ahead:
        assert found < 5 + 400 * np.sqrt(0.05 * 0.95 / count)


def test_plain_p_values_would_not_do_with_two_training_sets() -> None:
    """Why adjustments start from the cautious p-value: the plain one is wrong far out in the tail."""
    rng, shape, count = np.random.default_rng(10), (2, 40), 500
    losses = rng.normal(size=(count, 10, *shape)) + 0.5 * rng.normal(size=(count, 10, 2, 1))
    losses += 0.5 * rng.normal(size=(count, 10, 1, 40))
    means, squares = mean_squares(losses[:, :1] - losses[:, 1:])
    missed = {}
    for name, p in (
        ("plain", f_test(means, squares, shape).p_value),
        ("cautious", cautious_p_value(means, squares, shape)),
    ):
        worse = np.where(means > 0, p / 2, 1 - p / 2)
        missed[name] = float(np.mean(9 * worse.min(axis=1) < 0.05))
    assert missed["plain"] > 0.10
    assert missed["cautious"] < 0.05 + 4 * np.sqrt(0.05 * 0.95 / count)


def test_the_shortcut_of_the_simulation_is_the_real_comparison() -> None:
    losses = tables(11, [0.0, 0.1, 0.2], (3, 30))
    real = compare_all(losses, compare_common)
    stacked = np.stack(list(losses.values()))
    differences = stacked[[0, 0, 1]] - stacked[[1, 2, 2]]
    means, squares = mean_squares(differences)
    p_values = cautious_p_value(means, squares, (3, 30))
    stubs = all_pairs(means, p_values, 3)
    assert [pair.adjusted_p_value for pair in stubs.pairs] == pytest.approx(
        [pair.adjusted_p_value for pair in real.pairs], rel=1e-9
    )
