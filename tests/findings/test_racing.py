"""Looking at a race: who drops out, what pairs may claim, and how often any word of it is false."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from redelve.findings import compare_methods, find
from redelve.findings.margin import Margin
from redelve.findings.racing import look_at
from redelve.report.first_screen import answer_table, plain_answer
from redelve.report.race_words import race_headline, race_sentences
from redelve.report.sections import panels
from redelve.report.sections.one_prototask import matrix_table, pairs_table
from redelve.report.sections.overview import summarise
from redelve.run.races import EarlierLook, Race, RacePlan
from redelve.run.results import Results
from redelve.stats.repeated_looks import RepeatedLooks
from redelve.stats.sequential import planned_looks
from tests.findings import made_up

ADDRESS = "/made/up/std.64"
RNG = np.random.default_rng


def raced_results(
    means: dict[str, float],
    *,
    sets: int = 16,
    margin: str | None = None,
    seed: int = 0,
    scheme: str = "hierarchical",
) -> Results:
    """A race of made-up methods run to its end: losses of method m are mean[m] + noise."""
    rng = np.random.default_rng(seed)
    facts = made_up.task(ADDRESS, instances=sets, cases=20, scheme=scheme)  # type: ignore[arg-type]
    losses = {name: {ADDRESS: _losses(mean, sets, rng)} for name, mean in means.items()}
    every = made_up.results([facts], losses)
    plan = RacePlan(ADDRESS, facts.digest, "S", dict.fromkeys(means, "d"), planned_looks(sets), 0.05, margin)
    race = Race(plan)
    while not race.is_over:
        number = len(race.looks)
        done = _held(every, race, plan.looks[number])
        race = replace(race, looks=(*race.looks, look_at(done.on(ADDRESS), race)))
    return replace(_held(every, race, race.sets), races={ADDRESS: race})


def _losses(mean: float, sets: int, rng: np.random.Generator) -> list[object]:
    return [mean + rng.normal() / np.sqrt(2) + 0.5 * rng.normal(size=20) for _ in range(sets)]


def _held(results: Results, race: Race, sets: int) -> Results:
    """What there is when a race has come so far: who dropped out has no more losses."""
    most = {name: race.sets_of(name) or sets for name in race.plan.methods}
    most |= dict.fromkeys(race.left, sets)
    records = [one for one in results.records if one.job.instance < most[one.job.method]]
    return replace(results, records=tuple(records))


def share_of(pairs: int, at: int) -> float:
    """What the look after so many training sets of 16 has of the level, for so many pairs together."""
    return pairs * RepeatedLooks(planned_looks(16), by_evidence=True).at(at).of_each(0.05 / pairs)


def race_of(results: Results) -> Race:
    return results.races[ADDRESS]


def test_a_clear_winner_is_found_at_the_first_look() -> None:
    results = raced_results({"good": 0.0, "poor": 20.0, "bad": 30.0})
    race = race_of(results)
    assert race.verdict == "better"
    assert race.left == ("good",)
    assert race.sets == 4
    assert set(race.dropped) == {"poor", "bad"}
    assert race_headline(race) == (
        "After 4 of 16 training sets it is settled: good is the best of these 3 methods (95 % confidence)."
    )


def test_equal_methods_are_equivalent_within_a_wide_margin_and_open_without() -> None:
    means = {"one": 10.0, "two": 10.0}
    race = race_of(raced_results(means, margin="30 %"))
    assert race.verdict == "equivalent"
    assert "one and two are equivalent within 30 %" in race_headline(race)
    assert "differ by less than 30 % of the smaller one" in " ".join(race_sentences(race))
    race = race_of(raced_results(means))
    assert race.verdict == "open"
    assert race.sets == 16
    assert "After 16 of 16 training sets it is open which of one and two is the best" in race_headline(race)


def test_methods_that_a_race_found_equivalent_are_so_in_every_word_and_table() -> None:
    """It decides by one-sided tests; the two-sided interval, for all pairs, reaches beyond the margin."""
    results = raced_results({"one": 10.0, "two": 10.0, "far": 30.0}, margin="20 %", seed=1)
    assert race_of(results).equivalent == ("one", "two")
    for margin in ("20%", None):
        findings = find(results, margin=margin)
        contest = findings.tasks[0].contest("one", "two")
        assert contest.bounds is not None
        assert contest.verdict is not None
        assert contest.bounds[1] > contest.verdict.amount
        assert contest.is_equivalent
        text = " ".join(summarise(findings).split())
        assert "not worse" not in text
        assert "are equivalent within the margin of 20 %" in text
        assert "by one-sided tests; the interval is two-sided and may reach further" in text
        matrix = matrix_table(findings.tasks[0])
        assert matrix.rows[0][2].mark == "equivalent"
        (row,) = [
            row for row in pairs_table(panels(findings)[0]).rows if "far" not in row[1].text + row[2].text
        ]
        assert row[-1].text == "equivalent"


def test_two_of_a_race_compared_alone_are_equivalent_within_its_margin_and_judged_anew_within_another() -> (
    None
):
    results = raced_results({"one": 10.0, "two": 10.0, "far": 30.0}, margin="20 %", seed=1)
    own, other = (
        compare_methods(results, "one", "two", [ADDRESS], margin=Margin.of(text))[0] for text in ("20%", "1%")
    )
    assert own.is_equivalent
    assert not other.is_equivalent


def test_the_rate_is_told_with_its_limit() -> None:
    """Skewed effects of training sets are not cured (tests/stats/test_sequential.py)."""
    means = {"one": 0.0, "two": 20.0}
    for sets, planned in ((16, "said at any of them in at most 5 %"), (4, "said in at most 5 %")):
        (rule, *_) = race_sentences(race_of(raced_results(means, sets=sets)))
        assert f"; anything false is {planned} of races. It can be several times as often where" in rule


def test_the_rate_of_races_that_share_the_level_is_not_rounded_down() -> None:
    race = race_of(raced_results({"one": 0.0, "two": 20.0}))
    for parts, told in ((2, "2.5 %"), (4, "1.25 %"), (6, "0.834 %")):
        shared = replace(race, plan=replace(race.plan, level=0.05 / parts))
        assert f"said at any of them in at most {told} of races." in race_sentences(shared)[0]


def test_a_share_and_an_amount_of_the_same_size_agree() -> None:
    share, amount = (
        race_of(raced_results({"one": 100.0, "two": 100.3}, margin=margin)) for margin in ("1%", "1.0")
    )
    assert share.looks[0].p_equivalent == pytest.approx(amount.looks[0].p_equivalent, rel=0.05)
    assert "differ by less than 1 (" in " ".join(race_sentences(amount))


def test_an_open_race_tells_how_many_sets_would_settle_it() -> None:
    race = race_of(raced_results({"one": 0.0, "two": 0.6}, sets=8, seed=3))
    assert race.verdict == "open"
    needed = race.looks[-1].needed
    assert needed is not None
    assert needed > 8
    assert f"about {needed - 8} more training sets would settle it." in race_headline(race)


def test_claims_of_pairs_are_those_of_the_last_look_that_both_took_part_in() -> None:
    results = raced_results({"good": 0.0, "near": 1.2, "bad": 30.0}, seed=1)
    race = race_of(results)
    assert race.looks[0].dropped == ("bad",)
    assert race.sets > 4
    (task,) = find(results).tasks
    assert len(task.contest("good", "bad").instances) == 4
    assert len(task.contest("good", "near").instances) == race.sets
    assert task.contest("good", "bad").claim.share == pytest.approx(share_of(3, at=4))
    assert task.contest("good", "bad").winner == "good"


def test_p_values_allow_for_the_pairs_of_a_race_however_often_it_was_looked_at() -> None:
    results = raced_results({"one": 0.0, "two": 0.1, "three": 0.2}, seed=1)
    assert len(race_of(results).looks) > 1
    contest = find(results).tasks[0].contest("one", "two")
    assert contest.claim.family == 3
    assert contest.words.endswith(" allowing for all 3 comparisons and all looks.")
    alone = compare_methods(results, "one", "two", [ADDRESS])[0]
    assert alone.claim.family == 1
    assert alone.words.endswith(" allowing for all looks.")


def test_races_that_share_a_level_count_their_comparisons_together() -> None:
    results = raced_results({"one": 0.0, "two": 0.1, "three": 0.2})
    race = race_of(results)
    shared = replace(race, plan=replace(race.plan, level=race.plan.level / 2))
    (task,) = find(replace(results, races={ADDRESS: shared})).tasks
    assert task.contest("one", "two").claim.family == 6


def test_training_sets_after_the_last_look_do_not_count() -> None:
    """A budget ends a race in the middle of a leg: what was done since the last look is not looked at."""
    results = raced_results({"one": 0.0, "two": 0.6}, seed=3)
    race = race_of(results)
    cut = replace(race, looks=race.looks[:1])
    (task,) = find(replace(results, races={ADDRESS: cut})).tasks
    assert {one.instances for one in task.methods} == {4}
    assert len(task.contest("one", "two").instances) == 4


def test_a_race_without_a_look_claims_nothing() -> None:
    results = raced_results({"one": 0.0, "two": 20.0})
    none = replace(race_of(results), looks=())
    (task,) = find(replace(results, races={ADDRESS: none})).tasks
    assert task.contests == ()
    text = summarise(find(replace(results, races={ADDRESS: none})))
    assert "Nothing can be said yet: the first look comes after 4 training sets." in text
    assert "may be the best" not in text
    assert "Nothing could be compared" not in text
    assert task.best_group == task.worse == ()


def test_methods_that_wait_for_their_first_job_are_not_called_worse() -> None:
    """A budget of a second may end before every method had a turn: no star is missing."""
    facts = made_up.task(ADDRESS, instances=8, cases=20)
    rows = {"one": [np.ones(20)], "two": [np.ones(20)], "three": []}
    results = made_up.results([facts], {name: {ADDRESS: some} for name, some in rows.items()})
    plan = RacePlan(ADDRESS, facts.digest, "S", dict.fromkeys(rows, "d"), (4, 8), 0.05)
    text = summarise(find(replace(results, races={ADDRESS: Race(plan)})))
    assert "may be the best" not in text
    assert "no results" not in text
    assert "finite" not in text


def test_the_first_words_of_a_race_say_when_it_is_wrong_more_often() -> None:
    findings = find(raced_results({"one": 0.0, "two": 20.0}))
    sure = plain_answer(findings).how_sure
    assert sure.startswith("Anything false is said in at most 5 % of races.")
    assert "several times as often where a few training sets have far larger differences" in sure


def test_who_may_be_the_best_is_who_is_left() -> None:
    results = raced_results({"good": 0.0, "near": 1.2, "bad": 30.0}, seed=1)
    (task,) = find(results).tasks
    race = race_of(results)
    assert task.best_group == race.left
    assert set(task.worse) == set(race.dropped)
    assert task.leader in race.left


def easy_start() -> Results:
    """A race whose first four sets are easy: "bad", which drops out after them, has the smallest mean."""
    facts = made_up.task(ADDRESS, instances=8, cases=20)
    easy = [0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 9.0]
    rng = np.random.default_rng(0)
    behind = {"good": 0.0, "near": 0.01, "bad": 2.0}
    tables = {
        name: [level + more + 0.1 * rng.normal(size=20) for level in easy] for name, more in behind.items()
    }
    tables["bad"] = tables["bad"][:4]
    results = made_up.results([facts], {name: {ADDRESS: rows} for name, rows in tables.items()})
    plan = RacePlan(ADDRESS, facts.digest, "S", dict.fromkeys(tables, "d"), (4, 8), 0.05)
    race = Race(plan)
    for _ in plan.looks:
        race = replace(race, looks=(*race.looks, look_at(results.on(ADDRESS), race)))
    assert race.dropped[0] == "bad"
    return replace(results, races={ADDRESS: race})


def test_one_that_dropped_out_does_not_lead() -> None:
    """Its mean is over its first training sets, which may have been easy ones."""
    (task,) = find(easy_start()).tasks
    means = {one.method: one.mean for one in task.methods}
    assert means["bad"] < means["good"]  # type: ignore[operator]
    assert task.leader in ("good", "near")
    assert task.by_loss[-1].method == "bad"


def test_rows_of_a_race_say_how_many_training_sets_they_are_over() -> None:
    findings = find(easy_start())
    text = summarise(findings)
    (bad,) = [line for line in text.splitlines() if line.startswith("  bad ")]
    good = next(line for line in text.splitlines() if line.startswith("  good "))
    assert bad.endswith(" (4 sets)")
    assert good.endswith(" (8 sets)")
    assert "Means over different training sets are not comparable; differences are taken over" in text
    table = answer_table(findings, panels(findings)[0])
    place = [column.title for column in table.columns].index("Training sets")
    assert [row[place].text for row in table.rows] == ["8", "8", "4"]
    assert "Means over different training sets are not comparable" in table.caption


def test_rows_over_the_same_training_sets_say_nothing_of_them() -> None:
    findings = find(raced_results({"good": 0.0, "poor": 20.0}))
    assert " sets)" not in summarise(findings)
    assert "Training sets" not in [one.title for one in answer_table(findings, panels(findings)[0]).columns]


def test_the_leader_of_a_race_is_not_said_to_have_the_smallest_mean_of_all() -> None:
    """That of a method that dropped out may be smaller, over fewer training sets."""
    open_race = " ".join(summarise(find(easy_start())).split())
    assert "the smallest expected squared error of those left in the race: over 8 training sets" in open_race
    assert "Over their 4 common training sets it loses less than bad by" in open_race
    results = easy_start()
    looks = (*race_of(results).looks[:1], replace(race_of(results).looks[1], dropped=("near",)))
    settled = replace(race_of(results), looks=looks)
    said = " ".join(summarise(find(replace(results, races={ADDRESS: settled}))).split())
    assert "had the smallest" not in said
    assert "good is the best of these 3 methods; its expected squared error over 8 training sets is" in said


def test_a_race_judged_by_another_loss_says_over_how_many_sets_as_well() -> None:
    results = easy_start()
    also = [replace(one, losses={**one.losses, "A": one.losses["S"]}) for one in results.records]
    text = summarise(find(replace(results, records=tuple(also)), "A"))
    assert "(4 sets)" in text
    assert "not comparable" in text


def test_a_method_that_fails_leaves_the_race_and_is_not_called_worse() -> None:
    facts = made_up.task(ADDRESS, instances=4, cases=20)
    rng = np.random.default_rng(0)
    rows: dict[str, Sequence[object]] = {
        name: _losses(mean, 4, rng) for name, mean in (("a", 0.0), ("b", 9.0))
    }
    rows["c"] = [*_losses(0.0, 3, rng), None]
    results = made_up.results([facts], {name: {ADDRESS: each} for name, each in rows.items()})
    plan = RacePlan(ADDRESS, facts.digest, "S", dict.fromkeys(rows, "d"), (4,), 0.05)
    race = Race(plan, (look_at(results.on(ADDRESS), Race(plan)),))
    assert race.failed == ("c",)
    assert race.verdict == "better"
    assert "a is the best of the 2 methods that did not fail" in race_headline(race)
    assert "c left the race after 4 training sets: jobs failed." in race_sentences(race)


def test_two_methods_alone_are_compared_at_the_looks_of_the_race() -> None:
    results = raced_results({"one": 0.0, "two": 0.6, "three": 30.0}, seed=3)
    (contest,) = compare_methods(results, "one", "two", [ADDRESS])
    assert contest.claim.share == pytest.approx(share_of(1, at=race_of(results).sets))


def test_another_loss_claims_at_the_same_looks_and_says_nothing_of_the_race() -> None:
    results = raced_results({"good": 0.0, "bad": 30.0})
    also = [replace(one, losses={**one.losses, "A": one.losses["S"]}) for one in results.records]
    (task,) = find(replace(results, records=tuple(also)), "A").tasks
    assert task.race is None
    assert task.contest("good", "bad").claim.share == pytest.approx(share_of(1, at=4))


def test_a_pair_is_claimed_just_where_its_interval_leaves_out_zero() -> None:
    made = []
    for seed in range(12):
        means = {f"m{number}": number / 2 for number in range(5)}
        for contest in find(raced_results(means, sets=8, seed=seed)).tasks[0].contests:
            assert contest.claim.bounds is not None
            low, high = contest.claim.bounds
            assert contest.claim.is_made == (low > 0 or high < 0)
            made.append(contest.claim.is_made)
    assert 0.1 < np.mean(made) < 0.9


def test_a_race_by_an_old_rule_has_equal_shares_or_equal_p_values() -> None:
    """Looks at 4, 8 and 16 sets with a third of the level each, or p-values that allow for all of them."""
    losses = {
        name: {ADDRESS: _losses(mean, 16, RNG(seed))}
        for seed, (name, mean) in enumerate((("one", 0.0), ("two", 1.0)))
    }
    facts = made_up.task(ADDRESS, instances=16, cases=20)
    work = made_up.results([facts], losses).on(ADDRESS)
    new = RacePlan(ADDRESS, facts.digest, "S", dict.fromkeys(losses, "d"), (4, 8, 16), 0.05)
    old, older = (replace(new, rule=rule) for rule in ("all looks together", "equal shares"))
    assert older.share == pytest.approx(0.05 / 3)
    assert new.share == old.share == 0.05
    p_older, p_old, p_new = (look_at(work, Race(plan)).p_values["two"] for plan in (older, old, new))
    rows = [np.array([row.mean() for row in losses[name][ADDRESS][:4]]) for name in ("one", "two")]  # type: ignore[attr-defined]
    assert p_older == pytest.approx(scipy_stats.ttest_rel(*rows).pvalue)
    p = np.array([p_older])
    assert p_old == pytest.approx(RepeatedLooks((4, 8, 16)).over_all(p)[0])
    assert p_new == pytest.approx(RepeatedLooks((4, 8, 16), by_evidence=True).at(4).over_all(p)[0])


def test_common_test_cases_are_raced_too() -> None:
    race = race_of(raced_results({"good": 0.0, "poor": 20.0}, scheme="common"))
    assert race.verdict == "better"


def test_the_summary_of_a_race_says_its_verdict_and_gives_no_advice_of_a_fixed_design() -> None:
    text = summarise(find(raced_results({"one": 0.0, "two": 0.6}, sets=8, seed=3)))
    words = " ".join(text.split())
    assert "After 8 of 8 training sets it is open which of one and two is the best" in words
    assert "with power 0.8" not in words
    assert "V005" not in words


def test_of_a_hundred_reports_on_equal_methods_few_claim_anything() -> None:
    """End to end, through the text: the arithmetic has its own simulation in tests/stats."""
    said = 0
    for seed in range(100):
        results = raced_results({"one": 0.0, "two": 0.0, "three": 0.0}, sets=8, seed=1000 + seed)
        said += "it is open which of one, two and three is the best" not in " ".join(
            summarise(find(results)).split()
        )
    assert said <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)


def test_an_analysis_with_fewer_instances_is_remembered() -> None:
    facts = made_up.task(ADDRESS, instances=8, cases=20)
    rng = np.random.default_rng(0)
    results = made_up.results([facts], {name: {ADDRESS: _losses(0.0, 8, rng)} for name in "ab"})
    fewer, as_many = EarlierLook(4, ("a", "b")), EarlierLook(8, ("a", "b"))
    others = EarlierLook(4, ("a", "c"))

    def noted(*looks: EarlierLook) -> list[str]:
        notes = find(replace(results, looked={ADDRESS: looks})).notes
        return [note.text for note in notes if note.code == "V018"]

    assert noted() == noted(as_many) == noted(others) == []
    (text,) = noted(as_many, fewer, others)
    assert "looked at before with 4 instances, now with 8" in text
    assert "use --until-settled" in text


def test_whoever_adds_folds_after_a_look_is_not_advised_to_race() -> None:
    """A race of folds is refused."""
    facts = replace(made_up.task(ADDRESS, instances=8, cases=20), scheme="cross-validation")
    rng = np.random.default_rng(0)
    results = made_up.results([facts], {name: {ADDRESS: _losses(0.0, 8, rng)} for name in "ab"})
    looked = {ADDRESS: (EarlierLook(4, ("a", "b")),)}
    (text,) = [note.text for note in find(replace(results, looked=looked)).notes if note.code == "V018"]
    assert "--until-settled" not in text
    assert "decide how many sets or folds to make before you look" in text


def test_what_was_looked_at_before_are_the_instances_that_two_methods_had_in_common() -> None:
    """Not those that any method had: b failed in half of its jobs, c in the other half."""
    look = EarlierLook(8, ("a", "b", "c", "d"), lacking={"b": (4, 5, 6, 7), "c": (0, 1, 2, 3)})
    every = set(range(8))
    assert look.fewer_than({"a": every, "b": every}) == (4, 8)
    assert look.fewer_than({"a": every, "b": {0, 1, 2, 3, 4, 5}}) == (4, 6)
    assert look.fewer_than({"a": every, "b": {0, 1, 2, 3}}) is None
    assert look.fewer_than({"b": every, "c": every}) is None  # they had none in common
    assert look.fewer_than({"a": every, "d": every}) is None
    assert look.fewer_than({"a": set(range(12)), "d": set(range(12)), "new": every}) == (8, 12)
    assert EarlierLook(1, ("a", "b")).fewer_than({"a": every, "b": every}) is None


def test_a_race_after_an_ordinary_look_is_not_advised_to_race() -> None:
    results = raced_results({"one": 0.0, "two": 0.6}, sets=8, seed=3)
    looked = {ADDRESS: (EarlierLook(4, ("one", "two")),)}
    (text,) = [note.text for note in find(replace(results, looked=looked)).notes if note.code == "V018"]
    assert "use --until-settled" not in text
    assert text.endswith("the race allows for its own looks, not for one before it")
