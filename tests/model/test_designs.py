"""Designs: what every set of instances must obey, the original's own splits, and each refusal."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.model import Instance, Prototask
from redelve.model.designs import (
    commonality_units,
    cross_validation_lists,
    describe,
    draw,
    explicit_instances,
    leave_one_out_lists,
    random_order,
    random_order_of_groups,
    uniforms,
)

Rows = NDArray[np.int64]
Instances = tuple[Instance, ...]

PLAIN = Prototask(
    name="age",
    dataset="demo",
    inputs=(1,),
    targets=(2,),
    origin="artificial",
    test_set_size=340,
    training_set_sizes=(20, 40, 80),
    maximum_instances=8,
)


# Invariants: each says one thing about instances and is used with every design it belongs to.


def training_sets_are_disjoint(instances: Instances) -> None:
    for one, other in combinations(instances, 2):
        assert not set(one.training) & set(other.training)


def no_case_trains_here_and_tests_there(instances: Instances) -> None:
    for one in instances:
        for other in instances:
            assert not set(one.training) & set(other.testing)


def selection_is_obeyed(instances: Instances, selection: str) -> None:
    for one, other in combinations(instances, 2):
        if selection == "common":
            assert np.array_equal(one.testing, other.testing)
        else:
            assert not set(one.testing) & set(other.testing)


def sets_are_increasing_positions(instances: Instances, case_count: int) -> None:
    for number, instance in enumerate(instances):
        assert instance.number == number
        for positions in (instance.training, instance.testing):
            assert positions.dtype == np.int64
            assert (np.diff(positions) > 0).all()
            assert positions[0] >= 0
            assert positions[-1] < case_count


def sizes_are_equal(instances: Instances, training_set_size: int, test_set_size: int) -> None:
    assert {len(instance.training) for instance in instances} == {training_set_size}
    assert len({len(instance.testing) for instance in instances}) == 1
    used = np.unique(np.concatenate([instance.testing for instance in instances]))
    assert 1 <= len(used) <= test_set_size


def groups_stay_whole(instances: Instances, labels: Rows, selection: str) -> None:
    for one, other in combinations(instances, 2):
        assert not set(labels[one.training]) & set(labels[other.training])
        if selection == "hierarchical":
            assert not set(labels[one.testing]) & set(labels[other.testing])
    for one in instances:
        for other in instances:
            assert not set(labels[one.training]) & set(labels[other.testing])


def gap_is_respected(instances: Instances, gap: int) -> None:
    for one in instances:
        for other in instances:
            assert np.abs(one.training[:, None] - other.testing[None, :]).min() > gap


def strata_are_equal(instances: Instances, classes: Rows, class_count: int) -> None:
    for instance in instances:
        for positions in (instance.training, instance.testing):
            counts = np.bincount(classes[positions], minlength=class_count)
            assert counts.min() == counts.max() > 0


def every_design_obeys(instances: Instances, prototask: Prototask, size: int, case_count: int) -> None:
    assert 1 <= len(instances) <= prototask.maximum_instances
    sets_are_increasing_positions(instances, case_count)
    training_sets_are_disjoint(instances)
    no_case_trains_here_and_tests_there(instances)
    selection_is_obeyed(instances, prototask.test_set_selection)
    sizes_are_equal(instances, size, prototask.test_set_size)


# Strategies. Seeding the generator takes a while on a busy machine.

unhurried = settings(deadline=None)

prototasks = st.builds(
    lambda test, most, selection: replace(
        PLAIN, test_set_size=test, maximum_instances=most, test_set_selection=selection
    ),
    st.integers(1, 60),
    st.integers(1, 9),
    st.sampled_from(["hierarchical", "common"]),
)
training_set_sizes = st.integers(1, 20)


def labels_from(runs: list[tuple[int, bool]]) -> tuple[Rows, Rows]:
    """Commonality indexes of runs of cases (without index where False), and a label for each group."""
    commonality = [
        7 * run if indexed else -1 for run, (length, indexed) in enumerate(runs) for _ in range(length)
    ]
    indexes = np.array(commonality, dtype=np.int64)
    return indexes, np.where(indexes == -1, 10_000 + np.arange(len(indexes)), indexes)


group_runs = st.lists(st.tuples(st.integers(1, 25), st.booleans()), min_size=2, max_size=40).map(labels_from)


def draw_or_skip(prototask: Prototask, size: int, case_count: int, **options: Rows) -> Instances:
    """The instances; an example in which nothing fits is skipped, for refusals have tests of their own."""
    try:
        return draw(prototask, size, case_count, **options)  # type: ignore[arg-type]
    except SpecError:
        assume(False)
        raise


# The random order. Vectors: fact sheet of DELVE 1.1, section 4.4.


def test_random_numbers_are_those_of_delve() -> None:
    assert list(islice(uniforms(0), 5)) == [
        0.5864050984382629,
        0.604436993598938,
        0.42069417238235474,
        0.66563880443573,
        0.5416251420974731,
    ]
    assert list(islice(uniforms(1), 3)) == [0.08220016956329346, 0.01585710048675537, 0.5409172773361206]


@pytest.mark.parametrize(
    ("count", "seed", "expected"),
    [
        (10, 0, "6 7 1 8 4 2 10 9 5 3"),
        (20, 0, "12 13 10 15 2 9 19 5 8 3 17 7 20 11 18 6 14 1 4 16"),
        (10, 1, "1 2 7 9 4 10 8 6 5 3"),
    ],
)
def test_random_order_is_that_of_delve(count: int, seed: int, expected: str) -> None:
    assert " ".join(map(str, random_order(count, seed))) == expected


def test_random_numbers_stay_right_after_the_table_wraps() -> None:
    # The recurrence itself, written out: after 1279 numbers every one is the difference of two older ones.
    numbers = list(islice(uniforms(0), 4000))
    for place in range(1279, 4000):
        assert numbers[place] == (numbers[place - 1279] - numbers[place - 418]) % 1.0


@unhurried
@given(st.integers(0, 300), st.integers(-(10**12), 10**12))
def test_random_order_is_a_rearrangement_that_depends_on_the_seed_alone(count: int, seed: int) -> None:
    order = random_order(count, seed)
    assert sorted(order) == list(range(1, count + 1))
    assert np.array_equal(order, random_order(count, seed))
    assert np.array_equal(order, random_order(count, -seed))


@unhurried
@given(st.integers(0, 3000), st.integers(0, 10**9))
def test_random_order_swaps_each_place_with_one_that_follows(count: int, seed: int) -> None:
    order = list(range(1, count + 1))
    for place, uniform in enumerate(islice(uniforms(seed), count)):
        other = place + int((count - place) * uniform)
        order[place], order[other] = order[other], order[place]
    assert random_order(count, seed).tolist() == order


def test_random_order_uses_its_seed() -> None:
    assert len({tuple(random_order(50, seed)) for seed in range(20)}) == 20


def test_an_empty_order_is_empty_and_a_negative_count_is_refused() -> None:
    assert len(random_order(0)) == 0
    assert len(random_order_of_groups([])) == 0
    with pytest.raises(SpecError, match="can't order -1 cases"):
        random_order(-1)


@unhurried
@given(st.integers(1, 200), st.integers(0, 1000))
def test_order_without_groups_is_the_plain_random_order(count: int, seed: int) -> None:
    assert np.array_equal(random_order_of_groups([-1] * count, seed), random_order(count, seed))


@unhurried
@given(st.lists(st.integers(-1, 8), min_size=1, max_size=120), st.integers(0, 1000))
def test_order_of_groups_keeps_groups_together(commonality: list[int], seed: int) -> None:
    order = random_order_of_groups(commonality, seed)
    assert sorted(order) == list(range(1, len(commonality) + 1))
    assert np.array_equal(order, random_order_of_groups(np.array(commonality), seed))
    indexes = [index for index in np.array(commonality)[order - 1] if index != -1]
    runs = [index for place, index in enumerate(indexes) if place == 0 or indexes[place - 1] != index]
    assert len(runs) == len(set(runs))


def test_order_of_groups_shuffles_groups_and_the_cases_within() -> None:
    commonality = [0] * 4 + [1] * 4 + [2] * 4
    orders = [random_order_of_groups(commonality, seed) - 1 for seed in range(300)]
    first_groups = np.bincount([order[0] // 4 for order in orders], minlength=3)
    first_cases = np.bincount([order[0] % 4 for order in orders], minlength=4)
    assert first_groups.min() > 70  # 100 expected, standard deviation 8
    assert first_cases.min() > 45  # 75 expected, standard deviation 7.5


# Plain designs. Numbers: fact sheet, section 7; manual 6.2.


@pytest.mark.parametrize(
    ("size", "instances", "tests"),
    [(64, 8, 512), (128, 8, 512), (256, 8, 512), (512, 8, 512), (1024, 4, 1024), (2048, 2, 2048)],
)
def test_hierarchical_splits_are_those_of_delve(size: int, instances: int, tests: int) -> None:
    drawn = draw(replace(PLAIN, test_set_size=4096), size, 8192)
    assert len(drawn) == instances
    for number, instance in enumerate(drawn):
        assert np.array_equal(instance.testing, np.arange(number * tests, (number + 1) * tests))
        assert np.array_equal(instance.training, np.arange(4096 + number * size, 4096 + (number + 1) * size))


def test_common_splits_are_those_of_delve() -> None:
    abalone = replace(PLAIN, test_set_size=2129, test_set_selection="common")
    drawn = {size: draw(abalone, size, 4177) for size in (64, 128, 256, 512)}
    assert [len(instances) for instances in drawn.values()] == [8, 8, 8, 4]
    for size, instances in drawn.items():
        for number, instance in enumerate(instances):
            assert np.array_equal(instance.testing, np.arange(2129))
            assert instance.training[0] == 2129 + number * size


@pytest.mark.parametrize(("size", "instances"), [(20, 8), (40, 4), (80, 2), (160, 1)])
def test_the_manual_s_example_of_500_cases(size: int, instances: int) -> None:
    drawn = draw(PLAIN, size, 500)
    assert len(drawn) == instances
    assert {len(instance.testing) for instance in drawn} == {340 // instances}


def test_left_over_test_cases_are_unused() -> None:
    drawn = draw(replace(PLAIN, test_set_size=11), 5, 26)
    assert [instance.testing.tolist() for instance in drawn] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


@unhurried
@given(prototasks, training_set_sizes, st.integers(2, 300))
def test_plain_designs_have_the_number_of_instances_of_delve(
    prototask: Prototask, size: int, case_count: int
) -> None:
    instances = draw_or_skip(prototask, size, case_count)
    every_design_obeys(instances, prototask, size, case_count)
    expected = min((case_count - prototask.test_set_size) // size, prototask.maximum_instances)
    assert len(instances) == expected
    share = expected if prototask.test_set_selection == "hierarchical" else 1
    assert len(instances[0].testing) == prototask.test_set_size // share
    assert instances == draw(prototask, size, case_count)
    assert instances == draw(prototask, size, case_count, commonality=[-1] * case_count)
    assert describe(instances).caveats() == describe(instances).caveats()[: len(instances) == 1]


@pytest.mark.parametrize(
    ("changes", "size", "case_count", "message"),
    [
        ({}, 0, 500, "Training-Set-Sizes is 0, but must be 1 or more"),
        ({"test_set_size": 0}, 20, 500, "Test-Set-Size is 0"),
        ({"maximum_instances": -1}, 20, 500, "Maximum-Number-Of-Instances is -1"),
        ({}, 20, 340, "Test-Set-Size 340 leaves nothing of the 340 cases to train on: lower it"),
        ({}, 161, 500, "leave 160 of 500 cases, too few for a training set of 161: lower Test-Set-Size or"),
        ({"test_set_selection": "odd"}, 20, 500, 'unknown Test-Set-Selection "odd": choose hierarchical or'),
        (
            {"test_set_size": 3},
            20,
            500,
            "3 test cases can't be divided into 8 test sets: raise Test-Set-Size",
        ),
    ],
)
def test_impossible_sizes_are_refused(
    changes: dict[str, object], size: int, case_count: int, message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        draw(replace(PLAIN, **changes), size, case_count)  # type: ignore[arg-type]


# Groups.


@unhurried
@given(prototasks, training_set_sizes, group_runs)
def test_grouped_designs_tear_no_group_apart(
    prototask: Prototask, size: int, groups: tuple[Rows, Rows]
) -> None:
    commonality, labels = groups
    instances = draw_or_skip(prototask, size, len(labels), commonality=commonality)
    every_design_obeys(instances, prototask, size, len(labels))
    groups_stay_whole(instances, labels, prototask.test_set_selection)
    facts = describe(instances, commonality)
    harms = [facts.leaking, facts.roles_mixed, facts.groups_across_tests, facts.groups_across_trainings]
    assert not any(harms)


def most_blocks(labels: Rows, size: int) -> int:
    """The most windows of `size` cases no two of which share a group, by dynamic programming."""
    best = [0] * (len(labels) + 1)
    for start in reversed(range(len(labels))):
        best[start] = best[start + 1]
        if start + size <= len(labels):
            after = start + size
            while after < len(labels) and labels[after] == labels[after - 1]:
                after += 1
            best[start] = max(best[start], 1 + best[after])
    return best[0]


@unhurried
@given(prototasks, training_set_sizes, group_runs)
def test_grouped_designs_waste_nothing_they_need_not(
    prototask: Prototask, size: int, groups: tuple[Rows, Rows]
) -> None:
    commonality, labels = groups
    instances = draw_or_skip(prototask, size, len(labels), commonality=commonality)
    reserved = prototask.test_set_size
    left = labels[reserved:][~np.isin(labels[reserved:], labels[:reserved])]
    assert len(instances) == min(most_blocks(left, size), prototask.maximum_instances)
    if prototask.test_set_selection == "hierarchical":
        tests = len(instances[0].testing)
        assert most_blocks(labels[:reserved], tests) >= len(instances)
        larger_fits = most_blocks(labels[:reserved], tests + 1) >= len(instances)
        assert tests == reserved // len(instances) or not larger_fits


def test_a_group_across_the_end_of_the_test_part_leaves_a_gap() -> None:
    commonality = [-1, -1, 5, 5, 5, -1, -1, -1]
    (instance,) = draw(replace(PLAIN, test_set_size=3), 3, 8, commonality=commonality)
    assert instance.testing.tolist() == [0, 1, 2]
    assert instance.training.tolist() == [5, 6, 7]


def test_a_group_across_two_training_sets_leaves_a_gap() -> None:
    commonality = [-1, -1, 1, 1, 2, 2, 2, 3, 3, 4]
    first, second = draw(replace(PLAIN, test_set_size=2), 3, 10, commonality=commonality)
    assert first.training.tolist() == [2, 3, 4]
    assert second.training.tolist() == [7, 8, 9]


def test_the_picture_in_the_documentation_is_true() -> None:
    commonality = ["abcdefgh".index(letter) for letter in "aabcccdddeeffggh"]
    drawn = draw(replace(PLAIN, test_set_size=5, test_set_selection="common"), 4, 16, commonality=commonality)
    assert [instance.testing.tolist() for instance in drawn] == [[0, 1, 2, 3, 4]] * 2
    assert [instance.training.tolist() for instance in drawn] == [[6, 7, 8, 9], [11, 12, 13, 14]]


def test_a_set_may_lie_within_one_large_group() -> None:
    commonality = [1] * 10 + [2] * 10 + [3] * 10 + [4] * 10
    drawn = draw(replace(PLAIN, test_set_size=20), 3, 40, commonality=commonality)
    assert [instance.testing.tolist() for instance in drawn] == [list(range(10)), list(range(10, 20))]
    assert [instance.training.tolist() for instance in drawn] == [[20, 21, 22], [30, 31, 32]]


def test_a_torn_group_is_refused() -> None:
    with pytest.raises(SpecError, match=r"cases with commonality index 4 don't follow .* run dgenorder"):
        draw(replace(PLAIN, test_set_size=2), 1, 5, commonality=[4, -1, 4, 3, 3])


def test_too_few_groups_for_the_test_sets_are_refused() -> None:
    with pytest.raises(SpecError, match="4 test cases in 1 groups can't be divided into 2 test sets"):
        draw(replace(PLAIN, test_set_size=4), 2, 8, commonality=[1, 1, 1, 1, -1, -1, -1, -1])


def test_a_group_that_leaves_no_training_cases_is_refused() -> None:
    with pytest.raises(SpecError, match="leave 0 of 8 cases, too few for a training set of 2"):
        draw(replace(PLAIN, test_set_size=4), 2, 8, commonality=[-1, 1, 1, 1, 1, 1, 1, 1])


def test_wrong_commonality_indexes_are_refused() -> None:
    with pytest.raises(SpecError, match="3 commonality indexes for 500 cases"):
        draw(PLAIN, 20, 500, commonality=[1, 2, 3])
    with pytest.raises(SpecError, match="commonality index -2 is negative"):
        random_order_of_groups([1, -2])


def test_an_order_from_dgenorder_can_be_drawn_from() -> None:
    commonality = np.arange(300) % 40
    order = random_order_of_groups(commonality) - 1
    labels = commonality[order]
    instances = draw(replace(PLAIN, test_set_size=150), 10, 300, commonality=labels)
    groups_stay_whole(instances, labels, "hierarchical")


# Sequences.


@unhurried
@given(prototasks, training_set_sizes, st.integers(2, 300), st.integers(0, 40))
def test_sequential_designs_keep_their_gap(
    prototask: Prototask, size: int, case_count: int, gap: int
) -> None:
    sequential = replace(prototask, dependency_range=gap)
    instances = draw_or_skip(sequential, size, case_count)
    every_design_obeys(instances, sequential, size, case_count)
    gap_is_respected(instances, gap)
    room = case_count - prototask.test_set_size - gap
    assert len(instances) == min(room // size, prototask.maximum_instances)
    assert instances[0].training[0] == prototask.test_set_size + gap
    assert not describe(instances, dependency_range=gap).leaking
    assert describe(instances, dependency_range=gap).sequential == (gap > 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"order": "Random-order"},
            'sequential prototask "age" has Order "Random-order": write Order: retain',
        ),
        ({"dependency_range": -3}, "Maximum-Dependency-Range -3: give a number of cases, 0 or more"),
        ({"stratified": True}, "both stratified and sequential, which is not allowed"),
        ({"dependency_range": 150}, "leave 10 of 500 cases, too few for a training set of 20"),
        ({"dependency_range": 900}, "leave 0 of 500 cases"),
    ],
)
def test_impossible_sequences_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        draw(replace(PLAIN, **{"dependency_range": 5, **changes}), 20, 500)  # type: ignore[arg-type]


def test_sequences_with_groups_are_refused() -> None:
    with pytest.raises(SpecError, match="commonality indexes, which is not allowed"):
        draw(replace(PLAIN, dependency_range=5), 20, 500, commonality=[3] * 500)
    assert draw(replace(PLAIN, dependency_range=0), 20, 500, commonality=[-1] * 500) == draw(PLAIN, 20, 500)


# Strata.


@unhurried
@given(prototasks, st.integers(1, 4), st.integers(1, 6), st.data())
def test_stratified_designs_have_equal_strata(
    prototask: Prototask, class_count: int, share: int, data: st.DataObject
) -> None:
    reserved, size = prototask.test_set_size // class_count, share * class_count
    rarest = reserved + share
    counts = data.draw(st.lists(st.integers(rarest, 3 * rarest), min_size=class_count, max_size=class_count))
    codes = np.repeat(np.arange(class_count), counts)
    classes = codes[random_order(len(codes), data.draw(st.integers(0, 99))) - 1]
    stratified = replace(prototask, stratified=True)
    instances = draw_or_skip(stratified, size, len(classes), classes=classes)
    every_design_obeys(instances, stratified, size, len(classes))
    strata_are_equal(instances, classes, class_count)
    assert len(instances) == min((min(counts) - reserved) // share, stratified.maximum_instances)
    each = reserved // len(instances) if stratified.test_set_selection == "hierarchical" else reserved
    assert len(instances[0].testing) == each * class_count
    assert instances == draw(stratified, size, len(classes), classes=classes, class_count=class_count)
    unindexed = np.full(len(classes), -1)
    assert instances == draw(stratified, size, len(classes), classes=classes, commonality=unindexed)


def test_stratified_sets_take_the_cases_of_each_class_in_order() -> None:
    classes = [0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1]
    prototask = replace(PLAIN, test_set_size=5, stratified=True)
    first, second = draw(prototask, 4, 12, classes=classes)
    assert (first.testing.tolist(), first.training.tolist()) == ([0, 2], [3, 5, 6, 7])
    assert (second.testing.tolist(), second.training.tolist()) == ([1, 4], [8, 9, 10, 11])


@unhurried
@given(prototasks, st.integers(1, 4), group_runs, st.integers(1, 3), st.integers(0, 99))
def test_stratified_designs_may_have_groups(
    prototask: Prototask, share: int, groups: tuple[Rows, Rows], class_count: int, seed: int
) -> None:
    commonality, labels = groups
    classes = np.array([int(class_count * number) for number in islice(uniforms(seed), len(labels))])
    stratified = replace(prototask, stratified=True, test_set_size=(prototask.test_set_size + 3) // 3)
    size = share * (int(classes.max()) + 1)
    instances = draw_or_skip(stratified, size, len(labels), classes=classes, commonality=commonality)
    every_design_obeys(instances, stratified, size, len(labels))
    strata_are_equal(instances, classes, int(classes.max()) + 1)
    groups_stay_whole(instances, labels, stratified.test_set_selection)


def test_stratified_sets_with_groups_each_have_a_stretch_of_their_own() -> None:
    classes = [0, 1, 0, 0, 1, 1, 0, 1, 1]
    commonality = [1, 1, 1, 2, 2, 3, 3, 3, 4]
    (first, second) = draw(
        replace(PLAIN, test_set_size=2, stratified=True, test_set_selection="common"),
        2,
        9,
        classes=classes,
        commonality=commonality,
    )
    assert first.testing.tolist() == second.testing.tolist() == [0, 1]
    assert first.training.tolist() == [3, 4]
    assert second.training.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("size", "test_set_size", "classes", "class_count", "message"),
    [
        (4, 4, None, None, "is stratified but no classes were given"),
        (4, 4, [0, 1, 0], None, "3 class codes for 12 cases"),
        (5, 4, [0, 1] * 6, None, "5 is not a multiple of the number of classes 2: choose 6, say"),
        (4, 4, [0, 1] * 6, 4, "class 2 has 0 cases, but 1 are needed for testing and 1 for a training set"),
        (4, 4, [0] * 9 + [1] * 3, None, "class 1 has 3 cases, but 2 are needed for testing and 2 for"),
        (
            4,
            4,
            [0, 1] * 5 + [0, -1],
            None,
            "class code -1 of case 12 in the prototask's order is not among 0 to 1",
        ),
        (4, 4, [0, 1] * 5 + [0, 2], 2, "class code 2 of case 12"),
        (4, 4, [-1] * 12, None, "class code -1 of case 1"),
        (2, 1, [0, 1] * 6, None, "Test-Set-Size 1 is less than the number of classes 2: raise it"),
        (
            2,
            3,
            [0, 1] * 6,
            None,
            "3 test cases can't be divided into 5 test sets with cases of all 2 classes",
        ),
    ],
)
def test_impossible_strata_are_refused(
    size: int, test_set_size: int, classes: list[int] | None, class_count: int | None, message: str
) -> None:
    prototask = replace(PLAIN, test_set_size=test_set_size, stratified=True)
    with pytest.raises(SpecError, match=message):
        draw(prototask, size, 12, classes=classes, class_count=class_count)


def test_impossible_strata_in_groups_are_refused() -> None:
    prototask = replace(PLAIN, test_set_size=2, stratified=True, test_set_selection="common")
    with pytest.raises(SpecError, match="leave 2 of 6 cases, too few for a training set of 2, equally many"):
        draw(prototask, 2, 6, classes=[0, 1, 0, 1, 1, 1], commonality=[1, 1, 1, 1, -1, -1])


# Explicit instances.

NUMBERS = [3, 1, 8, 5, 9, 2]
UNRELATED = replace(PLAIN, order="Random-order")


def test_explicit_instances_are_positions_in_the_prototask_s_order() -> None:
    first, second = explicit_instances(UNRELATED, NUMBERS, [([5, 3], [9, 1]), ([2, 8, 1], [3])])
    assert (first.number, first.training.tolist(), first.testing.tolist()) == (0, [0, 3], [1, 4])
    assert (second.number, second.training.tolist(), second.testing.tolist()) == (1, [1, 2, 5], [0])


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([], "there are no instances"),
        ([([1], [2]), ([], [3])], "instance 1, training list: it is empty"),
        ([([1], [])], "instance 0, test list: it is empty"),
        ([([1, 4], [2])], 'instance 0, training list: case 4 is not in prototask "age"'),
        ([([1], [2, 0])], "instance 0, test list: case 0 is not in"),
        ([([1], [-1])], "test list: case -1 is not in"),
        ([([1], [10])], "test list: case 10 is not in"),
        ([([1, 3, 8, 3, 1], [2])], "instance 0, training list: case 3 is listed twice"),
        ([([1], [2]), ([1, 8], [5, 8])], "instance 1: case 8 is both a training and a test case"),
        ([([1, 5], [8, 9])], "training case 5 and test case 9 have the same commonality index 6"),
    ],
)
def test_bad_explicit_lists_are_refused(lists: list[tuple[list[int], list[int]]], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        explicit_instances(UNRELATED, NUMBERS, lists, commonality=[-1, -1, -1, 6, 6, -1])


SEQUENCE = replace(PLAIN, dependency_range=2)


def test_explicit_instances_of_a_sequence_keep_its_order_and_range() -> None:
    (instance,) = explicit_instances(SEQUENCE, range(1, 13), [([1, 2, 11, 12], [7, 5, 8])])
    assert instance.testing.tolist() == [4, 6, 7]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (
            [([1, 3, 2], [9])],
            "training case 2 is listed after case 3, but prototask .* list training cases in",
        ),
        ([([1, 2], [5, 4])], "test case 4 is 2 away from training case 2; it must be further than .* 2"),
        ([([1, 9], [5, 7])], "test case 7 is 2 away from training case 9"),
        ([([6, 12], [1, 2, 5])], "test case 5 is 1 away from training case 6"),
    ],
)
def test_bad_explicit_lists_of_a_sequence_are_refused(
    lists: list[tuple[list[int], list[int]]], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        explicit_instances(SEQUENCE, range(1, 13), lists)


def test_explicit_instances_refuse_a_sequence_with_groups() -> None:
    with pytest.raises(SpecError, match="commonality indexes, which is not allowed"):
        explicit_instances(SEQUENCE, [1, 2, 3], [([1], [3])], commonality=[1, 1, 2])


@unhurried
@given(
    st.lists(st.integers(-1, 5), min_size=2, max_size=60),
    st.integers(2, 10),
    st.integers(0, 100),
)
def test_cross_validation_tests_every_case_once_and_keeps_groups_whole(
    commonality: list[int], folds: int, name: int
) -> None:
    numbers = random_order(len(commonality), name)
    groups = len({index for index in commonality if index >= 0}) + commonality.count(-1)
    assume(folds <= groups)
    lists = cross_validation_lists(numbers, folds, ("/demo/age", name), commonality=commonality)
    again = cross_validation_lists(numbers, folds, ("/demo/age", name), commonality=commonality)
    assert explicit_instances(UNRELATED, numbers, lists) == explicit_instances(UNRELATED, numbers, again)
    instances = explicit_instances(UNRELATED, numbers, lists, commonality=commonality)
    assert len(instances) == folds
    tested = np.concatenate([instance.testing for instance in instances])
    assert sorted(tested) == list(range(len(commonality)))
    for instance in instances:
        assert len(instance.training) + len(instance.testing) == len(commonality)


def test_cross_validation_uses_its_seed_and_balances_its_folds() -> None:
    ways = [cross_validation_lists(range(1, 24), 5, ("x", name)) for name in range(5)]
    assert len({str(way) for way in ways}) == 5
    assert [len(testing) for _, testing in ways[0]] == [5, 5, 5, 4, 4]


def test_leave_one_out_leaves_every_case_or_group_out_once() -> None:
    lists = leave_one_out_lists([4, 2, 9])
    assert [(list(training), list(testing)) for training, testing in lists] == [
        ([2, 9], [4]),
        ([4, 9], [2]),
        ([4, 2], [9]),
    ]
    grouped = leave_one_out_lists([4, 2, 9], commonality=[7, -1, 7])
    assert [(list(training), list(testing)) for training, testing in grouped] == [
        ([2], [4, 9]),
        ([4, 9], [2]),
    ]


def test_impossible_cross_validations_are_refused() -> None:
    with pytest.raises(SpecError, match="can't make 1 folds of 5 groups of cases: choose 2 to 5"):
        cross_validation_lists(range(1, 6), 1, ["x"])
    with pytest.raises(SpecError, match="can't make 4 folds of 3 groups"):
        cross_validation_lists(range(1, 6), 4, ["x"], commonality=[1, 1, 1, 2, 3])
    with pytest.raises(SpecError, match="cross-validation needs a seed"):
        cross_validation_lists(range(1, 6), 2, [])
    with pytest.raises(SpecError, match="can't leave one of 1 groups of cases out"):
        leave_one_out_lists([1, 2], commonality=[3, 3])


# Facts.


def instances_of(*pairs: tuple[list[int], list[int]]) -> Instances:
    return tuple(Instance(number, np.array(one), np.array(two)) for number, (one, two) in enumerate(pairs))


def test_standard_designs_have_no_caveats() -> None:
    hierarchical = describe(draw(PLAIN, 20, 500))
    common = describe(draw(replace(PLAIN, test_set_selection="common"), 20, 500))
    assert (hierarchical.test_sets, common.test_sets) == ("disjoint", "common")
    assert hierarchical.training_sets == common.training_sets == "disjoint"
    assert hierarchical.equal_training_sizes
    assert hierarchical.equal_test_sizes
    assert hierarchical.caveats() == common.caveats() == ()


def test_cross_validation_has_its_caveats() -> None:
    lists = cross_validation_lists(range(1, 12), 3, ["x"])
    facts = describe(explicit_instances(UNRELATED, range(1, 12), lists))
    assert (facts.test_sets, facts.training_sets, facts.roles_mixed) == ("disjoint", "overlapping", True)
    assert not facts.equal_training_sizes
    assert not facts.equal_test_sizes
    text = "\n".join(facts.caveats())
    for part in (
        "training sets overlap: their losses vary together, so standard errors are too small",
        "some cases train in one instance and test in another",
        "training sets differ in size",
        "test sets differ in size",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("instances", "commonality", "gap", "caveat"),
    [
        (instances_of(([0], [1])), None, None, "there is only one instance"),
        (instances_of(([0], [2, 3]), ([1], [3, 4])), None, None, "test sets overlap partly"),
        (instances_of(([0, 1], [1])), None, None, "some test cases are training cases of the same instance"),
        (instances_of(([0, 1], [2])), [5, 6, 5], None, "the loss is estimated too low"),
        (instances_of(([0, 1], [3])), None, 2, "the loss is estimated too low"),
        (
            instances_of(([0], [2]), ([1], [3])),
            [4, 4, 5, 6],
            None,
            "training sets of different instances share",
        ),
        (instances_of(([0], [2]), ([1], [3])), [4, 5, 6, 6], None, "test sets of different instances share"),
        (instances_of(([0], [2, 3]), ([1], [2, 3])), [4, 5, 6, 6], None, "must count groups, not cases"),
        (
            instances_of(([0], [2]), ([1], [3])),
            [4, 5, 5, 6],
            None,
            "train in one instance and test in another",
        ),
        (instances_of(([7], [1]), ([8], [2])), None, 3, "cases are in sequence"),
    ],
)
def test_each_caveat_is_given_where_it_holds(
    instances: Instances, commonality: list[int] | None, gap: int | None, caveat: str
) -> None:
    caveats = describe(instances, commonality, dependency_range=gap).caveats()
    assert sum(caveat in text for text in caveats) == 1
    assert len(caveats) <= 2 + (len(instances) == 1)


def test_the_order_in_which_a_common_test_set_is_listed_does_not_matter() -> None:
    assert describe(instances_of(([0], [2, 3]), ([1], [3, 2]))).test_sets == "common"


def test_nothing_cannot_be_described() -> None:
    with pytest.raises(SpecError, match="no instances to describe"):
        describe(())


# Units for standard errors.


def test_units_are_groups_and_single_cases() -> None:
    instances = instances_of(([0], [1, 2, 3]), ([4], [5, 6]))
    first, second = commonality_units(instances, [-1, 3, 3, -1, 9, 9, -1])
    assert first[0] == first[1] == 3
    assert second[0] == 9
    assert len({3, 9, first[2], second[1]}) == 4
    assert first[2] != -1


def test_units_without_indexes_are_the_cases() -> None:
    instances = draw(PLAIN, 20, 500)
    for unindexed in (None, [-1] * 500):
        units = np.concatenate(commonality_units(instances, unindexed))
        assert len(np.unique(units)) == len(units)
    assert commonality_units((), None) == []


def test_units_need_an_index_for_every_case() -> None:
    with pytest.raises(SpecError, match="2 commonality indexes but the instances use case 3"):
        commonality_units(instances_of(([0], [2])), [1, 2])
