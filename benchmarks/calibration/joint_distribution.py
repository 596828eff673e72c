"""Geweke's (2004) joint distribution test of chains of networks.

Parameters given data and data given parameters, drawn in turn, leave the prior as it is. Many independent
members begin with a draw from the prior and of targets; after some rounds their hyperparameters must still
be distributed by the prior, if every move is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from redelve.nets import Architecture, Data, Engine
from redelve.nets.sampling import NetworkPrior, SamplingPlan, ScalePrior
from redelve.nets.sampling.chain_draws import ChainDraws
from redelve.nets.sampling.chain_likelihood import double
from redelve.nets.sampling.chain_state import ChainState
from redelve.nets.sampling.sampler import Sampler

NETWORK = Architecture((3, 2, 1), ("tanh", "identity"))
CASES = 4
PRIOR = NetworkPrior(
    inputs=ScalePrior(1.0, 6.0),
    hidden_biases=ScalePrior(0.8, 5.0),
    outputs=ScalePrior(1.5, 6.0),
    direct=ScalePrior(0.7, 5.0),
    noise=ScalePrior(0.6, 6.0),
    relevance=4.0,
)


class Geweke:
    """Members on their way."""

    def __init__(  # noqa: PLR0913
        self, members: int, prior: NetworkPrior, plan: SamplingPlan, *, network: Architecture = NETWORK,
        engine: Engine | None = None, seed: int = 1, cases: int = CASES,
    ) -> None:  # fmt: skip
        self.random = np.random.default_rng(seed)
        self.inputs = self.random.normal(size=(members, cases, network.inputs))
        self.targets = np.zeros((members, cases, network.outputs))
        data = Data(self.inputs, self.targets)
        self.state = ChainState(network, data, prior, plan, members, engine or Engine())
        self.sampler = Sampler(self.state)
        self.case_precisions = np.ones((members, cases))
        self._draw_prior()
        self.state.log_factors[...] = self.state.put(np.log([[0.7, 0.3]]))
        self.seeds = self.random.integers(2**62, size=members).tolist()

    def _draw_prior(self) -> None:
        state, random, members = self.state, self.random, self.state.chains
        groups, prior = state.groups, state.prior
        precisions = random.gamma(groups.alphas / 2, 1 / groups.rates, (members, groups.count))
        for number, family in enumerate(groups.families):
            common = random.gamma(family.prior.alpha / 2, 1 / family.prior.rate, members)
            state.commons[:, number] = state.put(common)
            spread = 2 * common[:, None] / family.alpha
            precisions[:, family.groups] = random.gamma(family.alpha / 2, spread, (members, family.inputs))
        precisions = np.where(groups.fixed > 0, groups.fixed, precisions)
        state.precisions[...] = state.put(precisions)
        weights = random.normal(size=state.weights.shape) * precisions[:, groups.places] ** -0.5
        state.weights[...] = state.engine.array(weights)
        state.momenta[...] = state.engine.array(random.normal(size=weights.shape))
        state.noise[...] = state.put(random.gamma(prior.noise.alpha / 2, 1 / prior.noise.rate, members))
        if prior.noise_df is not None:
            self.case_precisions = random.gamma(
                prior.noise_df / 2, 2 / prior.noise_df, self.targets.shape[:2]
            )
            state.likelihood.weigh(state.put(self.case_precisions))
        state.moves[...] = 1.0
        self._draw_targets()

    def _draw_targets(self) -> None:
        state = self.state
        likelihood, kernel = state.likelihood, state.likelihood.kernel
        outputs = kernel.outputs(state.weights, likelihood.cases).astype(float)
        if state.prior.noise_df is not None:
            block = likelihood.cases.blocks[0].weights
            self.case_precisions = state.engine.numpy(double(state.xp, block))[:, 0]
        precision = state.engine.numpy(state.noise)[:, None, None] * self.case_precisions[..., None]
        self.targets = outputs + self.random.normal(size=outputs.shape) * precision**-0.5
        likelihood.replace_targets(self.targets)
        state.squares[...] = likelihood.squares(state.weights)

    def run(self, rounds: int) -> Geweke:
        """Parameters, then targets."""
        draws = ChainDraws(self.seeds, self.sampler.sizes(), self.state.engine)
        with np.errstate(all="ignore"):
            for number in range(rounds):
                self.sampler.update(draws.next(), number)
                self._draw_targets()
        return self

    def numbers(self) -> dict[str, tuple[NDArray[np.float64], Any]]:
        """What is tested, with the distribution it must have."""
        state, take = self.state, self.state.engine.numpy
        groups, prior = state.groups, state.prior
        precisions, commons = take(state.precisions), take(state.commons)
        found: dict[str, tuple[NDArray[np.float64], Any]] = {
            "noise": (take(state.noise), stats.gamma(prior.noise.alpha / 2, scale=1 / prior.noise.rate))
        }
        for number, family in enumerate(groups.families):
            own = precisions[:, family.groups]
            law = stats.gamma(family.prior.alpha / 2, scale=1 / family.prior.rate)
            found[f"common {number}"] = (commons[:, number], law)
            relative = stats.gamma(family.alpha / 2, scale=2 / family.alpha)
            found[f"relevances {number}"] = ((own / commons[:, [number]])[:, 0], relative)
        families = {place for each in groups.families for place in range(each.groups.start, each.groups.stop)}
        for place, name in enumerate(groups.names):
            if place not in families and not groups.fixed[place]:
                law = stats.gamma(groups.alphas[place] / 2, scale=1 / groups.rates[place])
                found[name] = (precisions[:, place], law)
        weights = take(double(state.xp, state.weights)) * precisions[:, groups.places] ** 0.5
        for place in range(0, weights.shape[1], 3):
            found[f"weight {place}"] = (weights[:, place], stats.norm)
        own = weights[:, groups.places == 0]
        found["weights of the first group"] = ((own**2).sum(axis=1), stats.chi2(own.shape[1]))
        if prior.noise_df is not None:
            law = stats.gamma(prior.noise_df / 2, scale=2 / prior.noise_df)
            found["case"] = (self.case_precisions[:, 0], law)
        return found

    def p_values(self) -> dict[str, float]:
        """Kolmogorov and Smirnov's test of each."""
        return {
            name: float(stats.kstest(values, law.cdf).pvalue)
            for name, (values, law) in self.numbers().items()
        }
