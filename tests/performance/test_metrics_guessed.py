"""Metrics by scikit-learn's names as what is guessed of a model on new cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from redelve import predict_performance
from redelve.errors import SpecError, StatisticsError
from redelve.model.dataset import Numbers
from redelve.performance.guesses import Prediction
from redelve.performance.ways import WAYS


def classes(cases: int = 200) -> tuple[Numbers, Numbers]:
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(cases, 3))
    return inputs, np.where(inputs[:, 0] + rng.normal(size=cases) > 0.7, "yes", "no")


class Shown(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns nothing: its scores are what it is shown."""

    def fit(self, inputs: Numbers, target: Numbers) -> Shown:
        self.classes_ = np.unique(target)
        return self

    def predict_proba(self, inputs: Numbers) -> Numbers:
        share = 1 / (1 + np.exp(-inputs[:, 0]))
        return np.stack([1 - share, share], axis=1)

    def predict(self, inputs: Numbers) -> Numbers:
        return np.asarray(self.classes_[(inputs[:, 0] > 0).astype(int)])


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


def test_scores_are_compared_within_folds() -> None:
    """A function counts a fold as many times as it has cases, AUC as many times as it has pairs."""
    inputs, target = classes()
    given = {"ways": "kfold:5", "seed": 3}
    auc = predict_performance(LogisticRegression(), inputs, target, loss="roc_auc", **given)  # type: ignore[arg-type]
    called = sk.make_scorer(sk.roc_auc_score, response_method="predict_proba", max_fpr=1.0)
    again = predict_performance(LogisticRegression(), inputs, target, loss=called, **given)  # type: ignore[arg-type]
    assert auc.measure == "AUC"
    assert auc.value == pytest.approx(again.value, abs=0.002)
    assert 0.7 < auc.value < 0.95


def test_average_precision_of_folds_is_not_raised_by_their_few_cases() -> None:
    """Scores that tell nothing have the share of positive cases, 0.2, whatever the folds."""
    rng = np.random.default_rng(3)
    target = np.where(np.arange(60) < 12, "yes", "no")
    found = [
        predict_performance(
            Shown(), rng.normal(size=(60, 1)), target, loss="average_precision", ways="kfold:10"
        )
        for _ in range(25)
    ]
    assert np.mean([one.value for one in found]) < 0.26
    assert (
        np.mean([one.interval is not None and one.interval[0] < 0.2 < one.interval[1] for one in found]) > 0.9
    )


def test_average_precision_refuses_scores_of_folds_on_different_scales() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(200, 3))
    score = inputs[:, 0] + 0.8 * rng.normal(size=200)
    target = np.where(score > np.sort(score)[-46], "yes", "no")
    with pytest.raises(
        StatisticsError, match=r"on different scales: their area .* 0\.\d\d of all together and"
    ):
        predict_performance(
            LogisticRegression(C=1e-5), inputs, target, loss="average_precision", ways="kfold:10"
        )


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_single_cases_are_not_put_in_order(name: str) -> None:
    with pytest.raises(
        SpecError, match=r"loo leaves no two cases to one model, and .* orders them: choose hold"
    ):
        predict_performance(LogisticRegression(), *classes(40), loss=name, ways="loo")


def own_rmse_error(true: Numbers, guessed: Numbers) -> float:
    return float(np.sqrt(np.mean((true - guessed) ** 2)))


@pytest.mark.parametrize("ways", ["loo", "kfold:30", "kfold:10"])
def test_functions_of_numbers_are_of_all_folds_together(ways: str) -> None:
    """Of folds of one or two cases each by itself, their mean would be another figure."""
    inputs, target = numbers(60)
    own, known = (
        predict_performance(LinearRegression(), inputs, target, loss=loss, ways=ways).value
        for loss in (own_rmse_error, "rmse")
    )
    assert own == pytest.approx(known, rel=1e-9)


