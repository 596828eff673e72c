"""Every move leaves the posterior as it is: Geweke's joint test, and the test itself notices faults."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from redelve.nets import Architecture, Engine
from redelve.nets.sampling import NetworkPrior, SamplingPlan
from redelve.nets.sampling.chain_state import ChainState
from redelve.nets.sampling.further_moves import ExchangeMove
from tests.nets.sampling.geweke import NETWORK, PRIOR, Geweke

DIRECT = Architecture((3, 2, 1), ("tanh", "identity"), shortcuts=True)
SMALLEST = 1e-4
"""About ten p-values in each of eight tests: one in a hundred such files would fail by chance alone."""

MOVES: dict[str, tuple[NetworkPrior, SamplingPlan, Architecture, str]] = {
    "trajectories and Gibbs": (PRIOR, SamplingPlan(steps=5), NETWORK, "float64"),
    "windows and persistence": (PRIOR, SamplingPlan(steps=7, window=3, persistence=0.8), NETWORK, "float64"),
    "no relevance": (replace(PRIOR, relevance=None), SamplingPlan(steps=5), NETWORK, "float64"),
    "t noise": (replace(PRIOR, noise_df=4.0), SamplingPlan(steps=5), NETWORK, "float64"),
    "scale move": (PRIOR, SamplingPlan(steps=1, scale_steps=5), NETWORK, "float64"),
    "exchanges": (PRIOR, SamplingPlan(steps=1, exchanges=3), NETWORK, "float64"),
    "all with direct connections": (
        PRIOR,
        SamplingPlan(steps=5, scale_steps=4, exchanges=2),
        DIRECT,
        "float64",
    ),
    "all in float32": (PRIOR, SamplingPlan(steps=5, scale_steps=4, exchanges=2), NETWORK, "float32"),
}


@pytest.mark.parametrize("name", MOVES)
def test_parameters_and_data_in_turn_leave_the_prior(name: str) -> None:
    prior, plan, network, dtype = MOVES[name]
    made = Geweke(4000, prior, plan, network=network, engine=Engine(dtype=dtype)).run(10)
    rates = made.state.accepted.mean(axis=0) / 10
    assert rates[0] > 0.3
    assert rates[1] > 0.3 or not plan.scale_steps
    assert rates[2] > 0.3 or not plan.exchanges
    found = made.p_values()
    assert min(found.values()) > SMALLEST, found


@pytest.mark.torch
@pytest.mark.parametrize("df", [None, 4.0])
def test_torch_leaves_the_prior(df: float | None) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    plan = SamplingPlan(steps=5, window=2, scale_steps=4, exchanges=2)
    made = Geweke(4000, replace(PRIOR, noise_df=df), plan, engine=Engine("torch")).run(6)
    found = made.p_values()
    assert min(found.values()) > SMALLEST, found


def test_a_wrong_jacobian_of_the_scale_move_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Geweke(4000, PRIOR, SamplingPlan(steps=1, scale_steps=5))
    made.state.alphas = (
        made.state.alphas - 2.0
    )  # as if the density were that of the precision, not of its log
    assert min(made.run(10).p_values().values()) < SMALLEST


def test_exchanges_that_forget_the_precisions_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ExchangeMove._try

    def forgetful(self: Any, *uniforms: Any) -> None:
        before = self._state.precisions.copy()
        whole(self, *uniforms)
        self._state.precisions[...] = before

    monkeypatch.setattr(ExchangeMove, "_try", forgetful)
    made = Geweke(4000, replace(PRIOR, relevance=0.7), SamplingPlan(steps=1, exchanges=3)).run(10)
    assert min(made.p_values().values()) < SMALLEST


def test_steps_that_depend_on_what_moves_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ChainState.per_weight

    def greedy(self: Any, per_group: Any) -> Any:
        return whole(self, per_group) * (1 + np.abs(self.weights))

    monkeypatch.setattr(ChainState, "per_weight", greedy)
    made = Geweke(4000, PRIOR, SamplingPlan(steps=5)).run(10)
    assert min(made.p_values().values()) < SMALLEST
