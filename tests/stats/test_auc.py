"""The area under the ROC curve and DeLong's errors, against other implementations."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score

from redelve.errors import StatisticsError
from redelve.stats.auc import area_under_curve, compare_areas


def brute_kernel(truths: np.ndarray, values: np.ndarray) -> np.ndarray:
    """ψ(x, y) of DeLong et al. (1988, section 2) for every pair of a positive and a negative case."""
    above, below = values[truths > 0], values[truths < 0]
    return np.array([[1.0 if x > y else 0.5 if x == y else 0.0 for y in below] for x in above])


def brute_covariance(truths: np.ndarray, *many: np.ndarray) -> np.ndarray:
    """The covariance matrix of several areas: S₁₀/m + S₀₁/n with the components of DeLong et al."""
    kernels = [brute_kernel(truths, values) for values in many]
    positive = np.cov([kernel.mean(axis=1) for kernel in kernels])
    negative = np.cov([kernel.mean(axis=0) for kernel in kernels])
    positives, negatives = kernels[0].shape
    return np.atleast_2d(positive / positives + negative / negatives)


@st.composite
def classified(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    truths = np.repeat([-1, 1], sizes)
    values = st.lists(
        st.integers(0, draw(st.sampled_from([2, 50]))), min_size=sum(sizes), max_size=sum(sizes)
    )
    one, two = (np.array(draw(values), dtype=float) for _ in "ab")
    return truths, one, two


@given(classified())
def test_areas_and_errors_are_those_of_all_pairs(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    truths, one, _ = case
    found = area_under_curve(truths, one)
    assert found.auc == pytest.approx(brute_kernel(truths, one).mean())
    assert found.auc == pytest.approx(roc_auc_score(truths, one))
    assert found.standard_error == pytest.approx(sqrt(max(brute_covariance(truths, one)[0, 0], 0)), abs=1e-9)


@given(classified())
def test_comparisons_are_those_of_all_pairs(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    truths, one, two = case
    found = compare_areas(truths, one, two)
    covariance = brute_covariance(truths, one, two)
    direct = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert found.standard_error == pytest.approx(sqrt(max(direct, 0)), abs=1e-9)
    assert found.difference == pytest.approx(
        roc_auc_score(truths, one) - roc_auc_score(truths, two), abs=1e-12
    )
    back = compare_areas(truths, two, one)
    assert back.difference == -found.difference
    assert back.p_value == pytest.approx(found.p_value)


def test_the_area_by_hand() -> None:
    # 3 > 1, 3 > 0, 2 > 1, 2 > 0, 0.5 < 1, 0.5 > 0: five of six; placements 1, 1, ½ and ⅔, 1
    found = area_under_curve([1, 1, 1, -1, -1], [3.0, 2.0, 0.5, 1.0, 0.0])
    assert found.auc == pytest.approx(5 / 6)
    assert found.standard_error == pytest.approx(sqrt((1 / 12) / 3 + (1 / 18) / 2))


def test_large_samples_agree_with_scikit_learn_and_mann_whitney() -> None:
    rng = np.random.default_rng(1)
    truths = np.where(rng.random(20_000) < 0.1, 1, -1)
    values = np.round(truths + rng.normal(0, 2, truths.size), 1)
    found = area_under_curve(truths, values)
    assert found.auc == pytest.approx(roc_auc_score(truths, values), abs=1e-12)
    u = mannwhitneyu(values[truths > 0], values[truths < 0]).statistic
    assert found.auc == pytest.approx(u / (found.positives * found.negatives))


def test_only_the_order_matters() -> None:
    rng = np.random.default_rng(2)
    truths, values = rng.choice([-1, 1], 200), rng.normal(size=200)
    one, two = area_under_curve(truths, values), area_under_curve(truths, np.exp(3 * values))
    assert (one.auc, one.standard_error) == (two.auc, two.standard_error)
    assert area_under_curve(truths, -values).auc == pytest.approx(1 - one.auc)


def test_answers_of_two_values_have_the_area_one_less_the_balanced_error() -> None:
    truths, answers = [1, 1, 1, -1, -1, -1, -1], [1, 1, -1, -1, -1, -1, 1]
    assert area_under_curve(truths, answers).auc == pytest.approx(1 - (1 / 3 + 1 / 4) / 2)


def test_an_area_of_one_has_no_interval() -> None:
    found = area_under_curve([1, 1, -1, -1], [4, 3, 2, 1])
    assert (found.auc, found.standard_error, found.interval()) == (1.0, 0.0, None)
    assert "says nothing" in found.caveats[0]


def test_one_case_of_a_class_has_no_error() -> None:
    found = area_under_curve([1, -1, -1], [2, 1, 3])
    assert (found.auc, found.standard_error) == (0.5, None)
    assert compare_areas([1, -1, -1], [2, 1, 3], [1, 2, 3]).p_value is None


def test_equal_confidences_are_not_tested() -> None:
    truths, values = [1, 1, -1, -1, 1], [0.3, 0.2, 0.1, 0.25, 0.9]
    found = compare_areas(truths, values, np.multiply(values, 7))
    assert (found.standard_error, found.p_value) == (0.0, None)


def test_a_standard_error_of_zero_is_no_proof_of_a_difference() -> None:
    """A perfect order against one and the same confidence for all, and against the reverse."""
    truths, perfect = [1, 1, 1, -1, -1, -1], [6, 5, 4, 3, 2, 1]
    for other, difference in (([0] * 6, 0.5), ([1, 2, 3, 4, 5, 6], 1.0)):
        found = compare_areas(truths, perfect, other)
        assert found.difference == difference
        assert (found.p_value, found.interval()) == (None, None)
        assert "says nothing" in found.caveats[0]
    assert "nothing to test" in compare_areas(truths, perfect, perfect).caveats[0]


def test_few_cases_of_a_class_are_told() -> None:
    truths = np.repeat([-1, 1], (100, 12))
    values = np.random.default_rng(5).normal(size=112) + (truths > 0)
    assert "only 12 cases" in area_under_curve(truths, values).caveats[0]
    assert area_under_curve(np.tile(truths, 3), np.tile(values, 3)).caveats == ()


def test_the_interval_lies_within_zero_and_one() -> None:
    rng = np.random.default_rng(3)
    truths = np.repeat([-1, 1], (10, 5))
    low, high = area_under_curve(truths, 2.0 * truths + rng.normal(0, 1.5, 15)).interval() or (0, 0)
    assert 0 < low < high < 1


@pytest.mark.parametrize(
    ("truths", "values", "message"),
    [
        ([1, 1], [0.1, 0.2], "both classes"),
        ([1, -1], [0.1], "one entry per case"),
        ([1, -1], [0.1, np.nan], "case 1"),
    ],
)
def test_what_has_no_area_is_refused(truths: list[int], values: list[float], message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        area_under_curve(truths, values)
