"""Case weights: errors and gradients of each case are multiplied; weight 0 is padding."""

from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from redelve import nets
from redelve.errors import SpecError
from redelve.nets import (
    GL,
    Adam,
    Architecture,
    CrossEntropy,
    Data,
    Engine,
    GradientDescent,
    MaxEpochs,
    Procedure,
    Rprop,
    ScaledConjugateGradients,
    Sets,
    SquaredOutputError,
    Success,
    measure,
    train,
)
from redelve.nets.algorithms import Algorithm
from redelve.nets.error_functions import ErrorFunction
from redelve.nets.kernel import NetworkKernel
from redelve.nets.stacked import StackedKernel
from redelve.nets.wide import WideKernel
from tests.nets.problems import XOR, noisy_sets, some_weights

NETWORKS: dict[str, tuple[Architecture, ErrorFunction]] = {
    "squares": (Architecture((3, 4, 2), ("tanh", "identity"), shortcuts=True), SquaredOutputError(-1, 1)),
    "softmax": (Architecture((3, 4, 2), ("tanh", "softmax")), CrossEntropy()),
    "logistic": (Architecture((3, 2), ("logistic",)), CrossEntropy()),
}
RUNS, CASES = 3, 6


def data_of(own: bool, weighting: Literal["shared", "own"]) -> Data:
    random = np.random.default_rng(4)
    lead = (RUNS,) if own else ()
    targets = random.random(size=(*lead, CASES, 2))
    weights = random.integers(0, 4, size=(RUNS, CASES)) + np.eye(RUNS, CASES)
    return Data(
        random.normal(size=(*lead, CASES, 3)),
        targets / targets.sum(axis=-1, keepdims=True),
        weights if weighting == "own" else weights[0],
    )


def of_run(data: Data, run: int) -> Data:
    """The run's cases, each as often as its weight says."""
    inputs, targets = (each[run] if each.ndim == 3 else each for each in (data.inputs, data.targets))
    assert data.weights is not None
    times = data.weights[run] if data.weights.ndim == 2 else data.weights
    return Data(np.repeat(inputs, times.astype(int), axis=0), np.repeat(targets, times.astype(int), axis=0))


@pytest.mark.parametrize("kind", [StackedKernel, WideKernel])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("weighting", ["shared", "own"])
def test_a_case_of_weight_k_counts_as_k_cases(
    kind: type[NetworkKernel], network: str, own: bool, weighting: Literal["shared", "own"]
) -> None:
    architecture, error = NETWORKS[network]
    data, weights = data_of(own, weighting), some_weights(architecture, RUNS)
    kernel = kind(architecture, Engine(), error, RUNS)
    seen = kernel.look(kernel.load(weights), kernel.prepare(data), worst=True)
    errors = kernel.errors(kernel.load(weights), kernel.prepare(data))
    for run in range(RUNS):
        single = kind(architecture, Engine(), error, 1)
        alone = single.look(
            single.load(weights[run : run + 1]), single.prepare(of_run(data, run)), worst=True
        )
        np.testing.assert_allclose(kernel.unload(seen.gradient)[run], single.unload(alone.gradient)[0])
        np.testing.assert_allclose([seen.error[run], errors[run]], alone.error[0], rtol=1e-12)
        assert alone.worst is not None
        assert seen.worst is not None
        np.testing.assert_allclose(seen.worst[run], alone.worst[0], rtol=1e-12)


def padded(data: Data, counts: list[int], rubbish: float) -> Data:
    """The first cases of each run, and rubbish of weight 0 after them."""
    weights = (np.arange(data.cases) < np.array(counts)[:, None]).astype(float)
    extra = rubbish * (weights == 0)[..., None]
    return Data(data.inputs + extra, data.targets + extra, weights)


