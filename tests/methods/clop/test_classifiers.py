"""naive, neural and rf."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from redelve.methods import clop
from redelve.methods.clop import networks
from redelve.methods.clop.networks import first_weights, repeated
from redelve.nets import (
    Architecture,
    Data,
    MaxEpochs,
    Procedure,
    ScaledConjugateGradients,
    Sets,
    WeightDecay,
    predict,
    train,
)
from tests.methods.clop.cases import sparse_counts, three_classes, two_classes


@pytest.mark.parametrize("make", [two_classes, three_classes])
def test_naive_is_gaussian_where_features_have_many_values(make: Any) -> None:
    X, y = make()
    trained, model = clop.naive().fit(X, y), GaussianNB().fit(X, y)
    assert not trained.is_binary_
    np.testing.assert_allclose(trained.predict_proba(X), model.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(trained.predict(X), model.predict(X))


def test_naive_counts_where_features_have_two_values() -> None:
    X, y = two_classes()
    binary = (X > 0.3).astype(float)
    expected = BernoulliNB().fit(binary, y).predict_proba(binary)
    for table in (binary, sp.csr_array(binary), 10 * binary - 3, sp.csr_array(7 * binary)):
        trained = clop.naive().fit(table, y)
        assert trained.is_binary_
        np.testing.assert_allclose(trained.predict_proba(table), expected, rtol=1e-9)


def test_naive_of_a_sparse_table_is_that_of_a_dense_one() -> None:
    X, y = sparse_counts()
    sparse, dense = clop.naive().fit(X, y), clop.naive().fit(X.toarray(), y)
    for table, other in ((X, X.toarray()), (X.toarray(), X)):
        np.testing.assert_allclose(
            sparse.decision_function(table), dense.decision_function(other), rtol=1e-6, atol=1e-6
        )


def test_log_odds_are_the_discriminant_values_of_naive() -> None:
    X, y = two_classes()
    trained = clop.naive().fit(X, y)
    shares = trained.predict_proba(X)
    np.testing.assert_allclose(trained.decision_function(X), np.log(shares[:, 1] / shares[:, 0]), rtol=1e-6)


def test_rf_is_the_forest_of_scikit_learn() -> None:
    X, y = three_classes()
    seed = np.random.RandomState(4).randint(2**31 - 1)
    forest = RandomForestClassifier(
        12, max_features=3, class_weight="balanced_subsample", random_state=seed
    ).fit(X, y)
    trained = clop.rf(units=12, mtry=3, balance=True, random_state=4).fit(X, y)
    np.testing.assert_array_equal(trained.predict_proba(X), forest.predict_proba(X))
    assert len(clop.rf(units=3, mtry=99).fit(X, y).forest_.estimators_) == 3


def test_neural_learns_what_no_line_separates() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    trained = clop.neural(units=8, maxiter=200, random_state=0).fit(X[:200], y[:200])
    assert (trained.predict(X[200:]) == y[200:]).mean() > 0.9
    assert (clop.kridge().fit(X[:200], y[:200]).predict(X[200:]) == y[200:]).mean() < 0.7


def test_neural_minimises_its_cost_with_the_penalty() -> None:
    """At the minimum the gradient of ½ Σ (output - target)² + ½ shrinkage Σ weight² vanishes."""
    X, y = two_classes(40, 2)
    shrinkage = 0.5
    trained = clop.neural(units=2, shrinkage=shrinkage, maxiter=500, random_state=1).fit(X, y)

    def cost(weights: Any) -> float:
        outputs = predict(Architecture((2, 2, 1), ("tanh", "identity")), weights[None], X)[0, :, 0]
        return float(0.5 * ((outputs - y) ** 2).sum() + 0.5 * shrinkage * (weights**2).sum())

    found, step = trained.weights_[0], 1e-5
    gradient = [
        (cost(found + step * unit) - cost(found - step * unit)) / (2 * step) for unit in np.eye(len(found))
    ]
    np.testing.assert_allclose(gradient, 0, atol=1e-3)
    assert cost(found) < cost(found * 1.01)
    without = clop.neural(units=2, maxiter=500, random_state=1).fit(X, y)
    assert (without.weights_**2).sum() > 4 * (found**2).sum()


def test_no_decay_is_the_engine_as_it_is() -> None:
    X, y = two_classes(40, 3)
    network = Architecture((3, 4, 1), ("tanh", "identity"))
    first = first_weights((3, 4, 1), 2, np.random.RandomState(0))
    sets = Sets(Data(X, y[:, None]))
    plain = train(network, first, sets, Procedure(ScaledConjugateGradients(), MaxEpochs(30)))
    none = Procedure(ScaledConjugateGradients(), MaxEpochs(30), decay=WeightDecay(0.0, biases=True))
    same = train(network, first, sets, none)
    np.testing.assert_array_equal(plain.weights, same.weights)


def test_first_weights_have_netlabs_variance() -> None:
    weights = first_weights((24, 99, 1), 50, np.random.RandomState(0))
    assert weights.shape == (50, Architecture((24, 99, 1), ("tanh", "identity")).connection_count)
    assert weights[:, : 25 * 99].std() == pytest.approx(1 / 5, rel=0.02)
    assert weights[:, 25 * 99 :].std() == pytest.approx(1 / 10, rel=0.05)


def test_balance_repeats_the_patterns_of_smaller_classes() -> None:
    codes = np.array([0] * 7 + [1] * 2 + [2] * 3)
    rows = repeated(codes, np.random.RandomState(0))
    assert list(np.bincount(codes[rows])) == [7, 7, 7]
    counts = np.bincount(rows)
    assert set(counts[7:9]) == {3, 4}
    assert set(counts[9:]) == {2, 3}
    random = np.random.default_rng(3)
    y = np.where(np.arange(400) < 40, 1, -1)
    X = random.normal(size=(400, 2)) + 0.7 * (y[:, None] > 0)
    plain, balanced = (
        clop.neural(units=3, shrinkage=1.0, balance=flag, random_state=0).fit(X, y).predict(X)
        for flag in (False, True)
    )
    assert (balanced[:40] > 0).mean() > (plain[:40] > 0).mean() + 0.2


def test_restarts_are_averaged() -> None:
    X, y = two_classes()
    trained = clop.neural(units=3, restarts=4, maxiter=10, random_state=0).fit(X, y)
    assert trained.weights_.shape[0] == 4
    every = predict(Architecture((6, 3, 1), ("tanh", "identity")), trained.weights_, X)
    np.testing.assert_allclose(trained.decision_function(X), every.mean(axis=0)[:, 0])


def test_neural_takes_sparse_tables_that_fit_and_refuses_others(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sparse_counts()
    sparse, dense = (
        clop.neural(maxiter=10, random_state=0).fit(table, y).decision_function(table)
        for table in (X, X.toarray())
    )
    np.testing.assert_array_equal(sparse, dense)
    monkeypatch.setattr(networks, "LARGEST_TABLE", 1000)
    with pytest.raises(clop.UnsuitedError, match=r"50 patterns × 30 features .* choose features first"):
        clop.neural().fit(X, y)
    assert clop.chain([clop.s2n(f_max=10), clop.neural(maxiter=10)]).fit(X, y).predict(X).shape == (50,)


@pytest.mark.parametrize(
    "machine",
    [clop.kridge(), clop.naive(), clop.neural(maxiter=30), clop.rf(units=20), clop.svc(shrinkage=0.1)],
    ids=lambda each: each.called,
)
def test_any_labels_will_do(machine: Any) -> None:
    X, y = two_classes(80)
    for names in (np.array(["no", "yes"]), np.array([0, 1]), np.array([-1, 1]), np.array([False, True])):
        labels = names[(y > 0).astype(int)]
        trained = clone(machine).fit(X, labels)
        assert set(trained.predict(X)) <= set(names)
        assert (trained.predict(X) == labels).mean() > 0.85
    X, labels = three_classes()
    assert (clone(machine).fit(X, labels).predict(X) == labels).mean() > 0.9


@pytest.mark.parametrize("learner", [clop.rf(units=5, random_state=0), clop.rffs(f_max=3, random_state=0)])
def test_forests_take_sparse_tables_with_long_indices(learner: Any) -> None:
    random = np.random.default_rng(0)
    table = sp.csr_array((random.random((40, 8)) < 0.3).astype(np.float64))
    long = sp.csr_array(
        (table.data, table.indices.astype(np.int64), table.indptr.astype(np.int64)), shape=table.shape
    )
    labels = np.where(table.toarray()[:, 0] > 0, 1, -1)
    assert long.indices.dtype == np.int64
    trained = clone(learner).fit(long, labels)
    expected = clone(learner).fit(table, labels)
    if hasattr(trained, "predict"):
        assert (trained.predict(long) == expected.predict(table)).all()
    else:
        assert trained.ranking_.tolist() == expected.ranking_.tolist()
        assert (trained.transform(long) != expected.transform(table)).nnz == 0
