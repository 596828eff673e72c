"""The losses of each method on a task, and the analysis of them that fits the task's design.

A table has runs by test cases, for every instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from redelve.answers.losses import Loss, parse_loss, primary_loss_for
from redelve.errors import RedelveError, StatisticsError
from redelve.findings.claims import Test
from redelve.findings.failures import on_one_line
from redelve.model.dataset import Numbers
from redelve.model.designs.folds import outer_folds
from redelve.run.results import ANSWERS, InstanceFacts, Record, Results, TaskFacts, TaskResults
from redelve.stats import anova, seed_runs
from redelve.stats.case_pairs import pairs_of_cases, unit_parts, with_noise
from redelve.stats.estimates import Analysis
from redelve.stats.families import PairSquares, Places, pairs_of_groups, pairs_of_means, pairs_of_sets
from redelve.stats.forward import analyse_forward, compare_forward
from redelve.stats.grouped import (
    GroupComparison,
    GroupedLosses,
    GroupEstimate,
    analyse_groups,
    compare_groups,
    grouped_losses,
    loss_scale,
)
from redelve.stats.one_partition import analyse_cases, analyse_partition, compare_cases, compare_partition
from redelve.stats.resampled import (
    NestedCV,
    Resampled,
    ResampledComparison,
    analyse_resampled,
    compare_resampled,
    hidden_parts,
    nested_cross_validation,
)
from redelve.stats.units import pool_units, weighted

Estimate = Analysis | seed_runs.RunsAnalysis | Resampled | NestedCV | GroupEstimate


@dataclass(frozen=True)
class MethodLosses:
    """One method's losses on one task: for each instance that has any, a table of runs by cases (or units).

    All instances have the same number of runs. `missing` are the instances without losses.
    """

    method: str
    by_instance: Mapping[int, Numbers]
    missing: tuple[int, ...]
    runs: int
    code: str = ""
    """The loss that they are of."""
    metric: Loss | None = None
    """The loss itself, where it is a metric that is no mean of cases and these are pseudo-values."""

    def of(self, instances: Sequence[int]) -> list[Numbers]:
        """The tables of the given instances."""
        return [self.by_instance[number] for number in instances]

    @property
    def has_nan(self) -> bool:
        """Whether some loss is not a number, so that there is no expected loss."""
        return any(np.isnan(table).any() for table in self.by_instance.values())


def primary_loss(facts: TaskFacts) -> str:
    """The loss a task is judged by unless the user chooses: squared error, or zero-one for categories."""
    return primary_loss_for(facts.targets)


def no_such_loss(work: TaskResults, loss: str) -> str:
    """Why a task is not judged by a loss: it suits other targets, or was not computed."""
    address = work.facts.address
    try:
        reason = parse_loss(loss).why_not(work.facts.targets)
    except RedelveError:  # of the user's own, or of nobody
        reason = None
    if reason is not None:
        return f"{address}: {reason}; choose another loss, or only tasks that it suits"
    there = ", ".join(work.losses)
    return f'{address} has no loss "{loss}": it has {there}; an archive can be rescored for others'


def judge_of(work: TaskResults, loss: str | None = None) -> str:
    """The loss that a task is judged by: the one asked for, or the primary one, or the first there is."""
    codes = tuple(work.losses)
    chosen = loss or work.primary
    return chosen if chosen in codes or not codes else codes[0]


def judged_results(results: Results, loss: str | None = None) -> Results:
    """The results with no other loss than the one that each task is judged by."""
    judges = {address: judge_of(results.on(address), loss) for address in results.tasks}
    records = []
    for record in results.records:
        judge = judges[record.job.task]
        kept = {code: losses for code, losses in record.losses.items() if code == judge}
        records.append(replace(record, losses=kept))
    return replace(results, records=tuple(records))


def is_folded(facts: TaskFacts) -> bool:
    """Whether cases train in one instance and test in another."""
    return facts.scheme in ("cross-validation", "nested-cross-validation", "time")


def loss_codes(results: Results, address: str) -> tuple[str, ...]:
    """The losses that some record of a task has, in their order."""
    return tuple(results.on(address).losses)


def losses_on(results: Results, address: str, code: str) -> dict[str, MethodLosses]:
    """The losses of every method that has some on this task."""
    return losses_of(results.on(address), code)


def losses_of(work: TaskResults, code: str) -> dict[str, MethodLosses]:
    """The losses of every method that has some."""
    judge = work.losses[code].loss if code in work.losses else None
    metric = None if judge is None or judge.mean_of_cases else judge
    found = [
        _method_losses(records, work.facts, name, code, metric) for name, records in work.records.items()
    ]
    usable = {losses.method: losses for losses in found if losses.by_instance}
    if not usable:
        raise StatisticsError(_no_losses(work, code))
    return usable


def _no_losses(work: TaskResults, code: str) -> str:
    """What there is in place of the losses asked for: others, or failures."""
    if work.losses:
        return f'there are no losses "{code}" on {work.facts.address}: it has {", ".join(work.losses)}'
    failed = [one for records in work.records.values() for one in records if one.status != "done"]
    told = f": {failed[0].job.method} {failed[0].status}: {on_one_line(failed[0].message)}" if failed else ""
    return f"no method has losses on {work.facts.address}{told}"


def _method_losses(
    records: Sequence[Record], facts: TaskFacts, name: str, code: str, metric: Loss | None
) -> MethodLosses:
    rows: dict[int, list[Numbers]] = {}
    for record in records:
        if code in record.losses:
            rows.setdefault(record.job.instance, []).append(_units(record, facts, code, metric))
    runs = min((len(tables) for tables in rows.values()), default=0)
    tables = {number: np.stack(found[:runs]) for number, found in rows.items()}
    missing = tuple(number for number in range(len(facts.instances)) if number not in tables)
    return MethodLosses(name, tables, missing, runs, code, metric)


def _units(record: Record, facts: TaskFacts, code: str, metric: Loss | None) -> Numbers:
    """The losses, dependent cases pooled into one value per unit."""
    instance, losses = facts.instances[record.job.instance], record.losses[code]
    if is_folded(facts):
        return losses
    if instance.weights is not None:
        losses = weighted(losses, instance.weights)
    units = instance.units if metric is None else metric.unit_numbers(instance.truths[0], instance.units)
    return losses if units is None else pool_units([losses], [units])[0]


def outer_instances(facts: TaskFacts) -> int:
    """How many of a task's instances, the first ones, are folds; in plain cross-validation all are."""
    if facts.scheme != "nested-cross-validation":
        return len(facts.instances)
    return facts.repetitions * outer_folds(len(facts.instances), facts.repetitions)


