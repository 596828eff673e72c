"""One task: every method's expected loss, every pair compared, who may be the best, what would settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from redelve.answers.losses import Loss
from redelve.errors import StatisticsError
from redelve.findings.loss_tables import MethodLosses, Numbers, losses_on, primary_loss
from redelve.findings.nested_folds import nested_estimate, outer_instances
from redelve.run.results import Results, TaskFacts
from redelve.stats import anova, seed_runs
from redelve.stats.components import estimate_components
from redelve.stats.estimates import Analysis, Comparison, Interval
from redelve.stats.multiple import AllPairs, BestGroup, PairedTest, best_group, compare_all
from redelve.stats.one_partition import analyse_partition, compare_partition
from redelve.stats.power import Goal, PlannedExperiment, advise, detectable_difference
from redelve.stats.resampled import (
    NestedCV,
    Resampled,
    ResampledComparison,
    analyse_resampled,
    compare_resampled,
)
from redelve.stats.standardise import StandardLoss

Estimate = Analysis | seed_runs.RunsAnalysis | Resampled | NestedCV
Test = Comparison | ResampledComparison

GROUP_LEVEL = 0.025
"""One-sided level of the best group: with two methods it then agrees with the two-sided test at 5 %."""

SHARE_SOUGHT = 0.02
"""The difference, as a share of the better method's loss, that advice is given for."""


@dataclass(frozen=True)
class MethodFinding:
    """What was found of a method on a task: its expected loss and where its variation comes from."""

    method: str
    estimate: Estimate | None
    standard: StandardLoss
    instances: int
    runs: int
    failed: int
    stood_in: int
    """Jobs whose losses are those of the baseline method."""
    why_none: str = ""
    is_one_partition: bool = False
    """One training set: what varies between runs is then the seed."""

    @property
    def mean(self) -> float | None:
        """The expected loss."""
        return None if self.estimate is None else self.estimate.mean

    @property
    def standard_error(self) -> float | None:
        """Its standard error."""
        return None if self.estimate is None else self.estimate.standard_error

    def interval(self, level: float = 0.95) -> Interval | None:
        """Its confidence interval."""
        return None if self.estimate is None else self.estimate.interval(level)

    @property
    def standardised(self) -> float | None:
        """The expected loss in units of what the best constant answer loses."""
        return self.standard.mean(self.mean)

    @property
    def standardised_error(self) -> float | None:
        """The standard error in the same units."""
        return self.standard.spread(self.standard_error)

    @property
    def deviations(self) -> dict[str, float | None]:
        """Standard deviations of the loss by source; empty where they cannot be told apart."""
        found = self.estimate
        if isinstance(found, seed_runs.RunsAnalysis):
            return {
                "training sets": found.sd_training,
                "seeds": found.sd_seed,
                "test cases": found.sd_test_cases,
                "training set × test case": found.sd_interaction,
                "residual": found.sd_residual,
            }
        if isinstance(found, Analysis):
            return {
                "seeds" if self.is_one_partition else "training sets": found.sd_training,
                "test cases": found.sd_test_cases,
                "residual": found.sd_residual,
            }
        return {}


