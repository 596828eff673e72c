"""Dependent test cases pooled into units."""

import numpy as np
import pytest
from benchmarks.calibration.one_task import unit_coverage
from benchmarks.calibration.simulation import UnitsDesign, draw_units

from redelve.errors import StatisticsError
from redelve.stats import analyse_common, analyse_hierarchical, pool_units


def test_units_of_equal_size_are_their_means() -> None:
    losses = np.random.default_rng(0).normal(size=(3, 12))
    labels = np.array([5, 5, 5, 9, 9, 9, 1, 1, 1, 7, 7, 7])
    expected = losses.reshape(3, 4, 3).mean(axis=2)[:, [2, 0, 3, 1]]  # in order of label
    assert np.allclose(pool_units(losses, labels), expected)


def test_units_of_unequal_size_are_the_linearised_ratio() -> None:
    # Mean 3; sums of deviations −2 + −1 and 3; two units, three cases.
    (row,) = pool_units([[1.0, 2.0, 6.0]], [0, 0, 1])
    assert row == pytest.approx([3 + 2 / 3 * -3, 3 + 2 / 3 * 3])


def test_standard_error_is_that_of_a_ratio_of_sums() -> None:
    # Cochran (1977), eq. 6.13: variance of Σy/Σn over G units is Σ(y_g − r·n_g)² / (G(G−1)·n̄²).
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 7, size=25)
    labels = np.repeat(np.arange(25), sizes)
    row = rng.normal(size=labels.size) + rng.normal(size=25)[labels]
    sums = np.bincount(labels, weights=row)
    ratio = sums.sum() / sizes.sum()
    variance = np.square(sums - ratio * sizes).sum() / (25 * 24 * sizes.mean() ** 2)
    (units,) = pool_units([row], labels)
    assert units.var(ddof=1) / 25 == pytest.approx(variance, rel=1e-12)


def test_each_training_set_may_have_its_own_units() -> None:
    rows = [np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 2.0, 5.0, 6.0])]
    pooled = pool_units(rows, [[1, 1, 2, 2], [3, 4, 4, 5]])
    assert [row.size for row in pooled] == [2, 3]
    assert analyse_hierarchical(pooled).mean == pytest.approx(analyse_hierarchical(rows).mean)


def test_losses_of_several_runs_are_pooled_run_by_run() -> None:
    losses = np.random.default_rng(2).normal(size=(3, 2, 6))
    labels = [0, 0, 1, 1, 1, 2]
    pooled = pool_units(losses, labels)
    for i in range(3):
        assert np.allclose(pooled[i], pool_units(losses[i], labels))


def test_labels_may_be_text() -> None:
    assert np.allclose(pool_units([[1.0, 3.0, 5.0, 5.0]], ["ann", "ann", "bob", "bob"]), [[2.0, 5.0]])


def test_a_unit_in_two_test_sets_is_refused() -> None:
    with pytest.raises(StatisticsError, match="unit 7 has test cases in the test sets of training sets 0, 2"):
        pool_units(np.ones((3, 2)), [[7, 1], [2, 3], [4, 7]])


def test_labels_must_fit_the_losses() -> None:
    with pytest.raises(StatisticsError, match=r"training set 0: losses of shape \(3,\) .* shape \(2,\)"):
        pool_units(np.ones((2, 3)), [0, 1])
    with pytest.raises(StatisticsError, match="got 3 for 2 training sets"):
        pool_units(np.ones((2, 3)), np.arange(9).reshape(3, 3))


@pytest.mark.parametrize("sizes", [(5, 5), (2, 8)])
def test_pooled_intervals_cover_where_naive_ones_do_not(sizes: tuple[int, int]) -> None:
    design = UnitsDesign(8, 60, sizes, informative=1.5 if sizes[0] != sizes[1] else 0.0)
    naive, pooled = unit_coverage(design, np.random.default_rng(3), 800, common=True)
    assert naive < 85
    assert 92 < pooled < 98  # standard error 0.8


def test_pooled_standard_errors_of_the_hierarchical_scheme_are_right_on_average() -> None:
    rng, design = np.random.default_rng(4), UnitsDesign(4, 30, (2, 8), sd_training=0.0)
    means, variances = [], []
    for _ in range(1000):
        result = analyse_hierarchical(pool_units(*draw_units(design, rng, common=False)))
        assert result.mean is not None
        assert result.sd_residual is not None
        means.append(result.mean)
        variances.append(result.sd_residual**2 / (4 * result.effective_test_cases))
    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.15)


def test_pooled_rows_go_into_the_common_analysis() -> None:
    rows, labels = draw_units(UnitsDesign(5, 20, (3, 3)), np.random.default_rng(5), common=True)
    assert analyse_common(pool_units(rows, labels[0])).test_cases == 20
