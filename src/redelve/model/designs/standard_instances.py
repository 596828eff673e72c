"""The standard instances of a task, taken from the prototask's order of cases (manual 6.2)."""

from __future__ import annotations

import numpy as np

from redelve.errors import SpecError
from redelve.model import DatasetSpec, Instance, Prototask, PrototaskData, Task, is_missing
from redelve.model.cases import Rows
from redelve.model.designs.groups import Integers, check_dependencies, group_ends, group_labels, has_groups
from redelve.model.designs.stretches import AnyCases, EqualClasses, Taking, take_equal_sets, take_sets
from redelve.model.prototask import SELECTIONS

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