def test_functions_of_the_order_of_numbers_are_means_over_folds() -> None:
    """Guesses of a constant go down where the truth of its fold goes up: all together are correlated."""

    def correlation_score(true: Numbers, guessed: Numbers) -> float:
        return float(np.corrcoef(true, guessed)[0, 1])

    inputs, target = numbers(60)
    inputs[:, 1:] *= 1e-9
    model = Ridge(alpha=1e9)
    found = predict_performance(model, inputs, target, loss=correlation_score, ways="kfold:10")
    assert found.value > 0.4


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


SHORT = {"repeated": "repeated:5x2", "nested": "nested:3x1", "combined": "combined:5x2x10"} | {
    name: f"{name}:10" for name in ("bootstrap", "632", "632+")
}
OF_SEVERAL = ("uncorrected", "tibshirani", "bbc")
TURNED = [("accuracy", "error"), ("accuracy", "Z"), ("balanced_accuracy", "ber")]


def same_but_turned(metric: Prediction, loss: Prediction) -> None:
    """Whether every guess and end of the metric is one less that of the loss, and all else is the same."""
    for one, other in zip(metric.guesses, loss.guesses, strict=True):
        assert one.value == (None if other.value is None else pytest.approx(1 - other.value, abs=1e-12))
        ends = other.interval
        assert one.interval == (
            None if ends is None else pytest.approx((1 - ends[1], 1 - ends[0]), abs=1e-12)
        )
        assert (one.standard_error, one.source) == (other.standard_error, other.source)
    assert metric.value == pytest.approx(1 - loss.value, abs=1e-12)
    assert dict(metric.models) == pytest.approx({name: 1 - value for name, value in loss.models})


@pytest.mark.parametrize("is_grouped", [False, True], ids=["cases", "groups"])
@pytest.mark.parametrize("names", TURNED, ids="-".join)
def test_every_way_turns_a_loss_into_a_metric_once(names: tuple[str, str], is_grouped: bool) -> None:
    ways = [SHORT.get(name, name) for name in WAYS if name not in OF_SEVERAL]
    inputs, target = classes(60)
    groups = np.arange(60) // 3 if is_grouped else None
    given: dict[str, Any] = {"groups": groups, "ways": ways}
    same_but_turned(
        *(predict_performance(GaussianNB(), inputs, target, loss=name, **given) for name in names)
    )


@pytest.mark.parametrize("is_grouped", [False, True], ids=["cases", "groups"])
@pytest.mark.parametrize("names", TURNED, ids="-".join)
def test_every_way_of_several_models_does_so(names: tuple[str, str], is_grouped: bool) -> None:
    inputs, target = classes(60)
    groups = np.arange(60) // 3 if is_grouped else None
    given: dict[str, Any] = {
        "groups": groups,
        "ways": [f"{name}:4" for name in OF_SEVERAL[:2]] + ["bbc:4x50", "kfold:4"],
    }
    models = {"lr": LogisticRegression(), "nb": GaussianNB()}
    same_but_turned(*(predict_performance(models, inputs, target, loss=name, **given) for name in names))


@pytest.mark.parametrize("loss", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("is_several", [False, True], ids=["one", "several"])
def test_the_guess_that_is_told_of_an_accuracy_is_near_those_of_folds(loss: str, is_several: bool) -> None:
    models = [LogisticRegression(), GaussianNB()] if is_several else GaussianNB()
    found = predict_performance(models, *classes(150), loss=loss)
    every = [guess.value for guess in found.guesses]
    assert np.ptp(np.array(every, float)) < 0.12
    assert found.value > 0.5


def test_a_bound_beyond_chance_is_told_as_a_metric_too() -> None:
    found = predict_performance(LogisticRegression(), *classes(60), loss="balanced_accuracy", ways="vc")
    assert found.value == 0.5
    assert "is vacuous: a constant answer has 0.500" in str(found)
    accuracy = predict_performance(LogisticRegression(), *classes(60), loss="accuracy", ways="vc")
    assert f"a constant answer has {accuracy.value:.3f}" in str(accuracy)
    assert accuracy.value > 0.5
