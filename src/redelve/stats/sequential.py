"""When may one stop: looks planned beforehand, what may be said at each, and how much more would settle it.

The unit is a training set. Looks are planned, and p-values allow for all of them (`repeated_looks`), so the
chance of any false word over all looks is at most α, whenever the race is ended. At each look a method is
dropped where "it is the best, or ties with the best" is rejected, and all that are left are called equivalent
where two one-sided tests say so of every pair (Schuirmann 1987, Journal of Pharmacokinetics and
Biopharmaceutics 15:657–680). See docs/until-settled.md.

The last axes of every array are those of the methods or pairs; axes before them are those of many data sets
at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.families import PairFamily, PairSquares, Places, Truths, moderate, unmoderated
from redelve.stats.mean_squares import FloatArray

FIRST_LOOK, MOST_SETS = 4, 32
"""The first look comes after so many training sets; more than the most are not planned for."""
FEWEST_MODERATED, MOST_PRIOR_DF = 5, 4.0
"""From so many methods on their variances learn from each other, as if from so many more training sets."""
SURE = 0.8
"""The chance with which a number of further training sets is meant to settle the race."""
MOST_NEEDED = 10_000
"""No greater number of training sets is told."""


def planned_looks(sets: int) -> tuple[int, ...]:
    """After how many training sets to look, where there are so many: four times while they double.

    >>> planned_looks(40)
    (4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32)
    >>> planned_looks(15), planned_looks(6)
    ((4, 5, 6, 7, 8, 10, 12, 14, 15), (4, 5, 6))
    """
    if sets < FIRST_LOOK:
        raise StatisticsError(
            f"a race looks after {FIRST_LOOK} training sets for the first time: there are only {sets}"
        )
    last, looks = min(sets, MOST_SETS), [FIRST_LOOK]
    while looks[-1] < last:
        quarter = 2 ** (looks[-1].bit_length() - 3)
        looks.append(min(looks[-1] + quarter, last))
    return tuple(looks)


@dataclass(frozen=True)
class LookDecision:
    """What one look says of the methods still in the race.

    `p_values` are, for each method, the level from which on "it ties with the best" is rejected (allowing for
    all methods); `p_equivalent` is that from which on all that stay are called equivalent, 1 where there is
    no margin. `level` is what they are compared with: α where p-values allow for all looks.
    """

    p_values: FloatArray
    p_equivalent: FloatArray
    level: float

    @property
    def stays(self) -> Truths:
        """The methods that may be the best."""
        return np.asarray(self.p_values >= self.level)

    @property
    def is_settled(self) -> Truths:
        """Whether one method is left, or all that are left are equivalent."""
        return np.asarray((self.stays.sum(axis=-1) == 1) | self.is_equivalent)

    @property
    def is_equivalent(self) -> Truths:
        """Whether all that stay are equivalent within the margin."""
        return np.asarray(self.p_equivalent < self.level)


def family_at_look(squares: PairSquares, methods: int) -> PairFamily:
    """All pairs of the methods in the race; with five or more their variances learn from each other.

    They learn a little only: with a prior of at most four degrees of freedom no unequal variances, and hardly
    any skewness, make the race worse than with each pair's own variance.
    """
    if methods >= FEWEST_MODERATED and np.isfinite(squares.within).any():
        return moderate(squares, methods, most_prior_df=MOST_PRIOR_DF)
    return unmoderated(squares)


def one_sided(differences: FloatArray, two_sided: FloatArray) -> FloatArray:
    """p-values of "the difference is zero or more", from two-sided ones; 1 where no test is defined."""
    p = np.where(differences < 0, two_sided / 2, 1 - two_sided / 2)
    return np.asarray(np.where(np.isnan(p), 1.0, p))


def directed(family: PairFamily, places: Places, methods: int) -> FloatArray:
    """p[…, j, i] speaks against "method j is no better than method i", for every two of the methods."""
    differences, two_sided = family.squares.differences, family.single_p_values()
    first, second = list(places[0]), list(places[1])
    p = np.ones((*differences.shape[:-1], methods, methods))
    p[..., first, second] = one_sided(differences, two_sided)
    p[..., second, first] = one_sided(-differences, two_sided)
    return p


def tied_best(p_values: FloatArray) -> FloatArray:
    """Adjusted p-values of "method i ties with the best" from p[…, j, i] for "j is no better than i".

    Of m methods p_i = (m − 1)·min_j p_ji (Bonferroni), and these are adjusted after Holm (1979, Scandinavian
    Journal of Statistics 6:65–70).

    >>> tied_best(np.array([[1.0, 0.001, 0.01], [0.999, 1.0, 0.4], [0.99, 0.6, 1.0]])).round(4).tolist()
    [1.0, 0.006, 0.04]
    """
    methods = p_values.shape[-1]
    raw = (methods - 1) * p_values.min(axis=-2)
    order = np.argsort(raw, axis=-1)
    ranked = np.take_along_axis(raw, order, axis=-1) * np.arange(methods, 0, -1)
    adjusted = np.empty_like(raw)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(ranked, axis=-1), axis=-1)
    return np.asarray(np.minimum(adjusted, 1.0))


def all_equivalent(p_values: FloatArray, stays: Truths) -> FloatArray:
    """The p-value of "some two of those that stay differ by the margin or more".

    p[…, j, i] speaks against "i is worse than j by the margin or more". All pairs must pass both ways, which
    costs nothing (Berger 1982, Technometrics 24:295–300); but any of the others may be taken for as good as
    the best, which is paid for by m − 1, m of them staying.
    """
    both = stays[..., :, None] & stays[..., None, :] & ~np.eye(p_values.shape[-1], dtype=np.bool_)
    worst = np.where(both, p_values, 0.0).max(axis=(-2, -1))
    left = stays.sum(axis=-1)
    return np.asarray(np.where(left > 1, np.minimum((left - 1) * worst, 1.0), 1.0))


def decide(better: FloatArray, level: float, within: FloatArray | None = None) -> LookDecision:
    """The decision at one look, at the level that p-values like these are compared with.

    `better` has p[…, j, i] against "j is no better than i", `within` p[…, j, i] against "i is worse than j by
    the margin or more".
    """
    p_values = tied_best(better)
    ones = np.ones(p_values.shape[:-1])
    return LookDecision(
        p_values, ones if within is None else all_equivalent(within, p_values >= level), level
    )


def sets_needed(gap: float, squares: tuple[float, float], level: float) -> int | None:
    """How many training sets find a difference of `gap` by a one-sided test at `level`, four times in five.

    `squares` are the variance between training sets and what the test cases add to the variance of the mean
    difference however many sets there are. None where no number does, or none up to `MOST_NEEDED`.

    >>> sets_needed(1.0, (1.0, 0.0), 0.025), sets_needed(1.0, (1.0, 0.2), 0.025)
    (10, None)
    """
    from scipy.special import nctdtr, stdtrit

    between, fixed = squares

    def is_enough(sets: int) -> bool:
        shift = gap / np.sqrt(between / sets + fixed)
        missed = nctdtr(sets - 1, shift, stdtrit(sets - 1, 1 - level))
        return bool(isnan(missed) or 1 - missed >= SURE)  # SciPy has nan for chances below 1e-240

    if not gap > 0 or not between + fixed > 0 or not is_enough(MOST_NEEDED):
        return None
    low, high = 1, MOST_NEEDED
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
