"""Scores computed elsewhere as results: fixed models, clusters, weights, folds, missing cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy import stats as scipy_stats

import redelve
from redelve.errors import RedelveError
from redelve.stats.estimates import Comparison


def long(scores: dict[str, Any], **columns: Any) -> pd.DataFrame:
    """A long table of scores by model, with columns that say more of the cases."""
    parts = []
    for model, values in scores.items():
        cases = [f"q{number:03}" for number in range(len(values))]
        parts.append(pd.DataFrame({"model": model, "case": cases, "score": values, **columns}))
    return pd.concat(parts, ignore_index=True)


RNG = np.random.default_rng(5)
FIRST, SECOND = (RNG.random(60) < 0.8).astype(float), (RNG.random(60) < 0.5).astype(float)
TWO = long({"a": FIRST, "b": SECOND})


def test_fixed_models_are_compared_by_the_paired_t_test() -> None:
    contest = redelve.compare_scores(TWO).compare("a", "b")[0]
    expected = stats.ttest_rel(FIRST, SECOND)
    assert contest.p_value == pytest.approx(expected.pvalue, rel=1e-12)
    assert -(contest.difference or 0) == pytest.approx(FIRST.mean() - SECOND.mean(), rel=1e-12)
    assert contest.standard_error == pytest.approx(stats.sem(FIRST - SECOND), rel=1e-12)


def test_the_order_of_rows_does_not_matter() -> None:
    shuffled = TWO.sample(frac=1, random_state=1)
    assert str(redelve.compare_scores(shuffled)) == str(redelve.compare_scores(TWO))


def test_a_lower_score_may_be_the_better_one() -> None:
    lower = redelve.compare_scores(TWO, higher_is_better=False).compare("a", "b")[0]
    higher = redelve.compare_scores(TWO).compare("a", "b")[0]
    assert (lower.winner, higher.winner) == ("b", "a")


def test_words_are_of_models_and_cases_and_no_rule_speaks_of_training_sets() -> None:
    assessment = redelve.compare_scores(TWO)
    text = str(assessment)
    assert "On 60 cases a had the highest accuracy" in text
    assert "training" not in text
    assert "V001" not in {note.code for note in assessment.findings.notes}


@pytest.mark.parametrize(
    ("column", "told"),
    [("correct", "highest accuracy"), ("wrong", "lowest error rate"), ("f1", "highest f1")],
)
def test_what_an_answer_is_becomes_what_a_model_has(column: str, told: str) -> None:
    """A model has no "highest correct"."""
    text = " ".join(str(redelve.compare_scores(TWO.rename(columns={"score": column}))).split())
    assert f"had the {told}: " in text


def test_answers_repeated_for_a_case_are_averaged() -> None:
    answers = np.random.default_rng(1).random((2, 40, 3))
    rows = [
        {"model": "ab"[m], "case": c, "epoch": r, "score": answers[m, c, r]}
        for m in range(2)
        for c in range(40)
        for r in range(3)
    ]
    contest = redelve.compare_scores(pd.DataFrame(rows), limits=(0, 1)).compare("a", "b")[0]
    means = answers.mean(axis=2)
    assert contest.p_value == pytest.approx(stats.ttest_rel(means[0], means[1]).pvalue, rel=1e-12)


def test_unequal_numbers_of_answers_are_averaged_and_told() -> None:
    rows = [("a", 1, 1, 1.0), ("a", 1, 2, 0.0), ("a", 2, 1, 1.0), ("b", 1, 1, 0.0), ("b", 2, 1, 1.0)]
    frame = pd.DataFrame(rows, columns=["model", "case", "run", "score"])
    assessment = redelve.compare_scores(frame)
    (facts,) = assessment.results.tasks.values()
    assert any("different numbers of answers" in note for note in facts.remarks)
    assert assessment.frame().set_index("method")["mean"]["a"] == pytest.approx(0.75)


def test_dependent_cases_count_as_one() -> None:
    """CR2 (Bell and McCaffrey 2002), from the matrices of its definition."""
    groups = np.repeat(np.arange(12), [1, 9, 3, 7, 5, 5, 2, 8, 6, 4, 5, 5])
    contest = redelve.compare_scores(long({"a": FIRST, "b": SECOND}, group=groups)).compare("a", "b")[0]
    differences = FIRST - SECOND
    squares = 0.0
    for group in range(12):
        own = (differences - differences.mean())[groups == group]
        values, vectors = np.linalg.eigh(np.eye(own.size) - np.full((own.size, own.size), 1 / 60))
        squares += (vectors @ np.diag(values**-0.5) @ vectors.T @ own).sum() ** 2
    assert contest.standard_error == pytest.approx(np.sqrt(squares) / 60, rel=1e-9)
    parts, drawn = np.bincount(groups) / 60, np.random.default_rng(1).normal(size=(200_000, 12))
    means = drawn @ parts
    t = means / np.sqrt(np.square(drawn - means[:, None]) @ (parts**2 / (1 - parts)))
    assert isinstance(contest.test, Comparison)
    assert contest.test.df2 is not None
    beyond = np.abs(t) > scipy_stats.t.isf(0.025, contest.test.df2)  # of groups that vary alike
    assert beyond.mean() == pytest.approx(0.05, abs=0.0015)
    assert contest.claim.own_p_value == pytest.approx(contest.p_value, rel=1e-9)


def test_weights_of_cases() -> None:
    """The mean is the weighted one, with the standard error of a ratio of weighted sums."""
    weights = np.random.default_rng(2).uniform(0.5, 3, 60)
    contest = redelve.compare_scores(long({"a": FIRST, "b": SECOND}, weight=weights)).compare("a", "b")[0]
    differences, parts = FIRST - SECOND, weights / weights.sum()
    mean = np.average(differences, weights=weights)
    assert -(contest.difference or 0) == pytest.approx(mean, rel=1e-12)
    error = np.sqrt(np.sum((parts * (differences - mean)) ** 2 / (1 - parts)))
    assert contest.standard_error == pytest.approx(error, rel=1e-9)


def test_scores_of_folds_go_to_the_corrected_test() -> None:
    """Nadeau and Bengio (2003): the variance of ten folds is s² (1/10 + 1/9)."""
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.80, 0.02, 10), rng.normal(0.78, 0.02, 10)
    frame = pd.DataFrame(
        {"model": ["a"] * 10 + ["b"] * 10, "fold": [*range(10)] * 2, "accuracy": [*first, *second]}
    )
    contest = redelve.compare_scores(frame, ratio=1 / 9).compare("a", "b")[0]
    differences = first - second
    error = np.sqrt(differences.var(ddof=1) * (1 / 10 + 1 / 9))
    assert contest.standard_error == pytest.approx(error, rel=1e-12)
    assert contest.p_value == pytest.approx(2 * stats.t.sf(abs(differences.mean()) / error, 9), rel=1e-12)
    with pytest.raises(RedelveError, match="ratio=1/9"):
        redelve.compare_scores(frame)


def test_cases_that_some_model_lacks_are_left_out_for_all_and_told() -> None:
    frame = TWO.drop(index=[3, 70])
    assessment = redelve.compare_scores(frame)
    (facts,) = assessment.results.tasks.values()
    assert facts.case_count == 58
    assert any("2 of 60 cases are left out" in note.text for note in assessment.findings.notes)
    kept = [place for place in range(60) if place not in (3, 10)]
    expected = stats.ttest_rel(FIRST[kept], SECOND[kept]).pvalue
    assert assessment.compare("a", "b")[0].p_value == pytest.approx(expected, rel=1e-12)


def test_missing_scores_may_count_as_the_worst() -> None:
    frame = TWO.drop(index=[3, 70])
    first, second = FIRST.copy(), SECOND.copy()
    first[3] = second[10] = 0.0
    contest = redelve.compare_scores(frame, missing="worst").compare("a", "b")[0]
    assert contest.p_value == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-12)
    with pytest.raises(RedelveError, match="limits"):
        redelve.compare_scores(frame.assign(score=frame["score"] + 0.5), missing="worst")


NONE = float("nan")


def twice(first: Any, second: Any) -> pd.DataFrame:
    """Two answers of each of two models to every case: those of a, and 1 and 0 of b."""
    answers = [long({"a": first, "b": np.ones(len(first))}, run=1)]
    answers.append(long({"a": second, "b": np.zeros(len(second))}, run=2))
    return pd.concat(answers, ignore_index=True)


def noted(assessment: redelve.Assessment, code: str) -> str:
    return " ".join(note.text for note in assessment.findings.notes if note.code == code)


def test_answers_without_a_score_count_as_the_worst_where_that_is_asked_for() -> None:
    found = redelve.compare_scores(twice([1, 1, 1], [NONE, NONE, 1]), limits=(0, 1), missing="worst")
    assert found.frame().set_index("method")["mean"]["a"] == pytest.approx(4 / 6)
    assert "answers without a score count as the worst there is: a 2 of 6" in noted(found, "V025")
    assert "different numbers of answers" not in str(found)


def test_answers_without_a_score_are_told_where_they_do_not_count() -> None:
    found = redelve.compare_scores(twice([1, 1, 1], [NONE, NONE, 1]), limits=(0, 1))
    assert found.frame().set_index("method")["mean"]["a"] == 1
    text = " ".join(str(found).split())
    assert "V025 unequal subsets: answers without a score do not count (a 2 of 6)" in text
    assert "models have different numbers of answers to a case (a 1.33, b 2 on average)" in text


def test_how_many_answers_there_are_is_told_of_each_model(tmp_path: Path) -> None:
    found = redelve.compare_scores(
        twice([1, 1, 1], [NONE, NONE, 1]), limits=(0, 1), archive=tmp_path / "kept"
    )
    for one in (found, kept_in(tmp_path / "kept")):
        assert [each.answers for each in one.findings.tasks[0].methods] == [pytest.approx(4 / 3), 2]
    page = found.report(tmp_path / "page.html").read_text()
    assert "1.33 to 2" in page


def test_models_that_lack_answers_are_not_taken_for_one() -> None:
    right = [1, 0] * 10
    rows = pd.concat([long({"a": right, "b": right}, run=1), long({"a": [NONE] * 20, "b": right}, run=2)])
    assert not noted(redelve.compare_scores(rows), "V027")
    assert not noted(redelve.compare_scores(rows[~rows["score"].isna()]), "V027")


def test_a_case_that_is_left_out_leaves_the_answers_to_the_others_as_they_are() -> None:
    found = redelve.compare_scores(twice([NONE, 1, 1, 0], [NONE, 0, 1, 0]), limits=(0, 1))
    assert "different numbers of answers" not in str(found)
    assert {record.job.run for record in found.results.records} == {0, 1}


def test_no_answer_is_dropped_where_folds_have_different_numbers_of_them() -> None:
    rows = pd.DataFrame(
        [
            {"model": model, "fold": fold, "case": f"{fold}-{case}", "run": run, "score": float(run == 3)}
            for model in "ab"
            for fold, runs in ((1, 2), (2, 3))
            for case in range(4)
            for run in range(1, runs + 1)
        ]
    )
    found = redelve.compare_scores(rows, limits=(0, 1))
    assert found.frame()["mean"].tolist() == pytest.approx([1 / 6, 1 / 6])
    assert "different numbers of answers" in str(found)


def test_two_scores_of_one_cell_are_refused() -> None:
    twice = pd.concat([TWO, TWO.iloc[[65]]])
    with pytest.raises(RedelveError, match=r'two scores of model "b" on case "q005"'):
        redelve.compare_scores(twice)


def test_tasks_are_apart_or_pooled() -> None:
    frame = TWO.assign(task=["law", "math"] * 60)
    assert list(redelve.compare_scores(frame).results.tasks) == ["/law/fixed", "/math/fixed"]
    pooled = redelve.compare_scores(frame, pooled=True, name="all")
    assert list(pooled.results.tasks) == ["/all/fixed"]
    expected = stats.ttest_rel(FIRST, SECOND).pvalue
    assert pooled.compare("a", "b")[0].p_value == pytest.approx(expected, rel=1e-12)


def test_an_archive_gives_the_same_back(tmp_path: Path) -> None:
    groups, weights = np.arange(60) // 3, np.linspace(1, 2, 60)
    frame = long({"a": FIRST, "b": SECOND}, group=groups, weight=weights)
    assessment = redelve.compare_scores(frame, archive=tmp_path / "kept")
    loaded = redelve.Assessment(redelve.Archive.open(tmp_path / "kept").load())
    assert str(loaded) == str(assessment)
    pd.testing.assert_frame_equal(loaded.frame(), assessment.frame())
    redelve.compare_scores(frame, archive=tmp_path / "kept")
    assert len(redelve.Archive.open(tmp_path / "kept").load().records) == 2
    assert not redelve.Archive.open(tmp_path / "kept").verify().problems


def test_another_model_joins_the_archive(tmp_path: Path) -> None:
    redelve.compare_scores(TWO, archive=tmp_path / "kept")
    redelve.compare_scores(long({"c": np.ones(60)}), archive=tmp_path / "kept")
    loaded = redelve.Archive.open(tmp_path / "kept").load()
    assert list(loaded.methods) == ["a", "b", "c"]
    assert len(loaded.tasks) == 1


CORRECTED = long({"a": SECOND, "b": FIRST})


def kept_in(folder: Path) -> redelve.Assessment:
    return redelve.Assessment(redelve.Archive.open(folder).load())


def test_corrected_scores_take_the_place_of_those_kept_before(tmp_path: Path) -> None:
    redelve.compare_scores(TWO, archive=tmp_path / "kept")
    again = redelve.compare_scores(CORRECTED, archive=tmp_path / "kept")
    pd.testing.assert_frame_equal(kept_in(tmp_path / "kept").frame(), again.frame())
    text = " ".join(str(again).split())
    assert f"{tmp_path / 'kept'} held other scores of a, b: these take their place" in text
    assert "conflicts; to keep both, use another archive" in text
    assert len(list((tmp_path / "kept" / "conflicts").iterdir())) == 2
    assert not redelve.Archive.open(tmp_path / "kept").verify().problems
    the_same = redelve.compare_scores(CORRECTED, archive=tmp_path / "kept")
    assert "held other scores" not in str(the_same)
    assert len(list((tmp_path / "kept" / "conflicts").iterdir())) == 2


def test_all_answers_of_a_corrected_model_are_replaced_and_others_stay(tmp_path: Path) -> None:
    twice = pd.concat([long({"a": FIRST, "b": SECOND}, run=run) for run in (1, 2)])
    redelve.compare_scores(twice, archive=tmp_path / "kept")
    redelve.compare_scores(long({"a": SECOND}), archive=tmp_path / "kept")
    loaded = redelve.Archive.open(tmp_path / "kept").load()
    assert [len(loaded.of(name, "/scores/fixed")) for name in "ab"] == [1, 2]
    assert kept_in(tmp_path / "kept").frame().set_index("method")["mean"]["a"] == SECOND.mean()


def test_notes_on_replaced_scores_go_and_those_on_others_stay(tmp_path: Path) -> None:
    redelve.compare_scores(TWO, notes="seen before", archive=tmp_path / "kept")
    redelve.compare_scores(long({"c": FIRST}), notes="c is new", archive=tmp_path / "kept")
    told = str(kept_in(tmp_path / "kept"))
    assert "seen before" in told
    assert "c is new" in told
    redelve.compare_scores(long({"a": FIRST, "b": FIRST, "c": FIRST}), archive=tmp_path / "kept")
    assert "seen before" not in str(kept_in(tmp_path / "kept"))


def test_nothing_is_replaced_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = redelve.compare_scores(TWO, archive=tmp_path / "kept").frame()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("redelve.store.snapshot.write_document", full)  # the manifest, the moment of change
    with pytest.raises(OSError, match="No space"):
        redelve.compare_scores(CORRECTED, archive=tmp_path / "kept")
    pd.testing.assert_frame_equal(kept_in(tmp_path / "kept").frame(), before)


def test_merging_tells_of_other_scores_of_the_same_models(tmp_path: Path) -> None:
    for name, frame in (("ours", TWO), ("theirs", CORRECTED)):
        redelve.compare_scores(frame, archive=tmp_path / name)
    ours, theirs = (redelve.Archive.open(tmp_path / name) for name in ("ours", "theirs"))
    before = kept_in(tmp_path / "ours").frame()
    assert len(ours.merge(theirs).conflicts) == 2
    pd.testing.assert_frame_equal(kept_in(tmp_path / "ours").frame(), before)


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from redelve.cli.main import main

    TWO.to_csv(tmp_path / "scores.csv", index=False)
    page = tmp_path / "report.html"
    assert main(["compare", str(tmp_path / "scores.csv"), "-o", str(page)]) == 0
    assert "a is the best of these models" in capsys.readouterr().out
    assert "training" not in page.read_text().partition("<body")[2].partition("How this was made")[0][:3000]
    assert main(["compare", str(tmp_path / "scores.csv"), "-H", "-L"]) != 0
