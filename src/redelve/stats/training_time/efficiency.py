"""The yield of successes for the time spent, and the limit where it is greatest (Hamey 1992, section 4).

Two algorithms are compared by their peak efficiencies.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import hypot, inf, sqrt

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.estimates import Interval, t_interval
from redelve.stats.mean_squares import FloatArray, f_p_value
from redelve.stats.training_time.trials import Counts, TrialTimes

SCALE = 1000.0
"""Efficiencies are successes in 1000 units of time, as Hamey's are."""

FEW_TRIALS = 30
FEW_AT_PEAK = 10
NO_VARIATION = (
    "all trials took the same time: no interval or test is defined, and a standard error of zero does not "
    "mean that e is exact"
)

DIRECT = 32
"""A peak that rests on so few different times is searched for anew without each of them."""


@dataclass(frozen=True, eq=False)
class EfficiencyCurve:
    """E(t) where it is greatest: at the times of success, whose successes count; between them it falls.

    `successes` have succeeded by then, and all trials together have spent the time `spent` if they are
    stopped there.
    """

    limits: FloatArray
    successes: Counts
    spent: FloatArray
    trials: int
    last: float
    """The limit of the trials: nothing is known of E(t) beyond it, unless all succeeded."""

    @property
    def efficiency(self) -> FloatArray:
        """E at `limits`, successes in 1000 units of time."""
        return np.asarray(SCALE * self.successes / self.spent)

    def at(self, limits: FloatArray) -> FloatArray:
        """E(t) = 1000·#{tᵢ ≤ t}/Σ min(t, tᵢ) at any limits t up to that of the trials."""
        t = np.asarray(limits, dtype=np.float64)
        if t.size and t.max() > self.last and self.successes[-1] < self.trials:
            raise StatisticsError(
                f"nothing is known of E(t) at {t.max():g}: the trials stopped at {self.last:g}"
            )
        place = np.searchsorted(self.limits, t, side="right") - 1
        successes = np.where(place < 0, 0, self.successes[place])
        since = t - np.where(place < 0, 0.0, self.limits[place])
        spent = np.where(place < 0, 0.0, self.spent[place]) + (self.trials - successes) * since
        return np.asarray(SCALE * np.divide(successes, spent, out=np.zeros_like(spent), where=spent > 0))


def efficiency_curve(trials: TrialTimes) -> EfficiencyCurve:
    """E(t) for every limit t (Hamey 1992, section 4).

    Hamey counts tᵢ < t; where E jumps upwards, at a time of success, its limit from the right counts that
    success, and this is what is given here. Peaks are the same.

    >>> from redelve.stats.training_time import trial_times
    >>> efficiency_curve(trial_times([1, 2, 2, 9, 9], limit=9)).efficiency.tolist()
    [200.0, 333.3333333333333]
    """
    if not trials.successes:
        raise StatisticsError(f"all {trials.trials} trials failed: there is no efficiency but zero")
    successes = np.cumsum(trials.counts)
    spent = np.cumsum(trials.counts * trials.times) + (trials.trials - successes) * trials.times
    return EfficiencyCurve(trials.times, successes, spent, trials.trials, trials.limit)


