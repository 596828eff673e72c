"""Assurance: the chance that the rule of a family claims a true difference in an experiment yet to be made.

Power needs variances, and a pilot experiment only estimates them. Assurance averages power over what the
pilot leaves open (O'Hagan, Stevens and Campbell 2005, Pharmaceutical Statistics 4:187–201). It is that of the
very rule that will be applied: the variance drawn towards those of the other pairs, as many pairs as there
are, the guard by the pair's own test, the share of the level that this task and size have. Losses are taken
as Gaussian. See docs/comparisons.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite, sqrt

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.families import PairFamily
from redelve.stats.mean_squares import FloatArray

MOST = 100_000
"""No design with more training sets or test cases than this is proposed."""
FEW_DF = 6.0
"""Below this Gauss's quadrature needs many nodes: its functions have roots at zero."""
SHARES = 1 - np.linspace(1.0, 0.0, 16) ** 2
"""Shares of test cases in a variance for which the half width of the cautious test is computed."""


@dataclass(frozen=True)
class Pilot:
    """What one pair of methods of a family tells of the next experiment, and the rule that will judge it.

    `variance`, `within` and `shared` are A (as the family has it, unfloored), E and C/J of `PairSquares`; A
    rests on `prior_df` degrees of freedom beside the I − 1 of its own. Where these were as many as the family
    allows, they grow with the training sets (`is_prior_full`). Without a `guard` the family is not moderated.
    With unequal groups or weights of cases, what these make vary has fewer degrees of freedom than their
    number less one, `case_df`: those of C, or of A where there is no C. They grow with the number.
    """

    training_sets: int
    test_cases: float
    variance: float
    within: float = 0.0
    shared: float | None = None
    prior_df: float = 0.0
    is_prior_full: bool = False
    pairs: int = 1
    guard: float = 0.0
    case_df: float | None = None

    @property
    def df(self) -> float:
        """Degrees of freedom of the variance."""
        return self.own_df_of(self.training_sets) + self.prior_df

    def own_df_of(self, training_sets: int) -> float:
        """The degrees of freedom that A has of its own with so many training sets."""
        if self.case_df is None or self.shared is not None:
            return training_sets - 1.0
        return self.case_df * (training_sets - 1) / (self.training_sets - 1)

    @property
    def shared_df(self) -> float:
        """Degrees of freedom of C."""
        return self.test_cases - 1 if self.case_df is None else self.case_df

    def prior_df_of(self, training_sets: int) -> float:
        """What the other pairs will add to the degrees of freedom with so many training sets."""
        grown = (training_sets - 1) / (self.training_sets - 1) if self.is_prior_full else 1.0
        return self.prior_df * grown


def pilot_of(family: PairFamily, place: int) -> Pilot | None:
    """What a family knows of one of its pairs; None where that has no variance.

    Examples
    --------
    >>> import numpy as np
    >>> from redelve.stats.families import family_of
    >>> from redelve.stats.families import pairs_of_sets
    >>> rng = np.random.default_rng(1)
    >>> losses = [[rng.normal(size=50) for _ in range(6)] for _ in range(3)]
    >>> family = family_of(pairs_of_sets(losses, ([0, 0, 1], [1, 2, 2]), "hierarchical"), 3)
    >>> pilot = pilot_of(family, 0)
    >>> pilot.training_sets, pilot.pairs, pilot.guard
    (6, 3, 2.5)
    """
    squares = family.squares
    variance = float(family.unfloored[place])
    shared = None if squares.shared is None else float(squares.shared[place])
    if not (isfinite(variance) and variance + (shared or 0.0) > 0 and squares.training_sets[place] > 1):
        return None
    sets, prior, within = (x[place] for x in (squares.training_sets, family.prior_df, squares.within))
    methods, df = (1 + sqrt(1 + 8 * family.pairs)) / 2, squares.df[place]
    return Pilot(
        int(sets),
        float(squares.test_cases[place]),
        variance,
        float(within) if isfinite(within) else 0.0,
        shared,
        float(prior),
        bool(prior >= (methods - 2) * df * (1 - 1e-9)),
        family.pairs,
        family.guard,
        None if squares.case_df is None else float(squares.case_df[place]),
    )


