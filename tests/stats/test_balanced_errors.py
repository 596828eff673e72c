"""Balanced errors, the score of WCCI 2006, paired comparisons and places, against hand and brute force."""

from collections.abc import Iterator
from itertools import pairwise, product
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import beta, binomtest, norm
from sklearn.metrics import balanced_accuracy_score

from redelve.challenge.printed_tables import DISAGREE, SIGMA_TOO_LARGE, TABLE_I, TABLE_II, largest_sigma
from redelve.errors import StatisticsError
from redelve.stats.balanced_errors import (
    BalancedErrors,
    balanced_errors,
    guess_error,
    larger_p_values,
    penalty_weight,
    ranking_score,
    scores_at,
    upward_reach,
    wilson,
)
from redelve.stats.multiple import AllPairs, Pair, best_group, holm
from redelve.stats.paired_errors import ErrorComparison, Outcomes, compare_balanced_errors
from redelve.stats.standings import place_entries, rank_sums, score_worse_p_values, true_scores

RNG = np.random.default_rng(2006)


def digits(value: float) -> str:
    return f"{value:.4f}"


CELLS = [(line, column) for line in TABLE_II for column in ("weight", "score")]


@pytest.mark.parametrize(("line", "column"), CELLS, ids=lambda x: x if isinstance(x, str) else x.dataset)
def test_table_ii_is_made_anew_to_its_last_digit(line, column) -> None:  # type: ignore[no-untyped-def]
    made = digits(dict(zip(("weight", "score"), line.made_anew(), strict=True))[column])
    agrees = made == digits(getattr(line, column))
    assert agrees == ((line.dataset, column) not in DISAGREE), (made, getattr(line, column))


def test_only_ginas_line_of_table_ii_disagrees() -> None:
    assert set(DISAGREE) == {("GINA", "weight"), ("GINA", "score")}


def test_no_unrounded_numbers_give_ginas_score() -> None:
    """Whatever BER, δ and weight were before they were rounded, R is not the 0.0453 that is printed."""
    gina = next(line for line in TABLE_II if line.dataset == "GINA")
    half = 0.00005
    largest = (gina.ber + half) + (gina.delta + half) * (gina.weight + half)
    assert digits(largest) == "0.0452"
    assert largest < gina.score - half


def test_ginas_weight_follows_from_some_unrounded_numbers() -> None:
    gina = next(line for line in TABLE_II if line.dataset == "GINA")
    assert digits(penalty_weight(gina.delta, gina.sigma)) == "0.6002"
    assert digits(penalty_weight(gina.delta - 1e-7, gina.sigma)) == "0.6001"


def test_sigma_of_equation_1_by_hand() -> None:
    # 40 positive cases, 10 wrong; 60 negative ones, 6 wrong
    found = BalancedErrors((-1, 1), (60, 40), (6, 10))
    assert found.rates == (0.1, 0.25)
    assert found.ber == pytest.approx(0.175)
    assert found.standard_error == pytest.approx(0.5 * sqrt(0.25 * 0.75 / 40 + 0.1 * 0.9 / 60))
    assert found.standard_error == pytest.approx(0.039330, abs=1e-6)
    assert found.error_rate == pytest.approx(0.16)
    assert found.error_rate_error == pytest.approx(sqrt(0.16 * 0.84 / 100))


@pytest.mark.parametrize("number", range(5))
def test_three_sigmas_of_table_ii_are_larger_than_the_test_sets_of_table_i_allow(number: int) -> None:
    dataset, line = TABLE_I[number], TABLE_II[number]
    too_large = largest_sigma(dataset, line.ber) < line.sigma - 0.00005
    assert too_large == (line.dataset in SIGMA_TOO_LARGE)


def test_the_score_by_hand() -> None:
    found = ranking_score(0.2, 0.05, 0.3)
    assert found.guess_error == pytest.approx(0.1)
    assert found.weight == pytest.approx(1 - exp(-2))
    assert found.score == pytest.approx(0.2 + 0.1 * (1 - exp(-2)))


def test_the_score_at_its_limits() -> None:
    assert ranking_score(0.2, 0.05, 0.2).score == 0.2
    assert ranking_score(0.2, 1e-9, 0.3).score == pytest.approx(0.3)  # σ small: BER + δ
    assert ranking_score(0.2, 1e9, 0.3).score == pytest.approx(0.2)  # σ large: BER
    assert ranking_score(0.0, 0.0, 0.0).score == 0.0
    assert ranking_score(0.0, 0.0, 0.1).score == 0.1
    with pytest.raises(StatisticsError, match="not negative"):
        penalty_weight(0.1, -1.0)


