"""Chains find a posterior that is known, do not depend on their company, and refuse what makes no sense."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from redelve.errors import SpecError
from redelve.nets import Architecture, Data, Engine, layered
from redelve.nets.sampling import (
    NetworkPrior,
    PosteriorSamples,
    SamplingPlan,
    ScalePrior,
    effective_size,
    sample,
    split_rhat,
)

PLAN = SamplingPlan(passes=400, steps=9, window=2, persistence=0.5, scale_steps=3, exchanges=2, kept=8)
NETWORK = layered((3, 4, 1), "tanh", "identity")
KINDS: dict[str, tuple[Architecture, NetworkPrior, SamplingPlan]] = {
    "all moves": (NETWORK, NetworkPrior(), PLAN),
    "t noise": (NETWORK, NetworkPrior(noise_df=4.0), PLAN),
    "direct": (layered((3, 4, 2), "tanh", "identity", shortcuts=True), NetworkPrior(), PLAN),
    "plain": (NETWORK, NetworkPrior(relevance=None), SamplingPlan(passes=400, steps=9, kept=8)),
}


def data_of(chains: int, outputs: int = 1, cases: int = 30) -> Data:
    random = np.random.default_rng(5)
    inputs = random.normal(size=(chains, cases, 3))
    targets = np.sin(2 * inputs[..., :1]) + 0.1 * random.normal(size=(chains, cases, outputs))
    return Data(inputs, targets)


@pytest.mark.parametrize("biases", [True, False])
def test_a_linear_network_has_the_posterior_of_the_textbook(biases: bool) -> None:
    """Bishop 2006, eq. 3.49 to 3.51: prior precision 1/0.25 for slopes, 1 for the bias, noise sd 0.5."""
    network = Architecture((3, 1), ("identity",), biases=biases)
    one = data_of(1, cases=12)
    prior = NetworkPrior(inputs=ScalePrior(0.5), noise=ScalePrior(0.5), relevance=None)
    plan = SamplingPlan(passes=6000, steps=9, kept=400)
    found = sample(network, Data(one.inputs[0], one.targets[0]), prior, plan, seeds=range(40)).weights
    design = np.column_stack([one.inputs[0], np.ones((12, int(biases)))])
    precision = design.T @ design / 0.25 + np.diag([4.0, 4.0, 4.0, *[1.0] * biases])
    covariance = np.linalg.inv(precision)
    mean = covariance @ design.T @ one.targets[0, :, 0] / 0.25
    gaps = found.astype(float) - mean
    _agrees(gaps.mean(axis=1), np.zeros_like(mean))
    _agrees(np.einsum("cki,ckj->cij", gaps, gaps).reshape(40, -1) / 400, covariance.ravel())


def _agrees(per_chain: Any, truth: Any) -> None:
    """Within four standard errors, by the spread of independent chains; which is small enough to tell."""
    error = per_chain.std(axis=0, ddof=1) / len(per_chain) ** 0.5
    assert (np.abs(per_chain.mean(axis=0) - truth) < 4 * error).all()
    assert error.max() < 0.01


def test_noise_and_width_of_a_linear_network_are_those_of_integration() -> None:
    """One weight w ~ N(0, 1/τ), noise precision β, both Gamma: moments by summing over a grid of logs."""
    inputs, targets = np.array([[1.0], [2.0], [-1.0], [0.5]]), np.array([[0.9], [2.3], [-1.2], [0.1]])
    network = Architecture((1, 1), ("identity",), biases=False)
    prior = NetworkPrior(inputs=ScalePrior(1.0, 4.0), noise=ScalePrior(0.5, 4.0), relevance=None)
    plan = SamplingPlan(passes=9000, steps=5, scale_steps=2, kept=700)
    made = sample(network, Data(inputs, targets), prior, plan, seeds=range(60))
    tau, beta = (np.exp(np.linspace(-8, 6, 600)) for _ in range(2))
    sums = (inputs**2).sum(), (inputs * targets).sum(), (targets**2).sum()
    total = tau[:, None] + beta * sums[0]
    log_density = 0.5 * np.log(tau[:, None] / total) + 2 * np.log(beta)  # 4 cases: β^(4/2)
    log_density += 0.5 * (beta * sums[1]) ** 2 / total - 0.5 * beta * sums[2]
    log_density += 2 * np.log(tau[:, None]) - 2.0 * tau[:, None] + 2 * np.log(beta) - 0.5 * beta
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    expected_noise = (density.sum(axis=0) * -0.5 * np.log(beta)).sum()
    expected_width = (density.sum(axis=1) * -0.5 * np.log(tau)).sum()
    _agrees(np.log(made.noise).mean(axis=1)[:, None], expected_noise)
    _agrees(np.log(made.widths[..., 0]).mean(axis=1)[:, None], expected_width)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_chain_does_not_depend_on_its_company(kind: str, dtype: str) -> None:
    network, prior, plan = KINDS[kind]
    data, seeds = data_of(5, network.outputs), [3, 1, 4, 15, 9]
    together = sample(network, data, prior, plan, seeds=seeds, engine=Engine(dtype=dtype))
    chunked = sample(network, data, prior, plan, seeds=seeds, engine=Engine(dtype=dtype, chunk=2, threads=2))
    alone = sample(network, data.of_runs(np.array([3])), prior, plan, seeds=[15], engine=Engine(dtype=dtype))
    assert_same(together, chunked)
    assert_same(together.of_chains(slice(3, 4)), alone)
    assert not np.array_equal(together.weights[0], together.weights[1])


def assert_same(first: PosteriorSamples, second: PosteriorSamples) -> None:
    for field in fields(first):
        np.testing.assert_array_equal(
            getattr(first, field.name), getattr(second, field.name), err_msg=field.name
        )


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_torch_and_numpy_agree(kind: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    network, prior, plan = KINDS[kind]
    plan = replace(plan, passes=int(12 * plan.cost) + 1, still=2)
    first, second = (
        sample(network, data_of(4, network.outputs), prior, plan, seeds=range(4), engine=Engine(backend))
        for backend in ("numpy", "torch")
    )
    np.testing.assert_allclose(second.weights, first.weights, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(second.traces, first.traces, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(second.acceptance, first.acceptance)


def test_shared_data_are_those_of_every_chain() -> None:
    one = data_of(1)
    shared = Data(one.inputs[0], one.targets[0])
    own = Data(np.repeat(one.inputs, 3, axis=0), np.repeat(one.targets, 3, axis=0))
    first, second = (sample(NETWORK, data, NetworkPrior(), PLAN, seeds=range(3)) for data in (shared, own))
    np.testing.assert_allclose(first.weights, second.weights, rtol=1e-4, atol=1e-6)


def test_chains_learn_and_keep_what_the_plan_says() -> None:
    data = data_of(1)
    plan = SamplingPlan(passes=8000, steps=20, scale_steps=4, exchanges=2, kept=25, traced=50)
    made = sample(
        layered((3, 8, 1), "tanh", "identity"), Data(data.inputs[0], data.targets[0]), NetworkPrior(), plan,
        seeds=[1, 2],
    )  # fmt: skip
    assert made.weights.shape[:2] == made.noise.shape == (2, 25)
    assert made.weights.dtype == np.float32
    assert made.traces.shape == (2, 50, 1 + len(made.groups))
    assert made.traced[-1] == plan.updates - 1
    assert made.trace().shape == (2, made.used)
    assert 30 <= made.used <= 36
    assert (made.acceptance[:, 0] > 0.5).all()
    assert np.median(made.noise) < 0.2
    widths = np.median(made.widths[..., :3], axis=(0, 1))
    assert widths[0] > 3 * widths[1:].max()
    assert made.rhat() < 2
    assert len(made.effective_sizes()) == 2


def test_rhat_and_effective_size_of_known_series() -> None:
    random = np.random.default_rng(2)
    noise = random.normal(size=(4, 2000))
    assert 0.999 < split_rhat(noise) < 1.005
    assert split_rhat(noise + np.arange(4)[:, None]) > 1.3
    assert split_rhat(noise[:1] + np.linspace(0, 5, 2000)) > 1.3
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / (1 - 0.8**2) ** 0.5
    for time in range(1, 2000):
        series[:, time] = 0.8 * series[:, time - 1] + noise[:, time]
    # An autoregression of 0.8 is worth (1 - 0.8)/(1 + 0.8) of as many independent draws.
    assert effective_size(series) == pytest.approx(8000 / 9, rel=0.2)
    assert effective_size(noise) == pytest.approx(8000, rel=0.1)
    assert split_rhat(np.ones((2, 10))) == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda: ScalePrior(-1.0, 0.5),
            "width -1.0, alpha 0.5: give a finite width and an alpha, both above",
        ),
        (lambda: ScalePrior.of("wide"), 'prior "wide": give width:alpha as in 0.05:0.5'),
        (lambda: NetworkPrior(relevance=0.0), "relevance 0.0: give a number above 0, or None"),
        (lambda: NetworkPrior(inputs=ScalePrior(1.0)), "relevance of inputs around a fixed width"),
        (lambda: SamplingPlan(passes=50), "50 passes are 0 updates of 101: give at least 303"),
        (lambda: SamplingPlan(steps=10, window=6), "windows of 6 states in 10 leapfrog steps overlap"),
        (lambda: SamplingPlan(discard=1.0), "discard=1.0: give a number from 0 to below 1"),
        (lambda: SamplingPlan(kept=0), "kept=0: give 1 or more"),
        (lambda: SamplingPlan(exchanges=-1), "exchanges=-1: give 0 or more"),
    ],
)
def test_impossible_settings_are_refused(change: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        change()


def test_networks_and_data_that_cannot_be_sampled_are_refused() -> None:
    data = data_of(1)
    with pytest.raises(SpecError, match=r"layers \(3, 2, 2, 1\) .* at most one hidden layer"):
        sample(layered((3, 2, 2, 1), "tanh", "identity"), data, NetworkPrior(), PLAN, seeds=[1])
    with pytest.raises(SpecError, match="no seeds"):
        sample(NETWORK, data, NetworkPrior(), PLAN, seeds=[])
    with pytest.raises(SpecError, match="case weights is not offered"):
        sample(NETWORK, Data(data.inputs, data.targets, np.ones(30)), NetworkPrior(), PLAN, seeds=[1])
