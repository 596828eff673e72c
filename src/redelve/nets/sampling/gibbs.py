"""Gibbs updates: noise, precisions of groups and of cases, and the common precisions of relevances.

Given the weights, a precision with a Gamma prior has a Gamma distribution (Neal 1996, section 3.5).
"""

from __future__ import annotations

from redelve.nets.backend import Array
from redelve.nets.sampling.chain_draws import UpdateDraws
from redelve.nets.sampling.chain_likelihood import double
from redelve.nets.sampling.chain_state import ChainState
from redelve.nets.sampling.prior_groups import RelevanceFamily

TRIES = 4
"""Metropolis steps of each common precision in an update."""


class HyperparameterMoves:
    """All of them, one after the other."""

    def __init__(self, state: ChainState, first_uniform: int) -> None:
        self._state, self._xp = state, state.xp
        self._first_uniform = first_uniform

    def run(self, draws: UpdateDraws) -> None:
        """Noise, then groups, then what relevances have in common."""
        if self._state.prior.noise_df is not None:
            self._move_cases(draws.case_gammas, self._state.prior.noise_df)
        if not self._state.prior.noise.is_fixed:
            self._move_noise(draws.gammas[:, 0])
        self._move_groups(draws.gammas[:, 1:])
        for number, family in enumerate(self._state.groups.families):
            self._move_common(number, family, draws)

    def _move_cases(self, gammas: Array, df: float) -> None:
        """Relative precisions of cases: t noise is normal noise of Gamma precision."""
        state, likelihood = self._state, self._state.likelihood
        squares = likelihood.residual_squares(state.weights)
        weights = gammas / (0.5 * df + 0.5 * state.noise[:, None] * squares)
        likelihood.weigh(weights)
        state.squares[...] = likelihood.squares(state.weights)

    def _move_noise(self, gammas: Array) -> None:
        state = self._state
        found = gammas / (state.prior.noise.rate + state.squares)
        state.noise[...] = self._xp.where(state.moves > 0, found, state.noise)

    def _move_groups(self, gammas: Array) -> None:
        state, xp = self._state, self._xp
        weights = double(xp, state.weights)
        found = gammas / (state.rates() + 0.5 * state.group_sums(weights * weights))
        state.precisions[...] = xp.where(state.is_free & (state.moves > 0), found, state.precisions)

    def _move_common(self, number: int, family: RelevanceFamily, draws: UpdateDraws) -> None:
        """ω given its family is generalised inverse Gaussian: log density p log ω − r ω − b/ω in log ω.

        Random walks of the width that fits its mode, where the second derivative is r ω + b/ω.
        """
        state, xp = self._state, self._xp
        power = 0.5 * (family.prior.alpha - family.inputs * family.alpha)
        rate = family.prior.rate
        bound = 0.5 * family.alpha * xp.sum(state.precisions[:, family.groups], axis=1)
        root = xp.sqrt(power * power + 4.0 * rate * bound)
        mode = 2.0 * bound / (root - power) if power <= 0 else (power + root) / (2.0 * rate)
        width = 2.4 / xp.sqrt(rate * mode + bound / mode)
        here = xp.log(state.commons[:, number])
        for attempt in range(TRIES):
            column = number * TRIES + attempt
            there = here + width * draws.normals[:, column]
            gain = power * (there - here) - rate * (xp.exp(there) - xp.exp(here))
            gain = gain - bound * (xp.exp(-there) - xp.exp(-here))
            taken = xp.log(draws.uniforms[:, self._first_uniform + column]) < gain
            here = xp.where(taken & (state.moves > 0), there, here)
        state.commons[:, number] = xp.exp(here)
