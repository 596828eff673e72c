"""kridge and svc against their formulas."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from redelve.methods import clop
from redelve.methods.clop.kernels import Kernel
from tests.methods.clop.cases import Numbers, sparse_counts, three_classes, two_classes

KERNELS = [(1.0, 1, 0.0), (0.0, 1, 0.0), (1.0, 3, 0.0), (0.5, 2, 0.3), (0.0, 0, 0.7)]


def brute_force(first: Numbers, second: Numbers, coef0: float, degree: int, gamma: float) -> Numbers:
    """(coef0 + x·x′)^degree exp(-gamma ‖x - x′‖²), pair by pair."""
    table = np.empty((len(first), len(second)))
    for (i, x), (j, z) in itertools.product(enumerate(first), enumerate(second)):
        product = sum(a * b for a, b in zip(x, z, strict=True))
        distance = sum((a - b) ** 2 for a, b in zip(x, z, strict=True))
        table[i, j] = (coef0 + product) ** degree * np.exp(-gamma * distance)
    return table


@pytest.mark.parametrize(("coef0", "degree", "gamma"), KERNELS)
def test_the_kernel_is_the_papers_formula(coef0: float, degree: int, gamma: float) -> None:
    first, second = two_classes(8)[0], two_classes(5, seed=1)[0]
    kernel = Kernel(coef0, degree, gamma)
    expected = brute_force(first, second, coef0, degree, gamma)
    np.testing.assert_allclose(kernel.between(first, second), expected, rtol=1e-12)
    np.testing.assert_allclose(
        kernel.between(sp.csr_array(first), sp.csr_array(second)), expected, rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize(("coef0", "degree", "gamma"), KERNELS)
@pytest.mark.parametrize("features", [3, 40])
@pytest.mark.parametrize("balance", [False, True])
def test_kridge_solves_the_ridge_equations(
    coef0: float, degree: int, gamma: float, features: int, balance: bool
) -> None:
    X, y = two_classes(30, features)
    new, shrinkage = two_classes(7, features, seed=5)[0], 0.3
    targets = y.astype(float) - (y.mean() if balance else 0.0)
    matrix = brute_force(X, X, coef0, degree, gamma)
    alpha = np.linalg.solve(matrix + shrinkage * np.eye(30), targets)
    expected = brute_force(new, X, coef0, degree, gamma) @ alpha
    machine = clop.kridge(coef0=coef0, degree=degree, gamma=gamma, shrinkage=shrinkage, balance=balance)
    for table, test in ((X, new), (sp.csr_array(X), sp.csr_array(new))):
        np.testing.assert_allclose(
            machine.fit(table, y).decision_function(test), expected, rtol=1e-7, atol=1e-9
        )


def test_balanced_targets_are_in_proportion_to_the_other_class() -> None:
    """3 of -1 and 1 of +1: mean -0.5, so targets are 1.5 and -0.5, three to one, and sum to 0."""
    X, y = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([-1, -1, -1, 1])
    machine = clop.kridge(balance=True, gamma=2.0, degree=0, shrinkage=1e-9).fit(X, y)
    np.testing.assert_allclose(machine.decision_function(X), [-0.5, -0.5, -0.5, 1.5], atol=1e-6)


@pytest.mark.parametrize(("coef0", "degree", "gamma"), KERNELS)
def test_shrinkage_is_chosen_as_leaving_one_out_would(coef0: float, degree: int, gamma: float) -> None:
    X, y = two_classes(25, 4, seed=3)
    candidates, errors = [0.01, 1.0, 100.0], []
    for shrinkage in candidates:
        machine = clop.kridge(coef0=coef0, degree=degree, gamma=gamma, shrinkage=shrinkage)
        left_out = [
            machine.fit(np.delete(X, i, 0), np.delete(y, i)).decision_function(X[[i]])[0] - y[i]
            for i in range(25)
        ]
        errors.append(np.mean(np.square(left_out)))
    chosen = clop.kridge(coef0=coef0, degree=degree, gamma=gamma, shrinkage=candidates).fit(X, y)
    assert chosen.shrinkage_ == candidates[int(np.argmin(errors))]


def test_without_a_shrinkage_eleven_are_tried() -> None:
    X, y = two_classes()
    trained = clop.kridge(gamma=0.1).fit(X, y)
    assert trained.shrinkage_ in {10.0**-k for k in range(11)}
    assert trained.shrinkage is None


def test_kridge_of_several_classes_is_one_against_the_rest() -> None:
    X, y = three_classes()
    trained = clop.kridge(shrinkage=1.0).fit(X, y)
    for place, label in enumerate(trained.classes_):
        alone = clop.kridge(shrinkage=1.0).fit(X, np.where(y == label, 1, -1))
        np.testing.assert_allclose(trained.decision_function(X)[:, place], alone.decision_function(X))
    assert (trained.predict(X) == y).mean() > 0.9


@pytest.mark.parametrize(("coef0", "degree", "gamma"), [(1.0, 1, 0.0), (1.0, 2, 0.1), (0.0, 0, 0.5)])
@pytest.mark.parametrize("shrinkage", [0.01, 1.0])
def test_svc_meets_the_conditions_of_its_optimum(
    coef0: float, degree: int, gamma: float, shrinkage: float
) -> None:
    """Hard margin on K + shrinkage I: y f(x) = 1 - shrinkage α on support vectors, α > 0; else y f(x) ≥ 1.

    f is the machine for new patterns, so without the diagonal, of which a support vector's share is y α.
    """
    X, y = two_classes(40, 3)
    y[:4] = -y[:4]
    trained = clop.svc(coef0=coef0, degree=degree, gamma=gamma, shrinkage=shrinkage).fit(X, y)
    margins = y * trained.decision_function(X)
    alpha = np.zeros(40)
    alpha[trained.support_] = np.abs(trained.machine_.dual_coef_[0])
    support = alpha > 0
    np.testing.assert_allclose(margins[support], 1 - shrinkage * alpha[support], atol=2e-3)
    assert margins[~support].min(initial=np.inf) >= 1 - 2e-3
    assert alpha @ y == pytest.approx(0, abs=1e-8 * alpha.sum())
    assert 0 < support.sum() < 40 or shrinkage == 1.0


def test_weights_of_a_linear_svc_give_its_output() -> None:
    X, y = two_classes()
    trained = clop.svc(shrinkage=0.1, coef0=0.0).fit(X, y)
    constant = trained.decision_function(np.zeros((1, 6)))
    np.testing.assert_allclose(X @ trained.coef_[0] + constant, trained.decision_function(X))
    for machine in (clop.svc(), clop.svc(gamma=1.0).fit(X, y)):
        with pytest.raises(AttributeError, match="degree=1 and gamma=0"):
            machine.coef_  # noqa: B018


@pytest.mark.parametrize("machine", [clop.svc(shrinkage=0.1), clop.svc(gamma=0.1), clop.kridge(degree=2)])
def test_sparse_tables_give_what_dense_ones_give(machine: object) -> None:
    X, y = sparse_counts()
    sparse, dense = clone(machine).fit(X, y), clone(machine).fit(X.toarray(), y)
    np.testing.assert_allclose(
        sparse.decision_function(X), dense.decision_function(X.toarray()), rtol=1e-6, atol=1e-9
    )


def test_many_patterns_are_classified_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_classes()
    machines = [clop.kridge(gamma=0.1).fit(X, y), clop.svc(gamma=0.1).fit(X, y), clop.naive().fit(X, y)]
    machines.append(clop.neural(maxiter=5, random_state=0).fit(X, y))
    whole = [machine.decision_function(X) for machine in machines]
    monkeypatch.setattr("redelve.methods.clop.objects.BLOCK_SIZE", 120)
    for machine, expected in zip(machines, whole, strict=True):
        np.testing.assert_allclose(machine.decision_function(X), expected, rtol=1e-10, atol=1e-12)


def test_an_svc_that_does_not_come_to_an_end_says_so() -> None:
    from sklearn.exceptions import ConvergenceWarning

    X, y = two_classes()
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        clop.svc(maxiter=3).fit(X, y)


@pytest.mark.parametrize("seed", range(60))  # some of them, which ones depends on rounding
def test_a_pattern_that_alone_has_a_feature_does_not_spoil_the_choice_of_shrinkage(seed: int) -> None:
    random = np.random.default_rng(seed)
    X = random.integers(0, 1000, (20, 6)).astype(np.float64)
    X[:, 5] = 0
    X[0, 5] = 999
    y = np.where(X[:, 0] + X[:, 1] > 1000, 1, -1)
    machine = clop.kridge().fit(X, y)
    rows = np.vstack([np.hstack([X, np.ones((20, 1))]), np.sqrt(machine.shrinkage_) * np.eye(7)])
    weights = np.linalg.lstsq(rows, np.concatenate([y, np.zeros(7)]), rcond=None)[0]
    assert np.allclose(machine.decision_function(X), rows[:20] @ weights, atol=1e-6)
