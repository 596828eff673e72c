"""Corrected tests for cross-validation against scikit-learn's example, and by simulation of real learning."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats.caveats import NO_VARIATION, OVERFLOW
from redelve.stats.resampled import (
    NO_UNBIASED,
    REPEATED,
    analyse_resampled,
    compare_resampled,
    fold_ratio,
    nested_cross_validation,
)
from redelve.stats.sums import FloatArray

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


def test_scikit_learns_example_from_its_data() -> None:
    datasets, svm = pytest.importorskip("sklearn.datasets"), pytest.importorskip("sklearn.svm")
    selection = pytest.importorskip("sklearn.model_selection")
    x, y = datasets.make_moons(noise=0.352, random_state=1, n_samples=100)
    folds = selection.RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    losses = {
        kernel: 1 - selection.cross_val_score(svm.SVC(kernel=kernel), x, y, scoring="roc_auc", cv=folds)
        for kernel in ("rbf", "linear")
    }
    result = compare_resampled(losses["linear"], losses["rbf"], ratio=fold_ratio(10))
    assert f"{result.statistic:.3f}" == "0.750"


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


@dataclass(frozen=True)
class CrossValidation:
    """How often cross-validation is repeated, with how many folds, on how many cases."""

    cases: int
    folds: int
    repetitions: int

    def assign(self, rng: np.random.Generator) -> list[FloatArray]:
        return [rng.permutation(np.arange(self.cases) % self.folds) for _ in range(self.repetitions)]


Learner = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Losses of every case from inputs, targets and folds: each case predicted from the other folds."""


def linear(x: FloatArray, y: FloatArray, fold: FloatArray) -> FloatArray:
    """Squared error of least squares on one input with intercept."""
    member = (fold[:, None] == np.unique(fold)).astype(float)
    n, sx, sy, sxx, sxy = (member.T @ a for a in (np.ones_like(x), x, y, x * x, x * y))
    n, sx, sy, sxx, sxy = (a.sum() - a for a in (n, sx, sy, sxx, sxy))
    slope = (sxy - sx * sy / n) / (sxx - sx * sx / n)
    start = (sy - slope * sx) / n
    return np.asarray(np.square(y - start[fold] - slope[fold] * x))


def nearest(x: FloatArray, y: FloatArray, fold: FloatArray) -> FloatArray:
    """Squared error of the nearest neighbour on one input."""
    distance = np.abs(x[:, None] - x)
    distance[fold[:, None] == fold] = np.inf
    return np.asarray(np.square(y - y[distance.argmin(axis=1)]))


def rejections(learn: Learner, design: CrossValidation, count: int, seed: int) -> tuple[float, float]:
    """Levels of the corrected and of a plain t-test between two equally good methods.

    y = x₁ + x₂ + noise; one method sees x₁ only, the other x₂ only.
    """
    rng = np.random.default_rng(seed)
    corrected = plain = 0
    for _ in range(count):
        x = rng.normal(size=(2, design.cases))
        y = x.sum(axis=0) + rng.normal(size=design.cases)
        losses = np.empty((2, design.repetitions, design.folds))
        for r, fold in enumerate(design.assign(rng)):
            for m in range(2):
                losses[m, r] = np.bincount(fold, weights=learn(x[m], y, fold)) / np.bincount(fold)
        result = compare_resampled(losses[0], losses[1], ratio=fold_ratio(design.folds))
        corrected += result.p_value is not None and result.p_value < 0.05
        plain += scipy_stats.ttest_1samp((losses[0] - losses[1]).ravel(), 0.0).pvalue < 0.05
    return corrected / count, plain / count


def slack(rate: float, count: int) -> float:
    return 4 * sqrt(rate * (1 - rate) / count)


def test_the_corrected_test_keeps_its_level_where_the_plain_one_does_not() -> None:
    count = 500
    corrected, plain = rejections(linear, CrossValidation(50, 10, 10), count, 5)
    assert corrected < 0.055 + slack(0.055, count)
    assert plain > 0.4


