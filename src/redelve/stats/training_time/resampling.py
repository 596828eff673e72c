"""The bootstrap of the peak efficiency."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.errors import StatisticsError
from redelve.stats.estimates import Interval, check_level
from redelve.stats.mean_squares import FloatArray
from redelve.stats.training_time.efficiency import (
    SCALE,
    efficiency_interval,
    estimate_efficiency,
)
from redelve.stats.training_time.trials import TrialTimes

BLOCK = 2**20
"""Numbers held at a time."""


@dataclass(frozen=True, eq=False)
class BootstrapEfficiency:
    """The peak efficiency with its bootstrap distribution.

    A maximum over limits is too large on average, and once more so in every resample. `bias` is their mean
    less e, `corrected` is e less that. Percentiles of the resamples would hold the bias twice:
    `percentile_interval` is there to be compared with, and covers badly.
    """

    efficiency: float
    corrected: float
    bias: float
    standard_error: float
    degrees_of_freedom: int
    resamples: FloatArray
    caveats: tuple[str, ...]

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval about `corrected`, by the t distribution; None without variation."""
        return efficiency_interval(self.corrected, self.standard_error, self.degrees_of_freedom, level)

    def percentile_interval(self, level: float = 0.95) -> Interval:
        """Quantiles of the resamples (Efron and Tibshirani 1993, chapter 13)."""
        check_level(level)
        low, high = np.quantile(self.resamples, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def bootstrap_efficiency(
    trials: TrialTimes, *, seed: int | np.random.Generator, resamples: int = 2000
) -> BootstrapEfficiency:
    """Peak efficiencies of trials drawn from these with replacement; the same seed gives the same."""
    if resamples < 2:
        raise StatisticsError(f"at least two resamples are needed: got {resamples}")
    found = estimate_efficiency(trials)
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([_peaks(trials, counts) for counts in _counts(trials, resamples, rng)])
    error = float(drawn.std(ddof=1))
    bias = float(drawn.mean()) - found.efficiency
    error = 0.0 if error < 1e-12 * found.efficiency else error
    return BootstrapEfficiency(
        found.efficiency,
        found.efficiency - bias,
        bias,
        error,
        trials.trials - 1,
        drawn,
        found.caveats,
    )


def _counts(trials: TrialTimes, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """How often each time of success was drawn, a row per resample; the rest are failures."""
    number, kinds = trials.trials, len(trials.times) + 1
    counts = np.append(trials.counts, trials.failures)
    rows = max(1, BLOCK // max(kinds, number if 4 * kinds > number else 0))
    kind_of = np.repeat(np.arange(kinds), counts) if 4 * kinds > number else None
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        if kind_of is None:
            yield rng.multinomial(number, counts / number, size=size)[:, :-1]
            continue
        drawn = kind_of[rng.integers(0, number, size=(size, number))]
        drawn += kinds * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * kinds).reshape(size, kinds)[:, :-1]


def _peaks(trials: TrialTimes, counts: NDArray[np.int64]) -> FloatArray:
    """Peak efficiency of each row of counts."""
    successes = np.cumsum(counts, axis=1)
    spent = np.cumsum(counts * trials.times, axis=1) + (trials.trials - successes) * trials.times
    return np.asarray(SCALE * (successes / spent).max(axis=1))
