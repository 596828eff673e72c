"""Scores of submissions, leaderboards and the final ranking."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score, zero_one_loss

from redelve.challenge import (
    BoardRow,
    Challenge,
    ChallengeRules,
    DatasetEntry,
    RankedEntry,
    Submission,
    final_ranking,
    is_rankable,
    last_complete,
    latest_of_each,
    leaderboard,
    outcomes_of,
    ranked_pool,
    score_part,
    score_submission,
    scores_from_json,
    scores_to_json,
)
from redelve.challenge.challenge_folder import RankPool
from redelve.challenge.ranked_boards import _open_sums
from redelve.errors import SpecError
from redelve.report.drawing import inline, save
from redelve.stats.balanced_errors import ranking_score
from tests.challenge.small import entry_with, small_challenge

START = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def challenge(tmp_path_factory: pytest.TempPathFactory) -> Challenge:
    return small_challenge(tmp_path_factory.mktemp("challenge") / "c")


def submission(challenge: Challenge, wrong: float, guess: float | None, seed: int = 0) -> Submission:
    entries = {
        name: entry_with(challenge, name, wrong, guess, seed + k) for k, name in enumerate(challenge.names)
    }
    return Submission(entries, challenge.names)


def ranked(
    challenge: Challenge, who: str, number: int, wrong: float, guess: float | None = 0.1, part: str = "test"
) -> RankedEntry:
    made = submission(challenge, wrong, guess, seed=100 * number)
    return RankedEntry(
        f"{who}-{number}",
        who,
        START + timedelta(hours=number),
        score_submission(made, challenge),
        outcomes_of(made, challenge, part),
    )


def test_scores_are_those_of_scikit_learn(challenge: Challenge) -> None:
    found = score_submission(submission(challenge, 0.2, 0.25), challenge)["anna"]
    entry = entry_with(challenge, "anna", 0.2, 0.25)
    for part, scores in found.parts.items():
        truths, answers = challenge.truths("anna", part), entry.answers[part]
        assert scores.error_rate == pytest.approx(zero_one_loss(truths, answers))
        assert scores.ber == pytest.approx(1 - balanced_accuracy_score(truths, answers))
        assert scores.auc == pytest.approx(roc_auc_score(truths, entry.confidences[part]))
        assert scores.ber == pytest.approx((scores.error_positive + scores.error_negative) / 2)
    test = found.parts["test"]
    expected = ranking_score(test.ber, test.ber_error, 0.25)
    assert (found.guess_error, found.weight, found.score) == (
        expected.guess_error,
        expected.weight,
        expected.score,
    )


def test_probabilities_have_further_losses() -> None:
    rng = np.random.default_rng(1)
    truths = rng.choice(np.array([-1, 1], dtype=np.int8), 200)
    sure = rng.uniform(0.01, 0.99, 200)
    answers = np.where(sure > 0.5, 1, -1).astype(np.int8)
    found = score_part(truths, answers, sure)
    assert found.squared == pytest.approx(2 * brier_score_loss(truths, sure))
    assert found.log == pytest.approx(log_loss(truths, sure))
    assert score_part(truths, answers, 3 * sure).squared is None
    certain = score_part(truths, answers, np.where(truths > 0, 0.0, 1.0))
    assert (certain.squared, certain.log) == (2.0, None)


def test_without_confidences_the_area_is_that_of_the_answers(challenge: Challenge) -> None:
    truths = challenge.truths("anna", "test")
    answers = entry_with(challenge, "anna", 0.2, None).answers["test"]
    found = score_part(truths, answers)
    assert not found.has_confidences
    assert found.auc == pytest.approx(1 - found.ber)


def test_without_test_part_or_guess_there_is_no_score(challenge: Challenge) -> None:
    made = submission(challenge, 0.2, 0.25)
    found = score_submission(made, challenge, ("train", "valid"))["anna"]
    assert set(found.parts) == {"train", "valid"}
    assert (found.guess, found.guess_error, found.weight, found.score) == (0.25, None, None, None)
    assert score_submission(submission(challenge, 0.2, None), challenge)["anna"].score is None


def test_only_the_parts_asked_for_are_opened(challenge: Challenge) -> None:
    fresh = replace(challenge, _truths={})
    score_submission(submission(challenge, 0.2, 0.25), fresh, ("train", "valid"))
    assert {part for _, part in fresh._truths} == {"train", "valid"}


def test_scores_pass_through_json(challenge: Challenge) -> None:
    scores = score_submission(submission(challenge, 0.2, 0.25), challenge)
    assert scores_from_json(json.loads(json.dumps(scores_to_json(scores)))) == scores


def test_the_leaderboard_ranks_by_ber(challenge: Challenge) -> None:
    entries = [
        ranked(challenge, who, k, wrong, part="valid")
        for k, (who, wrong) in enumerate((("a", 0.4), ("b", 0.0)))
    ]
    found = leaderboard(entries, challenge)
    assert [row.participant for row in found.datasets["anna"]] == ["b", "a"]
    assert [row.participant for row in found.overall] == ["b", "a"]
    assert found.overall[0].rank_sum == 2
    for row in found.datasets["anna"]:
        assert row.part is not None
        assert (row.value, row.value_error) == (row.part.ber, row.part.ber_error)


def test_ties_share_their_ranks(challenge: Challenge) -> None:
    one = ranked(challenge, "a", 1, 0.2)
    entries = [one, replace(one, entry="b-1", participant="b"), ranked(challenge, "c", 2, 0.4)]
    found = final_ranking(entries, challenge)
    assert [row.rank for row in found.datasets["anna"]] == [1.5, 1.5, 3.0]
    assert [row.place for row in found.overall] == [1, 1, 3]
    assert [row.rank_sum for row in found.overall] == [3.0, 3.0, 6.0]
    assert [row.mean_rank for row in found.overall] == [1.5, 1.5, 3.0]
    assert [row.group for row in found.datasets["anna"]][:2] == [1, 1]


def test_only_complete_entries_and_the_last_five_are_ranked(challenge: Challenge) -> None:
    many = [ranked(challenge, "a", number, 0.2 + number / 100) for number in range(7)]
    without_guess = ranked(challenge, "b", 20, 0.1, None)
    half = ranked(challenge, "c", 21, 0.1)
    half = replace(half, scores={"anna": half.scores["anna"]}, outcomes={"anna": half.outcomes["anna"]})
    assert [is_rankable(entry, challenge) for entry in (many[0], without_guess, half)] == [True, False, False]
    found = final_ranking([half, *many[::-1], without_guess], challenge)
    assert sorted(row.entry for row in found.overall) == [f"a-{number}" for number in range(2, 7)]
    assert [row.entry for row in found.participants] == [found.overall[0].entry]
    kept = last_complete([half, *many, without_guess], challenge, 2)
    assert [entry.entry for entry in kept] == ["a-5", "a-6"]


def test_the_final_ranking_is_by_the_score_not_by_the_error(challenge: Challenge) -> None:
    """The better classifier with the poor guess comes behind the poorer one with the good guess."""
    good = ranked(challenge, "careless", 1, 0.10, 0.45)
    fair = ranked(challenge, "careful", 2, 0.15, 0.15)
    found = final_ranking([good, fair], challenge)
    assert [row.participant for row in found.overall] == ["careful", "careless"]
    assert [row.participant for row in leaderboard([good, fair], challenge, part="test").overall] == [
        "careless",
        "careful",
    ]


def test_the_sum_of_ranks_is_over_all_datasets(challenge: Challenge) -> None:
    one, two = ranked(challenge, "a", 1, 0.1), ranked(challenge, "b", 2, 0.3)
    mixed = replace(
        two,
        scores={"anna": one.scores["berta"], "berta": two.scores["berta"]},
        outcomes={"anna": two.outcomes["anna"], "berta": two.outcomes["berta"]},
    )
    found = final_ranking([one, mixed], challenge)
    for row in found.overall:
        assert row.rank_sum == sum(row.ranks.values())
        assert row.mean_rank == row.rank_sum / 2


def test_entries_that_cannot_be_told_apart_are_in_one_group(challenge: Challenge) -> None:
    near = [ranked(challenge, f"p{k}", k, 0.2, 0.2) for k in range(4)]
    far = ranked(challenge, "far", 9, 0.45, 0.45)
    found = final_ranking([*near, far], challenge)
    for table in found.datasets.values():
        assert [row.group for row in table] == [1, 1, 1, 1, 2]
        assert [row.may_be_best for row in table] == [True] * 4 + [False]
        assert (table[-1].first, table[-1].last) == (5, 5)
        assert table[0].first == 1
        assert table[0].last is not None
        assert table[0].last >= 2
    assert [row.may_be_best for row in found.overall] == [True] * 4 + [False]
    assert (found.overall[-1].least, found.overall[-1].most) == (10, 10)


def test_without_outcomes_there_are_ranks_but_no_groups(challenge: Challenge) -> None:
    entries = [replace(ranked(challenge, "a", k, 0.2), outcomes={}) for k in range(2)]
    found = final_ranking(entries, challenge)
    assert {row.group for row in found.datasets["anna"]} == {None}
    assert found.overall[0].may_be_best is None


def test_an_entry_that_lacks_a_dataset_is_in_the_others_tables(challenge: Challenge) -> None:
    whole, other = ranked(challenge, "a", 1, 0.2), ranked(challenge, "b", 2, 0.1)
    part = replace(other, scores={"anna": other.scores["anna"]}, outcomes={"anna": other.outcomes["anna"]})
    found = leaderboard([whole, part], challenge, part="test")
    assert len(found.datasets["anna"]) == 2
    assert len(found.datasets["berta"]) == 1
    assert [row.entry for row in found.overall] == [whole.entry]


def test_nobody_is_ranked_twice(challenge: Challenge) -> None:
    one = ranked(challenge, "a", 1, 0.2)
    with pytest.raises(SpecError, match='"a-1" is given twice'):
        leaderboard([one, one], challenge, part="test")
    assert leaderboard([], challenge).overall == ()


def test_the_latest_entry_of_each(challenge: Challenge) -> None:
    entries = [ranked(challenge, "a", 3, 0.2), ranked(challenge, "b", 2, 0.2), ranked(challenge, "a", 1, 0.1)]
    assert [entry.entry for entry in latest_of_each(entries)] == ["b-2", "a-3"]


def test_of_entries_of_one_moment_the_one_given_later_is_the_later(challenge: Challenge) -> None:
    entries = [replace(ranked(challenge, "a", number, 0.2), submitted=START) for number in (9, 10, 11)]
    assert [entry.entry for entry in last_complete(entries, challenge, 2)] == ["a-10", "a-11"]
    assert [entry.entry for entry in latest_of_each(entries)] == ["a-11"]


def test_figure_1_is_drawn() -> None:
    from redelve.challenge import score_figure

    picture = score_figure()
    assert save(picture, "svg").startswith(b"<?xml")
    assert save(picture, "svg") == save(picture, "svg")
    assert picture.table is not None
    rows = {cell[0].text: float(cell[2].text) for cell in picture.table.rows}
    assert rows["0.2000"] == 0.2
    own = score_figure(0.2, 0.05, 0.3, name="own")
    assert "R = 0.2865" in own.description
    assert 'id="fig-own-' in inline(own)
    assert save(score_figure(0.0, 0.0, 0.5), "svg")


@pytest.mark.slow
def test_a_methods_answers_can_be_packed(challenge: Challenge) -> None:
    from redelve.challenge import entry_of_method, read_public
    from redelve.methods.contract import METHODS

    entry = entry_of_method(METHODS["logistic"], read_public(challenge, "anna"))
    assert isinstance(entry, DatasetEntry)
    scores = score_submission(Submission({"anna": entry}, challenge.names), challenge)["anna"]
    assert scores.parts["test"].ber < 0.2
    assert scores.guess_error is not None
    assert scores.guess_error < 0.1
    one, two = (entry_of_method(METHODS["knn-cv-1"], read_public(challenge, "anna")) for _ in "ab")
    assert np.array_equal(one.answers["test"], two.answers["test"])
    assert one.guess == two.guess
    with pytest.raises(SpecError, match="cannot work on two classes"):
        entry_of_method(METHODS["lin-1"], read_public(challenge, "anna"))


# Which entries are ranked


def scored(who: str, number: int, like: RankedEntry, scores: tuple[float, float]) -> RankedEntry:
    """An entry with these scores R on the two datasets."""
    held = {
        name: replace(like.scores[name], score=score, score_error=0.01)
        for name, score in zip(("anna", "berta"), scores, strict=True)
    }
    return RankedEntry(f"{who}-{number}", who, START + timedelta(hours=number), held)


def with_fillers(challenge: Challenge, pool: RankPool) -> list[tuple[str, int]]:
    """Ann sends entries that are worse than her own but between it and Bob's on one dataset."""
    like = ranked(challenge, "a", 1, 0.2)
    entries = [
        scored("ann", 1, like, (0.30, 0.10)),
        scored("bob", 1, like, (0.10, 0.20)),
        scored("cem", 1, like, (0.20, 0.30)),
    ]
    fillers = [scored("ann", -number, like, (0.4, 0.15)) for number in (1, 2, 3)]
    held = replace(challenge, rules=ChallengeRules(rank_pool=pool))
    found = final_ranking([*fillers, *entries], held)
    assert final_ranking(entries, held).overall[0].participant == "bob"
    return [(row.participant, row.place) for row in found.participants]