def test_one_pass_through_the_folds_is_conservative_for_linear_regression() -> None:
    count = 800
    corrected, _ = rejections(linear, CrossValidation(50, 10, 1), count, 6)
    assert corrected < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learn", "design", "documented"),
    [
        (linear, CrossValidation(50, 10, 10), 0.046),
        (linear, CrossValidation(100, 10, 10), 0.045),
        (linear, CrossValidation(50, 5, 10), 0.046),
        (linear, CrossValidation(50, 5, 1), 0.015),
        (linear, CrossValidation(50, 10, 1), 0.008),
        (nearest, CrossValidation(50, 10, 10), 0.122),
        (nearest, CrossValidation(100, 10, 10), 0.121),
        (nearest, CrossValidation(50, 10, 1), 0.041),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_levels_are_as_documented(learn: Learner, design: CrossValidation, documented: float) -> None:
    corrected, _ = rejections(learn, design, 4000, 7)
    assert corrected == pytest.approx(documented, abs=1.5 * slack(max(documented, 0.02), 4000))


def coverage(design: CrossValidation, count: int, seed: int) -> float:
    """How often the interval for one method holds its expected loss at the training-set size of the folds."""
    rng = np.random.default_rng(seed)
    size = design.cases * (design.folds - 1) / design.folds
    truth = 2.0 * (1 + 1 / size) * (1 + 1 / (size - 3))  # least squares on a Gaussian input, noise variance 2
    covered = 0
    for _ in range(count):
        x = rng.normal(size=design.cases)
        y = x + sqrt(2) * rng.normal(size=design.cases)
        losses = [
            np.bincount(fold, weights=linear(x, y, fold)) / np.bincount(fold) for fold in design.assign(rng)
        ]
        low, high = analyse_resampled(losses, ratio=fold_ratio(design.folds)).interval() or (0.0, 0.0)
        covered += low <= truth <= high
    return covered / count


def test_intervals_for_one_method_cover() -> None:
    count = 500
    assert coverage(CrossValidation(50, 10, 1), count, 8) > 0.95 - slack(0.95, count)
    assert coverage(CrossValidation(50, 10, 10), count, 8) > 0.90 - slack(0.90, count)


def nested_losses(
    x: FloatArray, y: FloatArray, design: CrossValidation, rng: np.random.Generator
) -> tuple[list[list[FloatArray]], list[list[FloatArray]]]:
    """Inner and outer squared errors of least squares, from sums of products over the folds."""
    inner, outer = [], []
    k = np.arange(design.folds)
    for fold in design.assign(rng):
        members = [fold == i for i in k]
        gram = np.stack([x[m].T @ x[m] for m in members])
        moment = np.stack([x[m].T @ y[m] for m in members])
        left = gram.sum(axis=0) - gram[:, None] - gram
        right = moment.sum(axis=0) - moment[:, None] - moment
        left[k, k], right[k, k] = gram.sum(axis=0) - gram, moment.sum(axis=0) - moment
        fits = np.linalg.solve(left, right[..., None])[
            ..., 0
        ]  # without folds i and j; the diagonal without i
        losses = [np.square(y[m] - fits[i] @ x[m].T) for i, m in enumerate(members)]
        outer.append([losses[i][i] for i in k])
        inner.append([np.concatenate([losses[j][i] for j in k if j != i]) for i in k])
    return inner, outer


def nested_coverage(
    design: CrossValidation, inputs: int, count: int, *, skewed: bool = False
) -> tuple[float, float]:
    """How often nested and plain intervals hold the expected loss of the fit to all cases, 1 + ‖β̂ − β‖²."""
    rng = np.random.default_rng([9, design.cases, inputs])
    nested = plain = 0
    beta = np.concatenate(([0.0], np.ones(inputs)))
    for _ in range(count):
        x = np.column_stack((np.ones(design.cases), rng.normal(size=(design.cases, inputs))))
        noise = rng.standard_exponential(design.cases) - 1 if skewed else rng.normal(size=design.cases)
        y = x @ beta + noise
        truth = 1 + float(np.square(np.linalg.lstsq(x, y, rcond=None)[0] - beta).sum())
        inner, outer = nested_losses(x, y, design, rng)
        low, high = nested_cross_validation(inner, outer).interval() or (0.0, 0.0)
        nested += low <= truth <= high
        errors = np.concatenate(outer[0])
        plain += abs(errors.mean() - truth) <= 1.96 * errors.std(ddof=1) / sqrt(design.cases)
    return nested / count, plain / count


def test_nested_intervals_cover_where_plain_ones_do_not() -> None:
    count = 300
    nested, plain = nested_coverage(CrossValidation(60, 10, 4), 20, count)
    assert nested > 0.93 - slack(0.93, count)
    assert plain < 0.85


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "inputs", "skewed", "documented"),
    [
        (CrossValidation(50, 5, 20), 5, False, 0.950),
        (CrossValidation(100, 10, 10), 5, False, 0.947),
        (CrossValidation(60, 10, 10), 20, False, 0.945),
        (CrossValidation(60, 10, 10), 5, True, 0.855),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_nested_coverages_are_as_documented(
    design: CrossValidation, inputs: int, skewed: bool, documented: float
) -> None:
    nested, _ = nested_coverage(design, inputs, 1500, skewed=skewed)
    assert nested == pytest.approx(documented, abs=slack(documented, 1500))