@dataclass(frozen=True)
class Efficiency:
    """The peak efficiency e, its jackknife standard error, and the limits that go with it.

    `efficiency` is successes in 1000 units of time when every trial is stopped at the `optimal_limit` T_E and
    a new one begun. T_E is infinite where no trial failed and none is worth stopping. From `range[0]` to
    `range[1]`, Hamey's T_E1 and T_E2, the efficiency is at least half of e all the way; where
    `range_is_open`, it still is at the limit of the trials, which is then given as T_E2. `at_limit` is the
    efficiency without any earlier stop. `bias` is by how much the jackknife finds e too large, as maxima
    are; neither e nor its interval allows for it (see docs/training-time.md).
    """

    efficiency: float
    standard_error: float
    degrees_of_freedom: int
    bias: float
    optimal_limit: float
    range: tuple[float, float]
    range_is_open: bool
    at_limit: float
    trials: int
    successes_at_peak: int
    caveats: tuple[str, ...]

    @property
    def effort(self) -> float:
        """Mean time spent for a success, t̄_E = 1000/e (the average of Fahlman 1988, for the best limit)."""
        return SCALE / self.efficiency

    @property
    def effort_error(self) -> float:
        """Standard error of `effort`, by the delta method."""
        return SCALE * self.standard_error / self.efficiency**2

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for e by the jackknife and the t distribution; None without variation."""
        return efficiency_interval(self.efficiency, self.standard_error, self.degrees_of_freedom, level)


def efficiency_interval(centre: float, error: float, df: int, level: float) -> Interval | None:
    """The interval by the t distribution, not reaching below zero."""
    found = t_interval(centre, error if error > 0 else None, df, level)
    return None if found is None else (max(found[0], 0.0), found[1])


def estimate_efficiency(trials: TrialTimes) -> Efficiency:
    """Peak efficiency with its jackknife standard error (Hamey 1992; Mosteller and Tukey 1977, chapter 8).

    >>> from redelve.stats.training_time import trial_times
    >>> found = estimate_efficiency(trial_times([30, 32, 35, 36, 40, 44, 300, 2000], [1] * 7 + [0]))
    >>> round(found.efficiency, 2), found.optimal_limit, round(found.standard_error, 2)
    (19.67, 44.0, 5.05)
    """
    curve = efficiency_curve(trials)
    values = curve.efficiency
    peak = int(np.argmax(values))
    without, without_failed = leave_one_out(curve)
    mean = (float(without @ trials.counts) + without_failed * trials.failures) / trials.trials
    squares = float(np.square(without - mean) @ trials.counts)
    squares += (without_failed - mean) ** 2 * trials.failures if trials.failures else 0.0
    error = sqrt(squares * (trials.trials - 1) / trials.trials)
    span, is_open = _half_range(curve, peak)
    at_limit = float(values[-1]) if not trials.failures else float(curve.at(np.array([trials.limit]))[0])
    never_stop = not trials.failures and peak == len(values) - 1
    found = Efficiency(
        float(values[peak]),
        error,
        trials.trials - 1,
        (trials.trials - 1) * (mean - float(values[peak])),
        inf if never_stop else float(curve.limits[peak]),
        span,
        is_open,
        at_limit,
        trials.trials,
        int(curve.successes[peak]),
        (),
    )
    return replace(found, caveats=tuple(_caveats(found, trials)))


def _half_range(curve: EfficiencyCurve, peak: int) -> tuple[tuple[float, float], bool]:
    """The widest range about the peak in which the efficiency is at least half of it, and whether it ends.

    The time spent is continuous in t, so just before the next success E has fallen to c_j/W_(j+1).
    """
    successes, spent, limits = curve.successes, curve.spent, curve.limits
    half = successes[peak] / spent[peak] / 2
    falls = successes[:-1] / spent[1:] < half
    before, after = np.flatnonzero(falls[:peak]), np.flatnonzero(falls[peak:])
    low = float(limits[before[-1] + 1]) if len(before) else float(limits[0])
    last = peak + int(after[0]) if len(after) else len(limits) - 1
    left = curve.trials - int(successes[last])
    if not left:
        return (low, inf), False
    high = float(limits[last] + (successes[last] / half - spent[last]) / left)
    return ((low, high), False) if high <= curve.last else ((low, curve.last), True)


def _caveats(found: Efficiency, trials: TrialTimes) -> Iterator[str]:
    """What must be said beside e."""
    if found.trials < FEW_TRIALS:
        yield f"only {found.trials} trials: intervals and tests were not tried with fewer than {FEW_TRIALS}"
    if not found.standard_error > 0:
        yield NO_VARIATION
    if found.successes_at_peak < FEW_AT_PEAK:
        yield (
            f"the peak rests on {found.successes_at_peak} of {trials.trials} trials that were by far the "
            "fastest: e is likely to be much too large, and its standard error says little; more trials are "
            "needed"
        )
    if trials.failures and found.at_limit > found.efficiency - found.standard_error:
        yield (
            f"at the limit {trials.limit:g} the efficiency is within a standard error of its peak: the true "
            "peak may lie beyond, and e may depend on the limit"
        )


def leave_one_out(curve: EfficiencyCurve) -> tuple[FloatArray, float]:
    """Peak efficiencies without a trial that succeeded at each of the times, and without one that failed.

    Exact, in O(N log N). Without a trial of time q the curve is c/(W − t) before q and (c − 1)/(W − q) from
    there on: the former takes a running maximum; the latter is the steepest line from (q, 0) to
    one of the points (W, c − 1), which lies on their upper convex hull.
    """
    times, successes, spent = curve.limits, curve.successes.astype(np.float64), curve.spent
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.maximum.accumulate(successes / (spent - times))
    earlier = np.concatenate(([0.0], before[:-1]))
    return SCALE * np.maximum(earlier, _later_peaks(curve)), SCALE * float(before[-1])


def _later_peaks(curve: EfficiencyCurve) -> FloatArray:
    """For every i the maximum over j ≥ i of (c_j − 1)/(W_j − t_i), or less where the peak lies before i."""
    times, height, spent = curve.limits, curve.successes - 1.0, curve.spent
    peak = int(np.argmax(curve.successes / spent))
    found = np.zeros(len(times))
    few = peak if peak < DIRECT else -1
    for i in range(few + 1):
        found[i] = np.max(height[i:] / (spent[i:] - times[i]))
    _search_hull(curve, found, few + 1, _candidates(curve, peak, few))
    return found


def _candidates(curve: EfficiencyCurve, peak: int, done: int) -> Counts:
    """Where the peak can come to lie when a trial after the first `done` times is left out.

    Not where even the most that E can become is less than the least that is left of the present peak.
    """
    times, successes, spent = curve.limits, curve.successes, curve.spent
    if done >= peak:
        least = successes[peak] / (spent[peak] - times[peak])
    else:
        least = (successes[peak] - 1) / (spent[peak] - times[0])
    places = np.arange(done + 1, len(times))
    most = (successes[places] - 1) / (spent[places] - times[places])
    return np.asarray(places[most >= least * (1 - 1e-12)], np.int64)


def _search_hull(curve: EfficiencyCurve, found: FloatArray, first: int, points: Counts) -> None:
    """Fill `found` from `first` up to the last of the candidates `points`, adding them from right to left."""
    times, spent = curve.limits, curve.spent
    height = curve.successes.astype(np.float64) - 1
    hull: list[int] = []
    breaks: list[float] = []
    for k in range(len(points) - 1, -1, -1):
        point = int(points[k])
        _add_left(point, hull, breaks, (spent, height))
        start = int(points[k - 1]) + 1 if k else first
        if start == point:
            best = hull[bisect_left(breaks, times[point])]
            found[point] = height[best] / (spent[best] - times[point])
        else:
            query = times[start : point + 1]
            best_of = np.asarray(hull)[np.searchsorted(np.asarray(breaks), query)]
            found[start : point + 1] = height[best_of] / (spent[best_of] - query)


def _add_left(
    point: int, hull: list[int], breaks: list[float], places: tuple[FloatArray, FloatArray]
) -> None:
    """Put a point before the leftmost one of a hull; `breaks` are where the lines of its edges meet y = 0."""
    x, y = places
    while hull:
        top = hull[-1]
        meets = float(x[point] - y[point] * (x[top] - x[point]) / (y[top] - y[point]))
        if not breaks or meets > breaks[-1]:
            breaks.append(meets)
            break
        hull.pop()
        breaks.pop()
    hull.append(point)


@dataclass(frozen=True)
class EfficiencyComparison:
    """The difference of two peak efficiencies, first minus second: above zero the first is better.

    `p_value` is two-sided, for the hypothesis of equal efficiencies; None where neither algorithm varies.
    """

    first: Efficiency
    second: Efficiency
    difference: float
    standard_error: float
    degrees_of_freedom: float | None
    statistic: float | None
    p_value: float | None
    caveats: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """How many times as efficient the first is."""
        return self.first.efficiency / self.second.efficiency

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference; it leaves out zero exactly when `p_value` < 1 − level."""
        error = self.standard_error if self.degrees_of_freedom is not None else None
        return t_interval(self.difference, error, self.degrees_of_freedom, level)


