"""Priors of networks as Neal (1996) has them: groups of weights whose widths are unknown themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass

from redelve.errors import SpecError


@dataclass(frozen=True)
class ScalePrior:
    """The prior of a standard deviation σ, which Neal's software writes width:alpha.

    The precision τ = 1/σ² has a Gamma distribution of shape α/2 and mean 1/width² (Neal 1996, section 3.2.2,
    eq. 3.4): vague for small α. With α = ∞ σ is fixed at `width`.

    >>> ScalePrior.of("0.05:0.5")
    ScalePrior(width=0.05, alpha=0.5)
    >>> ScalePrior.of("1").is_fixed
    True
    """

    width: float
    alpha: float = math.inf

    def __post_init__(self) -> None:
        if not (0 < self.width < math.inf and self.alpha > 0):
            raise SpecError(
                f"prior of a standard deviation with width {self.width}, alpha {self.alpha}: "
                "give a finite width and an alpha, both above 0"
            )

    @classmethod
    def of(cls, text: str) -> ScalePrior:
        """Read `width:alpha`, or `width` for a fixed one."""
        try:
            return cls(*(float(part) for part in text.split(":", 1)))
        except ValueError:
            raise SpecError(
                f'prior "{text}": give width:alpha as in 0.05:0.5, or a width alone to fix it'
            ) from None

    @property
    def is_fixed(self) -> bool:
        """Whether σ is known."""
        return math.isinf(self.alpha)

    @property
    def rate(self) -> float:
        """The rate of τ's Gamma distribution, α width²/2."""
        return self.alpha * self.width**2 / 2

    def __str__(self) -> str:
        return f"{self.width:g}" if self.is_fixed else f"{self.width:g}:{self.alpha:g}"


VAGUE = ScalePrior(0.05, 0.5)
"""What Neal uses throughout."""


@dataclass(frozen=True)
class NetworkPrior:
    """Weights are normal around 0, in groups with a standard deviation each (Neal 1996, section 3.2.2).

    With `relevance` α₁ every input has a group of its own, whose precision is Gamma of shape α₁/2 around a
    common one that has the prior `inputs` (automatic relevance determination, section 4.3); None: one group
    for all inputs. Direct connections are alike, with relevances of their own. The width of `outputs` is
    divided by the root of the number of hidden units. With `noise_df` ν the noise has a t distribution:
    every case has a precision of its own, Gamma of shape ν/2 around the common one.
    """

    inputs: ScalePrior = VAGUE
    hidden_biases: ScalePrior = VAGUE
    outputs: ScalePrior = VAGUE
    direct: ScalePrior = VAGUE
    output_biases: ScalePrior = ScalePrior(1.0)
    noise: ScalePrior = VAGUE
    relevance: float | None = 1.0
    noise_df: float | None = None

    def __post_init__(self) -> None:
        for name in ("relevance", "noise_df"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise SpecError(f"{name} {value}: give a number above 0, or None for none")
        if self.relevance is not None and (self.inputs.is_fixed or self.direct.is_fixed):
            raise SpecError(
                "relevance of inputs around a fixed width: give the width an alpha, or relevance=None"
            )
