"""Several runs per training set with different seeds: the analysis that DELVE left for a later version.

Losses are losses[i][r, j]: training set, run, test case; as many runs for each. The manual lumps what seeds
do together with training sets (section 8.1); repeated runs tell them apart. See docs/statistics.md.
In the hierarchical scheme test sets may differ in size; J is then their harmonic mean, as in `mean_squares`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.anova import analyse_common, analyse_hierarchical, compare_common, compare_hierarchical
from redelve.stats.estimates import RUNS_AVERAGED, Analysis, Comparison, Interval, Scheme, negative_variances
from redelve.stats.mean_squares import FloatArray, Losses, crossed_sums, row_means

RunLosses = FloatArray | Sequence[FloatArray] | Sequence[Sequence[Sequence[float]]]


@dataclass(frozen=True)
class RunsTerms:
    """One number per term of the model: mean squares, or variances.

    `test_cases` are within training sets in the hierarchical scheme, where `interaction` is None; in the
    common scheme that is of training set × test case. `residual` is of seed × test case.
    """

    training_sets: float
    seeds: float
    test_cases: float
    interaction: float | None
    residual: float

    @property
    def within(self) -> float:
        """Test cases within training sets: the interaction, or in the hierarchical scheme the test cases."""
        return self.test_cases if self.interaction is None else self.interaction


@dataclass(frozen=True)
class RunsAnalysis:
    """An expected loss over training sets, seeds and test cases, with a standard deviation for each source.

    `averaged` is the analysis of the losses averaged over runs, which gives the interval and its degrees of
    freedom. `variances` are the unbiased estimates, which may be negative; the standard deviations are their
    roots with negative ones set to zero. All but the mean is None when a loss is infinite.
    """

    averaged: Analysis
    runs: int
    standard_error: float | None
    sd_training: float | None
    sd_seed: float | None
    sd_test_cases: float | None
    sd_interaction: float | None
    sd_residual: float | None
    mean_squares: RunsTerms | None
    variances: RunsTerms | None
    caveats: tuple[str, ...]

    @property
    def mean(self) -> float | None:
        """Mean loss over training sets, runs and test cases."""
        return self.averaged.mean

    @property
    def degrees_of_freedom(self) -> float | None:
        """Degrees of freedom of the interval."""
        return self.averaged.degrees_of_freedom

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the expected loss of one run on a new training set and test case."""
        return self.averaged.interval(level)

    def cautious_interval(self, level: float = 0.95) -> Interval | None:
        """Wider interval that keeps its level with few training sets, as `Analysis.cautious_interval`."""
        return self.averaged.cautious_interval(level)


def analyse_runs_hierarchical(losses: RunLosses) -> RunsAnalysis:
    """Expected loss for y_irj = μ + a_i + s_r(i) + b_j(i) + e_irj: a test set for each training set."""
    return _analyse(_checked(losses, at_least=2), "hierarchical")


def analyse_runs_common(losses: RunLosses) -> RunsAnalysis:
    """Expected loss for y_irj = μ + a_i + s_r(i) + b_j + (ab)_ij + e_irj: one test set for all."""
    return _analyse(_checked(losses, at_least=2), "common")


def compare_runs_hierarchical(first: RunLosses, second: RunLosses) -> Comparison:
    """t-test on training-set means of run-averaged differences; the methods may differ in number of runs."""
    return _compare(first, second, compare_hierarchical)


def compare_runs_common(first: RunLosses, second: RunLosses) -> Comparison:
    """F-test of Hillis (2007) on the run-averaged differences; the methods may differ in number of runs."""
    return _compare(first, second, compare_common)


def _compare(
    first: RunLosses, second: RunLosses, compare: Callable[[Losses, Losses], Comparison]
) -> Comparison:
    means = [_averages(_checked(losses, at_least=1)) for losses in (first, second)]
    result = compare(means[0], means[1])
    differences = replace(result.differences, caveats=(*result.caveats, RUNS_AVERAGED))
    return replace(result, differences=differences)


def _checked(losses: RunLosses, *, at_least: int) -> list[FloatArray]:
    tables = [np.asarray(table, dtype=np.float64) for table in losses]
    if any(table.ndim != 2 for table in tables) or len({len(table) for table in tables}) > 1:
        found = ", ".join(str(shape) for shape in sorted({table.shape for table in tables}))
        raise StatisticsError(
            "losses of several runs are a table of runs × test cases for each training set, with equal runs: "
            f"got {found}"
        )
    if tables and tables[0].shape[0] < at_least:
        raise StatisticsError(
            f"can't tell seeds from training sets with fewer than two runs per training set: got "
            f"{tables[0].shape[0]}; use analyse_hierarchical or analyse_common instead"
        )
    return tables