@dataclass(frozen=True)
class Contest:
    """Two methods on one task: the test, the p-value allowing for all pairs, what would settle the matter."""

    first: str
    second: str
    test: Test
    adjusted_p_value: float | None
    standard: StandardLoss
    instances: tuple[int, ...]
    advice: str = ""

    @property
    def difference(self) -> float | None:
        """Expected loss of the first method minus that of the second."""
        return self.test.difference

    @property
    def standard_error(self) -> float | None:
        """Standard error of the difference: the one that its interval and p-value rest on.

        `test.standard_error` is DELVE's, which is larger where a variance was estimated to be negative.
        """
        inside = self.test.differences
        return inside.interval_standard_error if isinstance(inside, Analysis) else inside.standard_error

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value of this comparison taken alone."""
        return self.test.p_value

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be said beside it."""
        return self.test.caveats

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference."""
        return self.test.interval(level)

    @property
    def winner(self) -> str | None:
        """The method with the smaller expected loss, if the adjusted p-value is below 0.05."""
        p = self.adjusted_p_value
        if p is None or p >= 0.05 or not self.difference:
            return None
        return self.first if self.difference < 0 else self.second

    def __str__(self) -> str:
        return describe_contest(self)


@dataclass(frozen=True)
class TaskFindings:
    """Everything found on one task by one loss."""

    task: TaskFacts
    loss: str
    methods: tuple[MethodFinding, ...]
    contests: tuple[Contest, ...]
    group: BestGroup | None
    caveats: tuple[str, ...] = field(repr=False)

    def method(self, name: str) -> MethodFinding:
        """What was found of a method."""
        for finding in self.methods:
            if finding.method == name:
                return finding
        raise StatisticsError(f'method "{name}" has no losses on {self.task.address}')

    def contest(self, first: str, second: str) -> Contest:
        """The comparison of two methods, whichever of them is called the first."""
        for contest in self.contests:
            if {contest.first, contest.second} == {first, second}:
                return contest
        raise StatisticsError(f'"{first}" and "{second}" were not compared on {self.task.address}')

    @property
    def judged_by(self) -> Loss:
        """The loss itself, as far as it is known here."""
        return self.task.loss(self.loss)

    @property
    def best_group(self) -> tuple[str, ...]:
        """The methods not distinguishable from the best."""
        return () if self.group is None else self.group.members


def analyse_task(results: Results, address: str, code: str | None = None) -> TaskFindings:
    """Expected losses and comparisons of all methods on a task by one loss."""
    facts = results.task(address)
    code = code or primary_loss(facts)
    losses = losses_on(results, address, code)
    standard = standard_of(facts, code)
    methods = tuple(_finding(results, facts, losses[name], standard) for name in losses)
    pairs, why_not = _all_pairs(losses, facts)
    contests = tuple(_contests(pairs, losses, facts, standard)) if pairs else ()
    group = best_group(pairs, level=GROUP_LEVEL) if pairs else None
    own = [caveat for method in methods if method.estimate for caveat in method.estimate.caveats]
    caveats = (*(group.caveats if group else own), *why_not)
    return TaskFindings(facts, code, methods, contests, group, tuple(dict.fromkeys(caveats)))


def _all_pairs(
    losses: Mapping[str, MethodLosses], facts: TaskFacts
) -> tuple[AllPairs | None, tuple[str, ...]]:
    """Every pair compared; or, where the design allows no comparison, why not."""
    if len(losses) < 2:
        return None, ()
    try:
        return compare_all(losses, partial(paired_test, facts)), ()
    except StatisticsError as error:
        return None, (f"no comparison is possible: {error}",)


def standard_of(facts: TaskFacts, code: str) -> StandardLoss:
    """How a loss is standardised on a task."""
    return StandardLoss(facts.baselines.get(code), facts.loss(code).is_shift)


def compare_methods(
    results: Results, first: str, second: str, address: str, code: str | None = None
) -> Contest:
    """Two methods on one task; the p-value is of this one comparison, adjusted for nothing."""
    results.method(first), results.method(second)
    both = results.select(methods=(first, second), tasks=(address,))
    contest = analyse_task(both, address, code).contest(first, second)
    if contest.first == first:
        return contest
    raise AssertionError("methods come in the order in which they were selected")


def _finding(
    results: Results, facts: TaskFacts, losses: MethodLosses, standard: StandardLoss
) -> MethodFinding:
    records = results.of(losses.method, facts.address)
    failed = sum(record.status != "done" for record in records)
    stood_in = sum(record.fallback is not None for record in records)
    found: Estimate | None = None
    reason = ""
    try:
        found = expected_loss(facts, losses)
    except StatisticsError as error:
        reason = str(error)
    return MethodFinding(
        losses.method,
        found,
        standard,
        len(losses.by_instance),
        losses.runs,
        failed,
        stood_in,
        reason,
        is_one_partition=len(facts.instances) == 1,
    )


def expected_loss(facts: TaskFacts, losses: MethodLosses) -> Estimate:
    """A method's expected loss by the analysis that fits the task's design; an error where none does."""
    instances = sorted(losses.by_instance)
    tables = losses.of(instances)
    if len(facts.instances) == 1:
        return analyse_partition(tables[0])
    if facts.scheme == "nested-cross-validation" and not losses.missing:
        return nested_estimate(facts, losses)
    if facts.is_cross_validation:
        return analyse_resampled(_fold_means(losses.of(_folds(facts, instances))), ratio=_ratio(facts))
    if losses.runs > 1:
        analyse_runs = (
            seed_runs.analyse_runs_common if facts.scheme == "common" else seed_runs.analyse_runs_hierarchical
        )
        return analyse_runs(tables)
    analyse = anova.analyse_common if facts.scheme == "common" else anova.analyse_hierarchical
    return analyse([table[0] for table in tables])


def paired_test(facts: TaskFacts, first: MethodLosses, second: MethodLosses) -> Test:
    """Two methods compared on the instances that both have, by the analysis that fits the task's design."""
    instances = shared_instances(first, second)
    if not instances:
        raise StatisticsError(
            f"{first.method} and {second.method} have no instance of {facts.address} in common: "
            "nothing can be compared"
        )
    if facts.is_cross_validation:
        instances = _folds(facts, instances)
    one, two = first.of(instances), second.of(instances)
    if len(facts.instances) == 1:
        return compare_partition(one[0], two[0])
    if facts.is_cross_validation:
        return compare_resampled(_fold_means(one), _fold_means(two), ratio=_ratio(facts))
    is_common = facts.scheme == "common"
    if first.runs > 1 or second.runs > 1:
        compare = seed_runs.compare_runs_common if is_common else seed_runs.compare_runs_hierarchical
        return compare(one, two)
    simple = anova.compare_common if is_common else anova.compare_hierarchical
    return simple([table[0] for table in one], [table[0] for table in two])


