"""What must not change, and how the rest must change with it, for any losses."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from redelve.stats import (
    Analysis,
    Comparison,
    analyse_common,
    analyse_hierarchical,
    compare_common,
    compare_hierarchical,
    pool_units,
)
from redelve.stats.mean_squares import FloatArray

SHAPES = st.tuples(st.integers(2, 6), st.integers(2, 12))
TABLES = SHAPES.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(-64, 64))).map(
    lambda table: table / 8
)
PAIRS = SHAPES.flatmap(lambda shape: arrays(np.int64, (2, *shape), elements=st.integers(-64, 64))).map(
    lambda pair: pair / 8
)
ANALYSES = (analyse_hierarchical, analyse_common)
COMPARISONS = (compare_hierarchical, compare_common)
DEVIATIONS = ("standard_error", "interval_standard_error", "sd_training", "sd_test_cases", "sd_residual")


def deviations(result: Analysis, scale: float = 1.0) -> list[float]:
    values = [getattr(result, name) for name in DEVIATIONS]
    return [np.nan if value is None else value * scale for value in values]


def close(first: object, second: object) -> bool:
    return bool(np.allclose(first, second, rtol=1e-9, atol=1e-9, equal_nan=True))  # type: ignore[arg-type]


@pytest.mark.parametrize("analyse", ANALYSES)
@given(losses=TABLES, shift=st.integers(-1000, 1000), scale=st.sampled_from([-3.0, 0.25, 7.0]))
def test_shift_moves_the_mean_and_scale_stretches_the_rest(
    analyse: Callable[..., Analysis], losses: FloatArray, shift: int, scale: float
) -> None:
    before, after = analyse(losses), analyse(scale * losses + shift)
    assert before.mean is not None
    assert close(after.mean, scale * before.mean + shift)
    # A zero variance may come out as rounding of a square, so deviations agree to the root of it.
    assert np.allclose(deviations(after), deviations(before, abs(scale)), atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("analyse", ANALYSES)
@given(losses=TABLES, data=st.data())
def test_order_does_not_matter(
    analyse: Callable[..., Analysis], losses: FloatArray, data: st.DataObject
) -> None:
    rows = data.draw(st.permutations(range(losses.shape[0])))
    columns = data.draw(st.permutations(range(losses.shape[1])))
    before, after = analyse(losses), analyse(losses[rows][:, columns])
    assert close(after.mean, before.mean)
    assert np.allclose(deviations(after), deviations(before), atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("compare", COMPARISONS)
@given(pair=PAIRS)
def test_methods_exchanged_change_only_the_sign(compare: Callable[..., Comparison], pair: FloatArray) -> None:
    one, two = compare(pair[0], pair[1]), compare(pair[1], pair[0])
    assert one.difference is not None
    assert two.difference == pytest.approx(-one.difference, abs=1e-12)
    assert (one.p_value is None) == (two.p_value is None)
    if one.p_value is not None:
        assert one.p_value == pytest.approx(two.p_value, rel=1e-9)
        assert one.cautious_p_value == pytest.approx(two.cautious_p_value, rel=1e-9)


@pytest.mark.parametrize("compare", COMPARISONS)
@given(pair=PAIRS, shift=st.integers(-100, 100), scale=st.sampled_from([0.25, 8.0]))
def test_p_values_ignore_a_common_shift_and_scale(
    compare: Callable[..., Comparison], pair: FloatArray, shift: int, scale: float
) -> None:
    before, after = compare(pair[0], pair[1]), compare(scale * pair[0] + shift, scale * pair[1] + shift)
    if before.p_value is None:
        assert after.p_value is None
    else:
        assert after.p_value == pytest.approx(before.p_value, rel=1e-6)


@pytest.mark.parametrize("compare", COMPARISONS)
@settings(max_examples=50)
@given(pair=PAIRS, level=st.sampled_from([0.8, 0.95, 0.99]))
def test_an_interval_leaves_out_zero_exactly_when_the_test_rejects(
    compare: Callable[..., Comparison], pair: FloatArray, level: float
) -> None:
    result = compare(pair[0], pair[1])
    interval = result.interval(level)
    assert (interval is None) == (result.p_value is None)
    if interval is not None and result.p_value is not None and abs(result.p_value - (1 - level)) > 1e-9:
        assert (not interval[0] <= 0 <= interval[1]) == (result.p_value < 1 - level)


@pytest.mark.parametrize("compare", COMPARISONS)
@given(pair=PAIRS)
def test_every_p_value_is_a_probability(compare: Callable[..., Comparison], pair: FloatArray) -> None:
    result = compare(pair[0], pair[1])
    quasi = result.quasi_f.p_value if result.quasi_f is not None else None
    for p_value in (result.p_value, result.cautious_p_value, quasi):
        assert p_value is None or 0 <= p_value <= 1


@given(losses=TABLES, data=st.data())
def test_pooling_leaves_the_means_of_training_sets(losses: FloatArray, data: st.DataObject) -> None:
    labels = data.draw(arrays(np.int64, losses.shape[1], elements=st.integers(0, 4)))
    pooled = pool_units(losses, labels)
    assert {row.size for row in pooled} == {len(set(labels.tolist()))}
    assert np.allclose([row.mean() for row in pooled], losses.mean(axis=1), atol=1e-12)


@given(losses=TABLES, data=st.data())
def test_units_of_their_own_change_nothing(losses: FloatArray, data: st.DataObject) -> None:
    labels = data.draw(st.permutations(range(losses.shape[1])))
    assert np.array_equal(pool_units(losses, labels), losses)
