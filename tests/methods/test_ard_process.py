"""gp-ard: the evidence is scikit-learn's, a training set's process does not depend on the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from redelve.methods.builtin.ard_evidence import JITTER, PARTS, ProcessLessons, VaguePriors
from redelve.methods.builtin.ard_process import GP_ARD, ArdPredictor, ArdProcess, ProcessColumn, chosen_logs
from redelve.methods.conformance.small_tasks import make_trial
from redelve.model.dataset import Numbers
from redelve.nets import Engine
from redelve.seeds import generator

WIDTH = 4
ENGINES = ("numpy", pytest.param("torch", marks=pytest.mark.torch))


def lessons(backend: str = "numpy", members: int = 3) -> tuple[ProcessLessons, Numbers]:
    """Made-up training sets and logs."""
    rng = generator("gp-ard")
    shown = ProcessLessons(
        rng.normal(size=(members, 30, WIDTH)), rng.normal(size=(members, 30)), Engine(backend)
    )
    return shown, rng.normal(scale=0.5, size=(members, PARTS + WIDTH))


def sklearn_model(logs: Numbers) -> Any:
    """scikit-learn's process with the same covariance; its noise has our jitter, too."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

    signal, constant, slope, noise = np.exp(logs[:PARTS])
    kernel = ConstantKernel(signal) * RBF(np.exp(-0.5 * logs[PARTS:])) + ConstantKernel(constant)
    kernel = kernel + ConstantKernel(slope) * DotProduct(0.0, "fixed") + WhiteKernel(noise + JITTER)
    return GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0)


@pytest.mark.parametrize("backend", ENGINES)
def test_evidence_and_slope_are_scikit_learns(backend: str) -> None:
    shown, logs = lessons(backend)
    rows = np.array([2, 0])
    values, slopes = shown.evidence(logs[rows], rows)
    for value, slope, row in zip(values, slopes, rows, strict=True):
        model = sklearn_model(logs[row]).fit(shown.inputs[row], shown.targets[row])
        theirs, steep = model.log_marginal_likelihood(model.kernel.theta, eval_gradient=True)
        ours = np.r_[slope[0], -2 * slope[PARTS:], slope[1:3], slope[3] * (1 + JITTER / np.exp(logs[row, 3]))]
        assert -value == pytest.approx(theirs, abs=1e-8)
        assert -ours == pytest.approx(steep, abs=1e-8)


def test_the_slope_of_the_priors_is_that_of_differences() -> None:
    priors = VaguePriors(np.array([-1.0, -3, -3, -3]), np.array([1.0, 3, 3, 3]), 2.0)
    logs = generator("priors").normal(size=(1, PARTS + 2))
    _, slope = priors.cost(logs)
    for place in range(PARTS + 2):
        step = 1e-5 * np.eye(PARTS + 2)[[place]]
        change = (priors.cost(logs + step)[0] - priors.cost(logs - step)[0]) / 2e-5
        assert slope[0, place] == pytest.approx(change[0], abs=1e-8)


@pytest.mark.parametrize("backend", ENGINES)
def test_a_covariance_that_is_not_positive_definite_has_no_evidence(backend: str) -> None:
    shown, logs = lessons(backend)
    shown.inputs[1], logs[1, 0], logs[1, 3] = 1.0, 50.0, -50.0
    values, slopes = shown.evidence(logs, np.arange(3))
    assert np.isinf(values).tolist() == [False, True, False]
    assert np.isfinite(slopes).all()


def learnt(method: ArdProcess, numbers: list[int]) -> list[ArdPredictor]:
    trials = [make_trial("real", training=25, testing=12 + number) for number in numbers]
    return method.learn_many(
        [trial.training for trial in trials], [generator("x", number) for number in numbers]
    )


def test_a_training_sets_process_is_the_same_alone_and_in_company() -> None:
    company = learnt(GP_ARD, [0, 1, 2])
    for number, together in enumerate(company):
        (alone,) = learnt(GP_ARD, [number])
        assert np.array_equal(alone.processes[0][1].logs, together.processes[0][1].logs)
        assert np.array_equal(alone.processes[0][1].weights, together.processes[0][1].weights)


@pytest.mark.torch
def test_torch_finds_what_numpy_finds() -> None:
    ours, theirs = learnt(GP_ARD, [0, 1]), learnt(ArdProcess(engine=Engine("torch")), [0, 1])
    for one, other in zip(ours, theirs, strict=True):
        assert one.processes[0][1].logs == pytest.approx(other.processes[0][1].logs, abs=1e-6)


def test_it_predicts_as_scikit_learns_process_with_its_parameters() -> None:
    (found,) = learnt(GP_ARD, [3])
    process = found.processes[0][1]
    test = generator("test cases").normal(size=(7, process.inputs.shape[1]))
    targets = process.factor @ (process.factor.T @ process.weights)
    mean, deviation = sklearn_model(process.logs).fit(process.inputs, targets).predict(test, return_std=True)
    ours, spread = process.predict(test)
    assert (ours - process.mean) / process.scale == pytest.approx(mean, abs=1e-7)
    assert spread / process.scale == pytest.approx(deviation, abs=1e-7)


def test_relevances_tell_which_inputs_matter() -> None:
    rng = generator("relevant")
    inputs = rng.normal(size=(60, 5))
    targets = np.sin(2 * inputs[:, 1]) + 0.1 * rng.normal(size=60)
    column = ProcessColumn(0, inputs, targets, 0.0, 1.0, np.arange(60))
    relevances = np.exp(0.5 * chosen_logs([column], Engine())[0, PARTS:])
    assert relevances.argmax() == 1
    assert np.delete(relevances, 1).max() < 0.3 * relevances[1]


def test_relevances_have_the_names_of_targets_and_inputs() -> None:
    (found,) = learnt(GP_ARD, [0])
    told = found.relevances()
    assert list(told) == [target.name for target in found.view.targets]
    (values,) = told.values()
    assert list(values) == list(found.view.encoded.input_names)
    assert list(values.values()) == found.processes[0][1].relevances.tolist()
