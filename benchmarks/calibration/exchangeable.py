"""Problems that treat all their columns alike, so that methods which see a column each are equal.

Every claim that one of them is better is then false, and every true difference is zero. In one problem the
first column counts for more: its method is better, by a difference that is known from many data sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.simulation import Generator

Numbers = NDArray[np.float64]
Rows = NDArray[np.int64]
Learn = Callable[[Numbers, Numbers, Numbers], Numbers]
"""Answers for test inputs, from training inputs and targets, all of one column."""


@dataclass(frozen=True)
class Drawn:
    """Cases that were drawn: inputs (cases × columns), targets and, where cases belong together, groups."""

    inputs: Numbers
    targets: Numbers
    groups: Rows | None = None


@dataclass(frozen=True)
class Problem:
    """A kind of data, how methods learn from one of its columns, and what their answers cost."""

    name: str
    draw: Callable[[int, int, Generator], Drawn]
    """So many cases and columns."""
    learn: Learn
    loss: Callable[[Numbers, Numbers], Numbers]
    code: str = "S"
    is_equal: bool = True
    """Whether all columns are alike."""

    @property
    def has_classes(self) -> bool:
        """Whether the targets are the classes 0 and 1."""
        return self.code != "S"


def nearest(inputs: Numbers, targets: Numbers, asked: Numbers) -> Numbers:
    """The target of the nearest training case."""
    order = inputs.argsort(kind="stable")
    x, y = inputs[order], targets[order]
    right = np.minimum(np.maximum(x.searchsorted(asked), 1), len(x) - 1)
    return np.asarray(np.where(asked - x[right - 1] <= x[right] - asked, y[right - 1], y[right]))


def line(inputs: Numbers, targets: Numbers, asked: Numbers) -> Numbers:
    """The least-squares line."""
    away = inputs - inputs.mean()
    slope = away @ targets / (away @ away)
    return np.asarray(targets.mean() + slope * (asked - inputs.mean()))


def share_nearby(inputs: Numbers, targets: Numbers, asked: Numbers) -> Numbers:
    """The share of ones among the ten nearest training cases in order, with one case added to each class."""
    order = np.argsort(inputs, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(targets[order])])
    middle = np.searchsorted(inputs[order], asked)
    low = np.clip(middle - 5, 0, max(len(inputs) - 10, 0))
    high = np.minimum(low + 10, len(inputs))
    return np.asarray((sums[high] - sums[low] + 1) / (high - low + 2))


def squared(answers: Numbers, targets: Numbers) -> Numbers:
    """Squared error."""
    return np.square(answers - targets)


def zero_one(answers: Numbers, targets: Numbers) -> Numbers:
    """One for a wrong class."""
    return np.asarray(answers != targets, dtype=np.float64)


def log_loss(answers: Numbers, targets: Numbers) -> Numbers:
    """Less the logarithm of the probability of what came."""
    return -np.log(np.where(targets == 1, answers, 1 - answers))


def _regression(cases: int, columns: int, rng: Generator) -> Drawn:
    inputs = rng.normal(size=(cases, columns))
    return Drawn(inputs, inputs.sum(axis=1) / np.sqrt(columns) + 0.5 * rng.normal(size=cases))


def _with_a_winner(cases: int, columns: int, rng: Generator) -> Drawn:
    """The first column counts for three tenths more than others."""
    drawn = _regression(cases, columns, rng)
    return Drawn(drawn.inputs, drawn.targets + 0.3 * drawn.inputs[:, 0] / np.sqrt(columns))


def _prices(cases: int, columns: int, rng: Generator) -> Drawn:
    """Targets whose logarithm has standard deviation 0.7, as prices have."""
    drawn = _regression(cases, columns, rng)
    return Drawn(drawn.inputs, np.exp(0.7 * drawn.targets / np.sqrt(1.25)))


def _classes(cases: int, columns: int, rng: Generator) -> Drawn:
    drawn = _regression(cases, columns, rng)
    return Drawn(drawn.inputs, (drawn.targets > 0).astype(np.float64))


def _grouped(cases: int, columns: int, rng: Generator) -> Drawn:
    """Ten cases to a group, which share most of their inputs and of their target."""
    groups = np.arange(cases) // 10
    centres = rng.normal(size=(groups[-1] + 1, columns))
    inputs = centres[groups] + 0.3 * rng.normal(size=(cases, columns))
    own = rng.normal(size=groups[-1] + 1)[groups]
    targets = inputs.sum(axis=1) / np.sqrt(columns) + 0.5 * own + 0.2 * rng.normal(size=cases)
    return Drawn(inputs, targets, groups)


PROBLEMS = {
    one.name: one
    for one in (
        Problem("regression, nearest neighbour", _regression, nearest, squared),
        Problem("regression, a line", _regression, line, squared),
        Problem("0–1 loss", _classes, nearest, zero_one, "Z"),
        Problem("log loss", _classes, share_nearby, log_loss, "L"),
        Problem("groups of ten", _grouped, nearest, squared),
        Problem("log-normal targets", _prices, nearest, squared),
        Problem("one method better", _with_a_winner, line, squared, is_equal=False),
    )
}
