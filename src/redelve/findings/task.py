"""One task: every method's expected loss, every pair compared, who may be the best, what would settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from redelve.answers.losses import Loss
from redelve.errors import StatisticsError
from redelve.findings.by_method import (
    MethodLosses,
    is_folded,
    losses_of,
    nested_estimate,
    outer_instances,
    primary_loss,
)
from redelve.model.dataset import Numbers
from redelve.run.results import Results, TaskFacts, TaskResults
from redelve.stats import anova, seed_runs
from redelve.stats.estimates import Analysis, Comparison, Interval, estimate_components
from redelve.stats.multiple import AllPairs, BestGroup, Pair, adjust_all, best_group
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
    """What was found of a method on a task: its expected loss and where its variation comes from.

    What cannot be told is None.
    """

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
    mean: float | None = field(init=False)
    """The expected loss."""
    standard_error: float | None = field(init=False)
    bounds: Interval | None = field(init=False)
    """Its confidence interval of 95 %."""
    standardised: float | None = field(init=False)
    """The expected loss in units of what the best constant answer loses."""
    standardised_error: float | None = field(init=False)
    deviations: Mapping[str, float | None] = field(init=False)
    """Standard deviations of the loss by source; empty where they cannot be told apart."""

    def __post_init__(self) -> None:
        found = self.estimate
        mean, error = (None, None) if found is None else (found.mean, found.standard_error)
        _settle(
            self,
            mean=mean,
            standard_error=error,
            bounds=self.interval(),
            standardised=self.standard.mean(mean),
            standardised_error=self.standard.spread(error),
            deviations=_deviations(found, "seeds" if self.is_one_partition else "training sets"),
        )

    def interval(self, level: float = 0.95) -> Interval | None:
        """The confidence interval of the expected loss."""
        return None if self.estimate is None else self.estimate.interval(level)


def _settle(made: object, **values: object) -> None:
    """Give a frozen value what follows from its other fields."""
    for name, value in values.items():
        object.__setattr__(made, name, value)


def _deviations(found: Estimate | None, between: str) -> dict[str, float | None]:
    """Standard deviations by source; `between` is what varies from one training to the next."""
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
            between: found.sd_training,
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
    difference: float | None = field(init=False)
    """Expected loss of the first method minus that of the second."""
    standard_error: float | None = field(init=False)
    """Standard error of the difference: the one that its interval and p-value rest on.

    `test.standard_error` is DELVE's, which is larger where a variance was estimated to be negative.
    """
    bounds: Interval | None = field(init=False)
    """The confidence interval of 95 % for the difference."""
    p_value: float | None = field(init=False)
    """Two-sided p-value of this comparison taken alone."""
    winner: str | None = field(init=False)
    """The method with the smaller expected loss, if the adjusted p-value is below 0.05."""
    caveats: tuple[str, ...] = field(init=False)
    """What must be said beside it."""
    words: str = field(init=False, repr=False)
    """The comparison in one paragraph, fit for a paper."""

    def __post_init__(self) -> None:
        inside, difference = self.test.differences, self.test.difference
        better = self.first if difference and difference < 0 else self.second
        _settle(
            self,
            difference=difference,
            standard_error=(
                inside.interval_standard_error if isinstance(inside, Analysis) else inside.standard_error
            ),
            bounds=inside.interval(),
            p_value=self.test.p_value,
            winner=better if difference and is_settled(self.adjusted_p_value) else None,
            caveats=self.test.caveats,
        )
        _settle(self, words=_described(self))

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference."""
        return self.test.interval(level)

    def __str__(self) -> str:
        return self.words


def is_settled(p_value: float | None) -> bool:
    """Whether a difference is taken as found."""
    return p_value is not None and p_value < 0.05


@dataclass(frozen=True)
class TaskFindings:
    """Everything found on one task by one loss."""

    task: TaskFacts
    loss: str
    judged_by: Loss
    """The loss itself, as far as it is known here."""
    loss_words: str
    """The loss as within a sentence."""
    methods: tuple[MethodFinding, ...]
    contests: tuple[Contest, ...]
    group: BestGroup | None
    caveats: tuple[str, ...] = field(repr=False)
    best_group: tuple[str, ...] = field(init=False)
    """The methods not distinguishable from the best."""

    def __post_init__(self) -> None:
        _settle(self, best_group=self.group.members if self.group else ())

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


