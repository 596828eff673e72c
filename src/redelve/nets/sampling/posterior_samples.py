"""What is kept of chains: networks, noise, traces of hyperparameters, rates of acceptance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.nets.sampling.chain_state import ChainState
from redelve.nets.sampling.convergence import effective_size, split_rhat


@dataclass(frozen=True, eq=False)
class PosteriorSamples:
    """Chains that have been run; arrays have chains on the first axis.

    `weights` (chains × kept × connections, float32) and `noise` (standard deviations, chains × kept) are of
    the networks kept. `traces` are log standard deviations at the updates `traced`, discarded ones too:
    first the noise's, then the groups' in the order of `groups`. `acceptance` has rates after the discarded
    part: of trajectories, of scale moves, of exchanges.
    """

    weights: NDArray[np.float32]
    noise: NDArray[np.float64]
    widths: NDArray[np.float64]
    """Standard deviations of groups, chains × kept × groups."""
    traces: NDArray[np.float32]
    traced: NDArray[np.int64]
    used: int
    """How many of the last traced updates are not discarded."""
    groups: tuple[str, ...]
    acceptance: NDArray[np.float64]
    factors: NDArray[np.float64]
    """The step factors that adaptation ended with."""

    @classmethod
    def joined(cls, parts: Sequence[PosteriorSamples]) -> PosteriorSamples:
        """Chains of several chunks, one after the other."""
        first = parts[0]
        if len(parts) == 1:
            return first
        names = ("weights", "noise", "widths", "traces", "acceptance", "factors")
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(traced=first.traced, used=first.used, groups=first.groups, **arrays)

    def of_chains(self, rows: NDArray[np.intp] | slice) -> PosteriorSamples:
        """Some of the chains."""
        names = ("weights", "noise", "widths", "traces", "acceptance", "factors")
        arrays = {name: getattr(self, name)[rows] for name in names}
        return PosteriorSamples(traced=self.traced, used=self.used, groups=self.groups, **arrays)

    def trace(self, name: str = "noise") -> NDArray[np.float64]:
        """The log standard deviations of the noise or of a group, chains × updates that are used."""
        place = 0 if name == "noise" else 1 + self.groups.index(name)
        start = self.traces.shape[1] - self.used
        return self.traces[:, start:, place].astype(np.float64)

    def rhat(self, name: str = "noise") -> float:
        """Split R̂ over all these chains."""
        return split_rhat(self.trace(name))

    def effective_sizes(self, name: str = "noise") -> list[float]:
        """The effective size of each chain's trace."""
        return [effective_size(chain) for chain in self.trace(name)]


class SampleBook:
    """Notes of chains under way, on the device until they are closed."""

    def __init__(self, state: ChainState) -> None:
        self._state, plan = state, state.plan
        self._kept = {number: row for row, number in enumerate(plan.kept_updates())}
        self._traced = {number: row for row, number in enumerate(plan.traced_updates())}
        size, groups = state.architecture.connection_count, state.groups.count
        self._weights = state.engine.zeros((len(self._kept), state.chains, size))
        self._levels = state.put(np.zeros((len(self._kept), state.chains, 1 + groups)))
        self._traces = state.put(np.zeros((len(self._traced), state.chains, 1 + groups)))

    def note(self, number: int) -> None:
        """What this update left."""
        state = self._state
        for rows, levels in ((self._traced, self._traces), (self._kept, self._levels)):
            if (row := rows.get(number)) is not None:
                levels[row, :, 0] = state.noise
                levels[row, :, 1:] = state.precisions
        if (row := self._kept.get(number)) is not None:
            self._weights[row] = state.weights

    def closed(self) -> PosteriorSamples:
        """All of it, on the host, chains first."""
        state, take = self._state, self._state.engine.numpy
        levels = np.swapaxes(take(self._levels), 0, 1) ** -0.5
        traced, plan = np.array(list(self._traced), dtype=np.int64), state.plan
        rates = take(state.accepted) / max(plan.updates - plan.discarded, 1)
        return PosteriorSamples(
            weights=np.ascontiguousarray(np.swapaxes(take(self._weights), 0, 1), dtype=np.float32),
            noise=levels[:, :, 0].copy(),
            widths=levels[:, :, 1:].copy(),
            traces=(-0.5 * np.log(np.swapaxes(take(self._traces), 0, 1))).astype(np.float32),
            traced=traced,
            used=int((traced >= plan.discarded).sum()),
            groups=state.groups.names,
            acceptance=rates,
            factors=np.exp(take(state.log_factors)),
        )
