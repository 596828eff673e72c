"""Strips as graphs: what is captured for a GPU gives, called on the CPU, what epoch by epoch gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from redelve.nets import (
    GL,
    Adam,
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
    Success,
    Trained,
    backend,
    graph_group,
    layered,
    train,
    training,
)
from redelve.nets.algorithms import Algorithm
from redelve.nets.stopping import success_alone
from tests.nets.problems import TINY, XOR, noisy_sets, some_weights

NETWORK = layered((5, 6, 3, 2), "softsign", "identity", shortcuts=True)
ALGORITHMS: dict[str, Algorithm] = {
    "momentum": GradientDescent((0.001, 0.002, 0.003, 0.004, 0.005, 0.006), momentum=0.9),
    "relevance": GradientDescent(0.001, scaling=InputRelevance()),
    "rprop": Rprop(),
    "irprop-": Rprop(variant="irprop-"),
    "plain": Rprop(variant="plain"),
    "epsilon": DescendingEpsilon(0.002),
    "adam": Adam((0.001, 0.002, 0.003, 0.004, 0.005, 0.006)),
    "batches": Adam(0.01, batch_size=7),
    "scg": ScaledConjugateGradients(),
}
ENGINES = ["numpy", pytest.param("torch", marks=pytest.mark.torch)]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "torch":
        pytest.importorskip("torch")
        pytest.importorskip("array_api_compat")
    return Engine(request.param)


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Graphs on the CPU: a replay is a call, and what was captured is noted."""
    found: list[Callable[[], None]] = []

    def captured(work: Callable[[], None]) -> Callable[[], None]:
        found.append(work)
        return work

    monkeypatch.setattr(backend, "captured", captured)
    return found


def both_ways(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Trained]) -> tuple[Trained, Trained]:
    plain = work()
    monkeypatch.setattr(training, "may_be_replayed", lambda lesson: True)
    return plain, work()


def assert_equal(plain: Trained, replayed: Trained, engine: Engine) -> None:
    """To the bit on NumPy; torch's products depend on how many runs are still in the batch, by rounding."""
    for name in ("weights", "final_weights", "lowest_training", "lowest_validation", "overfit"):
        first, second = getattr(plain, name), getattr(replayed, name)
        if engine.is_numpy:
            np.testing.assert_array_equal(second, first, err_msg=name)
        else:
            np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-12, err_msg=name)
    for name in ("epochs", "relevant_epochs", "traversals"):
        np.testing.assert_array_equal(getattr(replayed, name), getattr(plain, name), err_msg=name)
    assert replayed.reasons == plain.reasons


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("small", [0, 2**21])
def test_strips_as_graphs_train_the_same_networks(
    algorithm: str, small: int, engine: Engine, captures: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_group, "SMALL", small)
    procedure = Procedure(ALGORITHMS[algorithm], GL(2) | P(0.1) | MaxEpochs(62))
    weights = some_weights(NETWORK, 6)

    def work() -> Trained:
        return train(NETWORK, weights, noisy_sets(), procedure, seeds=range(6), engine=engine)

    plain, replayed = both_ways(monkeypatch, work)
    assert_equal(plain, replayed, engine)
    assert bool(captures) is (algorithm != "batches")


@pytest.mark.parametrize("small", [0, 2**21])
@pytest.mark.parametrize("algorithm", ["momentum", "epsilon"])
def test_success_is_seen_inside_a_graph(
    algorithm: str, small: int, engine: Engine, captures: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_group, "SMALL", small)
    chosen: dict[str, Algorithm] = {
        "momentum": GradientDescent(7.0, momentum=0.65),
        "epsilon": DescendingEpsilon(2.0),
    }
    procedure = Procedure(chosen[algorithm], Success(0.4) | MaxEpochs(117), strips=117)
    weights = some_weights(TINY, 200, 1.4)

    def work() -> Trained:
        return train(TINY, weights, Sets(XOR), procedure, engine=engine)

    plain, replayed = both_ways(monkeypatch, work)
    assert 0 < (plain.epochs < 117).sum() < 200
    assert_equal(plain, replayed, engine)
    assert captures


@pytest.mark.usefixtures("captures")
def test_a_strip_leaves_what_it_remembers_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph knows addresses: an array that is another one after a strip is lost to the next replay."""
    seen: list[dict[str, int]] = []
    walk = graph_group.GraphGroup._do

    def watched(self: Any, name: object, work: Callable[[], None]) -> None:
        walk(self, name, work)
        seen.append({key: id(value) for key, value in self._course.homes().items()})

    monkeypatch.setattr(graph_group.GraphGroup, "_do", watched)
    monkeypatch.setattr(training, "may_be_replayed", lambda lesson: True)
    for algorithm in ("rprop", "plain", "epsilon", "momentum", "adam", "scg"):
        seen.clear()
        procedure = Procedure(ALGORITHMS[algorithm], MaxEpochs(20))
        train(
            NETWORK,
            some_weights(NETWORK, 6),
            noisy_sets(),
            procedure,
            seeds=range(6),
            engine=Engine(threads=1),
        )
        assert len(seen) == 8
        assert all(each == seen[0] for each in seen)


def test_what_the_host_must_decide_is_no_graph() -> None:
    assert success_alone(MaxEpochs(9) | Success(0.3) | Success(0.4)) == 0.4
    assert success_alone(MaxEpochs(9)) is None
    assert success_alone((Success(0.4) & P(0.1)) | Success(0.3) | MaxEpochs(9)) is None
