"""Training algorithms against plain loops written from their papers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets import (
    Adam,
    Architecture,
    Data,
    DescendingEpsilon,
    Engine,
    GradientDescent,
    InputRelevance,
    MaxEpochs,
    Procedure,
    Rprop,
    ScaledConjugateGradients,
    Sets,
    SquaredOutputError,
    Success,
    WeightDecay,
    draw,
    layered,
    measure,
    train,
)
from redelve.nets.algorithms import Algorithm
from redelve.nets.algorithms.mini_batches import dealt
from redelve.nets.stacked import StackedKernel
from tests.nets.problems import TINY, XOR, noisy_sets, some_weights

Vector = NDArray[Any]
NETWORK = layered((5, 4, 2), "tanh", "identity", shortcuts=True)
EPOCHS = 60


def gradients(architecture: Architecture, data: Data) -> Callable[[Vector], Vector]:
    """The gradient as a function of one network's weights (test_gradients.py vouches for it)."""
    kernel = StackedKernel(architecture, Engine(), SquaredOutputError(), 1)
    cases = kernel.prepare(data)
    return lambda weights: np.array(kernel.look(weights[None].copy(), cases).gradient[0])


def trained(
    algorithm: Algorithm, architecture: Architecture = NETWORK, data: Data | None = None
) -> NDArray[Any]:
    procedure = Procedure(algorithm, MaxEpochs(EPOCHS))
    sets = Sets(data or noisy_sets().training)
    weights = some_weights(architecture, 3)
    return train(architecture, weights, sets, procedure, seeds=[0, 1, 2]).weights