@given(st.floats(0, 1), st.floats(0, 0.3), st.floats(0, 1))
def test_the_score_lies_between_ber_and_ber_plus_delta(ber: float, sigma: float, guess: float) -> None:
    found = ranking_score(ber, sigma, guess)
    assert ber <= found.score <= ber + guess_error(ber, guess) + 1e-15
    assert found.score == pytest.approx(float(scores_at(ber, sigma, guess)))
    assert found.standard_error >= 0


def test_the_error_of_a_score_is_its_spread_over_test_sets() -> None:
    ber, sigma, guess = 0.2, 0.02, 0.19
    drawn = scores_at(RNG.normal(ber, sigma, 400_000), sigma, guess)
    assert ranking_score(ber, sigma, guess).standard_error == pytest.approx(drawn.std(), rel=0.01)


def test_many_classes() -> None:
    truths = ["a"] * 4 + ["b"] * 2 + ["c"] * 10
    answers = ["a"] * 3 + ["b"] * 3 + ["c"] * 5 + ["a"] * 5
    found = balanced_errors(truths, answers)
    assert found.classes == ("a", "b", "c")
    assert found.errors == (1, 0, 5)
    assert found.ber == pytest.approx(1 - balanced_accuracy_score(truths, answers))
    assert found.standard_error == pytest.approx(sqrt(0.25 * 0.75 / 4 + 0.5 * 0.5 / 10) / 3)


@given(st.lists(st.tuples(st.sampled_from([-1, 1]), st.sampled_from([-1, 1])), min_size=2))
def test_two_classes_are_counted_alike_however_they_are_written(pairs: list[tuple[int, int]]) -> None:
    truths, answers = (np.array(values, dtype=np.int8) for values in zip(*pairs, strict=True))
    if abs(truths.sum()) == truths.size:
        with pytest.raises(StatisticsError, match="two classes"):
            balanced_errors(truths, answers)
        return
    quick = balanced_errors(truths, answers)
    general = balanced_errors(truths.astype(float), answers.astype(float))
    assert (quick.counts, quick.errors) == (general.counts, general.errors)
    assert quick.ber == pytest.approx(1 - balanced_accuracy_score(truths, answers))


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(StatisticsError, match="one entry per case"):
        balanced_errors([1, -1], [1, -1, 1])
    with pytest.raises(StatisticsError, match="two classes"):
        balanced_errors([], [])


def test_wilsons_interval() -> None:
    # Newcombe 1998, Statistics in Medicine 17:857, table I, method 3: 81/263, 15/148, 0/20, 1/29
    published = {(81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605), (0, 20): (0.0, 0.1611)}
    published[1, 29] = (0.0061, 0.1718)
    for (wrong, count), ends in published.items():
        assert wilson(wrong, count, 1.959964) == pytest.approx(ends, abs=0.00006)


def test_the_interval_is_sound_where_sigma_is_zero() -> None:
    found = BalancedErrors((-1, 1), (1000, 20), (0, 0))
    assert found.standard_error == 0
    low, high = found.interval()
    assert low == 0
    assert high > 0.05


def test_the_lower_limit_of_equal_classes_is_the_exact_one_of_all_cases() -> None:
    """Clopper and Pearson's (1934) for 6 of 100."""
    assert BalancedErrors((-1, 1), (50, 50), (3, 3)).interval()[0] == pytest.approx(beta.ppf(0.025, 6, 95))


@pytest.mark.parametrize(
    ("counts", "rates"),
    [
        ((10,) * 10, (0.05,) * 10),
        ((30,) * 10, (0.02,) * 10),
        ((50, 50), (0.03, 0.03)),
        ((97, 3), (0.02, 0.2)),
    ],
)
def test_a_ber_of_few_errors_in_many_classes_is_within_its_interval(
    counts: tuple[int, ...], rates: tuple[float, ...]
) -> None:
    """Limits recovered from Wilson's would miss 8 to 13 % downwards, and 1 to 7 % at a level of 0.0001."""
    rng = np.random.default_rng(9)
    wrong = rng.binomial(counts, rates, (20_000, len(counts)))
    truth = np.full(20_000, np.mean(rates))
    p_values = larger_p_values(wrong, counts, truth)
    above = (wrong / counts).mean(axis=1) + upward_reach(wrong, counts, 1.959964)
    assert np.mean((p_values < 0.025) | (above < truth)) < 0.05
    assert np.mean(p_values < 0.001) < 0.003


