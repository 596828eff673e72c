"""Places on a board: intervals that hold together, neighbours that are apart, groups."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.errors import StatisticsError
from redelve.findings.places import LeaderBoard, best_first, board_on, board_over
from redelve.stats.families import judged_sizes
from redelve.stats.standings import open_places


def wide(rng: np.random.Generator, chances: list[float], cases: int = 400) -> pd.DataFrame:
    names = [f"m{number}" for number in range(len(chances))]
    return pd.DataFrame({n: (rng.random(cases) < p).astype(int) for n, p in zip(names, chances, strict=True)})


def board(frame: pd.DataFrame) -> LeaderBoard:
    (task,) = redelve.compare_scores(frame, higher_is_better=True).findings.tasks
    found = board_on(task)
    assert found is not None
    return found


def test_places_follow_from_who_was_shown_to_be_better() -> None:
    frame = wide(np.random.default_rng(2), [0.9, 0.88, 0.6, 0.58, 0.2])
    (task,) = redelve.compare_scores(frame, higher_is_better=True).findings.tasks
    found = board(frame)
    for one in found.places:
        better = sum(contest.loser == one.method for contest in task.contests)
        worse = sum(contest.winner == one.method for contest in task.contests)
        assert (one.first, one.last) == (1 + better, 5 - worse)
        assert one.first <= one.place <= one.last
    assert found.apart == (("m1", "m2"), ("m3", "m4"))
    assert found.groups == (("m0", "m1"), ("m2", "m3"), ("m4",))


def test_equal_scores_share_a_place() -> None:
    frame = pd.DataFrame({"a": [1, 0] * 30, "b": [0, 1] * 30, "c": [0, 0, 0] * 20})
    assert [one.place for one in board(frame).places] == [1, 1, 3]


def test_planned_comparisons_have_no_board() -> None:
    frame = wide(np.random.default_rng(2), [0.9, 0.5, 0.4])
    (task,) = redelve.compare_scores(frame, higher_is_better=True, compare=[("m0", "m1")]).findings.tasks
    assert board_on(task) is None


def test_the_page_and_the_text_have_places_and_how_many_neighbours_are_apart() -> None:
    from redelve.report.page import render_html

    made = redelve.compare_scores(
        wide(np.random.default_rng(2), [0.9, 0.88, 0.6, 0.58, 0.2]), higher_is_better=True
    )
    text = " ".join(str(made).split())
    assert "Of 4 adjacent places on the board 2 are really apart (m1 over m2 and m3 over m4)" in text
    assert "places open" in text
    page = render_html(made.findings)
    assert "Places open" in page
    assert "1 to 2" in page


def test_a_comparison_is_turned_with_its_interval() -> None:
    (task,) = redelve.compare_scores(
        wide(np.random.default_rng(2), [0.3, 0.9]), higher_is_better=True
    ).findings.tasks
    (contest,) = task.contests
    turned = best_first(contest, {"m1": 0, "m0": 1})
    assert (turned.first, turned.second, turned.winner) == ("m1", "m0", "m1")
    assert turned.bounds is not None
    assert contest.bounds is not None
    assert turned.bounds == (-contest.bounds[1], -contest.bounds[0])
    assert best_first(turned, {"m1": 0, "m0": 1}) is turned


def test_over_tasks_there_is_a_board_of_averages() -> None:
    rng = np.random.default_rng(8)
    parts = [wide(rng, [0.9, 0.5, 0.1]).assign(task=f"t{number}") for number in range(6)]
    across = redelve.compare_scores(pd.concat(parts), higher_is_better=True).findings.across
    assert across is not None
    found = board_over(across)
    assert found is not None
    assert [(one.method, one.first, one.last) for one in found.places] == [
        ("m0", 1, 1),
        ("m1", 2, 2),
        ("m2", 3, 3),
    ]


def test_a_square_table_is_wanted() -> None:
    with pytest.raises(StatisticsError, match="square table"):
        open_places([1.0, 2.0], [[True]])


def test_all_places_hold_together_in_most_boards() -> None:
    """Six models, two of them pairs of equals; a true place is any that ties allow. 5 % of 300 boards."""
    rng, boards, misses = np.random.default_rng(21), 300, 0
    truth = np.array([0.75, 0.70, 0.70, 0.60, 0.60, 0.45])
    first = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
    last = truth.size - (truth[None, :] < truth[:, None]).sum(axis=1)
    narrow = 0
    for _ in range(boards):
        right = rng.random((6, 250)) < truth[:, None]
        differences = np.array([right[i].mean() - right[j].mean() for i, j in combinations(range(6), 2)])
        worse = shown_worse(right.astype(float))
        found = open_places(-right.mean(axis=1), worse)
        misses += bool(((found.first > last) | (found.last < first)).any())
        narrow += int((found.last - found.first < 5).sum())
        assert differences.size == 15
    error = np.sqrt(0.05 * 0.95 / boards)
    assert misses / boards < 0.05 + 3 * error
    assert narrow > boards  # something is shown


def shown_worse(right: np.ndarray) -> np.ndarray:
    """By the family of all pairs, as a report judges them."""
    from redelve.findings.claims import LEVEL, FamilyClaims
    from redelve.stats.families import SizePairs, pairs_of_means

    first, second = (list(side) for side in zip(*combinations(range(len(right)), 2), strict=True))
    squares = pairs_of_means(-right, (first, second), 1 / right.shape[1])
    (judged,) = judged_sizes([SizePairs(squares, len(right), np.arange(len(first)))], LEVEL, 1)
    worse = np.zeros((len(right), len(right)), dtype=bool)
    for i, j, claim, difference in zip(
        first, second, FamilyClaims(judged, len(first)), squares.differences, strict=True
    ):
        if claim.is_made:
            loser, winner = (i, j) if difference > 0 else (j, i)
            worse[loser, winner] = True
    return worse
