"""Hamiltonian trajectories of the weights of all chains, with windows of states at their ends.

Hamiltonian Monte Carlo with leapfrog steps (Duane et al. 1987; Neal 1996, section 3.1 and 3.3), windows (Neal
1994) and momenta that persist (Horowitz 1991). Steps follow Neal's heuristic (1996, section 3.3.2): one over
the root of a bound of the second derivative, from hyperparameters only, which a trajectory keeps fixed.
"""

from __future__ import annotations

import math

from redelve.nets.backend import Array, Replays
from redelve.nets.sampling.chain_draws import UpdateDraws
from redelve.nets.sampling.chain_likelihood import dots, double
from redelve.nets.sampling.chain_state import ChainState

TOGETHER = 10
"""Leapfrog steps that a GPU is given at once."""


class WindowChoice:
    """One state of a window, chosen with probability proportional to exp(−energy), as the states go by."""

    def __init__(self, state: ChainState) -> None:
        self._xp = state.xp
        self.weights, self.velocity = (state.xp.zeros_like(state.weights) for _ in range(2))
        self.squares = state.xp.zeros_like(state.squares)
        self.total = state.xp.zeros_like(state.squares)

    def clear(self) -> None:
        """Begin a window."""
        self.total[...] = -math.inf

    def offer(self, weights: Array, velocity: Array, squares: Array, energy: Array, uniform: Array) -> None:
        """One more state; one without a finite energy is never chosen."""
        xp = self._xp
        log_weight = xp.where(xp.isfinite(energy), -energy, xp.full_like(energy, -math.inf))
        self.total[...] = xp.logaddexp(self.total, log_weight)
        taken = xp.log(uniform) < log_weight - self.total
        self.weights[...] = xp.where(taken[:, None], weights, self.weights)
        self.velocity[...] = xp.where(taken[:, None], velocity, self.velocity)
        self.squares[...] = xp.where(taken, squares, self.squares)


