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
from dataclasses import dataclass

import numpy as np

from redelve.seeds import generator
from redelve.stats.mean_squares import FloatArray
from redelve.stats.pseudo_values import Flags, Labels, LeftOut, spread_over_cases, unit_numbers

OfRows = Callable[[Labels, Labels | None], LeftOut]
"""A metric of some rows, and its values without each unit of these; each row is one where there are none."""
OfScores = Callable[[Flags, FloatArray], LeftOut]
ORDERS = 32
"""So many random orders of tied cases are averaged over."""


def values_of_folds(
    metric: OfRows, weigh: Callable[[Labels], float], folds: Labels, units: Labels | None = None
) -> FloatArray:
    """Pseudo-values of all cases, whose mean is the weighted mean of the folds' metrics.

    Those of a fold have its metric as their mean, drawn away from the mean of all as the fold's weight is
    above that of as many cases. A fold without the metric, or without weight, has the mean of all. Where the
    metric is not defined without some unit, as without a fold's only positive case, the fold's distance from
    the mean of all is that unit's: were it shared, one fold would count as many units.

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
    every = (
        _of_fold(metric, rows, units) for rows in (np.flatnonzero(folds == one) for one in np.unique(folds))
    )
    known = [(one, weight) for one in every if np.isfinite(one.value) and (weight := weigh(one.rows)) > 0]
    if not known:
        return np.full(folds.size, np.nan)
    total = sum(weight for _, weight in known)
    mean = sum(weight * one.value for one, weight in known) / total
    values = np.full(folds.size, mean)
    for one, weight in known:
        share = weight / total * folds.size / one.rows.size
        values[one.rows] += share * (one.own + one.bears * (one.value - mean))
    return values


@dataclass(frozen=True)
class _Fold:
    """A fold's metric, how far each case's pseudo-value is from it, and each one's part in its distance."""

    rows: Labels
    value: float
    own: FloatArray
    bears: FloatArray


def _of_fold(metric: OfRows, rows: Labels, units: Labels | None) -> _Fold:
    labels = None if units is None else unit_numbers(units[rows])
    with np.errstate(divide="ignore", invalid="ignore"):
        value, without = metric(rows, labels)
    own, bears = np.zeros_like(without), np.ones_like(without)
    known = np.isfinite(without)
    if known.any():
        own[known] = (without.size - 1) * (without[known].mean() - without[known])
    if not known.all():
        bears[:] = 0.0
        bears[np.argmin(known)] = without.size
    if labels is None:
        return _Fold(rows, value, own, bears)
    return _Fold(rows, value, spread_over_cases(own, labels), spread_over_cases(bears, labels))


def in_random_order(metric: OfScores, positive: Flags, scores: FloatArray, *names: str | int) -> LeftOut:
    """A metric of the order of scores, on average over random orders of cases with the same score.

    With few positive cases a metric such as average precision is higher for cases in random order than for
    cases that tie, though neither tells anything. `names` are those of the random numbers.

    >>> flags = np.array([True, False, False, False])
    >>> def precision(scores):
    ...     return float(1 / (1 + (scores[~flags] > scores[flags]).sum())), scores
    >>> value, _ = in_random_order(lambda flags, scores: precision(scores), flags, np.zeros(4))
    >>> abs(value - (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4) < 0.15
    True
    """
    if np.unique(scores).size == scores.size:
        return metric(positive, scores)
    rng = generator("tied cases", scores.size, *names)
    found = [metric(positive, _untied(scores, rng.random(scores.size))) for _ in range(ORDERS)]
    return float(np.mean([value for value, _ in found])), np.mean([without for _, without in found], axis=0)


def _untied(scores: FloatArray, order: FloatArray) -> FloatArray:
    """The ranks of the scores, those of tied cases in this order."""
    ranks = np.empty_like(scores)
    ranks[np.lexsort((order, scores))] = np.arange(scores.size)
    return ranks
