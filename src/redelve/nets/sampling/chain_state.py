"""Where all chains are: weights, momenta, precisions, noise; and what does not change under way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.nets.architecture import Architecture
from redelve.nets.backend import Array, Engine
from redelve.nets.data import Data
from redelve.nets.sampling.chain_likelihood import Likelihood, double
from redelve.nets.sampling.prior_groups import PriorGroups, data_bounds
from redelve.nets.sampling.sampling_plan import SamplingPlan
from redelve.nets.sampling.scale_priors import NetworkPrior

FIRST_FACTORS = (0.5, 0.1)
"""Of the steps of trajectories and of scale moves, before adaptation."""


class ChainState:
    """The state of all chains, in arrays that stay where they are: moves write into them.

    Weights and momenta are chains × connections in the engine's precision; precisions of groups (chains ×
    groups), the common ones of relevances (chains × families), the noise's, half sums of squares and step
    factors are float64. `cases` are the relative precisions of cases, chains × cases, for t noise.
    """

    def __init__(
        self, architecture: Architecture, data: Data, prior: NetworkPrior, plan: SamplingPlan, chains: int,
        engine: Engine,
    ) -> None:  # fmt: skip
        self.engine, self.xp, self.chains = engine, engine.xp, chains
        self.architecture, self.prior, self.plan = architecture, prior, plan
        self.groups = PriorGroups.of(architecture, prior)
        self.likelihood = Likelihood(architecture, data, chains, engine, weighted=prior.noise_df is not None)
        self._fix(data)
        size = architecture.connection_count
        self.weights, self.momenta = engine.zeros((chains, size)), engine.zeros((chains, size))
        self.precisions = self.put(np.tile(self._first_precisions(), (chains, 1)))
        self.commons = self.put(np.full((chains, len(self.groups.families)), plan.start_width**-2))
        noise = prior.noise.width if prior.noise.is_fixed else plan.start_noise
        self.noise = self.put(np.full(chains, noise**-2))
        self.squares = self.put(np.zeros(chains))
        self.log_factors = self.put(np.tile(np.log(FIRST_FACTORS), (chains, 1)))
        self.accepted = self.put(np.zeros((chains, 3)))
        self.gain, self.moves = self.put(np.zeros(())), self.put(np.zeros(()))

    def put(self, values: NDArray[Any]) -> Array:
        """Numbers on the device, in float64."""
        own = np.array(values, dtype=np.float64)
        return own if self.engine.is_numpy else self.xp.asarray(own, device=self.engine.device)

    def per_weight(self, per_group: Array) -> Array:
        """A group's number for each of its weights."""
        return self.xp.take(per_group, self.places, axis=1)

    def group_sums(self, values: Array) -> Array:
        """Sums over the weights of each group, in float64."""
        if self.engine.is_numpy:  # a seventh of the time of a product of which most factors are 0
            return np.add.reduceat(double(np, values)[:, self._by_group], self._starts, axis=1)
        return self.xp.matmul(double(self.xp, values)[:, None, :], self.membership)[:, 0, :]

    def rates(self) -> Array:
        """The rates of the groups' Gamma priors, which for relevances depend on their common precision."""
        rates = self.fixed_rates + 0.0 * self.precisions
        for number, family in enumerate(self.groups.families):
            rates[:, family.groups] = 0.5 * family.alpha / self.commons[:, number : number + 1]
        return rates

    def adapt(self, which: int, chance: Array, wanted: float) -> None:
        """Bring the step factor nearer to the wanted rate of acceptance; `gain` is 0 when that is over."""
        self.log_factors[:, which] += self.gain * (chance - wanted)

    def _fix(self, data: Data) -> None:
        groups = self.groups
        bounds, feeds = data_bounds(self.architecture, data, self.chains)
        self.bounds, self.feeds = self.put(bounds), self.put(feeds)
        self.membership = self.put(groups.membership)
        self._by_group = np.argsort(groups.places, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(groups.sizes)[:-1]]).astype(np.intp)
        self.places = self.engine.positions(groups.places)
        self.alphas, self.fixed_rates = self.put(groups.alphas), self.put(groups.rates)
        self.fixed = self.put(groups.fixed)
        self.is_free = self.fixed == 0

    def _first_precisions(self) -> NDArray[np.float64]:
        groups = self.groups
        return np.where(groups.fixed > 0, groups.fixed, self.plan.start_width**-2)
