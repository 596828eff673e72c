"""One training set and one test set: what can be said of methods on this partition, and no more.

Losses are a table of runs × test cases. Runs with different seeds take the place that training sets have in
the common scheme, y_rj = μ + s_r + b_j + ε_rj, so estimates and tests are for new seeds and new test cases
with *this* training set. How much another training set would change can't be told from one.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, isnan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.anova import ROUNDING, analyse_common, compare_common
from redelve.stats.case_pairs import LEVEL, df_by_level, pairs_of_cases
from redelve.stats.estimates import Analysis, Comparison
from redelve.stats.mean_squares import FloatArray, row_means, t_test
from redelve.stats.skewed_means import allowed_t

THIS_TRAINING_SET = (
    "one training set: interval and test are about methods trained on these very cases; how much another "
    "training set would change is in no standard error"
)
ONE_RUN = "one run: what another seed would change is in no standard error either"
UNPAIRED_SEEDS = "runs of two methods are paired by their number, though their seeds have nothing in common"


def analyse_partition(losses: ArrayLike) -> Analysis:
    """Expected loss on new test cases, given the training set; `sd_training` is what the seeds do.

    >>> round(analyse_partition([[0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 1, 0]]).mean, 4)
    0.4167
    """
    table = _checked(losses)
    if len(table) == 1:
        return _of_cases(table[0])
    return _told(analyse_common(table), (THIS_TRAINING_SET,))


def compare_partition(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Two methods trained on the same cases: paired by test case, with seeds as a source of variation.

    Of the method with more runs only as many are used as the other has.
    """
    one, two = _checked(first), _checked(second)
    if one.shape[1] != two.shape[1]:
        raise StatisticsError(
            f"the methods have losses for {one.shape[1]} and {two.shape[1]} test cases: give the same ones"
        )
    runs = min(len(one), len(two))
    one, two = one[:runs], two[:runs]
    if runs == 1:
        return _paired_cases(one[0], two[0])
    found = compare_common(one, two)
    return replace(found, differences=_told(found.differences, (THIS_TRAINING_SET, UNPAIRED_SEEDS)))


def analyse_cases(losses: ArrayLike, parts: FloatArray | None = None) -> Analysis:
    """Expected loss of a fixed model on new cases: the cases are all that there is a sample of.

    Answers repeated for a case are averaged before; they are no sample of cases. `parts` are those of units
    that count differently (`case_pairs`).

    >>> round(analyse_cases([0, 1, 1, 0, 1]).standard_error, 4)
    0.2449
    """
    values = _checked(losses)[0]
    return replace(_by_parts(_of_cases(values), values, parts), caveats=())


def compare_cases(first: ArrayLike, second: ArrayLike, parts: FloatArray | None = None) -> Comparison:
    """Two fixed models on the same cases: the paired t-test, which allows for skewness (`skewed_means`).

    >>> round(compare_cases([0, 1, 1, 0, 1], [0, 0, 1, 0, 0]).p_value, 4)
    0.1778
    """
    from scipy.special import stdtr

    one, two = _checked(first)[0], _checked(second)[0]
    found = _paired_cases(one, two)
    inside = replace(_by_parts(found.differences, one - two, parts), caveats=())
    error, df = inside.interval_standard_error, inside.degrees_of_freedom
    if inside.mean is None or error is None or df is None:
        return replace(found, differences=inside)
    skewness = pairs_of_cases(np.array([one, two]), ([0], [1]), parts).skewness
    assert skewness is not None
    t = inside.mean / error
    p = 2 * float(stdtr(df, -allowed_t(np.array([t]), skewness)[0]))
    inside = replace(inside, skewness=float(skewness[0]))
    return replace(found, differences=inside, statistic=t, df2=df, p_value=p, cautious_p_value=p)


def _by_parts(found: Analysis, values: FloatArray, parts: FloatArray | None) -> Analysis:
    """The same with the standard error and the degrees of freedom of units that count differently."""
    if parts is None or found.mean is None or found.interval_standard_error is None:
        return found
    residuals = (values - found.mean) / values.size
    error, of_level = sqrt(float((residuals**2 / (1 - parts)).sum())), df_by_level(parts)
    return replace(
        found,
        standard_error=error,
        interval_standard_error=error,
        degrees_of_freedom=of_level(LEVEL),
        df_by_level=of_level,
        sd_test_cases=error * sqrt(values.size),
    )


def _paired_cases(first: FloatArray, second: FloatArray) -> Comparison:
    """One run of each method: the paired t-test over test cases."""
    means = _mean(row_means([first], "first method: ")), _mean(row_means([second], "second method: "))
    with np.errstate(invalid="ignore", over="ignore"):
        differences = _of_cases(first - second, float(max(np.abs(first).max(), np.abs(second).max())))
    mean, error, df = differences.mean, differences.interval_standard_error, differences.degrees_of_freedom
    if mean is None or error is None or df is None:
        return Comparison(*means, differences, "t-test")
    cases = len(first)
    t, df1, df2, p = (float(x) for x in t_test(mean, cases * error**2, (cases, 1.0)))
    return Comparison(*means, differences, "t-test", t, df1, df2, p, p)


def _of_cases(losses: FloatArray, largest: float | None = None) -> Analysis:
    """One run: test cases are all that varies. `largest` is what differences may be rounding errors of."""
    cases = len(losses)
    mean = _mean(row_means([losses]) if largest is None else np.array([losses.sum() / cases]))
    error = None
    if mean is not None and isfinite(mean):
        with np.errstate(over="ignore", invalid="ignore"):  # losses near the largest number there is
            centred = losses - mean
            left = float(centred.sum()) / cases
            mean, squares = mean + left, float(centred @ centred) - cases * left**2
        error = sqrt(max(squares, 0.0) / (cases - 1) / cases)
    size = float(np.abs(losses).max()) if largest is None else largest
    varies = error is not None and isfinite(error) and error > ROUNDING * size
    error = error if error is not None and isfinite(error) else None
    return Analysis(
        scheme="hierarchical",
        mean=mean,
        standard_error=error,
        interval_standard_error=error if varies else None,
        degrees_of_freedom=cases - 1.0 if varies else None,
        sd_training=None,
        sd_test_cases=None if error is None else error * sqrt(cases),
        sd_residual=None,
        mean_squares=None,
        training_sets=1,
        test_cases=cases,
        effective_test_cases=float(cases),
        caveats=(THIS_TRAINING_SET, ONE_RUN),
    )


def _mean(means: FloatArray) -> float | None:
    mean = float(means[0])
    return None if isnan(mean) else mean


def _told(found: Analysis, more: tuple[str, ...]) -> Analysis:
    """The same with other caveats: those on few training sets are on few runs here."""
    own = tuple(caveat.replace("training sets", "runs") for caveat in found.caveats)
    return replace(found, caveats=(*more, *own))


def _checked(losses: ArrayLike) -> FloatArray:
    table = np.atleast_2d(np.asarray(losses, dtype=np.float64))
    if table.ndim != 2 or table.shape[1] < 2:
        raise StatisticsError(
            "losses on one partition are a table of runs × test cases, of at least two test cases: got "
            f"{table.shape}"
        )
    return table
