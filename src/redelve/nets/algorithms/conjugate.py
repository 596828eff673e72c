"""Scaled conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from redelve.nets.algorithms.course import Course, Start
from redelve.nets.backend import Array
from redelve.nets.error_functions import CrossEntropy
from redelve.nets.kernel import KernelLook


@dataclass(frozen=True)
class ScaledConjugateGradients:
    """Conjugate gradients with a step from second-order information (Møller 1993, section 4).

    `sigma` sets the distance over which gradients are differenced, `damping` the first λ. An epoch is one
    iteration: two passes over the training cases, at w + σ p / |p| and at the point proposed.
    """

    passes: ClassVar[int] = 2
    passes_before: ClassVar[int] = 1

    sigma: float = 1e-4
    damping: float = 1e-6

    def start(self, start: Start) -> ConjugateCourse:
        """Begin at these weights along the negative gradient."""
        return ConjugateCourse(start, self)


class ConjugateCourse(Course):
    """Scaled conjugate gradients under way. Names are Møller's: p, r, δ, λ, λ̄, μ, α, Δ."""

    def __init__(self, start: Start, algorithm: ScaledConjugateGradients) -> None:
        super().__init__(start)
        self._sigma = algorithm.sigma
        zeros = self.kernel.engine.zeros((self.kernel.runs,))
        self._iteration, self._lambda_bar, self._curvature = zeros + 0.0, zeros + 0.0, zeros + 0.0
        self._lambda = zeros + algorithm.damping
        self._success = zeros == 0
        self._direction: Array | None = None

    @property
    def _cost(self) -> Any:
        """What turns reported errors into the sums whose gradients are followed."""
        scale = self.kernel.error.scale(self.kernel.architecture, self.cases.count)
        return (1.0 if isinstance(self.kernel.error, CrossEntropy) else 0.5) / scale

    def look(self, *, worst: bool) -> KernelLook:
        """The last accepted point; a pass is needed at the first one only."""
        if self.seen is None:
            self.seen = self.see(self.weights, self.cases, worst=True)
            self._direction = -self.seen.gradient
        return self.seen

    def move(self) -> None:
        """One iteration: steps 2 to 9."""
        assert self.seen is not None, "look comes before move"
        xp, direction, seen = self.kernel.xp, self._direction, self.seen
        self._iteration += 1.0
        length = self.kernel.dot(direction, direction)
        moving = length > 0
        length = xp.where(moving, length, length + 1.0)
        self._curvature = xp.where(self._success, self._measure_curvature(length), self._curvature)
        delta = self._curvature + (self._lambda - self._lambda_bar) * length
        delta = self._make_positive(delta, length)
        mu = -self.kernel.dot(direction, seen.gradient)
        alpha = xp.where(moving, mu / delta, 0.0 * mu)
        proposed = self.weights + self.kernel.spread(alpha) * direction
        there = self.see(proposed, self.cases, worst=True)
        gain = 2.0 * delta * self._cost * (seen.error - there.error) / (mu * mu)
        gain = xp.where(xp.isfinite(gain), gain, xp.where(moving, -xp.ones_like(gain), xp.ones_like(gain)))
        self._curvature = delta
        self._accept(gain >= 0, proposed, there, mu)
        self._lambda = xp.where(gain >= 0.75, self._lambda / 4.0, self._lambda)
        self._lambda = xp.where(gain < 0.25, self._lambda + delta * (1.0 - gain) / length, self._lambda)

    def _measure_curvature(self, length: Array) -> Array:
        """δ = pᵀ s, s = (E'(w + σ p) - E'(w)) / σ: step 2."""
        assert self.seen is not None
        sigma = self._sigma / self.kernel.xp.sqrt(length)
        near = self.weights + self.kernel.spread(sigma) * self._direction
        change = self.see(near, self.cases).gradient - self.seen.gradient
        return self.kernel.dot(self._direction, change) / sigma

    def _make_positive(self, delta: Array, length: Array) -> Array:
        """Raise λ where the Hessian is not positive definite along p: steps 3 and 4."""
        xp, bad = self.kernel.xp, delta <= 0
        raised = 2.0 * (self._lambda - delta / length)
        positive = xp.where(bad, self._lambda * length - delta, delta)
        self._lambda_bar = xp.where(bad, raised, self._lambda_bar)
        self._lambda = xp.where(bad, raised, self._lambda)
        return positive

    def _accept(self, success: Array, proposed: Array, there: KernelLook, mu: Array) -> None:
        """Move the runs that gained and turn their directions (step 7); the others stay."""
        assert self.seen is not None
        xp, kernel, here = self.kernel.xp, self.kernel, self.seen
        turn = (kernel.dot(there.gradient, there.gradient) - kernel.dot(there.gradient, here.gradient)) / mu
        turn = xp.where(xp.isfinite(turn), turn, 0.0 * mu)
        begins_anew = self._iteration % kernel.architecture.connection_count == 0.0
        turn = xp.where(begins_anew, 0.0 * mu, turn)
        moved = kernel.spread(success)
        turned = kernel.spread(turn) * self._direction - there.gradient
        self.weights = xp.where(moved, proposed, self.weights)
        self._direction = xp.where(moved, turned, self._direction)
        self._lambda_bar = xp.where(success, 0.0 * mu, self._lambda)
        self._success = success
        self.seen = KernelLook(
            xp.where(success, there.error, here.error),
            xp.where(moved, there.gradient, here.gradient),
            xp.where(success, there.worst, here.worst),
        )

    def homes(self) -> dict[str, Array]:
        """The arrays that hold what is remembered, the last accepted point's too."""
        return super().homes() | ({} if self.seen is None else vars(self.seen))

    def settle(self, homes: dict[str, Array]) -> None:
        """Bring what is remembered back to these arrays."""
        point = vars(self.seen) if self.seen is not None else {}
        super().settle({name: home for name, home in homes.items() if name not in point})
        for name in point.keys() & homes.keys():
            if point[name] is not homes[name]:
                homes[name][...] = point[name]
                setattr(self.seen, name, homes[name])
