"""The GPU's kernels, interpreted on the CPU, do what the passes they stand for do, beyond rounding."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from redelve.nets import Architecture, Data, Engine, layered
from redelve.nets.backend import Replays
from redelve.nets.sampling import NetworkPrior, PosteriorSamples, SamplingPlan, sample, sampler
from redelve.nets.sampling import chain_likelihood as likelihood
from redelve.nets.sampling.chain_state import ChainState
from redelve.nets.sampling.fused_passes import FusedPasses, fits, places_of
from redelve.nets.sampling.trajectory import Trajectory

TORCH = Engine("torch", "float32")
CHAINS, CASES = 2, 70
NETWORKS = {
    "few inputs": layered((3, 5, 1), "tanh", "identity"),
    "many inputs": layered((32, 25, 1), "tanh", "identity"),
    "direct connections": layered((3, 5, 1), "tanh", "identity", shortcuts=True),
}


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    pytest.importorskip("triton")


def some_data(network: Architecture) -> Data:
    rng = np.random.default_rng(5)
    inputs = rng.standard_normal((CHAINS, CASES, network.inputs))
    return Data(inputs, np.sin(inputs[..., :1]) + 0.1 * rng.standard_normal((CHAINS, CASES, 1)))


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_every_weight_has_one_place(network: Architecture) -> None:
    places = places_of(network)
    assert sorted(places[places >= 0]) == list(range(network.connection_count))


def far_trajectory(network: Architecture) -> tuple[Trajectory, FusedPasses]:
    """A trajectory somewhere, and kernels that know its cases."""
    plan = SamplingPlan(passes=600, steps=20)
    trajectory = Trajectory(ChainState(network, some_data(network), NetworkPrior(), plan, CHAINS, TORCH))
    rng = np.random.default_rng(6)
    widths = {"_weights": 0.3, "_velocity": 0.01, "_force": 1e-3, "_kick": 1e-4, "_pull": 1e-3}
    for name, width in widths.items():
        array = getattr(trajectory, name)
        array[...] = TORCH.array(width * np.abs(rng.standard_normal(array.shape)))
    kernel, cases = trajectory._state.likelihood.kernel, trajectory._state.likelihood.cases
    return trajectory, FusedPasses(network, kernel.joined(cases), CHAINS, TORCH)


@pytest.mark.torch
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_leaps_are_those_of_the_trajectory(network: Architecture) -> None:
    trajectory, fused = far_trajectory(network)
    moving = [trajectory._weights, trajectory._velocity, trajectory._force]
    own: list[Any] = [each.clone() for each in moving]
    squares = trajectory._squares.clone()
    fused.leap(own, trajectory._kick, trajectory._pull, 3, squares)
    trajectory._leap(count=3)
    for ours, theirs in zip(own, moving, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=3e-7)
    np.testing.assert_allclose(squares, trajectory._squares, rtol=1e-6)


@pytest.mark.torch
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_looks_are_those_of_the_likelihood(network: Architecture) -> None:
    trajectory, fused = far_trajectory(network)
    ours, theirs = (trajectory._weights.clone() for _ in range(2))
    seen = fused.look(trajectory._weights, ours)
    np.testing.assert_allclose(
        seen, trajectory._state.likelihood.look(trajectory._weights, theirs), rtol=1e-6
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.torch
@pytest.mark.usefixtures("interpreted")
def test_chains_are_the_same_beyond_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    network = NETWORKS["few inputs"]
    plan = SamplingPlan(passes=50, steps=4, window=2, scale_steps=2, exchanges=1, kept=3, still=1)

    def found() -> PosteriorSamples:
        return sample(network, some_data(network), NetworkPrior(), plan, seeds=[1, 2], engine=TORCH)

    called = found()
    monkeypatch.setattr(likelihood, "fits", lambda *_: True)
    fused = found()
    assert plan.updates > 4
    np.testing.assert_allclose(fused.weights, called.weights, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(fused.acceptance, called.acceptance)


def test_only_what_is_known_is_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redelve.nets.sampling.fused_passes._has_triton", lambda: True)
    gpu = Engine("torch", "float32", "cuda")
    known = NETWORKS["many inputs"]
    assert fits(known, gpu)
    assert not fits(known, TORCH)
    assert not fits(known, Engine("torch", "float64", "cuda"))
    for other in (
        layered((3, 5, 2), "tanh", "identity"),
        layered((3, 5, 4, 1), "tanh", "identity"),
        layered((3, 5, 1), "logistic", "identity"),
        layered((200, 25, 1), "tanh", "identity"),
    ):
        assert not fits(other, gpu)


class Noted(Replays):
    """Pieces by name, each of which may be done in one way only; all are called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[object] = []

    def do(self, name: object, work: Callable[[], None]) -> None:
        self.names.append(name)
        work()


@pytest.mark.torch
@pytest.mark.usefixtures("interpreted")
def test_an_update_is_one_piece_for_each_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    network, noted = NETWORKS["few inputs"], Noted()
    monkeypatch.setattr(likelihood, "fits", lambda *_: True)
    monkeypatch.setattr(sampler, "replays_on", lambda _: noted)
    plan = SamplingPlan(passes=50, steps=4, window=2, kept=3)
    sample(network, some_data(network), NetworkPrior(), plan, seeds=[1, 2], engine=TORCH)
    assert noted.names == [sampler.offset_of(number, 2) for number in range(plan.updates)]
