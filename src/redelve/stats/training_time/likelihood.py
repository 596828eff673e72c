"""The likelihood of a tail of successful times: F(x) = 1 − (ax + 1)⁻ᵏ for x = t − T₀ (Hamey 1992, section 5).

A trial that had not succeeded by T₀ ever will with probability ρ, and then by T₀ + x with probability F(x).
Those that never will and those still to come are both seen as failed, so the tail's likelihood is

    M ln ρ + Σ ln f(xᵢ) + R ln(1 − ρF(X)),     M successes in the tail, R failures, X = T − T₀

For given a and k it is greatest at ρ = min(1, M/((M + R)·F(X))). Where that is below one, what is left is
Hamey's likelihood of times truncated at T.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, inf, log, log1p

import numpy as np

from redelve.stats.mean_squares import FloatArray
from redelve.stats.training_time.trials import Counts

LOG_SHAPES = (-5.0, 7.0)
"""Bounds of ln k: beyond the upper one, about 1100, the tail is exponential."""

TINY = 1e-300
GROUPS = 2000


@dataclass(frozen=True, eq=False)
class TailTimes:
    """What is beyond T₀: times since then, how many trials had each, and how many failed by T₀ + `reach`.

    Where `begins` are given, a time x means that the success came after the one that belongs to x and not
    after x, as with epochs.
    """

    times: FloatArray
    counts: Counts
    failures: int
    reach: float
    begins: FloatArray | None = None

    @property
    def successes(self) -> int:
        """M."""
        return int(self.counts.sum())

    @property
    def share(self) -> float:
        """Share that succeeded by T of those that had not by T₀."""
        return self.successes / (self.successes + self.failures)

    def log_density(self, rate: float, k: float) -> float:
        """Σ ln f(xᵢ), or of the probability of the step that ends at xᵢ; `rate` is ak."""
        a = rate / k
        late = np.log1p(a * self.times)
        if self.begins is None:
            return float((log(rate) - (k + 1) * late) @ self.counts)
        early = np.log1p(a * self.begins)
        inside = -np.expm1(-k * (late - early))
        return float((np.log(np.maximum(inside, TINY)) - k * early) @ self.counts)

    def by_end(self, rate: float, k: float) -> float:
        """F(X)."""
        return -expm1(-k * log1p(rate / k * self.reach))

    def ever(self, rate: float, k: float) -> float:
        """The most likely ρ for these parameters."""
        return min(1.0, self.share / max(self.by_end(rate, k), TINY))

    def log_likelihood(self, rate: float, k: float, ever: float | None = None) -> float:
        """With the most likely ρ unless it is given."""
        rho = self.ever(rate, k) if ever is None else ever
        left = 1 - rho * self.by_end(rate, k)
        failed = self.failures * log(max(left, TINY)) if self.failures else 0.0
        return self.successes * log(rho) + self.log_density(rate, k) + failed

    def distance(self, rate: float, k: float) -> float:
        """Greatest distance D of the times' distribution from F(x)/F(X), by Kolmogorov and Smirnov.

        With steps only their ends are looked at: between them the data say nothing.
        """
        model = -np.expm1(-k * np.log1p(rate / k * self.times)) / self.by_end(rate, k)
        upto = np.cumsum(self.counts) / self.successes
        above = np.abs(upto - model).max()
        if self.begins is not None:
            return float(above)
        before = np.concatenate(([0.0], upto[:-1]))
        return float(max(above, np.abs(model - before).max()))

    def grouped(self) -> TailTimes:
        """The same with no more than some two thousand different times, which is quicker to fit."""
        if len(self.times) <= 2 * GROUPS:
            return self
        ends = np.unique(np.linspace(0, len(self.times) - 1, GROUPS).astype(np.int64))
        upto = np.cumsum(self.counts)[ends]
        times = self.times[ends]
        first = 0.0 if self.begins is None else self.begins[0]
        begins = np.concatenate(([first], times[:-1]))
        return TailTimes(times, np.diff(upto, prepend=0), self.failures, self.reach, begins)


@dataclass(frozen=True)
class Peak:
    """The most likely rate ak and shape k, and the logarithm of the likelihood there."""

    rate: float
    k: float
    log_likelihood: float


def find_peak(tail: TailTimes, near: Peak | None = None, *, ever: float | None = None) -> Peak:
    """Most likely rate and shape by the simplex method of Nelder and Mead; `ever` holds ρ fixed."""
    from scipy.optimize import minimize

    def cost(point: FloatArray) -> float:
        return -tail.log_likelihood(exp(point[0]), exp(point[1]), ever)

    mean = float(tail.times @ tail.counts) / tail.successes
    low, high = LOG_SHAPES
    near_k = min(max(log(near.k), low), high) if near else 0.0
    starts = [(log(near.rate), near_k)] if near else [(log(5 / mean), log(0.5)), (log(4 / mean), log(3))]
    options = {"xatol": 1e-3, "fatol": 1e-4, "maxiter": 400}
    bounds = ((-60.0, 60.0), LOG_SHAPES)
    found = [minimize(cost, s, method="Nelder-Mead", bounds=bounds, options=options) for s in starts]
    best = min(found, key=lambda result: float(result.fun))
    return Peak(exp(best.x[0]), exp(best.x[1]), -float(best.fun))


def find_rate(tail: TailTimes, k: float, near: Peak) -> Peak:
    """Most likely rate for a given shape."""
    from scipy.optimize import minimize_scalar

    def cost(point: float) -> float:
        return -tail.log_likelihood(exp(point), k)

    middle = log(near.rate)
    bounds = (middle - 15, middle + 15)
    best = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return Peak(exp(best.x), k, -float(best.fun))


def rates_within(tail: TailTimes, k: float, peak: Peak, drop: float) -> list[float]:
    """For a given shape, the two rates whose likelihood is `drop` below that of the peak; none if all are."""
    best = find_rate(tail, k, peak)

    def within(point: float) -> float:
        return tail.log_likelihood(exp(point), k) - peak.log_likelihood + drop

    middle = log(best.rate)
    if within(middle) <= 0:
        return []
    ends = (_crossing(within, middle, middle + reach) for reach in (-15.0, 15.0))
    return [exp(end) for end in ends if end is not None]


def shape_interval(tail: TailTimes, peak: Peak, drop: float) -> tuple[float, float]:
    """The shapes k whose likelihood is within `drop` of the greatest (its logarithm); to infinity if open."""
    last = [peak, peak]

    def within(side: int, point: float) -> float:
        last[side] = find_rate(tail, exp(point), last[side])
        return last[side].log_likelihood - peak.log_likelihood + drop

    low = _crossing(lambda p: within(0, p), log(peak.k), LOG_SHAPES[0])
    high = _crossing(lambda p: within(1, p), log(peak.k), LOG_SHAPES[1])
    return 0.0 if low is None else exp(low), inf if high is None else exp(high)


def ever_interval(tail: TailTimes, peak: Peak, drop: float) -> tuple[float, float]:
    """The same for ρ, the probability of ever succeeding after T₀."""
    best = tail.ever(peak.rate, peak.k)
    last = [peak, peak]

    def within(side: int, rho: float) -> float:
        # The way back from far outside may be missed, and the peak itself must be found within.
        near = max((last[side], peak), key=lambda one: tail.log_likelihood(one.rate, one.k, rho))
        last[side] = find_peak(tail, near, ever=rho)
        return last[side].log_likelihood - peak.log_likelihood + drop

    low = _crossing(lambda p: within(0, p), best, 1e-6 * best)
    high = None if best >= 1 else _crossing(lambda p: within(1, p), best, 1.0)
    return 0.0 if low is None else low, 1.0 if high is None else high


def _crossing(within: Callable[[float], float], inside: float, outside: float) -> float | None:
    """Where a function that is positive inside becomes zero on the way outside; None if nowhere."""
    from scipy.optimize import brentq

    if within(outside) >= 0:
        return None
    return float(brentq(within, inside, outside, xtol=1e-4))
