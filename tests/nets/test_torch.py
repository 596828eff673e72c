"""The torch backend agrees with NumPy, and RPROP with torch's own."""

from typing import Any

import numpy as np
import pytest

from redelve.nets import (
    GL,
    Adam,
    CrossEntropy,
    DescendingEpsilon,
    Engine,
    GradientDescent,
    InputRelevance,
    MaxEpochs,
    P,
    Procedure,
    Rprop,
    ScaledConjugateGradients,
    Sets,
    SquaredOutputError,
    Success,
    WeightDecay,
    layered,
    predict,
    train,
)
from redelve.nets.algorithms import Algorithm
from redelve.nets.error_functions import ErrorFunction
from tests.nets.problems import TINY, XOR, noisy_sets, some_weights

torch: Any = pytest.importorskip("torch", reason='torch is not installed: pip install "redelve[torch]"')
pytest.importorskip(
    "array_api_compat", reason='array-api-compat is not installed: pip install "redelve[torch]"'
)

pytestmark = pytest.mark.torch
NETWORK = layered((5, 6, 3, 2), "softsign", "identity", shortcuts=True)
ALGORITHMS: dict[str, Algorithm] = {
    "momentum": GradientDescent((0.001, 0.002, 0.003, 0.004), momentum=0.9),
    "relevance": GradientDescent(0.001, scaling=InputRelevance()),
    "rprop": Rprop(),
    "irprop-": Rprop(variant="irprop-"),
    "plain": Rprop(variant="plain"),
    "epsilon": DescendingEpsilon(0.002),
    "scg": ScaledConjugateGradients(),
    "adam": Adam((0.001, 0.002, 0.003, 0.004)),
    "adam in batches": Adam(0.003, batch_size=17),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("own_data", [False, True])
def test_torch_and_numpy_agree_to_rounding(algorithm: str, own_data: bool) -> None:
    weights, sets = some_weights(NETWORK, 4), noisy_sets(4 if own_data else None)
    procedure = Procedure(ALGORITHMS[algorithm], MaxEpochs(20), curves=True)
    results = [
        train(NETWORK, weights, sets, procedure, seeds=range(4), engine=Engine(backend))
        for backend in ("numpy", "torch")
    ]
    for name in ("weights", "final_weights", "lowest_training", "lowest_validation"):
        first, second = (getattr(result, name) for result in results)
        np.testing.assert_allclose(second, first, rtol=1e-6, atol=1e-8, err_msg=name)
    curves = [np.asarray(result.curves.test if result.curves else None) for result in results]
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("output", "error"),
    [("softmax", CrossEntropy()), ("logistic", CrossEntropy()), ("tanh", SquaredOutputError())],
)
def test_activations_errors_and_stopping_agree(dtype: str, output: str, error: ErrorFunction) -> None:
    network = layered((5, 6, 2), "tanh", output)
    procedure = Procedure(Rprop(), GL(5) | P(0.1) | MaxEpochs(30), error)
    results = [
        train(network, some_weights(network, 6), noisy_sets(), procedure, seeds=range(6), engine=engine)
        for engine in (Engine("numpy", dtype), Engine("torch", dtype))
    ]
    tolerance = 1e-8 if dtype == "float64" else 0.02
    assert results[1].weights.dtype == dtype
    np.testing.assert_allclose(results[1].lowest_validation, results[0].lowest_validation, rtol=tolerance)
    if dtype == "float64":
        assert results[0].reasons == results[1].reasons
        np.testing.assert_array_equal(results[0].epochs, results[1].epochs)


@pytest.mark.parametrize(
    "algorithm", [GradientDescent(7.0, momentum=0.65), ScaledConjugateGradients(), Rprop()]
)
def test_tiny_networks_agree(algorithm: Algorithm) -> None:
    weights = some_weights(TINY, 50, 1.4)
    # Not more: conjugate gradients double a difference of rounding with every second iteration.
    procedure = Procedure(algorithm, Success(0.4) | MaxEpochs(20))
    first, second = (
        train(TINY, weights, Sets(XOR), procedure, seeds=range(50), engine=Engine(backend))
        for backend in ("numpy", "torch")
    )
    assert (first.epochs != second.epochs).sum() <= 2
    same = first.epochs == second.epochs
    outputs = [predict(TINY, result.weights[same], XOR.inputs) for result in (first, second)]
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-4)


