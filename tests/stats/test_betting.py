"""Bets between models: each piece by hand or brute force, and the rates by simulation."""

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from benchmarks.calibration.question_races import (
    TWIN,
    TWIN_QUESTIONS,
    Answers,
    QuestionRaces,
    ever_above,
    ever_significant,
)

from redelve.stats.betting import (
    STAKES,
    Wagers,
    closed_by_averages,
    e_values,
    last_look,
    log_growth,
    stakes,
)
from redelve.stats.multiple import holm


def at_most(rate: float, count: int, promised: float = 0.05) -> bool:
    """Whether a rate is the promised one or less, but for three Monte-Carlo standard errors."""
    return bool(rate <= promised + 3 * np.sqrt(promised * (1 - promised) / count))


def drawn(models: int, questions: int, kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scores = rng.random((models, questions))
    return scores if kind == "rubric" else np.round(scores)


def test_wealth_is_a_product_of_bets() -> None:
    differences = np.array([1.0, -0.3, 0.0, 0.7])
    expected = [np.log([1 + stake * (d + 0.1) for d in differences]).sum() for stake in STAKES / 0.9]
    assert log_growth(differences, 0.1, 0.1) == pytest.approx(expected)


def test_no_bet_can_be_lost_altogether_and_none_can_be_expected_to_win() -> None:
    for margin in (0.0, 0.05, 0.5):
        least = 1 + stakes(margin) * (margin - 1.0)
        assert least.min() == pytest.approx(0.05)
        up = (1 - margin) / 2  # of ±1, so that the mean is −margin
        fair = up * (1 + stakes(margin) * (1 + margin)) + (1 - up) * least
        assert fair == pytest.approx(1.0)


def test_e_values_do_not_overflow() -> None:
    assert e_values(np.full((1, 24), 5000.0)) == pytest.approx(np.exp(600))
    assert e_values(np.full((1, 24), -5000.0)) == 0.0


@pytest.mark.parametrize("models", [1, 2, 3, 4, 5, 6])
def test_closed_testing_is_what_brute_force_over_all_sets_finds(models: int) -> None:
    rng = np.random.default_rng(models)
    e = np.exp(rng.normal(0, 2, size=(150, models)))
    adjusted = closed_by_averages(e)
    for row, found in zip(e, adjusted, strict=True):
        for i in range(models):
            others = [j for j in range(models) if j != i]
            sets = [s for size in range(models) for s in combinations(others, size)]
            assert found[i] == pytest.approx(min(np.mean(row[[i, *s]]) for s in sets))


@pytest.mark.parametrize("kind", ["right or wrong", "rubric"])
def test_wagers_are_the_bets_of_every_pair_and_against_the_leaders(kind: str) -> None:
    scores = drawn(4, 90, kind, 1)
    wagers = Wagers.start(4, margin=0.1)
    for start in (0, 7, 25, 60):
        stop = {0: 7, 7: 25, 25: 60, 60: 90}[start]
        wagers = wagers.taking(scores[:, start:stop])
    assert wagers.totals == pytest.approx(scores.sum(axis=1))
    assert wagers.within is not None
    for j, i in permutations(range(4), 2):
        difference = scores[j] - scores[i]
        assert wagers.pairs[j, i] == pytest.approx(log_growth(difference))
        assert wagers.within[j, i] == pytest.approx(log_growth(difference, 0.1, 0.1))
    for i in range(4):
        assert wagers.led[i] == pytest.approx(log_growth(behind(scores, i)))


def behind(scores: np.ndarray, i: int) -> np.ndarray:
    """Question by question: by how much i is behind those that lead the others before it."""
    found = []
    for unit in range(scores.shape[1]):
        totals = scores[:, :unit].sum(axis=1)
        others = [m for m in range(len(scores)) if m != i]
        best = max(totals[m] for m in others)
        found.append(np.mean([scores[m, unit] for m in others if totals[m] == best]) - scores[i, unit])
    return np.array(found)


def test_the_order_of_the_models_does_not_matter() -> None:
    scores = drawn(5, 80, "right or wrong", 3)
    turned = Wagers.start(5).taking(scores[::-1])
    assert turned.against_best()[::-1] == pytest.approx(Wagers.start(5).taking(scores).against_best())


def test_evidence_is_half_against_leaders_and_half_against_all() -> None:
    wagers = Wagers.start(3).taking(drawn(3, 40, "rubric", 2))
    found = wagers.against_best()
    for i in range(3):
        pairs = np.mean([e_values(wagers.pairs[j, i]) for j in range(3) if j != i])
        assert found[i] == pytest.approx(e_values(wagers.led[i]) / 2 + pairs / 2)


def test_bets_with_a_model_that_is_out_stay_as_they_are() -> None:
    before = Wagers.start(3, margin=0.1).taking(np.array([[1.0] * 60, [0.0] * 60, [1.0, 0.0] * 30]))
    after = before.dropping(0.05)
    assert after.active.tolist() == [True, False, False]
    later = after.taking(np.array([[1.0] * 9, [np.nan] * 9, [0.0] * 9]))
    assert (later.pairs[1] == after.pairs[1]).all()
    assert (later.led[1:] == after.led[1:]).all()
    assert later.within is not None
    assert after.within is not None
    assert (later.within[:, 2] == after.within[:, 2]).all()
    assert later.totals.tolist() == [69.0, 0.0, 30.0]


def test_units_of_unequal_weight_are_bet_on_by_their_weight() -> None:
    weights = np.array([1.0, 0.25, 0.5])
    scores = np.array([[0.5, 0.25, 0.0], [1.0, 0.0, 0.5]])
    wagers = Wagers.start(2, margin=0.2).taking(scores, weights)
    assert wagers.pairs[0, 1] == pytest.approx(log_growth(scores[0] - scores[1]))
    assert wagers.within is not None
    assert wagers.within[0, 1] == pytest.approx(log_growth(scores[0] - scores[1], 0.2 * weights, 0.2))


def test_equivalence_takes_every_pair_that_is_left_both_ways() -> None:
    same = np.tile(np.random.default_rng(3).integers(0, 2, 600), (3, 1)).astype(float)
    assert not Wagers.start(3).taking(same).equivalent(0.05)
    assert Wagers.start(3, margin=0.05).taking(same).equivalent(0.05)
    one_way = np.vstack([same[:2], np.ones(600)])
    assert not Wagers.start(3, margin=0.05).taking(one_way).equivalent(0.05)
    without = Wagers.start(3, margin=0.05).taking(np.vstack([same[:2], np.zeros(600)])).dropping(0.05)
    assert without.active.tolist() == [True, True, False]
    assert without.equivalent(0.05)


def test_many_streams_at_once_are_each_by_itself() -> None:
    rng = np.random.default_rng(4)
    scores = (rng.random((6, 3, 100)) < np.array([0.8, 0.5, 0.5])[:, None]).astype(float)
    together = Wagers.start(3, (6,), 0.1)
    alone = [Wagers.start(3, margin=0.1) for _ in range(6)]
    for start in range(0, 100, 20):
        part = scores[..., start : start + 20]
        together = together.taking(part).dropping(0.05)
        alone = [one.taking(x).dropping(0.05) for one, x in zip(alone, part, strict=True)]
    assert not together.active.all()
    for number, one in enumerate(alone):
        assert (together.active[number] == one.active).all()
        assert together.against_best()[number] == pytest.approx(one.against_best())
        assert together.equivalent(0.05)[number] == one.equivalent(0.05)


def test_the_last_look_is_holm_over_sign_tests_of_those_still_in() -> None:
    rng = np.random.default_rng(5)
    scores = (rng.random((5, 300)) < np.array([0.7, 0.62, 0.55, 0.4, 0.2])[:, None]).astype(float)
    wins = scores @ (1 - scores).T
    active = np.array([True, True, True, True, False])
    raw = []
    for i in range(4):
        p = [tail(int(wins[j, i]), int(wins[j, i] + wins[i, j])) for j in range(4) if j != i]
        raw.append(min(1.0, 3 * min(p)))
    expected = [p is not None and p > 0.025 for p in holm(raw)]
    assert last_look(wins, active, 0.025).tolist() == [*expected, False]
    assert expected == [True, True, False, False]


def tail(wins: int, n: int) -> float:
    return float(sum(comb(n, k) for k in range(wins, n + 1)) / 2**n)


@pytest.mark.parametrize("discordant", [0.02, 0.25, 1.0])
def test_evidence_may_be_looked_at_after_every_question(discordant: float) -> None:
    """Ten thousand streams of equal models: the bet ever reaches 20 in at most 5 % of them."""
    half = discordant / 2
    rate = ever_above(half, half, 300, 10_000, np.random.default_rng(6))
    assert at_most(rate, 10_000)
    assert ever_above(half * 1.4, half * 0.6, 300, 1000, np.random.default_rng(7)) > 2 * rate


def test_looking_again_with_mcnemars_test_does_not_keep_the_level() -> None:
    """What the race is the remedy for."""
    assert ever_significant(0.125, 2000, 50, 2000, np.random.default_rng(8)) > 0.25


@pytest.mark.parametrize(("models", "count"), [(2, 1500), (5, 400), (20, 60)])
def test_equal_models_are_seldom_dropped(models: int, count: int) -> None:
    races = QuestionRaces(Answers((0.5,) * models), 1000)
    found = races.run(count, np.random.default_rng([9, models]))
    assert at_most(float(found.is_false(models).mean()), count)


@pytest.mark.parametrize("shape", ["rubric", "clusters"])
def test_equal_models_with_other_scores_are_seldom_dropped(shape: str) -> None:
    answers = Answers((0.5,) * 5, shape=shape)  # type: ignore[arg-type]
    found = QuestionRaces(answers, 1000, has_last_look=False).run(200, np.random.default_rng(10))
    assert at_most(float(found.is_false(5).mean()), 200)


def test_those_that_tie_for_the_best_are_seldom_dropped_when_others_are() -> None:
    """Some far behind and some so little that they may drop out only late: the hard case of the last look."""
    for behind_by in (0.10, 0.04):
        answers = Answers((0.5,) * 3 + (0.5 - behind_by,) * 5)
        found = QuestionRaces(answers, 1500).run(150, np.random.default_rng(11))
        assert at_most(float(found.is_false(3).mean()), 150)
        assert (~found.stays[:, 3:]).any()


def test_a_simulated_twin_of_29_models_takes_at_most_a_twentieth_of_the_calls() -> None:
    found = QuestionRaces(Answers(TWIN, 0.45), TWIN_QUESTIONS).run(20, np.random.default_rng(12), chunk=10)
    assert found.is_sole().all()
    assert found.calls.max() <= 0.05
    assert found.calls.mean() <= 0.03


def test_a_gap_below_the_margin_stays_open_or_equivalent() -> None:
    found = QuestionRaces(Answers((0.505, 0.5)), 1500, amount=0.1).run(200, np.random.default_rng(13))
    assert found.equivalent.mean() > 0.9
    without = QuestionRaces(Answers((0.505, 0.5)), 1500).run(200, np.random.default_rng(13))
    assert (without.stays.sum(axis=1) == 2).mean() > 0.9


@pytest.mark.parametrize("models", [2, 5])
@pytest.mark.parametrize("amount", [0.03, 0.1])
def test_equivalent_is_seldom_said_at_the_margin(models: int, amount: float) -> None:
    answers = Answers((0.5, *(0.5 - amount,) * (models - 1)), shared=0.9)
    races = QuestionRaces(answers, 1500, has_last_look=False, amount=amount)
    found = races.run(400, np.random.default_rng([14, models]))
    assert at_most(float(found.equivalent.mean()), 400)
