"""Forward in time: a standard error that counts blocks, and tests that keep their level on series."""

from math import sqrt

import numpy as np
import pytest
from benchmarks.calibration.in_time import SeriesSetting, block_losses, measured
from scipy import stats

from redelve.stats.forward import BLOCKS, analyse_forward, compare_forward
from redelve.stats.resampled import compare_resampled


def test_the_t_test_of_blocks_is_widened_for_windows_that_overlap() -> None:
    first, second = np.array([3.0, 4.0, 2.0, 5.0, 3.0, 1.0]), np.array([2.5, 3.0, 2.2, 4.0, 3.1, 0.5])
    plain = stats.ttest_rel(first, second)
    found = compare_forward(first, second, ratio=1 / 6)
    assert found.statistic == pytest.approx(plain.statistic / sqrt(2), rel=1e-12)  # 1/6 + 1/6 for 1/6
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(plain.statistic) / sqrt(2), 5), rel=1e-9)
    assert found.p_value == compare_resampled(first, second, ratio=1 / 6).p_value
    assert BLOCKS in found.differences.caveats


def test_the_interval_is_by_the_t_distribution_of_blocks() -> None:
    losses = [3.0, 4.0, 2.0, 5.0, 3.0, 1.0]
    found = analyse_forward(losses, ratio=1 / 6)
    half = stats.t.ppf(0.975, 5) * sqrt(np.var(losses, ddof=1) / 3)
    assert found.interval() == pytest.approx((3 - half, 3 + half), rel=1e-9)


def test_where_nothing_varies_nothing_is_claimed() -> None:
    found = compare_forward([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], ratio=0.1)
    assert found.p_value is None
    assert BLOCKS not in found.differences.caveats


@pytest.mark.parametrize(
    "setting",
    [
        SeriesSetting(60, 0.9, "linear regression"),
        SeriesSetting(200, 0.97, "linear regression"),
        SeriesSetting(120, 0.9, "nearest neighbour"),
    ],
    ids=str,
)
def test_a_test_at_5_per_cent_keeps_its_level_on_series_with_a_memory(setting: SeriesSetting) -> None:
    count = 800
    level, _ = measured(setting, count, np.random.default_rng(12))
    assert level <= 5 + 3 * sqrt(5 * 95 / count)


def test_a_plain_test_of_blocks_would_not() -> None:
    """Why the standard error is widened: nearest neighbours keep what a window has of a long memory."""
    first, second, _ = block_losses(
        SeriesSetting(200, 0.97, "nearest neighbour"), 400, np.random.default_rng(12)
    )
    p_values = stats.ttest_rel(first, second, axis=1).pvalue
    assert 100 * (p_values < 0.05).mean() > 5 + 3 * sqrt(5 * 95 / 400)
