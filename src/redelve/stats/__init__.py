"""Expected losses, comparisons and standardised losses: arrays in, small values out (docs/statistics.md)."""

from redelve.stats.anova import analyse_common, analyse_hierarchical, compare_common, compare_hierarchical
from redelve.stats.circular import (
    baseline_absolute_angular,
    baseline_log_angular,
    baseline_squared_angular,
)
from redelve.stats.estimates import Analysis, Comparison, MeanSquares, QuasiF
from redelve.stats.runs import (
    RunsAnalysis,
    RunsTerms,
    analyse_runs_common,
    analyse_runs_hierarchical,
    compare_runs_common,
    compare_runs_hierarchical,
)
from redelve.stats.standardise import (
    baseline_absolute,
    baseline_log_discrete,
    baseline_log_gaussian,
    baseline_squared,
    baseline_squared_probability,
    baseline_zero_one,
    standardise_log,
    standardise_ratio,
)
from redelve.stats.units import pool_units

__all__ = [
    "Analysis",
    "Comparison",
    "MeanSquares",
    "QuasiF",
    "RunsAnalysis",
    "RunsTerms",
    "analyse_common",
    "analyse_hierarchical",
    "analyse_runs_common",
    "analyse_runs_hierarchical",
    "baseline_absolute",
    "baseline_absolute_angular",
    "baseline_log_angular",
    "baseline_log_discrete",
    "baseline_log_gaussian",
    "baseline_squared",
    "baseline_squared_angular",
    "baseline_squared_probability",
    "baseline_zero_one",
    "compare_common",
    "compare_hierarchical",
    "compare_runs_common",
    "compare_runs_hierarchical",
    "pool_units",
    "standardise_log",
    "standardise_ratio",
]
