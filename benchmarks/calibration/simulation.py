"""Simulated losses with known variances, many data sets at a time, to find out what the tests are worth.

The true mean is zero, so that every rejection is an error and every interval without zero a miss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from redelve.stats.mean_squares import (
    FloatArray,
    cautious_p_value,
    crossed_variance,
    f_test,
    hillis_test,
    quasi_f_test,
    t_quantile,
    t_test,
)

Shape = Literal["gaussian", "skewed", "heavy-tailed"]
Generator = np.random.Generator
CHUNK = 2**21
"""Losses simulated at a time: sixteen megabytes."""


@dataclass(frozen=True)
class Design:
    """Sizes of an experiment and the true standard deviations of its losses."""

    training_sets: int
    test_cases: int
    sd_training: float
    sd_test_cases: float
    sd_residual: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of training sets and of test cases."""
        return self.training_sets, self.test_cases

    def expected_mean_squares(self) -> tuple[float, float, float]:
        """Of training sets, test cases and residual (manual eqs. 14–16)."""
        residual = self.sd_residual**2
        training = self.test_cases * self.sd_training**2 + residual
        return training, self.training_sets * self.sd_test_cases**2 + residual, residual

    def sd_mean(self) -> float:
        """True standard deviation of the mean (manual eq. 12)."""
        training, cases, residual = self.expected_mean_squares()
        return float(np.sqrt((training + cases - residual) / (self.training_sets * self.test_cases)))


@dataclass(frozen=True)
class Sample:
    """Mean and mean squares of each of many data sets of one design."""

    design: Design
    means: FloatArray
    mean_squares: tuple[FloatArray, FloatArray, FloatArray]

    def shifted(self, by: float) -> Sample:
        """The same data sets with another true mean."""
        return Sample(self.design, self.means + by, self.mean_squares)

    def t_test(self) -> FloatArray:
        """p-values of the hierarchical test, for which `sd_test_cases` must be zero."""
        return t_test(self.means, self.mean_squares[0], self.design.shape).p_value

    def f_test(self) -> FloatArray:
        """p-values of the F-test for a common test set."""
        return f_test(self.means, self.mean_squares, self.design.shape).p_value

    def hillis_test(self) -> FloatArray:
        """p-values of the test for a common test set."""
        return hillis_test(self.means, self.mean_squares, self.design.shape).p_value

    def quasi_f_test(self) -> FloatArray:
        """p-values of DELVE's test for a common test set."""
        return quasi_f_test(self.means, self.mean_squares, self.design.shape).p_value

    def cautious_test(self) -> FloatArray:
        """Cautious p-values for a common test set, a few at a time since each is an integral."""
        parts = [slice(start, start + 256) for start in range(0, self.means.size, 256)]
        training, cases, residual = self.mean_squares
        return np.concatenate(
            [
                cautious_p_value(
                    self.means[part], (training[part], cases[part], residual[part]), self.design.shape
                )
                for part in parts
            ]
        )

    def hierarchical_covers(self, level: float = 0.95) -> FloatArray:
        """Whether the hierarchical interval holds zero."""
        t = t_quantile(self.design.training_sets - 1, level)
        return self._covers(t, self.mean_squares[0])

    def common_covers(self, level: float = 0.95) -> FloatArray:
        """Whether the interval for a common test set holds zero."""
        variance, df = crossed_variance(self.mean_squares, self.design.shape)
        return self._covers(t_quantile(df, level), variance)

    def _covers(self, t: FloatArray, variance: FloatArray) -> FloatArray:
        entries = self.design.training_sets * self.design.test_cases
        return np.asarray(np.abs(self.means) <= t * np.sqrt(variance / entries), dtype=np.float64)


def draw_gaussian(design: Design, count: int, rng: Generator) -> Sample:
    """Mean and mean squares of Gaussian losses from their joint law: normal and independent chi-squares.

    Losses need not be drawn, since for balanced Gaussian data nothing else matters (Scheffé 1959, chapter 7).
    """
    rows, columns = design.training_sets - 1, design.test_cases - 1
    means = design.sd_mean() * rng.standard_normal(count)
    expected = design.expected_mean_squares()
    dfs = (rows, columns, rows * columns)
    training, cases, residual = (
        e * rng.chisquare(df, count) / df for e, df in zip(expected, dfs, strict=True)
    )
    return Sample(design, means, (training, cases, residual))


def draw_losses(design: Design, count: int, rng: Generator, shape: Shape) -> FloatArray:
    """Losses of `count` data sets, y[n, i, j] = a + b + ε, each term of the same shape of distribution."""
    draw = _standard(shape)
    losses = design.sd_residual * draw(rng, (count, *design.shape))
    losses += design.sd_training * draw(rng, (count, design.training_sets, 1))
    losses += design.sd_test_cases * draw(rng, (count, 1, design.test_cases))
    return losses


