"""Batched networks as estimators of scikit-learn."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import redelve
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.batched import (
    BatchedMLPClassifier,
    BatchedMLPRegressor,
    BatchedSearchCV,
    BayesianMLPRegressor,
    members,
    trained_together,
)
from redelve.methods.conformance.checks import numbers_of
from redelve.methods.conformance.small_tasks import make_trial
from redelve.methods.contract import BatchMethod
from redelve.model.dataset import Numbers
from redelve.nets import train

WHOLE: dict[str, Any] = {"early_stopping": False, "dtype": "float64", "max_iter": 60}
SPLITS = (
    "which cases are for validation is drawn by their positions, which repeating and removing cases changes"
)


def not_by_position(estimator: Any) -> dict[str, str]:
    if not getattr(estimator, "early_stopping", False):
        return {}
    return {"check_sample_weight_equivalence_on_dense_data": SPLITS}


@parametrize_with_checks(
    [
        BatchedMLPRegressor(max_iter=100),
        BatchedMLPClassifier(max_iter=100),
        BatchedMLPRegressor(**WHOLE),
        BatchedMLPClassifier(**WHOLE),
        BayesianMLPRegressor(5, n_chains=2, passes=400, n_kept=10),
    ],
    expected_failed_checks=not_by_position,
)
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def regression(count: int = 120) -> tuple[Numbers, Numbers]:
    random = np.random.default_rng(3)
    x = random.normal(size=(count, 4)) * [1.0, 10.0, 0.1, 5.0] + [0.0, 100.0, 0.0, -3.0]
    signal = np.sin(2 * x[:, 0]) + (x[:, 1] - 100) * x[:, 2]
    return x, 50 + 20 * signal + random.normal(size=count)


def same(first: Any, second: Any) -> None:
    np.testing.assert_array_equal(first.weights_, second.weights_)


@pytest.mark.parametrize("solver", ["rprop", "adam", "sgd", "scg"])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_every_solver_learns(solver: str, activation: str) -> None:
    x, y = regression(400)
    networks = BatchedMLPRegressor(
        solver=solver, activation=activation, learning_rate_init=0.02, n_networks=3, random_state=1
    )
    assert networks.fit(x[:300], y[:300]).score(x[300:], y[300:]) > 0.75
    alone = BatchedMLPRegressor(n_networks=1).set_params(**networks.get_params() | {"n_networks": 1})
    assert alone.fit(x[:300], y[:300]).score(x[300:], y[300:]) < networks.score(x[300:], y[300:])


def test_a_network_of_an_ensemble_stops_by_cases_of_its_own() -> None:
    x, y = regression()
    networks = BatchedMLPRegressor(n_networks=4, random_state=0).fit(x, y)
    assert networks.weights_.shape[0] == 4
    assert len(set(networks.validation_errors_)) == 4
    whole = BatchedMLPRegressor(early_stopping=False, max_iter=40, random_state=0).fit(x, y)
    assert np.isnan(whole.validation_errors_).all()
    assert whole.n_iter_ == 40


def test_many_targets_are_predicted_together() -> None:
    x, y = regression()
    both = BatchedMLPRegressor(random_state=0, n_networks=2).fit(x, np.column_stack([y, -3 * y]))
    assert both.predict(x).shape == (120, 2)
    assert np.asarray(np.corrcoef(both.predict(x).T))[0, 1] < -0.95


def test_weights_of_cases_count() -> None:
    x, y = regression()
    heavy = np.where(y > np.median(y), 1.0, 0.0)
    settings: dict[str, Any] = {"random_state": 0, "max_iter": 30}
    same(
        BatchedMLPRegressor(**settings).fit(x, y, sample_weight=heavy),
        BatchedMLPRegressor(**settings).fit(x[heavy > 0], y[heavy > 0], sample_weight=np.ones(60)),
    )
    lopsided = BatchedMLPRegressor(**settings).fit(x, y, sample_weight=1 + 99 * heavy)
    even = BatchedMLPRegressor(**settings).fit(x, y)
    above = y > np.median(y)
    assert abs(lopsided.predict(x) - y)[above].mean() < abs(even.predict(x) - y)[above].mean()


def test_decay_keeps_weights_small() -> None:
    x, y = regression()
    sizes = [
        (BatchedMLPRegressor(alpha=alpha, random_state=0, max_iter=100).fit(x, y).weights_ ** 2).sum()
        for alpha in (0.0, 1.0, 30.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


def test_probabilities_are_calibrated_by_cross_entropy() -> None:
    """With inputs that say nothing, the best probabilities are the shares of the classes."""
    random = np.random.default_rng(0)
    y = random.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1], size=1500)
    model = BatchedMLPClassifier(n_networks=5, random_state=0).fit(random.normal(size=(1500, 2)), y)
    told = model.predict_proba(random.normal(size=(50, 2)))
    np.testing.assert_allclose(told.sum(axis=1), 1)
    np.testing.assert_allclose(told.mean(axis=0), [0.6, 0.3, 0.1], atol=0.04)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": "lbfgs"}, "solver='lbfgs': give rprop or adam or sgd or scg"),
        ({"activation": "softmax"}, "activation='softmax': give identity, logistic"),
        ({"hidden_layer_sizes": (3, 0)}, r"hidden_layer_sizes=\(3, 0\): give whole numbers"),
        ({"n_networks": 0}, "n_networks=0: give a whole number, 1 or more"),
        ({"alpha": -1.0}, "alpha=-1.0: give a number, 0 or more"),
        ({"batch_size": 0}, 'batch_size=0: give 1 or more, "auto" or None'),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0: give a number between 0 and 1"),
        ({"learning_rate_init": 0}, "learning_rate_init=0: give a number above 0"),
        ({"solver": "sgd", "learning_rate_init": 1e30}, "training diverged with solver='sgd'"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BatchedMLPRegressor(**settings).fit(*regression())


# Together


def test_fits_together_are_the_fits_alone() -> None:
    x, y = regression()

    def fits() -> list[Any]:
        return [
            BatchedMLPRegressor(alpha=alpha, n_networks=2, solver=solver, max_iter=40, random_state=seed).fit(
                x[rows], y[rows]
            )
            for solver in ("rprop", "adam")
            for alpha in (0.0, 0.1, 1.0)
            for seed, rows in enumerate([slice(0, 80), slice(40, 120), slice(0, 70)])
        ]

    for one, other in zip(fits(), trained_together(fits), strict=True):
        same(one, other)


def test_a_search_is_scikit_learns() -> None:
    x, y = regression(90)
    pipeline = make_pipeline(PCA(3), BatchedMLPRegressor(max_iter=30, random_state=0))
    grid = {
        "batchedmlpregressor__alpha": [0.0, 0.1, 1.0],
        "batchedmlpregressor__hidden_layer_sizes": [(4,), (8, 3)],
    }
    usual = GridSearchCV(pipeline, grid, cv=4, return_train_score=True).fit(x, y)
    ours = BatchedSearchCV(pipeline, grid, cv=4, return_train_score=True).fit(x, y)
    assert usual.cv_results_.keys() == ours.cv_results_.keys()
    for name in ("mean_test_score", "std_test_score", "mean_train_score", "rank_test_score"):
        np.testing.assert_array_equal(usual.cv_results_[name], ours.cv_results_[name], err_msg=name)
    assert ours.best_params_ == usual.best_params_
    assert ours.best_score_ == usual.best_score_
    np.testing.assert_array_equal(usual.predict(x), ours.predict(x))
    assert ours.batch_time_ > 0
    assert ours.cv == 4


def counted_training(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many networks each call of the engine trains."""
    calls: list[int] = []

    def counted(*given: Any, **options: Any) -> Any:
        calls.append(len(given[1]))
        return train(*given, **options)

    monkeypatch.setattr(members, "train", counted)
    return calls


