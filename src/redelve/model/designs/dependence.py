"""Which cases depend on each other (manual 3.2), and what that makes of a set of instances.

Groups of cases that have something in common; DELVE 1.1's random order of cases and groups; `DesignFacts`, by
which an analysis can refuse a set of instances or say what its numbers are worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np

from redelve.errors import SpecError
from redelve.model import Instance, Prototask
from redelve.model.dataset import NO_COMMONALITY, Numbers, Rows

Integers = Sequence[int] | Rows


def as_rows(integers: Integers) -> Rows:
    """The integers as an array."""
    return np.asarray(integers, dtype=np.int64)


def has_groups(commonality: Integers | None) -> bool:
    """Whether any case has a commonality index."""
    return commonality is not None and bool((as_rows(commonality) != NO_COMMONALITY).any())


def group_labels(commonality: Integers | None, count: int) -> Rows:
    """The group of each case: its commonality index, or a label above all indexes that no other case has."""
    own = np.arange(count, dtype=np.int64)
    if commonality is None:
        return own
    indexes = as_rows(commonality)
    if len(indexes) != count:
        raise SpecError(f"there are {len(indexes)} commonality indexes for {count} cases: give one for each")
    if count and indexes.min() < NO_COMMONALITY:
        raise SpecError(
            f"commonality index {indexes.min()} is negative: give 0 or more, or {NO_COMMONALITY} for none"
        )
    return np.where(indexes == NO_COMMONALITY, own + 1 + indexes.max(initial=NO_COMMONALITY), indexes)


def positions_by_group(labels: Rows) -> list[Rows]:
    """The positions of each group's cases; groups come in the order of their first cases."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    by_group = np.split(
        np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse, minlength=len(first)))[:-1]
    )
    return [by_group[group] for group in np.argsort(first)]


def group_ends(labels: Rows) -> Rows:
    """For each position, the first position after its group; refused when a group is torn apart."""
    changes = np.flatnonzero(np.diff(labels)) + 1
    if len(changes) == len(labels) - 1 and (np.diff(labels) > 0).all():
        return np.arange(1, len(labels) + 1, dtype=np.int64)  # every case by itself
    bounds = np.concatenate([[0], changes, [len(labels)]])
    starts = labels[bounds[:-1]]
    found, runs = np.unique(starts, return_counts=True)
    if (runs > 1).any():
        torn = found[np.argmax(runs > 1)]
        raise SpecError(
            f"cases with commonality index {torn} don't follow one another in the prototask's order: "
            f"run dgenorder, and name the file it writes in Order"
        )
    return np.repeat(bounds[1:], np.diff(bounds))


def check_dependencies(prototask: Prototask, commonality: Integers | None) -> None:
    """Refuse a sequential prototask that has groups, another order, or a negative range (manual 4.1)."""
    if prototask.dependency_range is None:
        return
    name = f'sequential prototask "{prototask.name}"'
    if prototask.dependency_range < 0:
        raise SpecError(
            f"{name} has Maximum-Dependency-Range {prototask.dependency_range}: "
            f"give a number of cases, 0 or more"
        )
    if prototask.order != "retain":
        raise SpecError(
            f'{name} has Order "{prototask.order}": '
            f"write Order: retain, or leave out Maximum-Dependency-Range"
        )
    if has_groups(commonality):
        raise SpecError(
            f"{name} has cases with commonality indexes, which is not allowed: leave out "
            f"Maximum-Dependency-Range and run dgenorder, or leave out the indexes"
        )


def commonality_units(instances: Sequence[Instance], commonality: Integers | None) -> list[Rows]:
    """For each instance the group of every test case, so that standard errors can count groups, not cases.

    A case without an index has a label of its own; labels mean the same in all instances.
    """
    labels = labels_for(instances, commonality)
    return [labels[instance.testing] for instance in instances]


def labels_for(instances: Sequence[Instance], commonality: Integers | None) -> Rows:
    """The group of every case that the instances may use."""
    sets = [positions for instance in instances for positions in (instance.training, instance.testing)]
    used = 1 + max((int(positions.max(initial=-1)) for positions in sets), default=-1)
    count = used if commonality is None else len(commonality)
    if count < used:
        raise SpecError(
            f"there are {count} commonality indexes but the instances use case {used}: "
            f"give one for each case of the prototask"
        )
    return group_labels(commonality, count)


def nearest_places(trained: Rows, tested: Rows) -> Rows:
    """For each test case the place in `trained` (increasing) of the training case nearest to it."""
    after = np.minimum(np.searchsorted(trained, tested), len(trained) - 1)
    before = np.maximum(after - 1, 0)
    closer = np.abs(trained[before] - tested) < np.abs(trained[after] - tested)
    return np.where(closer, before, after)


