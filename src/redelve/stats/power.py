"""How large an experiment must be: power and smallest detectable difference from variance components.

The tests are those of `anova`; power is computed for these very tests and Gaussian losses, by averaging over
the distribution of their mean squares. See docs/comparisons.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.assurance import MOST, chi_square_nodes, least_number
from redelve.stats.estimates import Components, Interval, few_sets_or_cases, few_training_sets
from redelve.stats.mean_squares import FloatArray, crossed_variance, t_quantile

GAUSSIAN = "power is for Gaussian losses; skewed or heavy-tailed ones need more data"


@dataclass(frozen=True)
class PlannedExperiment:
    """Sizes of an experiment; in the hierarchical scheme `test_cases` are those of one training set."""

    training_sets: int
    test_cases: int
    runs: int = 1


@dataclass(frozen=True)
class Goal:
    """A true difference of expected losses that the test at `level` should find with chance `power`."""

    difference: float
    power: float = 0.8
    level: float = 0.05


@dataclass(frozen=True)
class Power:
    """Chance that a planned experiment finds a difference, with the standard error it will have.

    The ranges belong to a 95 % interval for the variance (`Components.scale_range`): what is true if the
    components are as wrong as they may well be.
    """

    power: float
    power_range: Interval
    standard_error: float
    standard_error_range: Interval
    degrees_of_freedom: float
    difference: float
    level: float
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class Detectable:
    """Smallest difference that a planned experiment finds with the given power; ranges as in `Power`."""

    difference: float
    difference_range: Interval
    standard_error: float
    degrees_of_freedom: float
    power: float
    level: float
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class Needed:
    """Smallest number (of training sets or test cases) that is enough; None where no number is.

    `low` and `high` are what would be needed at the ends of the interval for the variance.
    """

    number: int | None
    low: int | None
    high: int | None
    of: str
    caveats: tuple[str, ...]


def standard_error(components: Components, plan: PlannedExperiment) -> float:
    """Standard error of the mean difference in a planned experiment (manual eqs. 3 and 12, with runs)."""
    training, cases, residual = components.averaged(plan.runs)
    return sqrt((training + residual / plan.test_cases) / plan.training_sets + cases / plan.test_cases)


def power(
    components: Components, plan: PlannedExperiment, difference: float, *, level: float = 0.05
) -> Power:
    """Chance that the test of a planned experiment has p < `level` if the true difference is `difference`.

    The mean is normal and independent of the mean squares, which are multiples of chi-squares (Scheffé 1959,
    chapter 7); averaging a normal tail over them is the noncentral t distribution in the hierarchical scheme
    and its like for the F-test in the common one.

    >>> round(power(Components("hierarchical", 1.0, 0.0), PlannedExperiment(8, 1), 1.0).power, 3)
    0.681
    """
    test = _planned(components, plan, level)
    low, high = components.scale_range()
    return Power(
        power=test.chance(difference),
        power_range=(test.chance(difference / high), test.chance(difference / low)),
        standard_error=test.error,
        standard_error_range=(low * test.error, high * test.error),
        degrees_of_freedom=test.df,
        difference=difference,
        level=level,
        caveats=_caveats(components, plan),
    )


def detectable_difference(
    components: Components, plan: PlannedExperiment, *, power: float = 0.8, level: float = 0.05
) -> Detectable:
    """Smallest true difference that a planned experiment finds with the given power, by bisection."""
    _check_goal(Goal(1.0, power, level))
    test = _planned(components, plan, level)
    low, high = 0.0, test.error
    while test.chance(high) < power:
        low, high = high, 2 * high
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if test.chance(middle) >= power else (middle, high)
    down, up = components.scale_range()
    spread = (down * high, up * high)
    return Detectable(high, spread, test.error, test.df, power, level, _caveats(components, plan))


def training_sets_needed(components: Components, plan: PlannedExperiment, goal: Goal) -> Needed:
    """Smallest number of training sets that meets the goal; all other sizes are those of the plan."""
    return _needed(
        components, lambda n: PlannedExperiment(n, plan.test_cases, plan.runs), goal, "training sets"
    )


def cases_needed(components: Components, plan: PlannedExperiment, goal: Goal) -> Needed:
    """Smallest number of test cases that meets the goal; all other sizes are those of the plan."""
    return _needed(
        components, lambda n: PlannedExperiment(plan.training_sets, n, plan.runs), goal, "test cases"
    )


@dataclass(frozen=True)
class _PlannedTest:
    """A test that rejects when the mean is beyond a threshold, which is random, with these weights."""

    error: float
    df: float
    thresholds: FloatArray
    weights: FloatArray

    def chance(self, difference: float) -> float:
        """Chance of rejecting when the true mean is `difference`, in either direction."""
        from scipy.special import ndtr

        up = ndtr((difference - self.thresholds) / self.error)
        down = ndtr((-difference - self.thresholds) / self.error)
        return float(self.weights @ (up + down))


def _planned(components: Components, plan: PlannedExperiment, level: float) -> _PlannedTest:
    """The planned test, with its threshold over the joint distribution of the mean squares."""
    simple = _as_if_t(components, plan, level)
    if components.scheme == "hierarchical":
        return simple
    training, cases, residual = components.averaged(plan.runs)
    sets, many = plan.training_sets, plan.test_cases
    expected = (many * training + residual, sets * cases + residual, residual)
    dfs = (sets - 1, many - 1, (sets - 1) * (many - 1))
    # two training sets: MS_a may be tiny, and then the corner of max(MS_b − MS_ε, 0) needs many nodes
    finenesses = (0.4, 0.2, 0.5) if sets == 2 else (0.4, 0.6, 0.9)
    nodes = [chi_square_nodes(df, fine) for df, fine in zip(dfs, finenesses, strict=True)]
    grid = np.meshgrid(*(e * node for e, (node, _) in zip(expected, nodes, strict=True)), indexing="ij")
    variance, df = crossed_variance((grid[0], grid[1], grid[2]), (sets, many))
    thresholds = t_quantile(np.minimum(df, 1e9), 1 - level) * np.sqrt(variance / (sets * many))
    weights = np.einsum("i,j,k->ijk", *(weight for _, weight in nodes))
    return _PlannedTest(simple.error, simple.df, thresholds.ravel(), weights.ravel())


def _as_if_t(components: Components, plan: PlannedExperiment, level: float) -> _PlannedTest:
    """A t-test with the true variance's degrees of freedom: exact in the hierarchical scheme."""
    _check_goal(Goal(1.0, (1 + level) / 2, level))
    _check_plan(components, plan)
    training, cases, residual = components.averaged(plan.runs)
    sets, many = plan.training_sets, plan.test_cases
    df = float(sets - 1)
    if components.scheme == "common":
        expected = (many * training + residual, sets * cases + residual, residual)
        df = float(crossed_variance(expected, (sets, many))[1])
    error = standard_error(components, plan)
    nodes, weights = chi_square_nodes(df, 0.1)
    return _PlannedTest(error, df, float(t_quantile(df, 1 - level)) * error * np.sqrt(nodes), weights)


