"""Cross-validation of dependent cases: whole groups lie in a fold, and groups count in every standard error.

A group has two effects: on its own losses when it is tested, and on the losses of others when it trains.
Folds show the first alone. Where the second is as large, as for nearest neighbours, whose losses are sums
over pairs of groups, standard errors double: the variance of a U-statistic of m = 2 tends to m²ζ₁/n
(Hoeffding 1948, Annals of Mathematical Statistics 19:293–325, section 5). So they are doubled. Where every
pair of folds was left out as well, the second effect is seen: the whole cross-validation is done again
without each fold in turn, and the jackknife of these values overstates the variance, if anything (Efron and
Stein 1981, Annals of Statistics 9:586–596).
See docs/comparisons.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.estimates import NO_VARIATION, Interval, Paired, infinite_losses, t_interval
from redelve.stats.mean_squares import FloatArray, f_p_value
from redelve.stats.resampled import ONE_DATA_SET
from redelve.stats.units import pool_units

ROUNDING = 8 * float(np.finfo(np.float64).eps)
BOTH_EFFECTS = 4.0
"""What the variance of independent groups is multiplied by where what training groups do is not seen."""
FEW_GROUPS = 10
MOST_STEPS = 700.0
"""Beyond e to this power there is no number: the interval then has no upper end."""
Scale = Literal["plain", "log", "logit"]
"""On which scale an interval is symmetric: log for losses above 0, logit for shares of errors."""

BY_GROUPS = (
    "cases of a group depend on each other, so groups count, not cases; what a group changes by being "
    "trained on is not seen in folds and is taken to be as large as what it changes by being tested: "
    "standard errors are twice those of independent groups, which is right for nearest neighbours and too "
    'large for most other methods; nested cross-validation (design="nested") narrows them'
)
NESTED_BY_GROUPS = (
    "cases of a group depend on each other, so groups count, not cases; the standard error is that of a "
    "jackknife, which leaves each fold in turn out of the whole cross-validation (Efron and Stein 1981), and "
    "is not below that of independent groups"
)


@dataclass(frozen=True)
class GroupedLosses:
    """Cross-validated losses by groups, of a method or of a difference between two.

    `units` has a value for each group; their mean is the mean of all cases (`pool_units`). `without` holds,
    by repetition and fold, the mean of all other cases when the fold is left out of everything; None where
    pairs of folds were not left out. `effective` is the number of groups of equal size that tell as much,
    (Σ n_g)²/Σ n_g² (Kish 1965); that of groups if left out.
    """

    units: FloatArray
    without: FloatArray | None = None
    effective: float = inf

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.units.size)

    @property
    def mean(self) -> float | None:
        """The mean loss of all cases; None where infinities of both signs meet."""
        with np.errstate(invalid="ignore"):
            mean = float(self.units.mean())
        return None if np.isnan(mean) else mean

    def __sub__(self, other: GroupedLosses) -> GroupedLosses:
        """The difference, which is as linear in the losses as everything here."""
        if self.units.shape != other.units.shape:
            raise StatisticsError(
                "two methods are compared on the same groups: "
                f"got {self.groups} groups of one and {other.groups} of the other"
            )
        both = self.without is not None and other.without is not None
        with np.errstate(invalid="ignore"):
            without = self.without - other.without if both else None  # type: ignore[operator]
            return GroupedLosses(self.units - other.units, without, self.effective)


@dataclass(frozen=True)
class GroupEstimate:
    """An expected loss, or difference of losses, from cross-validation by groups.

    All but the mean is None where nothing varies or a loss is infinite.
    """

    mean: float | None
    standard_error: float | None
    degrees_of_freedom: float | None
    groups: int
    is_nested: bool
    scale: Scale
    caveats: tuple[str, ...]

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval by the t distribution on this estimate's scale, or None."""
        return scaled_interval(self.mean, self.standard_error, self.degrees_of_freedom, level, self.scale)


@dataclass(frozen=True)
class GroupComparison(Paired[GroupEstimate]):
    """Two methods on the same folds of groups; `p_value` is two-sided."""

    statistic: float | None
    p_value: float | None

    @property
    def degrees_of_freedom(self) -> float | None:
        """Degrees of freedom of the test."""
        return self.differences.degrees_of_freedom


def scaled_interval(
    mean: float | None, error: float | None, df: float | None, level: float, scale: Scale
) -> Interval | None:
    """The interval of a mean that is symmetric after a transformation (delta method; Oehlert 1992).

    Where losses are skewed, large means come with large standard errors, and plain intervals lie too low.

    >>> [round(end, 3) for end in scaled_interval(2.0, 0.5, 11.0, 0.95, "log")]
    [1.154, 3.467]
    >>> [round(end, 3) for end in scaled_interval(0.1, 0.05, 11.0, 0.95, "logit")]
    [0.032, 0.274]
    """
    plain = t_interval(mean, error, df, level)
    if plain is None or mean is None or scale == "plain" or mean <= 0 or (scale == "logit" and mean >= 1):
        return plain
    width = plain[1] - mean
    if scale == "log":
        step = min(width / mean, MOST_STEPS)
        return mean * exp(-step), mean * exp(step)
    step, centre = min(width / (mean * (1 - mean)), MOST_STEPS / 2), log(mean / (1 - mean))
    return 1 / (1 + exp(step - centre)), 1 / (1 + exp(-step - centre))


def loss_scale(*, is_shift: bool, is_share: bool) -> Scale:
    """The scale of a loss's intervals: shares of errors end at 0 and 1, most losses at 0.

    >>> loss_scale(is_shift=False, is_share=True)
    'logit'
    """
    if is_shift:
        return "plain"
    return "logit" if is_share else "log"