@pytest.mark.parametrize(
    ("truths", "answers", "message"),
    [
        ([1.0, 0.0, np.nan], [1.0, 0.0, 0.0], "not a number"),
        ([1, 2, 1], ["1", "2", "1"], "different kinds"),
    ],
)
def test_truths_that_no_answer_could_match_are_refused(
    truths: list[Any], answers: list[Any], message: str
) -> None:
    with pytest.raises(StatisticsError, match=message):
        balanced_errors(truths, answers)


def test_ties_among_sums_of_different_steps_are_not_lost_by_rounding() -> None:
    """1/10 + 2/10 is not quite 3/10 in floating point; a tie that is lost makes the p-value too small."""
    found = compare_balanced_errors(*answers_with([2, 1], [1, 3], [21, 35]))
    assert found.any_class_p_value == pytest.approx(brute_p_value([2, 1], [1, 3], [21, 35]))


def brute_p_value(first: list[int], second: list[int], counts: list[int]) -> float:
    """Every way in which the cases that differ may fall, one by one."""
    steps = [1 / size for a, b, size in zip(first, second, counts, strict=True) for _ in range(a + b)]
    observed = abs(sum((a - b) / size for a, b, size in zip(first, second, counts, strict=True)))
    sums = [
        abs(sum(s * step for s, step in zip(signs, steps, strict=True)))
        for signs in product((-1, 1), repeat=len(steps))
    ]
    return float(np.mean([total >= observed - 1e-9 for total in sums]))


def answers_with(first: list[int], second: list[int], counts: list[int]) -> tuple[list[int], ...]:
    """Truths and two classifiers' answers, so many wrong by the first or the second alone, by class."""
    truths, one, two = [], [], []
    for label, a, b, size in zip((-1, 1), first, second, counts, strict=True):
        truths += [label] * size
        one += [-label] * a + [label] * (size - a)
        two += [label] * a + [-label] * b + [label] * (size - a - b)
    return truths, one, two


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        ([3, 1], [0, 2], [20, 7]),
        ([5, 0], [1, 0], [9, 5]),
        ([2, 2], [2, 2], [10, 10]),
        ([4, 3], [1, 1], [30, 10]),
    ],
)
def test_the_exact_comparison_goes_through_all_ways(
    first: list[int], second: list[int], counts: list[int]
) -> None:
    found = compare_balanced_errors(*answers_with(first, second, counts))
    assert found.method == "exact"
    assert (found.first_only, found.second_only) == (tuple(first), tuple(second))
    assert found.any_class_p_value == pytest.approx(brute_p_value(first, second, counts))
    assert found.p_value is not None
    assert found.any_class_p_value is not None
    assert found.p_value >= found.any_class_p_value


def test_with_one_class_concerned_it_is_mcnemars_exact_test() -> None:
    found = compare_balanced_errors(*answers_with([14, 0], [5, 0], [200, 50]))
    assert found.any_class_p_value == pytest.approx(binomtest(14, 19, 0.5).pvalue)


def test_the_standard_error_of_a_difference_by_hand() -> None:
    found = compare_balanced_errors(*answers_with([6, 3], [2, 1], [100, 20]))
    variance = ((8 - 4**2 / 100) / 100**2 + (4 - 2**2 / 20) / 20**2) / 4
    assert found.difference == pytest.approx((4 / 100 + 2 / 20) / 2)
    assert found.standard_error == pytest.approx(sqrt(variance))


def test_the_standard_error_of_a_difference_is_that_of_paired_outcomes() -> None:
    truths = np.repeat([-1, 1], (300, 80))
    wrong = RNG.random((2, 380)) < 0.3
    one, two = np.where(wrong, -truths, truths)
    gaps = [(wrong[0].astype(int) - wrong[1])[truths == label] for label in (-1, 1)]
    direct = sqrt(sum(gap.var() / gap.size for gap in gaps)) / 2
    assert compare_balanced_errors(truths, one, two).standard_error == pytest.approx(direct)


