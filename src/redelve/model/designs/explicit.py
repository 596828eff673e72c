"""Instances given case by case (manual 6.3), and two ways to make such lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redelve.errors import SpecError
from redelve.model import Instance, Prototask
from redelve.model.dataset import Rows
from redelve.model.designs.dependence import (
    Integers,
    as_rows,
    check_dependencies,
    group_labels,
    nearest_places,
    positions_by_group,
)
from redelve.model.designs.folds import cut_in_groups, dealt, dealt_in_groups, groups_for
from redelve.seeds import generator

CaseLists = tuple[Integers, Integers]


def explicit_instances(
    prototask: Prototask,
    case_numbers: Integers,
    lists: Sequence[CaseLists],
    *,
    commonality: Integers | None = None,
) -> tuple[Instance, ...]:
    """The instances whose (training, test) cases are listed by their numbers in the dataset, from 1.

    `case_numbers` and `commonality` have one entry for each case in the prototask's order. An instance is two
    sets, so positions come out in increasing order however the cases were listed.
    """
    if not len(lists):
        raise SpecError("there are no instances: list training and test cases for at least one")
    check_dependencies(prototask, commonality)
    numbers = as_rows(case_numbers)
    rules = _Rules(prototask, numbers, _lookup(numbers), group_labels(commonality, len(numbers)))
    return tuple(rules.instance(number, *pair) for number, pair in enumerate(lists))


def _lookup(numbers: Rows) -> Rows:
    """The position of each case number, −1 where the prototask does not have it."""
    position = np.full(int(numbers.max(initial=0)) + 1, -1, dtype=np.int64)
    position[numbers] = np.arange(len(numbers))
    return position


@dataclass(frozen=True)
class _Rules:
    """What every explicit instance of one prototask must obey."""

    prototask: Prototask
    numbers: Rows
    position: Rows
    labels: Rows

    def instance(self, number: int, training: Integers, testing: Integers) -> Instance:
        """The instance of these cases, once they have passed every check."""
        trained = self._positions(f"instance {number}, training", as_rows(training))
        tested = self._positions(f"instance {number}, test", as_rows(testing))
        self._check_both_sides(number, trained, tested)
        if self.prototask.is_sequential:
            self._check_sequence(number, trained)
            self._check_distance(number, trained, tested)
        return Instance(number, np.sort(trained), np.sort(tested))

    def _positions(self, where: str, listed: Rows) -> Rows:
        if not len(listed):
            raise SpecError(f"{where} list: it is empty; list at least one case")
        known = (listed > 0) & (listed < len(self.position))
        positions = np.where(known, self.position[np.where(known, listed, 0)], -1)
        if (positions < 0).any():
            raise SpecError(
                f"{where} list: case {listed[np.argmax(positions < 0)]} is not in prototask "
                f'"{self.prototask.name}"; list dataset case numbers, which count from 1, that it includes'
            )
        again = np.bincount(positions) > 1
        if again.any():
            raise SpecError(
                f"{where} list: case {self.numbers[np.argmax(again)]} is listed twice; list each case once"
            )
        return positions

    def _check_both_sides(self, number: int, trained: Rows, tested: Rows) -> None:
        both = tested[np.isin(tested, trained)]
        if len(both):
            raise SpecError(
                f"instance {number}: case {self.numbers[both[0]]} is both a training and a test case; "
                f"take it out of one list"
            )
        shared = self.labels[tested[np.isin(self.labels[tested], self.labels[trained])]]
        if len(shared):
            pair = [self.numbers[side[self.labels[side] == shared[0]][0]] for side in (trained, tested)]
            raise SpecError(
                f"instance {number}: training case {pair[0]} and test case {pair[1]} have the same "
                f"commonality index {shared[0]}; use the whole group for training or for testing"
            )

    def _check_sequence(self, number: int, trained: Rows) -> None:
        backward = np.flatnonzero(np.diff(trained) < 0)
        if len(backward):
            before, after = self.numbers[trained[backward[0]]], self.numbers[trained[backward[0] + 1]]
            raise SpecError(
                f"instance {number}: training case {after} is listed after case {before}, but "
                f'prototask "{self.prototask.name}" is sequential; list training cases in its order'
            )

    def _check_distance(self, number: int, trained: Rows, tested: Rows) -> None:
        reach = self.prototask.dependency_range or 0
        nearest = trained[nearest_places(trained, tested)]
        distance = np.abs(nearest - tested)
        if (distance <= reach).any():
            worst = int(np.argmin(distance))
            test_case, training_case = self.numbers[tested[worst]], self.numbers[nearest[worst]]
            raise SpecError(
                f"instance {number}: test case {test_case} is {distance[worst]} away from training case "
                f"{training_case}; it must be further than Maximum-Dependency-Range {reach}"
            )


def cross_validation_lists(
    case_numbers: Integers,
    folds: int,
    seed_names: Sequence[str | int],
    *,
    classes: Rows | None = None,
    commonality: Integers | None = None,
) -> list[CaseLists]:
    """Lists for cross-validation: each fold tests what the other folds train on; whole groups share a fold.

    The names make the seed, so the same names give the same folds; `classes` spread evenly over them. The
    training sets overlap: see `DesignFacts.caveats`.
    """
    if not len(seed_names):
        raise SpecError(
            "cross-validation needs a seed: give at least one name, such as the prototask's address"
        )
    numbers = as_rows(case_numbers)
    groups = groups_for(folds, len(numbers), commonality)
    fold = _folds(groups, folds, seed_names, classes)
    return [(numbers[fold != one], numbers[fold == one]) for one in range(folds)]


def _folds(groups: Sequence[Rows], folds: int, seed_names: Sequence[str | int], classes: Rows | None) -> Rows:
    """The fold of each case."""
    kind = "cross-validation" if classes is None else "stratified cross-validation"
    order = generator(kind, *seed_names).permutation(len(groups))
    if classes is None:
        return cut_in_groups(order, groups, folds)
    if len(groups) == len(classes):
        return dealt(order, folds, classes)
    return dealt_in_groups(order, groups, folds, classes)


def leave_one_out_lists(case_numbers: Integers, *, commonality: Integers | None = None) -> list[CaseLists]:
    """Lists in which each case (or group of cases) in turn is tested after training on all others."""
    numbers = as_rows(case_numbers)
    groups = positions_by_group(group_labels(commonality, len(numbers)))
    if len(groups) < 2:
        raise SpecError(f"can't leave one of {len(groups)} groups of cases out: at least 2 are needed")
    return [_held_out(numbers, group) for group in groups]


def _held_out(numbers: Rows, tested: Rows) -> CaseLists:
    is_tested = np.zeros(len(numbers), dtype=np.bool_)
    is_tested[tested] = True
    return numbers[~is_tested], numbers[is_tested]
