"""Comparisons are made when somebody asks for them, and say what they said when all were made at once."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.findings import TaskFindings
from redelve.findings.claims import Contest, PairContests
from redelve.stats.one_partition import compare_cases

Told = tuple[str, str, float | None, float | None]


def long_scores(models: int = 12, cases: int = 200, seed: int = 3) -> pd.DataFrame:
    """Right and wrong answers; the last two models always give the same."""
    rng = np.random.default_rng(seed)
    scores = (rng.random((models, cases)) < np.linspace(0.3, 0.9, models)[:, None]).astype(int)
    scores[-2:] = 1
    names = np.repeat([f"m{number:02}" for number in range(models)], cases)
    return pd.DataFrame(
        {"model": names, "case": np.tile(np.arange(cases), models), "accuracy": scores.ravel()}
    )


def shapes() -> dict[str, pd.DataFrame]:
    plain = long_scores()
    lacking = plain.drop(plain.index[::97])
    several = pd.concat([long_scores(5, 40, seed).assign(run=seed) for seed in range(3)])
    rng = np.random.default_rng(4)
    folds = pd.concat(
        [plain.assign(fold=k, accuracy=plain["accuracy"] + rng.random(len(plain))) for k in range(3)]
    )
    return {
        "right and wrong": plain,
        "missing answers": lacking,
        "clusters": plain.assign(group=plain["case"] // 9),
        "repeated answers": several,
        "folds": folds.assign(case=folds["case"] + 1000 * folds["fold"]),
    }


@pytest.fixture(params=list(shapes()))
def task(request: pytest.FixtureRequest) -> TaskFindings:
    (found,) = redelve.compare_scores(shapes()[request.param]).findings.tasks
    return found


def test_finding_makes_no_comparison_of_fixed_models() -> None:
    (task,) = redelve.compare_scores(long_scores(30)).findings.tasks
    assert len(task.contests) == 435
    assert not task.pairs.known
    task.contest("m03", "m17")
    assert len(task.pairs.known) == 1


def test_what_is_said_of_all_is_what_each_says(task: TaskFindings) -> None:
    each = list(task.contests)
    names = [(one.first, one.second) for one in each]
    assert names == list(combinations([one.method for one in task.methods], 2))
    winners = {(one.winner, one.loser) for one in each if one.winner}
    assert set(task.pairs.outcomes()) == winners
    assert winners
    undefined = [(one.first, one.second) for one in each if one.adjusted_p_value is None]
    assert task.pairs.untested() == undefined
    assert task.pairs.of_method("m02") == [one for one in each if "m02" in (one.first, one.second)]
    assert set(task.worse) == {one.loser for one in each if one.loser}


def test_they_are_the_same_objects_whenever_they_are_asked_for(task: TaskFindings) -> None:
    first = task.contests[0]
    assert task.contests[0] is first
    assert next(iter(task.contests)) is first
    assert task.by_pair[frozenset((first.first, first.second))] is first
    assert task.contests[-1] is task.contests[len(task.contests) - 1]
    assert task.contests[:3] == tuple(task.contests)[:3]
    assert task.contests == tuple(task.contests)
    assert task.contests != ()
    assert list(task.by_pair) == [frozenset((one.first, one.second)) for one in task.contests]
    with pytest.raises(IndexError):
        task.contests[len(task.contests)]


def test_comparisons_that_were_made_by_hand_take_their_place(task: TaskFindings) -> None:
    turned = replace(task, contests=tuple(map(turned_round, task.contests)))
    assert isinstance(turned.pairs, PairContests)
    assert set(turned.pairs.outcomes()) == {(loser, winner) for winner, loser in task.pairs.outcomes()}
    assert set(turned.worse) == {winner for winner, _ in task.pairs.outcomes()}


def turned_round(contest: Contest) -> Contest:
    """The same with the other as the better one."""
    return replace(contest, difference=-(contest.difference or 0.0))


def told(one: Contest) -> Told:
    return one.first, one.second, one.difference, one.adjusted_p_value


def test_comparisons_that_nobody_has_made_yet_can_be_sent_to_another_process() -> None:
    (task,) = redelve.compare_scores(long_scores()).findings.tasks
    sent = pickle.loads(pickle.dumps(task.pairs))
    assert not sent.known
    assert list(map(told, sent)) == list(map(told, task.contests))


@pytest.mark.parametrize(
    "values", [([0.0, 1.0], [1.0, 1.0]), ([1.0] * 5, [1.0] * 5), ([0.0, np.inf], [1.0, 2.0])]
)
def test_tests_of_fixed_models_have_no_caveats(values: tuple[list[float], list[float]]) -> None:
    """So none of them is made to collect what must be said beside all of them."""
    assert compare_cases(*values).caveats == ()
