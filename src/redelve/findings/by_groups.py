"""Folds of groups: what cross-validation of dependent cases says of a method, and of pairs of them."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.findings.by_method import MethodLosses, inner_losses, outer_instances
from redelve.run.results import TaskFacts
from redelve.stats.families import PairSquares, Places, pairs_of_groups
from redelve.stats.grouped import (
    GroupComparison,
    GroupedLosses,
    GroupEstimate,
    analyse_groups,
    compare_groups,
    grouped_losses,
    loss_scale,
)


def expected_by_groups(facts: TaskFacts, losses: MethodLosses) -> GroupEstimate:
    """A method's expected loss, with a standard error by groups."""
    instances, judge = _folds(facts, [losses]), facts.loss(losses.code)
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
    instances = _folds(facts, several)
    is_whole = not any(one.missing for one in several)
    return [_grouped(facts, one, instances, is_whole=is_whole) for one in several]


def _folds(facts: TaskFacts, several: Sequence[MethodLosses]) -> list[int]:
    """The folds on which all these methods have losses."""
    shared = set.intersection(*(set(one.by_instance) for one in several))
    return sorted(number for number in shared if number < outer_instances(facts))


def _grouped(
    facts: TaskFacts, losses: MethodLosses, instances: Sequence[int], *, is_whole: bool
) -> GroupedLosses:
    labels = [facts.instances[number].units for number in instances]
    nested = is_whole and facts.scheme == "nested-cross-validation"
    return grouped_losses(
        [table.mean(axis=0) for table in losses.of(instances)],
        [one for one in labels if one is not None],
        inner_losses(facts, losses) if nested else None,
    )