class Trajectory:
    """Trajectories on buffers that stay where they are, free of any word between host and device."""

    def __init__(self, state: ChainState) -> None:
        self._state, self._xp = state, state.xp
        like = state.xp.empty_like
        self._weights, self._velocity, self._force = (like(state.weights) for _ in range(3))
        self._scratch, self._kick, self._pull = (like(state.weights) for _ in range(3))
        self._steps, self._first_force = like(state.weights), like(state.weights)
        self._precisions = state.xp.empty_like(state.bounds)
        self._inverse_squares = state.xp.empty_like(state.bounds)
        self._squares, self._uniform = (state.xp.empty_like(state.squares) for _ in range(2))
        self._left, self._right = WindowChoice(state), WindowChoice(state)

    def run(self, draws: UpdateDraws, offset: int, replays: Replays) -> None:
        """Leap along a trajectory, begun `offset` states after its first; `settle` then moves the state."""
        plan = self._state.plan
        uniforms = (draws.uniforms[:, column] for column in range(2, 2 + 2 * plan.window))
        replays.do("begin", lambda: self._begin_at(draws))
        self._offer(self._left, next(uniforms), replays)
        for _ in range(offset):
            replays.do("back", lambda: self._leap(-1.0))
            self._offer(self._left, next(uniforms), replays)
        if offset:
            replays.do("return", self._return)
        for _ in range(plan.window - offset - 1):
            replays.do("leap", self._leap)
            self._offer(self._left, next(uniforms), replays)
        self._leap_often(plan.steps + 1 - 2 * plan.window, replays)
        for _ in range(plan.window):
            replays.do("leap", self._leap)
            self._offer(self._right, next(uniforms), replays)

    def _begin_at(self, draws: UpdateDraws) -> None:
        self._set_steps(draws.uniforms[:, 0])
        self._refresh(draws.momenta)
        for choice in (self._left, self._right):
            choice.clear()
        self._begin()

    def _leap_often(self, count: int, replays: Replays) -> None:
        """So many steps without a choice, all of them at once or some."""
        if self._state.likelihood.fused is not None:
            replays.do("leap on", lambda: self._leap(count=count))
            return
        for _ in range(count // TOGETHER):
            replays.do("leap on", lambda: self._leap(count=TOGETHER))
        for _ in range(count % TOGETHER):
            replays.do("leap", self._leap)

    def _set_steps(self, uniform: Array) -> None:
        state, xp = self._state, self._xp
        self._precisions[...] = state.per_weight(state.precisions)
        bounds = state.bounds * state.noise[:, None]
        if state.groups.outputs is not None:
            variance = 1.0 / state.precisions[:, state.groups.outputs]
            bounds = bounds * (1.0 + state.feeds * (variance[:, None] - 1.0))
        jitter = 1.0 + state.plan.jitter * (2.0 * uniform - 1.0)
        factor = xp.exp(state.log_factors[:, 0]) * jitter
        squared = (factor * factor)[:, None] / (self._precisions + bounds)
        self._inverse_squares[...] = 1.0 / squared
        self._steps[...] = xp.sqrt(squared)
        self._kick[...] = 0.5 * squared * state.noise[:, None]
        self._pull[...] = 0.5 * squared * self._precisions

    def _refresh(self, normals: Array) -> None:
        kept = self._state.plan.persistence
        momenta = self._state.momenta
        momenta *= kept
        momenta += math.sqrt(1.0 - kept * kept) * normals

    def _begin(self) -> None:
        state = self._state
        self._weights[...] = state.weights
        self._xp.multiply(state.momenta, self._steps, out=self._velocity)
        self._look()
        self._first_force[...] = self._force

    def _return(self) -> None:
        """To where the trajectory was begun."""
        state = self._state
        self._weights[...] = state.weights
        self._xp.multiply(state.momenta, self._steps, out=self._velocity)
        self._force[...] = self._first_force

    def _leap(self, direction: float = 1.0, count: int = 1) -> None:
        """Leapfrog steps: a half step of the velocity, one of the weights, a half step again."""
        if direction < 0:
            self._velocity *= -1.0
        if (fused := self._state.likelihood.fused) is not None:
            moving = self._weights, self._velocity, self._force
            fused.leap(moving, self._kick, self._pull, count, self._squares)
        else:
            for _ in range(count):
                self._velocity -= self._force
                self._weights += self._velocity
                self._look()
                self._velocity -= self._force
        if direction < 0:
            self._velocity *= -1.0

    def _look(self) -> None:
        """Half the squared steps times the gradient of the energy, into `_force`."""
        self._squares[...] = self._state.likelihood.look(self._weights, self._force)
        self._force *= self._kick
        self._xp.multiply(self._pull, self._weights, out=self._scratch)
        self._force += self._scratch

    def _offer(self, choice: WindowChoice, uniform: Array, replays: Replays) -> None:
        self._uniform[...] = uniform

        def offer() -> None:
            choice.offer(self._weights, self._velocity, self._squares, self._energy(), self._uniform)

        replays.do(choice, offer)

    def _energy(self) -> Array:
        """The negative log density of weights and momenta, in float64."""
        xp = self._xp
        weights, velocity = double(xp, self._weights), double(xp, self._velocity)
        prior = dots(xp, weights * self._precisions, weights)
        kinetic = dots(xp, velocity * self._inverse_squares, velocity)
        return 0.5 * (prior + kinetic) + self._state.noise * self._squares

    def settle(self, uniform: Array) -> None:
        """Choose between the windows; momenta turn round where the far one is refused."""
        state, xp, left, right = self._state, self._xp, self._left, self._right
        gain = right.total - left.total
        gain = xp.where(xp.isfinite(gain), gain, xp.full_like(gain, -math.inf))
        accepted = xp.log(uniform) < gain
        chosen = accepted[:, None]
        state.weights[...] = xp.where(chosen, right.weights, left.weights)
        velocity = xp.where(chosen, right.velocity, -left.velocity)
        state.momenta[...] = velocity / self._steps
        state.squares[...] = xp.where(accepted, right.squares, left.squares)
        state.adapt(0, xp.exp(xp.minimum(gain, xp.zeros_like(gain))), state.plan.acceptance)
        state.accepted[:, 0] += double(xp, accepted)
