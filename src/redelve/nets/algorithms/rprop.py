"""RPROP: steps by the signs of the gradient alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from redelve.errors import SpecError
from redelve.nets.algorithms.course import Course, PerRun, Start
from redelve.nets.backend import Array
from redelve.nets.starting import draw

VARIANTS = ("backtracking", "plain", "irprop-")


@dataclass(frozen=True)
class Rprop:
    """Resilient propagation (Riedmiller and Braun 1993): each weight has its own step.

    A step grows by `eta_plus` while the sign of the gradient stays, shrinks by `eta_minus` when it changes.
    After a change the original takes the last step back ("backtracking"); iRPROP- (Igel and Hüsken 2000)
    leaves the weight where it is for an epoch ("irprop-": what torch.optim.Rprop does); RPROP- (same paper)
    makes the smaller step the other way at once ("plain"). First steps are `delta0`, or for each weight
    uniform between two numbers (never one for each run). The defaults for steps are those printed for
    PROBEN1's tables 3 and 4 (Prechelt 1994, section 3.3.1), `Rprop(eta_plus=1.1, delta0=(0.05, 0.2))` those
    of tables 5 and 6; it is "plain" that gives PROBEN1's numbers (docs/nets.md).
    """

    passes: ClassVar[int] = 1
    passes_before: ClassVar[int] = 0

    eta_plus: PerRun = 1.2
    eta_minus: PerRun = 0.5
    delta0: float | tuple[float, float] = (0.005, 0.02)
    delta_min: float = 0.0
    delta_max: float = 50.0
    variant: str = "backtracking"

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise SpecError(f'RPROP variant "{self.variant}": known are {", ".join(VARIANTS)}')
        if not isinstance(self.delta0, (int, float)) and len(self.delta0) != 2:
            raise SpecError(
                f"RPROP with {len(self.delta0)} numbers as delta0: give one first step, or two ends to draw "
                "each weight's from; runs with first steps of their own need calls of train of their own"
            )
        if not 0 <= self.delta_min <= self.delta_max:
            raise SpecError(
                f"RPROP steps from {self.delta_min} to {self.delta_max}: give 0 <= delta_min <= delta_max"
            )

    def start(self, start: Start) -> RpropCourse:
        """Begin at these weights with first steps."""
        kind = ByteRpropCourse if start.kernel.engine.is_numpy else RpropCourse
        return kind(start, self, self._first_steps(start))

    def _first_steps(self, start: Start) -> Array:
        if isinstance(self.delta0, (int, float)):
            return start.kernel.xp.zeros_like(start.weights) + float(self.delta0)
        if start.seeds is None:
            raise SpecError(
                f"RPROP with delta0={self.delta0} draws first steps: give train a seed for each run"
            )
        seeds = [start.seeds[run] for run in start.runs]
        return start.kernel.load(draw(start.kernel.architecture, seeds, "delta0", *self.delta0))


class RpropCourse(Course):
    """RPROP under way."""

    def __init__(self, start: Start, algorithm: Rprop, steps: Array) -> None:
        super().__init__(start)
        self._algorithm = algorithm
        self._eta_plus = start.per_run("eta_plus", algorithm.eta_plus)
        self._eta_minus = start.per_run("eta_minus", algorithm.eta_minus)
        self.steps = steps
        self._signs, self._change, self._same, self._changed = (
            start.kernel.xp.zeros_like(steps) for _ in range(4)
        )

    def move(self) -> None:
        """One step of each weight. Conditions are numbers (1, 0, -1): arithmetic is faster than choosing."""
        xp, engine, algorithm = self.kernel.xp, self.kernel.engine, self._algorithm
        signs, same, changed = xp.sign(self._gradient()), self._same, self._changed
        xp.multiply(self._signs, signs, out=same)
        changed[...] = same
        engine.clamp(changed, None, 0.0)  # -1 where the sign of the gradient has changed
        engine.clamp(same, 0.0, None)  # 1 where it has not
        self._scale_steps(same, changed)
        if algorithm.variant != "plain":
            xp.add(changed, 1.0, out=same)  # 0 where the sign has changed: the next epoch knows of no sign
            signs *= same
        self._signs = signs
        xp.multiply(signs, self.steps, out=same)
        if algorithm.variant == "backtracking":
            self._change *= changed
            self._change -= same
            self.weights += self._change
        else:
            self.weights -= same

    def _scale_steps(self, same: Array, changed: Array) -> None:
        """Multiply by 1 + (η⁺ - 1) or 1 - (1 - η⁻), which are η⁺ and η⁻ exactly."""
        same *= self._spread(self._eta_plus - 1.0)
        same += 1.0
        self.steps *= same
        self.kernel.xp.multiply(changed, self._spread(1.0 - self._eta_minus), out=same)
        same += 1.0
        self.steps *= same
        self.kernel.engine.clamp(self.steps, self._algorithm.delta_min or None, self._algorithm.delta_max)


class ByteRpropCourse(RpropCourse):
    """RPROP under way on NumPy: signs are bytes, which are compared and multiplied several times as fast.

    All numbers are those of `RpropCourse`, to the bit where 1 + (η⁺ - 1) and 1 - (1 - η⁻) are.
    """

    def __init__(self, start: Start, algorithm: Rprop, steps: Array) -> None:
        super().__init__(start, algorithm, steps)
        self._signs, self._now, self._turns = (np.zeros(steps.shape, dtype=np.int8) for _ in range(3))
        self._above, self._below = (np.zeros(steps.shape, dtype=bool) for _ in range(2))
        low, high = np.asarray(self._eta_minus), np.asarray(self._eta_plus)
        self._is_between = bool(low.min() >= 0 and low.max() <= 1 <= high.min() and high.max() <= 2)

    def move(self) -> None:
        """One step of each weight."""
        signs, same, backtracks = self._read_signs(), self._same, self._algorithm.variant == "backtracking"
        np.multiply(self._signs, signs, out=self._turns)  # 1, 0, -1: the sign of the gradient stays, changes
        if self._algorithm.variant != "plain":
            np.less(self._turns, 0, out=self._below)
            if backtracks:
                self._changed[...] = self._below
            np.logical_not(self._below, out=self._below)  # after a change the next epoch knows of no sign
            signs *= self._below.view(np.int8)
        self._grow_steps()
        self._signs, self._now = signs, self._signs
        same[...] = signs
        same *= self.steps
        if backtracks:
            self._change *= self._changed
            self._change += same
            self.weights -= self._change
            self._change *= -1.0
        else:
            self.weights -= same

    def _read_signs(self) -> Array:
        gradient = self._gradient()
        np.greater(gradient, 0, out=self._above)
        np.less(gradient, 0, out=self._below)
        return np.subtract(self._above.view(np.int8), self._below.view(np.int8), out=self._now)

    def _grow_steps(self) -> None:
        """Multiply by η⁺, 1 or η⁻. Bounds are put only where a step is beyond them."""
        low, high = self._algorithm.delta_min, self._algorithm.delta_max
        self.steps *= self._factors()
        if low > 0 and self.steps.min() < low:
            np.maximum(self.steps, low, out=self.steps)
        if self.steps.max() > high:
            np.minimum(self.steps, high, out=self.steps)

    def _factors(self) -> Array:
        """2, 1 and 0, brought between η⁻ and η⁺, are η⁺, 1 and η⁻."""
        plus, minus = self._spread(self._eta_plus), self._spread(self._eta_minus)
        if not self._is_between:
            factors = np.where(self._turns > 0, plus, np.where(self._turns < 0, minus, 1.0))
            return factors.astype(self.steps.dtype, copy=False)
        self._turns += 1
        self._same[...] = self._turns
        return self._same.clip(minus, plus, out=self._same)
