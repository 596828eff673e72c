"""The bootstrap, .632+, corrections for selection: hand-worked cases and simulations."""

import numpy as np
import pytest

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray
from redelve.stats.optimism import (
    IntArray,
    bootstrap_bias_corrected,
    draw_counts,
    fold_optimism,
    leave_one_out_bootstrap,
    point632,
    point632_plus,
)

ONE_CLASS = np.zeros(3, dtype=np.int64)


def test_the_leave_one_out_bootstrap_by_hand() -> None:
    """Each case by the samples without it: 1; (0 + 1)/2; 0."""
    counts = np.array([[0, 2, 1], [2, 0, 1], [3, 0, 0]])
    losses = np.array([[1.0, 9.0, 9.0], [9.0, 0.0, 9.0], [9.0, 1.0, 0.0]])
    found = leave_one_out_bootstrap(counts, losses, np.full(3, 1 / 3), ONE_CLASS)
    assert found.case_losses.tolist() == [1.0, 0.5, 0.0]
    assert found.mean == pytest.approx(0.5)
    balanced = leave_one_out_bootstrap(counts, losses, np.array([0.5, 0.25, 0.25]), np.array([0, 1, 1]))
    assert balanced.mean == pytest.approx(0.5 * 1 + 0.5 * 0.25)


def test_a_case_in_every_sample_is_left_out() -> None:
    counts = np.array([[1, 0, 2], [2, 0, 1]])
    losses = np.array([[9.0, 1.0, 9.0], [9.0, 0.0, 9.0]])
    assert leave_one_out_bootstrap(counts, losses, np.full(3, 1 / 3), ONE_CLASS).mean == pytest.approx(0.5)
    with pytest.raises(StatisticsError, match="draw more"):
        leave_one_out_bootstrap(counts * 0 + 1, losses, np.full(3, 1 / 3), ONE_CLASS)


@pytest.mark.parametrize(
    ("given", "mean", "weight", "overfitting"),
    [
        ((0.0, 0.3, 0.5), 0.3 * 0.632 / (1 - 0.368 * 0.6), 0.632 / (1 - 0.368 * 0.6), 0.6),
        ((0.1, 0.3, 0.5), 0.1 + 0.2 * 0.632 / (1 - 0.368 * 0.5), 0.632 / (1 - 0.368 * 0.5), 0.5),
        ((0.2, 0.1, 0.5), 0.368 * 0.2 + 0.632 * 0.1, 0.632, 0.0),
        ((0.0, 0.7, 0.5), 0.5, 1.0, 1.0),
        ((0.0, 0.0, 0.5), 0.0, 0.632, 0.0),
    ],
)
def test_632_plus_by_hand(
    given: tuple[float, float, float], mean: float, weight: float, overfitting: float
) -> None:
    found = point632_plus(*given)
    assert found.mean == pytest.approx(mean)
    assert found.weight == pytest.approx(weight)
    assert found.overfitting == pytest.approx(overfitting)


def test_632_plus_is_the_form_of_the_paper() -> None:
    """Êrr⁽·⁶³²⁺⁾ = Êrr⁽·⁶³²⁾ + (Êrr⁽¹⁾′ − err) 0.368·0.632 R̂′/(1 − 0.368 R̂′) (Efron and Tibshirani 1997)."""
    for apparent, outside, nothing in ((0.05, 0.2, 0.5), (0.0, 0.4, 0.5), (0.1, 0.12, 0.3)):
        found = point632_plus(apparent, outside, nothing)
        rate = found.overfitting
        more = (outside - apparent) * 0.368 * 0.632 * rate / (1 - 0.368 * rate)
        assert found.mean == pytest.approx(point632(apparent, outside).mean + more)


def test_samples_hold_as_many_of_each_class() -> None:
    classes = np.array([0, 0, 0, 1, 1])
    counts = draw_counts(classes, 50, np.random.default_rng(1))
    assert (counts[:, :3].sum(axis=1) == 3).all()
    assert (counts[:, 3:].sum(axis=1) == 2).all()
    assert (counts == 0).any()


def test_the_optimism_of_folds_by_hand() -> None:
    """Model 0 is best on average (0.2); folds would choose 0.1 and 0.1: (0.1 + 0.1)/2 too good."""
    assert fold_optimism(np.array([[0.2, 0.1], [0.2, 0.4]])) == pytest.approx((0.1 + 0.0) / 2)
    assert fold_optimism(np.array([[0.1, 0.3], [0.3, 0.2]])) == pytest.approx((0.0 + 0.1) / 2)


def test_a_choice_that_is_no_choice_has_no_optimism() -> None:
    losses = np.repeat(np.arange(20)[:, None] % 2, 2, axis=1).astype(np.float64)
    classes = np.zeros(20, dtype=np.int64)
    found = bootstrap_bias_corrected(losses, np.full(20, 0.05), classes, np.random.default_rng(1), 2000)
    assert found.mean == pytest.approx(0.5, abs=0.01)
    low, high = found.interval(0.9)
    assert low < 0.5 < high


def test_the_choice_of_each_sample_is_judged_by_the_cases_outside() -> None:
    losses = np.array([[1.0, 0.0], [0.0, 1.0]])
    weights, classes = np.array([0.5, 0.5]), np.array([0, 0])
    found = bootstrap_bias_corrected(losses, weights, classes, np.random.default_rng(3), 400)
    assert found.mean == 1.0  # whoever is drawn twice chooses the model that is wrong on the other
    assert 100 < found.values.size < 300  # samples with both cases judge nobody


def test_a_choice_needs_two_models() -> None:
    with pytest.raises(StatisticsError, match="two models"):
        bootstrap_bias_corrected(
            np.ones((5, 1)), np.full(5, 0.2), np.zeros(5, dtype=np.int64), np.random.default_rng(1)
        )


def centroid_losses(inputs: FloatArray, classes: IntArray, counts: IntArray) -> FloatArray:
    """Losses of the rule that takes the nearer class mean, learnt from each of the samples."""
    first, second = (
        counts[:, classes == one] @ inputs[classes == one] / (classes == one).sum() for one in (0, 1)
    )
    towards = second - first
    scores = towards @ inputs.T - ((first + second) / 2 * towards).sum(axis=1)[:, None]
    wrong: FloatArray = ((scores > 0) != (classes == 1)).astype(np.float64)
    return wrong


@pytest.mark.parametrize(
    ("cases", "samples"), [(40, 200), (100, 100), pytest.param(400, 60, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("balanced", [False, True])
def test_the_standard_error_of_the_bootstrap_is_about_right(cases: int, samples: int, balanced: bool) -> None:
    """Mean estimated standard error against how much the estimates of 400 data sets vary."""
    classes = np.repeat([0, 1], [cases // 4, cases - cases // 4])
    sizes = np.bincount(classes)[classes]
    weights = 1 / (2 * sizes) if balanced else np.full(cases, 1 / cases)
    groups = classes if balanced else np.zeros_like(classes)
    means, errors = [], []
    for repetition in range(400):
        rng = np.random.default_rng([11, repetition])
        inputs = rng.normal(size=(cases, 2)) + 1.2 * classes[:, None]
        counts = draw_counts(classes, samples, rng)
        found = leave_one_out_bootstrap(counts, centroid_losses(inputs, classes, counts), weights, groups)
        means.append(found.mean)
        errors.append(found.standard_error)
    actual = float(np.std(means, ddof=1))  # known to 3.5 %
    assert 0.9 * actual < np.mean(errors) < 1.3 * actual
