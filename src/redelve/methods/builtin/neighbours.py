"""knn-cv-1: nearest neighbours, their number chosen by leave-one-out cross-validation on the training set.

After Rasmussen's method of the same name (1996), with class probabilities and a predictive spread added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.methods.builtin.constant import constant_part
from redelve.methods.contract import BuiltIn
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import Labels, View, ViewPart, answer_of
from redelve.model.dataset import Numbers

Rows = NDArray[np.int64]

MOST_NEIGHBOURS = 256
BLOCK = 512


class KnnCv1(BuiltIn):
    """Means or shares among the nearest training cases."""

    called = "knn-cv-1"
    late_imports = ("scipy.spatial.distance",)

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> KnnPredictor:
        """Choose the number of neighbours of each target; nothing is random."""
        view = View(training)
        inputs = view.inputs
        ranked = ranked_neighbours(inputs, inputs, is_same=True)
        numbers = {k: choose_by_squares(view.columns(k), ranked) for k in view.numerical}
        levels = {
            k: choose_by_logs(view.labels(k), len(view.targets[k].levels), ranked) for k in view.categorical
        }
        return KnnPredictor(view, inputs, {**numbers, **levels})


@dataclass(frozen=True, eq=False)
class KnnPredictor:
    """The training cases and, for each target, the number of neighbours and their leave-one-out error."""

    view: View
    inputs: Numbers
    chosen: dict[int, tuple[int, float]]

    def predict(self, inputs: TestInputs) -> Answer:
        """Means of the neighbours' targets, or smoothed shares of their levels."""
        most = max(number for number, _ in self.chosen.values())
        ranked = ranked_neighbours(self.inputs, self.view.test(inputs), most=most)
        parts = {k: self._part(k, ranked) for k in range(len(self.view.targets))}
        return answer_of(self.view.targets, parts)

    def _part(self, position: int, ranked: Rows) -> ViewPart:
        number, error = self.chosen[position]
        near = ranked[:, :number]
        if position in self.view.categorical:
            shares = _shares(self.view.labels(position), len(self.view.targets[position].levels), near)
            return ViewPart(shares.argmax(axis=1).astype(np.float64), shares)
        if error <= 0:
            return constant_part(self.view.training, position, len(near))
        means = _mean_in_order(self.view.columns(position), near)
        normal = self.view.normal(position, means, np.full(len(means), error))
        return ViewPart(self.view.decoded(position, means), distribution=normal)


def ranked_neighbours(
    training: Numbers, inputs: Numbers, *, most: int = MOST_NEIGHBOURS, is_same: bool = False
) -> Rows:
    """The positions of the nearest training cases of each case, nearest first; at a tie the earlier one.

    With `is_same` the cases are the training cases themselves, and none is a neighbour of its own.
    """
    from scipy.spatial.distance import cdist

    most = max(min(most, len(training) - is_same), 1 - is_same)
    found = np.empty((len(inputs), most), dtype=np.int64)
    for start in range(0, len(inputs), BLOCK):
        distances = cdist(inputs[start : start + BLOCK], training, "sqeuclidean")
        if is_same:
            own = np.arange(len(distances))
            distances[own, start + own] = np.inf
        found[start : start + BLOCK] = _smallest(distances, most)
    return found


def _smallest(distances: Numbers, most: int) -> Rows:
    """Positions of the smallest distances of each row, in order."""
    if most < distances.shape[1]:
        near = np.sort(np.argpartition(distances, most - 1, axis=1)[:, :most], axis=1)
    else:
        near = np.broadcast_to(np.arange(distances.shape[1]), distances.shape)
    order = np.argsort(np.take_along_axis(distances, near, axis=1), axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1)


def _mean_in_order(columns: Numbers, near: Rows) -> Numbers:
    total = np.zeros((len(near), columns.shape[1]))
    for rank in range(near.shape[1]):
        total += columns[near[:, rank]]
    means: Numbers = total / near.shape[1]
    return means


def _shares(labels: Labels, level_count: int, near: Rows) -> Numbers:
    """(votes + 1) / (k + K)."""
    votes = np.zeros((len(near), level_count))
    rows = np.arange(len(near))
    for rank in range(near.shape[1]):
        votes[rows, labels[near[:, rank]]] += 1
    shares: Numbers = (votes + 1) / (near.shape[1] + level_count)
    return shares


def choose_by_squares(columns: Numbers, ranked: Rows) -> tuple[int, float]:
    """The number of neighbours with the least leave-one-out squared error, and the root of its mean."""

    def errors() -> Iterator[Numbers]:
        total = np.zeros_like(columns)
        for rank in range(ranked.shape[1]):
            total += columns[ranked[:, rank]]
            yield ((total / (rank + 1) - columns) ** 2).sum(axis=1)

    number, error = _least(errors)
    return number, error**0.5 if ranked.shape[1] else 0.0


def choose_by_logs(labels: Labels, level_count: int, ranked: Rows) -> tuple[int, float]:
    """The number of neighbours with the least leave-one-out log loss of smoothed shares, and that loss."""

    def errors() -> Iterator[Numbers]:
        votes = np.zeros(len(labels))
        for rank in range(ranked.shape[1]):
            votes += labels[ranked[:, rank]] == labels
            yield -np.log((votes + 1) / (rank + 1 + level_count))

    return _least(errors)


def _least(errors: Callable[[], Iterator[Numbers]]) -> tuple[int, float]:
    """The smallest number of neighbours among the best; 1 where a single training case leaves no choice."""
    means = [float(each.mean()) for each in errors()]
    return (int(np.argmin(means)) + 1, min(means)) if means else (1, 0.0)


KNN_CV_1 = KnnCv1()
