"""lin-1 against an independent least-squares solution, and where that has none."""

import numpy as np
import pytest

from redelve.methods.builtin.linear import lin_1


def data(cases: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(cases, 3))
    targets = inputs @ np.array([[1.0], [-2.0], [0.5]]) + 3 + random.normal(size=(cases, 1))
    return inputs, targets, random.normal(size=(20, 3))


def test_guesses_are_those_of_least_squares() -> None:
    inputs, targets, test = data(50)
    design = np.column_stack([np.ones(50), inputs])
    weights = np.linalg.solve(design.T @ design, design.T @ targets)
    assert np.allclose(lin_1(inputs, targets, test).mean, np.column_stack([np.ones(20), test]) @ weights)


def test_the_predictive_variance_is_that_of_a_new_observation() -> None:
    inputs, targets, test = data(50)
    design = np.column_stack([np.ones(50), inputs])
    inverse = np.linalg.inv(design.T @ design)
    residuals = targets - design @ inverse @ design.T @ targets
    probe = np.column_stack([np.ones(20), test])
    expected = (residuals**2).sum() / 46 * (1 + np.einsum("ij,jk,ik->i", probe, inverse, probe))
    assert np.allclose(lin_1(inputs, targets, test).variance[:, 0], expected)


def test_densities_are_calibrated() -> None:
    inside, total = 0, 0
    for seed in range(400):
        inputs, targets, test = data(12, seed)
        noise = np.random.default_rng(1000 + seed).normal(size=(20, 1))
        truth = test @ np.array([[1.0], [-2.0], [0.5]]) + 3 + noise
        prediction = lin_1(inputs, targets, test)
        z = (truth - prediction.mean) / np.sqrt(prediction.variance)
        inside, total = inside + int((np.abs(z) < 2.306).sum()), total + 20
    # t with 8 degrees of freedom has 95 % within 2.306; the 400 training sets are the units, so se < 1 %
    assert inside / total == pytest.approx(0.95, abs=0.02)


def test_dependent_inputs_change_nothing() -> None:
    inputs, targets, test = data(50)
    doubled = lin_1(np.column_stack([inputs, inputs[:, :1]]), targets, np.column_stack([test, test[:, :1]]))
    assert np.allclose(doubled.mean, lin_1(inputs, targets, test).mean)


def test_fewer_cases_than_inputs_still_give_finite_answers() -> None:
    inputs, targets, test = data(2)
    prediction = lin_1(inputs, targets, test)
    assert np.isfinite(prediction.mean).all()
    assert (prediction.variance > 0).all()
    assert np.isfinite(prediction.log_density(np.zeros((20, 1)))).all()


def test_constant_targets_leave_a_little_doubt() -> None:
    prediction = lin_1(np.zeros((5, 2)), np.ones((5, 1)), np.zeros((3, 2)))
    assert np.allclose(prediction.mean, 1)
    assert (prediction.variance > 0).all()
