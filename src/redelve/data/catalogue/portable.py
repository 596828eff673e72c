"""Elementary functions and random numbers on arrays, with the same bits on every machine.

The functions of numpy and of C libraries differ in their last bits between processors and versions. These
use only additions, multiplications, divisions and square roots, whose results IEEE 754 fixes, one array at a
time (no sums or matrix products, whose order of additions is the library's own). They are exact to 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from redelve.model.dataset import Numbers

Indices = NDArray[np.uint64]

HALF_PI_HIGH, HALF_PI_LOW = 1.5707963267341256, 6.077100506506192e-11  # as in fdlibm: 33 bits, and the rest
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LOG_2_E = 1.4426950408889634
SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9)]
COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(10)]
EXPONENTIAL = [1 / math.factorial(k) for k in range(14)]
AREA_TANGENT = [1 / (2 * k + 1) for k in range(12)]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = (np.uint64(shift) for shift in (30, 27, 31, 11))


def polynomial(coefficients: Sequence[float], x: Numbers) -> Numbers:
    """A polynomial, constant term first, by Horner's rule."""
    value = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value *= x
        value += coefficient
    return value


def sine_cosine(angle: Numbers) -> tuple[Numbers, Numbers]:
    """Sine and cosine of angles of moderate size.

    >>> sine, cosine = sine_cosine(np.array([0.0, 1.0]))
    >>> [round(float(value), 12) for value in (*sine, *cosine)]
    [0.0, 0.841470984808, 1.0, 0.540302305868]
    """
    quarter = np.rint(angle * (2 / math.pi))
    rest = (angle - quarter * HALF_PI_HIGH) - quarter * HALF_PI_LOW
    square = rest * rest
    sine, cosine = rest * polynomial(SINE, square), polynomial(COSINE, square)
    turn = quarter.astype(np.int64) & 3
    odd = (turn & 1).astype(bool)
    first, second = np.where(odd, cosine, sine), np.where(odd, sine, cosine)
    return np.where(turn >= 2, -first, first), np.where((turn == 1) | (turn == 2), -second, second)


def logarithm(x: Numbers) -> Numbers:
    """The natural logarithm of positive numbers, as twice the area tangent of (m - 1) / (m + 1)."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < math.sqrt(0.5)
    mantissa = np.where(small, 2 * mantissa, mantissa)
    power = (exponent - small).astype(np.float64)
    ratio = (mantissa - 1) / (mantissa + 1)
    series = 2 * ratio * polynomial(AREA_TANGENT, ratio * ratio)
    value: Numbers = (series + power * LOG_2_LOW) + power * LOG_2_HIGH
    return value


def exponential(x: Numbers) -> Numbers:
    """e to the power of numbers that neither overflow nor underflow."""
    power = np.rint(x * LOG_2_E)
    rest = (x - power * LOG_2_HIGH) - power * LOG_2_LOW
    value: Numbers = np.ldexp(polynomial(EXPONENTIAL, rest), power.astype(np.int64))
    return value


class Draws:
    """Random numbers on arrays: SplitMix64, the stream of `uniforms.Uniforms` with the same seed.

    >>> Draws(1234567).uniforms(2) * 2**53 == [6457827717110365317 >> 11, 3203168211198807973 >> 11]
    array([ True,  True])
    """

    def __init__(self, seed: int) -> None:
        self._seed = np.uint64(seed)
        self._used = 0

    def at(self, index: Indices) -> Numbers:
        """The uniform numbers at the given places (from 0) of the stream, of which there is no end."""
        mixed = (index + np.uint64(1)) * GAMMA + self._seed
        mixed ^= mixed >> S30
        mixed *= MIX_1
        mixed ^= mixed >> S27
        mixed *= MIX_2
        mixed ^= mixed >> S31
        return (mixed >> S11).astype(np.float64) * 2.0**-53

    def uniforms(self, *shape: int) -> Numbers:
        """The next multiples of 2^-53 that are at least 0 and less than 1."""
        count = math.prod(shape)
        index = np.arange(self._used, self._used + count, dtype=np.uint64)
        self._used += count
        return self.at(index).reshape(shape)

    def between(self, low: float, high: float, *shape: int) -> Numbers:
        """Uniform numbers from `low` to `high`."""
        return low + (high - low) * self.uniforms(*shape)

    def normals(self, *shape: int) -> Numbers:
        """Standard normal numbers (Box and Muller 1958)."""
        normal, _ = normal_pairs(self.uniforms(*shape), self.uniforms(*shape))
        return normal

    def exponentials(self, mean: float, *shape: int) -> Numbers:
        """Exponential numbers."""
        return -mean * logarithm(1 - self.uniforms(*shape))

    def integers(self, low: int, high: int, *shape: int) -> Numbers:
        """Integers from `low` to `high`, both included, all equally probable."""
        return low + np.floor((high + 1 - low) * self.uniforms(*shape))


def normal_pairs(first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    """Two independent standard normal numbers from two uniform ones (Box and Muller 1958)."""
    radius = np.sqrt(-2 * logarithm(1 - first))
    sine, cosine = sine_cosine(2 * math.pi * second)
    return radius * cosine, radius * sine
