"""Analyses of pseudo-values: fewer degrees of freedom where few cases count, intervals that keep their range.

A metric of a rare class rests on the few cases of that class: the variance over cases is then known worse
than their number says, which the kurtosis of the case means shows (`pseudo_values.kurtosis_df`). Intervals of
shares are Wilson's (1927, Journal of the American Statistical Association 22:209–212) with the number of
cases that has the standard error found (as Korn and Graubard 1998, Survey Methodology 24:193–201), or
symmetric in logits; those of RMSE and log loss in logarithms (delta method; Oehlert 1992). Measured:
docs/calibration.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Literal

import numpy as np

from redelve.stats.estimates import Analysis, Comparison, Interval, check_level
from redelve.stats.families import PairSquares, Places
from redelve.stats.grouped import scaled_interval
from redelve.stats.mean_squares import FloatArray, crossed_variance, f_p_value, t_quantile, two_t_p_value
from redelve.stats.pseudo_values import kurtosis_df
from redelve.stats.seed_runs import RunsAnalysis

FEW_EFFECTIVE = 20.0
"""Below so many cases over their kurtosis, Wilson's number of cases is kept to some of the smallest class."""
STEP = 1.1
"""The ratio of neighbouring degrees of freedom that pairs of methods may have."""
CASES_FOR_EACH = 3.0
"""That many for each case of the smallest class."""


def case_means(tables: Sequence[FloatArray]) -> FloatArray:
    """The mean of every case over training sets and runs; `tables` hold runs × cases, one for each set."""
    return np.asarray(np.mean([table.mean(axis=0) for table in tables], axis=0))


def with_case_df(found: Analysis, df: float) -> Analysis:
    """The same where what cases make vary is known with so many degrees of freedom."""
    if found.degrees_of_freedom is None:
        return found
    squares = found.crossed_mean_squares()
    if squares is None:
        return replace(found, degrees_of_freedom=min(df, found.degrees_of_freedom), df_by_level=None)
    _, both = crossed_variance(squares, (found.training_sets, df + 1))  # type: ignore[arg-type]
    return replace(found, degrees_of_freedom=float(both))


def runs_with_case_df(found: RunsAnalysis, df: float) -> RunsAnalysis:
    """The same for losses of several runs."""
    return replace(found, averaged=with_case_df(found.averaged, df))


def comparison_with_case_df(found: Comparison, df: float) -> Comparison:
    """The test with so many degrees of freedom of what cases make vary."""
    differences = with_case_df(found.differences, df)
    mean, error, degrees = (
        differences.mean,
        differences.interval_standard_error,
        differences.degrees_of_freedom,
    )
    if mean is None or not error or degrees is None:
        return replace(found, differences=differences)
    t = mean / error
    p_value = float(f_p_value(t * t, 1.0, degrees))
    cautious = p_value
    if (squares := differences.crossed_mean_squares()) is not None:
        sets = np.array([squares[0]]), np.array([differences.training_sets - 1.0])
        cases = np.array([max(squares[1] - squares[2], 0.0)]), np.array([df])
        scaled = np.array([differences.training_sets * differences.effective_test_cases * mean**2])
        cautious = float(two_t_p_value(scaled, sets, cases)[0])
    statistic = t * t if found.test == "F-test" else t
    told = {"statistic": statistic, "df1": 1.0, "df2": degrees, "p_value": p_value}
    return replace(found, differences=differences, cautious_p_value=cautious, quasi_f=None, **told)  # type: ignore[arg-type]


def withheld(found: Comparison, reason: str) -> Comparison:
    """The same without a test or an interval, and why."""
    differences = replace(
        found.differences,
        interval_standard_error=None,
        degrees_of_freedom=None,
        caveats=(reason, *found.differences.caveats),
    )
    none = {"statistic": None, "df1": None, "df2": None, "p_value": None, "cautious_p_value": None}
    return replace(found, differences=differences, quasi_f=None, **none)  # type: ignore[arg-type]


def pairs_with_case_df(squares: PairSquares, means: FloatArray, places: Places) -> PairSquares:
    """The same for all pairs at once; `means` are those of every method's cases.

    Degrees of freedom are rounded down to steps of a tenth: pairs that share theirs are worked on together.
    """
    several = zip(*places, strict=True)
    df = np.array([kurtosis_df(means[first] - means[second]) for first, second in several])
    return replace(squares, case_df=np.minimum(df, STEP ** np.floor(np.log(df) / np.log(STEP))))


@dataclass(frozen=True)
class MetricInterval:
    """How the interval of one expected metric is made, as a loss; `span` is the largest loss of a share."""

    scale: Literal["plain", "share", "log"]
    by_wilson: bool = False
    """Cases are shared by all training sets, or there is one: their number is what limits."""
    span: float = 1.0
    smallest: int | None = None
    """Cases, or groups, of the smallest class."""
    effective: float = inf
    """Cases over the kurtosis of their means."""
    why_not: str | None = None
    """Why there is none."""

    def of(self, mean: float | None, error: float | None, df: float | None, level: float) -> Interval | None:
        """The interval, or None."""
        check_level(level)
        if self.why_not is not None or mean is None:
            return None
        if self.scale == "share" and self.by_wilson:
            low, high = self._wilson(mean / self.span, (error or 0.0) / self.span, df, level)
            return low * self.span, high * self.span
        if self.scale == "share":
            share = scaled_interval(
                mean / self.span, None if error is None else error / self.span, df, level, "logit"
            )
            return None if share is None else (share[0] * self.span, share[1] * self.span)
        return scaled_interval(mean, error, df, level, self.scale)

    def _wilson(self, mean: float, error: float, df: float | None, level: float) -> Interval:
        """Wilson's interval with the number of cases that the standard error is of."""
        most = CASES_FOR_EACH * (self.smallest or inf)
        share = min(max(mean, 0.0), 1.0)
        if not error or df is None or not 0 < share < 1:
            t, cases = float(t_quantile(inf, level)), most
        else:
            t, cases = float(t_quantile(df, level)), share * (1 - share) / error**2
            cases = min(cases, most) if self.effective < FEW_EFFECTIVE else cases
        part = t * t / cases
        middle = (share + part / 2) / (1 + part)
        width = t / (1 + part) * sqrt(share * (1 - share) / cases + part / (4 * cases))
        return middle - width, middle + width