def effective_groups(labels: ArrayLike) -> float:
    """(Σ n_g)²/Σ n_g²: as many groups of equal size tell as much (Kish 1965).

    >>> effective_groups(["a", "a", "a", "b"])
    1.6
    """
    sizes = np.unique(np.asarray(labels), return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / np.square(sizes).sum())


def grouped_losses(
    losses: Sequence[ArrayLike],
    groups: Sequence[ArrayLike],
    inner: Sequence[Sequence[ArrayLike]] | None = None,
) -> GroupedLosses:
    """What cross-validation by groups found; losses[i] are those of fold i's cases, groups[i] their groups.

    Folds of all repetitions come one after the other. inner[r][k] are the losses of all other cases of
    repetition r when fold k is left aside and the rest is cross-validated, as in `nested_cross_validation`.
    """
    every = np.concatenate([np.asarray(one, dtype=np.float64) for one in losses])
    labels = np.concatenate([np.asarray(one) for one in groups])
    count = np.unique(labels).size
    if count < 2:
        raise StatisticsError(f"a variance needs at least two groups of cases: got {count}")
    if np.isnan(every).any():
        raise StatisticsError("a loss is not a number; give failed predictions the loss of a default guess")
    if not np.isfinite(every).all():
        with np.errstate(invalid="ignore"):
            return GroupedLosses(np.full(count, every.mean()))
    without = None
    if inner is not None:
        without = np.array([[np.asarray(fold, np.float64).mean() for fold in row] for row in inner])
    return GroupedLosses(pool_units([every], [labels])[0], without, effective_groups(labels))


def jackknife_variance(without: FloatArray) -> float:
    """(K − 1)/K Σ (θ₍ₖ₎ − θ₍.₎)² over the K folds (Tukey 1958; Efron and Stein 1981), mean over repetitions.

    >>> round(jackknife_variance(np.array([[1.0, 2.0, 3.0, 6.0]])), 4)
    10.5
    """
    folds = without.shape[1]
    return float((folds - 1) ** 2 / folds * without.var(axis=1, ddof=1).mean())


def analyse_groups(found: GroupedLosses, *, scale: Scale = "plain") -> GroupEstimate:
    """Expected loss with a standard error by groups.

    Folds alone: 4s²/G, s² being the variance of the G groups' values. With pairs of folds: the jackknife, not
    below s²/G (1 + K/(K − 1)), which is the correction of Nadeau and Bengio (2003) by groups. There are half
    as many degrees of freedom as effective groups, and at most K − 1 of a jackknife: groups' losses are
    skewed, and s² is known worse than of Gaussian ones (measured, docs/calibration.md).
    """
    folds = None if found.without is None else found.without.shape[1]
    floor = BOTH_EFFECTS if folds is None else 1 + folds / (folds - 1)
    most = found.groups if folds is None else folds
    df = min(min(found.effective, found.groups) / 2, most - 1.0)
    return _estimated(found, floor, df, scale)


def analyse_new_groups(found: GroupedLosses, *, scale: Scale = "plain") -> GroupEstimate:
    """Expected loss of one trained model on groups that it never saw: s²/G, as they are independent.

    There are half as many degrees of freedom as effective groups, as in `analyse_groups`.
    """
    return _estimated(found, 1.0, max(min(found.effective, found.groups) / 2, 1.0), scale)


def compare_groups(first: GroupedLosses, second: GroupedLosses) -> GroupComparison:
    """Two methods on the same folds of groups: 4s²/G with G − 1 degrees of freedom.

    With pairs of folds the jackknife, not below s²/G, with K − 1 degrees of freedom.
    """
    difference = first - second
    folds = None if difference.without is None else difference.without.shape[1]
    floor = BOTH_EFFECTS if folds is None else 1.0
    found = _estimated(difference, floor, (folds or difference.groups) - 1.0, "plain")
    magnitude = max(np.abs(first.units).max(), np.abs(second.units).max())
    if found.standard_error is not None and found.standard_error <= ROUNDING * magnitude:
        found = replace(found, standard_error=None, degrees_of_freedom=None, caveats=(NO_VARIATION,))
    if found.mean is None or found.standard_error is None or found.degrees_of_freedom is None:
        return GroupComparison(first.mean, second.mean, found, None, None)
    t = found.mean / found.standard_error
    p_value = float(f_p_value(t * t, 1.0, found.degrees_of_freedom))
    return GroupComparison(first.mean, second.mean, found, t, p_value)


def _estimated(found: GroupedLosses, floor: float, df: float, scale: Scale) -> GroupEstimate:
    """The estimate with the variance `floor` s²/G, or that of the jackknife if it is larger."""
    groups, nested = found.groups, found.without is not None
    if not np.isfinite(found.units).all():
        return GroupEstimate(found.mean, None, None, groups, nested, scale, (infinite_losses(1),))
    variance = floor * float(found.units.var(ddof=1)) / groups
    if found.without is not None:
        variance = max(variance, jackknife_variance(found.without))
    error = sqrt(variance)
    if error <= ROUNDING * float(np.abs(found.units).max()):
        return GroupEstimate(found.mean, None, None, groups, nested, scale, (NO_VARIATION,))
    caveats = _caveats(groups, is_nested=nested)
    return GroupEstimate(found.mean, error, df, groups, nested, scale, caveats)


def _caveats(groups: int, *, is_nested: bool) -> tuple[str, ...]:
    found = [NESTED_BY_GROUPS if is_nested else BY_GROUPS, ONE_DATA_SET]
    if groups < FEW_GROUPS:
        found.append(few_groups(groups))
    return tuple(found)


def few_groups(groups: int) -> str:
    """What must be said where groups are few."""
    return (
        f"only {groups} groups: they tell little of new ones, intervals are wide, and where most of what is "
        "lost belongs to the group they may hold the truth less often than they say"
    )
