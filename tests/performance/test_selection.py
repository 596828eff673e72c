"""Choosing among models: the choice, its optimism and the corrections."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from redelve import predict_performance
from redelve.errors import SpecError
from redelve.performance import bench_for, from_arrays, parse_way
from redelve.performance.known_cases import ChoosingCases, cross_validated
from tests.performance.data import two_classes

X, Y = two_classes(60, shift=1.5)
MODELS = {f"nearest {k}": KNeighborsClassifier(k) for k in (1, 5, 9)} | {"logistic": LogisticRegression()}


def test_the_model_with_the_smallest_cross_validated_loss_is_chosen() -> None:
    found = predict_performance(MODELS, X, Y, ways=("uncorrected:5", "tibshirani:5", "bbc:5x200"))
    singly = {name: predict_performance(model, X, Y, ways="kfold:5").value for name, model in MODELS.items()}
    assert dict(found.models) == pytest.approx(singly)
    assert found.chosen == min(singly, key=singly.__getitem__)
    assert found.guess("uncorrected:5").value == min(singly.values())
    assert found.best.way == "bbc:5x200"
    assert f"{found.chosen} (best of 4)" in str(found)
    assert "chosen" in str(found)


def test_the_optimism_of_folds_by_hand() -> None:
    made = [from_arrays(model, X, Y, name) for name, model in MODELS.items()]
    bench = bench_for({method.name: method for method, _ in made}, made[0][1])
    table = np.array(
        [
            [
                bench.value(losses, split.testing)
                for split, losses in zip(done.splits, done.losses, strict=True)
            ]
            for done in (one.folds(5) for one in bench.candidates)
        ]
    )
    best = table.mean(axis=1).argmin()
    expected = table[best].mean() + (table[best] - table.min(axis=0)).mean()
    assert parse_way("tibshirani:5").guess(bench).value == pytest.approx(expected)


def test_corrections_are_never_more_hopeful() -> None:
    found = predict_performance(MODELS, X, Y)
    plain, folds, bootstrap = (guess.value for guess in found.guesses)
    assert plain is not None
    assert folds is not None
    assert bootstrap is not None
    assert plain <= folds
    assert plain < bootstrap


def test_other_ways_judge_the_choosing_as_a_whole() -> None:
    ways = ("uncorrected:5", "kfold:3")
    found = predict_performance([KNeighborsClassifier(1), KNeighborsClassifier(9)], X, Y, ways=ways)
    assert [name for name, _ in found.models] == ["KNeighborsClassifier", "KNeighborsClassifier 2"]
    assert found.guess("kfold:3").fits == 3 * (2 * 10 + 1)


def test_a_case_drawn_twice_is_never_on_both_sides_of_the_choice() -> None:
    """One neighbour would find the twin of a test case among its training cases and look perfect."""
    rng = np.random.default_rng(1)
    noise, labels = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    method, cases = from_arrays(KNeighborsClassifier(1), noise, labels)
    measure = bench_for({method.name: method}, cases).measure
    rows = np.repeat(np.arange(40), 3)
    assert cross_validated(method.name, method, cases, measure, ChoosingCases(rows, 1)) > 0.25


def test_several_models_must_be_of_one_kind() -> None:
    with pytest.raises(SpecError, match="give one kind"):
        predict_performance([LogisticRegression(), LinearRegression()], X, np.arange(60) % 2)


def test_a_name_is_no_model() -> None:
    with pytest.raises(SpecError, match="str is no estimator: it needs fit and predict"):
        predict_performance("forest", X, Y)


@pytest.mark.slow
def test_the_best_of_many_useless_models_is_not_believed() -> None:
    """Inputs tell nothing, so the truth is one half; the best of twenty trees looks better."""
    plain, bootstrap, folds = [], [], []
    for repetition in range(40):
        rng = np.random.default_rng([7, repetition])
        noise, labels = rng.normal(size=(60, 5)), np.repeat([0, 1], 30)
        models = [
            DecisionTreeClassifier(max_depth=d, max_features=f) for d in (1, 2, 3, 5) for f in (1, 2, 3, 4, 5)
        ]
        found = predict_performance(models, noise, labels, seed=repetition)
        plain.append(found.guess("uncorrected:10").value)
        folds.append(found.guess("tibshirani:10").value)
        bootstrap.append(found.guess("bbc:10x500").value)
    assert np.mean(np.asarray(plain, dtype=float)) < 0.43
    assert np.mean(np.asarray(bootstrap, dtype=float)) == pytest.approx(0.5, abs=0.03)
    assert np.mean(np.asarray(folds, dtype=float)) > np.mean(np.asarray(plain, dtype=float)) + 0.05
