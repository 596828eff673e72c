"""Metrics of the order of scores, fold by fold: against scikit-learn's, and where a fold says nothing."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn import metrics as sk

from redelve.answers.answer import Answer
from redelve.answers.losses import Metric, parse_loss
from redelve.answers.losses.scorer_metrics import metric_of
from redelve.answers.predictions import ClassProbabilities, Target, Truth
from redelve.stats.grouped import GroupedLosses, compare_groups
from redelve.stats.mean_squares import FloatArray
from redelve.stats.pseudo_values import Labels, LeftOut, area_without, precision_without
from redelve.stats.within_folds import in_random_order, values_of_folds

folds_of = np.repeat(np.arange(4), (20, 20, 25, 15))


def classes(levels: int) -> tuple[Truth, Answer, FloatArray]:
    """Cases of so many classes, with probabilities that tell a little of them."""
    rng = np.random.default_rng(levels)
    true = rng.permutation(np.arange(80) % levels)
    logs = rng.normal(size=(80, levels)) + 1.5 * np.eye(levels)[true]
    logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
    target = Target("kind", "categorical", tuple("abcd"[:levels]))
    answer = Answer(probabilities=ClassProbabilities(target, logs))
    return Truth.exact(target, true.astype(float)), answer, np.exp(logs)


def of_each(metric: Metric, made: tuple[Truth, Answer, FloatArray], folds: Labels) -> FloatArray:
    truth, answer, _ = made
    prediction = metric.part_of(answer)
    assert prediction is not None
    return 1 - metric.of_units([truth], prediction, None, folds)


@pytest.mark.parametrize(
    ("name", "function", "weigh"),
    [
        ("roc_auc", sk.roc_auc_score, lambda true: true.sum() * (~true).sum()),
        ("average_precision", sk.average_precision_score, lambda true: true.sum()),
    ],
)
def test_they_are_the_weighted_means_of_the_folds(
    name: str, function: Callable[..., float], weigh: Callable[[FloatArray], float]
) -> None:
    made = classes(2)
    metric = parse_loss(name)
    assert isinstance(metric, Metric)
    found = of_each(metric, made, folds_of)
    positive, scores = made[0].values == 1, made[2][:, 1]
    each = np.array([function(positive[folds_of == one], scores[folds_of == one]) for one in range(4)])
    weights = np.array([weigh(positive[folds_of == one]) for one in range(4)], dtype=float)
    mean = np.average(each, weights=weights)
    assert found.mean() == pytest.approx(mean, abs=1e-12)
    for fold in range(4):
        own = mean + weights[fold] / weights.sum() * 80 / (folds_of == fold).sum() * (each[fold] - mean)
        assert found[folds_of == fold].mean() == pytest.approx(own, abs=1e-12)


def test_areas_of_several_classes_are_means_of_areas_within_folds() -> None:
    made = classes(3)
    true, scores = made[0].level_indexes, made[2]

    def area(first: int, others: tuple[int, ...]) -> float:
        here = [np.isin(true, (first, *others)) & (folds_of == fold) for fold in range(4)]
        parts = [sk.roc_auc_score(true[one] == first, scores[one, first]) for one in here]
        pairs = [np.sum(true[one] == first) * np.sum(true[one] != first) for one in here]
        return float(np.average(parts, weights=pairs))

    rest = np.mean([area(one, tuple({0, 1, 2} - {one})) for one in range(3)])
    ovr, ovo = (parse_loss(f"roc_auc_{how}") for how in ("ovr", "ovo"))
    assert isinstance(ovr, Metric)
    assert isinstance(ovo, Metric)
    assert of_each(ovr, made, folds_of).mean() == pytest.approx(rest, abs=1e-12)
    both = np.mean([(area(i, (j,)) + area(j, (i,))) / 2 for i, j in ((0, 1), (0, 2), (1, 2))])
    assert of_each(ovo, made, folds_of).mean() == pytest.approx(both, abs=1e-12)


def test_what_lies_between_folds_counts_nothing() -> None:
    """Scores of one fold may all be higher than those of another, as those of another model are."""
    metric = parse_loss("roc_auc")
    assert isinstance(metric, Metric)
    truth, answer, _ = classes(2)
    assert answer.probabilities is not None
    shifted = answer.probabilities.logs + np.array([0.0, 3.0]) * folds_of[:, None]
    shifted -= np.logaddexp.reduce(shifted, axis=1, keepdims=True)
    other = Answer(probabilities=ClassProbabilities(truth.target, shifted))
    first, second = (of_each(metric, (truth, one, _), folds_of) for one in (answer, other))
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_a_scorer_of_the_order_of_probabilities_is_a_mean_over_folds() -> None:
    made = classes(2)
    scorer = metric_of(sk.make_scorer(sk.roc_auc_score, response_method="predict_proba", max_fpr=0.5))
    assert isinstance(scorer, Metric)
    positive, scores = made[0].values == 1, made[2][:, 1]
    each = [sk.roc_auc_score(positive[folds_of == i], scores[folds_of == i], max_fpr=0.5) for i in range(4)]
    wanted = np.average(each, weights=np.bincount(folds_of))
    assert of_each(scorer, made, folds_of).mean() - 1 == pytest.approx(wanted, abs=1e-12)


def mean(rows: Labels, units: Labels | None) -> tuple[float, FloatArray]:
    """The mean of the rows' numbers, not defined of row 0 alone or without it."""
    every = np.arange(rows.size) if units is None else units
    kept = [rows[every != one] for one in np.unique(every)]
    return float(rows.mean()), np.array([np.nan if 0 in rows else one.mean() for one in kept])


