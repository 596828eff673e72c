"""Chains of all members at once: one update after another, what is kept of them, and graphs on the GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets.architecture import Architecture
from redelve.nets.backend import Calls, Engine, Replays, replays_on
from redelve.nets.data import Data
from redelve.nets.sampling.chain_draws import ChainDraws, DrawSizes, UpdateDraws
from redelve.nets.sampling.chain_state import ChainState
from redelve.nets.sampling.further_moves import ExchangeMove, ScaleMove
from redelve.nets.sampling.gibbs import TRIES, HyperparameterMoves
from redelve.nets.sampling.posterior_samples import PosteriorSamples, SampleBook
from redelve.nets.sampling.sampling_plan import SamplingPlan
from redelve.nets.sampling.scale_priors import NetworkPrior
from redelve.nets.sampling.trajectory import Trajectory
from redelve.nets.training import in_chunks


class Sampler:
    """Chains under way. `update` needs draws only; offsets of windows depend on the number of the update."""

    def __init__(self, state: ChainState) -> None:
        plan, groups = state.plan, state.groups
        commons = TRIES * len(groups.families)
        windows = 2 + 2 * plan.window
        self.state = state
        self.trajectory = Trajectory(state)
        self.hyperparameters = HyperparameterMoves(state, windows)
        self.scales = ScaleMove(state, windows + commons, commons) if plan.scale_steps else None
        tried = plan.exchanges and groups.families and state.architecture.inputs > 1
        self.exchanges = ExchangeMove(state, windows + commons + 2) if tried else None
        self._replays = replays_on(state.engine)
        self._room: UpdateDraws | None = None

    def sizes(self) -> DrawSizes:
        """The random numbers of an update."""
        state, groups, plan = self.state, self.state.groups, self.state.plan
        commons, noise, df = TRIES * len(groups.families), state.prior.noise, state.prior.noise_df
        count = state.likelihood.count * state.likelihood.outputs
        of_noise = 1.0 if noise.is_fixed else 0.5 * (noise.alpha + count)
        return DrawSizes(
            momenta=state.architecture.connection_count,
            uniforms=2 + 2 * plan.window + commons + 2 + 3 * plan.exchanges,
            normals=commons + (groups.count if plan.scale_steps else 0),
            gammas=np.array([of_noise, *(0.5 * (groups.alphas + groups.sizes))]),
            case_gammas=0 if df is None else state.likelihood.count,
            case_shape=1.0 if df is None else 0.5 * (df + state.likelihood.outputs),
        )

    def update(self, draws: UpdateDraws, number: int) -> None:
        """One update of all chains."""
        draws = draws if self.state.engine.device == "cpu" else self._brought(draws)
        offset = offset_of(number, self.state.plan.window)
        if self.state.likelihood.fused is not None:  # few operations are left: all of them are one piece
            self._replays.do(offset, lambda: self._move(draws, offset, Calls()))
        else:
            self._move(draws, offset, self._replays)

    def _move(self, draws: UpdateDraws, offset: int, replays: Replays) -> None:
        self.trajectory.run(draws, offset, replays)
        replays.do("rest", lambda: self._finish(draws))

    def _brought(self, draws: UpdateDraws) -> UpdateDraws:
        """The draws in arrays that stay, for the graphs that were captured with them."""
        if self._room is None:
            self._room = UpdateDraws(*(each.clone() for each in draws.arrays()))
        for own, given in zip(self._room.arrays(), draws.arrays(), strict=True):
            own.copy_(given)
        return self._room

    def _finish(self, draws: UpdateDraws) -> None:
        """Where the trajectory ends, and all that is not weights."""
        self.trajectory.settle(draws.uniforms[:, 1])
        self.hyperparameters.run(draws)
        if self.scales is not None:
            self.scales.run(draws)
        if self.exchanges is not None:
            self.exchanges.run(draws)

    def run(self, seeds: Sequence[int]) -> PosteriorSamples:
        """The whole plan."""
        state, plan = self.state, self.state.plan
        draws, book = ChainDraws(seeds, self.sizes(), state.engine), SampleBook(state)
        for number in range(plan.updates):
            state.gain[...] = 0.0 if number >= plan.discarded else 2.0 / (1.0 + number) ** 0.6
            state.moves[...] = float(number >= plan.still)
            if number == plan.discarded:
                state.accepted[...] = 0.0
            self.update(draws.next(), number)
            book.note(number)
        draws.close()
        return book.closed()


def offset_of(number: int, window: int) -> int:
    """Where in its window an update begins: uniform, and the same for all chains."""
    return 0 if window == 1 else int(np.random.Philox(key=number).random_raw() % window)


def sample(
    architecture: Architecture,
    data: Data,
    prior: NetworkPrior,
    plan: SamplingPlan,
    *,
    seeds: Sequence[int],
    engine: Engine | None = None,
) -> PosteriorSamples:
    """Networks from the posterior distribution given the data: one chain for each seed.

    Parameters
    ----------
    architecture
        At most one hidden layer, linear outputs, with or without direct connections (`shortcuts`).
    data
        The training cases, the same for all chains or chains × cases × columns.
    prior
        The prior of weights and noise.
    plan
        How long and by which moves.
    seeds
        One for each chain. On NumPy a chain is, bit for bit, the same in any company.
    engine
        On what to compute; float32 is enough, energies are summed in float64.

    Returns
    -------
    PosteriorSamples
        The networks kept of each chain, traces and rates of acceptance.

    Notes
    -----
    Hamiltonian Monte Carlo for the weights and Gibbs updates for the hyperparameters, after Neal (1996),
    Bayesian Learning for Neural Networks. What it computes was tested by Geweke's (2004) joint distribution
    test.

    Examples
    --------
    >>> from redelve.nets import layered
    >>> inputs = np.linspace(-1, 1, 20)[:, None]
    >>> found = sample(layered((1, 4, 1), "tanh", "identity"), Data(inputs, inputs**2), NetworkPrior(),
    ...     SamplingPlan(passes=600, steps=20, kept=10), seeds=[1, 2])
    >>> found.weights.shape
    (2, 10, 13)
    """
    engine, chains = engine or Engine(), len(seeds)
    if not chains:
        raise SpecError("no seeds: give one for each chain")
    if data.weights is not None:
        raise SpecError("sampling with case weights is not offered: leave them out")
    data.check(architecture, chains, "training")
    parts: list[tuple[NDArray[np.intp], PosteriorSamples]] = []

    def work(rows: NDArray[np.intp]) -> None:
        state = ChainState(architecture, data.of_runs(rows), prior, plan, len(rows), engine)
        parts.append((rows, Sampler(state).run([seeds[row] for row in rows])))

    in_chunks(work, architecture, data.cases, chains, engine)
    return PosteriorSamples.joined([part for _, part in sorted(parts, key=lambda each: int(each[0][0]))])