def test_the_normal_approximation_is_near_the_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    given_answers = answers_with([240, 90], [200, 75], [3000, 700])
    exact = compare_balanced_errors(*given_answers)
    monkeypatch.setattr("redelve.stats.paired_errors.EXACT_LIMIT", 1)
    normal = compare_balanced_errors(*given_answers)
    assert (exact.method, normal.method) == ("exact", "normal")
    assert normal.p_value == pytest.approx(exact.p_value, rel=0.05)


def test_classifiers_that_never_differ_are_not_tested() -> None:
    found = compare_balanced_errors([1, 1, -1, -1], [1, -1, -1, 1], [1, -1, -1, 1])
    assert found.p_value is None
    assert found.standard_error == 0
    low, high = found.interval()
    assert low < 0 < high
    assert "nothing to test" in found.caveats[0]


@given(st.integers(0, 2**32 - 1))
def test_the_comparison_the_other_way_round_is_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truths = np.repeat([-1, 1], (30, 12))
    one, two = rng.choice([-1, 1], (2, 42))
    there, back = compare_balanced_errors(truths, one, two), compare_balanced_errors(truths, two, one)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p_value == pytest.approx(back.p_value)
    assert there.interval() == pytest.approx(tuple(-end for end in reversed(back.interval())))


def some_outcomes(entries: int = 6) -> tuple[Outcomes, np.ndarray, np.ndarray]:
    truths = np.repeat([-1, 1], (400, 90))
    wrong = RNG.random((entries, 490)) < np.linspace(0.1, 0.35, entries)[:, None]
    return Outcomes.of(truths, wrong, block=64), truths, wrong


def test_outcomes_of_many_are_those_of_every_pair() -> None:
    outcomes, truths, wrong = some_outcomes()
    answers = np.where(wrong, -truths, truths)
    p_values = outcomes.worse_p_values()
    for i, j in product(range(6), range(6)):
        pair = compare_balanced_errors(truths, answers[i], answers[j])
        assert outcomes.bers[i] == pytest.approx(pair.first.ber)
        if i == j:
            assert p_values[i, j] == 1.0
            continue
        cells = np.array(pair.first_only), np.array(pair.second_only)
        z = ((cells[0] - cells[1]) / [400, 90]).sum() / sqrt(
            ((cells[0] + cells[1]) / [400.0**2, 90**2]).sum()
        )
        if p_values[i, j] < 1e-9:
            assert pair.interval(1 - 2e-9)[0] > 0
        elif p_values[i, j] < 0.5:
            one_sided = norm.sf(z), level_at_zero(pair)
            assert p_values[i, j] == pytest.approx(max(one_sided), rel=1e-5)
        else:
            assert p_values[i, j] == pytest.approx(norm.sf(z))


def level_at_zero(pair: ErrorComparison) -> float:
    """The one-sided p-value at which the interval of a difference above zero just holds it."""
    return float((1 - brentq(lambda level: pair.interval(level)[0], 0.001, 1 - 1e-12)) / 2)


def unlike_classes(
    counts: tuple[int, int], rates: tuple[float, float], reps: int
) -> Iterator[tuple[Any, Any]]:
    """Truths and wrong answers of two classifiers with the same BER, made in different classes."""
    rng = np.random.default_rng(8)
    truths = np.repeat([-1, 1], counts)
    limits = np.stack([np.repeat(rates, counts), np.repeat(rates[::-1], counts)])
    for _ in range(reps):
        yield truths, rng.random(limits.shape) < limits


@pytest.mark.parametrize("counts", [(97, 3), (371, 13)])
def test_a_class_of_few_cases_without_differences_is_not_taken_as_equal(counts: tuple[int, int]) -> None:
    """Errors of 2 and 20 % against 20 and 2 %; half of the time the three positive cases show nothing."""
    apart, misplaced, missed = 0, 0, 0
    for truths, wrong in unlike_classes(counts, (0.02, 0.2), 300):
        one, two = np.where(wrong, -truths, truths)
        found = compare_balanced_errors(truths, one, two)
        apart += found.p_value is not None and found.p_value < 0.05
        missed += not found.interval()[0] <= 0 <= found.interval()[1]
        outcomes = Outcomes.of(truths, wrong)
        misplaced += bool((place_entries(outcomes.bers, outcomes.worse_p_values()).first > 1).any())
    assert max(apart, misplaced, missed) <= 300 * 0.08