def test_what_sets_a_fold_apart_is_the_case_that_it_is_not_defined_without() -> None:
    found = values_of_folds(mean, lambda rows: float(rows.size), np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(found, [-0.5, 1.5, 2.0, 3.0])
    in_pairs = values_of_folds(
        mean, lambda rows: float(rows.size), np.repeat([0, 1], (2, 4)), np.array([0, 1, 2, 2, 3, 3])
    )
    np.testing.assert_allclose(in_pairs, [-1.5, 2.5, 2.5, 2.5, 4.5, 4.5])


def test_folds_with_one_positive_group_each_are_not_more_than_there_are() -> None:
    """Ten positive groups of 110, one in each fold: two equally good scores differ in 5 % of samples."""
    rng, true = np.random.default_rng(1), np.arange(110) < 10
    folds = np.concatenate([np.arange(10), np.arange(100) % 10])

    def area(scores: FloatArray) -> FloatArray:
        def left_out(rows: Labels, _: Labels | None) -> LeftOut:
            return area_without(true[rows], scores[rows])

        return values_of_folds(left_out, lambda rows: float(true[rows].sum() * (~true[rows]).sum()), folds)

    claimed = 0
    for _ in range(400):
        both = [GroupedLosses(area(true + rng.normal(size=110))) for _ in range(2)]
        claimed += (compare_groups(*both).p_value or 1.0) < 0.05
    assert claimed <= 0.05 * 400 + 3 * np.sqrt(400 * 0.05 * 0.95)


def test_tied_cases_are_in_random_order_on_average() -> None:
    """E AP = (P − 1)/(n − 1)·(1 − H/n) + H/n with H the nth harmonic number (Bestgen 2015)."""
    positive = np.arange(20) < 4
    harmonic = (1 / np.arange(1, 21)).sum() / 20
    expected = 3 / 19 * (1 - harmonic) + harmonic
    found = [in_random_order(precision_without, positive, np.zeros(20), name) for name in range(200)]
    assert np.mean([value for value, _ in found]) == pytest.approx(expected, abs=0.006)
    scores = np.random.default_rng(0).permutation(np.arange(20.0))
    value, without = in_random_order(precision_without, positive, scores)
    assert value == precision_without(positive, scores)[0]
    np.testing.assert_array_equal(without, precision_without(positive, scores)[1])


def test_a_fold_without_weight_has_the_mean_and_without_any_there_is_none() -> None:
    folds = np.array([0, 0, 1, 1, 2, 2])
    found = values_of_folds(mean, lambda rows: float(rows[0] > 3), folds)
    np.testing.assert_allclose(found, [4.5, 4.5, 4.5, 4.5, 3.0, 6.0])
    assert np.isnan(values_of_folds(mean, lambda _: 0.0, folds)).all()
