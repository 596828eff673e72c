"""What a set of instances is like, so that an analysis can refuse it or say what its numbers are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from redelve.errors import SpecError
from redelve.model import Instance, Prototask
from redelve.model.dataset import Rows
from redelve.model.designs.explicit import nearest_places
from redelve.model.designs.groups import Integers, labels_for


@dataclass(frozen=True)
class DesignFacts:
    """How the training and test sets of the instances are related; a single instance counts as disjoint."""

    instance_count: int
    test_sets: Literal["common", "disjoint", "overlapping"]
    training_sets: Literal["disjoint", "overlapping"]
    equal_training_sizes: bool
    equal_test_sizes: bool
    leaking: bool
    """Some test case is, or depends on, a training case of the same instance."""
    roles_mixed: bool
    """Some case, or its group, trains in one instance and tests in another."""
    groups_across_trainings: bool
    """Training sets without a common case have a common group."""
    groups_across_tests: bool
    """Test sets without a common case have a common group."""
    groups_within_tests: bool
    """Some test set has several cases of one group."""
    sequential: bool
    """Cases near each other in the order may depend on each other."""

    def caveats(self) -> tuple[str, ...]:
        """What to bear in mind, in plain words; empty for a standard design of independent cases."""
        holds = {
            "leaking": self.leaking,
            "single": self.instance_count == 1,
            "training": self.training_sets == "overlapping",
            "roles": self.roles_mixed,
            "testing": self.test_sets == "overlapping",
            "training sizes": not self.equal_training_sizes,
            "test sizes": not self.equal_test_sizes,
            "groups in training sets": self.groups_across_trainings,
            "groups across test sets": self.groups_across_tests,
            "groups in test sets": self.groups_within_tests,
            "sequence": self.sequential,
        }
        return tuple(CAVEATS[name] for name, is_true in holds.items() if is_true)


# On "roles": the variance of a cross-validation mean has no unbiased estimator (Bengio and Grandvalet 2004).
CAVEATS = {
    "leaking": "some test cases are training cases of the same instance, share a group with one or lie too "
    "near to one: the loss is estimated too low",
    "single": "there is only one instance: how much the loss varies with the training set can't be estimated",
    "training": "training sets overlap: their losses vary together, so standard errors are too small",
    "roles": "some cases train in one instance and test in another: the losses of different instances depend "
    "on each other, and no unbiased standard error exists",
    "testing": "test sets overlap partly: neither the analysis for a common test set nor the one for "
    "disjoint test sets fits, and standard errors are only rough",
    "training sizes": "training sets differ in size: the mean loss belongs to no single training-set size",
    "test sizes": "test sets differ in size: the means of the instances are not equally precise, and "
    "balanced analyses of variance don't apply",
    "groups in training sets": "training sets of different instances share groups: their losses vary "
    "together, so standard errors are somewhat too small",
    "groups across test sets": "test sets of different instances share groups: the instances are not "
    "independent, so standard errors are too small",
    "groups in test sets": "some test cases share a group: standard errors must count groups, not cases",
    "sequence": "cases are in sequence: neighbouring cases of one set, and neighbouring sets, may depend on "
    "each other, so standard errors may be too small",
}


def prototask_caveats(prototask: Prototask) -> tuple[str, ...]:
    """What the way in which a prototask draws its instances makes of standard errors and expected losses."""
    found = []
    if prototask.is_sequential:
        found.append(
            "the prototask is sequential: neighbouring test cases, and neighbouring training sets, may "
            "depend on each other, which makes standard errors and p-values too small"
        )
    if prototask.stratified:
        found.append(
            "test sets hold each class equally often, so the expected loss is for equally likely classes; "
            "the standard error takes test cases as drawn at random and is, if anything, too large"
        )
    return tuple(found)


def describe(
    instances: Sequence[Instance],
    commonality: Integers | None = None,
    *,
    dependency_range: int | None = None,
) -> DesignFacts:
    """How the sets of these instances are related, given the commonality indexes and the range, if any."""
    if not len(instances):
        raise SpecError("there are no instances to describe: draw or list at least one")
    training = [instance.training for instance in instances]
    testing = [instance.testing for instance in instances]
    _, labels = np.unique(labels_for(instances, commonality), return_inverse=True)
    training_groups = [np.unique(labels[cases]) for cases in training]
    test_groups = [np.unique(labels[cases]) for cases in testing]
    return DesignFacts(
        instance_count=len(instances),
        test_sets=_relation_of_tests(testing),
        training_sets="disjoint" if _are_disjoint(training) else "overlapping",
        equal_training_sizes=len({len(cases) for cases in training}) == 1,
        equal_test_sizes=len({len(cases) for cases in testing}) == 1,
        leaking=_share_any(training_groups, test_groups) or _come_near(instances, dependency_range),
        roles_mixed=len(instances) > 1 and _share_any([_union(training_groups)], [_union(test_groups)]),
        groups_across_trainings=_are_disjoint(training) and not _are_disjoint(training_groups),
        groups_across_tests=_are_disjoint(testing) and not _are_disjoint(test_groups),
        groups_within_tests=sum(map(len, test_groups)) < sum(map(len, testing)),
        sequential=dependency_range is not None and dependency_range > 0,
    )


def _relation_of_tests(testing: Sequence[Rows]) -> Literal["common", "disjoint", "overlapping"]:
    if _are_disjoint(testing):
        return "disjoint"
    first = np.sort(testing[0])
    same = all(np.array_equal(np.sort(cases), first) for cases in testing)
    return "common" if same else "overlapping"


def _union(sets: Sequence[Rows]) -> Rows:
    return np.flatnonzero(np.bincount(np.concatenate(sets)))


def _are_disjoint(sets: Sequence[Rows]) -> bool:
    return bool(np.bincount(np.concatenate(sets)).max() <= 1)


def _share_any(left: Sequence[Rows], right: Sequence[Rows]) -> bool:
    """Whether any set on the left has an element of its partner on the right."""
    return any(np.isin(other, one).any() for one, other in zip(left, right, strict=True))


def _come_near(instances: Sequence[Instance], dependency_range: int | None) -> bool:
    """Whether some test case lies within the range of a training case of its instance."""
    if dependency_range is None:
        return False
    for instance in instances:
        trained = np.sort(instance.training)
        distance = np.abs(trained[nearest_places(trained, instance.testing)] - instance.testing)
        if (distance <= dependency_range).any():
            return True
    return False