def compare_efficiency(first: TrialTimes, second: TrialTimes) -> EfficiencyComparison:
    """Welch's t-test (1947) with jackknife standard errors; the trials of the two are independent.

    >>> from redelve.stats.training_time import trial_times
    >>> fast = trial_times([30, 32, 35, 36, 40, 44, 300, 2000], [1] * 7 + [0])
    >>> slow = trial_times([60, 70, 71, 75, 80, 84, 90, 91])
    >>> found = compare_efficiency(fast, slow)
    >>> round(found.difference, 2), round(found.p_value, 3)
    (6.79, 0.223)
    """
    one, two = estimate_efficiency(first), estimate_efficiency(second)
    difference = one.efficiency - two.efficiency
    error = hypot(one.standard_error, two.standard_error)
    caveats = [f"first: {c}" for c in one.caveats] + [f"second: {c}" for c in two.caveats]
    if not error > 0:
        return EfficiencyComparison(one, two, difference, error, None, None, None, (*caveats, NO_VARIATION))
    shares = [(each.standard_error / error) ** 2 for each in (one, two)]
    df = 1 / sum(share**2 / each.degrees_of_freedom for share, each in zip(shares, (one, two), strict=True))
    t = difference / error
    p = float(f_p_value(t * t, 1.0, df))
    return EfficiencyComparison(one, two, difference, error, df, t, p, tuple(caveats))
