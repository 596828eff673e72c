"""The values that the analyses return: estimates with their uncertainty, and what must be said beside them.

`Components` tell where the variation of the differences between two methods comes from; `power` plans with
them (docs/comparisons.md). The percentages in the caveats are the largest levels measured with Gaussian
losses (docs/calibration.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import cautious_half_width, t_quantile
from redelve.stats.skewed_means import skewed_interval

if TYPE_CHECKING:
    from redelve.stats.pseudo_analyses import MetricInterval
    from redelve.stats.seed_runs import RunsAnalysis

LIBERAL = {2: "9.1", 3: "6.2"}
"""Largest measured level, in per cent at nominal 5 %, of the F-test for a common test set."""

CRITICAL = {2: "12.7", 3: "4.3"}
"""Two-sided 5 % points of the t distribution, by number of training sets."""

FEW_TEST_CASES = 20

NO_VARIATION = (
    "the losses do not vary beyond rounding error: no test or interval is defined, and a standard error of "
    "zero does not mean that the estimate is exact"
)
TIED_MEANS = (
    "the means of the training sets tie although the losses vary: interval and test take what the residual "
    "makes them vary by"
)
OVERFLOW = "the losses are so large that sums or squares overflow: no uncertainty can be computed"
NO_RESIDUAL = (
    "one value per training set: variation from training sets cannot be told from that of test cases, and "
    "the standard error is that of the training-set means"
)
UNEQUAL_TEST_SETS = (
    "test sets differ in size: the mean is the unweighted mean over training sets, and the t distribution is "
    "an approximation when the sizes are very unequal"
)
RUNS_AVERAGED = (
    "the seeds of two methods are not paired, so the differences are between losses averaged over the runs; "
    "the variation that the seeds leave after averaging counts as that of training sets and residual"
)


def negative_variances(variances: Mapping[str, float]) -> tuple[str, ...]:
    """Differences of mean squares that came out below zero, as often where a source has no effect."""
    below = [source for source, variance in variances.items() if variance < 0]
    if not below:
        return ()
    return (
        f"the variance estimated for {' and '.join(below)} is negative and is given as zero; the standard "
        "error is then larger than what the test and the interval rest on",
    )


def infinite_losses(count: int) -> str:
    """Some losses are infinite, as the log loss of a target that was given probability zero."""
    return f"{count} infinite loss{'es' if count != 1 else ''}: nothing but the mean is defined"


def few_training_sets(training_sets: int) -> tuple[str, ...]:
    """One or two degrees of freedom: exact for Gaussian losses, and nearly powerless."""
    if training_sets not in CRITICAL:
        return ()
    return (
        f"only {training_sets} training sets: interval and test are exact for Gaussian losses but nearly "
        f"powerless (p < 0.05 needs a difference of {CRITICAL[training_sets]} standard errors), and with so "
        "few their level for losses of other shapes cannot be relied on",
    )


def few_sets_or_cases(training_sets: int, test_cases: int) -> tuple[str, ...]:
    """Approximate degrees of freedom are too many when either mean square has few of its own."""
    found = []
    if training_sets in LIBERAL:
        found.append(
            f"only {training_sets} training sets: a 95 % interval misses the truth, and a 5 % test rejects a "
            f"true hypothesis, up to {LIBERAL[training_sets]} % of the time with Gaussian losses and more "
            "often with skewed ones; the cautious interval and p-value keep to 5 % with Gaussian losses, at "
            "the price of power"
        )
    if test_cases < FEW_TEST_CASES:
        found.append(
            f"only {test_cases} test cases or units: where these vary much, interval and test err more often "
            "than they say (with 5 of them up to 8 %, with 10 up to 7 % instead of 5 %)"
        )
    return tuple(found)


Scheme = Literal["hierarchical", "common"]
Interval = tuple[float, float]


class Estimate(Protocol):
    """An expected loss, or expected difference of losses, with its uncertainty; None is undefined."""

    @property
    def mean(self) -> float | None:
        """The estimate."""

    @property
    def standard_error(self) -> float | None:
        """Its standard error."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be said beside it."""

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval, or None."""


Differences = TypeVar("Differences", bound=Estimate)


@dataclass(frozen=True)
class Paired(Generic[Differences]):
    """Two methods on the same data: their means, and the analysis of the differences, first minus second."""

    mean_first: float | None
    mean_second: float | None
    differences: Differences

    @property
    def difference(self) -> float | None:
        """Expected loss of the first method minus that of the second."""
        return self.differences.mean

    @property
    def standard_error(self) -> float | None:
        """Standard error of the difference."""
        return self.differences.standard_error

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be said beside the p-value and the interval."""
        return self.differences.caveats

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference; it leaves out zero exactly when `p_value` < 1 − level.

        Where units count differently, the p-value is that of a test at 5 %: the two agree at 95 % alone.
        """
        return self.differences.interval(level)


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of training sets, test cases (common only) and residual (manual eqs. 5, 6, 14–16)."""

    training_sets: float
    test_cases: float | None
    residual: float | None

    def untied(self) -> MeanSquares:
        """That of the residual in place of that of training sets, which has the larger expectation."""
        return self if self.residual is None else replace(self, training_sets=self.residual)


