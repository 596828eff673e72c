"""Metrics of scores where each fold was answered by a trained model of its own.

Scores of different trained models are on no one scale. A fold with one more positive case leaves one fewer to
its training set, whose model then gives all cases of the fold lower scores: ranked together, positive cases
come too low, the more so the less a model tells cases apart (Parker, Günter and Bedo 2007, BMC Bioinformatics
8:326; Airola, Pahikkala, Waegeman, De Baets and Salakoski 2011, Computational Statistics and Data Analysis
55:1828–1844). So only cases of the same fold are compared (Forman and Scholz 2010, SIGKDD Explorations
12(1):49–57).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray
from redelve.stats.pseudo_values import Labels, LeftOut, pseudo_values, spread_over_cases, unit_numbers

OfRows = Callable[[Labels, Labels | None], LeftOut]
"""A metric of some rows, and its values without each unit of these; each row is one where there are none."""


def values_of_folds(
    metric: OfRows, weigh: Callable[[Labels], float], folds: Labels, units: Labels | None = None
) -> FloatArray:
    """Pseudo-values of all cases, whose mean is the weighted mean of the folds' metrics.

    Those of a fold have its metric as their mean, drawn away from the mean of all as the fold's weight is
    above that of as many cases. A fold without the metric, or without weight, has the mean of all. Where the
    metric is not defined without some unit of a fold, all cases of the fold have what the fold has.

    Parameters
    ----------
    metric : callable
        Given rows, and their units, the metric of these and its values without each unit.
    weigh : callable
        Given rows, what their metric counts: pairs of cases for an area, or cases.
    folds : array
        The fold of every case.
    units : array, optional
        Cases with the same number are left out together.

    Returns
    -------
    array
        A number for each case; all NaN where no fold has the metric.

    Examples
    --------
    >>> def mean(rows, units):
    ...     return float(rows.mean()), (rows.sum() - rows) / (rows.size - 1)
    >>> values_of_folds(mean, lambda rows: float(rows.size), np.array([0, 0, 1, 1, 1])).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    found = [
        (rows, *_of_fold(metric, rows, units), weigh(rows))
        for rows in (np.flatnonzero(folds == fold) for fold in np.unique(folds))
    ]
    known = [one for one in found if np.isfinite(one[1]) and one[-1] > 0]
    if not known:
        return np.full(folds.size, np.nan)
    total = sum(weight for *_, weight in known)
    mean = sum(weight * value for _, value, _, weight in known) / total
    values = np.full(folds.size, mean)
    for rows, _, own, weight in known:
        values[rows] += weight / total * folds.size / rows.size * (own - mean)
    return values


def _of_fold(metric: OfRows, rows: Labels, units: Labels | None) -> tuple[float, FloatArray]:
    """The metric of a fold, and the pseudo-values of its cases."""
    own = None if units is None else unit_numbers(units[rows])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = metric(rows, own)
    try:
        values = pseudo_values(found)
    except StatisticsError:
        return found[0], np.full(rows.size, found[0])
    return found[0], values if own is None else spread_over_cases(values, own)
