"""How chains are run: how long, by which moves, and what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redelve.errors import SpecError

FORWARD = 0.45
"""A forward pass alone costs about this share of a forward and backward pass."""


@dataclass(frozen=True)
class SamplingPlan:
    """An update moves all weights along a Hamiltonian trajectory, then hyperparameters, then by extra moves.

    Parameters
    ----------
    passes
        How many forward and backward passes over the training cases a chain may take.
    steps
        Leapfrog steps of a trajectory.
    window
        States at either end of it among which one is chosen (Neal 1994); 1: the ends alone.
    persistence
        How much momentum is kept from one trajectory to the next (Horowitz 1991).
    acceptance
        Step sizes are adapted to this rate of acceptance, in the discarded part only.
    jitter
        Step sizes vary by up to this share at random.
    scale_steps
        Leapfrog steps of the move of all standard deviations together with their weights; 0: no such move.
    exchanges
        How many exchanges of two inputs are tried in an update.
    discard
        The share of a chain, from its beginning, that is not used.
    kept
        How many networks are kept of a chain.
    """

    passes: int = 60_000
    steps: int = 100
    window: int = 1
    persistence: float = 0.0
    acceptance: float = 0.8
    jitter: float = 0.2
    scale_steps: int = 0
    scale_acceptance: float = 0.75
    exchanges: int = 0
    exchange_ranks: int = 4
    discard: float = 1 / 3
    kept: int = 100
    start_width: float = 0.2
    start_noise: float = 0.5
    still: int = 5
    """Hyperparameters do not move in so many updates at the beginning."""
    traced: int = 300
    """At most so many updates are traced."""

    def __post_init__(self) -> None:
        for name in ("steps", "window", "kept", "exchange_ranks", "traced"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name}={getattr(self, name)}: give 1 or more")
        for name in ("scale_steps", "exchanges", "still"):
            if getattr(self, name) < 0:
                raise SpecError(f"{name}={getattr(self, name)}: give 0 or more")
        for name in ("persistence", "discard", "jitter"):
            if not 0 <= getattr(self, name) < 1:
                raise SpecError(f"{name}={getattr(self, name)}: give a number from 0 to below 1")
        if 2 * self.window > self.steps + 1:
            raise SpecError(
                f"windows of {self.window} states in {self.steps} leapfrog steps overlap: give smaller ones"
            )
        if self.updates < 3:
            raise SpecError(
                f"{self.passes} passes are {self.updates} updates of {self.cost:g}: "
                f"give at least {3 * self.cost:g}"
            )

    @property
    def cost(self) -> float:
        """The passes of one update."""
        scale = self.scale_steps + 1 if self.scale_steps else 0
        return self.steps + 1 + scale + FORWARD * self.exchanges

    @property
    def updates(self) -> int:
        """How many updates the passes allow."""
        return int(self.passes / self.cost)

    @property
    def discarded(self) -> int:
        """How many of them are not used."""
        return int(self.updates * self.discard)

    def kept_updates(self) -> tuple[int, ...]:
        """After which updates (counted from 0) a network is kept: evenly, the last one too."""
        return _evenly(self.discarded, self.updates, self.kept)

    def traced_updates(self) -> tuple[int, ...]:
        """After which updates hyperparameters are noted, discarded ones too."""
        return _evenly(0, self.updates, self.traced)


def _evenly(start: int, stop: int, count: int) -> tuple[int, ...]:
    count = min(count, stop - start)
    return tuple((start + (np.arange(1, count + 1) * (stop - start)) // count - 1).tolist())