@dataclass(frozen=True)
class Analysis:
    """An expected loss (or expected difference) with its uncertainty and where that comes from.

    What is undefined is None: everything but the mean when a loss is infinite, and the mean as well when
    infinities of both signs meet. `test_cases` is None when test sets differ in size, and then
    `effective_test_cases` is their harmonic mean. `standard_error` is DELVE's, with negative variances set to
    zero; `interval_standard_error` is what interval and test rest on, with `degrees_of_freedom`, which may be
    infinite: √(MS_a/(IJ)) (hierarchical) or √((MS_a + max(MS_b − MS_ε, 0))/(IJ)) (common). Where that is zero
    because the means of the training sets tie though losses vary, MS_ε stands in for MS_a.
    """

    scheme: Scheme
    mean: float | None
    standard_error: float | None
    interval_standard_error: float | None
    degrees_of_freedom: float | None
    sd_training: float | None
    sd_test_cases: float | None
    sd_residual: float | None
    mean_squares: MeanSquares | None
    training_sets: int
    test_cases: int | None
    effective_test_cases: float
    caveats: tuple[str, ...]
    is_tied: bool = False
    """Whether the means of the training sets tie so that MS_ε stands in for MS_a in interval and test."""
    skewness: float = 0.0
    """κ of the mean, where interval and test allow for it (`skewed_means`)."""
    df_by_level: Callable[[float], float] | None = field(default=None, repr=False, compare=False)
    """Where units count differently: degrees of freedom by the level of a test; those above are of 5 %."""

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the mean by the t distribution (manual eq. 9; Hillis 2007), or None."""
        check_level(level)
        error, df = self.interval_standard_error, self.degrees_of_freedom
        if df is not None and self.df_by_level is not None:
            df = self.df_by_level(round(1 - level, 12))
        found = t_interval(self.mean, error, df, level)
        if not self.skewness or found is None or self.mean is None or error is None:
            return found
        return skewed_interval(self.mean, found[1] - self.mean, error, self.skewness)

    def cautious_interval(self, level: float = 0.95) -> Interval | None:
        """Wider interval for the common scheme that keeps its level with few training sets or test cases.

        It holds the values that `mean_squares.cautious_p_value` does not reject (Tsui and Weerahandi 1989).
        In the hierarchical scheme it is `interval`.
        """
        check_level(level)
        squares = self.crossed_mean_squares()
        if self.mean is None or self.degrees_of_freedom is None or squares is None or self.test_cases is None:
            return self.interval(level)
        shape = (self.training_sets, self.test_cases)
        width = cautious_half_width(squares, shape, level)
        return self.mean - width, self.mean + width

    def tested_mean_squares(self) -> MeanSquares | None:
        """Mean squares that interval and test rest on."""
        return self.mean_squares.untied() if self.is_tied and self.mean_squares else self.mean_squares

    def crossed_mean_squares(self) -> tuple[float, float, float] | None:
        """Those of training sets, test cases and residual; None unless all three are defined."""
        squares = self.tested_mean_squares()
        if squares is None or squares.test_cases is None or squares.residual is None:
            return None
        return squares.training_sets, squares.test_cases, squares.residual


@dataclass(frozen=True)
class QuasiF:
    """The test that DELVE's mstats reports for a common test set (manual eqs. 19–21), to compare with it."""

    statistic: float
    df1: float
    df2: float
    p_value: float


