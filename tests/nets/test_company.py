"""No run's result depends on which other runs share its batch: bit for bit, in float64 and in float32."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from redelve.nets import (
    GL,
    PQ,
    UP,
    Adam,
    Architecture,
    CrossEntropy,
    Data,
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
    Trained,
    WeightDecay,
    layered,
    predict,
    train,
)
from redelve.nets.algorithms import Algorithm
from redelve.nets.error_functions import ErrorFunction
from redelve.nets.stopping import StoppingRule
from tests.nets.problems import TINY, XOR, noisy_sets, some_weights

RUNS = 60
EXACT = [
    "weights",
    "final_weights",
    "epochs",
    "relevant_epochs",
    "lowest_training",
    "lowest_validation",
    "overfit",
    "traversals",
]
RATES = tuple(np.linspace(0.001, 0.01, RUNS))
ALGORITHMS: dict[str, Algorithm] = {
    "momentum": GradientDescent(RATES, momentum=0.9),
    "relevance": GradientDescent(0.01, momentum=0.5, scaling=InputRelevance()),
    "rprop": Rprop(),
    "irprop-": Rprop(variant="irprop-", eta_plus=tuple(np.linspace(1.1, 1.3, RUNS))),
    "plain": Rprop(variant="plain"),
    "epsilon": DescendingEpsilon(0.005, momentum=0.9),
    "scg": ScaledConjugateGradients(),
    "adam": Adam(RATES),
    "adam in batches": Adam(0.01, batch_size=17),
}
NETWORKS: dict[str, tuple[Architecture, ErrorFunction]] = {
    "shortcuts": (layered((5, 7, 3, 2), "softsign", "identity", shortcuts=True), SquaredOutputError()),
    "tanh": (Architecture((5, 8, 2), ("tanh", "logistic")), SquaredOutputError()),
    "softmax": (Architecture((5, 6, 2), ("logistic", "softmax")), CrossEntropy()),
    "relu": (Architecture((5, 8, 2), ("relu", "identity")), SquaredOutputError()),
    "one unit": (Architecture((5, 1, 2), ("tanh", "tanh"), biases=False), SquaredOutputError()),
    "linear": (Architecture((5, 2), ("identity",)), SquaredOutputError()),
}
STOPPING: StoppingRule = GL(5) | P(0.1) | (UP(2).once() & PQ(1).once()) | MaxEpochs(83)


def alone(run: int, sets: Sets) -> Sets:
    rows = np.array([run])
    return Sets(**{name: data.of_runs(rows) for name, data in sets.named().items()})


def only(run: int, algorithm: Algorithm) -> Algorithm:
    """The algorithm with the hyperparameters of one run."""
    fields = {
        name: (value[run],)
        for name, value in vars(algorithm).items()
        if isinstance(value, tuple) and len(value) == RUNS
    }
    return type(algorithm)(**vars(algorithm) | fields)


def assert_same(together: Trained, run: int, single: Trained, place: int = 0) -> None:
    for name in EXACT:
        np.testing.assert_array_equal(
            getattr(together, name)[run], getattr(single, name)[place], err_msg=name
        )
    assert together.reasons[run] == single.reasons[place]


def run_alone_equals_run_in_company(
    network: Architecture, weights: NDArray[Any], sets: Sets, procedure: Procedure, dtype: str = "float64"
) -> Trained:
    seeds = list(range(RUNS))
    together = train(network, weights, sets, procedure, seeds=seeds, engine=Engine(dtype=dtype))
    order = np.argsort(together.epochs, kind="stable")
    for run in (0, 1, 31, RUNS - 1, int(order[0]), int(order[-1])):
        own = Procedure(only(run, procedure.algorithm), procedure.stopping, procedure.error, procedure.strips)
        single = train(
            network, weights[[run]], alone(run, sets), own, seeds=[run], engine=Engine(dtype=dtype, threads=1)
        )
        assert_same(together, run, single)
    return together


def combinations() -> Iterator[Any]:
    """All of them; half, in which each two of the three meet, are quick."""
    for (row, algorithm), (column, network), own in product(
        enumerate(ALGORITHMS), enumerate(NETWORKS), (False, True)
    ):
        marks = () if (row + column) % 2 == own else pytest.mark.slow
        yield pytest.param(
            algorithm, network, own, id=f"{'own' if own else 'same'} data-{network}-{algorithm}", marks=marks
        )


@pytest.mark.parametrize(("algorithm", "network", "own_data"), list(combinations()))
def test_a_run_alone_is_the_run_in_a_batch_of_60(algorithm: str, network: str, own_data: bool) -> None:
    architecture, error = NETWORKS[network]
    sets = noisy_sets(RUNS if own_data else None)
    procedure = Procedure(ALGORITHMS[algorithm], STOPPING, error)
    weights = some_weights(architecture, RUNS)
    together = run_alone_equals_run_in_company(architecture, weights, sets, procedure)
    if network != "linear" and algorithm in ("rprop", "scg"):
        assert len(set(together.epochs)) > 3, "runs should leave at different times for this test to tell"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_tiny_network_alone_is_the_one_in_a_batch_of_60(algorithm: str, dtype: str) -> None:
    weights = some_weights(TINY, RUNS, 1.4)
    procedure = Procedure(ALGORITHMS[algorithm], Success(0.45) | P(0.01) | MaxEpochs(83))
    run_alone_equals_run_in_company(TINY, weights, Sets(XOR), procedure, dtype)


@pytest.mark.parametrize("algorithm", ["momentum", "rprop", "scg", "adam in batches"])
@pytest.mark.parametrize("network", ["relu", "softmax"])
def test_weight_decay_of_each_run_is_its_own(algorithm: str, network: str) -> None:
    architecture, error = NETWORKS[network]
    strengths = tuple(np.geomspace(1e-3, 1.0, RUNS))
    weights, sets, seeds = some_weights(architecture, RUNS), noisy_sets(), range(RUNS)
    procedure = Procedure(ALGORITHMS[algorithm], STOPPING, error, decay=WeightDecay(strengths))
    together = train(architecture, weights, sets, procedure, seeds=seeds)
    for run in (0, 31, RUNS - 1):
        own = replace(
            procedure, algorithm=only(run, procedure.algorithm), decay=WeightDecay((strengths[run],))
        )
        assert_same(together, run, train(architecture, weights[[run]], sets, own, seeds=[run]))


@pytest.mark.parametrize("algorithm", ["momentum", "scg"])
def test_a_tiny_network_with_own_data_too(algorithm: str) -> None:
    random = np.random.default_rng(1)
    sets = Sets(*(Data(random.normal(size=(RUNS, 4, 2)), random.random((RUNS, 4, 1))) for _ in range(2)))
    procedure = Procedure(ALGORITHMS[algorithm], GL(3) | MaxEpochs(83))
    run_alone_equals_run_in_company(TINY, some_weights(TINY, RUNS, 1.4), sets, procedure)


@pytest.mark.parametrize("network", NETWORKS)
def test_float32_too(network: str) -> None:
    architecture, error = NETWORKS[network]
    procedure = Procedure(Rprop(), STOPPING, error)
    weights = some_weights(architecture, RUNS)
    run_alone_equals_run_in_company(architecture, weights, noisy_sets(), procedure, "float32")


@pytest.mark.parametrize("network", ["shortcuts", "softmax"])
@pytest.mark.parametrize("chunk", [1, 7, 24])
@pytest.mark.parametrize("threads", [1, 2])
def test_chunks_and_threads_change_nothing(network: str, chunk: int, threads: int) -> None:
    architecture, error = NETWORKS[network]
    count = 24  # in chunks of 7, the last is shorter
    weights, sets, seeds = some_weights(architecture, count), noisy_sets(), list(range(count))
    procedure = Procedure(Rprop(), STOPPING, error)
    usual = train(architecture, weights, sets, procedure, seeds=seeds)
    engine = Engine(chunk=chunk, threads=threads)
    cut = train(architecture, weights, sets, procedure, seeds=seeds, engine=engine)
    for run in range(count):
        assert_same(usual, run, cut, run)
    every = predict(architecture, usual.weights, sets.training.inputs)
    np.testing.assert_array_equal(
        every, predict(architecture, usual.weights, sets.training.inputs, engine=engine)
    )


def test_larger_networks_and_sets_that_are_cut_into_blocks() -> None:
    architecture = layered((40, 32, 3), "softsign", "identity", shortcuts=True)
    sets = noisy_sets(inputs=40, outputs=3, cases=1300)
    procedure = Procedure(Rprop(), MaxEpochs(12))
    weights, seeds = some_weights(architecture, 12, 0.1), list(range(12))
    together = train(architecture, weights, sets, procedure, seeds=seeds)
    for run in (0, 5, 11):
        assert_same(together, run, train(architecture, weights[[run]], sets, procedure, seeds=[run]))


def test_the_order_of_runs_does_not_matter() -> None:
    architecture, error = NETWORKS["tanh"]
    weights, sets = some_weights(architecture, RUNS), noisy_sets()
    procedure = Procedure(ScaledConjugateGradients(), STOPPING, error)
    there = train(architecture, weights, sets, procedure)
    back = train(architecture, weights[::-1].copy(), sets, procedure)
    for run in range(RUNS):
        assert_same(there, run, back, RUNS - 1 - run)
