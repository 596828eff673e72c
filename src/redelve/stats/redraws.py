"""Whether printed means and deviations could be one more sample of our runs: redraws, scores, joint tests.

Print gives mean and standard deviation of n runs of a cell, not the runs; ours are many more runs. Samples
of n are drawn from ours many times over. Where the printed number lies among those of the samples is its
score: about standard normal, if print is one more sample. A mean is looked for only among the samples whose
deviation is next to the printed one, so noisy runs of ours make no mean easier to reach: they show in the
scores of deviations. Scores of many cells are tested jointly, clipped, so that no single cell decides.

Ours do not know their own tails: print may have an outlier of a kind that we never had. How scores behave
for that reason is measured by doing the same to samples of ours (the double bootstrap, Beran 1987, Biometrika
74).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import copysign, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.errors import StatisticsError

FloatArray = NDArray[np.float64]
DRAWS = 2000
SHARE = 0.1
"""The part of the samples that is next to a printed deviation."""
REPEATS, REPEATED_DRAWS = 20, 500
"""How often print is imitated by samples of ours, and how many samples are drawn each time."""
CLIP = 1.5
"""Scores count no more than this (Huber 1964); 1.5 keeps 96 % of the efficiency for normal scores."""
LARGEST = 8.0
"""Scores end here: further out there is nothing to tell."""
BINS = 1024


@dataclass(frozen=True, eq=False)
class PrintedCell:
    """Means and deviations of some columns, as printed to multiples of `units`, of a sample of `size`.

    `pair` are two columns of which the correlation is printed, too.
    """

    size: int
    means: FloatArray
    deviations: FloatArray
    units: FloatArray
    correlation: float | None = None
    pair: tuple[int, int] = (0, 1)

    def of(self, values: FloatArray) -> PrintedCell:
        """What would be printed of these runs (runs × columns)."""
        means, deviations = (
            np.rint(found / self.units) * self.units
            for found in (values.mean(axis=0), values.std(axis=0, ddof=1))
        )
        correlation = None if self.correlation is None else self._correlation_of(values)
        return PrintedCell(len(values), means, deviations, self.units, correlation, self.pair)

    def _correlation_of(self, values: FloatArray) -> float:
        first, second = (values[:, one] for one in self.pair)
        both = np.ptp(first) > 0 and np.ptp(second) > 0
        return float(np.corrcoef(first, second)[0, 1].round(2)) if both else 0.0


class CellScores(NamedTuple):
    """Scores of means, of deviations (a number for each column), and of the correlation (None, one)."""

    means: FloatArray
    deviations: FloatArray
    correlation: float | None


def redraw(count: int, size: int, rng: np.random.Generator, draws: int = DRAWS) -> NDArray[np.intp]:
    """Samples of `size` of `count` runs, by positions: draws × size.

    Pólya's urn: a sample's next run is any of ours or, as likely as one of those, any that it has already.
    That is the predictive distribution of Rubin's Bayesian bootstrap (1981, Annals of Statistics 9): samples
    differ as samples do, and as our own runs might have been others.
    """
    if count < 2 or size < 2:
        raise StatisticsError(f"{count} runs, samples of {size}: both need two at least")
    rows = rng.integers(count + np.arange(size), size=(draws, size))
    samples, places = np.nonzero(rows >= count)
    while samples.size:  # until nothing points to another place of its sample, which may do so in turn
        found = rows[samples, rows[samples, places] - count]
        rows[samples, places] = found
        samples, places = samples[found >= count], places[found >= count]
    return rows


def cell_scores(
    values: FloatArray, given: PrintedCell, rng: np.random.Generator, draws: int = DRAWS
) -> CellScores:
    """Where print lies among samples of our runs (runs × columns)."""
    samples = values[redraw(len(values), given.size, rng, draws)]
    means, deviations = samples.mean(axis=1), samples.std(axis=1, ddof=1)
    near = [_nearest(deviations[:, k], given.deviations[k], given.units[k]) for k in range(values.shape[1])]
    return CellScores(
        _each_score(given.means, [means[rows, k] for k, rows in enumerate(near)], given.units),
        _each_score(given.deviations, list(deviations.T), given.units),
        None if given.correlation is None else _correlation_score(samples, given),
    )


def _each_score(printed: FloatArray, drawn: Sequence[FloatArray], units: FloatArray) -> FloatArray:
    return np.array(
        [printed_score(*one) for one in zip(printed.tolist(), drawn, units.tolist(), strict=True)]
    )


def _nearest(deviations: FloatArray, deviation: float, unit: float) -> NDArray[np.intp]:
    """The samples whose deviations are nearest to this one, as ratios but for half of print's last digit."""
    apart = np.abs(np.log((deviations + unit / 2) / (deviation + unit / 2)))
    return np.argsort(apart, kind="stable")[: max(2, round(SHARE * len(apart)))]