def test_irprop_minus_is_what_torch_does() -> None:
    sets, weights = noisy_sets(), some_weights(NETWORK, 1)
    ours = train(
        NETWORK, weights, Sets(sets.training), Procedure(Rprop(delta0=0.01, variant="irprop-"), MaxEpochs(50))
    )
    network = TorchNetwork(weights[0])
    optimiser = torch.optim.Rprop(network.parameters(), lr=0.01, etas=(0.5, 1.2), step_sizes=(0.0, 50.0))
    inputs, targets = (torch.tensor(each) for each in (sets.training.inputs, sets.training.targets))
    for _ in range(50):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(network(inputs), targets).backward()
        optimiser.step()
    expected = network(inputs).detach().numpy()
    np.testing.assert_allclose(predict(NETWORK, ours.weights, sets.training.inputs)[0], expected, atol=1e-8)


def test_adam_and_decay_are_what_torch_does() -> None:
    """torch.optim.Adam's weight_decay adds to the gradient, biases too; the loss here is the same sum."""
    sets, weights = noisy_sets(), some_weights(NETWORK, 1)
    procedure = Procedure(Adam(0.02), MaxEpochs(50), decay=WeightDecay(0.5, biases=True))
    ours = train(NETWORK, weights, Sets(sets.training), procedure)
    network = TorchNetwork(weights[0])
    optimiser = torch.optim.Adam(network.parameters(), lr=0.02, weight_decay=0.5)
    inputs, targets = (torch.tensor(each) for each in (sets.training.inputs, sets.training.targets))
    for _ in range(50):
        optimiser.zero_grad()
        (0.5 * torch.nn.functional.mse_loss(network(inputs), targets, reduction="sum")).backward()
        optimiser.step()
    expected = network(inputs).detach().numpy()
    np.testing.assert_allclose(predict(NETWORK, ours.weights, sets.training.inputs)[0], expected, atol=1e-8)


def test_relu_and_decay_agree() -> None:
    network = layered((5, 6, 2), "relu", "identity")
    procedure = Procedure(Adam(0.01, batch_size=20), MaxEpochs(20), decay=WeightDecay((0.1, 0.2, 0.0, 1.0)))
    first, second = (
        train(network, some_weights(network, 4), noisy_sets(), procedure, engine=Engine(backend)).weights
        for backend in ("numpy", "torch")
    )
    np.testing.assert_allclose(second, first, rtol=1e-6, atol=1e-8)


class TorchNetwork(torch.nn.Module):  # type: ignore[misc]
    """The network 5-6-3-2 with all shortcuts, written with torch's own layers."""

    def __init__(self, weights: Any) -> None:
        super().__init__()
        from_inputs = weights[: 11 * 6].reshape(11, 6)
        from_first = weights[66 : 66 + 5 * 6].reshape(5, 6)
        from_second = weights[96:].reshape(2, 3)
        matrices = [
            from_inputs[:6, :5],
            np.hstack([from_inputs[6:9, :5], from_first[:3]]),
            np.hstack([from_inputs[9:, :5], from_first[3:], from_second]),
        ]
        biases = [from_inputs[:6, 5], from_inputs[6:9, 5], from_inputs[9:, 5]]
        self.layers = torch.nn.ModuleList()
        for matrix, bias in zip(matrices, biases, strict=True):
            layer = torch.nn.Linear(matrix.shape[1], matrix.shape[0], dtype=torch.float64)
            layer.weight.data, layer.bias.data = torch.tensor(matrix), torch.tensor(bias)
            self.layers.append(layer)

    def forward(self, values: Any) -> Any:
        for layer in self.layers[:-1]:
            values = torch.cat([values, torch.nn.functional.softsign(layer(values))], dim=1)
        return self.layers[-1](values)
