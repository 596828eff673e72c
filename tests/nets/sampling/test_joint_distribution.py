"""Every move leaves the posterior as it is: Geweke's joint test, and the test itself notices faults."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.calibration.joint_distribution import PRIOR, Geweke
from benchmarks.calibration.sampled_networks import MOVES, joint_test, prior_coverage

from redelve.nets import Engine
from redelve.nets.sampling import SamplingPlan
from redelve.nets.sampling.chain_state import ChainState
from redelve.nets.sampling.further_moves import ExchangeMove

CHAINS = 2000  # with as many, the faults planted below are noticed
SMALLEST = 1e-4
"""About ten p-values in each of eight tests: one in a hundred such files would fail by chance alone."""


@pytest.mark.parametrize("name", MOVES)
def test_parameters_and_data_in_turn_leave_the_prior(name: str) -> None:
    plan = MOVES[name][1]
    made = joint_test(name, CHAINS, 10, seed=1)
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
    made = Geweke(1000, replace(PRIOR, noise_df=df), plan, engine=Engine("torch")).run(5)
    found = made.p_values()
    assert min(found.values()) > SMALLEST, found


def test_a_wrong_jacobian_of_the_scale_move_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Geweke(CHAINS, PRIOR, SamplingPlan(steps=1, scale_steps=5))
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
    made = Geweke(CHAINS, replace(PRIOR, relevance=0.7), SamplingPlan(steps=1, exchanges=3)).run(10)
    assert min(made.p_values().values()) < SMALLEST


def test_steps_that_depend_on_what_moves_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ChainState.per_weight

    def greedy(self: Any, per_group: Any) -> Any:
        return whole(self, per_group) * (1 + np.abs(self.weights))

    monkeypatch.setattr(ChainState, "per_weight", greedy)
    made = Geweke(CHAINS, PRIOR, SamplingPlan(steps=5)).run(10)
    assert min(made.p_values().values()) < SMALLEST


def test_predictive_intervals_cover_what_they_say_for_data_of_the_prior() -> None:
    shares = prior_coverage(100, 20, seed=3, passes=1500)
    error = shares.std(ddof=1) / len(shares) ** 0.5
    assert abs(shares.mean() - 0.95) < 3 * error
    assert error < 0.012