def _needed(
    components: Components, plan_of: Callable[[int], PlannedExperiment], goal: Goal, of: str
) -> Needed:
    _check_goal(goal)
    low, high = components.scale_range()

    def least(scale: float) -> int | None:
        difference = goal.difference / scale

        def meets(n: int, test: Callable[[Components, PlannedExperiment, float], _PlannedTest]) -> bool:
            return test(components, plan_of(n), goal.level).chance(difference) >= goal.power

        guess = least_number(lambda n: meets(n, _as_if_t))
        return least_number(lambda n: meets(n, _planned), guess or MOST)

    number = least(1.0)
    ends = (number, number) if low == high else (least(low), least(high))
    return Needed(number, *ends, of, _caveats(components, plan_of(number or MOST)))


def _caveats(components: Components, plan: PlannedExperiment) -> tuple[str, ...]:
    if components.scheme == "common":
        planned = few_sets_or_cases(plan.training_sets, plan.test_cases)
    else:
        planned = few_training_sets(plan.training_sets)
    return (*components.caveats, GAUSSIAN, *planned)


def _check_goal(goal: Goal) -> None:
    if not 0 < goal.level < goal.power < 1:
        raise StatisticsError(
            "level and power lie between 0 and 1, and power is above the level: "
            f"got level {goal.level} and power {goal.power}"
        )
    if not (isfinite(goal.difference) and goal.difference > 0):
        raise StatisticsError(f"the difference to be detected is above 0: got {goal.difference}")


def _check_plan(components: Components, plan: PlannedExperiment) -> None:
    least = 2 if components.scheme == "common" else 1
    if plan.training_sets < 2 or plan.test_cases < least or plan.runs < 1:
        raise StatisticsError(
            f"a plan has two training sets, test cases ({least}) and a run at least: got {plan}"
        )
    if not standard_error(components, plan) > 0:
        raise StatisticsError(f"the variances must not all be zero: got {components}")
