"""Corrected tests for cross-validation against scikit-learn's example, and by simulation of real learning."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
from benchmarks.calibration.learning import (
    Learner,
    Resampling,
    draw_comparison,
    draw_nested,
    draw_single,
    expected_single,
    linear,
    nearest,
)
from benchmarks.calibration.resamples import nested_coverage, resampled_levels, single_coverage
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats.bayesian_tests import correlated_t
from redelve.stats.estimates import NO_VARIATION, OVERFLOW
from redelve.stats.mean_squares import FloatArray
from redelve.stats.resampled import (
    NO_UNBIASED,
    REPEATED,
    analyse_resampled,
    compare_resampled,
    fold_ratio,
    nested_cross_validation,
)

# "Statistical comparison of models using grid search" in scikit-learn's documentation: AUC of four support
# vector machines in 10 × 10 folds of 100 cases. Mean and variance of the differences between the kernels (its
# code run with scikit-learn 1.9.1), with t and the one-sided p times six as its table prints them.
KERNELS = {
    "rbf – linear": (0.01, 0.0014666666666666662, "0.750", "1.000"),
    "rbf – 3_poly": (0.0356, 0.003810747474747473, "1.657", "0.302"),
    "rbf – 2_poly": (0.2548, 0.025718141414141422, "4.565", "0.000"),
    "linear – 3_poly": (0.0256, 0.004380444444444443, "1.111", "0.807"),
    "linear – 2_poly": (0.2448, 0.027063595959595958, "4.276", "0.000"),
    "3_poly – 2_poly": (0.2192, 0.02674682828282828, "3.851", "0.001"),
}


def with_moments(mean: float, variance: float, count: int) -> FloatArray:
    values = np.random.default_rng(0).normal(size=count)
    values = (values - values.mean()) / values.std(ddof=1)
    return np.asarray(mean + sqrt(variance) * values)


@pytest.mark.parametrize("kernels", KERNELS)
def test_the_corrected_t_is_scikit_learns(kernels: str) -> None:
    mean, variance, t, p = KERNELS[kernels]
    result = compare_resampled(with_moments(mean, variance, 100), np.zeros(100), ratio=10 / 90)
    assert f"{result.statistic:.3f}" == t
    assert result.p_value is not None
    assert f"{min(1.0, 6 * result.p_value / 2):.3f}" == p


def test_the_printed_p_value_of_scikit_learn() -> None:
    """Its example prints "Corrected t-value: 0.750, Corrected p-value: 0.227", one-sided."""
    mean, variance, _, _ = KERNELS["rbf – linear"]
    result = compare_resampled(with_moments(mean, variance, 100), np.zeros(100), ratio=fold_ratio(10))
    assert result.p_value is not None
    assert f"{result.p_value / 2:.3f}" == "0.227"
    assert result.degrees_of_freedom == 99


def kernel_losses() -> dict[str, FloatArray]:
    """One less AUC of the example's four support vector machines in 10 × 10 folds."""
    datasets, svm = pytest.importorskip("sklearn.datasets"), pytest.importorskip("sklearn.svm")
    selection = pytest.importorskip("sklearn.model_selection")
    x, y = datasets.make_moons(noise=0.352, random_state=1, n_samples=100)
    folds = selection.RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    machines = {
        "rbf": svm.SVC(kernel="rbf", random_state=0),
        "linear": svm.SVC(kernel="linear", random_state=0),
        "3_poly": svm.SVC(kernel="poly", degree=3, random_state=0),
        "2_poly": svm.SVC(kernel="poly", degree=2, random_state=0),
    }
    splits = list(folds.split(x, y))

    def lost(machine: Any, train: FloatArray, test: FloatArray) -> float:
        confidences = machine.fit(x[train], y[train]).decision_function(x[test])
        gaps = np.subtract.outer(confidences[y[test] == 1], confidences[y[test] == 0])
        return 1 - float(np.mean((gaps > 0) + (gaps == 0) / 2))

    return {name: np.array([lost(one, *split) for split in splits]) for name, one in machines.items()}


