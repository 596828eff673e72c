"""What would happen without a limit: a model of the training graph's tail (Hamey 1992, sections 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, expm1, hypot, inf, log1p, sqrt

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.estimates import Interval, check_level
from redelve.stats.mean_squares import FloatArray
from redelve.stats.training_time.likelihood import (
    LOG_SHAPES,
    TailTimes,
    ever_interval,
    find_peak,
    rates_within,
    shape_interval,
)
from redelve.stats.training_time.trials import TrialTimes, summarise_times

LEAST_SUCCESSES = 50
LEAST_SHARE = 0.05
"""A tail that the model is fitted to has so many successes, and this share of all of them."""

STARTS = 60
"""Points T₀ that are tried, equally far apart in numbers of successes."""

P_VALUE = (3.1, 5.75)
"""p = 3.1·exp(−5.75·D²M), see `fit_p_value`."""

LEVEL, GIVEN_LEVEL = 0.25, 0.05
"""T₀ is the first point from which the model is not rejected at the first level; one given, at the second.

At a lower level T₀ comes out too early, before the tail begins, and λ and the mean are biased.
"""

NO_FAILURES = "no trial failed: there is no tail beyond the limit to be modelled"
NO_MEAN = "the tail has no finite mean (k ≤ 1): a corrected mean does not exist"
PERHAPS_NO_MEAN = (
    "the interval of k reaches down to 1 or below: the corrected mean may not exist, and its interval has no "
    "upper end"
)
PERHAPS_ALL = "an asymptotic success rate of 1 is not excluded: how much is still to come is not known"
ROUGH_MEAN = (
    "the interval of the corrected mean is too narrow, since the tail's beginning is found from the same "
    "times: in simulations it held the truth 67 to 93 % of the time"
)
EXTRAPOLATED = (
    "what happens after the limit is known only through the model; times that later follow another law "
    "would not be seen by any test made now"
)


@dataclass(frozen=True)
class TailModel:
    """By T₀ a share γ of all trials has succeeded; λ − γ more ever will, by F(t) = 1 − [a(t − T₀) + 1]⁻ᵏ."""

    a: float
    k: float
    start: float
    share_before: float

    def succeeded(self, time: float) -> float:
        """F(t): of those that ever succeed after T₀, the share that has by then."""
        return -expm1(-self.k * log1p(self.a * (time - self.start)))

    def mean_after(self, time: float) -> float | None:
        """Mean time of success of those still to come after `time`; None for k ≤ 1.

        E(t | t > T) = T + (1 + a(T − T₀))/(a(k − 1)).
        """
        if self.k <= 1:
            return None
        return time + (1 + self.a * (time - self.start)) / (self.a * (self.k - 1))


@dataclass(frozen=True)
class PublishedForm:
    """λ and the corrected mean as printed in Hamey (1992), which do not follow from the model.

    λ = γ + λ_T(1 − γ)/F(T), and the mean with 1/(a(k − 1)) + T whatever k is.
    """

    success_rate: float
    corrected_mean: float | None


@dataclass(frozen=True)
class Tail:
    """The model of the tail and what follows from it; everything is None where the model does not fit.

    `success_rate` is λ = γ + (λ_T − γ)/F(T), at most one, `corrected_mean` and `corrected_median` are those
    of all trials that ever succeed. Intervals have the confidence `level`; that of λ and of k is by profile
    likelihood, given T₀. `fit_p_value` is of the Kolmogorov–Smirnov test with a and k estimated.
    """

    reason: str | None
    model: TailModel | None
    tail_successes: int
    distance: float | None
    fit_p_value: float | None
    k_interval: Interval | None
    success_rate: float | None
    success_rate_interval: Interval | None
    corrected_mean: float | None
    corrected_mean_interval: Interval | None
    corrected_median: float | None
    corrected_median_interval: Interval | None
    as_published: PublishedForm | None
    level: float
    caveats: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether there is a point from which the model fits."""
        return self.model is not None


def published_form(model: TailModel, limit: float, success_rate: float, mean: float) -> PublishedForm:
    """λ and corrected mean as printed, from λ_T and t̄_T (Hamey 1992, sections 5 and 6).

    >>> found = published_form(TailModel(0.1, 0.5, 54, 0.66), limit=2000, success_rate=0.76, mean=50)
    >>> round(found.success_rate, 2), round(found.corrected_mean)
    (0.94, 417)
    """
    rate = model.share_before + success_rate * (1 - model.share_before) / model.succeeded(limit)
    if model.k == 1:
        return PublishedForm(rate, None)
    rest = 1 / (model.a * (model.k - 1)) + limit
    return PublishedForm(rate, (success_rate * mean + (rate - success_rate) * rest) / rate)