def test_fillers_of_a_participant_change_the_winner_by_the_rule_of_2006(challenge: Challenge) -> None:
    assert with_fillers(challenge, "entries") == [("ann", 1), ("bob", 2), ("cem", 3)]


@pytest.mark.parametrize("pool", ["best", "chosen"])
def test_with_one_entry_of_each_participant_fillers_change_nothing(
    challenge: Challenge, pool: RankPool
) -> None:
    assert with_fillers(challenge, pool) == [("bob", 1), ("ann", 2), ("cem", 3)]


def test_the_best_is_by_the_mean_and_the_chosen_one_by_its_participant(challenge: Challenge) -> None:
    like = ranked(challenge, "a", 1, 0.2)
    entries = [scored("ann", k, like, (score, score)) for k, score in enumerate((0.3, 0.1, 0.2, 0.1, 0.4))]
    entries[0] = replace(entries[0], is_chosen=True)
    for pool, taken in (("best", "ann-3"), ("chosen", "ann-0")):
        held = replace(challenge, rules=ChallengeRules(rank_pool=pool))  # type: ignore[arg-type]
        assert [entry.entry for entry in ranked_pool(entries, held)] == [taken]
    unmarked = [replace(entry, is_chosen=False) for entry in entries]
    held = replace(challenge, rules=ChallengeRules(rank_pool="chosen"))
    assert [entry.entry for entry in ranked_pool(unmarked, held)] == ["ann-4"]


