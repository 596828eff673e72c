"""Activation functions of units, in place, and their derivatives told from their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from redelve.registry import Registry

Array = Any


@dataclass(frozen=True)
class Activation:
    """`apply(xp, z, memory)` makes values of net inputs z, `chain(xp, y, delta, memory)` multiplies by f'.

    Both work in place on arrays of equal shape; what `apply` leaves in `memory`, `chain` finds there.
    """

    name: str
    apply: Callable[[Any, Array, Array], None]
    chain: Callable[[Any, Array, Array, Array], None]


ACTIVATIONS = Registry[Activation]("activation", own_name="name")


def _tanh(xp: Any, z: Array, memory: Array) -> None:
    xp.tanh(z, out=z)


def _chain_tanh(xp: Any, y: Array, delta: Array, memory: Array) -> None:
    xp.multiply(y, y, out=memory)
    memory *= delta
    delta -= memory


def _logistic(xp: Any, z: Array, memory: Array) -> None:
    z *= -1.0  # not xp.negative: NumPy 2.4 gets it wrong in place when runs are 64 bytes apart
    xp.exp(z, out=z)
    z += 1.0
    xp.reciprocal(z, out=z)


def _chain_logistic(xp: Any, y: Array, delta: Array, memory: Array) -> None:
    xp.multiply(y, y, out=memory)
    xp.subtract(y, memory, out=memory)
    delta *= memory


def _softsign(xp: Any, z: Array, memory: Array) -> None:
    xp.abs(z, out=memory)
    memory += 1.0
    z /= memory


def _chain_softsign(xp: Any, y: Array, delta: Array, memory: Array) -> None:
    # f'(z) = 1 / (1 + |z|)²
    delta /= memory
    delta /= memory


def _relu(xp: Any, z: Array, memory: Array) -> None:
    memory[...] = z > 0  # faster than a maximum, and what the derivative is
    z *= memory


def _chain_relu(xp: Any, y: Array, delta: Array, memory: Array) -> None:
    delta *= memory


def _nothing(xp: Any, z: Array, memory: Array) -> None:
    pass


def _chain_nothing(xp: Any, y: Array, delta: Array, memory: Array) -> None:
    pass


ACTIVATIONS.add("tanh", Activation("tanh", _tanh, _chain_tanh))
ACTIVATIONS.add("logistic", Activation("logistic", _logistic, _chain_logistic))
ACTIVATIONS.add("softsign", Activation("softsign", _softsign, _chain_softsign))
ACTIVATIONS.add("relu", Activation("relu", _relu, _chain_relu))
ACTIVATIONS.add("identity", Activation("identity", _nothing, _chain_nothing))
# Softmax normalises over units, so the kernel does it; its derivative is part of the cross-entropy's.
ACTIVATIONS.add("softmax", Activation("softmax", _nothing, _chain_nothing))
