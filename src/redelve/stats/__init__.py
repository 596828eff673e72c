"""Expected losses, comparisons and standardised losses: arrays in, small values out (docs/statistics.md).

What docs/comparisons.md tells of is loaded when it is first used. The functions `power` and
`balanced_errors` are in the modules of those names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from redelve.stats.auc import Area, AreaComparison, area_under_curve, compare_areas
    from redelve.stats.balanced_errors import (
        BalancedErrors,
        RankingScore,
        guess_error,
        penalty_weight,
        ranking_score,
    )
    from redelve.stats.bayes import CorrelatedT, RopeProbabilities, correlated_t, signed_rank
    from redelve.stats.components import Components, estimate_components, estimate_components_of_runs
    from redelve.stats.many_runs import (
        BestRun,
        Normality,
        RunsComparison,
        RunSummary,
        Trimmed,
        TwoSampleTest,
        best_run,
        better_half,
        cochran_cox,
        compare_runs,
        log_errors,
        normality,
        remove_outliers,
        summarise_runs,
        usual_number_of_runs,
    )
    from redelve.stats.multiple import AllPairs, BestGroup, best_group, compare_all, holm
    from redelve.stats.one_partition import analyse_partition, compare_partition
    from redelve.stats.paired_errors import ErrorComparison, Outcomes, compare_balanced_errors
    from redelve.stats.power import (
        Goal,
        Plan,
        advise,
        cases_needed,
        detectable_difference,
        training_sets_needed,
    )
    from redelve.stats.ranks import (
        Friedman,
        Nemenyi,
        SignedRank,
        count_wins,
        critical_difference,
        friedman,
        nemenyi,
        wilcoxon,
        wilcoxon_all,
    )
    from redelve.stats.resampled import (
        NestedCV,
        Resampled,
        ResampledComparison,
        analyse_resampled,
        compare_resampled,
        fold_ratio,
        nested_cross_validation,
    )
    from redelve.stats.standings import RankSums, Standings, place_entries, rank_sums, score_worse_p_values
    from redelve.stats.training_time import (
        BootstrapEfficiency,
        Efficiency,
        EfficiencyComparison,
        EfficiencyCurve,
        Tail,
        TailModel,
        TimesSummary,
        TrialTimes,
        bootstrap_efficiency,
        compare_efficiency,
        efficiency_curve,
        estimate_efficiency,
        fit_tail,
        summarise_times,
        trial_times,
    )

_LATER = {
    "auc": ("Area", "AreaComparison", "area_under_curve", "compare_areas"),
    "balanced_errors": (
        "BalancedErrors",
        "RankingScore",
        "guess_error",
        "penalty_weight",
        "ranking_score",
    ),
    "bayes": ("CorrelatedT", "RopeProbabilities", "correlated_t", "signed_rank"),
    "components": ("Components", "estimate_components", "estimate_components_of_runs"),
    "many_runs": (
        "BestRun",
        "Normality",
        "RunSummary",
        "RunsComparison",
        "Trimmed",
        "TwoSampleTest",
        "best_run",
        "better_half",
        "cochran_cox",
        "compare_runs",
        "log_errors",
        "normality",
        "remove_outliers",
        "summarise_runs",
        "usual_number_of_runs",
    ),
    "multiple": ("AllPairs", "BestGroup", "best_group", "compare_all", "holm"),
    "one_partition": ("analyse_partition", "compare_partition"),
    "paired_errors": ("ErrorComparison", "Outcomes", "compare_balanced_errors"),
    "power": ("Goal", "Plan", "advise", "cases_needed", "detectable_difference", "training_sets_needed"),
    "ranks": (
        "Friedman",
        "Nemenyi",
        "SignedRank",
        "count_wins",
        "critical_difference",
        "friedman",
        "nemenyi",
        "wilcoxon",
        "wilcoxon_all",
    ),
    "resampled": (
        "NestedCV",
        "Resampled",
        "ResampledComparison",
        "analyse_resampled",
        "compare_resampled",
        "fold_ratio",
        "nested_cross_validation",
    ),
    "standings": ("RankSums", "Standings", "place_entries", "rank_sums", "score_worse_p_values"),
    "training_time": (
        "BootstrapEfficiency",
        "Efficiency",
        "EfficiencyComparison",
        "EfficiencyCurve",
        "Tail",
        "TailModel",
        "TimesSummary",
        "TrialTimes",
        "bootstrap_efficiency",
        "compare_efficiency",
        "efficiency_curve",
        "estimate_efficiency",
        "fit_tail",
        "summarise_times",
        "trial_times",
    ),
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names}

__all__ = [
    "AllPairs",
    "Analysis",
    "Area",
    "AreaComparison",
    "BalancedErrors",
    "BestGroup",
    "BestRun",
    "BootstrapEfficiency",
    "Comparison",
    "Components",
    "CorrelatedT",
    "Efficiency",
    "EfficiencyComparison",
    "EfficiencyCurve",
    "ErrorComparison",
    "Friedman",
    "Goal",
    "MeanSquares",
    "Nemenyi",
    "NestedCV",
    "Normality",
    "Outcomes",
    "Plan",
    "QuasiF",
    "RankSums",
    "RankingScore",
    "Resampled",
    "ResampledComparison",
    "RopeProbabilities",
    "RunSummary",
    "RunsAnalysis",
    "RunsComparison",
    "RunsTerms",
    "SignedRank",
    "Standings",
    "Tail",
    "TailModel",
    "TimesSummary",
    "TrialTimes",
    "Trimmed",
    "TwoSampleTest",
    "advise",
    "analyse_common",
    "analyse_hierarchical",
    "analyse_partition",
    "analyse_resampled",
    "analyse_runs_common",
    "analyse_runs_hierarchical",
    "area_under_curve",
    "baseline_absolute",
    "baseline_absolute_angular",
    "baseline_log_angular",
    "baseline_log_discrete",
    "baseline_log_gaussian",
    "baseline_squared",
    "baseline_squared_angular",
    "baseline_squared_probability",
    "baseline_zero_one",
    "best_group",
    "best_run",
    "better_half",
    "bootstrap_efficiency",
    "cases_needed",
    "cochran_cox",
    "compare_all",
    "compare_areas",
    "compare_balanced_errors",
    "compare_common",
    "compare_efficiency",
    "compare_hierarchical",
    "compare_partition",
    "compare_resampled",
    "compare_runs",
    "compare_runs_common",
    "compare_runs_hierarchical",
    "correlated_t",
    "count_wins",
    "critical_difference",
    "detectable_difference",
    "efficiency_curve",
    "estimate_components",
    "estimate_components_of_runs",
    "estimate_efficiency",
    "fit_tail",
    "fold_ratio",
    "friedman",
    "guess_error",
    "holm",
    "log_errors",
    "nemenyi",
    "nested_cross_validation",
    "normality",
    "penalty_weight",
    "place_entries",
    "pool_units",
    "rank_sums",
    "ranking_score",
    "remove_outliers",
    "score_worse_p_values",
    "signed_rank",
    "standardise_log",
    "standardise_ratio",
    "summarise_runs",
    "summarise_times",
    "training_sets_needed",
    "trial_times",
    "usual_number_of_runs",
    "wilcoxon",
    "wilcoxon_all",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
