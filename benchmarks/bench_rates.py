"""How near the engine is to the machine's matrix peak on a CPU, beside torch in a loop, torch.vmap and JAX.

CPU seconds of 60 runs of 20 epochs of iRPROP- in float32 on one thread; rates by two counts of operations:
those that the products need, and the customary six for each weight and case, which is more than they need.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench_nets import EPOCHS, PROBLEMS, RUNS, ours, torchs, training_cases
from benchmarks.timing import Row
from redelve.nets import Architecture, Data, initial_weights, layered

COMMAND = "OPENBLAS_NUM_THREADS=1 python -m benchmarks rates"
NAMES = ("glass1", "thyroid1", "gene1")
JAX_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def cpu_seconds(rounds: int, *actions: Callable[[], object]) -> list[float]:
    """The least CPU time of each action, in turns."""
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for place, action in enumerate(actions):
            start = time.process_time()
            action()
            best[place] = min(best[place], time.process_time() - start)
    return best


def peak() -> float:
    """Operations a second of a large product of matrices in float32."""
    first, second = (np.random.default_rng(0).random((768, 768), dtype=np.float32) for _ in range(2))
    (seconds,) = cpu_seconds(20, lambda: first @ second)
    return float(2 * 768**3 / seconds)


def operations(name: str) -> tuple[float, float]:
    """Of all runs and epochs: what the products need, and six for each weight and case."""
    network, cases = network_of(name), PROBLEMS[name][0]
    back = sum(wire.height * (wire.width - wire.constant) for wire in network.wiring.wires[1:])
    each = 2 * cases * (2 * network.connection_count + back)
    return RUNS * EPOCHS * each, RUNS * EPOCHS * 6 * cases * network.connection_count


def network_of(name: str) -> Architecture:
    return layered(PROBLEMS[name][1], "softsign", "identity", shortcuts=True)


def matrices(name: str) -> list[tuple[Any, Any]]:
    """First weights as matrices of all runs, one for each layer from all layers before it, and biases."""
    sizes = PROBLEMS[name][1]
    first = initial_weights(network_of(name), range(RUNS), 0.5, "float32")
    found, start = [], 0
    for end in range(1, len(sizes)):
        width, height = sum(sizes[:end]), sizes[end]
        values = first[:, start : start + height * (width + 1)].reshape(RUNS, height, width + 1)
        start += height * (width + 1)
        found.append((values[:, :, :-1].copy(), values[:, :, -1].copy()))
    return found


def vmapped(name: str, data: Data) -> Callable[[], object]:
    """torch.func: the gradient of one network, vmapped over runs; iRPROP- on stacked weights."""
    import torch

    weights = [torch.tensor(each) for pair in matrices(name) for each in pair]
    inputs, targets = (torch.tensor(each, dtype=torch.float32) for each in (data.inputs, data.targets))

    def loss(own: Any) -> Any:
        values = inputs
        for place in range(0, len(own), 2):
            net = values @ own[place].T + own[place + 1]
            values = torch.cat([values, net / (1 + net.abs())], dim=1) if place < len(own) - 2 else net
        return ((values - targets) ** 2).sum() / 2

    gradients = torch.func.vmap(torch.func.grad(loss))

    def train() -> object:
        torch.set_num_threads(1)
        now = [each.clone() for each in weights]
        steps = [torch.full_like(each, 0.01) for each in now]
        before = [torch.zeros_like(each) for each in now]
        for _ in range(EPOCHS):
            for place, found in enumerate(gradients(now)):
                turn = before[place] * found
                steps[place] *= torch.where(turn > 0, 1.2, torch.where(turn < 0, 0.5, 1.0))
                slope = torch.where(turn < 0, 0.0, found)
                now[place] -= slope.sign() * steps[place]
                before[place] = slope
        return now

    return train


def jaxed(name: str, data: Data) -> Callable[[], object]:
    """JAX: all epochs of one network as one compiled function, vmapped over runs."""
    os.environ.setdefault("XLA_FLAGS", JAX_FLAGS)
    import jax
    import jax.numpy as jnp

    weights = [jnp.asarray(each) for pair in matrices(name) for each in pair]
    inputs, targets = (jnp.asarray(each, dtype=jnp.float32) for each in (data.inputs, data.targets))

    def loss(own: Any) -> Any:
        values = inputs
        for place in range(0, len(own), 2):
            net = values @ own[place].T + own[place + 1]
            values = jnp.concatenate([values, jax.nn.soft_sign(net)], 1) if place < len(own) - 2 else net
        return ((values - targets) ** 2).sum() / 2

    def epoch(_: int, state: Any) -> Any:
        now, steps, before = state
        slopes = jax.grad(loss)(now)
        turns = [old * new for old, new in zip(before, slopes, strict=True)]
        steps = [
            step * jnp.where(turn > 0, 1.2, jnp.where(turn < 0, 0.5, 1.0))
            for step, turn in zip(steps, turns, strict=True)
        ]
        slopes = [jnp.where(turn < 0, 0.0, slope) for turn, slope in zip(turns, slopes, strict=True)]
        now = [one - jnp.sign(slope) * step for one, slope, step in zip(now, slopes, steps, strict=True)]
        return now, steps, slopes

    def one(own: Any) -> Any:
        zeros = [jnp.zeros_like(each) for each in own]
        return jax.lax.fori_loop(0, EPOCHS, epoch, (own, [each + 0.01 for each in zeros], zeros))[0]

    compiled = jax.jit(jax.vmap(one))
    wait: Any = jax.block_until_ready  # untyped where jax is installed
    wait(compiled(weights))
    return lambda: wait(compiled(weights))


def rivals(name: str, data: Data) -> dict[str, Callable[[], object]]:
    """Those that are installed."""
    found: dict[str, Callable[[], object]] = {}
    try:
        found["torch.vmap"] = vmapped(name, data)
        found["a loop in torch"] = lambda: torchs(name, data, 1)
    except ImportError:
        print("rates: torch is not installed")
    try:
        found["JAX, jit and vmap, after compiling"] = jaxed(name, data)
    except ImportError:
        print("rates: jax is not installed")
    return found


def run() -> list[Row]:
    rows: list[Row] = []
    for name in NAMES:
        data, most = training_cases(name), peak()
        others = rivals(name, data)
        mine, *theirs = cpu_seconds(3, partial(ours, name, data), *others.values())
        needed, customary = (each / mine / most for each in operations(name))
        print(f"rates: {name}: {needed:.0%} of {most / 1e9:.0f} GFLOP/s; counted as six {customary:.0%}")
        rows += [
            {
                "name": f"rates: {RUNS} runs of {EPOCHS} epochs of iRPROP- on {name} (CPU seconds)",
                "ours": mine,
                "alternative": seconds,
                "against": against,
                "ratio": mine / seconds,
                "bound": None,
                "command": COMMAND,
            }
            for against, seconds in zip(others, theirs, strict=True)
        ]
    return rows
