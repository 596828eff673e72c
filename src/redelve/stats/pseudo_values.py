"""Pseudo-values of metrics that are no means of cases: a number for every case whose mean is the metric.

The pseudo-value of a unit (a case, or a group of cases that belong together) is what the jackknife says of
its part in the metric: u_j = m + (U − 1)(m̄₍.₎ − m₍ⱼ₎), with m₍ⱼ₎ the metric without unit j and m̄₍.₎ the mean
of these (Tukey 1958; centred, so that the mean of the u is m itself). Analyses that take u for losses are
then those of Dorfman, Berbaum and Metz (1992, Investigative Radiology 27:723–731) for areas under ROC curves,
and hold for other smooth metrics by the same argument (Hillis, Berbaum and Metz 2008, Academic Radiology
15:647–661). Each function gives the metric and its values without each unit, in O(n log n).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray

Labels = NDArray[np.int64]
"""For each case the number of its unit, from 0."""
Flags = NDArray[np.bool_]
LeftOut = tuple[float, FloatArray]
"""A metric of all cases, and its values without each unit."""
OfSums = Callable[[FloatArray], FloatArray]
"""A metric of sums over cases, the last axis (or, of counts, the last two) being that of the sums."""
MOST_AT_ONCE = 4_000_000
"""So many numbers are worked on together, at most."""


def unit_numbers(labels: NDArray[Any]) -> Labels:
    """Labels of units as numbers from 0."""
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64).ravel()


def pseudo_values(found: LeftOut, what: str = "the metric") -> FloatArray:
    """The pseudo-values of all units, whose mean is the metric.

    >>> pseudo_values((2.0, np.array([1.5, 2.0, 2.5]))).tolist()
    [3.0, 2.0, 1.0]
    """
    value, without = found
    if not (np.isfinite(value) and np.isfinite(without).all()):
        raise StatisticsError(f"{what} is not defined without one of the {without.size} cases or groups")
    if without.size < 2:
        raise StatisticsError(f"{what} needs two cases or groups at least: got {without.size}")
    return np.asarray(value + (without.size - 1) * (without.mean() - without))


def spread_over_cases(units: FloatArray, labels: Labels) -> FloatArray:
    """A number for each case, of which `units.pool_units` makes the units' values again, with the same mean.

    >>> spread_over_cases(np.array([1.0, 4.0]), np.array([0, 0, 1, 1])).tolist()
    [1.0, 1.0, 4.0, 4.0]
    """
    mean, sizes = units.mean(), np.bincount(labels, minlength=units.size)
    away = (units - mean) * labels.size / (units.size * sizes)
    return np.asarray(mean + away[labels])


def area_without(positive: Flags, scores: FloatArray, labels: Labels | None = None) -> LeftOut:
    """The area under the ROC curve, ties counting half (Mann and Whitney 1947), and without each unit.

    Without a unit it is what is left of Σ h over pairs of a positive and a negative case. For single cases
    this is (n₁m − placement)/(n₁ − 1), so that pseudo-values are DeLong's (1988) placements.
    """
    pairs, counts = _pairs_of(positive, scores)
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if labels is None:
        left = positives - positive, negatives - ~positive
        lost = counts
    else:
        units = int(labels.max()) + 1
        within = (
            np.bincount(labels[positive], minlength=units),
            np.bincount(labels[~positive], minlength=units),
        )
        left = positives - within[0], negatives - within[1]
        lost = np.bincount(labels, counts, minlength=units) - _within(positive, scores, labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        every = np.float64(pairs) / (positives * negatives)
        without = (pairs - lost) / (left[0] * left[1])
    return float(every), np.asarray(without)


def _pairs_of(positive: Flags, scores: FloatArray) -> tuple[float, FloatArray]:
    """How many pairs are in order, half of the tied ones included, and in how many each case is."""
    ups, downs = np.sort(scores[positive]), np.sort(scores[~positive])
    counts = np.empty(scores.size)
    above, below = scores[positive], scores[~positive]
    counts[positive] = (np.searchsorted(downs, above) + np.searchsorted(downs, above, side="right")) / 2
    counts[~positive] = ups.size - (np.searchsorted(ups, below) + np.searchsorted(ups, below, "right")) / 2
    return float(counts[positive].sum()), counts


def _within(positive: Flags, scores: FloatArray, labels: Labels) -> FloatArray:
    """The pairs in order within each unit, which leaving it out would otherwise take off twice."""
    order = np.argsort(labels, kind="stable")
    edges = np.flatnonzero(np.diff(labels[order])) + 1
    parts = np.split(order, edges)
    found = np.zeros(len(parts))
    for unit, rows in enumerate(parts):
        mixed = positive[rows]
        if rows.size > 1 and mixed.any() and not mixed.all():
            found[unit] = _pairs_of(mixed, scores[rows])[0]
    return found


def precision_without(positive: Flags, scores: FloatArray, labels: Labels | None = None) -> LeftOut:
    """Average precision, (1/P) Σ T_i/N_i over positive cases i, and without each unit.

    T_i and N_i count the positive and all cases whose score is at least that of i. Without a case the terms
    at or below it change: sums of these are kept from the top and from the bottom.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, is_positive = scores[order], positive[order]
    last = np.searchsorted(-ordered, -ordered, side="right") - 1
    true = np.cumsum(is_positive)[last].astype(np.float64)
    every = last + 1.0
    if labels is not None:
        return _precision_of_units(ordered, is_positive, labels[order])
    chosen = is_positive.astype(np.float64)
    count = float(chosen.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float((chosen * true / every).sum() / count)
        fewer = np.where(every > 1, (true - 1) / (every - 1), 0.0)
        above = _sums_above(chosen * true / every, last)
        if_positive = (above + _sums_from(chosen * fewer, last) - fewer) / (count - 1)
        lowered = np.where(every > 1, true / (every - 1), 0.0)
        if_negative = (above + _sums_from(chosen * lowered, last)) / count
    without = np.empty(scores.size)
    without[order] = np.where(is_positive, if_positive, if_negative)
    return value, without


def _sums_above(terms: FloatArray, last: Labels) -> FloatArray:
    """For each case the sum of the terms of all cases with larger scores."""
    sums = np.concatenate(([0.0], np.cumsum(terms)))
    firsts = np.concatenate(([True], last[1:] != last[:-1]))
    starts = np.flatnonzero(firsts)
    return np.asarray(np.repeat(sums[starts], np.diff(np.append(starts, terms.size))))


def _sums_from(terms: FloatArray, last: Labels) -> FloatArray:
    """For each case the sum of the terms of all cases with scores as small or smaller."""
    return np.asarray(float(terms.sum()) - _sums_above(terms, last))


def _precision_of_units(ordered: FloatArray, is_positive: Flags, labels: Labels) -> LeftOut:
    """The same by leaving out one unit after the other, of cases that are in order already."""
    units = int(labels.max()) + 1
    without = np.array([_precision(ordered, is_positive, labels != unit) for unit in range(units)])
    return _precision(ordered, is_positive, np.ones(ordered.size, dtype=np.bool_)), without


def _precision(ordered: FloatArray, is_positive: Flags, kept: Flags) -> float:
    scores, true = ordered[kept], is_positive[kept]
    if not true.any():
        return np.nan
    last = np.searchsorted(-scores, -scores, side="right") - 1
    return float((true * np.cumsum(true)[last] / (last + 1)).sum() / true.sum())


def sums_without(terms: FloatArray, of_sums: OfSums, labels: Labels | None = None) -> LeftOut:
    """A metric of sums of cases' terms (cases × terms), and without each unit: the sums less the unit's."""
    total = terms.sum(axis=0)
    parts = terms
    if labels is not None:
        parts = np.stack([np.bincount(labels, column) for column in terms.T], axis=1)
    return float(of_sums(total)), np.asarray(of_sums(total - parts))


def counts_without(
    truths: Labels, guesses: Labels, of_counts: OfSums, classes: int, labels: Labels | None = None
) -> LeftOut:
    """A metric of the counts of true class by guess, and without each unit.

    Cases with the same truth and guess are left out alike, so that every such pair is worked on once.
    """
    cells = truths * classes + guesses
    total = np.bincount(cells, minlength=classes**2).reshape(classes, classes).astype(np.float64)
    value = float(of_counts(total))
    if labels is None:
        kinds, places = np.unique(cells, return_inverse=True)
        parts = np.zeros((kinds.size, classes**2))
        parts[np.arange(kinds.size), kinds] = 1.0
        return value, _by_parts(parts, total, of_counts)[places]
    units = int(labels.max()) + 1
    width = max(MOST_AT_ONCE // classes**2, 1)
    found = []
    for start in range(0, units, width):
        here = (labels >= start) & (labels < start + width)
        size = min(width, units - start)
        keys = (labels[here] - start) * classes**2 + cells[here]
        parts = np.bincount(keys, minlength=size * classes**2).reshape(size, -1)
        found.append(of_counts(total - parts.reshape(size, classes, classes)))
    return value, np.concatenate(found)


def _by_parts(parts: FloatArray, total: FloatArray, of_counts: OfSums) -> FloatArray:
    width = max(MOST_AT_ONCE // total.size, 1)
    shaped = parts.reshape(-1, *total.shape)
    return np.concatenate(
        [of_counts(total - shaped[start : start + width]) for start in range(0, len(shaped), width)]
    )


def called_without(
    metric: Callable[[NDArray[np.int64]], float], cases: int, labels: Labels | None = None
) -> LeftOut:
    """Any metric, called with the rows of cases that are kept: once for all, once without each unit."""
    every = np.arange(cases)
    labels = every if labels is None else labels
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    return metric(every), np.array([metric(np.setdiff1d(every, rows, assume_unique=True)) for rows in parts])


def kurtosis_df(values: FloatArray) -> float:
    """Degrees of freedom of a variance of n units with kurtosis κ: min(n − 1, 2n/(κ − 1)).

    A sample variance varies as that of 2n/(κ − 1) Gaussian cases (Satterthwaite 1946; Cramér 1946, 27.4).

    >>> round(kurtosis_df(np.array([0.0] * 98 + [1.0, -1.0])), 2)
    4.08
    """
    count = float(values.shape[-1])
    away = values - values.mean()
    second = float(np.square(away).mean())
    if not second > 0:
        return count - 1
    kurtosis = float(np.square(np.square(away)).mean()) / second**2
    return min(count - 1, 2 * count / (kurtosis - 1)) if kurtosis > 1 else count - 1
