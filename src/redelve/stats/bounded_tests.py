"""Is the new model worse, or not worse by as much as a margin? Tests of bounded scores on paired cases.

Scores are in [0, 1], so differences D (new less old) in [−1, 1]. Where answers seldom change, D is mostly 0
and rarely −1: its sample variance is often 0, and a t-test says "not worse" of a model that is, in up to 60 %
of samples. So the variance is that under the hypothesis, as in Tango's test of right and wrong answers (1998,
Statistics in Medicine 17:891–908), here for any scores with bounds: the likeliest distribution with mean −δ
has weights 1/(n(1 + λX)), X = D + δ, and may put the rest at −1 (empirical likelihood: Owen 2001, chapter 2).

Where cases come in clusters, a unit has a part of the largest weight, and its D and margin have that part.
The last axis is that of the units, or of distinct values that are seen `counts` times; axes before it are
many data sets at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from redelve.stats.mean_squares import FloatArray

STEPS = 60
"""The most steps in which λ is looked for."""
CLOSE = 1e-8
"""A step of so small a part of λ is the last; Newton's method doubles the digits with each."""
NEAR = 1e-9
"""How near to the ends of all possible differences their intervals go."""
SURE = 0.8
"""The chance with which a number of cases is meant to settle it."""


def bounded_z(
    values: FloatArray, lowest: float, counts: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """z against "the mean is 0 or less" of values that are `lowest` (below 0) or more; and their number.

    On D + δ with D of −1, 0 and 1, and lowest = δ − 1, it is Tango's z.

    >>> z, n = bounded_z(np.array([0.1] * 43 + [-0.9]), -0.9)  # Tango's example: 1.709
    >>> z.round(3).item(), n.item()
    (1.709, 44.0)
    """
    seen = np.ones(np.shape(values)) if counts is None else np.asarray(counts, dtype=np.float64)
    x = np.where(seen > 0, values, 0.0)
    n = seen.sum(axis=-1)
    tilt = likeliest_tilt(x, seen, -lowest)
    weights = seen / (n[..., None] * (1.0 + tilt[..., None] * x))
    rest = np.maximum(1.0 - weights.sum(axis=-1), 0.0)
    variance = (weights * x**2).sum(axis=-1) + rest * lowest**2
    mean = (seen * x).sum(axis=-1) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        z = mean / np.sqrt(variance / n)
    return np.asarray(np.where(variance > 0, z, 0.0)), n


def likeliest_tilt(x: FloatArray, counts: FloatArray, most: FloatArray | float) -> FloatArray:
    """λ from 0 to 1/most that maximises Σ log(1 + λx), by Newton's method kept between bounds."""
    low, high = np.zeros(x.shape[:-1]), np.broadcast_to(1.0 / np.maximum(most, 1e-300), x.shape[:-1])
    slope, _ = _slope(x, counts, high)
    tilt = np.where(slope >= 0, high, 0.0)
    for _ in range(STEPS):
        slope, bend = _slope(x, counts, tilt)
        low, high = np.where(slope > 0, tilt, low), np.where(slope > 0, high, tilt)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = tilt + slope / bend
        is_stuck = (4 * np.square(slope) > bend) & (np.abs(step - tilt) <= CLOSE * high)  # at 1 + λx = 0
        step = np.where((step >= low) & (step <= high) & ~is_stuck, step, (low + high) / 2)
        is_done = np.abs(step - tilt) <= CLOSE * high
        tilt = step
        if is_done.all():
            break
    return tilt


def _slope(x: FloatArray, counts: FloatArray, tilt: FloatArray) -> tuple[FloatArray, FloatArray]:
    """That of Σ log(1 + λx), and how fast it falls."""
    part = x / np.maximum(1.0 + tilt[..., None] * x, 1e-150)
    weighed = counts * part
    return weighed.sum(axis=-1), (weighed * part).sum(axis=-1)


def not_worse_p_value(
    differences: FloatArray,
    margin: float,
    *,
    weights: FloatArray | None = None,
    counts: FloatArray | None = None,
) -> FloatArray:
    """p-values against "new is worse by the margin or more" (E D ≤ −δ).

    Right and wrong answers have Tango's normal quantiles, other scores t with a degree of freedom for each
    unit but one.
    """
    d = np.asarray(differences, dtype=np.float64)
    z, n = bounded_z(d + margin * (1.0 if weights is None else weights), margin - 1.0, counts)
    return _upper(z, n, is_normal=weights is None and _is_binary(d))


def worse_p_value(differences: FloatArray, *, counts: FloatArray | None = None) -> FloatArray:
    """p-values against "new is as good or better" (E D ≥ 0).

    McNemar's mid-p of right and wrong answers, else the test of bounded scores with a margin of 0.
    """
    d = np.asarray(differences, dtype=np.float64)
    if _is_binary(d):
        seen = np.ones_like(d) if counts is None else counts
        return mid_p((seen * (d < 0)).sum(axis=-1), (seen * (d > 0)).sum(axis=-1))
    z, n = bounded_z(-d, -1.0, counts)
    return _upper(z, n, is_normal=False)


def mid_p(losses: FloatArray, wins: FloatArray) -> FloatArray:
    """McNemar's one-sided mid-p against "losses are no likelier than wins".

    Fagerland, Lydersen and Laake (2013, BMC Medical Research Methodology 13:91).

    >>> (2 * mid_p(np.array(7.0), np.array(1.0))).round(3).item()  # their example: 0.039
    0.039
    """
    return np.asarray((sign_test(losses, wins) + sign_test(losses + 1, wins - 1)) / 2)


def sign_test(wins: FloatArray, losses: FloatArray) -> FloatArray:
    """Exact one-sided p-values against "wins are no likelier than losses": P(Bin(n, ½) ≥ wins).

    >>> sign_test(np.array([7.0, 0.0]), np.array([1.0, 3.0])).round(4).tolist()  # 9/256
    [0.0352, 1.0]
    """
    from scipy.special import betainc

    some = betainc(np.maximum(wins, 1), np.maximum(losses + 1, 1), 0.5)
    return np.asarray(np.where(wins <= 0, 1.0, np.where(losses < 0, 0.0, some)))


def t_p_value(values: FloatArray) -> FloatArray:
    """p-values of the one-sided t-test against "the mean is 0 or less", for scores without bounds."""
    x = np.asarray(values, dtype=np.float64)
    n = np.asarray(float(x.shape[-1]))
    error = x.std(axis=-1, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, x.mean(axis=-1) / error, np.sign(x.mean(axis=-1)) * np.inf)
    return _upper(np.where(np.isnan(t), 0.0, t), n, is_normal=False)


def units_needed(
    differences: FloatArray, margin: float, level: float, *, weights: FloatArray | None = None
) -> int:
    """How many units show, four times in five, that a model that has not changed is not worse.

    N = (z_level·√max(q, δm) + z_0.8·√q)²/δ², q being the mean square of the differences, (W + L + 1)/(n + 2)
    of right and wrong answers, since one that never changed may yet. At a mean loss of δ it is no less than
    δm, if single losses are as large as m: the largest that was seen, 1 if none was.

    >>> units_needed(np.repeat([-1.0, 0.0, 1.0], [15, 170, 15]), 0.05, 0.05)
    380
    >>> units_needed(np.zeros(300), 0.05, 0.05)
    70
    """
    from scipy.special import ndtri

    d = np.asarray(differences, dtype=np.float64)
    amount = margin * (1.0 if weights is None else float(np.mean(weights)))
    square = float((d**2).sum() + 1) / (d.size + 2)
    at_margin = max(square, amount * (float(-d.min()) if d.min() < 0 else 1.0))
    reach = ndtri(1 - level) * np.sqrt(at_margin) + ndtri(SURE) * np.sqrt(square)
    return int(np.ceil((reach / amount) ** 2))


def _is_binary(differences: FloatArray) -> bool:
    return bool(np.isin(differences, (-1.0, 0.0, 1.0)).all())


def _upper(z: FloatArray, n: FloatArray, *, is_normal: bool) -> FloatArray:
    from scipy.special import ndtr, stdtr

    return np.asarray(ndtr(-z) if is_normal else stdtr(np.maximum(n - 1, 1), -z))


def lowest_difference(
    differences: FloatArray, level: float, *, weights: FloatArray | None = None, is_bounded: bool = True
) -> float:
    """The smallest mean difference that is not rejected: "not worse" by every larger margin is shown."""
    d = np.asarray(differences, dtype=np.float64)
    if not is_bounded:
        return _lowest_by_t(d, level, 1.0 if weights is None else weights)
    counts: FloatArray | None = None
    if weights is None:
        d, times = np.unique(d, return_counts=True)
        counts = times.astype(np.float64)

    def above(mean: float) -> float:
        return float(not_worse_p_value(d, -mean, weights=weights, counts=counts)) - level

    return _root(above, -1.0 + NEAR, 1.0 - NEAR)


def _lowest_by_t(d: FloatArray, level: float, share: FloatArray | float) -> float:
    """The same by t-tests."""
    reach = float(np.abs(d).max() + 1e3 * d.std() + NEAR)
    return _root(lambda mean: float(t_p_value(d - mean * share)) - level, -reach, reach)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that rises from below 0 crosses it; an end where it does not."""
    from scipy.optimize import brentq

    if rising(low) >= 0:
        return low
    return high if rising(high) <= 0 else float(brentq(rising, low, high, xtol=1e-10))
