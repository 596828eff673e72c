"""s2n, relief and gs against worked examples; the number of features changes after training, for all five."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from redelve.methods import clop
from tests.methods.clop.cases import Numbers, sparse_counts, three_classes, two_classes

RANKINGS = [
    clop.s2n(),
    clop.relief(),
    clop.gs(),
    clop.rffs(clop.rf(units=10), random_state=0),
    clop.svcrfe(clop.svc(shrinkage=1.0), one_by_one=4),
]
by_name = pytest.mark.parametrize("ranking", RANKINGS, ids=lambda each: each.called)


def test_s2n_of_a_worked_example() -> None:
    """|μ₊ - μ₋| / (σ₊ + σ₋), deviations with n - 1.

    First feature:  + 1 3, μ = 2, σ² = (1 + 1)/1 = 2;  - 5 7 9, μ = 7, σ² = (4 + 0 + 4)/2 = 4;
                    |2 - 7| / (√2 + 2) = 1.464466.
    Second feature: + 0 2, μ = 1;  - 1 1 1, μ = 1: 0.
    Third feature:  constant: 0.
    Fourth feature: + 0 0, - 1 1 1: a signal without noise, infinite.
    """
    X = np.array([[1, 0, 5, 0], [3, 2, 5, 0], [5, 1, 5, 1], [7, 1, 5, 1], [9, 1, 5, 1]], dtype=float)
    y = np.array([1, 1, -1, -1, -1])
    for table in (X, sp.csr_array(X)):
        trained = clop.s2n(f_max=2).fit(table, y)
        np.testing.assert_allclose(trained.weights_, [5 / (np.sqrt(2) + 2), 0, 0, np.inf])
        assert list(trained.ranking_) == [3, 0, 1, 2]
        assert list(trained.selected_) == [3, 0]
        assert trained.transform(table).shape == (5, 2)


def test_relief_of_a_worked_example() -> None:
    """Divided by ranges, 5 and 10: A (0, 0), B (0.2, 1) of one class, C (0.8, 0), D (1, 1) of the other.

    A: hit B, differences² (0.04, 1); misses C at 0.64 + 0, D at 1 + 1: C, differences² (0.64, 0).
    B: hit A, (0.04, 1); misses C at 0.36 + 1, D at 0.64 + 0: D, (0.64, 0).
    C: hit D, (0.04, 1); misses A at 0.64, B at 1.36: A, (0.64, 0).
    D: hit C, (0.04, 1); misses A at 2, B at 0.64: B, (0.64, 0).
    W = (4 × (0.64 - 0.04), 4 × (0 - 1)) / 4 = (0.6, -1).
    """
    X, y = np.array([[0, 0], [1, 10], [4, 0], [5, 10]], dtype=float), np.array([-1, -1, 1, 1])
    for table in (X, sp.csr_array(X)):
        trained = clop.relief(k_num=1).fit(table, y)
        np.testing.assert_allclose(trained.weights_, [0.6, -1.0])


def test_relief_of_the_worked_example_with_two_neighbours() -> None:
    """One hit each, as before; two misses: for A the mean of (0.64, 0) and (1, 1), which is (0.82, 0.5).

    For B the mean of (0.36, 1) and (0.64, 0), which is (0.5, 0.5); C is like B, D like A.
    W = ((0.82 + 0.5) / 2 - 0.04, 0.5 - 1) = (0.62, -0.5).
    """
    X, y = np.array([[0, 0], [1, 10], [4, 0], [5, 10]], dtype=float), np.array([-1, -1, 1, 1])
    np.testing.assert_allclose(clop.relief(k_num=2).fit(X, y).weights_, [0.62, -0.5])


def plain_relief(X: Numbers, y: Any, k_num: int) -> Numbers:
    """Kononenko's (1994) weights, pattern by pattern."""
    scaled = X / (X.max(axis=0) - X.min(axis=0))
    weights = np.zeros(X.shape[1])
    for i, pattern in enumerate(scaled):
        for label in np.unique(y):
            others = [j for j in range(len(y)) if y[j] == label and j != i]
            near = sorted(others, key=lambda j: ((scaled[j] - pattern) ** 2).sum())[:k_num]
            difference = ((scaled[near] - pattern) ** 2).mean(axis=0)
            weights += -difference if label == y[i] else np.mean(y == label) / np.mean(y != y[i]) * difference
    return weights / len(y)


