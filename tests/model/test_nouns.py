"""Datasets, prototasks and the cases they choose; digests change with every field."""

from dataclasses import replace

import numpy as np
import pytest

from redelve.errors import SpecError
from redelve.model import (
    Attribute,
    AttributePrior,
    Cases,
    Dataset,
    DatasetSpec,
    GappedColumn,
    Instance,
    LevelColumn,
    Prior,
    Prototask,
    Task,
    WrittenColumn,
    cases_from_rows,
    extract,
    parse_range,
)

SPEC = DatasetSpec(
    "toy",
    (
        Attribute(1, "SIZE", "u", parse_range("[0,Inf) ?")),
        Attribute(2, "KIND", "c", parse_range("a b ?lost")),
        Attribute(3, "COST", "u", parse_range("(-Inf,Inf)")),
    ),
    "natural",
    "assessment",
    "informative",
)
ROWS = [["1.0", "a", "5"], ["?", "b", "6"], ["3.50", "?lost", "7"], ["4", "a", "8"]]
DATASET = Dataset(SPEC, cases_from_rows(ROWS, commonality=[7, 7, -1, 3], comments={2: "odd"}))
PROTOTASK = Prototask(
    name="cost",
    dataset="toy",
    inputs=(1, 2),
    targets=(3,),
    origin="natural",
    test_set_size=1,
    training_set_sizes=(1,),
    maximum_instances=2,
)


def texts(dataset: Dataset, prototask: Prototask, **lists: list[int]) -> list[list[str]]:
    cases = extract(dataset, prototask, **lists).cases
    return [list(row) for row in zip(*(column.texts() for column in cases.columns), strict=True)]


def test_attributes_go_by_number_or_name() -> None:
    assert SPEC.attribute(2) is SPEC.attribute("KIND") is SPEC.attribute("2")
    with pytest.raises(SpecError, match='has no attribute "AGE": it has numbers 1 to 3'):
        SPEC.attribute("AGE")


def test_attribute_0_is_the_case_number_of_an_informative_order() -> None:
    assert SPEC.attribute(0).name == "CASE"
    numbered = replace(PROTOTASK, inputs=(0, 1))
    assert [row[0] for row in texts(DATASET, numbered, order=[4, 3, 2, 1])] == ["4", "3", "2", "1"]
    with pytest.raises(SpecError, match="attribute 0 needs an informative order"):
        replace(SPEC, order="uninformative").attribute(0)


def test_cases_are_chosen_ordered_and_kept_as_written() -> None:
    assert texts(DATASET, PROTOTASK) == ROWS
    assert texts(DATASET, replace(PROTOTASK, cases="no missing")) == [ROWS[0], ROWS[3]]
    assert texts(DATASET, PROTOTASK, case_list=[4, 3], order=[2, 1]) == [ROWS[3], ROWS[2]]
    only_cost = replace(PROTOTASK, inputs=(), cases="no missing")
    assert len(texts(DATASET, only_cost)) == 4


def test_commonality_comments_and_numbers_travel_with_their_cases() -> None:
    data = extract(DATASET, PROTOTASK, order=[3, 1, 2, 4])
    assert data.cases.commonality is not None
    assert data.cases.commonality.tolist() == [-1, 7, 7, 3]
    assert data.cases.comments == {0: "odd"}
    assert data.case_numbers.tolist() == [3, 1, 2, 4]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"case_list": [5]}, "case 5 doesn't exist: the dataset has cases 1 to 4"),
        ({"order": [1, 2]}, "the order lists 2 cases but the prototask has 4"),
        ({"order": [1, 2, 2, 4]}, "look at case 2"),
        ({"order": [1, 2, 3, 9]}, "look at case 9"),
    ],
)
def test_bad_lists_are_refused(lists: dict[str, list[int]], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        extract(DATASET, PROTOTASK, **lists)


def test_digests_change_with_every_field() -> None:
    prior = Prior("std", (AttributePrior(1, "NLMH", "real"),))
    task = Task(PROTOTASK, prior, 128)
    instance = Instance(0, np.array([1, 2]), np.array([3]))
    changed = [
        (SPEC, replace(SPEC, usage="development")),
        (DATASET, replace(DATASET, cases=cases_from_rows(ROWS))),
        (PROTOTASK, replace(PROTOTASK, stratified=True)),
        (prior, replace(prior, name="other")),
        (task, replace(task, training_set_size=64)),
        (instance, replace(instance, number=1)),
    ]
    for noun, other in changed:
        assert noun.digest == replace(noun).digest  # type: ignore[type-var, attr-defined]
        assert noun.digest != other.digest  # type: ignore[attr-defined]
    assert task.address == "/toy/cost/std.128"
    assert instance == Instance(0, np.array([1, 2]), np.array([3]))
    with pytest.raises(SpecError, match='prior "std" says nothing of attribute 9'):
        prior.attribute(9)


def test_spelling_is_part_of_a_case() -> None:
    other = [["1.00", "a", "5"], *ROWS[1:]]
    assert cases_from_rows(ROWS) == cases_from_rows(ROWS)
    assert cases_from_rows(ROWS) != cases_from_rows(other)


def test_columns_with_gaps_and_of_levels_are_the_texts_that_they_stand_for() -> None:
    values = np.array([1.0, np.nan, -0.25, 1e22, 3.0, 1.0])
    gapped, coded = GappedColumn(values), LevelColumn(np.array([1, -1, 0]), ("a", "2.5", "?"))
    assert gapped.texts().tolist() == ["1", "?", "-0.25", "1e+22", "3", "1"]
    assert coded.texts().tolist() == ["2.5", "?", "a"]
    for column in (gapped, coded):
        as_written = WrittenColumn(column.texts())
        np.testing.assert_array_equal(column.numbers(), as_written.numbers())
        order = np.arange(len(column))[::-1]
        for rows in (np.arange(len(column)), order):
            held, texts = (Cases((one,), len(column)).select(rows) for one in (column, as_written))
            assert held.content_digest == texts.content_digest


def test_the_digest_of_a_column_with_gaps_does_not_depend_on_how_many_rows_are_taken_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    column = GappedColumn(np.array([1.5, np.nan, 2.0, 7.0]))
    expected = Cases((WrittenColumn(column.texts()),), 4).content_digest
    for count in (1, 2, 3):
        monkeypatch.setattr("redelve.model.dataset.ROWS_AT_A_TIME", count)
        assert Cases((column,), 4).content_digest == expected
