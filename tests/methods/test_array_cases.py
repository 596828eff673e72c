"""A scikit-learn method that is shown arrays: the estimator sees just these."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

from redelve.answers.predictions import Target
from redelve.errors import PredictionError, SpecError
from redelve.methods.adapters.array_cases import ArrayCases
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.shown import TestInputs
from redelve.model import Cases, Prior

RNG = np.random.default_rng(8)
NAMES = np.array(["left", "right"])
X = RNG.normal(size=(40, 3))
Y = NAMES[(X[:, 0] + RNG.normal(size=40) > 0).astype(int)]
SOME, OTHERS = np.array([0, 3, 3, 5, 8, 9, 12, 20, 21]), np.array([30, 2, 7])
KINDS = {"array": X, "frame": pd.DataFrame(X, columns=list("abc")), "sparse": csr_matrix(X)}


def cases(inputs: Any = X) -> ArrayCases:
    return ArrayCases(inputs, Y, Target("side", "categorical", ("left", "right")), NAMES)


class Witness(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps what it was shown and predicts as it is told."""

    def __init__(self, answer: str = "left") -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> "Witness":
        self.shown_ = X, y
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        self.asked_ = X
        return np.repeat(self.answer, X.shape[0])

    def predict_proba(self, X: Any) -> Any:
        self.was_asked_for_probabilities_ = True
        return np.tile([0.25, 0.75], (X.shape[0], 1))


def learnt(estimator: Any, inputs: Any = X, seed: int = 1) -> Any:
    return sklearn_method(estimator).learn(cases(inputs).training(SOME), np.random.default_rng(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimator_sees_the_rows_as_they_are(kind: str) -> None:
    predictor = learnt(Witness(), KINDS[kind])
    shown, labels = predictor.model.shown_
    assert type(shown) is type(KINDS[kind])
    assert labels.tolist() == Y[SOME].tolist()
    predictor.predict(cases(KINDS[kind]).testing(OTHERS))
    dense = [one.toarray() if issparse(one) else np.asarray(one) for one in (shown, predictor.model.asked_)]
    assert np.array_equal(dense[0], X[SOME])
    assert np.array_equal(dense[1], X[OTHERS])


def test_probabilities_are_asked_for_only_where_they_are_wanted() -> None:
    predictor = learnt(Witness("right"))
    plain = predictor.predict(cases().testing(OTHERS))
    assert plain.guesses.values[0].tolist() == [1.0, 1.0, 1.0]
    assert plain.probabilities is None
    assert not hasattr(predictor.model, "was_asked_for_probabilities_")
    told = predictor.predict(cases().testing(OTHERS, probabilities=True)).probabilities
    assert told.values[0].tolist() == pytest.approx([0.25, 0.75])


def test_randomness_comes_from_the_seed_of_the_generator() -> None:
    states = [learnt(RandomForestClassifier(2), seed=seed).model.random_state for seed in (1, 1, 2)]
    assert states[0] == states[1] != states[2]


def test_numbers_are_predicted_as_numbers() -> None:
    known = ArrayCases(X, X @ [1.0, 2.0, 3.0], Target("sum", "real"), None)
    predictor = sklearn_method(LinearRegression()).learn(known.training(SOME), np.random.default_rng(1))
    guesses = predictor.predict(known.testing(OTHERS)).guesses
    assert guesses is not None
    assert guesses.values[0] == pytest.approx(known.truth.values[OTHERS])
    assert known.relabelled(SOME) is None


def test_what_is_no_class_is_refused() -> None:
    with pytest.raises(PredictionError, match=r"Witness predicted .*'up'.*no class of the cases: left"):
        learnt(Witness("up")).predict(cases().testing(OTHERS))


def test_what_has_learnt_from_arrays_can_not_be_shown_columns() -> None:
    with pytest.raises(SpecError, match="LogisticRegression has learnt from arrays"):
        learnt(LogisticRegression()).predict(TestInputs((), Prior("std", ()), Cases((), 3)))


def test_truth_and_other_labels() -> None:
    codes = cases().truth.level_indexes
    assert NAMES[codes].tolist() == Y.tolist()
    other = cases().relabelled(1 - codes)
    assert other is not None
    assert (other.outputs != Y).all()
    assert (other.truth.level_indexes == 1 - codes).all()
