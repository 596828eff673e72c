"""Batch gradient descent with momentum, and descending epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from redelve.errors import SpecError
from redelve.nets.algorithms.course import PerRun, Start
from redelve.nets.algorithms.mini_batches import MiniBatchCourse, check_batch_size
from redelve.nets.backend import Array
from redelve.nets.kernel import KernelLook, NetworkKernel


class Scaling(Protocol):
    """Changes a gradient in place before it is used: rates of its own for each weight."""

    def scale(self, kernel: NetworkKernel, gradient: Array) -> None:
        """Change `gradient`."""


@dataclass(frozen=True)
class InputRelevance:
    """Rates by the relevance of inputs: r_i = (G_i / max G)^power for weights out of input i.

    (Neal 1998, mlp-bgd-2.) G_i is the sum of squared gradients over these weights, at every epoch; other
    weights have r = 1.
    """

    power: float = 2.0

    def scale(self, kernel: NetworkKernel, gradient: Array) -> None:
        """Multiply the gradient of each input's weights by the input's relevance."""
        own = kernel.input_weights(gradient)
        total = own[:, 0] * own[:, 0]
        for unit in range(1, own.shape[1]):
            total = total + own[:, unit] * own[:, unit]
        largest = kernel.xp.max(total, axis=1)[:, None]
        ratio = total / kernel.xp.where(largest > 0, largest, largest + 1.0)
        own *= (ratio**self.power)[:, None, :]


@dataclass(frozen=True)
class GradientDescent:
    """w += v, v = momentum · v - rate · gradient, the gradient summed over the training cases.

    (Rumelhart, Hinton and Williams 1986, equation 16.) For squared error, the gradient of half the sum. With
    `batch_size` an epoch has a step for every so many cases, dealt anew each time (mini_batches.py).
    """

    passes: ClassVar[int] = 1
    passes_before: ClassVar[int] = 0

    rate: PerRun
    momentum: PerRun = 0.0
    scaling: Scaling | None = None
    batch_size: int | None = None
    deal: int = 0

    def __post_init__(self) -> None:
        check_batch_size(self.batch_size)

    def start(self, start: Start) -> DescentCourse:
        """Begin at these weights, at rest."""
        return DescentCourse(start, self)


class DescentCourse(MiniBatchCourse):
    """Gradient descent under way."""

    def __init__(self, start: Start, algorithm: GradientDescent | DescendingEpsilon) -> None:
        batch_size, deal = (
            (algorithm.batch_size, algorithm.deal) if isinstance(algorithm, GradientDescent) else (None, 0)
        )
        super().__init__(start, batch_size, deal)
        self._rate = start.per_run("rate", algorithm.rate)
        self._momentum = start.per_run("momentum", algorithm.momentum)
        self._scaling = algorithm.scaling
        self._velocity = start.kernel.xp.zeros_like(start.weights)

    def move(self) -> None:
        """One step."""
        gradient = self._gradient()
        if self._scaling is not None:
            self._scaling.scale(self.kernel, gradient)
        gradient *= self._spread(self._rate)
        self._velocity *= self._spread(self._momentum)
        self._velocity -= gradient
        self.weights += self._velocity


@dataclass(frozen=True)
class DescendingEpsilon:
    """Gradient descent that leaves alone every output within epsilon of its target, for a shrinking epsilon.

    After Yu and Simmons (1990), as told by their titles and by Hamey: epsilon begins at `first`; whenever all
    outputs of all cases are within it, it falls by `decrease`, down to `last`. The paper was not at hand: the
    three numbers are this project's.
    """

    passes: ClassVar[int] = 1
    passes_before: ClassVar[int] = 0

    rate: PerRun
    momentum: PerRun = 0.0
    first: float = 0.5
    decrease: float = 0.1
    last: float = 0.0
    scaling: Scaling | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.last <= self.first or self.decrease <= 0:
            raise SpecError(
                f"descending epsilon from {self.first} to {self.last} by {self.decrease}: "
                "give 0 <= last <= first and decrease > 0"
            )

    def start(self, start: Start) -> EpsilonCourse:
        """Begin at these weights, at rest, with the first epsilon."""
        return EpsilonCourse(start, self)


class EpsilonCourse(DescentCourse):
    """Descending epsilon under way."""

    def __init__(self, start: Start, algorithm: DescendingEpsilon) -> None:
        super().__init__(start, algorithm)
        self._decrease = algorithm.decrease
        self._last = algorithm.last
        self.epsilon = start.kernel.engine.zeros((start.kernel.runs,)) + algorithm.first

    def look(self, *, worst: bool) -> KernelLook:
        """Look with the present tolerance; where all is within it, it falls for the next epoch."""
        room, xp = None if self.seen is None else self.seen.gradient, self.kernel.xp
        self.seen = self.see(self.weights, self.cases, tolerance=self.epsilon, worst=True, out=room)
        lower = xp.clip(self.epsilon - self._decrease, self._last, None)
        self.epsilon = xp.where(self.seen.worst <= self.epsilon, lower, self.epsilon)
        return self.seen