@pytest.mark.parametrize("algorithm", [Rprop(), ScaledConjugateGradients()])
def test_padding_makes_no_difference_to_training(algorithm: Algorithm) -> None:
    network, sets, counts = Architecture((5, 4, 2), ("tanh", "identity")), noisy_sets(4), [60, 25, 40, 33]
    assert sets.validation is not None
    weights, procedure = some_weights(network, 4), Procedure(algorithm, GL(5) | MaxEpochs(25))
    halves = [count // 2 for count in counts]
    both = Sets(padded(sets.training, counts, 7.0), padded(sets.validation, halves, -3.0))
    together = train(network, weights, both, procedure, seeds=range(4))
    for run, count in enumerate(counts):
        own = Sets(
            *(
                Data(each.inputs[run, :many], each.targets[run, :many])
                for each, many in ((sets.training, count), (sets.validation, count // 2))
            )
        )
        alone = train(network, weights[run : run + 1], own, procedure, seeds=[run])
        assert alone.epochs[0] == together.epochs[run]
        np.testing.assert_allclose(together.weights[run], alone.weights[0], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(together.lowest_validation[run], alone.lowest_validation[0], rtol=1e-9)


def test_runs_with_different_numbers_of_cases_are_padded() -> None:
    network = Architecture((3, 4, 2), ("tanh", "softmax"))
    whole = noisy_sets(inputs=3).training
    counts, seeds, weights = (20, 60, 45), range(3), some_weights(network, 3)
    data = nets.padded([whole.inputs[:n] for n in counts], [whole.targets[:n] for n in counts])
    procedure = Procedure(Adam(0.01), MaxEpochs(30), CrossEntropy())
    together = train(network, weights, Sets(data), procedure, seeds=seeds)
    for run, count in enumerate(counts):
        own = Sets(Data(whole.inputs[:count], whole.targets[:count]))
        alone = train(network, weights[[run]], own, procedure)
        np.testing.assert_allclose(together.weights[run], alone.weights[0], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(together.lowest_training[run], alone.lowest_training[0], rtol=1e-9)
    with pytest.raises(SpecError, match=r"of unequal sizes.*go through redelve\.nets\.padded"):
        Data([whole.inputs, whole.inputs[:40]], [whole.targets, whole.targets[:40]])


def test_batches_have_the_weights_of_their_cases() -> None:
    data, weights = data_of(own=True, weighting="own"), some_weights(NETWORKS["squares"][0], RUNS)
    procedure = Procedure(GradientDescent(0.0, batch_size=4), MaxEpochs(1), SquaredOutputError(-1, 1))
    found = train(NETWORKS["squares"][0], weights, Sets(data), procedure).lowest_training
    wanted = measure(NETWORKS["squares"][0], weights, data, error=SquaredOutputError(-1, 1))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_padding_does_not_keep_a_run_from_success() -> None:
    network = Architecture((2, 2, 1), ("logistic", "logistic"))
    hopeless = Data([*XOR.inputs, [0, 0]], [*XOR.targets, [1]], [1, 1, 1, 1, 0])
    procedure = Procedure(Rprop(), Success(0.4) | MaxEpochs(200))
    plain, wide = (
        train(network, some_weights(network, 20, 1.4), Sets(data), procedure, seeds=range(20))
        for data in (XOR, hopeless)
    )
    np.testing.assert_array_equal(plain.epochs, wide.epochs)
    assert wide.epochs.min() < 200


@pytest.mark.parametrize("cases", [5, 60])
def test_weighted_runs_do_not_depend_on_their_company(cases: int) -> None:
    network, sets = Architecture((5, 3, 2), ("tanh", "identity")), noisy_sets(4, cases=cases)
    random = np.random.default_rng(1).random((4, cases))
    data = Data(sets.training.inputs, sets.training.targets, random)
    procedure, weights = Procedure(Rprop(), MaxEpochs(20)), some_weights(network, 4)
    together = train(network, weights, Sets(data), procedure, seeds=range(4))
    alone = train(network, weights[2:3], Sets(data.of_runs(np.array([2]))), procedure, seeds=[2])
    np.testing.assert_array_equal(together.weights[2], alone.weights[0])
    np.testing.assert_array_equal(together.lowest_training[2], alone.lowest_training[0])


@pytest.mark.torch
@pytest.mark.parametrize("kind", [StackedKernel, WideKernel])
@pytest.mark.parametrize("network", NETWORKS)
def test_torch_weighs_cases_as_numpy_does(kind: type[NetworkKernel], network: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    architecture, error = NETWORKS[network]
    data, weights = data_of(True, "own"), some_weights(architecture, RUNS)
    found: list[NDArray[Any]] = []
    for backend in ("numpy", "torch"):
        kernel = kind(architecture, Engine(backend), error, RUNS)
        seen = kernel.look(kernel.load(weights), kernel.prepare(data))
        found.append(np.column_stack([kernel.unload(seen.gradient), kernel.engine.numpy(seen.error)]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"case weights of shape \(2,\) for 4 cases: give one for each case, or runs × cases"),
        ([1.0, -1.0, 1.0, 1.0], r"case weights from -1.0 to 1.0: give finite ones, 0 or more"),
        ([1.0, np.inf, 1.0, 1.0], r"case weights from 1.0 to inf: give finite ones"),
        ([[1.0] * 4, [0.0] * 4], "all case weights of a run are 0: give at least one case a weight above 0"),
    ],
)
def test_impossible_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Data(XOR.inputs, XOR.targets, weights)


def test_weights_for_other_runs_are_refused() -> None:
    network = Architecture((2, 1), ("identity",))
    data = Data(XOR.inputs, XOR.targets, np.ones((3, 4)))
    with pytest.raises(SpecError, match="case weights for 3 runs, the networks are 2: give as many of each"):
        measure(network, np.zeros((2, 3)), data)