def is_grouped(facts: TaskFacts) -> bool:
    """Whether cases are cross-validated of which some belong together."""
    if not is_folded(facts):
        return False
    units = [one.units for one in facts.instances[: outer_instances(facts)]]
    return any(one is not None and np.unique(one).size < one.size for one in units)


def nested_estimate(facts: TaskFacts, losses: MethodLosses) -> NestedCV:
    """The expected loss with the standard error of Bates, Hastie and Tibshirani (2024).

    It is that of the outer folds, of which comparisons are made too: their correction of the bias, for a
    method that learns from all cases, differs from method to method and may turn the order round.
    """
    outer_count = outer_instances(facts)
    folds = outer_count // facts.repetitions
    outer = [_over_runs(losses.by_instance[number]) for number in range(outer_count)]
    by_repetition = [outer[start : start + folds] for start in range(0, outer_count, folds)]
    found = nested_cross_validation(inner_losses(facts, losses), by_repetition)
    return replace(found, mean=float(np.mean([fold.mean() for fold in outer])))


def inner_losses(facts: TaskFacts, losses: MethodLosses) -> list[list[Numbers]]:
    """By repetition and fold left aside: the losses of all other cases, which its pairs of folds tell."""
    position = outer_instances(facts)
    folds = position // facts.repetitions
    inner = []
    for start in range(0, position, folds):
        members = [facts.instances[start + k].case_numbers for k in range(folds)]
        parts: list[list[Numbers]] = [[] for _ in range(folds)]
        for left, right in combinations(range(folds), 2):
            tested = facts.instances[position].case_numbers
            table = _over_runs(losses.by_instance[position])
            parts[left].append(table[np.isin(tested, members[right])])
            parts[right].append(table[np.isin(tested, members[left])])
            position += 1
        inner.append([np.concatenate(part) for part in parts])
    return inner


# The analysis that fits the design: of one method, of two, of pairs


def expected_by_design(facts: TaskFacts, losses: MethodLosses) -> Estimate:
    """A method's expected loss by the analysis that fits the task's design; an error where none does."""
    instances = sorted(losses.by_instance)
    tables = losses.of(instances)
    if len(facts.instances) == 1:
        by_case, parts = _over_runs(tables[0]), unit_parts_of(facts)
        return analyse_cases(by_case, parts) if facts.is_fixed else analyse_partition(tables[0])
    if is_grouped(facts):
        return expected_by_groups(facts, losses)
    if facts.scheme == "nested-cross-validation" and not losses.missing:
        return nested_estimate(facts, losses)
    if is_folded(facts):
        return _expected_of_folds(facts, losses, _folds(facts, instances))
    if losses.runs > 1:
        analyse_runs = (
            seed_runs.analyse_runs_common if facts.scheme == "common" else seed_runs.analyse_runs_hierarchical
        )
        return analyse_runs(tables)
    analyse = anova.analyse_common if facts.scheme == "common" else anova.analyse_hierarchical
    return analyse([table[0] for table in tables])