def model_form(model: TailModel, limit: float, success_rate: float) -> float:
    """λ = γ + (λ_T − γ)/F(T), at most one: what follows from the model.

    By T the share λ_T = γ + (λ − γ)F(T) of all trials has succeeded; this is solved for λ.

    >>> round(model_form(TailModel(0.1, 0.5, 54, 0.66), limit=2000, success_rate=0.76), 2)
    0.77
    """
    gamma = model.share_before
    return min(1.0, gamma + (success_rate - gamma) / model.succeeded(limit))


def fit_tail(trials: TrialTimes, *, start: float | None = None, level: float = 0.95) -> Tail:
    """Fit the tail model by maximum likelihood, from T₀ on; without `start` T₀ is sought.

    T₀ is the first of some sixty points from which the Kolmogorov–Smirnov test does not reject the model at
    25 %. A tail of fewer than 50 successes, or of less than a twentieth of all, is not modelled. Whole
    numbers are taken as epochs: a success at t came in (t − 1, t].
    """
    check_level(level)
    if not trials.successes:
        raise StatisticsError(f"all {trials.trials} trials failed: nothing can be said about later successes")
    if not trials.failures:
        return _all_succeeded(trials, level)
    if start is not None and not 0 <= start < trials.limit:
        raise StatisticsError(f"T₀ must lie between 0 and the limit {trials.limit:g}: got {start:g}")
    points = _starts(trials) if start is None else np.array([start])
    near, least = None, LEVEL if start is None else GIVEN_LEVEL
    for point in points:
        tail = cut(trials, float(point))
        if tail.successes < LEAST_SUCCESSES:
            break
        near = find_peak(tail.grouped(), near)
        if fit_p_value(tail.distance(near.rate, near.k), tail.successes) >= least:
            return _Fitted(trials, float(point), tail, level).result()
    return _not_fitted(_why_not(trials, start, points), level)


def fit_p_value(distance: float, successes: int) -> float:
    """p-value of the Kolmogorov–Smirnov test of the model with a and k estimated from the same times.

    About 3.1·exp(−5.75·D²M): fitted to simulations, which hardly depend on a, k, M and the share that fails.
    The usual tables (Stephens 1974, case 0) are for parameters known beforehand and would let almost
    everything pass.
    """
    return min(1.0, P_VALUE[0] * exp(-P_VALUE[1] * distance**2 * successes))


def cut(trials: TrialTimes, start: float) -> TailTimes:
    """What is known of the trials beyond `start`."""
    later = trials.times > start
    times = trials.times[later] - start
    begins = times - 1 if trials.is_whole and start == int(start) else None
    return TailTimes(times, trials.counts[later], trials.failures, trials.limit - start, begins)


def _starts(trials: TrialTimes) -> FloatArray:
    """Points T₀ to try: times of success with equal numbers between them, as far as enough lies beyond."""
    upto = np.cumsum(trials.counts)
    most = trials.successes - max(LEAST_SUCCESSES, LEAST_SHARE * trials.successes)
    if most < 0:
        return np.empty(0)
    places = np.searchsorted(upto, np.linspace(0, most, STARTS), side="right")
    first = trials.times[0] - 1 if trials.is_whole else 0.0
    points = np.append(first, trials.times[:-1])[np.minimum(places, len(trials.times) - 1)]
    return np.unique(points)


def _why_not(trials: TrialTimes, start: float | None, points: FloatArray) -> str:
    if not len(points) or trials.successes < LEAST_SUCCESSES:
        return f"only {trials.successes} trials succeeded: a tail is modelled from {LEAST_SUCCESSES} up"
    if start is None:
        return (
            f"the model does not fit: whether it begins at {points[0]:g} or at any of {len(points)} points "
            f"up to {points[-1]:g}, the Kolmogorov–Smirnov test rejects it at {LEVEL:.0%}"
        )
    tail = cut(trials, start)
    if tail.successes < LEAST_SUCCESSES:
        return f"only {tail.successes} trials succeeded after {start:g}: a tail needs {LEAST_SUCCESSES}"
    return f"the model does not fit from {start:g} on: Kolmogorov–Smirnov test, p < {GIVEN_LEVEL:g}"


def _not_fitted(reason: str, level: float) -> Tail:
    return Tail(reason, None, 0, *(None,) * 10, level, (reason,))


def _all_succeeded(trials: TrialTimes, level: float) -> Tail:
    """λ is one as far as can be seen; its interval is that of Clopper and Pearson (1934)."""
    found = summarise_times(trials)
    least = ((1 - level) / 2) ** (1 / trials.trials)
    bare = _not_fitted(NO_FAILURES, level)
    return Tail(
        bare.reason, None, 0, None, None, None, 1.0, (least, 1.0), found.mean, None, found.median, None, None,
        level, bare.caveats,
    )  # fmt: skip


