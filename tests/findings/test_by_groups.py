"""Folds of groups: losses reach the analysis by groups, nested or not, alone and in pairs."""

from dataclasses import replace

import numpy as np
import pytest

from redelve.answers.predictions import Target, Truth
from redelve.findings import TaskFindings, analyse_task
from redelve.findings.by_method import is_grouped
from redelve.model import Assignment, Instance
from redelve.model.designs import nest
from redelve.run.results import TaskFacts
from redelve.stats.grouped import GroupedLosses, GroupEstimate, analyse_groups, compare_groups, grouped_losses
from redelve.stats.resampled import Resampled
from tests.findings.made_up import results, task

FOLDS, GROUPS, EACH = 4, 8, 3
LABELS = np.repeat(np.arange(GROUPS), EACH)
KIND = Target("kind", "categorical", ("a", "b"))


def folds() -> Assignment:
    every = np.arange(LABELS.size)
    parts = [np.flatnonzero(fold == LABELS % FOLDS) for fold in range(FOLDS)]
    instances = tuple(Instance(k, np.setdiff1d(every, part), part) for k, part in enumerate(parts))
    return Assignment(None, None, None, instances, "cross-validation", 1)  # type: ignore[arg-type]


def facts_of(made: Assignment, labels: np.ndarray = LABELS) -> TaskFacts:
    base = task("/made/up/std.18", instances=1)
    instances = tuple(
        replace(
            base.instances[0],
            training_set_size=len(one.training),
            case_numbers=one.testing + 1,
            units=labels[one.testing],
        )
        for one in made.instances
    )
    return replace(base, scheme=made.scheme, instances=instances)


def drawn(facts: TaskFacts, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.exponential(size=len(one.case_numbers)) for one in facts.instances]


def by_groups(facts: TaskFacts, losses: list[np.ndarray], *, nested: bool) -> GroupedLosses:
    """The same by a loop over cases."""
    outer = losses[:FOLDS]
    inner = []
    for aside in range(FOLDS):
        mine = set(facts.instances[aside].case_numbers.tolist())
        found = [
            loss
            for one, row in zip(facts.instances[FOLDS:], losses[FOLDS:], strict=True)
            if mine <= set(one.case_numbers.tolist())
            for case, loss in zip(one.case_numbers.tolist(), row, strict=True)
            if case not in mine
        ]
        inner.append(np.array(found))
    labels = [LABELS[one.case_numbers - 1] for one in facts.instances[:FOLDS]]
    return grouped_losses(outer, labels, [inner] if nested else None)


@pytest.mark.parametrize("nested", [False, True])
def test_losses_reach_estimates_and_comparisons_by_groups(nested: bool) -> None:
    facts = facts_of(nest(folds()) if nested else folds())
    losses = {name: drawn(facts, seed) for seed, name in enumerate("abc")}
    found = analyse_task(
        results([facts], {name: {facts.address: rows} for name, rows in losses.items()}), facts.address
    )
    expected = {name: by_groups(facts, rows, nested=nested) for name, rows in losses.items()}
    for name in losses:
        estimate = found.method(name).estimate
        assert isinstance(estimate, GroupEstimate)
        assert estimate.is_nested == nested
        known = analyse_groups(expected[name], scale="log")
        assert found.method(name).bounds == pytest.approx(known.interval())
    for contest in found.contests:
        test = compare_groups(expected[contest.first], expected[contest.second])
        assert contest.standard_error == pytest.approx(test.standard_error)
        assert contest.test.p_value == pytest.approx(test.p_value)
        assert contest.adjusted_p_value == pytest.approx(min(3 * (test.p_value or 0), 1.0))


def test_a_missing_pair_leaves_the_folds() -> None:
    facts = facts_of(nest(folds()))
    rows = drawn(facts, 1)
    made = results([facts], {"a": {facts.address: [*rows[:-1], None]}, "b": {facts.address: drawn(facts, 2)}})
    found = analyse_task(made, facts.address)
    left, whole = found.method("a").estimate, found.method("b").estimate
    assert isinstance(left, GroupEstimate)
    assert isinstance(whole, GroupEstimate)
    assert (left.is_nested, whole.is_nested) == (False, True)
    assert found.contests[0].test.differences.degrees_of_freedom == GROUPS - 1


def lacking_folds(**lacking: range) -> TaskFindings:
    """Three methods on folds of groups and on pairs of these; the jobs of some folds failed."""
    facts = facts_of(nest(folds()))
    losses = {}
    for seed, name in enumerate("abc"):
        gone = lacking.get(name, range(0))
        rows = [None if number in gone else one for number, one in enumerate(drawn(facts, seed))]
        losses[name] = {facts.address: rows}
    return analyse_task(results([facts], losses), facts.address)


def test_a_method_with_results_on_pairs_of_folds_alone_is_left_out_with_the_reason() -> None:
    found = lacking_folds(c=range(FOLDS))
    assert [(one.first, one.second) for one in found.contests] == [("a", "b")]
    assert found.alone == ("c",)
    assert found.without["c"] == (
        "a and c have no fold of /made/up/std.18 in common, only pairs of folds: nothing can be compared"
    )
    every = lacking_folds(**dict.fromkeys("abc", range(FOLDS)))
    assert every.contests == ()
    assert every.method("c").estimate is None
    assert every.method("c").why_none == "c has results on no fold of /made/up/std.18, only on pairs of folds"


def test_two_methods_without_a_common_fold_take_no_comparison_from_the_others() -> None:
    found = lacking_folds(b=range(2), c=range(2, FOLDS))
    tested = {(one.first, one.second): one.p_value is not None for one in found.contests}
    assert tested == {("a", "b"): True, ("a", "c"): True, ("b", "c"): False}
    assert found.contest("b", "c").words == (
        "b and c cannot be compared: b and c have no fold of /made/up/std.18 in common, only pairs of folds: "
        "nothing can be compared."
    )


def test_shares_of_errors_stay_between_zero_and_one() -> None:
    base = facts_of(folds())
    instances = tuple(
        replace(one, truths=(Truth.exact(KIND, np.zeros(len(one.case_numbers))),)) for one in base.instances
    )
    facts = replace(base, targets=(KIND,), instances=instances, baselines={"Z": 0.5})
    rows = [np.zeros(len(one.case_numbers)) for one in facts.instances]
    rows[0][0] = 1.0
    found = analyse_task(results([facts], {"a": {facts.address: rows}}, code="Z"), facts.address)
    bounds = found.method("a").bounds
    assert bounds is not None
    assert 0 < bounds[0] < 1 / 24 < bounds[1] < 1


def test_cases_that_are_all_alone_are_no_groups() -> None:
    facts = facts_of(folds(), np.arange(LABELS.size))
    assert not is_grouped(facts)
    assert not is_grouped(replace(facts_of(folds()), scheme="common"))
    found = analyse_task(results([facts], {"a": {facts.address: drawn(facts, 1)}}), facts.address)
    assert isinstance(found.method("a").estimate, Resampled)
