"""Adam: steps by running means of gradients and of their squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from redelve.nets.algorithms.course import PerRun, Start
from redelve.nets.algorithms.mini_batches import MiniBatchCourse, check_batch_size


@dataclass(frozen=True)
class Adam:
    """Adaptive moments (Kingma and Ba 2015, algorithm 1): w -= rate · m̂ / (√v̂ + epsilon).

    Gradients are sums over cases, which changes nothing but what `epsilon` means. With `batch_size` an epoch
    has a step for every so many cases, dealt anew each time (mini_batches.py).
    """

    passes: ClassVar[int] = 1
    passes_before: ClassVar[int] = 0

    rate: PerRun = 0.001
    beta1: PerRun = 0.9
    beta2: PerRun = 0.999
    epsilon: float = 1e-8
    batch_size: int | None = None
    deal: int = 0

    def __post_init__(self) -> None:
        check_batch_size(self.batch_size)

    def start(self, start: Start) -> AdamCourse:
        """Begin at these weights, knowing of no gradient."""
        return AdamCourse(start, self)


class AdamCourse(MiniBatchCourse):
    """Adam under way; powers of β are arrays: every step is the same operations on the same arrays."""

    def __init__(self, start: Start, algorithm: Adam) -> None:
        super().__init__(start, algorithm.batch_size, algorithm.deal)
        zeros = start.kernel.engine.zeros((start.kernel.runs,))
        self._rate = start.per_run("rate", algorithm.rate) + zeros
        self._beta1 = start.per_run("beta1", algorithm.beta1) + zeros
        self._beta2 = start.per_run("beta2", algorithm.beta2) + zeros
        self._power1, self._power2 = zeros + 1.0, zeros + 1.0
        self._epsilon = algorithm.epsilon
        self._mean, self._square, self._room = (start.kernel.xp.zeros_like(start.weights) for _ in range(3))

    def move(self) -> None:
        """One step of each weight."""
        xp, spread, gradient, room = self.kernel.xp, self.kernel.spread, self._gradient(), self._room
        self._power1 *= self._beta1
        self._power2 *= self._beta2
        root = xp.sqrt(1.0 - self._power2)
        self._mean *= spread(self._beta1)
        xp.multiply(gradient, spread(1.0 - self._beta1), out=room)
        self._mean += room
        self._square *= spread(self._beta2)
        xp.multiply(gradient, gradient, out=room)
        room *= spread(1.0 - self._beta2)
        self._square += room
        xp.sqrt(self._square, out=room)
        room += spread(self._epsilon * root)
        xp.divide(self._mean, room, out=room)
        room *= spread(self._rate * root / (1.0 - self._power1))
        self.weights -= room
