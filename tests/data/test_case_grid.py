"""Scores as a grid: oriented, measured between their limits, repeated answers averaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from redelve.data.scores import read_scores
from redelve.data.scores.case_grid import CaseGrid, grid_of
from redelve.errors import SpecError


def grid(rows: list[tuple[Any, ...]], columns: str = "model case score", **options: Any) -> CaseGrid:
    return grid_of(read_scores(pd.DataFrame(rows, columns=columns.split()), **options))


def test_a_row_for_every_model_and_a_column_for_every_case() -> None:
    found = grid([("a", 1, 1), ("a", 2, 0), ("b", 2, 1)])
    assert (found.models, found.cases, found.units) == (("a", "b"), ("1", "2"), ("1", "2"))
    assert np.array_equal(found.scores, np.array([[1, 0], [np.nan, 1]]), equal_nan=True)
    assert found.is_binary
    assert not found.has_clusters


def test_a_loss_is_turned_round_and_limits_are_taken_off() -> None:
    found = grid([("a", 1, 20), ("a", 2, 100)], higher_is_better=False, limits=(0, 100))
    assert found.scores.tolist() == [[0.8, 0.0]]
    assert (found.limits, found.scale) == ((100, 0), 100)


def test_repeated_answers_are_averaged() -> None:
    rows = [("a", 1, 0, 1), ("a", 1, 1, 0), ("a", 1, 2, 1), ("a", 2, 0, 1), ("a", 2, 1, np.nan)]
    assert grid(rows, "model case run score").scores == pytest.approx(np.array([[2 / 3, 1.0]]))


def test_scores_within_0_and_1_are_taken_to_have_these_limits_and_that_is_noted() -> None:
    found = grid([("a", 1, 0.25), ("a", 2, 0.5)])
    assert found.limits == (0, 1)
    assert "between 0 and 1" in found.notes[-1]


def test_cases_of_two_tasks_with_the_same_name_are_two_and_so_are_their_groups() -> None:
    rows = [("a", "t", 1, "g", 1), ("a", "u", 1, "g", 0), ("a", "u", 2, "g", 0)]
    found = grid(rows, "model task case group score")
    assert found.cases == (("t", "1"), ("u", "1"), ("u", "2"))
    assert found.units == (("t", "g"), ("u", "g"), ("u", "g"))
    assert found.has_clusters


def test_a_case_without_a_group_is_its_own() -> None:
    found = grid([("a", 1, "g", 1), ("a", 2, None, 0)], "model case group score")
    assert found.units == ("g", "2")


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        ([("a", 1, 1), ("a", 1, 0)], "model case score", 'is there twice .* number them in the column "run"'),
        ([("a", 1, 0, 1), ("a", 1, 0, 0)], "model case run score", "each must have another number"),
        ([("a", 1, 7), ("a", 2, 80)], "model case score", "go from 7 to 80.*--limits"),
        (
            [("a", 1, "g", 1), ("b", 1, "h", 0)],
            "model case group score",
            "the group of case \"1\" is 'h' in row 2",
        ),
        ([("a", 1, 2.0, 1), ("b", 1, 1.0, 0)], "model case weight score", "the weight of case"),
        ([("a", 1, 0.5), ("b", 1, 0.5)], "model fold score", "scores of folds, not of cases"),
    ],
)
def test_what_contradicts_itself_is_refused(rows: list[Any], columns: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        grid(rows, columns)


def test_an_unknown_model_is_answered_with_those_like_it() -> None:
    with pytest.raises(SpecError, match=r'no model "gpt5" \(did you mean "gpt4"\?\): it has gpt4, other'):
        grid([("gpt4", 1, 1), ("other", 1, 0)]).row("gpt5")
