"""Metrics that are no means of cases: when their tests and intervals may be believed, and on how many cases.

What is refused, and from where on, was measured (docs/metrics.md, docs/calibration.md): below these numbers
tests and intervals err more often than they say, or nobody has measured how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from redelve.answers.losses import ClassMetric, CountedMetric, Loss
from redelve.answers.losses.number_metrics import NumberMetric
from redelve.answers.losses.renamed_losses import EPSILON, LogLoss
from redelve.answers.predictions import Truth
from redelve.errors import StatisticsError
from redelve.findings.by_method import MethodLosses, is_folded, outer_instances
from redelve.findings.claims import Test
from redelve.model.dataset import Numbers
from redelve.run.pooled_answers import RAISED, why_no_number
from redelve.run.results import InstanceFacts, TaskFacts, TaskResults
from redelve.stats.estimates import Analysis, Comparison
from redelve.stats.families import PairSquares, Places
from redelve.stats.mean_squares import loss_tail
from redelve.stats.pseudo_analyses import (
    MetricInterval,
    case_means,
    comparison_with_case_df,
    pairs_with_case_df,
    runs_with_case_df,
    with_case_df,
    withheld,
)
from redelve.stats.pseudo_values import kurtosis_df
from redelve.stats.seed_runs import RunsAnalysis

Found = TypeVar("Found")
FEWEST = 10
"""Cases, or groups, of the smallest class that tests and intervals need."""
FEWEST_OF_EACH = 5
"""The same where each training set has test cases of its own, in each of these."""
FEWEST_IN_FOLDS = 50
"""The same for intervals of metrics of guessed classes from folds, where the class is rare."""
RARE = 0.05
FEWEST_RANKED = 50
"""Positive cases of a common test set that an interval of average precision needs."""
FEWEST_OF_FOLD = 3
"""Positive cases of each fold that a test of average precision needs: with fewer it is too skewed."""
FEWEST_FOUND = 3
"""Cases of the positive class that both methods must have found before their F1 scores are compared."""
OF_FOUND = ("f1", "jaccard", "precision", "recall", "matthews_corrcoef", "cohen_kappa")
HEAVY_SHARE = 0.15
"""The most of the squared error that the worst hundredth of the cases may carry."""
FEWEST_CLIPPED = 5


def check_metric(facts: TaskFacts, metric: Loss) -> None:
    """Raise an error, with the reason, where the metric has no value or no standard error on this task."""
    for truths in _test_sets(facts):
        if (reason := metric.why_undefined(truths)) is not None:
            more = "" if metric.mean_of_cases else "; use more test cases, or another metric"
            raise StatisticsError(f"{reason}{more}")
    if isinstance(metric, ClassMetric) and len({_classes(truths[0]) for truths in _test_sets(facts)}) > 1:
        raise StatisticsError(
            f"some test sets lack a class that others have, and {metric.code} means something else there: "
            "use larger test sets, or cross-validation, which puts all test cases together"
        )


def _test_sets(facts: TaskFacts) -> list[tuple[Truth, ...]]:
    """The true targets of each test set; of folds, of all cases together."""
    if not all(one.truths for one in facts.instances):
        return []
    if facts.scheme == "common":
        return [facts.instances[0].truths]
    if not is_folded(facts):
        return [one.truths for one in facts.instances]
    several = [one.truths[0] for one in _folds(facts)]
    values = np.concatenate([one.values for one in several])
    return [(Truth(several[0].target, values, np.concatenate([one.censoring for one in several])),)]


def _folds(facts: TaskFacts) -> Sequence[InstanceFacts]:
    """The folds of the first repetition, which test every case once."""
    return facts.instances[: outer_instances(facts) // facts.repetitions]


def _classes(truth: Truth) -> tuple[int, ...]:
    return tuple(np.unique(truth.level_indexes).tolist())


def smallest_class(facts: TaskFacts, metric: Loss) -> int | None:
    """Cases, or groups of them, of the smallest class: in all, or in the set that has fewest of them."""
    if facts.targets[0].kind != "categorical":
        return None
    if is_folded(facts):
        return _fewest(_folds(facts), metric)
    sets = facts.instances[:1] if facts.scheme == "common" else facts.instances
    return min(_fewest([one], metric) for one in sets)


def _fewest(several: Sequence[InstanceFacts], metric: Loss) -> int:
    levels = np.concatenate([one.truths[0].level_indexes for one in several])
    if "@" in metric.code and isinstance(metric, ClassMetric):
        levels = levels == metric.positive(several[0].truths[0].target)
    units = [one.units for one in several if one.units is not None]
    counted = np.concatenate(units) if len(units) == len(several) else np.arange(levels.size)
    return min(np.unique(counted[levels == one]).size for one in np.unique(levels))


def why_no_value(work: TaskResults, losses: MethodLosses) -> str:
    """Why a method has no expected loss, some of its losses being no numbers."""
    judge = work.losses[losses.code].loss
    try:
        check_metric(work.facts, judge)
    except StatisticsError as error:
        return str(error)
    if judge.mean_of_cases:
        return _first_without(work, losses.method, judge)
    reason = why_no_number(work.facts, work.records[losses.method], judge)
    return reason or f"{judge.words} is not a number on all test cases, or without some of them"


def _first_without(work: TaskResults, method: str, judge: Loss) -> str:
    """Which loss of a case is the first that is not a number."""
    record = next(one for one in work.records[method] if np.isnan(one.losses.get(judge.code, 0.0)).any())
    case, number = int(np.argmax(np.isnan(record.losses[judge.code]))), record.job.instance
    truths = work.facts.instances[number].truths
    target = f" ({truths[0].target.name} {truths[0].values[case]:g})" if truths else ""
    return (
        f"{judge.words} of training set {number}, test case {case}{target}, both from 0, is not a number: "
        "it must be one in every case"
    )


def few_cases(facts: TaskFacts, metric: Loss) -> str | None:
    """Why no test of differences is made: too few cases of a class; None where there are enough."""
    if metric.is_raised_by_few and isinstance(metric, ClassMetric) and is_folded(facts):
        positive = metric.positive(facts.targets[0])
        least = min(int((one.truths[0].level_indexes == positive).sum()) for one in _folds(facts))
        if least < FEWEST_OF_FOLD:
            return (
                f"a fold has {least} positive cases: tests of {metric.shown_name} need {FEWEST_OF_FOLD} in "
                "each; use fewer folds, or roc_auc"
            )
    count = smallest_class(facts, metric)
    fewest = FEWEST_OF_EACH if _has_own_sets(facts) else FEWEST
    if count is None or count >= fewest:
        return None
    where = "in a test set" if _has_own_sets(facts) else "among the test cases"
    return (
        f"the smallest class has only {count} cases or groups {where}: tests and intervals of {metric.code} "
        f"need {fewest}; use more test cases"
    )


def _has_own_sets(facts: TaskFacts) -> bool:
    """Whether each training set has test cases of its own."""
    return len(facts.instances) > 1 and facts.scheme != "common" and not is_folded(facts)


def metric_estimate(facts: TaskFacts, losses: MethodLosses, found: Found) -> Found | Analysis | RunsAnalysis:
    """An estimate with the degrees of freedom that the metric's cases have."""
    if not _is_over_cases(facts):
        return found
    df = kurtosis_df(case_means(losses.of(sorted(losses.by_instance))))
    if isinstance(found, RunsAnalysis):
        return runs_with_case_df(found, df)
    return with_case_df(found, df) if isinstance(found, Analysis) else found


