"""Guesses from cases that belong to groups: groups stay together, and groups count in every interval."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from redelve.errors import SpecError
from redelve.model.dataset import Numbers, Rows
from redelve.performance.measures import Measure
from redelve.stats.balanced_errors import BalancedErrors
from redelve.stats.estimates import Interval
from redelve.stats.grouped import (
    GroupedLosses,
    GroupEstimate,
    Scale,
    analyse_groups,
    analyse_new_groups,
    effective_groups,
    loss_scale,
    scaled_interval,
)

if TYPE_CHECKING:
    from redelve.performance.bench import Bench, Round

FEWEST_GROUPS = 4
DOUBLED = "groups, standard error doubled for training groups (Hoeffding 1948)"
JACKKNIFE = "jackknife over folds of groups (Efron and Stein 1981)"
INDEPENDENT = "Student, groups as independent"
WILSON_OF_GROUPS = "Wilson (1927), each group as one case"


def checked_groups(labels: object, cases: int) -> Rows:
    """A number from 0 for each case's group."""
    import pandas as pd

    found = np.asarray(labels)
    if found.ndim != 1 or len(found) != cases:
        raise SpecError(f"groups has the shape {found.shape}: give one label for each of the {cases} cases")
    missing = np.flatnonzero(np.asarray(pd.isna(found)))
    if missing.size:
        raise SpecError(
            f"the group is missing in row {missing[0]} (from 0): give each case a group, its own if it "
            "belongs to no other"
        )
    codes = np.asarray(pd.factorize(found)[0], dtype=np.int64)
    check_enough_groups(int(codes.max()) + 1)
    return codes


def check_enough_groups(groups: int) -> None:
    """Refuse so few groups that nothing can be said of new ones."""
    if groups < FEWEST_GROUPS:
        raise SpecError(
            f"there are {groups} groups: {FEWEST_GROUPS} at least are needed to say anything of new ones, "
            "and ten or more to say much"
        )


def units_of(measure: Measure, classes: Rows, groups: Rows, losses: Numbers) -> GroupedLosses:
    """A value for each group, whose mean is the measure of these cases.

    u_g = m + G Σ w (l − l̄_c) over the cases of the group: the linearised ratio of sums (Cochran 1977, ch. 6),
    for each class by itself where the measure is balanced.
    """
    weights, strata = measure.weights(classes), measure.groups(classes)
    _, codes = np.unique(strata, return_inverse=True)
    centres = np.bincount(codes, losses) / np.bincount(codes)
    places = np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(places, weights * (losses - centres[codes])).astype(np.float64)
    return GroupedLosses(float(losses @ weights) + sums.size * sums, None, effective_groups(groups))


def scale_for(measure: Measure) -> Scale:
    """The scale of a measure's intervals."""
    if not measure.of_cases:
        return "logit" if measure.loss.interval_scale == "share" else measure.loss.interval_scale
    return loss_scale(is_shift=measure.loss.is_shift, is_share=measure.is_share)


def by_folds(bench: Bench, rounds: Sequence[Round], without: Numbers | None = None) -> GroupEstimate:
    """What passes through the folds say, with a standard error by groups; `without` makes a jackknife."""
    every = [_units(bench, one.by_case(bench.count), np.arange(bench.count)) for one in rounds]
    units = np.mean([one.units for one in every], axis=0)
    return analyse_groups(GroupedLosses(units, without, every[0].effective), scale=scale_for(bench.measure))


def of_new_groups(bench: Bench, losses: Numbers, rows: Rows) -> tuple[Interval | None, str]:
    """The interval that takes the groups of these cases as independent, and its source."""
    units = _units(bench, losses, rows)
    found = analyse_new_groups(units, scale=scale_for(bench.measure)) if units.groups > 1 else None
    interval = None if found is None else found.interval(bench.level)
    if interval is not None or not bench.measure.is_share:
        return interval, INDEPENDENT
    errors = round((units.mean or 0.0) * units.groups)
    return BalancedErrors((0,), (units.groups,), (errors,)).interval(bench.level), WILSON_OF_GROUPS


def doubled_interval(
    bench: Bench, value: float, error: float, units: GroupedLosses
) -> tuple[Interval | None, float]:
    """An interval by the larger of a standard error and twice that of independent groups; and which it is."""
    found = analyse_groups(units)
    larger = max(error, found.standard_error or 0.0)
    return groups_interval(bench, value, larger), larger


def groups_interval(bench: Bench, value: float, error: float) -> Interval | None:
    """The interval of a value with this standard error, as `analyse_groups` makes them."""
    if not 0 < error < inf:
        return None
    df = effective_groups(bench.groups if bench.groups is not None else np.arange(bench.count)) / 2
    return scaled_interval(value, error, df, bench.level, scale_for(bench.measure))


def pooled_by_groups(losses: Numbers, weights: Numbers, groups: Rows) -> tuple[Numbers, Numbers]:
    """The weighted mean losses of groups, along the last axis, and the groups' weights."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
    totals = np.add.reduceat(weights[order], starts)
    return np.add.reduceat((losses * weights)[..., order], starts, axis=-1) / totals, totals


def units_of_pooled(means: Numbers, weights: Numbers, groups: Rows) -> GroupedLosses:
    """Values of groups from their mean losses and weights."""
    value = float(means @ weights)
    units = value + means.size * weights * (means - value)
    return GroupedLosses(units, None, effective_groups(groups))


def _units(bench: Bench, losses: Numbers, rows: Rows) -> GroupedLosses:
    assert bench.groups is not None
    return units_of(bench.measure, bench.classes[rows], bench.groups[rows], losses)
