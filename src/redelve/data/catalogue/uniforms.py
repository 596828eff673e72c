"""Random numbers that are the same on every machine and under every version of every library.

The bits come from SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"),
which is integer arithmetic; only then do a few functions of `math` follow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MASK = 2**64 - 1


class Uniforms:
    """A stream of random numbers that starts from a 64-bit seed.

    >>> stream = Uniforms(1234567)
    >>> stream.bits(), stream.bits()
    (6457827717110365317, 3203168211198807973)
    """

    def __init__(self, seed: int) -> None:
        self._state = seed & MASK

    def bits(self) -> int:
        """The next 64 random bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return mixed ^ (mixed >> 31)

    def uniform(self) -> float:
        """A multiple of 2^-53 that is at least 0 and less than 1, without any rounding."""
        return (self.bits() >> 11) * 2.0**-53

    def exponential(self, mean: float) -> float:
        """An exponential variable, by inverting its distribution function."""
        return -mean * math.log(1.0 - self.uniform())

    def normal(self) -> float:
        """A standard normal variable (Box and Muller 1958); two uniforms for each."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return radius * math.cos(2.0 * math.pi * self.uniform())

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.uniform() < probability

    def choice(self, values: Sequence[str], weights: Sequence[float]) -> str:
        """One of the values, with probabilities in proportion to the weights."""
        rest = self.uniform() * math.fsum(weights)
        for value, weight in zip(values, weights, strict=True):
            rest -= weight
            if rest < 0:
                return value
        return values[-1]