def _is_over_cases(facts: TaskFacts) -> bool:
    """Whether test cases are a source of variation by themselves: shared by training sets, or one set."""
    return len(facts.instances) == 1 or facts.scheme == "common"


def metric_test(facts: TaskFacts, first: MethodLosses, second: MethodLosses, found: Test) -> Test:
    """A comparison with the degrees of freedom that the metric's cases have, or without a verdict."""
    assert first.metric is not None
    reason = few_cases(facts, first.metric) or few_found(facts, first.metric, [first, second])
    if reason is not None:
        if isinstance(found, Comparison):
            return withheld(found, reason)
        differences = replace(found.differences, caveats=(reason, *found.differences.caveats))
        return replace(found, differences=differences, statistic=None, p_value=None)  # type: ignore[arg-type]
    if not (isinstance(found, Comparison) and _is_over_cases(facts)):
        return found
    instances = sorted(set(first.by_instance) & set(second.by_instance))
    means = [case_means(one.of(instances)) for one in (first, second)]
    return comparison_with_case_df(found, kurtosis_df(means[0] - means[1]))


def metric_squares(
    facts: TaskFacts, several: Sequence[MethodLosses], places: Places, found: PairSquares
) -> PairSquares:
    """The same for all pairs at once."""
    metric = several[0].metric
    assert metric is not None
    if _is_over_cases(facts):
        instances = sorted(set.intersection(*(set(one.by_instance) for one in several)))
        found = pairs_with_case_df(
            found, np.array([case_means(one.of(instances)) for one in several]), places
        )
    refused = np.full(found.between.shape, few_cases(facts, metric) is not None)
    too_few = np.array([few_found(facts, metric, [one]) is not None for one in several])
    refused |= too_few[list(places[0])] | too_few[list(places[1])]
    return replace(found, between=np.where(refused, np.nan, found.between))