def _averages(tables: Sequence[FloatArray]) -> list[FloatArray]:
    with np.errstate(invalid="ignore", over="ignore"):
        means = [table.mean(axis=0) for table in tables]
    for i, (mean, table) in enumerate(zip(means, tables, strict=True)):
        if np.isnan(mean).any() and np.isnan(table).any():
            run, case = np.argwhere(np.isnan(table))[0]
            raise StatisticsError(
                f"the loss of training set {i}, run {run}, test case {case} (from 0) is not a number; "
                "give failed predictions the loss of a default guess: leaving them out favours who fails"
            )
    return means


def _analyse(tables: Sequence[FloatArray], scheme: Scheme) -> RunsAnalysis:
    averages = _averages(tables)
    averaged = analyse_common(averages) if scheme == "common" else analyse_hierarchical(averages)
    squares = _mean_squares(tables, averaged)
    if squares is None:
        undefined = (None,) * 8
        return RunsAnalysis(averaged, tables[0].shape[0], *undefined, caveats=averaged.caveats)
    return _result(averaged, squares, (len(tables), len(tables[0]), averaged.effective_test_cases))


def _mean_squares(tables: Sequence[FloatArray], averaged: Analysis) -> RunsTerms | None:
    """Seeds and residual from each training set's table; the rest from the averages, times R."""
    squares = averaged.mean_squares
    if squares is None or squares.residual is None:
        return None
    runs, sizes = len(tables[0]), [table.shape[1] for table in tables]
    each = [crossed_sums(list(table), None, row_means(list(table))) for table in tables]
    unweighted = sum(sums.training_sets / size for sums, size in zip(each, sizes, strict=True))
    seeds = averaged.effective_test_cases * unweighted / (len(tables) * (runs - 1))
    residual = sum(sums.residual for sums in each) / ((runs - 1) * (sum(sizes) - len(sizes)))
    within = runs * squares.residual
    if squares.test_cases is None:
        return RunsTerms(runs * squares.training_sets, seeds, within, None, residual)
    return RunsTerms(runs * squares.training_sets, seeds, runs * squares.test_cases, within, residual)


def _variances(squares: RunsTerms, shape: tuple[int, int, float]) -> RunsTerms:
    """Solve the expected mean squares (docs/statistics.md) for the variances."""
    training_sets, runs, test_cases = shape
    between = squares.training_sets - squares.seeds - squares.within + squares.residual
    training, seeds = between / (runs * test_cases), (squares.seeds - squares.residual) / test_cases
    within = (squares.within - squares.residual) / runs
    if squares.interaction is None:
        return RunsTerms(training, seeds, within, None, squares.residual)
    cases = (squares.test_cases - squares.interaction) / (training_sets * runs)
    return RunsTerms(training, seeds, cases, within, squares.residual)


def _result(averaged: Analysis, squares: RunsTerms, shape: tuple[int, int, float]) -> RunsAnalysis:
    variances = _variances(squares, shape)
    sds = {name: x if x is None else sqrt(max(x, 0.0)) for name, x in vars(variances).items()}
    return RunsAnalysis(
        averaged=averaged,
        runs=shape[1],
        standard_error=_standard_error(variances, shape),
        sd_training=sds["training_sets"],
        sd_seed=sds["seeds"],
        sd_test_cases=sds["test_cases"],
        sd_interaction=sds["interaction"],
        sd_residual=sds["residual"],
        mean_squares=squares,
        variances=variances,
        caveats=_caveats(averaged, variances),
    )


def _standard_error(variances: RunsTerms, shape: tuple[int, int, float]) -> float:
    training_sets, runs, test_cases = shape
    variance = max(variances.training_sets, 0.0) + max(variances.seeds, 0.0) / runs
    variance += max(variances.within, 0.0) / test_cases + variances.residual / (runs * test_cases)
    shared = 0.0 if variances.interaction is None else max(variances.test_cases, 0.0) / test_cases
    return sqrt(variance / training_sets + shared)


def _caveats(averaged: Analysis, variances: RunsTerms) -> tuple[str, ...]:
    """Those of the averages, but with the negative variances of this model instead of theirs."""
    theirs = negative_variances({"training sets": -1.0})
    known = {name.replace("_", " "): one for name, one in vars(variances).items() if one is not None}
    return (*(caveat for caveat in averaged.caveats if caveat not in theirs), *negative_variances(known))
