"""Where some methods have too few training sets, the others are compared all the same."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import redelve
from redelve.errors import StatisticsError
from redelve.findings import TaskFindings, find
from redelve.findings.result_frames import contests_frame
from redelve.model import Scheme
from redelve.report.first_screen import plain_answer
from redelve.report.sections.overview import told_in_full
from redelve.run.results import Results
from tests.findings import made_up

ADDRESS = "/made/up/std.64"
LEVELS = {"good": 1.0, "bad": 2.0, "low": 1.05, "high": 1.1}
SETS = 8


def worked_on(**sets: range) -> Results:
    """Methods that have results on some of eight training sets only; the rest of their jobs failed."""
    rng = np.random.default_rng(5)
    losses = {}
    for name, level in LEVELS.items():
        every = [level + rng.normal(0, 0.1, 50) for _ in range(SETS)]
        kept = sets.get(name, range(SETS))
        losses[name] = {ADDRESS: [one if number in kept else None for number, one in enumerate(every)]}
    return made_up.results([made_up.task(ADDRESS, instances=SETS)], losses)


def found_of(results: Results) -> tuple[TaskFindings, str]:
    found = find(results)
    return found.tasks[0], " ".join(told_in_full(found).split())


def claims(task: TaskFindings) -> list[tuple[object, ...]]:
    return [(one.first, one.second, one.adjusted_p_value, one.bounds) for one in task.contests]


@pytest.mark.parametrize("done", [1, 0])
def test_a_method_with_one_training_set_changes_nothing_for_the_others(done: int) -> None:
    names = [name for name in LEVELS if name != "low"]
    alone = find(worked_on().select(methods=names)).tasks[0]
    task, told = found_of(worked_on(low=range(done)))
    assert claims(task) == claims(alone)
    assert (task.leaders, task.best_group, task.worse) == (alone.leaders, alone.best_group, alone.worse)
    assert "nothing could be compared" not in told
    assert "No comparison is possible" not in told
    assert "the best of the 3 methods" in told
    if done:
        assert (
            "low could not be compared with any other method: can't do analysis of variance with fewer"
            in told
        )
        with pytest.raises(StatisticsError, match="fewer than two training sets: got 1"):
            task.contest("low", "good")


def test_two_methods_without_a_common_training_set_are_told_and_count_as_not_distinguished() -> None:
    task, told = found_of(worked_on(low=range(4), high=range(4, 8)))
    assert told.count("have no instance of /made/up/std.64 in common") == 1
    assert "low and high could not be compared" in told
    assert "No comparison is possible" not in told
    contest = task.contest("high", "low")
    assert (contest.difference, contest.adjusted_p_value, contest.bounds, contest.p_value) == (None,) * 4
    assert contest.advice == ""
    assert contest.interval() is None
    assert "no test is defined between low and high: they count as not distinguished" in task.caveats
    assert ("good", "bad") in [(one.winner, one.loser) for one in task.contests]


def test_pairs_that_cannot_be_compared_count_in_the_family_all_the_same() -> None:
    task = find(worked_on(low=range(4), high=range(4, 8))).tasks[0]
    contest = task.contest("good", "bad")
    assert contest.claim.family == 6
    assert "allowing for all 6 comparisons" in contest.words
    places = [one.claim.place for one in task.contests if one.claim.place is not None]
    assert {family.pairs for family, _ in places} == {6}


def test_a_planned_pair_that_cannot_be_compared_leaves_the_others_as_they_are() -> None:
    found = find(worked_on(low=range(1)), planned=[("good", "bad"), ("good", "low")])
    task = found.tasks[0]
    assert task.contest("good", "bad").winner == "good"
    assert task.contest("good", "low").words == (
        "good and low cannot be compared: can't do analysis of variance with fewer than two training sets: "
        "got 1."
    )
    frame = contests_frame([(ADDRESS, "S", one) for one in task.contests])
    assert frame["p_value"].isna().tolist() == [False, True]


def test_where_no_pair_can_be_compared_the_reason_is_told_as_before() -> None:
    task, told = found_of(worked_on(**{name: range(place, place + 1) for place, name in enumerate(LEVELS)}))
    assert not task.contests
    assert "No comparison is possible: good and bad have no instance" in told


@pytest.mark.parametrize("scheme", ["cross-validation", "time", "common", "hierarchical"])
def test_a_method_with_one_of_several_parts_is_left_out_in_every_design(scheme: Scheme) -> None:
    task = made_up.task(ADDRESS, instances=SETS, scheme=scheme)
    whole = replace(worked_on(low=range(1)), tasks={ADDRESS: task})
    found, told = found_of(whole)
    names = [name for name in LEVELS if name != "low"]
    assert claims(found) == claims(find(whole.select(methods=names)).tasks[0])
    assert "low could not be compared with any other method: " in told


def test_a_method_whose_sets_no_other_has_is_told_of_as_one_with_results() -> None:
    """As where a shard of the jobs has other training sets for it."""
    others = dict.fromkeys(("good", "bad", "high"), range(4))
    task, told = found_of(worked_on(low=range(4, 8), **others))
    assert tuple(task.alone) == ("low",)
    assert "low could not be compared with any other method: good and low have no instance" in told
    assert "methods with results" not in told
    assert "low has no value" not in told


def easy_sets(scheme: Scheme) -> Results:
    """Two equal methods and a worse one, on sets of growing difficulty; one has the two easiest alone."""
    rng = np.random.default_rng(3)
    every = [1 + 0.2 * number + rng.normal(0, 0.1, 50) for number in range(SETS)]
    losses: dict[str, list[Any]] = {"whole": every, "bad": [one + rng.normal(2, 0.1, 50) for one in every]}
    losses["part"] = [*every[:2], *[None] * (SETS - 2)]
    task = made_up.task(ADDRESS, instances=SETS, scheme=scheme)
    return made_up.results([task], {name: {ADDRESS: rows} for name, rows in losses.items()})


@pytest.mark.parametrize(
    ("scheme", "what"), [("hierarchical", "training sets"), ("cross-validation", "folds"), ("time", "folds")]
)
def test_the_best_says_that_its_mean_is_over_fewer_sets_than_others(scheme: Scheme, what: str) -> None:
    findings = find(easy_sets(scheme))
    told = " ".join(told_in_full(findings).split())
    assert f"part had the smallest loss, on 2 of 8 {what};" in told
    assert f"part had the smallest expected squared error, on 2 of 8 {what}: " in told
    noun = what.rsplit(maxsplit=1)[-1]
    assert (told.count(f"(2 {noun})"), told.count(f"(8 {noun})")) == (1, 2)
    assert "Means over different training sets are not comparable" in told
    assert "part and whole could not be told apart: their losses are the same on every case that both" in told
    plain = " ".join(plain_answer(findings).sentences)
    assert f"part did best, on 2 of 8 {what}, with" in plain


def test_where_the_best_has_all_sets_or_all_have_the_same_nothing_is_said_of_it() -> None:
    _, told = found_of(worked_on(bad=range(3)))
    assert "good had the smallest loss;" in told or "good is the best of these methods" in told
    assert "(3 sets)" in told
    assert " sets)" not in found_of(worked_on())[1]


class Fragile(Ridge):  # type: ignore[misc]
    """Ridge regression that fails unless the first input lies within bounds."""

    def __init__(self, low: float = 0.0, high: float = 0.0) -> None:
        super().__init__()
        self.low, self.high = low, high

    def fit(self, X: object, y: object) -> "Fragile":
        """Fit or fail."""
        if not self.low <= np.asarray(X)[0, 0] < self.high:
            raise ValueError("no")
        return super().fit(X, y)  # type: ignore[no-any-return]


def test_text_page_frame_and_comparisons_agree(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(1100, 3)), columns=["a", "b", "c"])
    table["y"] = table.a + table.b + rng.normal(0, 0.5, len(table))
    task = redelve.task(table, target="y", sizes=[64])
    methods = {
        "low": Fragile(-9, 0),
        "high": Fragile(0, 9),
        "ridge": Ridge(),
        "none": redelve.METHODS["constant"],
    }
    found = redelve.assess(methods, task, limits=redelve.Limits(isolated=False))
    assert found.compare("ridge", "none")[0].winner == "ridge"
    assert found.findings.tasks[0].contest("ridge", "none").winner == "ridge"
    stars = found.frame().set_index("method")["may_be_best"]
    assert stars.to_dict() == {"low": True, "high": True, "ridge": True, "none": False}
    pages = [found.report(tmp_path / f"page.{kind}").read_text() for kind in ("html", "md", "tex")]
    for text in (str(found), *pages[:2]):
        assert "could not be compared: low and high have no instance" in " ".join(text.split())
        assert "No comparison is possible" not in text
    assert pages[1].count("| not compared |") == 3, "in the table of pairs and twice in the matrix"
    with pytest.raises(StatisticsError, match="in common"):
        found.compare("low", "high")