@pytest.mark.parametrize("blocks", [2**22, 200])
def test_relief_of_several_classes_is_what_the_definition_says(
    blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redelve.methods.clop.objects.BLOCK_SIZE", blocks)
    X, y = three_classes(50)
    for table in (X, sp.csr_array(X)):
        np.testing.assert_allclose(clop.relief(k_num=3).fit(table, y).weights_, plain_relief(X, y, 3))


def test_a_class_of_one_pattern_has_no_hits() -> None:
    """The range is 4. First: hit at 1/4, miss at 1; second: hit at 1/4, miss at 3/4; third: miss at 3/4."""
    X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1])
    expected = (0.75**2 + (1 - 0.25**2) + (0.75**2 - 0.25**2)) / 3
    np.testing.assert_allclose(clop.relief(k_num=1).fit(X, y).weights_, [expected])


def test_gs_of_a_worked_example() -> None:
    """Everything has mean 0: t = (1, 1, -1, -1), a = (2, 1, -1, -2), b = (2, 0, -1, -1), c = (-1, 2, -1, 0).

    First: cos²(a, t) = 6²/(10 × 4) = 0.9, cos²(b, t) = 4²/(6 × 4) = 0.67, cos²(c, t) = 2²/(6 × 4) = 0.17: a.
    What a leaves of t is t - 0.6 a = (-0.2, 0.4, -0.4, 0.2), squared length 4 - 3.6 = 0.4;
    of b: b - 0.7 a = (0.6, -0.7, -0.3, 0.4), squared 1.1; times t's rest -0.2, cos² = 0.04/0.44 = 0.09;
    of c: c - 0.1 a = (-1.2, 1.9, -0.9, 0.2), squared 5.9; product 1.4, cos² = 1.96 / (5.9 × 0.4) = 0.8305: c.
    Then b: three vectors span all of mean 0, no t is left, cos² = 1. By correlation b would be second.
    """
    t, a, b, c = ([1, 1, -1, -1], [2, 1, -1, -2], [2, 0, -1, -1], [-1, 2, -1, 0])
    for shift in (0.0, 3.0):
        X = np.array([b, c, a], dtype=float).T + shift
        for table in (X, sp.csr_array(X)):
            trained = clop.gs().fit(table, np.array(t))
            assert list(trained.ranking_) == [2, 1, 0]
            np.testing.assert_allclose(trained.weights_, [1.0, 1.96 / (5.9 * 0.4), 0.9])


def plain_gram_schmidt(X: Numbers, target: Numbers, most: int) -> list[int]:
    X, target = X - X.mean(axis=0), target - target.mean(axis=0)
    chosen: list[int] = []
    for _ in range(most):
        lengths = (X**2).sum(axis=0)
        lengths[[*chosen, *np.flatnonzero(lengths == 0)]] = np.inf
        best = int(np.argmax(((X.T @ target) ** 2).sum(axis=1) / lengths))
        unit = X[:, best] / np.linalg.norm(X[:, best])
        X, target = X - np.outer(unit, unit @ X), target - np.outer(unit, unit @ target)
        chosen.append(best)
    return chosen


@pytest.mark.parametrize("sparse", [False, True])
def test_gs_chooses_as_plain_orthogonalisation_does(sparse: bool) -> None:
    for X, y in (two_classes(50, 20), three_classes(60), (sparse_counts()[0].toarray(), sparse_counts()[1])):
        target = (y[:, None] == np.unique(y)).astype(float)
        trained = clop.gs().fit(sp.csr_array(X) if sparse else X, y)
        assert trained.ranked_ == np.linalg.matrix_rank(X - X.mean(axis=0))
        assert list(trained.ranking_[: trained.ranked_]) == plain_gram_schmidt(X, target, trained.ranked_)


