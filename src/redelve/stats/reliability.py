"""Do probabilities mean what they say? Reliability diagrams without bins, with a band and a test.

The curve is the isotonic regression of what happened on the probability that was given (the CORP approach:
Dimitriadis, Gneiting and Jordan 2021, PNAS 118:e2016191118). It chooses its own steps, so no number of bins
decides what is seen. Outcomes are 0 or 1: of two classes the second, of more whether the likeliest is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray

RESAMPLES = 999
LEVEL = 0.95
FEWEST_UNITS = 20
"""With fewer dependent units no test of calibration keeps its level."""
GRID = 200
"""At so many of the probabilities the band is found, at most."""


@dataclass(frozen=True)
class CalibrationTest:
    """A test of the hypothesis that probabilities are calibrated."""

    statistic: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Reliability:
    """A reliability diagram: what was said, how often it happened, and how far chance alone may take it.

    The Brier score is `miscalibration` − `discrimination` + `uncertainty`: what recalibration would save,
    what the probabilities tell beyond the base rate, and the score of the base rate.
    """

    cases: int
    probabilities: FloatArray = field(repr=False)
    """The different probabilities that were given, in increasing order."""
    counts: NDArray[np.int64] = field(repr=False)
    """How often each was given."""
    frequencies: FloatArray = field(repr=False)
    """How often it happened, by isotonic regression."""
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    spiegelhalter: CalibrationTest | None
    """None where there is nothing to test: every probability is 0, 1/2 or 1, or there are few units."""
    test: CalibrationTest | None = None
    """By resampling; None where cases depend on each other."""
    band: tuple[FloatArray, FloatArray, FloatArray] | None = field(default=None, repr=False)
    """Probabilities, and between which frequencies 95 % of whole curves of calibrated ones lie; or None."""


def reliability_diagram(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Reliability:
    """The diagram of these probabilities, with its tests; `groups` labels cases that depend on each other.

    Band and test come from outcomes drawn anew as the probabilities say. The test's statistic is the
    miscalibration, its p-value (1 + #{as large}) / (resamples + 1), which is exact for independent cases
    (Barnard 1963; Davison and Hinkley 1997, section 4.2.5). The band holds 95 % of the drawn curves from end
    to end, its width at each place being that of their quantiles there (Myllymäki et al. 2017, JRSS B
    79:381–404, directional quantiles). For dependent cases there is no such draw: Spiegelhalter's test alone
    allows for them.
    """
    said, happened = _checked(probabilities, outcomes)
    values, index, counts = np.unique(said, return_inverse=True, return_counts=True)
    shares = np.bincount(index, weights=happened) / counts
    curve = isotonic(shares, counts)
    rate = float(happened.mean())
    brier, calibrated = (float(_brier(one, shares, counts)) for one in (values, curve))
    known = (said.size, values, counts, curve, brier, brier - calibrated)
    parts = (rate * (1 - rate) - calibrated, rate * (1 - rate), spiegelhalter_test(said, happened, groups))
    if groups is not None and np.unique(np.asarray(groups)).size < said.size:
        return Reliability(*known, *parts)
    drawn = rng.binomial(counts, values, size=(resamples, values.size)) / counts
    curves = np.array([isotonic(row, counts) for row in drawn])
    likely = _brier(values, drawn, counts) - _brier(curves, drawn, counts)
    as_large = int((likely >= known[-1] - 1e-12).sum())
    test = CalibrationTest(known[-1], (1 + as_large) / (resamples + 1))
    places = np.unique(np.linspace(0, values.size - 1, min(GRID, values.size)).round().astype(np.int64))
    low, high = _envelope(curves[:, places], LEVEL)
    return Reliability(*known, *parts, test, (values[places], low, high))


def spiegelhalter_test(
    probabilities: ArrayLike, outcomes: ArrayLike, groups: ArrayLike | None = None
) -> CalibrationTest | None:
    """Spiegelhalter's z: is the Brier score what the probabilities themselves let expect?

    z = Σ(y − p)(1 − 2p) / √Σ(1 − 2p)² p(1 − p) (Spiegelhalter 1986, Statistics in Medicine 5:421–433). With
    dependent cases its variance is the sum of the units' squared sums, and its distribution t; there must
    be 20 units. None where the variance is 0.

    >>> round(spiegelhalter_test([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 0]).statistic, 4)
    0.8333
    """
    said, happened = _checked(probabilities, outcomes)
    parts = (happened - said) * (1 - 2 * said)
    if groups is None:
        variance = float(np.sum(np.square(1 - 2 * said) * said * (1 - said)))
        z = float(parts.sum()) / sqrt(variance) if variance > 0 else 0.0
        return CalibrationTest(z, erfc(abs(z) / sqrt(2))) if variance > 0 else None
    from scipy.special import stdtr

    units, index = np.unique(np.asarray(groups), return_inverse=True)
    variance = float(np.square(np.bincount(index, weights=parts)).sum())
    if variance <= 0 or units.size < FEWEST_UNITS:
        return None
    z = float(parts.sum()) / sqrt(variance)
    return CalibrationTest(z, 2 * float(stdtr(units.size - 1, -abs(z))))


def isotonic(values: FloatArray, weights: NDArray[np.int64]) -> FloatArray:
    """The nearest increasing sequence by weighted squares: pool adjacent violators (Ayer et al. 1955)."""
    try:
        from scipy.optimize import isotonic_regression
    except ImportError:  # before scipy 1.12
        return pooled_violators(values, weights)
    return np.asarray(isotonic_regression(values, weights=weights).x)


def pooled_violators(values: FloatArray, weights: NDArray[np.int64]) -> FloatArray:
    """The same, step by step."""
    starts: list[int] = []
    means: list[float] = []
    masses: list[float] = []
    for place, (value, weight) in enumerate(zip(values.tolist(), weights.tolist(), strict=True)):
        start, mean, mass = place, value, float(weight)
        while means and means[-1] >= mean:
            mass += masses[-1]
            mean += (means.pop() - mean) * masses.pop() / mass
            start = starts.pop()
        starts.append(start)
        means.append(mean)
        masses.append(mass)
    return np.repeat(means, np.diff([*starts, len(values)]))


def _brier(forecast: FloatArray, shares: FloatArray, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of (forecast − outcome)², where `shares` of the cases with each forecast have outcome 1."""
    return np.asarray((np.square(forecast) + shares * (1 - 2 * forecast)) @ counts / counts.sum())


def _envelope(curves: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The mean curve, and as many times its distance to outer quantiles as holds enough whole curves.

    One half of the curves gives the shape, the other the number of times: a further curve is like any of
    these, so that it lies inside with the probability wanted, however few there are.
    """
    half = len(curves) // 2
    shape, others = curves[:half], curves[half:]
    mean, spread = shape.mean(axis=0), shape.std(axis=0)
    low, high = np.quantile(shape, [0.025, 0.975], axis=0)
    below, above = np.maximum(mean - low, spread), np.maximum(high - mean, spread)
    away = np.where(others > mean, (others - mean) / _above_zero(above), (mean - others) / _above_zero(below))
    largest = np.sort(away.max(axis=1))
    times = float(largest[min(ceil(level * (largest.size + 1)), largest.size) - 1])
    return np.maximum(mean - times * below, 0.0), np.minimum(mean + times * above, 1.0)


def _above_zero(scale: FloatArray) -> FloatArray:
    """What never varies is divided by 1."""
    return np.where(scale > 0, scale, 1.0)


def _checked(probabilities: ArrayLike, outcomes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    said, happened = np.asarray(probabilities, np.float64), np.asarray(outcomes, np.float64)
    if said.ndim != 1 or said.shape != happened.shape or not said.size:
        raise StatisticsError(
            f"a probability and an outcome for every case were expected: got {said.shape} and "
            f"{happened.shape}"
        )
    if not ((said >= 0) & (said <= 1)).all():
        raise StatisticsError("a probability lies between 0 and 1: some do not")
    if not ((happened == 0) | (happened == 1)).all():
        raise StatisticsError("an outcome is 0 or 1: some are neither")
    return said, happened
