"""Fixed models on a sample of cases: all pairs at once, with units that may count differently.

A unit is a case, or the cases that belong together; its part is what it has of all weight. The mean Σ e_g + m
has residuals e_g = Σ_{j∈g} w_j(y_j − m)/Σw and the variance Σ e_g²/(1 − part_g), which is unbiased for
independent cases (Bell and McCaffrey 2002, Survey Methodology 28:169–181) and s²/n for units that count the
same. Few large units tell little: the degrees of freedom are one less than the effective number of units,
1/Σ part² (Kish 1965, section 11.7; Carter, Schnepel and Steigerwald 2017, Review of Economics and Statistics
99:698–709). With n − 1 of them false claims were up to 13 %, measured as in docs/calibration.md. Where
differences are skewed, t allows for it (`skewed_means`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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


def unit_df(parts: FloatArray) -> float:
    """Degrees of freedom: one less than the effective number of units, and n − 1 where all are alike.

    >>> unit_df(np.array([0.25, 0.25, 0.25, 0.25])), round(unit_df(np.array([0.5, 0.25, 0.25])), 3)
    (3.0, 1.667)
    """
    if np.ptp(parts) <= 1e-12 / parts.size:
        return parts.size - 1.0
    return max(1 / float(np.square(parts).sum()) - 1, 1.0)


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
    `parts` are then what they have of all weight. `limits` are those of a score.
    """
    finite = finite_rows(values)
    table = values if finite.all() else np.where(finite[:, None], values, 0.0)
    count = table.shape[1]
    parts = np.full(count, 1 / count) if parts is None else parts
    df, means = unit_df(parts), table.mean(axis=1)
    residuals = table - means[:, None]
    with np.errstate(invalid="ignore"):  # a single unit has no variance
        residuals /= np.sqrt(count * (1 - parts))
    first, second = sides(places)
    nothing = np.full(len(first), np.nan)
    squares = sums_of_squares(residuals, places)
    skewness, is_plain = np.zeros_like(nothing), two_valued(table, first, second)
    if not is_plain.all():
        seen = beyond_chance(pair_skewness(residuals, squares, first, second), df + 1)
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
    known = replace(known, skewness=skewness)
    if not (isfinite(width) and finite.all()):
        return known
    return replace(known, bounded=BoundedPairs(table, parts, (first, second), width, df))
