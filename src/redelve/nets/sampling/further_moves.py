"""Two moves that leave the posterior as it is and find relevant inputs where Gibbs updates creep.

Given the weights of an input its precision hardly moves, and given the precision the weights cannot grow. So
one move scales standard deviations and weights together (ancillary parameters in the words of Yu and Meng
2011; non-centred in those of Papaspiliopoulos, Roberts and Sköld 2007), the other exchanges two inputs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from redelve.nets.backend import Array
from redelve.nets.sampling.chain_draws import UpdateDraws
from redelve.nets.sampling.chain_likelihood import double
from redelve.nets.sampling.chain_state import ChainState


class ScaleMove:
    """All log standard deviations s move together along a Hamiltonian trajectory, while w/e^s stays.

    Their log density is −E(s) − Σ (α s + r e^(−2s)), with α/2 and r the shape and rate of the precision's
    prior. Step sizes depend on the noise and the number of cases only, which do not change here.
    """

    def __init__(self, state: ChainState, first_uniform: int, first_normal: int) -> None:
        self._state, self._xp = state, state.xp
        self._uniform, self._normal = first_uniform, first_normal
        self._weights, self._gradient = (state.xp.empty_like(state.weights) for _ in range(2))
        self._free = double(state.xp, state.is_free)

    def run(self, draws: UpdateDraws) -> None:
        """One trajectory of the scales."""
        state, xp, plan = self._state, self._xp, self._state.plan
        steps = self._steps(draws.uniforms[:, self._uniform])
        rates = state.rates()
        logs = -0.5 * xp.log(state.precisions)
        fixed = state.weights / xp.astype(state.per_weight(xp.exp(logs)), state.weights.dtype)
        speed = self._free * draws.normals[:, self._normal : self._normal + state.groups.count]
        self._weights[...] = state.weights
        squares, slope = self._look(logs, rates)
        before = self._energy(squares, logs, rates, speed)
        for _ in range(plan.scale_steps):
            speed = speed - 0.5 * steps * slope
            logs = logs + steps * speed
            self._weights[...] = fixed * xp.astype(state.per_weight(xp.exp(logs)), fixed.dtype)
            squares, slope = self._look(logs, rates)
            speed = speed - 0.5 * steps * slope
        gain = before - self._energy(squares, logs, rates, speed)
        self._settle(gain, logs, squares, draws.uniforms[:, self._uniform + 1])

    def _steps(self, uniform: Array) -> Array:
        state, xp = self._state, self._xp
        jitter = 1.0 + state.plan.jitter * (2.0 * uniform - 1.0)
        size = xp.exp(state.log_factors[:, 1]) * jitter
        return (size / xp.sqrt(1.0 + 0.1 * state.likelihood.count * state.noise))[:, None]

    def _look(self, logs: Array, rates: Array) -> tuple[Array, Array]:
        """Half the sum of squares, and the slope of the energy in the logs that move."""
        state, xp = self._state, self._xp
        squares = state.likelihood.look(self._weights, self._gradient)
        self._gradient *= self._weights
        slope = state.noise[:, None] * state.group_sums(self._gradient)
        return squares, self._free * (slope + state.alphas - 2.0 * rates * xp.exp(-2.0 * logs))

    def _energy(self, squares: Array, logs: Array, rates: Array, speed: Array) -> Array:
        state, xp = self._state, self._xp
        prior = state.alphas * logs + rates * xp.exp(-2.0 * logs) + 0.5 * speed * speed
        return state.noise * squares + xp.sum(self._free * prior, axis=1)

    def _settle(self, gain: Array, logs: Array, squares: Array, uniform: Array) -> None:
        state, xp = self._state, self._xp
        gain = xp.where(xp.isfinite(gain) & (state.moves > 0), gain, xp.full_like(gain, -math.inf))
        taken = xp.log(uniform) < gain
        chosen = taken[:, None]
        state.weights[...] = xp.where(chosen, self._weights, state.weights)
        found = xp.where(chosen & state.is_free, xp.exp(-2.0 * logs), state.precisions)
        state.precisions[...] = found
        state.squares[...] = xp.where(taken, squares, state.squares)
        state.adapt(1, xp.exp(xp.minimum(gain, xp.zeros_like(gain))), state.plan.scale_acceptance)
        state.accepted[:, 1] += double(xp, taken)


class ExchangeMove:
    """An input among those with the largest σ changes places with any: their weights and their precisions.

    As ranks survive the exchange, it is as probable as its reverse, and the prior does not change; so it is
    accepted by the likelihood alone.
    """

    def __init__(self, state: ChainState, first_uniform: int) -> None:
        self._state, self._xp, self._uniform = state, state.xp, first_uniform
        self._weights = state.xp.empty_like(state.weights)
        inputs = state.architecture.inputs
        self._inputs, self._ranks = inputs, min(inputs, state.plan.exchange_ranks)
        self._numbers = state.engine.positions(np.arange(inputs))
        wire = state.architecture.wiring.wires[0]
        self._place, self._shape = wire.place, (state.chains, wire.height, wire.width)

    def run(self, draws: UpdateDraws) -> None:
        """As many as planned."""
        for number in range(self._state.plan.exchanges):
            start = self._uniform + 3 * number
            self._try(*(draws.uniforms[:, start + column] for column in range(3)))

    def _try(self, rank: Array, other: Array, uniform: Array) -> None:
        state, xp = self._state, self._xp
        order = self._order(rank, other)
        self._exchange(order)
        squares = state.likelihood.squares(self._weights)
        gain = state.noise * (state.squares - squares)
        gain = xp.where(xp.isfinite(gain) & (state.moves > 0), gain, xp.full_like(gain, -math.inf))
        taken = xp.log(uniform) < gain
        chosen = taken[:, None]
        state.weights[...] = xp.where(chosen, self._weights, state.weights)
        state.squares[...] = xp.where(taken, squares, state.squares)
        for family in state.groups.families:
            own = state.precisions[:, family.groups]
            state.precisions[:, family.groups] = xp.where(chosen, _along(xp, own, order), own)
        state.accepted[:, 2] += double(xp, taken) / state.plan.exchanges

    def _order(self, rank: Array, other: Array) -> Array:
        """Chains × inputs: the input in whose place each comes."""
        state, xp, numbers = self._state, self._xp, self._numbers[None, :]
        ranked = xp.argsort(state.precisions[:, state.groups.families[0].groups], axis=1)
        place = xp.astype(xp.floor(rank * self._ranks), xp.int64)[:, None]
        one = _along(xp, ranked, place)
        two = xp.astype(xp.floor(other * self._inputs), xp.int64)[:, None]
        return xp.where(numbers == one, two, xp.where(numbers == two, one, numbers))

    def _exchange(self, order: Array) -> None:
        xp, chains, height = self._xp, self._shape[0], self._shape[1]
        self._weights[...] = self._state.weights
        if self._state.engine.is_numpy:
            self._exchange_columns(order)
            return
        here = self._state.weights[:, self._place].reshape(self._shape)[:, :, : self._inputs]
        there = self._weights[:, self._place].reshape(self._shape)[:, :, : self._inputs]
        index = xp.broadcast_to(order[:, None, :], (chains, height, self._inputs))
        there[...] = _along(xp, here, index, axis=2)

    def _exchange_columns(self, order: Array) -> None:
        """On the host two columns move, not all."""
        moved = order != self._numbers
        rows = np.flatnonzero(moved.any(axis=1))
        one = moved[rows].argmax(axis=1)
        two = order[rows, one]
        there = self._weights[:, self._place].reshape(self._shape)
        kept = there[rows, :, one].copy()
        there[rows, :, one] = there[rows, :, two]
        there[rows, :, two] = kept


def _along(xp: Any, values: Array, index: Array, axis: int = 1) -> Array:
    """Values at these places of an axis, chain by chain."""
    return xp.take_along_axis(values, index, axis=axis)