def assured_power(
    pilot: Pilot,
    difference: float,
    level: float,
    *,
    training_sets: int | None = None,
    test_cases: float | None = None,
) -> float:
    """Chance that an experiment claims a true difference, over what the pilot leaves open.

    Parameters
    ----------
    pilot : Pilot
        What is known of the variances, and the rule: `pilot_of` takes it from a family.
    difference : float
        The true difference of expected losses.
    level : float
        The level of the whole family: the share that the task and size have of 5 %.
    training_sets, test_cases : int and float, optional
        Of the planned experiment; by default those of the pilot.

    Returns
    -------
    float
        The chance, for Gaussian losses and other pairs that say as much of the variance as in the pilot.

    Notes
    -----
    With s² on ν + d₀ degrees of freedom the true variance is s²/y², y² a chi-square over its degrees of
    freedom (O'Hagan et al. 2005). The next experiment has own variances of σ²x/ν′, moderated ones of
    σ²(d₀ + x)/(d₀ + ν′), x a chi-square on ν′. Given these its threshold is known and the chance is a normal
    tail; test cases that are common to all training sets add a second variance, likewise.

    Examples
    --------
    Eight training sets whose mean differences have an estimated variance of one, two methods, then ten:

    >>> round(assured_power(Pilot(8, 100, 1.0), 1.2, 0.05), 2)
    0.75
    >>> round(assured_power(Pilot(8, 100, 1.0, prior_df=20.0, pairs=45, guard=2.5), 1.2, 0.05), 2)
    0.4
    """
    planned = _planned(pilot, level, training_sets, test_cases)
    return planned.chance(abs(difference))


def assured_difference(
    pilot: Pilot,
    level: float,
    *,
    power: float = 0.8,
    training_sets: int | None = None,
    test_cases: float | None = None,
) -> float:
    """Smallest true difference that an experiment finds with this assurance.

    Parameters and model are those of `assured_power`; `power` is the assurance asked for.

    Examples
    --------
    >>> round(assured_difference(Pilot(8, 100, 1.0), 0.05), 2)
    1.31
    """
    unit = sqrt(pilot.variance + (pilot.shared or 0.0))
    rounded = _in_units(pilot, unit)
    return unit * _multiple(rounded, level, power, training_sets, test_cases)


def assured_training_sets(pilot: Pilot, difference: float, level: float, *, power: float = 0.8) -> int | None:
    """Smallest number of training sets with this assurance of finding a difference; None if none has it.

    Parameters and model are those of `assured_power`; `power` is the assurance asked for.

    Examples
    --------
    >>> assured_training_sets(Pilot(4, 100, 1.0), 1.0, 0.05)
    17
    """

    def enough(sets: int) -> bool:
        return assured_difference(pilot, level, power=power, training_sets=sets) <= difference

    if pilot.shared is not None and not enough(MOST):
        return None
    ratio = assured_difference(pilot, level, power=power) / difference
    return least_number(enough, int(np.clip(pilot.training_sets * ratio**2, 2, MOST)))


def assured_test_cases(pilot: Pilot, difference: float, level: float, *, power: float = 0.8) -> int | None:
    """Smallest number of test cases with this assurance of finding a difference; None if none has it.

    Parameters and model are those of `assured_power`; `power` is the assurance asked for.

    Examples
    --------
    >>> assured_test_cases(Pilot(8, 100, 0.02, within=0.015, shared=0.1), 0.2, 0.05)
    484
    """
    return least_number(
        lambda n: assured_difference(pilot, level, power=power, test_cases=n) <= difference,
        max(round(pilot.test_cases), 2),
    )


@dataclass(frozen=True)
class Prospects:
    """What an experiment finds with some assurance, and how much of what would find a given difference.

    `training_sets` and `test_cases` are None where no number is enough; test cases are counted only then.
    """

    smallest: float
    is_enough: bool
    """Whether the difference that was asked for is found as it is."""
    training_sets: int | None = None
    test_cases: int | None = None


def prospects(
    pilot: Pilot, difference: float | None, level: float, *, power: float = 0.8, can_grow: bool = True
) -> Prospects:
    """What an experiment like the pilot finds, and what it takes to find a difference, if one is given.

    Parameters and model are those of `assured_power`; `power` is the assurance asked for. An experiment that
    cannot grow, as one on folds, is not asked how large it would have to be.

    Examples
    --------
    >>> prospects(Pilot(4, 100, 1.0), 1.0, 0.05).training_sets
    17
    """
    smallest = assured_difference(pilot, level, power=power)
    is_enough = difference is not None and smallest <= difference
    if difference is None or is_enough or not can_grow:
        return Prospects(smallest, is_enough)
    sets = assured_training_sets(pilot, difference, level, power=power)
    if sets is not None:
        return Prospects(smallest, is_enough=False, training_sets=sets)
    cases = assured_test_cases(pilot, difference, level, power=power)
    return Prospects(smallest, is_enough=False, test_cases=cases)


