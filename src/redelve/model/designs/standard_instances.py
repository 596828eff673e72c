"""The standard instances of a task: sets taken one after another along the order of cases (manual 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from redelve.errors import SpecError
from redelve.model import DatasetSpec, Instance, Prototask, PrototaskData, Task, is_missing
from redelve.model.dataset import Rows
from redelve.model.designs.dependence import (
    Integers,
    as_rows,
    check_dependencies,
    group_ends,
    group_labels,
    has_groups,
)
from redelve.model.prototask import SELECTIONS


class Taking(Protocol):
    """A rule that takes a set of a given size from the order, beginning at a position."""

    @property
    def unit(self) -> int:
        """Sizes are multiples of this."""
        ...

    def take(self, start: int, stop: int, size: int) -> Rows | None:
        """The first positions from `start` that make such a set, or None if it would reach `stop`."""
        ...


@dataclass(frozen=True)
class AnyCases:
    """The next cases, whatever they are."""

    unit: int = 1

    def take(self, start: int, stop: int, size: int) -> Rows | None:
        """The next `size` positions."""
        return np.arange(start, start + size, dtype=np.int64) if start + size <= stop else None


@dataclass(frozen=True, eq=False)
class EqualClasses:
    """The next cases of each class, equally many; `places` holds the positions of each class."""

    places: tuple[Rows, ...]

    @staticmethod
    def of(classes: Integers, class_count: int | None) -> EqualClasses:
        """The rule for these class codes; without `class_count` the largest code counts as the last class."""
        codes = as_rows(classes)
        count = int(codes.max()) + 1 if class_count is None else class_count
        wrong = np.flatnonzero((codes < 0) | (codes >= count))
        if len(wrong):
            raise SpecError(
                f"class code {codes[wrong[0]]} of case {wrong[0] + 1} in the prototask's order is not among "
                f"0 to {count - 1}: leave out cases without a target, or correct the number of classes"
            )
        return EqualClasses(tuple(np.flatnonzero(codes == code) for code in range(count)))

    @property
    def count(self) -> int:
        """The number of classes."""
        return len(self.places)

    @property
    def unit(self) -> int:
        """Every class must get the same number of cases."""
        return self.count

    def take(self, start: int, stop: int, size: int) -> Rows | None:
        """The next `size` / (number of classes) positions of each class."""
        share = size // self.count
        taken = [places[np.searchsorted(places, start) :][:share] for places in self.places]
        if any(len(part) < share or part[-1] >= stop for part in taken):
            return None
        return np.sort(np.concatenate(taken))

    def slice(self, begin: int, share: int) -> Rows:
        """For each class, `share` of its cases after its first `begin`."""
        return np.sort(np.concatenate([places[begin : begin + share] for places in self.places]))


def take_sets(taking: Taking, ends: Rows, span: tuple[int, int], size: int, most: int) -> list[Rows]:
    """As many sets as fit between two positions; what is left of a set's last group is passed over.

    Beginning each set as early as possible can only make the next one begin earlier, so none is missed.
    """
    sets: list[Rows] = []
    start, stop = span
    while len(sets) < most and start < stop:
        taken = taking.take(start, stop, size)
        if taken is None:
            break
        sets.append(taken)
        start = int(ends[taken[-1]])
    return sets


def take_equal_sets(taking: Taking, ends: Rows, stop: int, total: int, count: int) -> list[Rows]:
    """`count` sets, equal and as large as can be, of at most `total` cases before `stop`; or none."""
    largest = total // count // taking.unit * taking.unit
    for size in range(largest, 0, -taking.unit):
        sets = take_sets(taking, ends, (0, stop), size, count)
        if len(sets) == count:
            return sets
    return []


TEST_SET_WAYS_OUT = (
    "raise Test-Set-Size, lower Maximum-Number-Of-Instances, or write Test-Set-Selection: common"
)


def draw_task(dataset: DatasetSpec, task: Task, data: PrototaskData) -> tuple[Instance, ...]:
    """The standard instances of a task with these cases."""
    classes, class_count = _classes_of(task.prototask, data)
    return draw(
        task.prototask,
        task.training_set_size,
        data.cases.count,
        commonality=data.cases.commonality if dataset.has_commonality else None,
        classes=classes,
        class_count=class_count,
    )


def _classes_of(prototask: Prototask, data: PrototaskData) -> tuple[Rows | None, int | None]:
    if not prototask.stratified:
        return None, None
    (target,) = data.targets
    positions = {value: code for code, value in enumerate(target.range.values)}
    texts = data.cases.columns[-1].texts()
    for row, text in enumerate(texts):
        if text not in positions:
            what = "is missing" if is_missing(text) else f'"{text}" is not in its range'
            raise SpecError(f"case {data.case_numbers[row]}: target {target.name} {what}")
    codes = np.fromiter((positions[text] for text in texts), np.int64, len(texts))
    return codes, len(positions)


def draw(
    prototask: Prototask,
    training_set_size: int,
    case_count: int,
    *,
    commonality: Integers | None = None,
    classes: Integers | None = None,
    class_count: int | None = None,
) -> tuple[Instance, ...]:
    """The standard instances for one training-set size; nothing is random but the order of the cases itself.

    `commonality` and `classes` (codes from 0, needed if the prototask is stratified) have one entry for each
    of the `case_count` cases, in the prototask's order.
    """
    _check_specification(prototask, training_set_size, case_count)
    check_dependencies(prototask, commonality)
    ends = group_ends(group_labels(commonality, case_count))
    if not prototask.stratified:
        return _draw_along(prototask, training_set_size, ends, AnyCases())
    equal = EqualClasses.of(_given_classes(prototask, classes, case_count), class_count)
    _check_classes(prototask, training_set_size, equal)
    if has_groups(commonality):
        return _draw_along(prototask, training_set_size, ends, equal)
    return _draw_by_class(prototask, training_set_size, equal)


def _draw_along(prototask: Prototask, size: int, ends: Rows, taking: Taking) -> tuple[Instance, ...]:
    """Every set from a stretch of its own; a gap wherever one group would reach into two stretches."""
    test_part = taking.take(0, len(ends), prototask.test_set_size)
    assert test_part is not None
    first = int(ends[test_part[-1]]) + (prototask.dependency_range or 0)
    training = take_sets(taking, ends, (first, len(ends)), size, prototask.maximum_instances)
    if not training:
        raise _no_room(prototask, size, len(ends), first)
    testing = [test_part] * len(training)
    if prototask.test_set_selection == "hierarchical":
        stop = int(test_part[-1]) + 1
        testing = take_equal_sets(taking, ends, stop, prototask.test_set_size, len(training))
        if not testing:
            raise _no_test_sets(prototask, len(np.unique(ends[:stop])), len(training))
    return _numbered(training, testing)


def _draw_by_class(prototask: Prototask, size: int, equal: EqualClasses) -> tuple[Instance, ...]:
    """Stratified sets of independent cases: each class has its own queue, so that no case is passed over."""
    reserved, share = prototask.test_set_size // equal.count, size // equal.count
    rarest = min(len(places) for places in equal.places)
    instances = min((rarest - reserved) // share, prototask.maximum_instances)
    training = [equal.slice(reserved + share * number, share) for number in range(instances)]
    if prototask.test_set_selection == "common":
        return _numbered(training, [equal.slice(0, reserved)] * instances)
    each = prototask.test_set_size // (instances * equal.count)
    if each == 0:
        raise SpecError(
            f'prototask "{prototask.name}": {prototask.test_set_size} test cases can\'t be divided into '
            f"{instances} test sets with cases of all {equal.count} classes: {TEST_SET_WAYS_OUT}"
        )
    return _numbered(training, [equal.slice(each * number, each) for number in range(instances)])


def _numbered(training: list[Rows], testing: list[Rows]) -> tuple[Instance, ...]:
    pairs = zip(training, testing, strict=True)
    return tuple(Instance(number, *pair) for number, pair in enumerate(pairs))


def _given_classes(prototask: Prototask, classes: Integers | None, case_count: int) -> Integers:
    if classes is None:
        raise SpecError(
            f'prototask "{prototask.name}" is stratified but no classes were given: '
            f"it needs a single target with finitely many values"
        )
    if len(classes) != case_count:
        raise SpecError(f"there are {len(classes)} class codes for {case_count} cases: give one for each")
    return classes


def _check_specification(prototask: Prototask, size: int, case_count: int) -> None:
    name = f'prototask "{prototask.name}"'
    numbers = {
        "Training-Set-Sizes": size,
        "Test-Set-Size": prototask.test_set_size,
        "Maximum-Number-Of-Instances": prototask.maximum_instances,
    }
    for key, number in numbers.items():
        if number < 1:
            raise SpecError(f"{name}: {key} is {number}, but must be 1 or more")
    if prototask.test_set_size >= case_count:
        raise SpecError(
            f"{name}: Test-Set-Size {prototask.test_set_size} leaves nothing of the {case_count} cases "
            f"to train on: lower it"
        )
    if prototask.test_set_selection not in SELECTIONS:
        raise SpecError(
            f'{name}: unknown Test-Set-Selection "{prototask.test_set_selection}": '
            f"choose {' or '.join(SELECTIONS)}"
        )
    if prototask.stratified and prototask.is_sequential:
        raise SpecError(
            f"{name} is both stratified and sequential, which is not allowed: leave out "
            f"Training-Set-Selection: stratified or Maximum-Dependency-Range"
        )


def _check_classes(prototask: Prototask, size: int, equal: EqualClasses) -> None:
    name, classes = f'stratified prototask "{prototask.name}"', equal.count
    if size % classes:
        raise SpecError(
            f"{name}: the training-set size {size} is not a multiple of the number of classes {classes}: "
            f"choose {size + classes - size % classes}, say"
        )
    if prototask.test_set_size < classes:
        raise SpecError(
            f"{name}: Test-Set-Size {prototask.test_set_size} is less than the number of "
            f"classes {classes}: raise it"
        )
    reserved, share = prototask.test_set_size // classes, size // classes
    for code, places in enumerate(equal.places):
        if len(places) < reserved + share:
            raise SpecError(
                f"{name}: class {code} has {len(places)} cases, but {reserved} are needed for testing and "
                f"{share} for a training set: lower Test-Set-Size or the training-set size, or merge classes"
            )


def _no_room(prototask: Prototask, size: int, case_count: int, first: int) -> SpecError:
    equal = ", equally many of each class" if prototask.stratified else ""
    return SpecError(
        f'prototask "{prototask.name}": {prototask.test_set_size} cases for testing and the gap after them '
        f"leave {max(case_count - first, 0)} of {case_count} cases, too few for a training set of "
        f"{size}{equal}: lower Test-Set-Size or the training-set size"
    )


def _no_test_sets(prototask: Prototask, groups: int, count: int) -> SpecError:
    held = "" if groups >= prototask.test_set_size else f" in {groups} groups"
    return SpecError(
        f'prototask "{prototask.name}": {prototask.test_set_size} test cases{held} can\'t be divided '
        f"into {count} test sets: {TEST_SET_WAYS_OUT}"
    )