def _correlation_score(samples: FloatArray, given: PrintedCell) -> float:
    first, second = (samples[..., one] - samples[..., [one]].mean(axis=1) for one in given.pair)
    spread = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    varies = spread > 0
    found = (first * second).sum(axis=1)[varies] / spread[varies]
    assert given.correlation is not None
    return printed_score(given.correlation, found, 0.01) if len(found) else 0.0


def imitated_scores(
    values: FloatArray, given: PrintedCell, rng: np.random.Generator, repeats: int = REPEATS
) -> list[CellScores]:
    """Scores of samples of ours taken for print, in turn among samples of ours taken for ours."""
    found = []
    for _ in range(repeats):
        printed = given.of(values[rng.integers(len(values), size=given.size)])
        ours = values[rng.integers(len(values), size=len(values))]
        found.append(cell_scores(ours, printed, rng, REPEATED_DRAWS))
    return found


def printed_score(given: float, drawn: FloatArray, unit: float) -> float:
    """How far our draws lie above a printed number, as a normal score: positive where ours are larger.

    Draws are rounded as print is, to multiples of `unit`; half of those that are equal count as below. Beyond
    all draws the distance from their mean tells, in their standard deviations, up to 8.

    >>> printed_score(49.5, np.arange(100.0), 0.01), round(printed_score(2.0, np.arange(100.0), 0.01), 1)
    (0.0, 1.9)
    """
    from scipy.special import ndtri

    steps, wanted = np.rint(drawn / unit), round(given / unit)
    below = int((steps < wanted).sum()) + int((steps == wanted).sum()) / 2
    score = -float(ndtri((below + 0.5) / (len(steps) + 1)))
    if 0 < below < len(steps):
        return score + 0.0
    deviation = float(steps.std())
    away = (float(steps.mean()) - wanted) / deviation if deviation > 0 else copysign(LARGEST, score)
    return copysign(min(max(abs(away), abs(score)), LARGEST), score)


@dataclass(frozen=True)
class JointTest:
    """A test of many scores at once: what it looks for, its statistic in standard errors, its p-value."""

    kind: str
    statistic: float
    p_value: float


def bias_of(scores: FloatArray, imitated: FloatArray) -> JointTest:
    """Whether scores are as large in the mean as imitated ones (cells × repeats), two-sided.

    Σ(ψ(z) − Eψ)/√Σ var ψ, with ψ clipping at ±1.5, and moments of imitated scores.
    """
    from scipy.special import ndtr

    statistic = _standardised(_clipped(scores), _clipped(imitated))
    return JointTest("bias", statistic, 2 * float(ndtr(-abs(statistic))))


def spread_of(scores: FloatArray, imitated: FloatArray) -> JointTest:
    """Whether scores are larger in size than imitated ones (cells × repeats).

    Σψ(z)² is standardised by imitated scores; its p-value is that of as many normal scores, exactly.
    """
    statistic = _standardised(_clipped(scores) ** 2, _clipped(imitated) ** 2)
    mean, variance = _moments()
    found = len(scores) * mean + statistic * sqrt(len(scores) * variance)
    return JointTest("spread", statistic, _upper_tail(len(scores), found))


def _standardised(found: FloatArray, imitated: FloatArray) -> float:
    """The sum less what it is expected to be, in standard errors of both."""
    repeats = imitated.shape[1]
    variance = float(imitated.var(axis=1, ddof=1).sum()) * (1 + 1 / repeats)
    return float((found - imitated.mean(axis=1)).sum()) / sqrt(variance) if variance > 0 else 0.0


def _clipped(scores: FloatArray) -> FloatArray:
    return np.clip(scores, -CLIP, CLIP)


@cache
def _moments() -> tuple[float, float]:
    """Mean and variance of ψ(z)² for a standard normal z."""
    from scipy.special import ndtr

    inside, density = 1 - 2 * float(ndtr(-CLIP)), float(np.exp(-(CLIP**2) / 2) / np.sqrt(2 * np.pi))
    second = inside - 2 * CLIP * density + CLIP**2 * (1 - inside)
    fourth = 3 * inside - 2 * CLIP * density * (CLIP**2 + 3) + CLIP**4 * (1 - inside)
    return second, fourth - second**2


def _upper_tail(count: int, found: float) -> float:
    """P(Σψ² ≥ found) of so many normal scores."""
    sums = _sums(count)
    place = round(max(found, 0.0) * BINS / CLIP**2)
    return float(np.clip(sums[min(place, len(sums) - 1) :].sum(), 0.0, 1.0))


@cache
def _sums(count: int) -> NDArray[Any]:
    """The distribution of Σψ²: that of one, on a grid, convolved."""
    from scipy.special import ndtr

    edges = np.sqrt(np.clip((np.arange(BINS + 1) - 0.5) / BINS, 0.0, 1.0)) * CLIP
    one = np.empty(BINS + 1)
    one[:-1] = 2 * np.diff(ndtr(edges))
    one[-1] = 1 - one[:-1].sum()
    size = count * BINS + 1
    return np.asarray(np.fft.irfft(np.fft.rfft(one, 2 * size) ** count, 2 * size)[:size])