def test_a_search_trains_few_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = regression(100)
    calls = counted_training(monkeypatch)
    grid = {"alpha": np.geomspace(0.01, 1, 5), "learning_rate_init": [0.01, 0.1], "random_state": [0, 1]}
    model = BatchedMLPRegressor(solver="adam", max_iter=10)
    BatchedSearchCV(model, grid, cv=4, refit=False).fit(x, y)
    assert sum(calls) == 80
    assert len(calls) <= 8


@pytest.mark.parametrize(("backend", "batches"), [("numpy", [4, 4]), ("torch", [8])])
def test_unequal_folds_are_one_batch_where_padding_may_be(
    backend: str, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    x, y = regression(102)  # folds leave 76 and 77 cases
    model = BatchedMLPRegressor((4,), backend=backend, random_state=0, **{**WHOLE, "max_iter": 10})
    weight = np.linspace(1, 2, 102)
    grid = {"alpha": [0.01, 1.0]}
    usual = GridSearchCV(model, grid, cv=4).fit(x, y, sample_weight=weight)
    calls = counted_training(monkeypatch)
    ours = BatchedSearchCV(model, grid, cv=4, refit=False).fit(x, y, sample_weight=weight)
    assert calls == batches
    given = ours.cv_results_["mean_test_score"]
    np.testing.assert_allclose(given, usual.cv_results_["mean_test_score"], rtol=1e-6)


@pytest.mark.parametrize("solver", ["rprop", "sgd"])
def test_fits_of_unequal_size_are_the_fits_alone_to_rounding(solver: str) -> None:
    pytest.importorskip("torch")
    x, y = regression()
    model = BatchedMLPRegressor(
        (4,), solver=solver, batch_size=None, backend="torch", dtype="float64", max_iter=8, random_state=0
    )

    def fits() -> list[Any]:
        weights = [None, np.linspace(1, 2, 79)]
        return [
            clone(model).fit(x[:count], y[:count], weight).predict(x)
            for count, weight in zip((80, 79), weights, strict=True)
        ]

    np.testing.assert_allclose(trained_together(fits), fits(), rtol=1e-8)


def test_a_search_takes_random_splits_groups_weights_and_many_scores() -> None:
    x, y = regression(80)
    model = BatchedMLPRegressor(max_iter=10, random_state=0)
    chosen = BatchedSearchCV(
        model,
        {"alpha": [0.1, 1.0]},
        cv=GroupShuffleSplit(3, random_state=None),
        scoring=["r2", "neg_mean_absolute_error"],
        refit="r2",
    )
    chosen.fit(x, y, groups=np.arange(80) // 4, sample_weight=np.linspace(0.5, 1.5, 80))
    assert chosen.cv_results_["mean_test_neg_mean_absolute_error"].shape == (2,)
    assert clone(chosen).get_params()["param_grid"] == {"alpha": [0.1, 1.0]}


def test_errors_of_a_search_are_scikit_learns() -> None:
    x, y = regression(40)
    with pytest.raises(ValueError, match="solver='best': give rprop"):
        BatchedSearchCV(BatchedMLPRegressor(), {"solver": ["best"]}, error_score="raise").fit(x, y)
    with pytest.raises(ValueError, match="Invalid parameter 'rate' for estimator"):
        BatchedSearchCV(BatchedMLPRegressor(), {"rate": [1]}).fit(x, y)


# In assessments


def generator(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(number))


def test_instances_are_learnt_together_as_alone_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted_training(monkeypatch)
    method = sklearn_method(make_pipeline(StandardScaler(), BatchedMLPRegressor((4,), max_iter=10)))
    assert isinstance(method, BatchMethod)
    trials = [make_trial("real", training=count) for count in (30, 30, 40, 30)]
    rngs = [generator(seed) for seed in range(4)]
    together = method.learn_many([trial.training for trial in trials], rngs)
    assert calls == [3, 1]
    for seed, (trial, predictor) in enumerate(zip(trials, together, strict=True)):
        alone = method.learn(trial.training, generator(seed)).predict(trial.inputs)
        found = predictor.predict(trial.inputs)
        assert [part.tobytes() for each in found.parts() for part in numbers_of(each)] == [
            part.tobytes() for each in alone.parts() for part in numbers_of(each)
        ]
    assert not isinstance(sklearn_method(Ridge()), BatchMethod)


def test_assess_takes_them() -> None:
    networks = sklearn_method(BatchedMLPRegressor((4,), max_iter=10), inputs="encoded")
    methods = {"nets": networks, "constant": "constant"}
    frame = redelve.assess(methods, "demo/age", sizes=[64]).frame()
    assert set(frame["method"]) == {"nets", "constant"}
    assert (frame["failed"] == 0).all()
    assert frame["mean"].notna().all()


# Sampled networks


def test_sampled_networks_tell_relevant_inputs_and_how_sure_they_are() -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(200, 4))
    y = 10 + 5 * np.sin(2 * x[:, 2]) + random.normal(size=200)
    model = BayesianMLPRegressor(8, n_chains=2, passes=6000, random_state=0).fit(x[:100], y[:100])
    mean, deviation = model.predict(x[100:], return_std=True)
    assert model.relevances_.argmax() == 2
    assert model.relevances_[2] > 3 * np.delete(model.relevances_, 2).max()
    assert abs(np.median(model.noise_) - 1) < 0.35
    inside = abs(mean - y[100:]) < 1.645 * deviation
    assert 0.78 < inside.mean() < 0.99  # 90 % of 100 cases, four standard errors either way
    np.testing.assert_array_equal(mean, model.predict(x[100:]))


def test_sampled_networks_refuse_nonsense() -> None:
    with pytest.raises(ValueError, match="noise_df=2: give a number above 2, or None"):
        BayesianMLPRegressor(noise_df=2).fit(*regression(20))
    with pytest.raises(ValueError, match="passes=10: give 100 or more"):
        BayesianMLPRegressor(passes=10).fit(*regression(20))
