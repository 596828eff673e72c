"""Outputs equal those of a network computed unit by unit; gradients equal finite differences."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from redelve.nets import (
    Architecture,
    CrossEntropy,
    Data,
    Engine,
    SquaredOutputError,
    gradient,
    measure,
    predict,
)
from redelve.nets.error_functions import ErrorFunction
from redelve.nets.kernel import NetworkKernel
from redelve.nets.stacked import StackedKernel
from redelve.nets.wide import WideKernel
from tests.nets.problems import plain_outputs, some_weights

KERNELS = [StackedKernel, WideKernel]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Architecture, ErrorFunction, int, int, bool]:
    """An architecture, an error that fits it, numbers of cases and runs, have runs their own data?"""
    hidden = draw(st.lists(st.integers(1, 4), max_size=3))
    sizes = (draw(st.integers(1, 4)), *hidden, draw(st.integers(1, 3)))
    names = st.sampled_from(["tanh", "logistic", "softsign", "relu", "identity"])
    errors: list[ErrorFunction] = [SquaredOutputError(), CrossEntropy()]
    error = draw(st.sampled_from(errors))
    last = draw(st.sampled_from(["softmax", "logistic"]) if isinstance(error, CrossEntropy) else names)
    activations = (*(draw(names) for _ in hidden), last)
    architecture = Architecture(sizes, activations, shortcuts=draw(st.booleans()), biases=draw(st.booleans()))
    return architecture, error, draw(st.integers(1, 7)), draw(st.integers(1, 3)), draw(st.booleans())


def random_data(architecture: Architecture, cases: int, runs: int, own: bool) -> Data:
    random = np.random.default_rng(3)
    lead = (runs,) if own else ()
    inputs = random.normal(size=(*lead, cases, architecture.inputs))
    targets = random.random(size=(*lead, cases, architecture.outputs))
    if architecture.activations[-1] == "softmax":
        targets /= targets.sum(axis=-1, keepdims=True)
    return Data(inputs, targets)


def cost(kernel: NetworkKernel, data: Data, weights: NDArray[Any]) -> NDArray[Any]:
    """The error whose gradient is taken: summed over cases, half the square."""
    factor = 1.0 if isinstance(kernel.error, CrossEntropy) else 0.5
    scale = kernel.error.scale(kernel.architecture, data.cases)
    errors: NDArray[Any] = kernel.errors(kernel.load(weights), kernel.prepare(data)) * factor / scale
    return errors


@pytest.mark.parametrize("kind", KERNELS)
@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_gradients_equal_finite_differences(
    kind: type[NetworkKernel], problem: tuple[Architecture, ErrorFunction, int, int, bool]
) -> None:
    architecture, error, cases, runs, own = problem
    kernel = kind(architecture, Engine(), error, runs)
    data, weights = random_data(architecture, cases, runs, own), some_weights(architecture, runs)
    gradient = kernel.unload(kernel.look(kernel.load(weights), kernel.prepare(data)).gradient)
    for place in range(architecture.connection_count):
        step = np.zeros(architecture.connection_count)
        step[place] = 1e-5
        slope = (cost(kernel, data, weights + step) - cost(kernel, data, weights - step)) / 2e-5
        np.testing.assert_allclose(gradient[:, place], slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", KERNELS)
@given(problem=problems())
@settings(max_examples=40, deadline=None)
def test_outputs_and_errors_are_those_of_networks_computed_unit_by_unit(
    kind: type[NetworkKernel], problem: tuple[Architecture, ErrorFunction, int, int, bool]
) -> None:
    architecture, error, cases, runs, own = problem
    kernel = kind(architecture, Engine(), error, runs)
    data, weights = random_data(architecture, cases, runs, own), some_weights(architecture, runs)
    outputs = kernel.outputs(kernel.load(weights), kernel.prepare(data))
    errors = kernel.errors(kernel.load(weights), kernel.prepare(data))
    np.testing.assert_array_equal(kernel.look(kernel.load(weights), kernel.prepare(data)).error, errors)
    assert outputs.shape == (runs, cases, architecture.outputs)
    for run in range(runs):
        inputs, targets = (each[run] if own else each for each in (data.inputs, data.targets))
        expected = plain_outputs(architecture, weights[run], inputs)
        np.testing.assert_allclose(outputs[run], expected, rtol=1e-12, atol=1e-14)
        assert errors[run] == pytest.approx(plain_error(error, architecture, expected, targets))


def plain_error(
    error: ErrorFunction, architecture: Architecture, outputs: NDArray[Any], targets: NDArray[Any]
) -> float:
    if isinstance(error, SquaredOutputError):
        return float(100 * ((outputs - targets) ** 2).mean())
    surprise = -targets * np.log(outputs)
    if architecture.activations[-1] == "logistic":
        surprise -= (1 - targets) * np.log(1 - outputs)
    return float(surprise.sum(axis=1).mean())


@pytest.mark.parametrize("kind", KERNELS)
def test_large_sets_are_worked_on_in_blocks_with_the_same_result(
    kind: type[NetworkKernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    architecture = Architecture((3, 4, 2), ("tanh", "identity"))
    data, weights = random_data(architecture, 100, 2, False), some_weights(architecture, 2)
    whole = kind(architecture, Engine(), SquaredOutputError(), 2)
    monkeypatch.setattr("redelve.nets.stacked.TABLE_SIZE", 150)
    parts = kind(architecture, Engine(), SquaredOutputError(), 2)
    assert len(parts.prepare(data).blocks) == (5 if kind is StackedKernel else 1)
    first, second = (
        kernel.look(kernel.load(weights), kernel.prepare(data), worst=True) for kernel in (whole, parts)
    )
    np.testing.assert_allclose(first.gradient, second.gradient, rtol=1e-12)
    np.testing.assert_allclose(first.error, second.error, rtol=1e-12)
    np.testing.assert_array_equal(first.worst, second.worst)


def test_squared_error_percentage_counts_the_range_of_outputs() -> None:
    architecture = Architecture((1, 1), ("identity",))
    data, weights = Data([[1.0], [2.0]], [[0.0], [0.0]]), np.array([[1.0, 0.0]])
    assert measure(architecture, weights, data)[0] == pytest.approx(250.0)
    assert measure(architecture, weights, data, error=SquaredOutputError(-1, 1))[0] == pytest.approx(500.0)


def test_cross_entropy_of_certain_and_wrong_outputs_is_large_but_finite() -> None:
    architecture = Architecture((1, 2), ("softmax",))
    data, weights = Data([[1.0]], [[0.0, 1.0]]), np.array([[2000.0, 0.0, -2000.0, 0.0]])
    assert 700 < measure(architecture, weights, data, error=CrossEntropy())[0] < 710
    np.testing.assert_array_equal(predict(architecture, weights, [[1.0]]), [[[1.0, 0.0]]])


def complex_step(
    architecture: Architecture, weights: NDArray[Any], data: Data, run: int, place: int
) -> float:
    """The derivative of ½ Σ w (o − t)² by one weight, to rounding: Im f(w + ih) / h (Squire and Trapp 1998).

    By the book, for one hidden layer of tanh units and linear outputs.
    """
    shifted = weights[run].astype(complex)
    shifted[place] += 1e-30j
    hidden = architecture.sizes[1]
    wires = [shifted[wire.place].reshape(wire.height, wire.width) for wire in architecture.wiring.wires]
    given = np.column_stack([data.inputs[run], np.ones(data.cases)])
    units = np.tanh(given @ wires[0][:hidden].T)
    answer = units @ wires[1][:, :hidden].T
    answer += given @ wires[0][hidden:].T if architecture.shortcuts else wires[1][:, hidden]
    cost = 0.5 * ((answer - data.targets[run]) ** 2).sum(axis=1)
    return float(((1.0 if data.weights is None else data.weights[run]) * cost).sum().imag / 1e-30)


@pytest.mark.parametrize("shortcuts", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_public_gradient_equals_complex_steps(shortcuts: bool, weighted: bool) -> None:
    architecture = Architecture((4, 5, 2), ("tanh", "identity"), shortcuts)
    data, weights = random_data(architecture, 30, 3, True), some_weights(architecture, 3)
    if weighted:
        data = Data(data.inputs, data.targets, np.random.default_rng(2).random((3, 30)))
    errors, slopes = gradient(architecture, weights, data)
    for run in range(3):
        expected = [complex_step(architecture, weights, data, run, k) for k in range(weights.shape[1])]
        np.testing.assert_allclose(slopes[run], expected, rtol=1e-10, atol=1e-12)
        outputs = plain_outputs(architecture, weights[run], data.inputs[run])
        squares = 0.5 * ((outputs - data.targets[run]) ** 2).sum(axis=1)
        shares = np.ones(30) if data.weights is None else data.weights[run]
        assert errors[run] == pytest.approx(float((shares * squares).sum()), rel=1e-12)


def test_the_public_gradient_of_cross_entropy_is_that_of_the_sum() -> None:
    architecture = Architecture((3, 2), ("softmax",))
    data, weights = random_data(architecture, 8, 2, False), some_weights(architecture, 2)
    errors, slopes = gradient(architecture, weights, data, error=CrossEntropy())
    np.testing.assert_allclose(errors, 8 * measure(architecture, weights, data, error=CrossEntropy()))
    outputs = predict(architecture, weights, data.inputs)
    expected = np.einsum("rcu,ci->rui", outputs - data.targets, np.column_stack([data.inputs, np.ones(8)]))
    np.testing.assert_allclose(slopes, expected.reshape(2, -1), rtol=1e-12)