def test_an_entry_shown_worse_than_another_everywhere_cannot_be_the_best(challenge: Challenge) -> None:
    """Two rivals that are each far ahead on one dataset leave wide sums; one beaten on both is out."""
    wrong = {"top": (0.02, 0.02), "low": (0.3, 0.3), "mixed": (0.02, 0.45), "other": (0.45, 0.02)}
    entries = []
    for number, (who, shares) in enumerate(wrong.items()):
        made = {
            name: entry_with(challenge, name, share, share, 50 * number + k)
            for k, (name, share) in enumerate(zip(challenge.names, shares, strict=True))
        }
        sent = Submission(made, challenge.names)
        scores, outcomes = score_submission(sent, challenge), outcomes_of(sent, challenge, "test")
        entries.append(RankedEntry(who, who, START, scores, outcomes))
    found = {row.entry: row for row in final_ranking(entries, challenge).overall}
    low = found["low"]
    assert low.least is not None
    assert low.least <= min(row.most or 0 for row in found.values()) + 3
    assert not low.may_be_best
    assert found["top"].may_be_best


def test_dominance_is_needed_where_sums_overlap() -> None:
    """The sums of a beaten entry may reach below those of all others, as with 15 entries of a trial."""
    rows = [
        [BoardRow("a", "a", 1, 0.1, 0.01, first=1, last=3), BoardRow("b", "b", 2, 0.2, 0.01, first=2, last=3)]
        for _ in range(2)
    ]
    beaten = [[one, replace(two, beaten_by=frozenset({"a"}))] for one, two in rows]
    assert [may for _, _, may in _open_sums(rows) or ()] == [True, True]
    assert [may for _, _, may in _open_sums(beaten) or ()] == [True, False]
    half = [rows[0], beaten[1]]
    assert [may for _, _, may in _open_sums(half) or ()] == [True, True]
