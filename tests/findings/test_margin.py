"""Margins, how they are written and what an interval says about them; and comparisons that were planned."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from redelve.answers.losses import parse_loss
from redelve.assessment import compare_scores
from redelve.errors import StatisticsError
from redelve.findings import find
from redelve.findings.margin import Margin, MarginLike, judged_within
from redelve.findings.planned import planned_pairs
from redelve.findings.result_frames import contests_frame
from redelve.stats.estimates import Interval
from tests.findings.made_up import draws, results, task


@pytest.mark.parametrize(
    ("given", "value", "is_relative"),
    [
        ("2%", 0.02, True),
        (" 2.5 % ", 0.025, True),
        ("0.5", 0.5, False),
        (0.02, 0.02, False),
        (3, 3.0, False),
        (Margin(1.0), 1.0, False),
    ],
)
def test_a_number_is_an_amount_and_a_per_cent_sign_makes_a_share(
    given: MarginLike, value: float, is_relative: bool
) -> None:
    found = Margin.of(given)
    assert found.value == pytest.approx(value)
    assert found.is_relative == is_relative


@pytest.mark.parametrize("given", ["", "%", "two", 0, "-2%", float("nan"), float("inf"), "0%"])
def test_a_margin_that_is_no_number_above_zero_is_refused_with_a_way_out(given: MarginLike) -> None:
    with pytest.raises(StatisticsError, match=r'number above zero: got .*give "2%" for a share'):
        Margin.of(given)


def test_a_share_is_of_the_smaller_loss_and_an_amount_is_itself() -> None:
    assert Margin.of("10%").amount([3.0, 2.0]) == pytest.approx(0.2)
    assert Margin.of("10%").amount([3.0, -2.0]) == 0.0
    assert Margin.of(0.7).amount([3.0, -2.0]) == 0.7


@pytest.mark.parametrize(
    ("bounds", "first", "second"),
    [
        ((-0.9, 0.9), True, True),
        ((-1.1, 0.9), True, False),
        ((-0.9, 1.1), False, True),
        ((-1.1, 1.1), False, False),
        ((0.1, 0.9), True, True),
        ((-1.0, 1.0), False, False),
        ((1.2, 3.0), False, True),
        (None, False, False),
    ],
)
def test_the_interval_decides_who_is_not_worse(bounds: Interval | None, first: bool, second: bool) -> None:
    found = judged_within(Margin(1.0), 1.0, bounds)
    assert (found.first_is_not_worse, found.second_is_not_worse) == (first, second)
    assert found.is_equivalent == (first and second)


def three(scheme: str = "hierarchical", **changes: object):  # type: ignore[no-untyped-def]
    facts = task(scheme=scheme, instances=8, cases=200, **changes)  # type: ignore[arg-type]
    means = {"a": 1.0, "b": 1.0, "c": 2.0}
    losses = {name: {facts.address: draws(name, mean, facts)} for name, mean in means.items()}
    return results([facts], losses)


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_a_verdict_is_what_the_simultaneous_bounds_say(scheme: str) -> None:
    (found,) = find(three(scheme), margin=0.3).tasks
    for contest in found.contests:
        low, high = contest.bounds or (0.0, 0.0)
        assert contest.is_equivalent == (low > -0.3 and high < 0.3)
        assert (contest.first in contest.not_worse) == (high < 0.3)
        assert (contest.second in contest.not_worse) == (low > -0.3)
    assert found.contest("a", "b").is_equivalent
    assert "a and b are equivalent within the margin of 0.3." in found.contest("a", "b").words
    assert not found.contest("a", "b").advice
    assert found.contest("a", "c").not_worse == ("a",)
    assert "not shown that they differ by less than" in found.contest("a", "c").words


def test_a_share_is_of_the_low_end_of_the_smaller_loss() -> None:
    (found,) = find(three(), margin="30%").tasks
    ends = [(found.method(name).bounds or (0.0, 0.0))[0] for name in "ab"]
    verdict = found.contest("a", "b").verdict
    assert verdict is not None
    assert verdict.amount == pytest.approx(0.3 * min(ends))
    assert verdict.amount < 0.3 * min(found.method(name).mean or 0.0 for name in "ab")
    assert verdict.shown(None) == f"30 % ({verdict.amount:.2g} or more)"


def test_a_share_of_a_loss_without_a_natural_zero_is_refused() -> None:
    facts = task()
    made = results([facts], {name: {facts.address: draws(name, 1.0, facts)} for name in "ab"}, code="L")
    with pytest.raises(StatisticsError, match="has no natural zero, so 2 % of it means nothing: give the"):
        find(made, margin="2%")
    assert find(made, margin=0.2).tasks[0].margin == Margin(0.2)


@pytest.mark.parametrize("margin", [1, 5.0, "2"])
def test_a_margin_that_no_two_methods_can_differ_by_is_refused(margin: MarginLike) -> None:
    rows = [{"model": n, "case": k, "score": int(k % n == 0)} for n in (2, 3) for k in range(40)]
    with pytest.raises(StatisticsError, match="is as much as the score or loss can vary, 1: any two methods"):
        _ = compare_scores(rows, higher_is_better=True, margin=margin).findings
    assert compare_scores(rows, higher_is_better=True, margin=0.99).findings.tasks[0].margin == Margin(0.99)
    assert find(three(), margin=margin).tasks[0].margin == Margin.of(margin)  # squared errors have no limit


def test_a_margin_that_is_too_large_for_one_task_may_be_right_for_another() -> None:
    Margin(5.0).refuse_all([(0.0, 1.0), (0.0, float("inf"))])
    Margin(5.0, is_relative=True).refuse_all([(0.0, 1.0)])


def test_without_a_margin_nothing_is_said_of_one() -> None:
    (found,) = find(three()).tasks
    contest = found.contest("a", "b")
    assert (contest.verdict, contest.not_worse, contest.margin_words) == (None, (), "")
    frame = contests_frame([("", "", contest)])
    assert frame["equivalent"].isna().all()


def test_a_frame_has_the_verdicts() -> None:
    (found,) = find(three(), margin=0.3).tasks
    row = contests_frame([("", "", found.contest("a", "b"))]).iloc[0]
    assert (row["margin"], bool(row["equivalent"]), row["not_worse"]) == (0.3, True, "a, b")


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        (
            "1%",
            r"a difference of \d+ % would .* of 64 would find one as large as the margin of 1 %[.]",
        ),
        (0.01, r"a difference of 0[.]\d+ would .* of 64 would find one as large as the margin of 0[.]01[.]"),
        ("90%", r"power 0[.]8: enough for one as large as the margin of 90 %[.]"),
        (None, r"training sets of 64 would find 2 %[.]"),
    ],
)
def test_advice_speaks_of_the_margin(margin: MarginLike | None, said: str) -> None:
    facts = task(cases=50)
    made = results([facts], {name: {facts.address: draws(name, 1.0, facts)} for name in "ab"})
    (found,) = find(made, margin=margin).tasks
    contest = found.contest("a", "b")
    if contest.is_equivalent:
        contest = replace(contest, verdict=judged_within(Margin.of(margin or 1.0), 1.0, None))
    assert re.search(said, contest.advice)


def test_advice_about_an_amount_needs_no_losses_above_zero() -> None:
    facts = task(cases=50)
    made = results([facts], {name: {facts.address: draws(name, -3.0, facts)} for name in "ab"}, code="L")
    assert find(made).tasks[0].contest("a", "b").advice == ""
    assert "the margin of 0.01" in find(made, margin=0.01).tasks[0].contest("a", "b").advice


def test_planned_comparisons_pay_for_no_others() -> None:
    everything, planned = find(three()).tasks[0], find(three(), planned=[("a", "c")]).tasks[0]
    (contest,) = planned.contests
    assert contest.claim.family == 1
    assert contest.adjusted_p_value == pytest.approx(contest.test.p_value)
    assert contest.bounds == pytest.approx(contest.test.interval())
    assert everything.contest("a", "c").claim.family == 3
    assert planned.best_group == ()
    assert "only the planned comparisons are tested" in planned.caveats[0]
    assert len(planned.methods) == 3


def test_the_rule_of_many_comparisons_counts_the_planned_ones() -> None:
    notes = {note.code: note.text for note in find(three(), planned=[("a", "c"), ("b", "c")]).notes}
    assert notes["V008"].startswith("2 planned comparisons on each task: claims allow for these together")


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([("fores", "ridge")], r'with "fores" is planned, but the methods are forest, ridge .*mean "forest"'),
        ([("forest", "forest")], '"forest" with itself'),
        ([("forest",)], r"is of two methods, as in .*: got"),
        (["forest:ridge"], r"is of two methods, as in .*: got 'forest:ridge'"),
        ([], "no comparison is planned: name pairs"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(pairs: Sequence[Sequence[str]], said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        planned_pairs(pairs, ["forest", "ridge"])


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (0.02, "accuracy", "2 points"),
        (0.02, "roc_auc", "0.02"),
        (0.02, "Z", "0.02"),
        ("5%", "balanced_accuracy", "5 % (0.70 points or more)"),
        ("5%", "rmse", "5 % (0.0070 or more)"),
    ],
)
def test_amounts_are_written_as_differences_are_shown(given: MarginLike, code: str, words: str) -> None:
    margin = Margin.of(given)
    verdict = judged_within(margin, margin.amount([0.14, 0.2]), None)
    assert verdict.shown(parse_loss(code)) == words


def test_large_amounts_have_no_powers_of_ten_that_programs_write() -> None:
    """Losses in thousands are usual: "the margin of 5 % (4.9e+02)" is not how people write."""
    assert judged_within(Margin(0.05, is_relative=True), 491.2, None).shown(None) == "5 % (490 or more)"
    facts = task(instances=8)
    losses = {name: {facts.address: draws(name, mean, facts)} for name, mean in (("a", 9e4), ("b", 7e4))}
    made = results([facts], losses)
    (contest,) = find(made, margin="5%").tasks[0].contests
    assert "e+0" not in str(contest)
    assert "-" not in str(contest)


def test_a_share_of_a_loss_without_an_interval_is_not_called_zero() -> None:
    verdict = judged_within(Margin.of("2%"), Margin.of("2%").amount([0.0, 0.2]), (-0.1, 0.1))
    assert verdict.shown(None) == "2 % (which may be nothing: a loss has no interval that leaves out 0)"
    assert not verdict.is_equivalent
