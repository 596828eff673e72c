"""Small problems that the tests of the engine share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from redelve.nets import Architecture, Data, Sets, initial_weights

XOR = Data([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]])
TINY = Architecture((2, 2, 1), ("logistic", "logistic"))


def noisy_sets(runs: int | None = None, *, inputs: int = 5, cases: int = 60, outputs: int = 2) -> Sets:
    """Classification with noise, so that networks overfit; where `runs` is given, each has its own data."""
    random = np.random.default_rng(5)
    lead = () if runs is None else (runs,)

    def draw(count: int) -> Data:
        values = random.normal(size=(*lead, count, inputs))
        score = values[..., 0] * values[..., 1] + 0.8 * random.normal(size=(*lead, count))
        classes = np.digitize(score, np.linspace(-1, 1, outputs - 1)) if outputs > 1 else (score > 0) * 1
        targets = np.eye(outputs)[classes] if outputs > 1 else classes[..., None]
        return Data(values, targets)

    return Sets(draw(cases), draw(cases // 2), draw(cases // 2))


def some_weights(architecture: Architecture, runs: int, r: float = 0.7) -> NDArray[np.float64]:
    return initial_weights(architecture, range(runs), r)


def plain_outputs(
    architecture: Architecture, weights: NDArray[np.float64], inputs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One network by the book: unit after unit, weights read in the documented order."""
    functions: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
        "tanh": np.tanh,
        "logistic": lambda z: 1 / (1 + np.exp(-z)),
        "softsign": lambda z: z / (1 + abs(z)),
        "relu": lambda z: np.maximum(z, 0.0),
        "identity": lambda z: z,
        "softmax": lambda z: np.exp(z) / np.exp(z).sum(),
    }
    sizes, place = architecture.sizes, 0
    net = [np.zeros((len(inputs), size)) for size in sizes[1:]]
    values = [inputs]
    for source, size in enumerate(sizes[:-1]):
        last = len(sizes) - 1 if architecture.shortcuts else source + 1
        biased = architecture.biases and (source == 0 or not architecture.shortcuts)
        for target in range(source, last):
            for unit in range(sizes[target + 1]):
                own = weights[place : place + size + biased]
                net[target][:, unit] += values[source] @ own[:size] + (own[size] if biased else 0.0)
                place += size + biased
        name = architecture.activations[source]
        values.append(np.array([functions[name](row) for row in net[source]]))
    assert place == architecture.connection_count == len(weights)
    return values[-1]