def paired_by_design(
    facts: TaskFacts, first: MethodLosses, second: MethodLosses, instances: tuple[int, ...]
) -> Test:
    """Two methods compared on these instances by the analysis that fits the task's design."""
    if is_grouped(facts):
        return compare_by_groups(facts, first, second)
    if is_folded(facts):
        instances = _folds(facts, instances)
    one, two = first.of(instances), second.of(instances)
    if facts.is_fixed:
        return compare_cases(_over_runs(one[0]), _over_runs(two[0]), unit_parts_of(facts))
    if len(facts.instances) == 1:
        return compare_partition(one[0], two[0])
    if is_folded(facts):
        return _compared_by_folds(facts, first, second, instances)
    is_common = facts.scheme == "common"
    if first.runs > 1 or second.runs > 1:
        compare = seed_runs.compare_runs_common if is_common else seed_runs.compare_runs_hierarchical
        return compare(one, two)
    simple = anova.compare_common if is_common else anova.compare_hierarchical
    return simple([table[0] for table in one], [table[0] for table in two])


def squares_by_design(
    facts: TaskFacts, several: Sequence[MethodLosses], places: Places, instances: Sequence[int]
) -> PairSquares:
    """What pairs of methods on these instances differ by, and what that varies, by the task's design."""
    if is_grouped(facts):
        return squares_by_groups(facts, several, places)
    if is_folded(facts):
        return _squares_of_folds(facts, several, places, _folds(facts, instances))
    tables = [one.of(instances) for one in several]
    if facts.is_fixed:
        cases = np.array([_over_runs(table[0]) for table in tables])
        limits = facts.loss(several[0].code).limits(facts.targets)
        found = pairs_of_cases(cases, places, unit_parts_of(facts), limits)
        return with_noise(found, [table[0] for table in tables], places)
    if len(facts.instances) == 1:
        runs = min(one.runs for one in several)
        rows = [list(table[0][:runs]) for table in tables]
        if runs == 1:
            cases = np.array([row[0] for row in rows])
            return pairs_of_means(cases, places, 1 / cases.shape[1])
        return pairs_of_sets(rows, places, "common")
    averages = [[_over_runs(table) for table in found] for found in tables]
    return pairs_of_sets(averages, places, "common" if facts.scheme == "common" else "hierarchical")


def _squares_of_folds(
    facts: TaskFacts, several: Sequence[MethodLosses], places: Places, folds: tuple[int, ...]
) -> PairSquares:
    if len(folds) < 2:
        raise StatisticsError(f"a comparison needs at least two folds: got {len(folds)}")
    means = np.array([_fold_means(one.of(folds)) for one in several])
    factor = 1 / means.shape[1] + test_ratio(facts)
    if facts.scheme == "time" or not _is_stratified(facts.instances[: outer_instances(facts)]):
        return pairs_of_means(means, places, factor)
    hidden = np.array([_hidden(facts, one, folds) for one in several])
    cases = np.unique(np.concatenate([facts.instances[number].case_numbers for number in folds]))
    return pairs_of_means(means, places, factor, hidden, len(cases))


def unit_parts_of(facts: TaskFacts) -> Numbers | None:
    """Of fixed models, what each unit has of all weight; None where all cases count alike and are alone."""
    one = facts.instances[0]
    if one.units is None and one.weights is None:
        return None
    return unit_parts(one.units, one.weights, len(one.case_numbers))


def shared_instances(first: MethodLosses, second: MethodLosses) -> tuple[int, ...]:
    """The instances on which both methods have losses."""
    return tuple(sorted(set(first.by_instance) & set(second.by_instance)))


def _folds(facts: TaskFacts, instances: Sequence[int]) -> tuple[int, ...]:
    """The instances that are folds; pairs of folds serve nested estimates alone."""
    return tuple(number for number in instances if number < outer_instances(facts))


def _fold_means(tables: Sequence[Numbers]) -> Numbers:
    with np.errstate(invalid="ignore"):  # ∞ and −∞ have no mean, which the analyses see
        return np.array([table.mean() for table in tables])


def _expected_of_folds(facts: TaskFacts, losses: MethodLosses, folds: tuple[int, ...]) -> Resampled:
    means, ratio = _fold_means(losses.of(folds)), test_ratio(facts)
    if facts.scheme == "time":
        return analyse_forward(means, ratio=ratio)
    hidden = float(np.square(_hidden(facts, losses, folds)).sum())
    return analyse_resampled(means, ratio=ratio, hidden=hidden)