def test_scikit_learns_example_from_its_data() -> None:
    """All its printed numbers for two kernels and the six pairs, from the data and not from our moments.

    It prints t = 0.750 and a one-sided p of 0.227; 0.773 and 0.227 as probabilities that one is better;
    0.432 that they are practically equal (±0.01).
    """
    losses = kernel_losses()
    for name, (mean, variance, t, p) in KERNELS.items():
        first, second = name.split(" – ")
        differences = losses[second] - losses[first]
        assert (differences.mean(), differences.var(ddof=1)) == pytest.approx((mean, variance), rel=1e-9)
        result = compare_resampled(losses[second], losses[first], ratio=fold_ratio(10))
        assert f"{result.statistic:.3f}" == t
        assert result.p_value is not None
        assert f"{min(1.0, 6 * result.p_value / 2):.3f}" == p
    differences = losses["linear"] - losses["rbf"]
    plain, wide = (correlated_t(differences, ratio=fold_ratio(10), rope=rope) for rope in (0.0, 0.01))
    assert (f"{plain.right:.3f}", f"{plain.left:.3f}", f"{wide.rope:.3f}") == ("0.773", "0.227", "0.432")


@given(st.lists(st.floats(-10, 10), min_size=3, max_size=20), st.sampled_from([0.05, 1 / 9, 1.0]))
def test_the_corrected_variance_is_wider_by_what_the_formula_says(values: list[float], ratio: float) -> None:
    result = analyse_resampled(values, ratio=ratio)
    if result.standard_error is None:
        assert np.std(values) < 1e-12
        return
    plain = float(np.var(values, ddof=1))
    assert result.standard_error == pytest.approx(sqrt(plain * (1 / len(values) + ratio)))
    assert result.mean == pytest.approx(float(np.mean(values)))


@given(st.permutations(range(12)))
def test_the_order_of_the_resamples_does_not_matter(order: list[int]) -> None:
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=12), rng.normal(size=12)
    first = compare_resampled(one, two, ratio=0.25)
    second = compare_resampled(one[order], two[order], ratio=0.25)
    assert second.p_value == pytest.approx(first.p_value, rel=1e-9)


def test_exchanging_the_methods_changes_the_sign_only() -> None:
    one, two = np.random.default_rng(2).normal(size=(2, 10))
    first, second = compare_resampled(one, two, ratio=1 / 9), compare_resampled(two, one, ratio=1 / 9)
    assert first.p_value == second.p_value
    assert first.difference == -(second.difference or 0.0)
    assert (first.mean_first, first.mean_second) == (second.mean_second, second.mean_first)


def test_interval_and_test_say_the_same() -> None:
    one, two = np.random.default_rng(3).normal(size=(2, 10))
    result = compare_resampled(one, two, ratio=1 / 9)
    assert result.p_value is not None
    low, high = result.interval(1 - result.p_value) or (1.0, -1.0)
    assert min(abs(low), abs(high)) < 1e-9


def test_repeated_folds_are_given_as_a_table_and_warned_of() -> None:
    losses = np.random.default_rng(4).normal(size=(10, 5))
    assert analyse_resampled(losses, ratio=fold_ratio(5)).resamples == 50
    assert REPEATED in analyse_resampled(losses, ratio=fold_ratio(5)).caveats
    assert analyse_resampled(losses[0], ratio=fold_ratio(5)).caveats[0] == NO_UNBIASED
    assert REPEATED not in analyse_resampled(losses[0], ratio=fold_ratio(5)).caveats
    assert REPEATED in analyse_resampled(losses[0], ratio=1 / 3).caveats  # five random splits, 3:1