def least_number(enough: Callable[[int], bool], guess: int = 2) -> int | None:
    """Smallest number from 2 to `MOST` that is enough, looked for around a guess; None if none is."""
    low, high, step = 1, guess, 1
    if enough(guess):
        while (below := max(high - step, 2)) < high and enough(below):
            high, step = below, 2 * step
        low = 1 if high == 2 else below
    else:
        while not enough(high):
            if high >= MOST:
                return None
            low, high, step = high, min(high + step, MOST), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _in_units(pilot: Pilot, unit: float) -> Pilot:
    """The pilot in units in which its variance is one, in few digits: many pairs are then one."""
    return replace(
        pilot,
        variance=_rounded(pilot.variance / unit**2, 3),
        within=_rounded(pilot.within / unit**2, 2),
        shared=None if pilot.shared is None else _rounded(pilot.shared / unit**2, 3),
        prior_df=_rounded(pilot.prior_df, 3),
        test_cases=_rounded(pilot.test_cases, 3),
        case_df=None if pilot.case_df is None else _rounded(pilot.case_df, 3),
    )


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


@lru_cache(maxsize=4096)
def _multiple(pilot: Pilot, level: float, power: float, sets: int | None, cases: float | None) -> float:
    """`assured_difference` in units of the pilot, by bisection."""
    if not 0 < level < power < 1:
        raise StatisticsError(
            f"level and power lie between 0 and 1, and power is above the level: got {level} and {power}"
        )
    planned = _planned(pilot, level, sets, cases)
    low, high = 0.0, float(planned.errors.min())
    while planned.chance(high) < power:
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if planned.chance(middle) >= power else (middle, high)
    return (low + high) / 2


@dataclass(frozen=True)
class _Planned:
    """Standard errors that the difference may have, thresholds it must pass, and the weights of these."""

    errors: FloatArray
    thresholds: FloatArray
    weights: FloatArray

    def chance(self, difference: float) -> float:
        """Chance of a claim, in either direction."""
        from scipy.special import ndtr

        up = ndtr((difference - self.thresholds) / self.errors)
        down = ndtr((-difference - self.thresholds) / self.errors)
        return float((self.weights * (up + down)).sum())


def _planned(pilot: Pilot, level: float, sets: int | None, cases: float | None) -> _Planned:
    """The next experiment over all that it may find and that the pilot leaves open.

    Axes: what the pilot does not know of A and of C, then what the experiment will find of either.
    """
    sets = pilot.training_sets if sets is None else sets
    if sets < 2 or pilot.training_sets < 2:
        raise StatisticsError(f"a plan and its pilot have two training sets at least: got {sets} and {pilot}")
    growth = 1.0 if cases is None else cases / pilot.test_cases
    own_df = pilot.own_df_of(sets)
    (unknown, unknown_weights), (found, found_weights) = _nodes(pilot.df), _nodes(own_df)
    between = _between(pilot, unknown, growth)[:, None, None, None]
    shared = _shared(pilot, sets, growth)
    own, prior = found[:, None], pilot.prior_df_of(sets)
    drawn = (prior + own_df * own) / (prior + own_df)
    moderated = np.maximum(between * drawn, pilot.within / growth if pilot.guard else 0.0)
    thresholds = shared.reach((moderated, prior + own_df), level / pilot.pairs)
    if pilot.guard:
        guarded = shared.reach((between * own, own_df), min(level / pilot.guard, 1.0))
        thresholds = np.maximum(thresholds, guarded)
    errors = np.sqrt((between + shared.true) / sets)
    weights = np.einsum("i,jl,k->ijkl", unknown_weights, shared.weights, found_weights)
    return _Planned(errors, thresholds / sqrt(sets), weights)


def _between(pilot: Pilot, unknown: FloatArray, growth: float) -> FloatArray:
    """True A at each node of what is unknown; with `growth` times the test cases E falls, the rest stays."""
    true = pilot.variance / unknown
    return np.asarray(true if growth == 1 else np.maximum(true - pilot.within, 0.0) + pilot.within / growth)