def expect(weights: NDArray[Any], step: Callable[[int], Vector]) -> None:
    np.testing.assert_allclose(weights, [step(run) for run in range(len(weights))], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("network", [NETWORK, TINY])
def test_gradient_descent_is_the_plain_loop(network: Architecture) -> None:
    data = XOR if network is TINY else noisy_sets().training
    gradient, rates, momenta = gradients(network, data), (0.01, 0.02, 0.005), (0.9, 0.0, 0.5)

    def plain(run: int) -> Vector:
        weights, velocity = some_weights(network, 3)[run], np.zeros(network.connection_count)
        for _ in range(EPOCHS):
            velocity = momenta[run] * velocity - rates[run] * gradient(weights)
            weights = weights + velocity
        return np.asarray(weights)

    expect(trained(GradientDescent(rates, momenta), network, data), plain)


@pytest.mark.parametrize("variant", ["backtracking", "plain", "irprop-"])
@pytest.mark.parametrize("eta_plus", [1.2, 2.5, (1.1, 1.2, 1.3)])
def test_rprop_is_the_plain_loop(variant: str, eta_plus: float | tuple[float, float, float]) -> None:
    gradient = gradients(NETWORK, noisy_sets().training)

    def plain(run: int) -> Vector:  # Riedmiller and Braun 1993, figure 1; Igel and Hüsken 2000, section 2
        plus = eta_plus if isinstance(eta_plus, float) else eta_plus[run]
        weights, steps = some_weights(NETWORK, 3)[run], draw(NETWORK, [run], "delta0", 0.005, 0.02)[0]
        before, change = np.zeros(len(weights)), np.zeros(len(weights))
        for _ in range(EPOCHS):
            now = gradient(weights)
            for place, slope in enumerate(now):
                if slope * before[place] > 0:
                    steps[place] = min(steps[place] * plus, 0.3)
                elif slope * before[place] < 0:
                    steps[place] = max(steps[place] * 0.5, 1e-3)
                    if variant != "plain":
                        change[place] = -change[place] if variant == "backtracking" else 0.0
                        weights[place] += change[place]
                        before[place] = 0.0
                        continue
                change[place] = -np.sign(slope) * steps[place]
                weights[place] += change[place]
                before[place] = slope
        return np.asarray(weights)

    expect(trained(Rprop(eta_plus=eta_plus, variant=variant, delta_min=1e-3, delta_max=0.3)), plain)


@pytest.mark.parametrize("network", [NETWORK, TINY])
def test_descending_epsilon_leaves_near_outputs_alone(network: Architecture) -> None:
    data = XOR if network is TINY else noisy_sets().training
    kernel = StackedKernel(network, Engine(), SquaredOutputError(), 1)
    cases = kernel.prepare(data)

    def plain(run: int) -> Vector:
        weights, epsilon = some_weights(network, 3)[run], 0.6
        for _ in range(EPOCHS):
            outputs = kernel.outputs(weights[None], cases)[0]
            near = abs(outputs - data.targets) <= epsilon
            # A target equal to the output has no error: the network is left alone there.
            pulled = kernel.prepare(Data(data.inputs, np.where(near, outputs, data.targets)))
            slope = kernel.look(weights[None].copy(), pulled).gradient[0]
            if near.all():
                epsilon = max(0.05, epsilon - 0.05)
            weights = weights - 0.02 * slope
        return np.asarray(weights)

    expect(trained(DescendingEpsilon(0.02, first=0.6, decrease=0.05, last=0.05), network, data), plain)


@pytest.mark.parametrize("network", [NETWORK, TINY])
@pytest.mark.parametrize("size", [None, 3, 25])
def test_adam_is_the_plain_loop(network: Architecture, size: int | None) -> None:
    data = XOR if network is TINY else noisy_sets().training
    rates = (0.01, 0.02, 0.005)

    def plain(run: int) -> Vector:  # Kingma and Ba 2015, algorithm 1
        weights = some_weights(network, 3)[run]
        mean, square, step = np.zeros(len(weights)), np.zeros(len(weights)), 0
        for epoch in range(EPOCHS):
            for batch in dealt(data.cases, min(size or 60, data.cases), 0, epoch):
                slope = gradients(network, Data(data.inputs[batch], data.targets[batch]))(weights)
                step += 1
                mean = 0.9 * mean + 0.1 * slope
                square = 0.999 * square + 0.001 * slope**2
                corrected = mean / (1 - 0.9**step), square / (1 - 0.999**step)
                weights = weights - rates[run] * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
        return np.asarray(weights)

    found = trained(Adam(rates, batch_size=size), network, data)
    np.testing.assert_allclose(found, [plain(run) for run in range(3)], rtol=1e-7, atol=1e-8)


def test_batches_deal_every_case_once_and_anew_in_every_epoch() -> None:
    epochs = [dealt(10, 4, 3, epoch) for epoch in range(5)]
    for batches in epochs:
        assert [len(batch) for batch in batches] == [4, 4, 2]
        assert sorted(np.concatenate(batches).tolist()) == list(range(10))
    orders = {tuple(np.concatenate(batches).tolist()) for batches in [*epochs, dealt(10, 4, 4, 0)]}
    assert len(orders) == 6


def test_the_error_of_an_epoch_in_batches_is_the_sum_over_them() -> None:
    """With a rate of zero the weights stay, so that the sum is the error of all cases."""
    data, weights = noisy_sets().training, some_weights(NETWORK, 3)
    procedure = Procedure(GradientDescent(0.0, batch_size=7), MaxEpochs(1))
    result = train(NETWORK, weights, Sets(data), procedure)
    np.testing.assert_allclose(result.lowest_training, measure(NETWORK, weights, data), rtol=1e-12)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("strength", [0.3, (0.1, 0.0, 2.0)])
@pytest.mark.parametrize("size", [None, 25])
def test_weight_decay_adds_its_gradient_and_its_penalty(
    biases: bool, strength: float | tuple[float, ...], size: int | None
) -> None:
    data = noisy_sets().training
    free = [] if biases else list(NETWORK.biases_at)

    def plain(run: int) -> Vector:
        pull = np.full(NETWORK.connection_count, np.broadcast_to(strength, 3)[run])
        pull[free] = 0.0
        weights = some_weights(NETWORK, 3)[run]
        for epoch in range(EPOCHS):
            for batch in dealt(60, size or 60, 0, epoch):
                slope = gradients(NETWORK, Data(data.inputs[batch], data.targets[batch]))(weights)
                weights = weights - 0.01 * (slope + len(batch) / 60 * pull * weights)
        return np.asarray(weights)

    algorithm, decay = GradientDescent(0.01, batch_size=size), WeightDecay(strength, biases=biases)
    procedure = Procedure(algorithm, MaxEpochs(EPOCHS), decay=decay)
    expect(train(NETWORK, some_weights(NETWORK, 3), Sets(data), procedure).weights, plain)


def test_scaled_conjugate_gradients_with_decay_find_the_ridge_solution() -> None:
    """Hoerl and Kennard 1970: (XᵀX + kI)⁻¹ Xᵀy, the intercept not penalised."""
    random = np.random.default_rng(2)
    inputs = random.normal(size=(50, 6))
    data = Data(inputs, inputs @ random.normal(size=(6, 1)) + 3 + random.normal(size=(50, 1)))
    network, design = Architecture((6, 1), ("identity",)), np.hstack([inputs, np.ones((50, 1))])
    penalties = (0.0, 5.0, 40.0)
    procedure = Procedure(ScaledConjugateGradients(), MaxEpochs(60), decay=WeightDecay(penalties))
    result = train(network, some_weights(network, 3), Sets(data), procedure)
    for run, k in enumerate(penalties):
        ridge = np.diag([k] * 6 + [0.0])
        best = np.linalg.solve(design.T @ design + ridge, design.T @ data.targets)[:, 0]
        np.testing.assert_allclose(result.weights[run], best, rtol=1e-5, atol=1e-7)
        scale = SquaredOutputError().scale(network, 50)
        penalty = scale * k * (best[:6] ** 2).sum()
        error = measure(network, best[None], data)[0]
        np.testing.assert_allclose(result.lowest_training[run], error + penalty, rtol=1e-6)


def test_descending_epsilon_learns_exclusive_or() -> None:
    procedure = Procedure(DescendingEpsilon(0.5, momentum=0.9), Success() | MaxEpochs(3000))
    result = train(TINY, some_weights(TINY, 20, 1.4), Sets(XOR), procedure)
    assert result.reasons.count("Success(tau=0.4)") >= 12


def test_scaled_conjugate_gradients_solve_a_quadratic_in_as_many_steps_as_weights() -> None:
    """Møller 1993, section 3: on a quadratic the directions are conjugate, so n steps suffice."""
    random = np.random.default_rng(2)
    inputs = random.normal(size=(50, 6)) * [1, 2, 3, 0.5, 0.2, 1]
    data = Data(inputs, inputs @ random.normal(size=(6, 1)) + 3 + random.normal(size=(50, 1)))
    network = Architecture((6, 1), ("identity",))
    design = np.hstack([inputs, np.ones((50, 1))])
    best = np.linalg.lstsq(design, data.targets, rcond=None)[0][:, 0]
    procedure = Procedure(ScaledConjugateGradients(sigma=1e-2, damping=1e-12), MaxEpochs(7))
    result = train(network, some_weights(network, 4), Sets(data), procedure)
    np.testing.assert_allclose(result.weights, np.tile(best, (4, 1)), rtol=1e-4)


def plain_scg(architecture: Architecture, data: Data, weights: Vector, iterations: int) -> Vector:
    """Møller 1993, section 4, line by line, for one network."""
    gradient, count = gradients(architecture, data), len(weights)
    scale = float(SquaredOutputError().scale(architecture, data.cases))

    def cost(at: Vector) -> float:
        return float(measure(architecture, at[None], data)[0]) / scale / 2

    lam: Any = 1e-6
    lam_bar: Any = 0.0
    success: Any = True
    turn: Any
    delta: Any = 0.0
    residual = -gradient(weights)
    direction = residual.copy()
    for k in range(1, iterations + 1):
        length = direction @ direction
        if success:
            sigma = 1e-4 / np.sqrt(length)
            delta = direction @ (gradient(weights + sigma * direction) - gradient(weights)) / sigma
        delta += (lam - lam_bar) * length
        if delta <= 0:
            lam_bar = 2 * (lam - delta / length)
            delta = -delta + lam * length
            lam = lam_bar
        mu = direction @ residual
        alpha = mu / delta
        gain = 2 * delta * (cost(weights) - cost(weights + alpha * direction)) / mu**2
        success = gain >= 0
        if success:
            weights = weights + alpha * direction
            new = -gradient(weights)
            lam_bar = 0.0
            turn = 0.0 if k % count == 0 else (new @ new - new @ residual) / mu
            direction, residual = new + turn * direction, new
            lam = lam / 4 if gain >= 0.75 else lam
        else:
            lam_bar = lam
        lam = lam + delta * (1 - gain) / length if gain < 0.25 else lam
    return weights


def test_scaled_conjugate_gradients_are_those_of_the_paper() -> None:
    data = noisy_sets().training
    weights = some_weights(NETWORK, 3, 1.5)
    procedure = Procedure(ScaledConjugateGradients(), MaxEpochs(40))
    result = train(NETWORK, weights, Sets(data), procedure)
    for run in range(3):
        expected = plain_scg(NETWORK, data, weights[run], 40)
        np.testing.assert_allclose(result.weights[run], expected, rtol=1e-5, atol=1e-6)
    assert (measure(NETWORK, result.weights, data) < measure(NETWORK, weights, data) / 2).all()


def test_scaled_conjugate_gradients_stay_at_a_minimum() -> None:
    network, data = Architecture((1, 1), ("identity",)), Data([[0.0], [1.0]], [[0.0], [0.0]])
    procedure = Procedure(ScaledConjugateGradients(), MaxEpochs(10))
    result = train(network, np.zeros((1, 2)), Sets(data), procedure)
    np.testing.assert_array_equal(result.weights, np.zeros((1, 2)))


@pytest.mark.parametrize(
    "network", [layered((3, 4, 1), "tanh", "identity"), layered((3, 1, 1), "tanh", "identity")]
)
@pytest.mark.parametrize("cases", [60, 4])
def test_input_relevance_scales_the_weights_out_of_each_input(network: Architecture, cases: int) -> None:
    data = noisy_sets(inputs=3, outputs=1, cases=cases).training
    gradient, size = gradients(network, data), network.sizes[1]

    def plain(run: int) -> Vector:
        weights = some_weights(network, 3)[run]
        for _ in range(EPOCHS):
            slope = gradient(weights)
            own = slope[: 4 * size].reshape(size, 4)[:, :3]  # a view: the bias is the fourth of each row
            power = (own**2).sum(axis=0)
            own *= power**2 / (power**2).max()
            weights = weights - 0.01 * slope
        return np.asarray(weights)

    expect(trained(GradientDescent(0.01, scaling=InputRelevance()), network, data), plain)


def test_nonsense_is_refused() -> None:
    with pytest.raises(SpecError, match="known are backtracking, plain, irprop-"):
        Rprop(variant="rprop+")
    with pytest.raises(SpecError, match="5 numbers as delta0: give one first step, or two ends"):
        Rprop(delta0=(0.1, 0.1, 0.1, 0.2, 0.2))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="give 0 <= delta_min <= delta_max"):
        Rprop(delta_min=2, delta_max=1)
    with pytest.raises(SpecError, match="give 0 <= last <= first"):
        DescendingEpsilon(0.1, first=0.1, last=0.2)
    with pytest.raises(SpecError, match="batch_size=0: give 1 or more"):
        Adam(batch_size=0)
    with pytest.raises(SpecError, match=r"weight decay of -0\.1: give 0 or more"):
        WeightDecay(-0.1)
    with pytest.raises(SpecError, match="2 values for 3 runs"):
        trained(GradientDescent((0.1, 0.2)))
    with pytest.raises(SpecError, match="give train a seed for each run"):
        train(TINY, some_weights(TINY, 2), Sets(XOR), Procedure(Rprop(), MaxEpochs(3)))
