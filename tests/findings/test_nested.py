"""Nested cross-validation: the design has every pair of folds, and its losses go where they belong."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.errors import SpecError
from redelve.findings import analyse_task
from redelve.model import Assignment, Instance
from redelve.model.designs import nest
from redelve.model.designs.folds import outer_folds
from redelve.stats.resampled import NestedCV, Resampled, nested_cross_validation
from tests.findings.made_up import WEIGHT, results, task

FOLDS, REPETITIONS, CASES = 5, 2, 30


def cross_validation() -> Assignment:
    rng = np.random.default_rng(0)
    instances: list[Instance] = []
    for _ in range(REPETITIONS):
        for part in np.array_split(rng.permutation(CASES), FOLDS):
            testing = np.sort(part)
            instances.append(Instance(len(instances), np.setdiff1d(np.arange(CASES), testing), testing))
    return Assignment(None, None, None, tuple(instances), "cross-validation", REPETITIONS)  # type: ignore[arg-type]


def test_every_pair_of_folds_is_left_out_once_a_repetition() -> None:
    folds, nested = cross_validation().instances, nest(cross_validation()).instances
    assert nested[: len(folds)] == folds
    assert [one.number for one in nested] == list(range(len(nested)))
    pairs = [
        np.sort(np.concatenate([left.testing, right.testing]))
        for start in (0, FOLDS)
        for left, right in combinations(folds[start : start + FOLDS], 2)
    ]
    for made, tested in zip(nested[len(folds) :], pairs, strict=True):
        assert np.array_equal(made.testing, tested)
        assert np.array_equal(np.sort(np.concatenate([made.training, tested])), np.arange(CASES))


@pytest.mark.parametrize("folds", [3, 4, 5, 10, 17])
def test_the_number_of_folds_follows_from_that_of_the_instances(folds: int) -> None:
    assert outer_folds(3 * folds * (folds + 1) // 2, 3) == folds


def test_only_cross_validation_with_three_folds_can_be_nested() -> None:
    with pytest.raises(SpecError, match="only cross-validation can be nested"):
        nest(replace(cross_validation(), scheme="common", task=_Named()))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="three folds or more, not 2"):
        nest(replace(cross_validation(), instances=cross_validation().instances[:2], repetitions=1))


class _Named:
    address = "/made/up/std.24"


def test_losses_reach_the_estimate_by_fold_and_by_what_was_left_aside() -> None:
    instances = nest(cross_validation()).instances
    base = task("/made/up/std.24", instances=1)
    facts = replace(
        base,
        scheme="nested-cross-validation",
        repetitions=REPETITIONS,
        instances=tuple(
            replace(base.instances[0], training_set_size=len(one.training), case_numbers=one.testing + 1)
            for one in instances
        ),
    )
    rng = np.random.default_rng(1)
    losses = [rng.exponential(size=len(one.testing)) for one in instances]
    pairs = zip(instances, losses, strict=True)
    by_training = {tuple(one.training): dict(zip(one.testing, row, strict=True)) for one, row in pairs}
    outer, inner = [], []
    for start in (0, FOLDS):
        folds = instances[start : start + FOLDS]
        outer.append([losses[start + k] for k in range(FOLDS)])
        inner.append(
            [
                [
                    by_training[tuple(np.setdiff1d(aside.training, fold.testing))][case]
                    for fold in folds
                    if fold is not aside
                    for case in fold.testing
                ]
                for aside in folds
            ]
        )
    found = analyse_task(results([facts], {"a": {facts.address: losses}}), facts.address).method("a")
    expected = nested_cross_validation(inner, outer)
    assert isinstance(found.estimate, NestedCV)
    assert found.estimate.nested == pytest.approx(expected.nested)
    assert found.estimate.bias == pytest.approx(expected.bias)
    assert found.estimate.mean == pytest.approx(expected.cross_validated)  # as in comparisons
    assert found.estimate.standard_error == pytest.approx(expected.standard_error)
    assert facts.targets == (WEIGHT,)

    with_a_hole = results([facts], {"a": {facts.address: [*losses[:-1], None]}})
    left = analyse_task(with_a_hole, facts.address).method("a").estimate
    assert isinstance(left, Resampled)
    assert left.resamples == FOLDS * REPETITIONS


@pytest.mark.parametrize("design", ["nested 5", "nested 4x2", "cv 5", "cv 5x2", "holdout"])
def test_losses_differ_by_as_much_as_comparisons_say(design: str) -> None:
    """The order of the losses shown is that of the differences shown."""
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(83, 6))
    frame = pd.DataFrame(inputs, columns=list("abcdef")).assign(y=inputs[:, 0] + 2 * rng.normal(size=83))
    (found,) = redelve.assess(["lasso", "lin-1", "ridge"], frame, "y", design=design).findings.tasks[-1:]
    means = {one.method: one.mean for one in found.methods if one.mean is not None}
    assert len(means) == 3
    for one in found.contests:
        assert one.difference == pytest.approx(means[one.first] - means[one.second], abs=1e-12)