def test_gs_ranks_dependent_features_last_and_stops_where_it_is_told() -> None:
    X, y = two_classes(40, 5)
    X = np.column_stack([X, 2 * X[:, 0] + 1, np.full(40, 7.0)])
    trained = clop.gs().fit(X, y)
    assert trained.ranked_ == 5
    assert set(trained.ranking_[5:]) == {6, int({0, 5}.difference(trained.ranking_[:5]).pop())}
    short = clop.gs(ranked=2).fit(X, y)
    assert short.ranked_ == 2
    assert list(short.ranking_[:2]) == list(trained.ranking_[:2])
    assert sorted(short.ranking_) == list(range(7))


@by_name
def test_changing_f_max_after_training_is_training_with_it(ranking: Any) -> None:
    for X, y in (two_classes(50, 12), sparse_counts()):
        trained = clone(ranking).fit(X, y)
        for f_max in (1, 3, 7, 12, None):
            trained.f_max = f_max
            again = clone(ranking).set_params(f_max=f_max).fit(X, y)
            assert list(trained.selected_) == list(again.selected_)
            one, other = trained.transform(X), again.transform(X)
            assert one.shape[1] == (f_max or X.shape[1])
            assert abs(one - other).max() == 0


@pytest.mark.parametrize("ranking", RANKINGS[:2] + RANKINGS[3:4], ids=lambda each: each.called)
def test_changing_w_min_after_training_is_training_with_it(ranking: Any) -> None:
    X, y = two_classes(50, 12)
    trained = clone(ranking).fit(X, y)
    for w_min in (-np.inf, float(np.median(trained.weights_)), float(np.sort(trained.weights_)[-2])):
        trained.set_params(w_min=w_min)
        again = clone(ranking).set_params(w_min=w_min).fit(X, y)
        np.testing.assert_array_equal(trained.get_support(), again.get_support())
        np.testing.assert_array_equal(trained.get_support(), trained.weights_ > w_min)
    with pytest.raises(clop.UnsuitedError, match="no feature has a weight above w_min=1e\\+06"):
        trained.set_params(w_min=1e6).transform(X)


@by_name
def test_nothing_is_ranked_again_when_f_max_changes(ranking: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_classes()
    trained = clone(ranking).fit(X, y)
    monkeypatch.setattr(type(ranking), "_rank", lambda *_: pytest.fail("ranked again"))
    assert trained.set_params(f_max=2).transform(X).shape == (60, 2)


@by_name
def test_the_features_that_tell_are_found(ranking: Any) -> None:
    X, y = two_classes(120, 10)
    assert set(clone(ranking).set_params(f_max=2).fit(X, y).selected_) == {0, 1}
    X, labels = three_classes()
    assert set(clone(ranking).set_params(f_max=2).fit(X, labels).selected_) == {0, 1}


@pytest.mark.parametrize("ranking", [*RANKINGS[:3], RANKINGS[4]], ids=lambda each: each.called)
def test_sparse_tables_are_ranked_as_dense_ones(ranking: Any) -> None:
    X, y = sparse_counts()
    sparse, dense = clone(ranking).fit(X, y), clone(ranking).fit(X.toarray(), y)
    np.testing.assert_allclose(sparse.weights_, dense.weights_, rtol=1e-6, atol=1e-9)
    assert sp.issparse(sparse.transform(X))


def test_rffs_ranks_by_the_forest_of_scikit_learn() -> None:
    X, y = two_classes()
    trained = clop.rffs(clop.rf(units=20, random_state=3)).fit(X, y)
    seed = np.random.RandomState(3).randint(2**31 - 1)
    forest = RandomForestClassifier(20, random_state=seed).fit(X, y)
    np.testing.assert_allclose(trained.weights_, forest.feature_importances_)
    with pytest.raises(clop.UnsuitedError, match="NaiveBayesClassifier tells no"):
        clop.rffs(clop.naive()).fit(X, y)


def test_svcrfe_leaves_out_the_feature_of_least_weight_each_time() -> None:
    X, y = two_classes(60, 5)
    machine, left, gone = clop.svc(shrinkage=1.0), list(range(5)), []
    while left:
        weights = clone(machine).fit(X[:, left], y).coef_[0] ** 2
        gone.append(left.pop(int(np.argmin(weights))))
    assert list(clop.svcrfe(machine).fit(X, y).ranking_) == gone[::-1]
    with pytest.raises(clop.UnsuitedError, match="linear kernel"):
        clop.svcrfe(clop.svc(gamma=1.0)).fit(X, y)