def _compared_by_folds(
    facts: TaskFacts, first: MethodLosses, second: MethodLosses, folds: tuple[int, ...]
) -> ResampledComparison:
    means, ratio = [_fold_means(one.of(folds)) for one in (first, second)], test_ratio(facts)
    if facts.scheme == "time":
        return compare_forward(*means, ratio=ratio)
    hidden = _hidden(facts, first, folds) - _hidden(facts, second, folds)
    return compare_resampled(*means, ratio=ratio, hidden=float(np.square(hidden).sum()))


def _hidden(facts: TaskFacts, losses: MethodLosses, folds: Sequence[int]) -> Numbers:
    """What the folds' means do not show of how the classes' shares vary, where folds are stratified."""
    instances = [facts.instances[number] for number in folds]
    if not _is_stratified(facts.instances[: outer_instances(facts)]):
        return np.zeros(1)
    values = np.concatenate([_over_runs(table) for table in losses.of(folds)])
    classes = np.concatenate([one.truths[0].level_indexes for one in instances])
    return hidden_parts(values, classes, values.size / len(instances))


def _is_stratified(folds: Sequence[InstanceFacts]) -> bool:
    """Whether all folds have about the same number of cases of each class."""
    if not all(one.truths and one.truths[0].target.kind == "categorical" for one in folds):
        return False
    levels = len(folds[0].truths[0].target.levels)
    counts = np.array([np.bincount(one.truths[0].level_indexes, minlength=levels) for one in folds])
    return bool((np.ptp(counts, axis=0) <= 1).all())


def _over_runs(table: Numbers) -> Numbers:
    """The mean loss of every case."""
    with np.errstate(invalid="ignore"):
        return np.asarray(table.mean(axis=0))


def test_ratio(facts: TaskFacts) -> float:
    """Test cases over training cases, of all folds together (Nadeau and Bengio 2003)."""
    if facts.test_ratio is not None:
        return facts.test_ratio
    folds = facts.instances[: outer_instances(facts)]
    testing = sum(len(one.case_numbers) for one in folds)
    return testing / sum(one.training_set_size for one in folds)


# Folds of groups: cross-validation of dependent cases


def expected_by_groups(facts: TaskFacts, losses: MethodLosses) -> GroupEstimate:
    """A method's expected loss, with a standard error by groups."""
    instances, judge = _shared_folds(facts, [losses]), facts.loss(losses.code)
    scale = loss_scale(is_shift=judge.is_shift, is_share=judge.is_share)
    return analyse_groups(_grouped(facts, losses, instances, is_whole=not losses.missing), scale=scale)


def compare_by_groups(facts: TaskFacts, first: MethodLosses, second: MethodLosses) -> GroupComparison:
    """Two methods on the folds that both have."""
    one, two = _of_all(facts, [first, second])
    return compare_groups(one, two)


def squares_by_groups(facts: TaskFacts, several: Sequence[MethodLosses], places: Places) -> PairSquares:
    """What pairs of methods differ by on the folds that all of them have, and what that varies."""
    return pairs_of_groups(_of_all(facts, several), places)


def _of_all(facts: TaskFacts, several: Sequence[MethodLosses]) -> list[GroupedLosses]:
    """The losses by groups on what all have; pairs of folds count where nobody lacks one."""
    instances = _shared_folds(facts, several)
    is_whole = not any(one.missing for one in several)
    return [_grouped(facts, one, instances, is_whole=is_whole) for one in several]


def _shared_folds(facts: TaskFacts, several: Sequence[MethodLosses]) -> list[int]:
    """The folds on which all these methods have losses; an error where there are only pairs of folds."""
    shared = set.intersection(*(set(one.by_instance) for one in several))
    if found := sorted(number for number in shared if number < outer_instances(facts)):
        return found
    names, address = " and ".join(one.method for one in several), facts.address
    if len(several) == 1:
        raise StatisticsError(f"{names} has results on no fold of {address}, only on pairs of folds")
    raise StatisticsError(
        f"{names} have no fold of {address} in common, only pairs of folds: nothing can be compared"
    )


def _grouped(
    facts: TaskFacts, losses: MethodLosses, instances: Sequence[int], *, is_whole: bool
) -> GroupedLosses:
    labels = [facts.instances[number].units for number in instances]
    nested = is_whole and facts.scheme == "nested-cross-validation"
    return grouped_losses(
        [_over_runs(table) for table in losses.of(instances)],
        [one for one in labels if one is not None],
        inner_losses(facts, losses) if nested else None,
    )


def answers_to_a_case(records: Sequence[Record]) -> float:
    """How many answers to a case a model gave, on average where they were averaged before they came here."""
    told = [float(one.told[ANSWERS]) for one in records if ANSWERS in one.told]
    return sum(told) / len(told) if told else float(max((1 + one.job.run for one in records), default=0))