def analyse_task(results: Results, address: str, code: str | None = None) -> TaskFindings:
    """Expected losses and comparisons of all methods on a task by one loss."""
    return analyse(results.on(address), code)


def analyse(work: TaskResults, code: str | None = None) -> TaskFindings:
    """The same of what came of one task."""
    facts = work.facts
    code = code or primary_loss(facts)
    losses, judge = losses_of(work, code), work.losses[code]
    standard, words = StandardLoss(facts.baselines.get(code), judge.is_shift), judge.words
    methods = tuple(finding_of(work, losses[name], standard) for name in losses)
    pairs, why_not = _all_pairs(losses, facts)
    group = best_group(pairs, level=GROUP_LEVEL) if pairs else None
    contests = tuple(_contest(pair, losses, facts, standard) for pair in pairs.pairs) if pairs else ()
    own = [caveat for method in methods if method.estimate for caveat in method.estimate.caveats]
    caveats = dict.fromkeys((*(group.caveats if group else own), *why_not))
    return TaskFindings(facts, code, judge, words, methods, contests, group, tuple(caveats))


def _all_pairs(
    losses: Mapping[str, MethodLosses], facts: TaskFacts
) -> tuple[AllPairs | None, tuple[str, ...]]:
    """Every pair compared; or, where the design allows no comparison, why not."""
    if len(losses) < 2:
        return None, ()
    try:
        tests = {
            pair: paired_test(facts, *(losses[name] for name in pair)) for pair in combinations(losses, 2)
        }
    except StatisticsError as error:
        return None, (f"no comparison is possible: {error}",)
    return adjust_all(tests), ()


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


def finding_of(work: TaskResults, losses: MethodLosses, standard: StandardLoss) -> MethodFinding:
    """What was found of one method on a task; compared with none."""
    records = work.records[losses.method]
    found: Estimate | None = None
    reason = ""
    try:
        found = expected_loss(work.facts, losses)
    except StatisticsError as error:
        reason = str(error)
    return MethodFinding(
        losses.method,
        found,
        standard,
        len(losses.by_instance),
        losses.runs,
        sum(record.status != "done" for record in records),
        sum(record.fallback is not None for record in records),
        reason,
        is_one_partition=len(work.facts.instances) == 1,
    )


def expected_loss(facts: TaskFacts, losses: MethodLosses) -> Estimate:
    """A method's expected loss by the analysis that fits the task's design; an error where none does."""
    instances = sorted(losses.by_instance)
    tables = losses.of(instances)
    if len(facts.instances) == 1:
        return analyse_partition(tables[0])
    if facts.scheme == "nested-cross-validation" and not losses.missing:
        return nested_estimate(facts, losses)
    if is_folded(facts):
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
    if is_folded(facts):
        instances = _folds(facts, instances)
    one, two = first.of(instances), second.of(instances)
    if len(facts.instances) == 1:
        return compare_partition(one[0], two[0])
    if is_folded(facts):
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


def _contest(
    pair: Pair, losses: Mapping[str, MethodLosses], facts: TaskFacts, standard: StandardLoss
) -> Contest:
    assert isinstance(pair.test, Comparison | ResampledComparison)
    shared = shared_instances(losses[pair.first], losses[pair.second])
    advice = "" if is_settled(pair.adjusted_p_value) else _advice(pair.test, facts)
    return Contest(pair.first, pair.second, pair.test, pair.adjusted_p_value, standard, shared, advice)


def _advice(test: Test, facts: TaskFacts) -> str:
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


def _described(contest: Contest) -> str:
    """The comparison in one paragraph, fit for a paper."""
    if contest.difference is None or contest.p_value is None:
        return f"{contest.first} and {contest.second} cannot be compared: {'; '.join(contest.caveats)}."
    better, worse = (
        (contest.first, contest.second) if contest.difference < 0 else (contest.second, contest.first)
    )
    interval = contest.bounds
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