def shared_instances(first: MethodLosses, second: MethodLosses) -> tuple[int, ...]:
    """The instances on which both methods have losses."""
    return tuple(sorted(set(first.by_instance) & set(second.by_instance)))


def _folds(facts: TaskFacts, instances: Sequence[int]) -> tuple[int, ...]:
    """The instances that are folds; pairs of folds serve nested estimates alone."""
    return tuple(number for number in instances if number < outer_instances(facts))


def _fold_means(tables: Sequence[Numbers]) -> Numbers:
    return np.array([table.mean() for table in tables])


def _ratio(facts: TaskFacts) -> float:
    """Test cases over training cases, of all folds together (Nadeau and Bengio 2003)."""
    folds = facts.instances[: outer_instances(facts)]
    testing = sum(len(one.case_numbers) for one in folds)
    return testing / sum(one.training_set_size for one in folds)


def _contests(
    pairs: AllPairs, losses: Mapping[str, MethodLosses], facts: TaskFacts, standard: StandardLoss
) -> list[Contest]:
    found = []
    for pair in pairs.pairs:
        shared = shared_instances(losses[pair.first], losses[pair.second])
        test = _as_test(pair.test)
        runs_each = min(losses[pair.first].runs, losses[pair.second].runs)
        advice = "" if _is_settled(pair.adjusted_p_value) else _advice(test, facts, runs_each)
        found.append(Contest(pair.first, pair.second, test, pair.adjusted_p_value, standard, shared, advice))
    return found


def _as_test(test: PairedTest) -> Test:
    assert isinstance(test, Comparison | ResampledComparison)
    return test


def _is_settled(p_value: float | None) -> bool:
    return p_value is not None and p_value < 0.05


def _advice(test: Test, facts: TaskFacts, runs_each: int) -> str:
    """How much more data would find a difference of two per cent; empty where that cannot be said."""
    means = [mean for mean in (test.mean_first, test.mean_second) if mean is not None and mean > 0]
    if not isinstance(test, Comparison) or len(means) < 2 or len(facts.instances) < 2:
        return ""
    inside = test.differences
    try:
        components = estimate_components(test)
        plan = PlannedExperiment(inside.training_sets, max(round(inside.effective_test_cases), 1), 1)
        smallest = detectable_difference(components, plan)
        goal = Goal(SHARE_SOUGHT * min(means))
        words = advise(
            components, plan, goal, mean_loss=min(means), training_set_size=facts.training_set_size
        )
    except StatisticsError:
        return ""
    share = smallest.difference / min(means)
    return f"As it stands, a difference of {100 * share:.2g} % would be found with power 0.8. {words}"


def describe_contest(contest: Contest) -> str:
    """The comparison in one paragraph, fit for a paper."""
    if contest.difference is None or contest.p_value is None:
        return f"{contest.first} and {contest.second} cannot be compared: {'; '.join(contest.caveats)}."
    better, worse = (
        (contest.first, contest.second) if contest.difference < 0 else (contest.second, contest.first)
    )
    interval = contest.interval()
    around = (
        ""
        if interval is None
        else f" (95 % interval of this comparison alone {interval[0]:.4g} to {interval[1]:.4g})"
    )
    lead = (
        f"{better} loses less than {worse}"
        if contest.winner
        else f"{contest.first} and {contest.second} could not be told apart"
    )
    text = (
        f"{lead}: {contest.first} − {contest.second} = {contest.difference:.4g} ± "
        f"{contest.standard_error:.2g}{around}, p = {contest.p_value:.2g}"
    )
    if contest.adjusted_p_value is not None and contest.adjusted_p_value != contest.p_value:
        text += f", {contest.adjusted_p_value:.2g} when adjusted for all pairs"
    return f"{text}.{' ' + contest.advice if contest.advice else ''}"
