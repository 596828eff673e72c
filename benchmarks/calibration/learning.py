"""Methods that really learn from simulated cases, resampled: what cross-validation is calibrated with.

Least squares and the nearest neighbour, in forms that fit all folds at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from redelve.model.designs.folds import dealt
from redelve.stats.mean_squares import FloatArray
from redelve.stats.resampled import fold_ratio

Folds = NDArray[np.int64]


@dataclass(frozen=True)
class Resampling:
    """Repeated folds of some cases; with `splits` only the first fold of each repetition is tested.

    The latter are random splits with one part in `folds` for testing.
    """

    cases: int
    folds: int
    repetitions: int
    splits: bool = False

    @property
    def ratio(self) -> float:
        """Test cases over training cases."""
        return fold_ratio(self.folds)

    def words(self) -> str:
        """The setting in tables."""
        if self.splits:
            return f"n = {self.cases}, {self.repetitions} splits {self.folds - 1}:1"
        times = f"{self.repetitions} × " if self.repetitions > 1 else "one pass of "
        return f"n = {self.cases}, {times}{self.folds} folds"

    def assign(self, rng: np.random.Generator) -> list[Folds]:
        """For every repetition the fold of each case."""
        drawn = (rng.permutation(self.cases) for _ in range(self.repetitions))
        return [dealt(np.argsort(places), self.folds) for places in drawn]

    def mean_losses(self, losses: FloatArray, fold: Folds) -> FloatArray:
        """Mean loss of every fold that is tested."""
        means = np.bincount(fold, weights=losses) / np.bincount(fold)
        return np.asarray(means[:1] if self.splits else means)


Learner = Callable[[FloatArray, FloatArray, Folds], FloatArray]
"""Losses of every case from inputs, targets and folds: each case predicted from the other folds."""


def linear(x: FloatArray, y: FloatArray, fold: Folds) -> FloatArray:
    """Squared error of least squares on one input with intercept."""
    member = (fold[:, None] == np.unique(fold)).astype(float)
    n, sx, sy, sxx, sxy = (member.T @ a for a in (np.ones_like(x), x, y, x * x, x * y))
    n, sx, sy, sxx, sxy = (a.sum() - a for a in (n, sx, sy, sxx, sxy))
    slope = (sxy - sx * sy / n) / (sxx - sx * sx / n)
    start = (sy - slope * sx) / n
    return np.asarray(np.square(y - start[fold] - slope[fold] * x))


def nearest(x: FloatArray, y: FloatArray, fold: Folds) -> FloatArray:
    """Squared error of the nearest neighbour on one input."""
    distance = np.abs(x[:, None] - x)
    distance[fold[:, None] == fold] = np.inf
    return np.asarray(np.square(y - y[distance.argmin(axis=1)]))


def draw_comparison(
    learn: Learner, design: Resampling, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Mean losses of two equally good methods on the resamples of one set of cases.

    y = x₁ + x₂ + noise; one method sees x₁ only, the other x₂ only.
    """
    x = rng.normal(size=(2, design.cases))
    y = x.sum(axis=0) + rng.normal(size=design.cases)
    first, second = [], []
    for fold in design.assign(rng):
        first.append(design.mean_losses(learn(x[0], y, fold), fold))
        second.append(design.mean_losses(learn(x[1], y, fold), fold))
    return np.stack(first), np.stack(second)


def draw_single(design: Resampling, rng: np.random.Generator) -> FloatArray:
    """Mean losses of least squares on one Gaussian input with noise of variance 2."""
    x = rng.normal(size=design.cases)
    y = x + sqrt(2) * rng.normal(size=design.cases)
    return np.stack([design.mean_losses(linear(x, y, fold), fold) for fold in design.assign(rng)])


def expected_single(design: Resampling) -> float:
    """Expected loss for `draw_single` at the training-set size of the folds."""
    size = design.cases * (design.folds - 1) / design.folds
    return 2.0 * (1 + 1 / size) * (1 + 1 / (size - 3))


@dataclass(frozen=True)
class Nested:
    """Inner and outer losses of nested cross-validation, and the true loss of the fit to all cases."""

    inner: list[list[FloatArray]]
    outer: list[list[FloatArray]]
    truth: float


def draw_nested(design: Resampling, inputs: int, rng: np.random.Generator, *, skewed: bool = False) -> Nested:
    """Least squares on Gaussian inputs, noise of variance one; the truth is 1 + ‖β̂ − β‖²."""
    beta = np.concatenate(([0.0], np.ones(inputs)))
    x = np.column_stack((np.ones(design.cases), rng.normal(size=(design.cases, inputs))))
    noise = rng.standard_exponential(design.cases) - 1 if skewed else rng.normal(size=design.cases)
    y = x @ beta + noise
    truth = 1 + float(np.square(np.linalg.lstsq(x, y, rcond=None)[0] - beta).sum())
    parts = [_nested_losses(x, y, fold, design.folds) for fold in design.assign(rng)]
    return Nested([inner for inner, _ in parts], [outer for _, outer in parts], truth)


def _nested_losses(
    x: FloatArray, y: FloatArray, fold: Folds, folds: int
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Squared errors of all inner and outer fits, from sums of products over the folds."""
    k = np.arange(folds)
    members = [fold == i for i in k]
    gram = np.stack([x[m].T @ x[m] for m in members])
    moment = np.stack([x[m].T @ y[m] for m in members])
    left = gram.sum(axis=0) - gram[:, None] - gram
    right = moment.sum(axis=0) - moment[:, None] - moment
    left[k, k], right[k, k] = gram.sum(axis=0) - gram, moment.sum(axis=0) - moment
    fits = np.linalg.solve(left, right[..., None])[..., 0]  # without folds i and j; the diagonal without i
    losses = [np.square(y[m] - fits[i] @ x[m].T) for i, m in enumerate(members)]
    inner = [np.concatenate([losses[j][i] for j in k if j != i]) for i in k]
    return inner, [losses[i][i] for i in k]
