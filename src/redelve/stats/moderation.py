"""Variances that learn from each other (empirical Bayes): many on few degrees of freedom each.

Each is drawn towards what all of them say, as far as they agree (Smyth 2004, Statistical Applications in
Genetics and Molecular Biology 3:3; Phipson et al. 2016, Annals of Applied Statistics 10:946–963).

The last axis of every array is that of the pairs; axes before it are those of many data sets at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from redelve.stats.mean_squares import FloatArray

LEAST = 0.005
"""A variance over training sets below this share of E is taken as this share: set means may tie."""
RIDGE = 0.5
"""What the slope of log(A/E) on log E is shrunk by, for each pair."""
SPREAD = 0.8
"""Share of the sampling variance of log A that is taken off what the logarithms vary: pairs share methods."""


class Variances(NamedTuple):
    """A and E of some pairs of methods (`PairSquares`), and the degrees of freedom of A."""

    between: FloatArray
    within: FloatArray
    df: FloatArray


class Learnt(NamedTuple):
    """Variances that stand for A, and the degrees of freedom that they have more than A.

    `unfloored` are those that were not kept from falling below E.
    """

    variances: FloatArray
    prior_df: FloatArray
    unfloored: FloatArray


def learnt_variances(found: Variances, methods: int, most_prior_df: float = np.inf) -> Learnt:
    """Variances of all pairs, each drawn towards the others as far as these agree; none falls below E."""
    prior, ratio, known = _prior(found, methods)
    prior = np.where(known, np.minimum(prior, most_prior_df), 0.0)
    free, kept = (_drawn(found, prior, each) for each in (ratio, np.maximum(ratio, 1.0)))
    variances = np.where(known, np.maximum(found.within, kept), found.between)
    return Learnt(variances, prior, np.where(known, free, found.between))


def _drawn(found: Variances, prior: FloatArray, ratio: FloatArray) -> FloatArray:
    """Each pair's own variance drawn towards a multiple of its E (Smyth 2004, section 3)."""
    both = prior * ratio * found.within + found.df * found.between
    return np.asarray(both / (prior + found.df))


def _prior(found: Variances, methods: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The prior's degrees of freedom d₀, its A/E for each pair, and which pairs it knows.

    The logarithms y of A/E are regressed on those of E (ridge, slope in [−1, 0]: a pair whose cases vary much
    has relatively less from its training sets). What they vary beyond their sampling, ψ′(ν/2), gives d₀
    (Smyth 2004, section 6.2), at most (k − 2)ν; pairs share methods, so part of the sampling is common to
    all of them and is taken off.
    """
    from scipy.special import digamma, polygamma

    k, half = methods, found.df / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        log_within = np.log(found.within)
        y = np.log(np.maximum(found.between, LEAST * found.within)) - log_within
    known = np.isfinite(y)
    y = np.where(known, y, 0.0)
    away = np.where(known, log_within - _mean(log_within, known), 0.0)
    slope = _sum(away * y, known) / (_sum(away**2, known) + RIDGE * np.maximum(_sum(known, known), 1))
    trend = np.clip(slope, -1.0, 0.0) * away
    residual = y - trend
    alike = (k - 2) / (k * (k - 1) - 2)
    sampling = _mean(SPREAD * (1 - alike) * _once(partial(polygamma, 1), half), known)
    excess = _variance(residual, known) - sampling
    free = np.where(excess > 0, 2 * trigamma_inverse(np.maximum(excess, 1e-6)), np.inf)
    prior = np.minimum(free, (k - 2) * found.df.max(axis=-1, keepdims=True))
    centre = _mean(residual - _once(digamma, half) + np.log(half), known)
    return prior, np.exp(trend + centre + digamma(prior / 2) - np.log(prior / 2)), known


def _once(function: Callable[[FloatArray], FloatArray], values: FloatArray) -> FloatArray:
    """The function of all values, which mostly are alike and then take one call."""
    is_one = values.size > 1 and bool((values == values.flat[0]).all())
    return np.broadcast_to(function(values.flat[:1]), values.shape) if is_one else function(values)


def _sum(values: FloatArray, known: FloatArray) -> FloatArray:
    return np.asarray(np.where(known, values, 0.0).sum(axis=-1, keepdims=True))


def _mean(values: FloatArray, known: FloatArray) -> FloatArray:
    return _sum(values, known) / np.maximum(_sum(known, known), 1)


def _variance(values: FloatArray, known: FloatArray) -> FloatArray:
    """Variance with divisor n − 1 along the last axis."""
    return _sum(np.square(values - _mean(values, known)), known) / np.maximum(_sum(known, known) - 1, 1)


def trigamma_inverse(values: FloatArray) -> FloatArray:
    """x with ψ′(x) = value, by Newton's method on 1/ψ′, which is convex (Smyth 2004, appendix).

    >>> from scipy.special import polygamma
    >>> bool(np.allclose(polygamma(1, trigamma_inverse(np.array([0.01, 1.0, 50.0]))), [0.01, 1.0, 50.0]))
    True
    """
    from scipy.special import polygamma

    y = np.asarray(values, dtype=np.float64)
    x = 0.5 + 1 / y
    for _ in range(50):
        value = polygamma(1, x)
        step = value * (1 - value / y) / polygamma(2, x)
        x = x + step
        if np.all(np.abs(step) <= 1e-12 * x):
            break
    return np.asarray(x)
