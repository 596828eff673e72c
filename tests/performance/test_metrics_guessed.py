"""Metrics by scikit-learn's names as what is guessed of a model on new cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from redelve import predict_performance
from redelve.errors import SpecError
from redelve.model.dataset import Numbers


def classes(cases: int = 200) -> tuple[Numbers, Numbers]:
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(cases, 3))
    return inputs, np.where(inputs[:, 0] + rng.normal(size=cases) > 0.7, "yes", "no")


def numbers(cases: int = 120) -> tuple[Numbers, Numbers]:
    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(cases, 3))
    return inputs, inputs[:, 0] + rng.normal(size=cases)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "f1", "matthews_corrcoef", "accuracy"])
def test_folds_give_a_value_between_its_bounds(name: str) -> None:
    found = predict_performance(LogisticRegression(), *classes(), loss=name, ways=("kfold:5", "holdout"))
    for guess in found.guesses:
        assert guess.value is not None
        assert guess.interval is not None
        assert guess.interval[0] < guess.value < guess.interval[1] <= 1


def test_the_folds_answers_are_put_together() -> None:
    inputs, target = classes()
    given = {"ways": "kfold:5", "seed": 3}
    auc = predict_performance(LogisticRegression(), inputs, target, loss="roc_auc", **given)  # type: ignore[arg-type]
    called = sk.make_scorer(sk.roc_auc_score, response_method="predict_proba", max_fpr=1.0)
    again = predict_performance(LogisticRegression(), inputs, target, loss=called, **given)  # type: ignore[arg-type]
    assert auc.measure == "AUC"
    assert auc.value == pytest.approx(again.value, abs=1e-12)
    assert 0.7 < auc.value < 0.95


def test_balanced_accuracy_is_one_less_the_balanced_error_rate() -> None:
    one, other = (
        predict_performance(GaussianNB(), *classes(), loss=name, ways=("kfold:5", "632+:20"))
        for name in ("balanced_accuracy", "ber")
    )
    for first, second in zip(one.guesses, other.guesses, strict=True):
        assert first.value == pytest.approx(1 - (second.value or 0))
        assert first.interval == pytest.approx([1 - end for end in reversed(second.interval or ())])


def test_numbers_are_guessed_in_their_own_units() -> None:
    inputs, target = numbers()
    rmse, squared = (
        predict_performance(LinearRegression(), inputs, target, loss=name, ways="kfold:5").value
        for name in ("rmse", "S")
    )
    assert rmse == pytest.approx(squared**0.5)
    assert predict_performance(LinearRegression(), inputs, target, loss="r2", ways="kfold:5").value > 0.2


def test_several_models_are_chosen_by_a_metric() -> None:
    models = {"lr": LogisticRegression(), "nb": GaussianNB()}
    found = predict_performance(models, *classes(), loss="roc_auc", ways="kfold:3")
    values = dict(found.models)
    assert found.chosen == max(values, key=values.__getitem__)
    assert found.value > 0.7


def test_ways_that_need_means_of_cases_are_refused() -> None:
    with pytest.raises(SpecError, match="takes means of cases, and AUC is none: choose holdout, kfold"):
        predict_performance(LogisticRegression(), *classes(), loss="roc_auc", ways="632+")


def test_groups_stay_together() -> None:
    inputs, target = classes()
    groups = np.arange(200) // 5
    found = predict_performance(
        LogisticRegression(), inputs, target, loss="f1", groups=groups, ways="kfold:5"
    )
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_few_cases_of_a_class_have_a_value_and_no_interval() -> None:
    inputs, target = classes(120)
    target[:] = "no"
    target[:8] = "yes"
    found = predict_performance(LogisticRegression(), inputs, target, loss="roc_auc", ways="kfold:4")
    assert found.interval is None
    assert "10 cases of each class" in str(found)
