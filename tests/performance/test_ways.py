"""Each way against an independent computation."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import LeaveOneOut, PredefinedSplit, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from redelve import predict_performance
from redelve.performance import Bench, BenchSettings, bench_for, from_arrays, parse_way
from redelve.stats.balanced_errors import balanced_errors
from redelve.stats.capacity import vc_bound
from tests.performance.data import numbers, two_classes


def bench(estimator: Any, X: Any, y: Any, **options: Any) -> Bench:
    method, cases = from_arrays(estimator, X, y)
    loss = options.pop("loss", None)
    return bench_for({method.name: method}, cases, loss, BenchSettings(**options))


def folds_of(made: Bench, k: int) -> PredefinedSplit:
    return PredefinedSplit(made.splitter.fold_numbers(k))


@pytest.mark.parametrize("k", [2, 5, 10])
def test_kfold_is_what_scikit_learn_computes(k: int) -> None:
    X, y = two_classes(60)
    made = bench(KNeighborsClassifier(3), X, y, loss="error")
    scores = cross_val_score(KNeighborsClassifier(3), X, y, cv=folds_of(made, k))
    assert parse_way(f"kfold:{k}").guess(made).value == pytest.approx(1 - scores.mean())


def test_kfold_of_the_ber_takes_all_cases_together() -> None:
    X, y = two_classes(70)
    made = bench(KNeighborsClassifier(3), X, y)
    predicted = cross_val_predict(KNeighborsClassifier(3), X, y, cv=folds_of(made, 5))
    expected = 1 - balanced_accuracy_score(y, predicted)
    assert parse_way("kfold:5").guess(made).value == pytest.approx(expected)


def test_kfold_of_squared_errors_and_of_probabilities() -> None:
    X, y = numbers()
    made = bench(LinearRegression(), X, y, loss="S")
    scores = cross_val_score(LinearRegression(), X, y, cv=folds_of(made, 6), scoring="neg_mean_squared_error")
    assert parse_way("kfold:6").guess(made).value == pytest.approx(-scores.mean())
    X, y = two_classes()
    made = bench(LogisticRegression(), X, y, loss="L")
    told = cross_val_predict(LogisticRegression(), X, y, cv=folds_of(made, 6), method="predict_proba")
    assert parse_way("kfold:6").guess(made).value == pytest.approx(log_loss(y, told))


def test_the_interval_of_kfold_is_that_of_nadeau_and_bengio() -> None:
    X, y = two_classes(60)
    made = bench(KNeighborsClassifier(3), X, y, loss="error", level=0.9)
    scores = 1 - cross_val_score(KNeighborsClassifier(3), X, y, cv=folds_of(made, 6))
    wrong = cross_val_predict(KNeighborsClassifier(3), X, y, cv=folds_of(made, 6)) != y
    shares = [np.mean(y == one) * (wrong[y == one].mean() - wrong.mean()) ** 2 for one in np.unique(y)]
    error = np.sqrt((1 / 6 + 1 / 5) * (scores.var(ddof=1) + sum(shares) / 10))
    width = scipy_stats.t.ppf(0.95, 5) * error
    guess = parse_way("kfold:6").guess(made)
    assert guess.standard_error == pytest.approx(error)
    assert guess.interval == pytest.approx((max(scores.mean() - width, 0), scores.mean() + width))


def test_leaving_one_out() -> None:
    X, y = two_classes(30)
    predicted = cross_val_predict(LogisticRegression(), X, y, cv=LeaveOneOut())
    expected = balanced_errors(y, predicted)
    guess = parse_way("loo").guess(bench(LogisticRegression(), X, y))
    assert guess.value == pytest.approx(expected.ber)
    assert guess.interval == pytest.approx(expected.interval())
    assert guess.fits == 30


def test_hold_out() -> None:
    X, y = two_classes(60)
    made = bench(LogisticRegression(), X, y)
    split = made.splitter.hold_out(0.3)
    assert len(split.testing) == 18
    assert sorted([*split.training, *split.testing]) == list(range(60))
    assert [(y[split.testing] == name).sum() for name in ("no", "yes")] == [9, 9]
    model = LogisticRegression().fit(X[split.training], y[split.training])
    expected = balanced_errors(y[split.testing], model.predict(X[split.testing]))
    guess = parse_way("holdout:0.3").guess(made)
    assert guess.value == pytest.approx(expected.ber)
    assert guess.interval == pytest.approx(expected.interval())


def test_repeating_averages_over_passes() -> None:
    X, y = two_classes(60)
    made = bench(KNeighborsClassifier(3), X, y)
    passes = [made.value(made.folds(5, repetition).by_case(60)) for repetition in range(3)]
    assert len(set(passes)) > 1
    guess = parse_way("repeated:5x3").guess(made)
    assert guess.value == pytest.approx(np.mean(passes))
    assert guess.fits == 15


def test_the_bootstrap_and_its_mixtures() -> None:
    X, y = two_classes(40)
    made = bench(KNeighborsClassifier(1), X, y, loss="error")
    counts, _ = made.splitter.bootstrap(30)
    wrong, times = np.zeros(40), np.zeros(40)
    for row in counts:
        model = KNeighborsClassifier(1).fit(np.repeat(X, row, axis=0), np.repeat(y, row))
        wrong[row == 0] += model.predict(X[row == 0]) != y[row == 0]
        times[row == 0] += 1
    assert times.min() > 0
    outside = float((wrong / times).mean())
    assert parse_way("bootstrap:30").guess(made).value == pytest.approx(outside)
    assert parse_way("632:30").guess(made).value == pytest.approx(0.632 * outside)  # no training error
    nothing = 0.5  # as many of each class, in truth and in what one neighbour says of its own training cases
    overfitting = outside / nothing
    weight = 0.632 / (1 - 0.368 * overfitting)
    assert parse_way("632+:30").guess(made).value == pytest.approx(weight * outside)


def test_no_information_averages_over_all_pairs_of_cases() -> None:
    X, y = two_classes(31, shift=0.5)
    for loss, expected in (("ber", None), ("error", True)):
        made = bench(LogisticRegression(), X, y, loss=loss)
        trained = made.trained
        predicted = LogisticRegression().fit(X, y).predict(X)
        pairs = np.mean([[one != other for other in predicted] for one in y])
        found = made.measure.no_information(made.truth, trained.answer, made.classes)
        assert found == pytest.approx(pairs if expected else 0.5)


def test_nested_cross_validation_trains_without_every_pair_of_folds() -> None:
    X, y = two_classes(45)
    made = bench(LogisticRegression(), X, y, loss="error")
    fold = made.splitter.fold_numbers(3)
    outer, inner = [], []
    for left, right in combinations(range(3), 2):
        apart = np.isin(fold, (left, right))
        model = LogisticRegression().fit(X[~apart], y[~apart])
        inner.append((model.predict(X[apart]) != y[apart]).mean())
    for left in range(3):
        model = LogisticRegression().fit(X[fold != left], y[fold != left])
        outer.append((model.predict(X[fold == left]) != y[fold == left]).mean())
    bias = (1 + 1 / 3) * (np.mean(inner) - np.mean(outer))
    guess = parse_way("nested:3x1").guess(made)
    assert guess.value == pytest.approx(np.mean(inner) - bias)
    assert guess.fits == 6


def test_capacity_bounds_apply_where_a_capacity_is_known() -> None:
    X, y = two_classes(400, shift=4.0)
    made = bench(LogisticRegression(), X, y)
    wrong = balanced_errors(y, LogisticRegression().fit(X, y).predict(X))
    bound = parse_way("vc").guess(made)
    expected = vc_bound(wrong.errors, wrong.counts, 4)
    assert expected < 0.5
    assert bound.value == pytest.approx(expected)
    assert bound.interval == (0.0, bound.value)
    unknown = parse_way("vc").guess(bench(KNeighborsClassifier(), X, y))
    assert unknown.value is None
    assert "no capacity is known of KNeighborsClassifier" in unknown.notes[0]


def test_a_vacuous_bound_says_so() -> None:
    X, y = two_classes(40)
    bound = parse_way("vc").guess(bench(LogisticRegression(), X, y))
    assert bound.value == 0.5
    assert "vacuous" in bound.notes[0]
    assert bound.high is not None
    assert bound.high > 0.5


def test_random_labels_measure_capacity() -> None:
    X, y = two_classes(400, shift=4.0)
    memory = parse_way("rademacher:3").guess(bench(KNeighborsClassifier(1), X, y))
    assert memory.high == 1.0  # one neighbour fits any labels
    linear = parse_way("rademacher:3").guess(bench(LogisticRegression(), X, y))
    assert linear.value is not None
    assert linear.value < 0.5
    assert linear.fits == 4


def test_support_vectors_compress() -> None:
    X, y = two_classes(600, shift=6.0)
    guess = parse_way("compression").guess(bench(SVC(kernel="linear"), X, y))
    assert guess.value is not None
    assert guess.value < 0.5
    assert parse_way("compression").guess(bench(LogisticRegression(), X, y)).value is None


def test_bounds_are_for_errors_of_two_classes() -> None:
    X, y = numbers()
    for way in ("vc", "rademacher", "compression"):
        guess = parse_way(way).guess(bench(LinearRegression(), X, y, loss="S"))
        assert guess.value is None
        assert "classifiers" in guess.notes[0]


def test_the_apparent_error_is_that_of_the_training_cases() -> None:
    X, y = two_classes(50)
    expected = balanced_errors(y, LogisticRegression().fit(X, y).predict(X)).ber
    found = predict_performance(LogisticRegression(), X, y, ways="apparent")
    assert found.value == pytest.approx(expected)


@pytest.mark.parametrize(
    "way", ["kfold:5", "repeated:5x2", "bootstrap:20", "632+:20", "nested:5x1", "combined:5x2x20"]
)
def test_losses_that_do_not_differ_leave_the_interval_to_the_cases(way: str) -> None:
    X, y = two_classes(60, shift=30.0)
    guess = parse_way(way).guess(bench(LogisticRegression(), X, y))
    assert guess.value == 0.0
    assert guess.interval == pytest.approx(balanced_errors(y, y).interval())
    assert guess.source.startswith("Wilson")


def test_the_combination_is_the_mean_of_its_parts() -> None:
    X, y = two_classes(60)
    made = bench(KNeighborsClassifier(3), X, y)
    parts = [parse_way(name).guess(made) for name in ("repeated:5x2", "632+:20")]
    guess = parse_way("combined:5x2x20").guess(made)
    assert guess.value == pytest.approx(np.mean([part.value or 0.0 for part in parts]))
    assert guess.standard_error == pytest.approx(max(part.standard_error or 0.0 for part in parts))
    assert guess.fits == sum(part.fits for part in parts)
