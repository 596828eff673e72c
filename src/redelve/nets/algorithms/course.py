"""What every training algorithm shares: a course is some runs under way, and what is remembered of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets.backend import Array
from redelve.nets.error_functions import CrossEntropy
from redelve.nets.kernel import KernelCases, KernelLook, NetworkKernel

PerRun = float | Sequence[float]
"""A number for all runs, or one for each."""


@dataclass(frozen=True)
class WeightDecay:
    """A penalty of ½ strength Σ weight², added to the sum over cases whose gradient is followed.

    (Bishop 1995, section 9.2.1.) Biases are left alone unless `biases` says otherwise. Errors that training
    reports of its own cases have the penalty in them, in the error's scale; validation errors do not.
    """

    strength: PerRun
    biases: bool = False

    def __post_init__(self) -> None:
        if np.min(self.strength) < 0 or not np.isfinite(self.strength).all():
            raise SpecError(f"weight decay of {self.strength}: give 0 or more")


@dataclass(frozen=True)
class Start:
    """Where a course starts: kernel, training cases and weights of `runs`, some of all `total` runs."""

    kernel: NetworkKernel
    cases: KernelCases
    weights: Array
    runs: NDArray[np.intp]
    total: int
    seeds: Sequence[int] | None
    decay: WeightDecay | None = None

    def penalty(self) -> float | Array | None:
        """What weights are multiplied by in the gradient: a number, or one for each weight of each run."""
        if self.decay is None:
            return None
        strength = self.per_run("weight decay", self.decay.strength)
        if isinstance(strength, float) and self.decay.biases:
            return strength
        kernel = self.kernel
        pulled = np.ones((kernel.runs, kernel.architecture.connection_count))
        if not self.decay.biases:
            pulled[:, kernel.architecture.biases_at] = 0.0
        every = kernel.load(pulled)
        every *= strength if isinstance(strength, float) else kernel.spread(strength)
        return every

    def per_run(self, name: str, value: PerRun) -> float | Array:
        """A hyperparameter as one number, or as an array with the number of each of these runs."""
        if isinstance(value, (int, float)):
            return float(value)
        if len(value) != self.total:
            raise SpecError(
                f"{name}: {len(value)} values for {self.total} runs: give one value, or one for each run"
            )
        return self.kernel.engine.array(np.asarray(value)[self.runs])


class Course(ABC):
    """Some runs under way. An epoch is `look` (what are error and gradient here?), then `move`.

    Attributes that are arrays belong to runs: with one axis, a number for each run; with two, one for each
    weight. `keep` thins them all out when runs have finished. `is_replayable` says that every epoch makes the
    same calls, so that a graph of them can be replayed (graph_group.py).
    """

    is_replayable: bool = True

    def __init__(self, start: Start) -> None:
        self.kernel = start.kernel
        self.cases = start.cases
        self.weights = start.weights
        self.seen: KernelLook | None = None
        self._penalty = start.penalty()

    def look(self, *, worst: bool) -> KernelLook:
        """Error (and largest deviation, if asked for) of the current weights, on the training cases."""
        room = None if self.seen is None else self.seen.gradient
        self.seen = self.see(self.weights, self.cases, worst=worst, out=room)
        return self.seen

    def see(self, weights: Array, cases: KernelCases, *, share: float = 1.0, **options: Any) -> KernelLook:
        """What the kernel sees, with the penalty for weights (or this share of it) added."""
        seen = self.kernel.look(weights, cases, **options)
        if self._penalty is not None:
            kernel, pull = self.kernel, self._penalty * weights
            if share != 1.0:
                pull *= share
            seen.gradient += pull
            scale = kernel.error.scale(kernel.architecture, cases.count)
            if isinstance(kernel.error, CrossEntropy):  # the squared error is twice what has the gradient
                scale = 0.5 * scale
            seen.error = seen.error + scale * kernel.dot(weights, pull)
        return seen

    @abstractmethod
    def move(self) -> None:
        """Change the weights, knowing what `look` saw."""

    def settle(self, homes: dict[str, Array]) -> None:
        """Bring what is remembered back to the arrays that held it before (`homes`), for the next replay."""
        for name, home in homes.items():
            now = getattr(self, name)
            if now is not home:
                home[...] = now
                setattr(self, name, home)

    def homes(self) -> dict[str, Array]:
        """The arrays that hold what is remembered."""
        return self._own_arrays()

    def _own_arrays(self) -> dict[str, Array]:
        return {name: value for name, value in vars(self).items() if hasattr(value, "ndim")}

    def keep(self, positions: Array) -> None:
        """Go on with the runs at these positions only."""
        self.cases = self.kernel.take_cases(self.cases, positions)
        for name, value in self._own_arrays().items():
            setattr(self, name, self._kept(value, positions))
        if self.seen is not None:
            worst = None if self.seen.worst is None else self.seen.worst[positions]
            self.seen = KernelLook(
                self.seen.error[positions], self._kept(self.seen.gradient, positions), worst
            )

    def _kept(self, array: Array, positions: Array) -> Array:
        return array[positions] if array.ndim == 1 else self.kernel.take(array, positions)

    def _spread(self, value: float | Array) -> float | Array:
        return value if isinstance(value, float) else self.kernel.spread(value)

    def _gradient(self) -> Array:
        assert self.seen is not None, "look comes before move"
        return self.seen.gradient


class Algorithm(Protocol):
    """A training algorithm: a frozen value that can start a course.

    `passes` counts the forward and backward passes over the training cases in an epoch, `passes_before` those
    before the first one.
    """

    @property
    def passes(self) -> int:
        """Passes in an epoch."""

    @property
    def passes_before(self) -> int:
        """Passes before the first epoch."""

    def start(self, start: Start) -> Course:
        """Begin."""