class _Fitted:
    """The steps from a fitted tail to its results."""

    def __init__(self, trials: TrialTimes, start: float, tail: TailTimes, level: float) -> None:
        from scipy.special import chdtri, ndtri

        self.trials, self.tail, self.level = trials, tail.grouped(), level
        self.peak = find_peak(self.tail)
        self.distance = tail.distance(self.peak.rate, self.peak.k)
        self.drop = float(chdtri(1, 1 - level)) / 2
        self.z = float(ndtri((1 + level) / 2))
        before = (trials.successes - tail.successes) / trials.trials
        self.model = TailModel(self.peak.rate / self.peak.k, self.peak.k, start, before)
        self.summary = summarise_times(trials)
        self.ever = tail.ever(self.peak.rate, self.peak.k)
        self.rate = before + self.ever * (1 - before)

    def result(self) -> Tail:
        """Everything that follows."""
        shapes = shape_interval(self.tail, self.peak, self.drop)
        rates = self.rate_interval()
        mean, median = self.mean(self.model, self.rate), self.time_of(self.rate / 2)
        return Tail(
            None,
            self.model,
            self.tail.successes,
            self.distance,
            fit_p_value(self.distance, self.tail.successes),
            shapes,
            self.rate,
            rates,
            mean,
            None if mean is None else self.mean_interval(shapes, mean),
            median,
            self.median_interval(rates),
            self.as_published(),
            self.level,
            self.caveats(shapes, rates),
        )

    def caveats(self, shapes: Interval, rates: Interval) -> tuple[str, ...]:
        """What must be said beside the results."""
        found = [EXTRAPOLATED]
        if self.model.k <= 1:
            found.append(NO_MEAN)
        elif shapes[0] <= 1:
            found.append(PERHAPS_NO_MEAN)
        else:
            found.append(ROUGH_MEAN)
        return (*found, PERHAPS_ALL) if rates[1] >= 1 else tuple(found)

    def as_published(self) -> PublishedForm:
        """The printed forms with the parameters fitted here."""
        seen, mean = self.summary.success_rate, self.summary.mean
        return published_form(self.model, self.trials.limit, seen, mean or 0.0)

    def rate_interval(self) -> Interval:
        """λ = γ + ρ(1 − γ): the interval of ρ joined with the binomial error of γ (Zou and Donner 2008)."""
        low, high = ever_interval(self.tail, self.peak, self.drop)
        gamma = self.model.share_before
        binomial = (1 - self.ever) * self.z * sqrt(gamma * (1 - gamma) / self.trials.trials)
        below = self.rate - hypot((1 - gamma) * (self.ever - low), binomial)
        above = self.rate + hypot((1 - gamma) * (high - self.ever), binomial)
        return max(below, 0.0), 1.0 if high >= 1 else min(above, 1.0)

    def mean(self, model: TailModel, rate: float) -> float | None:
        """Corrected mean: the successes seen, and those still to come at their mean time."""
        after = model.mean_after(self.trials.limit)
        seen = self.summary.success_rate
        if after is None or self.summary.mean is None:
            return None
        to_come = max(rate - seen, 0.0)
        return (seen * self.summary.mean + to_come * after) / (seen + to_come)

    def mean_interval(self, shapes: Interval, mean: float) -> Interval:
        """The means of all models likely enough, joined with the error of the mean of the times seen."""
        low, high = max(shapes[0], 1.0 + 1e-6), min(shapes[1], exp(LOG_SHAPES[1]))
        means = [mean, *(each for k in np.geomspace(low, high, 9) for each in self.means_at(float(k)))]
        seen = self.z * (self.summary.mean_error or 0.0)
        above = inf if shapes[0] <= 1 else max(means)
        return mean - hypot(mean - min(means), seen), mean + hypot(above - mean, seen)

    def means_at(self, k: float) -> Iterator[float]:
        """Corrected means for a shape and the least and greatest rate that are likely enough with it."""
        gamma = self.model.share_before
        for rate in rates_within(self.tail, k, self.peak, self.drop):
            model = TailModel(rate / k, k, self.model.start, gamma)
            found = self.mean(model, gamma + self.tail.ever(rate, k) * (1 - gamma))
            if found is not None:
                yield found

    def time_of(self, share: float) -> float:
        """The time by which this share of all trials has succeeded; from the model beyond T₀."""
        model, seen = self.model, self.trials.training_graph
        if share <= seen[-1]:
            return float(self.trials.times[np.searchsorted(seen, share * (1 - 1e-12))])
        left = 1 - (share - model.share_before) / (self.rate - model.share_before)
        if left <= 0:
            return inf
        with np.errstate(over="ignore"):
            return float(model.start + np.expm1(-np.log(left) / model.k) / model.a)

    def median_interval(self, rates: Interval) -> Interval:
        """Times at half the ends of λ's interval, joined with the binomial error of the share there."""
        half = self.rate / 2
        binomial = self.z * sqrt(half * (1 - half) / self.trials.trials)
        below, above = (hypot((self.rate - end) / 2, binomial) for end in rates)
        return self.time_of(max(half - below, 1e-12)), self.time_of(half + above)