LONG_LAG, SHORT_LAG = 1279, 418
BITS = 24

Item = TypeVar("Item")


def random_order(count: int, seed: int = 0) -> Rows:
    """The numbers 1 to `count` in DELVE's random order.

    >>> random_order(10)
    array([ 6,  7,  1,  8,  4,  2, 10,  9,  5,  3])
    """
    if count < 0:
        raise SpecError(f"can't order {count} cases: give a count of 0 or more")
    left = np.arange(count, 0, -1, dtype=np.int64)
    others = np.arange(count) + (left * _first_uniforms(seed, count)).astype(np.int64)
    return _after_swaps(others) + 1


def _after_swaps(others: Rows) -> Rows:
    """Where each element of a list from 0 is from, after place 0, 1, … was swapped with its other place.

    No place is swapped with an earlier one. So what the swap at place i brings there was brought to its other
    place by the last swap before with the same one, from that swap's own place; or else it was there from the
    start. All these are found by sorting, without a loop over the places.
    """
    places = np.arange(len(others), dtype=np.int64)
    swaps = np.sort(others * len(others) + places) % max(len(others), 1)
    targets = others[swaps]
    goes_on = targets[1:] == targets[:-1]
    before = np.full(len(others), -1, dtype=np.int64)
    before[swaps[1:][goes_on]] = swaps[:-1][goes_on]
    last = np.full(len(others), -1, dtype=np.int64)
    last[targets] = swaps  # the later ones overwrite the earlier ones
    last = np.where(last == places, before, last)
    source = np.where(last < 0, places, last)
    while not np.array_equal(further := source[source], source):
        source = further
    return np.where(before < 0, others, source[before])


def _first_uniforms(seed: int, count: int) -> Numbers:
    """The first numbers of `uniforms`, made as many at a time as don't depend on each other."""
    words = np.empty(LONG_LAG + count, dtype=np.int64)
    words[:LONG_LAG] = _start_table(seed)[::-1]
    for start in range(LONG_LAG, len(words), SHORT_LAG):
        stop = min(start + SHORT_LAG, len(words))
        far, near = (words[start - lag : stop - lag] for lag in (LONG_LAG, SHORT_LAG))
        words[start:stop] = (far - near) % 2**BITS
    numbers: Numbers = words[LONG_LAG:] / 2**BITS
    return numbers


def random_order_of_groups(commonality: Integers, seed: int = 0) -> Rows:
    """A random order, counting from 1, that keeps cases with the same commonality index together.

    One stream of numbers serves for everything: first the groups are shuffled (they start in the order of
    their first cases), then the cases of each group, group after group in the new order. A case without an
    index (−1) is a group of its own; if there are only such cases, this is `random_order`.
    """
    stream = uniforms(seed)
    groups = positions_by_group(group_labels(commonality, len(commonality)))
    order = [case for group in _shuffled(groups, stream) for case in _shuffled(group.tolist(), stream)]
    return np.array(order, dtype=np.int64) + 1


def _shuffled(items: Sequence[Item], stream: Iterator[float]) -> list[Item]:
    """A forward Fisher–Yates shuffle; it takes one number for each item, the last included."""
    order = list(items)
    for place in range(len(order)):
        other = place + int((len(order) - place) * next(stream))
        order[place], order[other] = order[other], order[place]
    return order


def uniforms(seed: int = 0) -> Iterator[float]:
    """DELVE's random numbers in [0, 1): a lagged Fibonacci generator by subtraction (James 1990).

    The numbers have 24 significant bits, so they are kept as integers and subtraction is exact.
    """
    table = list(_start_table(seed))
    far, near = LONG_LAG - 1, SHORT_LAG - 1
    while True:
        table[far] = (table[far] - table[near]) % 2**BITS
        yield table[far] / 2**BITS
        far, near = (far - 1) % LONG_LAG, (near - 1) % LONG_LAG


@lru_cache(maxsize=16)  # most datasets are shuffled by the same seed
def _start_table(seed: int) -> tuple[int, ...]:
    """The table, filled bit by bit as by RMARIN (James 1990, A review of pseudorandom number generators)."""
    ij, kl = divmod(abs(seed) % 900_000_000, 30_082)
    i, j = ij // 177 % 177 + 2, ij % 177 + 2
    k, m = kl // 169 % 178 + 1, kl % 169
    table = []
    for _ in range(LONG_LAG):
        word = 0
        for _ in range(BITS):
            i, j, k = j, k, i * j % 179 * k % 179
            m = (53 * m + 1) % 169
            word = 2 * word + (m * k % 64 >= 32)
        table.append(word)
    return tuple(table)


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
    labels = labels_for(instances, commonality)
    if commonality is not None:
        labels = np.unique(labels, return_inverse=True)[1]
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