@dataclass(frozen=True)
class _SharedCases:
    """What common test cases add: true C/J, what will be found of it, weights, and its degrees of freedom."""

    true: FloatArray
    found: FloatArray
    weights: FloatArray
    df: float | None

    def reach(self, sets: tuple[FloatArray, float], level: float) -> FloatArray:
        """Half widths of the family's test, times √I: those of `two_t_half_width`, by interpolation."""
        from scipy.special import stdtrit

        variances, df = sets
        squared = variances * stdtrit(df, 1 - level / 2) ** 2
        if self.df is None:
            return np.asarray(np.sqrt(squared))
        squared = squared + self.found * stdtrit(self.df, 1 - level / 2) ** 2
        shares = self.found / (variances + self.found)
        return np.asarray(
            np.sqrt(squared) * np.interp(shares, SHARES, _shrinkage(df, _rounded(self.df, 2), level))
        )


def _shared(pilot: Pilot, sets: int, growth: float) -> _SharedCases:
    """MS_b has C's degrees of freedom, in the pilot and in the next experiment; MS_ε is taken as known."""
    one = np.ones((1, 1, 1, 1))
    if pilot.shared is None:
        return _SharedCases(0 * one, 0 * one, np.ones((1, 1)), None)
    nodes, unknown = _nodes(pilot.shared_df)
    whole = (pilot.shared + pilot.within) / nodes
    true = np.maximum(whole - pilot.within, 0.0) * sets / pilot.training_sets / growth
    true, residual = true[:, None, None], pilot.within / growth
    later_df = growth * pilot.test_cases - 1 if pilot.case_df is None else growth * pilot.case_df
    later, weights = _nodes(later_df)
    found = np.maximum((true + residual) * later - residual, 0.0)
    return _SharedCases(true, found, np.outer(unknown, weights), later_df)


def chi_square_nodes(df: float, fineness: float, depth: float = 16.0) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for averages over a chi-square divided by its degrees of freedom.

    The trapezium rule in the logarithm, in steps that are `fineness` of a standard deviation, as far as the
    density exceeds e^−depth of its greatest value (Trefethen and Weideman 2014). Power is good to 0.0005.
    """
    step = fineness * min(0.7, sqrt(2 / df))
    edge = 2 * depth / df
    reach = edge + sqrt(2 * edge)
    log = np.arange(-reach, np.log1p(reach) + step, step)
    weights = np.exp(df / 2 * (log - np.exp(log) + 1))
    return np.exp(log), weights / weights.sum()


@lru_cache(maxsize=512)
def _nodes(df: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for averages over a chi-square divided by its degrees of freedom.

    The trapezium rule where these are few; else Gauss's quadrature by the eigenvalues of Laguerre's
    recurrence (Golub and Welsch 1969, Mathematics of Computation 23:221–230), of which few nodes do.
    """
    if df < FEW_DF:
        return chi_square_nodes(df, 0.8, 9.0)
    count = max(int(np.ceil(28 / sqrt(df))), 2)
    order, alpha = np.arange(count, dtype=np.float64), df / 2 - 1
    beside = np.sqrt(order[1:] * (order[1:] + alpha))
    matrix = np.diag(2 * order + 1 + alpha) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return 2 * nodes / df, np.square(vectors[0])


@lru_cache(maxsize=512)
def _shrinkage(df: float, cases_df: float, level: float) -> FloatArray:
    """Half widths of √(1−s)·T + √s·T′ over √((1−s)t² + s·t′²), t and t′ those of one alone, for `SHARES` s.

    The tail is that of T given T′, averaged over T′ by the trapezium rule; then bisection.
    """
    from scipy.special import stdtr, stdtrit

    one, other = (stdtrit(k, 1 - level / 2) for k in (df, cases_df))
    shares = SHARES[1:-1, None]
    plain = np.sqrt((1 - shares) * one**2 + shares * other**2)
    points = np.linspace(-1.0, 1.0, 65) * stdtrit(cases_df, 1 - level / 2000)
    weights = (1 + points**2 / cases_df) ** (-(cases_df + 1) / 2)
    low, high = np.full_like(shares, 0.7), np.full_like(shares, 1.05)
    for _ in range(9):
        middle = (low + high) / 2
        tails = stdtr(df, (np.sqrt(shares) * points - middle * plain) / np.sqrt(1 - shares))
        outside = 2 * (tails @ weights)[:, None] / weights.sum() > level
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return np.concatenate([[1.0], (low + high)[:, 0] / 2, [1.0]])
