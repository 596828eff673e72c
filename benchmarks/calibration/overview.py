"""Every test and interval offered, each with what was measured of it: the table at the head of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.calibration.sections import Finding, table

Promise = Literal["level 5", "coverage 95", "certainty 10", "difference 0", "power 80"]


@dataclass(frozen=True)
class Offer:
    """What is offered under which name, what it promises, and under which name it was measured."""

    what: str
    use: str
    promise: Promise
    measured_as: str = ""

    def line(self, findings: Sequence[Finding]) -> list[object]:
        """A line of the table: range of the measurements, and the setting of the worst."""
        name = self.measured_as or self.what
        found = [finding for finding in findings if finding.what == name]
        if not found:
            raise LookupError(f"nothing was measured of {name!r}")
        complement = self.promise == "coverage 95" and name.startswith("cautious test")
        values = [100 - f.percent if complement else f.percent for f in found]
        worst = max(range(len(found)), key=lambda k: self.harm(values[k]))
        digits = 2 if self.promise == "difference 0" else 1
        ends = (
            f"{min(values):.{digits}f} – {max(values):.{digits}f}" if len(values) > 1 else f"{values[0]:.1f}"
        )
        shown = f"**{ends}**" if self.harm(values[worst]) > TOLERANCE[self.promise] else ends
        counts = sorted({finding.count for finding in found})
        nominal = self.promise.split()[1]
        use = f"`{self.use}`" if self.use else "–"
        return [self.what, use, nominal, shown, found[worst].where, f"{counts[0]:,}"]

    def harm(self, value: float) -> float:
        """By how much a measurement is worse than what was promised; being cautious does no harm."""
        if self.promise == "coverage 95":
            return 95 - value
        if self.promise == "difference 0":
            return abs(value)
        if self.promise == "power 80":
            return abs(value - 80)
        return value - (5 if self.promise == "level 5" else 10)


TOLERANCE: dict[Promise, float] = {
    "level 5": 1.0,
    "coverage 95": 1.0,
    "certainty 10": 2.0,
    "difference 0": 1.0,
    "power 80": 5.0,
}
"""Beyond this many points the table prints the numbers in bold."""

BROUGHT: tuple[tuple[str, Promise], ...] = (
    ("any false claim", "level 5"),
    ("all intervals hold", "coverage 95"),
)
PROMISES: tuple[tuple[str, Promise], ...] = (("interval", "coverage 95"), ("certainty", "certainty 10"))
TRIAL_TIMES: tuple[tuple[str, str, Promise], ...] = (
    ("jackknife interval of e", "estimate_efficiency", "coverage 95"),
    ("bootstrap interval of e", "bootstrap_efficiency", "coverage 95"),
    ("percentile bootstrap of e (to compare with)", "percentile_interval", "coverage 95"),
    ("comparison of e", "compare_efficiency", "level 5"),
)
METRICS_MEASURED = (
    "roc_auc",
    "average_precision",
    "balanced_accuracy",
    "f1",
    "matthews_corrcoef",
    "log_loss",
    "rmse",
    "r2",
)
FEW, MORE = "2 or 3 training sets", "4 or more training sets"

OFFERS = (
    Offer("t-test, Gaussian losses", "compare_hierarchical", "level 5"),
    Offer("t-test, heavy-tailed losses", "compare_hierarchical", "level 5"),
    Offer("t-test, skewed losses", "compare_hierarchical", "level 5"),
    Offer("interval, hierarchical", "analyse_hierarchical", "coverage 95"),
    Offer(f"F-test, {MORE}", "compare_common", "level 5"),
    Offer(f"F-test, {FEW}", "compare_common", "level 5"),
    Offer("F-test, 10 to 50 test cases", "compare_common", "level 5"),
    Offer("F-test, heavy-tailed losses", "compare_common", "level 5"),
    Offer("F-test, skewed losses", "compare_common", "level 5"),
    Offer(f"interval, common, {MORE}", "analyse_common", "coverage 95"),
    Offer(f"interval, common, {FEW}", "analyse_common", "coverage 95"),
    Offer(f"cautious test, {MORE}", "cautious_p_value", "level 5"),
    Offer(f"cautious test, {FEW}", "cautious_p_value", "level 5"),
    Offer("cautious test, 10 to 50 test cases", "cautious_p_value", "level 5"),
    Offer("cautious test, heavy-tailed losses", "cautious_p_value", "level 5"),
    Offer("cautious test, skewed losses", "cautious_p_value", "level 5"),
    Offer(f"cautious interval, {MORE}", "cautious_interval", "coverage 95", f"cautious test, {MORE}"),
    Offer(f"cautious interval, {FEW}", "cautious_interval", "coverage 95", f"cautious test, {FEW}"),
    Offer(
        f"F-test, Hillis's degrees of freedom, {MORE} (not used)",
        "hillis_test",
        "level 5",
        f"F-test, Hillis's degrees of freedom, {MORE}",
    ),
    Offer(
        f"F-test, Hillis's degrees of freedom, {FEW} (not used)",
        "hillis_test",
        "level 5",
        f"F-test, Hillis's degrees of freedom, {FEW}",
    ),
    Offer(f"quasi-F of DELVE, {MORE}", "quasi_f", "level 5"),
    Offer(f"quasi-F of DELVE, {FEW}", "quasi_f", "level 5"),
    Offer("quasi-F, heavy-tailed losses", "quasi_f", "level 5"),
    Offer("quasi-F, skewed losses", "quasi_f", "level 5"),
    Offer("comparison of several runs, common", "compare_runs_common", "level 5"),
    Offer("comparison of several runs, hierarchical", "compare_runs_hierarchical", "level 5"),
    Offer("interval of several runs, common", "analyse_runs_common", "coverage 95"),
    Offer("interval of several runs, hierarchical", "analyse_runs_hierarchical", "coverage 95"),
    Offer("interval of pooled units, common", "pool_units", "coverage 95"),
    Offer("interval of pooled units, hierarchical", "pool_units", "coverage 95"),
    Offer("Holm over all pairs, own test cases", "compare_all", "level 5"),
    Offer("Holm over all pairs, common test cases", "compare_all", "level 5"),
    Offer("group of the best, own test cases", "best_group", "level 5"),
    Offer("group of the best, common test cases", "best_group", "level 5"),
    Offer("group of the best, the best ahead", "best_group", "level 5"),
    Offer("group of the best, the best skewed to its harm", "best_group", "level 5"),
    Offer("group of the best from plain p-values (not offered)", "", "level 5"),
    Offer("Friedman, F", "friedman", "level 5"),
    Offer("Friedman, χ²", "friedman", "level 5"),
    Offer("Nemenyi, any pair", "nemenyi", "level 5"),
    Offer("Friedman, F, unequal spread", "friedman", "level 5"),
    Offer("Friedman, χ², unequal spread", "friedman", "level 5"),
    Offer("Nemenyi, unequal spread", "nemenyi", "level 5"),
    Offer("Wilcoxon", "wilcoxon", "level 5"),
    Offer("Wilcoxon, many ties", "wilcoxon", "level 5"),
    Offer("Wilcoxon, skewed differences of mean zero", "wilcoxon", "level 5"),
    Offer("Wilcoxon with Holm, any pair", "wilcoxon_all", "level 5"),
    Offer("count_wins: false wins and losses", "count_wins", "level 5"),
    *(
        Offer(f"race until settled, {what}", "assess(until_settled=True)", "level 5")
        for what in ("any false word", "methods that learn", "wrong equivalence", "skewed training sets")
    ),
    *(
        Offer(f"race over questions, {what}", "redelve race", "level 5")
        for what in ("any false drop", "wrong equivalence")
    ),
    Offer("bets looked at always", "redelve race", "level 5"),
    *(
        Offer(f"gate: {what}", "redelve gate", "level 5")
        for what in ("unchanged, blocked", "lost the margin, passed")
    ),
    Offer("gate: cases told to settle it", "redelve gate", "power 80"),
    Offer("mean over tasks, interval", "random_effects", "coverage 95"),
    Offer("mean over tasks, interval, skewed tasks", "random_effects", "coverage 95"),
    Offer("mean over tasks, errors as they are (not offered)", "", "coverage 95"),
    Offer("pairs over tasks, any claim", "random_effects", "level 5"),
    Offer("pairs over tasks, any claim at a report's share", "assess", "level 5"),
    Offer("mean over tasks, misses of 99.9 % intervals, times 50", "random_effects", "level 5"),
    Offer("new task, prediction interval", "random_effects", "coverage 95"),
    Offer("new task, prediction interval, skewed tasks", "random_effects", "coverage 95"),
    Offer("fall at twice the data, interval", "at_twice_the_data", "coverage 95"),
    Offer("fall at twice the data, interval, skewed effects", "at_twice_the_data", "coverage 95"),
    *(
        Offer(f"twice the data: false {verdict}, {shapes}", "at_twice_the_data", "level 5")
        for verdict in ("yes", "no")
        for shapes in ("known shapes", "other shapes", "breaking shapes", "skewed effects")
    ),
    Offer("Bayesian signed-rank, no rope", "signed_rank", "certainty 10"),
    Offer("Bayesian signed-rank, rope of a tenth of the spread", "signed_rank", "certainty 10"),
    *(
        Offer(f"corrected resampled t, {learner}, {design}", "compare_resampled", "level 5")
        for learner in ("linear regression", "nearest neighbour")
        for design in ("one pass", "repeated folds", "random splits")
    ),
    *(
        Offer(f"correlated Bayesian t, {what}, {design}", "correlated_t", promise)
        for what, promise in PROMISES
        for design in ("one pass", "repeated folds", "random splits")
    ),
    Offer("interval of resamples, least squares", "analyse_resampled", "coverage 95"),
    Offer("test by groups, folds", "compare_groups", "level 5"),
    Offer("test by groups, nested", "compare_groups", "level 5"),
    Offer("interval by groups, folds", "analyse_groups", "coverage 95"),
    Offer("interval by groups, nested", "analyse_groups", "coverage 95"),
    Offer("interval by groups of the model, folds", "predict_performance", "coverage 95"),
    Offer("interval by groups of the model, nested", "predict_performance", "coverage 95"),
    Offer("nested cross-validation, Gaussian noise", "nested_cross_validation", "coverage 95"),
    Offer("nested cross-validation, skewed noise", "nested_cross_validation", "coverage 95"),
    Offer("plain cross-validation (not offered)", "", "coverage 95"),
    Offer("power, hierarchical", "power", "difference 0"),
    Offer("power, common", "power", "difference 0"),
    *(
        Offer(f"stated power 0.8, {group}", "assured_difference", "power 80")
        for group in ("own test cases", "common test cases", "methods that differ")
    ),
    Offer("stated training sets", "assured_training_sets", "power 80"),
    Offer("stated number of questions", "Contest.answer_plan", "power 80"),
    Offer("stated number of answers to each question", "Contest.answer_plan", "power 80"),
    Offer("range of a standard error, hierarchical", "Components.scale_range", "coverage 95"),
    Offer("range of a standard error, common", "Components.scale_range", "coverage 95"),
    *(
        Offer(f"{kind}, {trials}", use, promise)
        for kind, use, promise in TRIAL_TIMES
        for trials in ("30 trials", "100 or more trials")
    ),
    Offer("asymptotic success rate, interval", "fit_tail", "coverage 95"),
    Offer("corrected median, interval", "fit_tail", "coverage 95"),
    Offer("corrected mean, interval", "fit_tail", "coverage 95"),
    Offer("Cochran and Cox's t-test", "cochran_cox", "level 5"),
    Offer("interval of Cochran and Cox", "cochran_cox", "coverage 95"),
    Offer("Shapiro and Wilk's test", "normality", "level 5"),
    *(
        Offer(f"PROBEN1's comparison, {errors}", "compare_runs", "level 5")
        for errors in ("log-normal errors", "a run in 25 goes wrong", "skewed log errors")
    ),
    Offer(
        "test over runs, taken for one over training sets (not offered)",
        "",
        "level 5",
        "test over runs, taken for one over training sets",
    ),
    Offer("interval, one partition", "analyse_partition", "coverage 95"),
    Offer("comparison, one partition", "compare_partition", "level 5"),
    Offer("interval of a balanced error", "balanced_errors", "coverage 95"),
    Offer("σ of equation 1, ± 1.96 (to compare with)", "", "coverage 95"),
    Offer("comparison of balanced errors, alike", "compare_balanced_errors", "level 5"),
    Offer("comparison of balanced errors, same BER, unlike classes", "compare_balanced_errors", "level 5"),
    Offer("interval of a difference of BERs", "compare_balanced_errors", "coverage 95"),
    Offer("interval of an area", "area_under_curve", "coverage 95"),
    Offer("comparison of areas", "compare_areas", "level 5"),
    Offer("interval of a difference of areas", "compare_areas", "coverage 95"),
    Offer("places of entries, by BER", "place_entries", "level 5"),
    Offer("best group of entries, by BER", "place_entries", "level 5"),
    Offer("places of entries, by R", "score_worse_p_values", "level 5"),
    Offer("best group of entries, by R", "score_worse_p_values", "level 5"),
    *(Offer(f"comparison by {name}", "comparison_with_case_df", "level 5") for name in METRICS_MEASURED),
    *(Offer(f"interval of {name}", "MetricInterval", "coverage 95") for name in METRICS_MEASURED),
    *(
        Offer(f"margin{where}: wrongly {verdict}", "assess, margin", "level 5")
        for where in ("", " over tasks")
        for verdict in ("equivalent", "not worse")
    ),
    Offer("margin over tasks: all intervals hold", "assess, margin", "coverage 95"),
    Offer("interval where no heavy tails are noted", "analyse_common", "coverage 95"),
    Offer("interval that misses without a warning of heavy tails", "V017", "level 5"),
    Offer("false warning of heavy tails, Gaussian noise", "V017", "level 5"),
    *(
        Offer(f"brought scores, {what}{shape}", "compare_scores", promise)
        for shape in ("", ", skewed")
        for what, promise in BROUGHT
    ),
    Offer("brought scores, power lost to t of question means", "compare_scores", "difference 0"),
    Offer("comparison forward in time", "compare_forward", "level 5"),
    Offer("interval forward in time", "analyse_forward", "coverage 95"),
    Offer("slices, any interval that misses", "compare_slices", "level 5", "level, any slice"),
    Offer("slices of folds, any claim", "slices_of_squares", "level 5", "level, any slice of folds"),
    Offer("verdict on a paper's finding", "studies.neal.judge", "level 5"),
    Offer("printed tables, means, bias", "bias_of", "level 5"),
    Offer("printed tables, means, spread", "spread_of", "level 5"),
    Offer("printed tables, deviations, bias", "bias_of", "level 5"),
    Offer("printed tables, deviations, spread", "spread_of", "level 5"),
    Offer("interval of κ or correlation", "error_kappa", "coverage 95"),
    Offer("interval of κ or correlation", "loss_correlation", "coverage 95"),
    *(
        Offer(f"calibration, {what}", "reliability_diagram", "level 5")
        for what in ("test by draws", "Spiegelhalter's z", "band of the whole curve")
    ),
    Offer("calibration, Spiegelhalter's z, in clusters", "spiegelhalter_test", "level 5"),
    Offer("joint test of chains", "sample", "level 5"),
    Offer("predictive interval of networks", "sample", "coverage 95"),
)


def overview(findings: Sequence[Finding]) -> str:
    """The table of everything offered of which something was measured."""
    measured = {finding.what for finding in findings}
    offers = [offer for offer in OFFERS if (offer.measured_as or offer.what) in measured]
    head = ["test or interval", "use", "nominal", "measured", "worst at", "data sets each"]
    return table(head, [offer.line(findings) for offer in offers])
