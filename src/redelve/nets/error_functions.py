"""Errors that training makes small: PROBEN1's squared error percentage, and cross-entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets.architecture import Architecture


@dataclass(frozen=True)
class SquaredOutputError:
    """Squared error percentage (Prechelt 1994, section 2.6), for outputs coded from `low` to `high`:

    E = 100 (high - low) / (N P) Σ_p Σ_i (o_pi - t_pi)², with N outputs and P cases. Gradients are those of
    ½ Σ_p Σ_i (o_pi - t_pi)², so that learning rates mean what they mean in print.
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise SpecError(f"squared error of outputs from {self.low} to {self.high}: give low < high")

    def check(self, architecture: Architecture) -> None:
        """Refuse outputs it is not meant for."""
        if architecture.activations[-1] == "softmax":
            raise SpecError("squared error of softmax outputs is not offered: use CrossEntropy()")

    def check_targets(self, architecture: Architecture, targets: NDArray[Any]) -> None:
        """Any targets will do."""

    def scale(self, architecture: Architecture, cases: Any) -> Any:
        """What turns the sum over cases and outputs into the reported error; `cases` is their weight."""
        return 100.0 * (self.high - self.low) / (architecture.outputs * cases)


@dataclass(frozen=True)
class CrossEntropy:
    """Mean over cases of -Σ_i t_i ln o_i, in nats (Bishop 1995, section 6.9), for softmax outputs.

    For logistic outputs of -Σ_i [t_i ln o_i + (1 - t_i) ln(1 - o_i)] (section 6.7). Gradients are those of
    the sum over cases.
    """

    def check(self, architecture: Architecture) -> None:
        """Refuse outputs it is not meant for."""
        if architecture.activations[-1] not in ("softmax", "logistic"):
            raise SpecError(
                f'cross-entropy of "{architecture.activations[-1]}" outputs: '
                'make the last activation "softmax" (one of many classes) or "logistic" (independent outputs)'
            )

    def check_targets(self, architecture: Architecture, targets: NDArray[Any]) -> None:
        """Refuse targets that are no probabilities."""
        if targets.min() < 0 or targets.max() > 1:
            raise SpecError(
                f"cross-entropy of targets from {targets.min():g} to {targets.max():g}: give them from 0 to 1"
            )
        sums = targets.sum(axis=-1)
        if architecture.activations[-1] == "softmax" and abs(sums - 1).max() > 1e-6:
            raise SpecError(
                f"targets of a case sum to {sums.flat[abs(sums - 1).argmax()]:g} with softmax outputs: "
                "give class probabilities, which sum to 1"
            )

    def scale(self, architecture: Architecture, cases: Any) -> Any:
        """What turns the sum over cases and outputs into the reported error; `cases` is their weight."""
        return 1.0 / cases


ErrorFunction = SquaredOutputError | CrossEntropy
