"""Fixed models on a sample of cases: all pairs at once, with units that may count differently.

A unit is a case, or the cases that belong together; its part is what it has of all weight. The mean Σ e_g + m
has residuals e_g = Σ_{j∈g} w_j(y_j − m)/Σw and the variance Σ e_g²/(1 − part_g), which is unbiased for
independent cases (Bell and McCaffrey 2002, Survey Methodology 28:169–181) and s²/n for units that count the
same.

Few large units tell little. The degrees of freedom are those with which Student's t has exactly its level
where units vary alike and are Gaussian. The chance of |t| beyond a bound is then that of a quadratic form
above zero (Imhof 1961, Biometrika 48:419–426); one of its eigenvalues is positive, so a short integral gives
it, as in Craig (1991, MILCOM 571–575). There are at most one less than the effective number, 1/Σ part²
(Kish 1965, section 11.7; Carter, Schnepel and Steigerwald 2017, Review of Economics and Statistics
99:698–709): with that many, up to 10 % of the claims of two equal models were false, with n − 1 up to 13 %.
Far in the tails t needs more of them, so claims of many pairs have those of their own level. Where
differences are skewed, t allows for it (`skewed_means`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from redelve.stats.bounded_intervals import BoundedPairs
from redelve.stats.estimates import Interval
from redelve.stats.families import (
    PairSquares,
    Places,
    finite_rows,
    known_squares,
    sides,
    sums_of_squares,
)
from redelve.stats.mean_squares import FloatArray
from redelve.stats.skewed_means import beyond_chance, pair_skewness, two_valued

LEVEL = 0.05
LEAST_LEVEL = 1e-5
"""Farther in the tails t needs no fewer degrees of freedom."""
LEAST_DF = 0.25
"""Of a unit that has nearly all weight."""
FARTHEST = 1e5
"""Larger t are taken for as likely as this one: eigenvalues lose digits."""
DISTINCT = 64
"""Of more distinct parts those of like size are taken together."""
ANGLES = (np.arange(128) + 0.5) * np.pi / 256


def unit_parts(units: ArrayLike | None, weights: ArrayLike | None, cases: int) -> FloatArray:
    """What each unit has of all weight, in the order of the units' labels.

    >>> unit_parts([0, 0, 1], None, 3).round(3).tolist()
    [0.667, 0.333]
    """
    weighed = np.ones(cases) if weights is None else np.asarray(weights, dtype=np.float64)
    if units is not None:
        _, places = np.unique(np.asarray(units), return_inverse=True)
        weighed = np.asarray(np.bincount(places, weights=weighed), dtype=np.float64)
    return np.asarray(weighed / weighed.sum())


def effective_units(parts: FloatArray) -> float:
    """1/Σ part²: as many units that count the same tell as much.

    >>> round(effective_units(np.array([0.5, 0.25, 0.25])), 3)
    2.667
    """
    return 1 / float(np.square(parts).sum())


def unit_df(parts: FloatArray, level: float = LEVEL) -> float:
    """Degrees of freedom with which t keeps this level, and n − 1 where all units are alike.

    At most one less than the effective number of units. Smaller levels need no fewer.

    >>> unit_df(np.array([0.25, 0.25, 0.25, 0.25])), round(unit_df(np.repeat([0.1, 0.01], [5, 50])), 2)
    (3.0, 7.97)
    """
    return df_by_level(parts)(level)


def df_by_level(parts: FloatArray) -> Callable[[float], float]:
    """The same for every level; it holds on to at most 64 sizes of units, however many parts there are.

    >>> of_level = df_by_level(np.repeat([0.1, 0.01], [5, 50]))
    >>> [round(of_level(level), 1) for level in (0.32, 0.05, 0.01)]
    [4.7, 8.0, 10.5]
    """
    if np.ptp(parts) <= 1e-12 / parts.size:
        sizes, counts = np.array([1 / parts.size]), np.array([float(parts.size)])
    else:
        sizes, counts = _distinct(np.asarray(parts, dtype=np.float64))
    most = max(effective_units(parts) - 1, 1.0)
    return partial(_found_df, sizes.tobytes(), counts.tobytes(), most)


@lru_cache(maxsize=256)
def _found_df(sizes: bytes, counts: bytes, most: float, level: float) -> float:
    from scipy.optimize import brentq
    from scipy.special import stdtrit

    level, distinct = max(level, LEAST_LEVEL), (np.frombuffer(sizes), np.frombuffer(counts))
    if len(distinct[0]) == 1:
        return float(distinct[1][0]) - 1

    def excess(df: float) -> float:
        return chance_beyond(min(float(stdtrit(df, 1 - level / 2)), FARTHEST), *distinct) - level

    least = most
    while least > LEAST_DF and excess(least) > 0:
        least = max(least / 2, LEAST_DF)
    if least == most or excess(least) > 0:
        return least
    return float(brentq(excess, least, min(2 * least, most), xtol=1e-6))


def chance_beyond(reach: float, parts: FloatArray, counts: FloatArray) -> float:
    """The chance of |t| beyond `reach`, where so many units have each part, vary alike and are Gaussian.

    t² > q² where x'(ww' − q²A'CA)x > 0, with C the diagonal of w²/(1 − w) and A = I − 1w'. Units that have
    the same part make eigenvalues −q²c, all but one of them; the rest are those of the units' means.

    >>> round(chance_beyond(2.262157, np.array([0.1]), np.array([10])), 6)
    0.05
    """
    squared, roots = reach**2, np.sqrt(counts)
    each = parts**2 / (1 - parts)
    w, c = roots * parts, roots * each
    form = (1 - squared * (counts * each).sum()) * np.outer(w, w)
    form += squared * (np.outer(c, w) + np.outer(w, c) - np.diag(each))
    found = np.linalg.eigvalsh(form)
    ratios = np.maximum(np.concatenate([-found[:-1], squared * each]) / found[-1], 0.0)
    often = np.concatenate([np.ones(len(found) - 1), counts - 1])
    return float(np.exp(-0.5 * (often @ np.log1p(ratios[:, None] / np.cos(ANGLES) ** 2))).mean())


def _distinct(parts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The distinct parts and how many units have each; of very many, means of those of like size."""
    sizes, counts = np.unique(parts, return_counts=True)
    if len(sizes) <= DISTINCT:
        return sizes, counts.astype(np.float64)
    ordered = np.repeat(sizes, counts)
    kinds = np.floor(DISTINCT * (np.cumsum(ordered) - ordered / 2))
    places = np.cumsum(np.diff(kinds, prepend=kinds[0]) != 0)
    counted = np.bincount(places).astype(np.float64)
    return np.bincount(places, weights=ordered) / counted, counted


