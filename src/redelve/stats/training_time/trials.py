"""Times of trials that stop at a common limit, and what is usually told of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray

Counts = NDArray[np.int64]
SMALLEST, LARGEST = 1e-100, 1e100
"""Of times: their squares, reciprocals and sums are numbers, too."""


@dataclass(frozen=True, eq=False)
class TrialTimes:
    """Trials of one algorithm: when they succeeded, and how many had not by the limit T.

    `times` are the different times of success in increasing order, `counts` how many trials had each. The
    limit is infinite when every trial succeeded and none was given.
    """

    times: FloatArray
    counts: Counts
    failures: int
    limit: float

    @property
    def successes(self) -> int:
        """Number of trials that succeeded within the limit, S."""
        return int(self.counts.sum())

    @property
    def trials(self) -> int:
        """Number of trials, N."""
        return self.successes + self.failures

    @property
    def is_whole(self) -> bool:
        """Whether all times are whole numbers, as epochs are."""
        return bool(np.all(self.times == np.floor(self.times)))

    @property
    def training_graph(self) -> FloatArray:
        """Share of trials that have succeeded at each of `times` (Hamey 1992, figure 1)."""
        return np.asarray(np.cumsum(self.counts) / self.trials)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrialTimes):
            return NotImplemented
        same = np.array_equal(self.times, other.times) and np.array_equal(self.counts, other.counts)
        return same and (self.failures, self.limit) == (other.failures, other.limit)

    def __hash__(self) -> int:
        return hash((self.times.tobytes(), self.counts.tobytes(), self.failures, self.limit))


@dataclass(frozen=True)
class TimesSummary:
    """What is usually reported, all of it dependent on the limit T; None where nothing succeeded.

    `success_rate` is λ_T = S/N. `mean` and `median` are of the successful times only; the median is the time
    by which S/2 trials have succeeded. `harmonic_mean` is N/Σ(1/t) with failed trials entered at T (Hamey
    1992, section 1), `harmonic_mean_successful` leaves them out. Standard errors: binomial, of the
    mean, and for the harmonic mean by the delta method.
    """

    trials: int
    successes: int
    limit: float
    success_rate: float
    success_rate_error: float
    mean: float | None
    mean_error: float | None
    median: float | None
    harmonic_mean: float | None
    harmonic_mean_error: float | None
    harmonic_mean_successful: float | None


def trial_times(
    times: ArrayLike, succeeded: ArrayLike | None = None, *, limit: float | None = None
) -> TrialTimes:
    """Times of trials, with the limit T at which those without success were stopped.

    Without `succeeded`, a trial has failed if its time is infinite or, as in Hamey (1992), has reached the
    limit. With it, failed trials may have any time not before the limit, or NaN; without a limit given they
    must all have the same time, which is the limit.

    >>> trials = trial_times([3, 5, 5, 20, 20], limit=20)
    >>> trials.times.tolist(), trials.counts.tolist(), trials.failures
    ([3.0, 5.0], [1, 2], 2)
    """
    values = _checked_times(times)
    if succeeded is not None:
        success = _checked_flags(succeeded, len(values))
    else:
        success = np.isfinite(values) if limit is None else ~(values >= limit)
    _check_known(values, success if succeeded is not None else np.ones_like(success))
    end = _limit(values[~success], limit)
    _check_inside(values[success], end)
    distinct, counts = np.unique(values[success], return_counts=True)
    return TrialTimes(distinct, counts.astype(np.int64), int((~success).sum()), end)


def _checked_times(times: ArrayLike) -> FloatArray:
    try:
        values = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"times must be numbers: {error}") from None
    if values.ndim != 1:
        raise StatisticsError(f"times must be one number per trial: got an array of shape {values.shape}")
    if len(values) < 2:
        raise StatisticsError(f"at least two trials are needed: got {len(values)}")
    return values


def _checked_flags(succeeded: ArrayLike, trials: int) -> NDArray[np.bool_]:
    flags = np.asarray(succeeded)
    if flags.shape != (trials,):
        raise StatisticsError(
            f"`succeeded` must have one value per trial: got shape {flags.shape} for {trials} times"
        )
    if flags.dtype != np.bool_ and not np.isin(flags, (0, 1)).all():
        raise StatisticsError("`succeeded` must be true or false (or 1 or 0) for every trial")
    return flags.astype(np.bool_)


def _check_known(values: FloatArray, needed: NDArray[np.bool_]) -> None:
    """Refuse NaN where a time is needed."""
    unknown = np.flatnonzero(np.isnan(values) & needed)
    if len(unknown):
        raise StatisticsError(
            f"{len(unknown)} of {len(values)} times are NaN (the first is trial {unknown[0]}, counted from "
            "0): leave trials out that were never run, give infinity for those that failed"
        )


def _limit(failed: FloatArray, limit: float | None) -> float:
    """The common limit; failed trials whose time is not told stopped there."""
    ends = np.unique(failed[np.isfinite(failed)])
    if limit is None:
        if not len(failed):
            return inf
        if not len(ends):
            raise StatisticsError(f"{len(failed)} trials failed but no limit is given: when did they stop?")
        if len(ends) > 1:
            raise StatisticsError(
                f"failed trials stopped at different times, from {ends[0]:g} to {ends[-1]:g}: give a common "
                "limit, not above the smallest of them, and count what succeeded later as failed"
            )
        limit = float(ends[0])
    if not (isfinite(limit) and limit > 0):
        raise StatisticsError(f"the limit must be a positive number: got {limit}")
    if len(ends) and ends[0] < limit:
        raise StatisticsError(
            f"a failed trial stopped at {ends[0]:g}, before the limit {limit:g}: every trial must have the "
            "same limit"
        )
    return float(limit)


def _check_inside(values: FloatArray, limit: float) -> None:
    if len(values) and not values.min() > 0:
        raise StatisticsError(f"times must be greater than zero: got {values.min():g}")
    for extreme in (limit, *([values.min(), values.max()] if len(values) else [])):
        if isfinite(extreme) and not SMALLEST <= extreme <= LARGEST:
            raise StatisticsError(
                f"times and limits must lie between {SMALLEST:g} and {LARGEST:g}: got {extreme:g}; choose "
                "another unit of time"
            )
    if len(values) and not (isfinite(values.max()) and values.max() <= limit):
        raise StatisticsError(
            f"a trial is said to have succeeded at {values.max():g}, after the limit {limit:g}: it has "
            "failed, or the limit is wrong"
        )


def summarise_times(trials: TrialTimes) -> TimesSummary:
    """Success rate, mean, median and harmonic mean.

    >>> found = summarise_times(trial_times([3, 5, 5, 20, 20], limit=20))
    >>> found.success_rate, round(found.mean, 2), found.median, round(found.harmonic_mean, 2)
    (0.6, 4.33, 5.0, 6.0)
    """
    rate = trials.successes / trials.trials
    error = sqrt(rate * (1 - rate) / trials.trials)
    if not trials.successes:
        return TimesSummary(trials.trials, 0, trials.limit, rate, error, *(None,) * 6)
    mean, deviation = _moments(trials.times, trials.counts)
    place = int(np.searchsorted(np.cumsum(trials.counts), trials.successes / 2))
    slowness, spread = _moments(*_with_failures(1 / trials.times, trials, 1 / trials.limit))
    return TimesSummary(
        trials.trials,
        trials.successes,
        trials.limit,
        rate,
        error,
        mean,
        None if deviation is None else deviation / sqrt(trials.successes),
        float(trials.times[place]),
        1 / slowness,
        None if spread is None else spread / sqrt(trials.trials) / slowness**2,
        1 / _moments(1 / trials.times, trials.counts)[0],
    )


def _with_failures(values: FloatArray, trials: TrialTimes, value: float) -> tuple[FloatArray, Counts]:
    """Values and counts of all trials, failed ones having `value`."""
    return np.append(values, value), np.append(trials.counts, trials.failures)


def _moments(values: FloatArray, counts: Counts) -> tuple[float, float | None]:
    """Mean and standard deviation of values that occur so many times."""
    number = int(counts.sum())
    mean = float(values @ counts) / number
    if number < 2:
        return mean, None
    return mean, sqrt(float(np.square(values - mean) @ counts) / (number - 1))
