"""cv, holdout, bootstrap and grid: their guesses."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from redelve.methods import clop
from redelve.methods.clop.selection import guess_of
from tests.methods.clop.cases import sparse_counts, three_classes, two_classes

MODEL = clop.kridge(shrinkage=1.0)


def balanced(y: Any, predicted: Any) -> float:
    return float(np.mean([np.mean(predicted[y == label] != label) for label in np.unique(y)]))


def noisy(count: int = 150, seed: int = 0) -> tuple[Any, Any]:
    X, y = two_classes(count, seed=seed)
    random = np.random.default_rng(seed)
    return X, np.where(random.uniform(size=count) < 0.2, -y, y)


def test_a_guess_and_its_standard_error_follow_equation_1() -> None:
    """E₊ = 1/4 of 4, E₋ = 2/5 of 5: BER = 0.325, σ = ½ √(0.25·0.75/4 + 0.4·0.6/5) = 0.153983."""
    wrong = np.array([1, 0, 0, 0, 1, 1, 0, 0, 0, np.nan])
    guess = guess_of(wrong, np.array([1] * 4 + [0] * 6))
    assert guess.error == pytest.approx(0.325)
    assert guess.standard_error == pytest.approx(0.5 * np.sqrt(0.25 * 0.75 / 4 + 0.4 * 0.6 / 5))


def test_cv_guesses_the_error_of_held_out_predictions() -> None:
    X, y = noisy()
    trained = clop.cv(MODEL, folds=5, random_state=0).fit(X, y)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    assert trained.guess_ == pytest.approx(balanced(y, cross_val_predict(MODEL, X, y, cv=folds)))
    assert len(trained.split_errors_) == 5
    np.testing.assert_array_equal(trained.predict(X), clone(MODEL).fit(X, y).predict(X))
    assert 0.1 < trained.guess_ < 0.4
    assert 0.01 < trained.standard_error_ < 0.05
    assert len(clop.cv(MODEL, folds=5, repeats=3).fit(X, y).split_errors_) == 15


def test_folds_are_no_more_than_the_smallest_class_has_patterns() -> None:
    X, y = noisy(40)
    y[:], y[:4] = -1, 1
    assert len(clop.cv(MODEL, folds=10).fit(X, y).split_errors_) == 4
    y[1:4] = -1
    for model in (
        clop.cv(MODEL),
        clop.holdout(MODEL),
        clop.bootstrap(MODEL),
        clop.grid(MODEL, {"gamma": [0.0]}),
    ):
        trained = model.fit(X, y)
        assert np.isnan(trained.guess_)
        assert np.isnan(trained.standard_error_)
        assert trained.predict(X).shape == (40,)


def test_holdout_holds_a_share_of_each_class_out() -> None:
    X, y = noisy()
    calls: list[int] = []

    class Counting(clop.kridge):
        def fit(self, X: Any, y: Any) -> Any:
            calls.append(X.shape[0])
            return super().fit(X, y)

    trained = clop.holdout(Counting(shrinkage=1.0), 0.2, repeats=2, random_state=0).fit(X, y)
    assert calls == [120, 120, 150]
    assert len(trained.split_errors_) == 2
    assert 0.05 < trained.guess_ < 0.45


def test_the_bootstrap_guesses_from_patterns_not_drawn() -> None:
    """A machine that knows training patterns by heart makes no error on them; on others, a half."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 3)), np.where(random.uniform(size=80) < 0.5, 1, -1)
    parrot = clop.kridge(degree=0, gamma=100.0, shrinkage=1e-6)
    trained = clop.bootstrap(parrot, rounds=30, random_state=0).fit(X, y)
    assert balanced(y, trained.predict(X)) == 0
    assert 0.35 < trained.guess_ < 0.65
    assert len(trained.split_errors_) == 30


def test_grid_chooses_what_cv_would() -> None:
    X, y = noisy()
    model = clop.chain([clop.standardize, clop.s2n, clop.kridge])
    values: dict[str, list[float]] = {"s2n__f_max": [1, 2, 6], "kridge__shrinkage": [0.1, 10.0]}
    trained = clop.grid(model, values, folds=4, random_state=0).fit(X, y)
    assert len(trained.choices_) == 6
    for choice in trained.choices_:
        tuned = clone(model).set_params(**choice.hyperparameters)
        assert clop.cv(tuned, folds=4, random_state=0).fit(X, y).guess_ == choice.guess.error
    assert trained.guess_ == min(choice.guess.error for choice in trained.choices_)
    again = clone(model).set_params(**trained.best_.hyperparameters).fit(X, y)
    np.testing.assert_array_equal(trained.predict(X), again.predict(X))
    assert clop.default(clop.grid).rows[1].default == "(required)"


@pytest.mark.slow
def test_the_guess_of_a_choice_among_many_is_too_low_and_cv_of_it_is_not() -> None:
    """Labels of chance, features of no use: the error is a half, whatever is chosen."""
    best, honest = [], []
    for seed in range(12):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(40, 12)), np.where(np.arange(40) % 2, 1, -1)
        choosing = clop.grid(
            clop.kridge(),
            {"gamma": [0.0, 0.1, 1.0], "degree": [0, 1, 2], "shrinkage": [0.1, 1.0]},
            folds=4,
            random_state=seed,
        )
        best.append(choosing.fit(X, y).guess_)
        honest.append(clop.cv(choosing, folds=4, random_state=seed).fit(X, y).guess_)
    assert np.mean(best) < 0.45
    assert abs(np.mean(honest) - 0.5) < 3 * np.std(honest) / np.sqrt(12)


@pytest.mark.parametrize("kind", [clop.cv, clop.holdout, clop.bootstrap], ids=lambda kind: kind.called)
def test_all_take_sparse_tables_and_several_classes(kind: Any) -> None:
    X, y = sparse_counts()
    assert kind(MODEL).fit(X, y).guess_ < 0.5
    X, labels = three_classes()
    assert kind(clop.naive, random_state=0).fit(X, labels).guess_ < 0.2
    assert kind(clop.naive).fit(X, labels).predict_proba(X).shape == (90, 3)


def test_model_selection_objects_are_models() -> None:
    X, y = noisy(80)
    nested = clop.ensemble(
        [clop.cv(clop.naive, folds=3), clop.chain([clop.standardize, clop.holdout(clop.svc(shrinkage=1.0))])]
    )
    assert nested.fit(X, y).predict(X).shape == (80,)
    assert not hasattr(clop.cv(clop.kridge), "predict_proba")