def answer_noise(tables: Sequence[FloatArray]) -> FloatArray | None:
    """For each model what its answers make the mean of a unit vary; None with one answer to each.

    Tables are answers × units.
    """
    if min(len(table) for table in tables) < 2:
        return None
    return np.array([float(table.var(axis=0, ddof=1).mean()) / len(table) for table in tables])


def with_noise(squares: PairSquares, tables: Sequence[FloatArray], places: Places) -> PairSquares:
    """The same with what answers to the same case make of the variances."""
    noise, answers = answer_noise(tables), min(len(table) for table in tables)
    if noise is None:
        return squares
    first, second = sides(places)
    return replace(squares, noise=noise[first] + noise[second], answers=answers)


def pairs_of_cases(
    values: FloatArray, places: Places, parts: FloatArray | None = None, limits: Interval = (-np.inf, np.inf)
) -> PairSquares:
    """Pairs of models by their values on the same units, whose plain means are the models'.

    Units that count differently are pooled or weighted before (`units.pool_units`, `units.weighted`);
    `parts` are then what they have of all weight. `limits` are those of a score. The degrees of freedom are
    those for claims of all pairs together; `alone_df` are a pair's own.
    """
    finite = finite_rows(values)
    table = values if finite.all() else np.where(finite[:, None], values, 0.0)
    count = table.shape[1]
    parts = np.full(count, 1 / count) if parts is None else parts
    df, means = unit_df(parts, LEVEL / max(len(places[0]), 1)), table.mean(axis=1)
    residuals = table - means[:, None]
    with np.errstate(invalid="ignore"):  # a single unit has no variance
        residuals /= np.sqrt(count * (1 - parts))
    first, second = sides(places)
    nothing = np.full(len(first), np.nan)
    squares = sums_of_squares(residuals, places)
    skewness, is_plain = np.zeros_like(nothing), two_valued(table, first, second)
    if not is_plain.all():
        seen = beyond_chance(pair_skewness(residuals, squares, first, second), effective_units(parts))
        skewness = np.where(is_plain, 0.0, seen)
    found = PairSquares(
        means[first] - means[second],
        squares,
        nothing,
        np.full_like(nothing, count),
        np.ones_like(nothing),
        case_df=None if df == count - 1 else np.full_like(nothing, df),
    )
    known, width = known_squares(found, values, finite, places), limits[1] - limits[0]
    known = replace(
        known,
        skewness=skewness,
        alone_df=None if found.case_df is None else np.full_like(nothing, unit_df(parts)),
    )
    if not (isfinite(width) and finite.all()):
        return known
    return replace(known, bounded=BoundedPairs(table, parts, (first, second), width, df))