@dataclass(frozen=True)
class Comparison(Paired[Analysis]):
    """Two methods on the same training and test sets: `differences` are of losses, first minus second.

    `p_value` is two-sided, for the hypothesis that the expected difference is zero; None where undefined. For
    the t-test `statistic` is t itself, df1 is 1, `cautious_p_value` equals `p_value` and `quasi_f` is None.
    """

    test: Literal["t-test", "F-test"]
    statistic: float | None = None
    df1: float | None = None
    df2: float | None = None
    p_value: float | None = None
    cautious_p_value: float | None = None
    quasi_f: QuasiF | None = None

    def cautious_interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval that belongs to `cautious_p_value`."""
        return self.differences.cautious_interval(level)


def check_level(level: float) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise StatisticsError(f"the level of an interval lies between 0 and 1, as 0.95: got {level}")


def clipped(interval: Interval | None, limits: Interval) -> Interval | None:
    """The part of an interval that is possible; it holds the truth exactly as often.

    >>> clipped((-0.1, 0.3), (0.0, 1.0))
    (0.0, 0.3)
    """
    if interval is None:
        return None
    low, high = (min(max(end, limits[0]), limits[1]) for end in interval)
    return low, high


def possible_interval(
    found: Estimate, limits: Interval, scale: MetricInterval | None, level: float = 0.95
) -> Interval | None:
    """The part of an estimate's interval that is possible; a metric's is made on a scale of its own."""
    if scale is None:
        return clipped(found.interval(level), limits)
    whole = getattr(found, "averaged", found)
    error = getattr(whole, "interval_standard_error", whole.standard_error)
    df: float | None = getattr(found, "degrees_of_freedom", None)
    return clipped(scale.of(found.mean, error, df, level), limits)


def t_interval(mean: float | None, error: float | None, df: float | None, level: float) -> Interval | None:
    """The mean and, to either side, so many standard errors as the t distribution asks for."""
    check_level(level)
    if mean is None or error is None or df is None:
        return None
    width = float(t_quantile(df, level)) * error
    return mean - width, mean + width


ONE_VALUE = (
    "one value per training set: the variation of test cases cannot be told from that of training sets, so "
    "nothing can be said about other numbers of test cases"
)
SEEDS_INSIDE = "one run per training set: what seeds do is counted with the training sets"


@dataclass(frozen=True)
class Components:
    """Variances of the differences between two methods, by source.

    The mean over I training sets, J test cases and R runs has variance
    (training_sets + seeds/R + (residual + seeds_by_cases/R)/J)/I + test_cases/J, the last term only where all
    training sets share the test cases. `degrees_of_freedom` says how well the whole is known: infinite for
    variances that are assumed, not estimated.
    """

    scheme: Scheme
    training_sets: float
    residual: float
    test_cases: float = 0.0
    seeds: float = 0.0
    seeds_by_cases: float = 0.0
    degrees_of_freedom: float = inf
    caveats: tuple[str, ...] = ()

    def averaged(self, runs: int) -> tuple[float, float, float]:
        """Variances of training sets, test cases and residual of losses averaged over the runs."""
        shared = self.test_cases if self.scheme == "common" else 0.0
        return self.training_sets + self.seeds / runs, shared, self.residual + self.seeds_by_cases / runs

    def scale_range(self) -> Interval:
        """By what factors a true standard error may differ, at the ends of a 95 % interval for a variance.

        √(df/χ²) at the 97.5 % and 2.5 % points of chi-square, for Gaussian losses (Scheffé 1959, chapter 7);
        rough where the planned design differs from the one that gave the estimates.
        """
        from scipy.special import chdtri

        df = self.degrees_of_freedom
        if not isfinite(df):
            return 1.0, 1.0
        return sqrt(df / float(chdtri(df, 0.025))), sqrt(df / float(chdtri(df, 0.975)))


def estimate_components(comparison: Comparison) -> Components:
    """Components of the differences from their mean squares (manual eqs. 5–7, 14–17); none below zero."""
    inside = comparison.differences
    squares = inside.mean_squares
    if squares is None or inside.degrees_of_freedom is None:
        raise StatisticsError(f"this comparison has no variance components: {'; '.join(inside.caveats)}")
    sets, cases, df = inside.training_sets, inside.effective_test_cases, inside.degrees_of_freedom
    if squares.residual is None:
        whole = Components(inside.scheme, squares.training_sets / cases, 0.0)
        return _estimated(whole, df, (ONE_VALUE, SEEDS_INSIDE))
    training = (squares.training_sets - squares.residual) / cases
    shared = 0.0 if squares.test_cases is None else (squares.test_cases - squares.residual) / sets
    found = Components(inside.scheme, max(training, 0.0), squares.residual, max(shared, 0.0))
    return _estimated(found, df, (*_negative(training_sets=training, test_cases=shared), SEEDS_INSIDE))


def estimate_components_of_runs(
    comparison: Comparison, first: RunsAnalysis, second: RunsAnalysis
) -> Components:
    """Components with those of the seeds apart, for plans with another number of runs.

    `comparison` is of the losses averaged over runs, `first` and `second` the analyses of either method.
    Seeds are not paired, so their variances add up; divided by the runs they are taken out of the training
    sets and the residual of the averaged differences (expected mean squares, docs/statistics.md).
    """
    whole = estimate_components(comparison)
    if first.variances is None or second.variances is None:
        raise StatisticsError(f"runs without variances: {'; '.join((*first.caveats, *second.caveats))}")
    both = ((first.variances, first.runs), (second.variances, second.runs))
    training = whole.training_sets - sum(max(v.seeds, 0.0) / runs for v, runs in both)
    residual = whole.residual - sum(v.residual / runs for v, runs in both)
    found = Components(
        scheme=whole.scheme,
        training_sets=max(training, 0.0),
        residual=max(residual, 0.0),
        test_cases=whole.test_cases,
        seeds=sum(max(v.seeds, 0.0) for v, _ in both),
        seeds_by_cases=sum(v.residual for v, _ in both),
    )
    return _estimated(found, whole.degrees_of_freedom, _negative(training_sets=training, residual=residual))


def _estimated(components: Components, df: float, caveats: tuple[str, ...]) -> Components:
    known = replace(components, degrees_of_freedom=df)
    low, high = known.scale_range()
    rough = (
        f"the variances are estimates with about {df:.3g} degrees of freedom: true standard errors may be "
        f"{low:.2g} to {high:.2g} times those given (95 % interval for Gaussian losses)"
    )
    return replace(known, caveats=(rough, *caveats) if isfinite(df) else caveats)


def _negative(**variances: float) -> tuple[str, ...]:
    below = [name.replace("_", " ") for name, variance in variances.items() if variance < 0]
    if not below:
        return ()
    return (f"the variance estimated for {' and '.join(below)} is negative and is taken as zero",)
