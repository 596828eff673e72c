"""mlp: a small ensemble of neural networks, each stopped by cases of its own that it does not learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from redelve.methods.estimators import LARGEST_SEED
from redelve.methods.views import Labels, ViewPart, without_zeros
from redelve.model.dataset import Numbers

MEMBERS = 5
HIDDEN = 24
STEP = 0.01
DECAY = 1e-3
MOST_EPOCHS = 500
PATIENCE = 30
WATCHED_SHARE = 1 / 3

Loss = Callable[[Any], float]


@dataclass(frozen=True, eq=False)
class Networks:
    """Fitted members; `spread` is that of the errors of those members that did not learn from a case."""

    members: tuple[Any, ...]
    spread: float

    def predict(self, inputs: Numbers) -> tuple[Numbers, float]:
        """The mean of the members' predictions."""
        return np.mean([member.predict(inputs) for member in self.members], axis=0), self.spread


@dataclass(frozen=True, eq=False)
class ClassNetworks:
    """Fitted members for levels; those not seen in training get the share of one case."""

    members: tuple[Any, ...]
    level_count: int
    case_count: int

    def predict(self, inputs: Numbers) -> ViewPart:
        """The mean of the members' probabilities."""
        every = np.zeros((len(inputs), self.level_count))
        told = np.mean([member.predict_proba(inputs) for member in self.members], axis=0)
        every[:, self.members[0].classes_] = told
        shares = without_zeros(every, self.case_count)
        return ViewPart(shares.argmax(axis=1).astype(np.float64), shares)


def regressing_networks(inputs: Numbers, column: Numbers, rng: np.random.Generator) -> Networks:
    """Members for a column of numbers, watched by their squared error."""
    from sklearn.neural_network import MLPRegressor

    members = []
    total, heard = np.zeros(len(column)), np.zeros(len(column))
    for _ in range(MEMBERS):
        learnt, watched = _parted(len(column), rng)
        network = MLPRegressor(**_settings(len(learnt), rng))
        shown, wanted = inputs[watched], column[watched]

        def loss(model: Any, shown: Numbers = shown, wanted: Numbers = wanted) -> float:
            return float(((model.predict(shown) - wanted) ** 2).mean())

        _train(network, {"X": inputs[learnt], "y": column[learnt]}, loss)
        total[watched] += network.predict(shown)
        heard[watched] += 1
        members.append(network)
    known = heard > 0
    errors = total[known] / heard[known] - column[known]
    return Networks(tuple(members), float(np.sqrt((errors**2).mean())))


def classifying_networks(
    inputs: Numbers, labels: Labels, level_count: int, rng: np.random.Generator
) -> ClassNetworks:
    """Members for levels, watched by their log loss."""
    from sklearn.neural_network import MLPClassifier

    classes = np.unique(labels)
    members = []
    for _ in range(MEMBERS):
        learnt, watched = _parted(len(labels), rng)
        network = MLPClassifier(**_settings(len(learnt), rng))
        shown, wanted = inputs[watched], np.searchsorted(classes, labels[watched])

        def loss(model: Any, shown: Numbers = shown, wanted: Labels = wanted) -> float:
            told = model.predict_proba(shown)[np.arange(len(shown)), wanted]
            return float(-np.log(np.maximum(told, 1e-300)).mean())

        _train(network, {"X": inputs[learnt], "y": labels[learnt], "classes": classes}, loss)
        members.append(network)
    return ClassNetworks(tuple(members), level_count, len(labels))


def _settings(count: int, rng: np.random.Generator) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": (HIDDEN,),
        "activation": "tanh",
        "solver": "adam",
        "learning_rate_init": STEP,
        "alpha": DECAY,
        "batch_size": min(count, max(16, count // 16)),
        "random_state": int(rng.integers(LARGEST_SEED)),
    }


def _parted(count: int, rng: np.random.Generator) -> tuple[Labels, Labels]:
    """Cases to learn from and cases to watch: a third, at random."""
    order = rng.permutation(count)
    watched = max(int(count * WATCHED_SHARE), 1)
    return np.sort(order[watched:]), np.sort(order[:watched])


def _train(network: Any, lesson: dict[str, Any], loss: Loss) -> None:
    """Epochs until the watched loss has not fallen for a while; then the weights of its least value."""
    best, kept, since = np.inf, None, 0
    for _ in range(MOST_EPOCHS):
        network.partial_fit(**lesson)
        now = loss(network)
        if now < best:
            best, since = now, 0
            kept = [array.copy() for array in (*network.coefs_, *network.intercepts_)]
        since += 1
        if since > PATIENCE:
            break
    if kept is not None:
        layers = len(network.coefs_)
        network.coefs_, network.intercepts_ = kept[:layers], kept[layers:]
