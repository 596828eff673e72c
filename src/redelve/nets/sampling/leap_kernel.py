"""Passes and leapfrog steps as kernels of the GPU: a hidden layer of tanh units, one output, in float32.

Step by step a GPU takes longer to begin each of some twenty small operations than to do it. Here every chain
is a program of its own, which keeps its weights in registers for as many steps as it is told to take.

A chain's weights form a matrix: a row for each hidden unit, then one for the output; a column for each of the
inputs (the last is constant), then one for what leads from hidden units to the output. `places` tells where
in the chain's `size` weights each of them is, -1 for none. Products are taken by tensor cores in three parts,
whose error is that of float32.
"""
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

SAME = ["steps", "size", "hidden", "columns"]
"""Numbers that make no other kernel."""


@triton.jit
def _look_at(w, inputs, targets, cases, hidden, columns, units: tl.constexpr, wide: tl.constexpr, block: tl.constexpr):  # fmt: skip
    """The gradient of half the sum of squares, and that in float64."""
    unit, column, case = tl.arange(0, units)[:, None], tl.arange(0, wide), tl.arange(0, block)
    is_hidden, is_output, leads_out = unit < hidden, unit == hidden, column[None, :] == columns
    out = tl.sum(tl.where(leads_out, w, 0.0), 1)[:, None]
    found, slopes = tl.zeros((units, wide), tl.float32), tl.zeros((units, 1), tl.float32)
    squares = tl.zeros((block,), tl.float64)
    for start in range(0, cases, block):
        here = start + case
        known = (column < columns)[:, None] & (here < cases)[None, :]
        x = tl.load(inputs + column[:, None] * cases + here[None, :], known, 0.0)
        net = tl.dot(w, x, input_precision="tf32x3")
        value = tl.where(is_hidden, 1.0 - 2.0 / (tl.exp(2.0 * net) + 1.0), 0.0)
        output = tl.sum(out * value + tl.where(is_output, net, 0.0), 0)
        gap = tl.where(here < cases, output - tl.load(targets + here, here < cases, 0.0), 0.0)
        squares += gap.to(tl.float64) * gap.to(tl.float64)
        delta = tl.where(is_output, gap[None, :], out * gap[None, :] * (1.0 - value * value))
        slopes += tl.sum(value * gap[None, :], 1)[:, None]
        found = tl.dot(delta, tl.trans(x), found, input_precision="tf32x3")
    return tl.where(leads_out, slopes, found), 0.5 * tl.sum(squares, 0)


@triton.jit(do_not_specialize=SAME)
def look(weights, gradient, squares, places, inputs, targets, size, cases, hidden, columns, units: tl.constexpr, wide: tl.constexpr, block: tl.constexpr):  # fmt: skip
    """One pass of one chain."""
    chain = tl.program_id(0)
    place = tl.load(places + tl.arange(0, units)[:, None] * wide + tl.arange(0, wide)[None, :])
    there, place = place >= 0, place + chain * size
    inputs, targets = inputs + chain * columns * cases, targets + chain * cases
    w = tl.load(weights + place, there, 0.0)
    g, half = _look_at(w, inputs, targets, cases, hidden, columns, units, wide, block)
    tl.store(gradient + place, g, there)
    tl.store(squares + chain, half)


@triton.jit(do_not_specialize=SAME)
def leap(weights, velocity, force, kick, pull, steps, squares, places, inputs, targets, size, cases, hidden, columns, units: tl.constexpr, wide: tl.constexpr, block: tl.constexpr):  # fmt: skip
    """So many leapfrog steps of one chain; the half sum of squares is that of the last."""
    chain = tl.program_id(0)
    place = tl.load(places + tl.arange(0, units)[:, None] * wide + tl.arange(0, wide)[None, :])
    there, place = place >= 0, place + chain * size
    inputs, targets = inputs + chain * columns * cases, targets + chain * cases
    w, v = tl.load(weights + place, there, 0.0), tl.load(velocity + place, there, 0.0)
    k, p = tl.load(kick + place, there, 0.0), tl.load(pull + place, there, 0.0)
    f = tl.load(force + place, there, 0.0)
    half = tl.load(squares + chain)
    for _ in range(steps):
        v -= f
        w += v
        g, half = _look_at(w, inputs, targets, cases, hidden, columns, units, wide, block)
        f = k * g + p * w
        v -= f
    tl.store(weights + place, w, there)
    tl.store(velocity + place, v, there)
    tl.store(force + place, f, there)
    tl.store(squares + chain, half)