def test_undefined_results_are_none_with_their_reason() -> None:
    same = compare_resampled([1.0, 2.0], [0.5, 1.5], ratio=1.0)
    assert (same.p_value, same.interval(), same.caveats) == (None, None, (NO_VARIATION,))
    infinite = compare_resampled([1.0, np.inf], [0.0, 0.0], ratio=1.0)
    assert (infinite.difference, infinite.p_value) == (np.inf, None)
    assert "1 infinite loss: nothing but the mean is defined" in infinite.caveats
    assert compare_resampled([np.inf, 1.0], [np.inf, 0.0], ratio=1.0).difference is None
    assert analyse_resampled([1e200, -1e200], ratio=1.0).caveats == (OVERFLOW,)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fold_ratio(1), "two folds: got 1"),
        (lambda: analyse_resampled([1.0], ratio=0.1), "two resamples: got 1"),
        (lambda: analyse_resampled([1.0, np.nan], ratio=0.1), "resample 1"),
        (lambda: analyse_resampled([1.0, 2.0], ratio=0.0), "got 0.0"),
        (lambda: compare_resampled([1.0, 2.0], [1.0, 2.0, 3.0], ratio=0.1), "same resamples"),
        (lambda: nested_cross_validation([[[1.0]] * 3], [[[1.0, 2.0]] * 2]), "three at least"),
        (lambda: nested_cross_validation([[[1.0] * 3] * 3], [[[1.0, 2.0]] * 3]), "all 4 other"),
        (lambda: nested_cross_validation([[[np.inf] * 4] * 3], [[[1.0, 2.0]] * 3]), "finite"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(StatisticsError, match=words):
        call()


def test_nested_cross_validation_by_hand() -> None:
    """Three folds of two cases, every number worked out from the formulas."""
    outer = [[[1.0, 3.0], [2.0, 6.0], [5.0, 1.0]]]
    inner = [[[2.0, 6.0, 4.0, 8.0], [1.0, 5.0, 3.0, 3.0], [4.0, 4.0, 6.0, 2.0]]]
    result = nested_cross_validation(inner, outer)
    assert result.cross_validated == pytest.approx(3.0)
    assert result.nested == pytest.approx(4.0)
    assert result.bias == pytest.approx((1 + 1 / 3) * 1.0)
    assert result.mean == pytest.approx(4.0 - 4 / 3)
    # (5 − 2)² − 2/2 = 8, (3 − 4)² − 8/2 = −3 and (4 − 3)² − 8/2 = −3, scaled by 2/3; between 1 and √3
    scaled = sqrt((8.0 - 3.0 - 3.0) / 3 * 2 / 3)
    independent = float(np.std(np.concatenate(inner[0]), ddof=1)) / sqrt(6)
    assert result.inflation == pytest.approx(min(max(scaled / independent, 1.0), sqrt(3)))
    assert result.standard_error == pytest.approx(independent * (result.inflation or 0.0))
    low, high = result.interval(0.9) or (0.0, 0.0)
    assert (high - low) / 2 == pytest.approx(1.6448536 * (result.standard_error or 0.0))
    assert len(result.caveats) == 3


def test_nested_cross_validation_without_variation() -> None:
    result = nested_cross_validation([[[1.0] * 4] * 3], [[[1.0] * 2] * 3])
    assert (result.mean, result.standard_error, result.interval()) == (1.0, None, None)
    assert result.caveats == (NO_VARIATION,)


def test_the_bias_is_removed_exactly_where_the_loss_falls_as_one_over_n() -> None:
    cases, folds = 60, 6

    def loss(training_cases: float) -> float:
        return 2.0 + 5.0 / training_cases

    noise = np.linspace(-1, 1, 10)
    outer = [[loss(cases * (folds - 1) / folds) + noise for _ in range(folds)]]
    inner = [[loss(cases * (folds - 2) / folds) + np.tile(noise, folds - 1) for _ in range(folds)]]
    assert nested_cross_validation(inner, outer).mean == pytest.approx(loss(cases))


def slack(rate: float, count: int) -> float:
    return 4 * sqrt(rate * (1 - rate) / count)


def test_the_corrected_test_keeps_its_level_where_the_plain_one_does_not() -> None:
    count, design, rng = 500, Resampling(50, 10, 10), np.random.default_rng(5)
    pairs = [draw_comparison(linear, design, rng) for _ in range(count)]
    tests = [compare_resampled(*pair, ratio=design.ratio).p_value for pair in pairs]
    plain = [scipy_stats.ttest_1samp((one - two).ravel(), 0.0).pvalue < 0.05 for one, two in pairs]
    assert np.mean([p is not None and p < 0.05 for p in tests]) < 0.055 + slack(0.055, count)
    assert np.mean(plain) > 0.4


def test_one_pass_through_the_folds_is_conservative_for_linear_regression() -> None:
    level, cover, certain = resampled_levels(linear, Resampling(50, 10, 1), 800, np.random.default_rng(6))
    assert level < 5
    assert cover == pytest.approx(100 - level)  # the same t distribution seen from the other side
    assert certain < 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learn", "design", "documented"),
    [
        (linear, Resampling(50, 10, 10), 0.046),
        (linear, Resampling(100, 10, 10), 0.045),
        (linear, Resampling(50, 5, 10), 0.046),
        (linear, Resampling(50, 5, 1), 0.015),
        (linear, Resampling(50, 10, 1), 0.008),
        (nearest, Resampling(50, 10, 10), 0.122),
        (nearest, Resampling(100, 10, 10), 0.121),
        (nearest, Resampling(50, 10, 1), 0.041),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_levels_are_as_documented(learn: Learner, design: Resampling, documented: float) -> None:
    level, _, _ = resampled_levels(learn, design, 4000, np.random.default_rng(7))
    assert level / 100 == pytest.approx(documented, abs=1.5 * slack(max(documented, 0.02), 4000))


def test_intervals_for_one_method_cover() -> None:
    count, rng = 500, np.random.default_rng(8)
    assert single_coverage(Resampling(50, 10, 1), count, rng) > 95 - 100 * slack(0.95, count)
    assert single_coverage(Resampling(50, 10, 10), count, rng) > 90 - 100 * slack(0.90, count)


def test_the_loss_that_intervals_should_hold_is_the_true_one() -> None:
    """The formula for least squares against the mean of many simulated cross-validations."""
    design, rng = Resampling(20, 10, 1), np.random.default_rng(9)
    found = np.array([draw_single(design, rng).mean() for _ in range(4000)])
    assert found.mean() == pytest.approx(expected_single(design), abs=4 * found.std() / sqrt(4000))


def test_nested_intervals_cover_where_plain_ones_do_not() -> None:
    count = 300
    nested, plain = nested_coverage(Resampling(60, 10, 4), 20, count, np.random.default_rng(9))
    assert nested > 93 - 100 * slack(0.93, count)
    assert plain < 85


def test_nested_losses_are_those_of_refitting() -> None:
    """The quick inner and outer fits against one least-squares fit after another."""
    drawn = draw_nested(Resampling(12, 3, 1), 2, np.random.default_rng(10))
    rng = np.random.default_rng(10)
    x = np.column_stack((np.ones(12), rng.normal(size=(12, 2))))
    y = x @ [0.0, 1.0, 1.0] + rng.normal(size=12)
    fold = rng.permutation(np.arange(12) % 3)

    def losses(train: FloatArray, test: FloatArray) -> FloatArray:
        return np.asarray(np.square(y[test] - x[test] @ np.linalg.lstsq(x[train], y[train], rcond=None)[0]))

    for k in range(3):
        assert drawn.outer[0][k] == pytest.approx(losses(fold != k, fold == k))
        others = [losses((fold != k) & (fold != j), fold == j) for j in range(3) if j != k]
        assert drawn.inner[0][k] == pytest.approx(np.concatenate(others))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "inputs", "skewed", "documented"),
    [
        (Resampling(50, 5, 20), 5, False, 0.950),
        (Resampling(100, 10, 10), 5, False, 0.947),
        (Resampling(60, 10, 10), 20, False, 0.945),
        (Resampling(60, 10, 10), 5, True, 0.855),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_nested_coverages_are_as_documented(
    design: Resampling, inputs: int, skewed: bool, documented: float
) -> None:
    nested, _ = nested_coverage(design, inputs, 1500, np.random.default_rng([9, inputs]), skewed=skewed)
    assert nested / 100 == pytest.approx(documented, abs=1.5 * slack(documented, 1500))