def draw_sample(design: Design, count: int, rng: Generator, shape: Shape) -> Sample:
    """Mean and mean squares of losses that are really drawn, a chunk of data sets at a time."""
    step = max(1, CHUNK // (design.training_sets * design.test_cases))
    sizes = [min(step, count - start) for start in range(0, count, step)]
    parts = [summarise(design, draw_losses(design, size, rng, shape)) for size in sizes]
    training, cases, residual = (np.concatenate([p.mean_squares[k] for p in parts]) for k in range(3))
    return Sample(design, np.concatenate([p.means for p in parts]), (training, cases, residual))


def summarise(design: Design, losses: FloatArray) -> Sample:
    """Mean and mean squares of every data set losses[n] (manual eqs. 13–16)."""
    rows, columns = design.training_sets - 1, design.test_cases - 1
    means = losses.mean(axis=(1, 2))
    training = design.test_cases * np.square(losses.mean(axis=2) - means[:, None]).sum(axis=1)
    cases = design.training_sets * np.square(losses.mean(axis=1) - means[:, None]).sum(axis=1)
    centred = losses - means[:, None, None]
    residual = np.einsum("nij,nij->n", centred, centred) - training - cases
    return Sample(design, means, (training / rows, cases / columns, residual / (rows * columns)))


def _standard(shape: Shape) -> Callable[[Generator, tuple[int, ...]], FloatArray]:
    """Draws of mean 0 and variance 1: normal, exponential (skewness 2), or t with 5 degrees of freedom."""
    if shape == "skewed":
        return lambda rng, size: rng.standard_exponential(size) - 1.0
    if shape == "heavy-tailed":
        return lambda rng, size: rng.standard_t(5, size) * np.sqrt(3 / 5)
    return lambda rng, size: rng.standard_normal(size)


@dataclass(frozen=True)
class RunsDesign:
    """Sizes and true standard deviations for several runs; the hierarchical scheme has no interaction."""

    training_sets: int
    runs: int
    test_cases: int
    sd_training: float
    sd_seed: float
    sd_test_cases: float
    sd_interaction: float | None
    sd_residual: float


def draw_runs(design: RunsDesign, rng: Generator) -> FloatArray:
    """Gaussian losses[i, r, j] of one data set with the terms of the model for several runs."""
    sets, runs, cases = design.training_sets, design.runs, design.test_cases
    losses = design.sd_residual * rng.standard_normal((sets, runs, cases))
    losses += design.sd_training * rng.standard_normal((sets, 1, 1))
    losses += design.sd_seed * rng.standard_normal((sets, runs, 1))
    if design.sd_interaction is None:
        return np.asarray(losses + design.sd_test_cases * rng.standard_normal((sets, 1, cases)))
    losses += design.sd_test_cases * rng.standard_normal((1, 1, cases))
    return np.asarray(losses + design.sd_interaction * rng.standard_normal((sets, 1, cases)))


@dataclass(frozen=True)
class UnitsDesign:
    """Test cases in units of one of two sizes, equally likely; larger units are harder by `informative`."""

    training_sets: int
    units: int
    sizes: tuple[int, int]
    sd_training: float = 0.2
    sd_unit: float = 1.0
    sd_residual: float = 1.0
    informative: float = 0.0

    def true_mean(self) -> float:
        """Expected loss of a test case: that of a larger unit has more cases to speak for it."""
        return self.informative * self.sizes[1] / sum(self.sizes)


def draw_units(
    design: UnitsDesign, rng: Generator, *, common: bool
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Losses and unit labels of every training set; with a common test set all rows share the units."""
    rows, labels = [], []
    large, effect = _units(design, rng)
    for i in range(design.training_sets):
        if i and not common:
            large, effect = _units(design, rng)
        sizes = np.where(large, design.sizes[1], design.sizes[0])
        index = np.repeat(np.arange(design.units), sizes)
        own = effect + 0.5 * design.sd_unit * rng.standard_normal(design.units)
        noise = design.sd_residual * rng.standard_normal(index.size)
        rows.append(design.sd_training * rng.standard_normal() + own[index] + noise)
        labels.append(np.asarray(index + (0 if common else i * design.units), dtype=np.float64))
    return rows, labels


def _units(design: UnitsDesign, rng: Generator) -> tuple[FloatArray, FloatArray]:
    large = rng.random(design.units) < 0.5
    effect = design.sd_unit * rng.standard_normal(design.units) + design.informative * large
    return np.asarray(large, dtype=np.float64), np.asarray(effect)
