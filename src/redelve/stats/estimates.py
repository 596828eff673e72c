"""The values that the analyses return: estimates with their uncertainty and their caveats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import cautious_half_width, t_quantile

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
        """Confidence interval for the difference; it leaves out zero exactly when `p_value` < 1 − level."""
        return self.differences.interval(level)


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of training sets, test cases (common only) and residual (manual eqs. 5, 6, 14–16)."""

    training_sets: float
    test_cases: float | None
    residual: float | None


@dataclass(frozen=True)
class Analysis:
    """An expected loss (or expected difference) with its uncertainty and where that comes from.

    What is undefined is None: everything but the mean when a loss is infinite, and the mean as well when
    infinities of both signs meet. `test_cases` is None when test sets differ in size, and then
    `effective_test_cases` is their harmonic mean. `standard_error` is DELVE's, with negative variances set to
    zero; `interval_standard_error` is what interval and test rest on, with `degrees_of_freedom`, which may be
    infinite: √(MS_a/(IJ)) (hierarchical) or √((MS_a + max(MS_b − MS_ε, 0))/(IJ)) (common).
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

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the mean by the t distribution (manual eq. 9; Hillis 2007), or None."""
        return t_interval(self.mean, self.interval_standard_error, self.degrees_of_freedom, level)

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

    def crossed_mean_squares(self) -> tuple[float, float, float] | None:
        """Mean squares of training sets, test cases and residual; None unless all three are defined."""
        squares = self.mean_squares
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


def t_interval(mean: float | None, error: float | None, df: float | None, level: float) -> Interval | None:
    """The mean and, to either side, so many standard errors as the t distribution asks for."""
    check_level(level)
    if mean is None or error is None or df is None:
        return None
    width = float(t_quantile(df, level)) * error
    return mean - width, mean + width
