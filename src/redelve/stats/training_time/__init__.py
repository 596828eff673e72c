"""How long trials take that may fail, independent of the limit: the measures of Hamey (1992).

For any algorithm that is started anew when it has not succeeded by some limit. See docs/training-time.md.
"""

from redelve.stats.training_time.efficiency import (
    Efficiency,
    EfficiencyComparison,
    EfficiencyCurve,
    compare_efficiency,
    efficiency_curve,
    estimate_efficiency,
)
from redelve.stats.training_time.resampling import BootstrapEfficiency, bootstrap_efficiency
from redelve.stats.training_time.tail import (
    PublishedForm,
    Tail,
    TailModel,
    fit_tail,
    model_form,
    published_form,
)
from redelve.stats.training_time.trials import TimesSummary, TrialTimes, summarise_times, trial_times

__all__ = [
    "BootstrapEfficiency",
    "Efficiency",
    "EfficiencyComparison",
    "EfficiencyCurve",
    "PublishedForm",
    "Tail",
    "TailModel",
    "TimesSummary",
    "TrialTimes",
    "bootstrap_efficiency",
    "compare_efficiency",
    "efficiency_curve",
    "estimate_efficiency",
    "fit_tail",
    "model_form",
    "published_form",
    "summarise_times",
    "trial_times",
]