def few_found(facts: TaskFacts, metric: Loss, several: Sequence[MethodLosses]) -> str | None:
    """Why F1 scores and their like are not compared: a method that found hardly any positive case.

    Two methods with the same score but another threshold then seem to differ in 8 to 16 % of samples.
    """
    if not isinstance(metric, CountedMetric) or metric.base_name not in OF_FOUND:
        return None
    if len(facts.targets[0].levels) != 2 and "@" not in metric.code:
        return None
    for losses in several:
        count = _found(facts, metric, losses)
        if count is not None and count < FEWEST_FOUND:
            return (
                f"{losses.method} found {count:.3g} cases of the positive class: {metric.code} is compared "
                f"from {FEWEST_FOUND} on, for each method; compare average_precision or roc_auc, or use more "
                "cases"
            )
    return None


def _found(facts: TaskFacts, metric: CountedMetric, losses: MethodLosses) -> float | None:
    """How many positive cases a method found, by their pseudo-values: on average over sets, of folds in all.

    A positive case that was found is worth more than one that was not. Groups hide that: then None.
    """
    if any(one.units is not None and np.unique(one.units).size < one.units.size for one in facts.instances):
        return None
    positive = metric.positive(facts.targets[0])
    counts = []
    for number, table in losses.by_instance.items():
        there = facts.instances[number].truths[0].level_indexes == positive
        counts += [_lower(row[there], float(row.mean())) for row in table]
    return None if not counts else float(np.sum(counts) if is_folded(facts) else np.mean(counts))


def _lower(values: Numbers, loss: float) -> int:
    """How many of the values are the lower of two; if all are the same, whether anything was found."""
    if not values.size or float(np.ptp(values)) < 1e-9:
        return values.size if loss < 1 - 1e-9 else 0
    return int((values < (values.min() + values.max()) / 2).sum())


def metric_interval(facts: TaskFacts, losses: MethodLosses, judge: Loss) -> MetricInterval:
    """How the interval of one expected metric is made."""
    tables = losses.of(sorted(losses.by_instance))
    over_cases = _is_over_cases(facts)
    means = case_means(tables) if over_cases else np.concatenate([table.mean(axis=0) for table in tables])
    df, count = kurtosis_df(means), means.size
    smallest = None if judge.mean_of_cases else smallest_class(facts, judge)
    return MetricInterval(
        judge.interval_scale,
        by_wilson=over_cases,
        span=judge.limits(facts.targets)[1],
        smallest=smallest,
        effective=count / (2 * count / df + 1) if over_cases else np.inf,
        why_not=_why_no_interval(facts, judge, means),
    )


def _why_no_interval(facts: TaskFacts, judge: Loss, means: Numbers) -> str | None:
    if isinstance(judge, LogLoss):
        return _clipped(judge, means)
    if isinstance(judge, NumberMetric):
        return _heavy(facts, judge, means)
    if judge.mean_of_cases or (smallest := smallest_class(facts, judge)) is None:
        return None
    fewest = FEWEST
    if judge.is_raised_by_few and len(facts.instances) > 1:
        if not _is_over_cases(facts):
            return RAISED.format(judge.shown_name)
        fewest = FEWEST_RANKED
    elif isinstance(judge, CountedMetric) and is_folded(facts) and _is_rare(facts, smallest):
        fewest = FEWEST_IN_FOLDS
    if smallest >= fewest:
        return None
    return f"the smallest class has {smallest} cases or groups: an interval of {judge.code} needs {fewest}"


def _is_rare(facts: TaskFacts, smallest: int) -> bool:
    return smallest < RARE * sum(len(one.case_numbers) for one in _folds(facts))


def _clipped(judge: LogLoss, means: Numbers) -> str | None:
    """A few answers that held the truth to be impossible decide over the mean, and few is not enough."""
    count = int((means > judge.highest / 2).sum())
    if not 0 < count < FEWEST_CLIPPED:
        return None
    return (
        f"{count} cases were held to be impossible, which costs {-np.log(EPSILON):.0f} each: an interval "
        f"needs {FEWEST_CLIPPED} such cases, or none"
    )


def _heavy(facts: TaskFacts, judge: NumberMetric, means: Numbers) -> str | None:
    """A few cases carry so much of the squared error that intervals miss too often."""
    if judge.code == "r2":
        is_heavy = len(facts.instances) > 1 and loss_tail(means, -np.inf).is_heavy()
    else:
        level = float(means.mean())
        squares = np.maximum(level**2 + 2 * level * (means - level), 0.0)
        is_heavy = loss_tail(squares).top_share > HEAVY_SHARE
    if not is_heavy:
        return None
    return f"1 % of the test cases carry too much of the squared error for an interval of {judge.code}"