def test_a_score_is_not_shown_by_luck_in_a_class_of_few_cases() -> None:
    """Both have a true score of 0.2; that the second has no error in 13 cases must not be taken as proof."""
    truths = np.repeat([-1, 1], (3710, 13))
    wrong = np.zeros((2, truths.size), dtype=bool)
    wrong[:, :371] = wrong[0, 3710:3714] = True
    worse = score_worse_p_values(Outcomes.of(truths, wrong), [0.2, 0.15])
    assert 0.7**13 / 2 < worse[0, 1] < 0.1


class Told:
    """A comparison with given numbers."""

    caveats = ()

    def __init__(self, difference: float, p_value: float) -> None:
        self.difference, self.p_value, self.standard_error = difference, p_value, 1.0


def test_the_group_of_the_best_is_that_of_other_comparisons() -> None:
    """Of `multiple.best_group`, told the same two-sided p-values pair by pair."""
    for _ in range(20):
        outcomes, _, _ = some_outcomes()
        worse = outcomes.worse_p_values()
        names = [str(k) for k in range(6)]
        pairs = tuple(
            Pair(
                names[i],
                names[j],
                Told(outcomes.bers[i] - outcomes.bers[j], 2 * min(worse[i, j], worse[j, i])),
                None,
            )
            for i in range(6)
            for j in range(i + 1, 6)
        )
        group = best_group(AllPairs(tuple(names), pairs, len(pairs), ()), level=0.05)
        found = place_entries(outcomes.bers, worse, level=0.05)
        assert [k for k in range(6) if found.may_be_best[k]] == [int(name) for name in group.members]
        assert found.p_values == pytest.approx([one.p_value for one in group.standings])


def test_places_follow_from_holms_method() -> None:
    for _ in range(20):
        outcomes, _, _ = some_outcomes()
        worse = outcomes.worse_p_values()
        adjusted = np.ones((6, 6))
        off = ~np.eye(6, dtype=bool)
        adjusted[off] = holm(worse[off].tolist())
        shown = adjusted <= 0.05
        found = place_entries(outcomes.bers, worse)
        assert found.first.tolist() == (1 + shown.sum(axis=1)).tolist()
        assert found.last.tolist() == (6 - shown.sum(axis=0)).tolist()


def test_groups_begin_where_an_entry_is_worse_than_the_head() -> None:
    scores = [0.30, 0.10, 0.12, 0.31]
    worse = np.full((4, 4), 0.5)
    worse[0, 1] = worse[3, 1] = worse[3, 2] = 1e-9
    found = place_entries(scores, worse)
    assert found.groups.tolist() == [2, 1, 1, 2]
    assert found.first.tolist() == [2, 1, 1, 3]
    assert found.last.tolist() == [4, 2, 3, 4]


def test_a_single_entry_has_the_only_place() -> None:
    found = place_entries([0.2], [[1.0]])
    assert (found.first[0], found.last[0], bool(found.may_be_best[0])) == (1, 1, True)


def test_true_scores_weigh_guesses_in_full() -> None:
    assert true_scores([0.2, 0.1, 0.15], [0.2, 0.2, 0.1]) == pytest.approx([0.2, 0.2, 0.2])


def test_a_score_that_is_clearly_larger_is_shown_to_be() -> None:
    truths = np.repeat([-1, 1], (12_000, 6000))
    wrong = RNG.random((4, 18_000)) < np.array([0.1, 0.1, 0.2, 0.3])[:, None]
    outcomes = Outcomes.of(truths, wrong)
    worse = score_worse_p_values(outcomes, [0.1, 0.25, 0.2, 0.1])  # ρ: 0.1, 0.25, 0.2, 0.5
    order = [0, 2, 1, 3]
    for better, poorer in pairwise(order):
        assert worse[poorer, better] < 1e-4
        assert worse[better, poorer] >= 0.5


def test_sums_of_ranks() -> None:
    found = rank_sums([[0.1, 0.2, 0.3], [0.2, 0.2, 0.1], [0.5, 0.4, 0.6]])
    assert found.ranks.tolist() == [[1, 2, 3], [2.5, 2.5, 1], [2, 1, 3]]
    assert found.sums.tolist() == [5.5, 5.5, 7]
    assert found.means == pytest.approx([5.5 / 3, 5.5 / 3, 7 / 3])
    assert found.places.tolist() == [1, 1, 3]
    with pytest.raises(StatisticsError, match="without gaps"):
        rank_sums([[0.1, np.nan]])
