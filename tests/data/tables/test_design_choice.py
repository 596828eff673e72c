"""The design that is chosen, and folds with their share of every class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.data.tables.first_look import DesignChoice, choose_design
from redelve.data.tables.named_designs import fold_lists
from redelve.errors import SpecError

# cases → selection, sizes, test cases, instances
DIVIDED: dict[int, tuple[str, tuple[int, ...], int, int]] = {
    400: ("common", (32,), 200, 6),
    512: ("common", (32,), 256, 8),
    1000: ("common", (32, 64), 500, 8),
    1600: ("hierarchical", (32, 64, 128), 800, 8),
    8192: ("hierarchical", (32, 64, 128, 256, 512), 4096, 8),  # with 1024 cases each there would be four sets
    9000: ("hierarchical", (32, 64, 128, 256, 512), 4500, 8),
    100_000: ("hierarchical", (512, 1024, 2048, 4096, 8192), 20_000, 8),
    5_000_000: ("hierarchical", (512, 1024, 2048, 4096, 8192), 20_000, 8),
}


@pytest.mark.parametrize("cases", DIVIDED)
def test_enough_cases_are_divided_in_powers_of_two(cases: int) -> None:
    choice = choose_design(cases)
    chosen = (choice.selection, choice.training_set_sizes, choice.test_set_size, choice.instances)
    assert chosen == DIVIDED[cases]
    assert choice.reasons


@pytest.mark.parametrize(("cases", "folds"), [(10, 5), (99, 5), (100, 10), (399, 10)])
def test_few_cases_are_cross_validated(cases: int, folds: int) -> None:
    choice = choose_design(cases)
    assert (choice.selection, choice.folds, choice.repetitions) == ("cross-validation", folds, 1)
    assert not choice.stratify
    assert f"{cases} cases are fewer than 400" in choice.reasons[0]


@given(st.integers(400, 10**6))
def test_training_and_test_cases_never_need_more_than_there_are(cases: int) -> None:
    choice = choose_design(cases)
    assert 200 <= choice.test_set_size <= cases / 2
    assert 4 * choice.training_set_sizes[-1] <= cases - choice.test_set_size
    assert 4 <= choice.instances <= 8
    assert 1 <= len(choice.training_set_sizes) <= 5


@given(st.lists(st.integers(1, 60), min_size=20, max_size=400))
def test_groups_leave_room_for_the_sets_that_are_chosen(sizes: list[int]) -> None:
    choice = choose_design(sum(sizes), group_sizes=sizes)
    if not choice.is_cross_validation:
        gap = max(sizes) - 1
        largest = choice.training_set_sizes[-1]
        assert choice.test_set_size + gap + 4 * largest + 3 * gap <= sum(sizes)
        assert choice.training_set_sizes[0] >= 8 * sum(sizes) / len(sizes) or max(sizes) == 1


def test_few_groups_are_cross_validated_group_by_group() -> None:
    choice = choose_design(5000, group_sizes=[1000] * 5)
    assert (choice.selection, choice.folds, choice.repetitions) == ("nested-cross-validation", 5, 1)
    assert "5 groups, the largest of 1000 cases, are too few" in choice.reasons[0]


@pytest.mark.parametrize(
    ("groups", "each", "selection", "folds", "fits"),
    [
        (12, 10, "nested-cross-validation", 12, 78),
        (12, 5, "nested-cross-validation", 12, 78),
        (13, 10, "nested-cross-validation", 10, 55),
        (30, 10, "nested-cross-validation", 10, 55),
        (100, 3, "nested-cross-validation", 10, 55),
        (3, 50, "cross-validation", 3, None),
        (300, 1, "cross-validation", 10, None),
    ],
)
def test_what_is_chosen_for_groups(
    groups: int, each: int, selection: str, folds: int, fits: int | None
) -> None:
    choice = choose_design(groups * each, group_sizes=[each] * groups)
    assert (choice.selection, choice.folds) == (selection, folds)
    assert any(f"{fits} trainings in all" in reason for reason in choice.reasons) == (fits is not None)


def test_two_hundred_groups_of_ten_fill_separate_training_sets() -> None:
    assert choose_design(1000, group_sizes=[10] * 100).is_nested
    assert not choose_design(2000, group_sizes=[10] * 200).is_cross_validation


def test_sizes_at_which_a_class_would_be_absent_are_passed_over() -> None:
    choice = choose_design(8192, class_counts={"common": 8110, "rare": 82})
    assert choice.training_set_sizes == (256, 512)
    assert "smaller training sets would often lack the rarest class (82 cases)" in choice.reasons


def test_the_largest_size_stays_however_rare_a_class_is() -> None:
    choice = choose_design(8192, class_counts={"common": 8188, "rare": 4})
    assert choice.training_set_sizes == (512,)
    assert "training sets may still lack the rarest class (4 cases)" in choice.reasons


def test_a_rare_class_gets_fewer_folds() -> None:
    choice = choose_design(300, class_counts={"a": 293, "b": 7})
    assert (choice.folds, choice.stratify) == (5, True)


@pytest.mark.parametrize(
    ("cases", "classes", "groups", "message"),
    [
        (9, None, None, "only 9 cases with a known target: at least 10"),
        (50, {"a": 50}, None, 'only the class "a"'),
        (50, {"a": 49, "b": 1}, None, 'class "b" of the target has 1 case'),
        (50, None, [50], "all cases are in one group"),
    ],
)
def test_hopeless_cases_are_refused(
    cases: int, classes: dict[str, int] | None, groups: list[int] | None, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        choose_design(cases, class_counts=classes, group_sizes=groups)
    assert message in str(caught.value)


@given(st.lists(st.integers(2, 40), min_size=2, max_size=6), st.integers(2, 10), st.integers(0, 99))
def test_stratified_folds_have_their_share_of_every_class(counts: list[int], folds: int, seed: int) -> None:
    classes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    folds = min(folds, len(classes))
    choice = DesignChoice("cross-validation", folds=folds, repetitions=2, stratify=True)
    numbers = np.arange(1, len(classes) + 1)
    lists = fold_lists(choice, numbers, seed_names=("test", seed), classes=classes)
    assert len(lists) == 2 * folds
    for training, testing in lists:
        assert not set(training) & set(testing)
        assert len(testing) in (len(classes) // folds, -(-len(classes) // folds))
        assert len(set(classes[np.asarray(training) - 1])) == len(counts)
        tested = np.bincount(classes[np.asarray(testing) - 1], minlength=len(counts))
        assert (np.abs(tested - np.array(counts) / folds) < 1).all()
    for one_pass in (lists[:folds], lists[folds:]):
        assert sorted(case for _, testing in one_pass for case in testing) == numbers.tolist()


@given(st.lists(st.integers(1, 12), min_size=5, max_size=40), st.integers(2, 5), st.integers(0, 99))
def test_stratified_folds_keep_groups_whole(sizes: list[int], folds: int, seed: int) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    classes = np.random.default_rng(seed).integers(0, 3, len(groups))
    choice = DesignChoice("cross-validation", folds=folds, repetitions=1, stratify=True)
    numbers = np.arange(1, len(groups) + 1)
    lists = fold_lists(choice, numbers, seed_names=("test",), classes=classes, commonality=groups)
    for training, testing in lists:
        assert len(testing)
        assert not set(groups[np.asarray(training) - 1]) & set(groups[np.asarray(testing) - 1])
    assert sorted(case for _, testing in lists for case in testing) == numbers.tolist()


def test_balanced_groups_give_balanced_folds() -> None:
    groups = np.repeat(np.arange(40), 5)
    classes = np.repeat(np.arange(40) % 2, 5)
    choice = DesignChoice("cross-validation", folds=10, repetitions=1, stratify=True)
    lists = fold_lists(choice, np.arange(1, 201), seed_names=("test",), classes=classes, commonality=groups)
    for _, testing in lists:
        assert np.bincount(classes[np.asarray(testing) - 1]).tolist() == [10, 10]


def test_repetitions_and_names_give_other_folds() -> None:
    choice = DesignChoice("cross-validation", folds=5, repetitions=2)
    first, again, other = (
        fold_lists(choice, np.arange(1, 51), seed_names=(name,)) for name in ("a", "a", "b")
    )
    assert all(np.array_equal(one[1], two[1]) for one, two in zip(first, again, strict=True))
    assert not np.array_equal(first[0][1], other[0][1])
    assert not np.array_equal(first[0][1], first[5][1])


def test_numbers_can_not_be_stratified() -> None:
    choice = DesignChoice("cross-validation", folds=5, repetitions=2, stratify=True)
    with pytest.raises(SpecError, match="stratify = true needs a target with classes"):
        fold_lists(choice, np.arange(1, 51), seed_names=("a",))
