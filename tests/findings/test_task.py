"""What is found on one task is what `stats` says of the same arrays."""

import re

import numpy as np
import pytest

from redelve.answers.predictions import Target
from redelve.errors import StatisticsError
from redelve.findings import analyse_task, compare_methods, find
from redelve.findings.claims import Contest
from redelve.model import Scheme
from redelve.stats import anova, seed_runs
from redelve.stats.assurance import assured_difference, pilot_of
from redelve.stats.multiple import guarded_p_value
from redelve.stats.one_partition import compare_partition
from redelve.stats.resampled import compare_resampled
from tests.findings.made_up import draws, method, results, task


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_one_run_goes_to_the_analysis_of_variance_of_the_design(scheme: Scheme) -> None:
    facts = task(scheme=scheme)
    a, b = draws("a", 1.0, facts), draws("b", 1.2, facts)
    found = analyse_task(results([facts], {"a": {facts.address: a}, "b": {facts.address: b}}), facts.address)
    analyse = anova.analyse_common if scheme == "common" else anova.analyse_hierarchical
    compare = anova.compare_common if scheme == "common" else anova.compare_hierarchical
    assert found.method("a").estimate == analyse(a)
    assert found.contest("b", "a").test == compare(a, b)
    assert found.method("b").standardised == pytest.approx(analyse(b).mean / 2)  # type: ignore[operator]


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_several_runs_tell_seeds_from_training_sets(scheme: Scheme) -> None:
    facts = task(scheme=scheme)
    a, b = draws("a", 1.0, facts, runs=3), draws("b", 1.2, facts)
    found = analyse_task(results([facts], {"a": {facts.address: a}, "b": {facts.address: b}}), facts.address)
    tables = [np.stack(table) for table in a]
    analyse = seed_runs.analyse_runs_common if scheme == "common" else seed_runs.analyse_runs_hierarchical
    compare = seed_runs.compare_runs_common if scheme == "common" else seed_runs.compare_runs_hierarchical
    assert found.method("a").estimate == analyse(tables)
    assert found.method("a").deviations["seeds"] is not None
    assert found.contest("a", "b").test == compare(tables, [row[None] for row in b])


def test_folds_are_compared_by_the_corrected_test_and_no_other() -> None:
    facts = task("/made/up/std.90", instances=10, cases=10, scheme="cross-validation")
    a, b = draws("a", 1.0, facts), draws("b", 1.2, facts)
    found = analyse_task(results([facts], {"a": {facts.address: a}, "b": {facts.address: b}}), facts.address)
    expected = compare_resampled([x.mean() for x in a], [x.mean() for x in b], ratio=10 / 90)
    assert found.contest("a", "b").test == expected


def test_a_failed_instance_is_left_out_of_comparisons_with_that_method_only() -> None:
    facts = task()
    a, b, c = draws("a", 1.0, facts), draws("b", 1.2, facts), draws("c", 1.4, facts)
    losses = {
        "a": {facts.address: [None, *a[1:]]},
        "b": {facts.address: b},
        "c": {facts.address: c},
    }
    found = analyse_task(results([facts], losses), facts.address)
    assert found.contest("a", "b").instances == (1, 2, 3)
    assert found.contest("b", "c").instances == (0, 1, 2, 3)
    assert found.contest("a", "b").test == anova.compare_hierarchical(a[1:], b[1:])
    assert (found.method("a").instances, found.method("a").failed) == (3, 1)


def test_a_failed_run_leaves_as_many_runs_as_every_instance_has() -> None:
    facts = task()
    a = draws("a", 1.0, facts, runs=3)
    a[2][1] = None
    found = analyse_task(results([facts], {"a": {facts.address: a}}), facts.address)
    assert found.method("a").runs == 2


def test_two_methods_alone_are_adjusted_for_nothing() -> None:
    facts = task()
    losses = {
        name: {facts.address: draws(name, mean, facts)}
        for name, mean in zip("abc", (1, 1.2, 1.4), strict=True)
    }
    together = analyse_task(results([facts], losses), facts.address).contest("b", "a")
    (alone,) = compare_methods(results([facts], losses), "b", "a", [facts.address])
    assert (alone.first, alone.second) == ("b", "a")
    assert alone.difference == pytest.approx(-(together.difference or 0))
    assert alone.adjusted_p_value == pytest.approx(alone.p_value)
    assert together.adjusted_p_value is not None
    assert together.adjusted_p_value >= (alone.p_value or 0)


def test_one_training_set_is_analysed_for_what_it_is() -> None:
    facts = task(instances=1)
    a, b = draws("a", 1.0, facts, runs=3), draws("b", 1.0, facts, runs=3)
    found = analyse_task(results([facts], {"a": {facts.address: a}, "b": {facts.address: b}}), facts.address)
    assert found.contest("a", "b").test == compare_partition(np.stack(a[0]), np.stack(b[0]))
    assert "seeds" in found.method("a").deviations
    assert "no number of runs would find 2 %" in found.contest("a", "b").advice
    assert any("these very cases" in caveat for caveat in found.caveats)


def test_test_cases_that_would_find_too_little_are_not_said_to_be_one() -> None:
    facts = task(instances=1)
    a, b = ([10.0 * one - 9 for one in draws(name, 1.0, facts)] for name in "ab")
    found = analyse_task(results([facts], {"a": {facts.address: a}, "b": {facts.address: b}}), facts.address)
    advice = found.contest("a", "b").advice
    assert advice.endswith("Finding 2 % would take more than 100,000 test cases.")


def test_methods_without_an_instance_in_common_are_not_compared() -> None:
    facts = task(instances=2)
    a, b = draws("a", 1.0, facts), draws("b", 1.0, facts)
    losses = {"a": {facts.address: [a[0], None]}, "b": {facts.address: [None, b[1]]}}
    found = analyse_task(results([facts], losses), facts.address)
    assert any("no instance" in caveat for caveat in found.caveats)


def test_advice_is_given_where_the_question_is_open() -> None:
    facts = task(instances=4)
    losses = {name: {facts.address: draws(name, 1.0, facts)} for name in "ab"}
    (contest,) = analyse_task(results([facts], losses), facts.address).contests
    assert contest.winner is None
    assert re.fullmatch(
        r"As it stands, a difference of \d+ % would be found with power 0[.]8[.] "
        r"\d+ more training sets of 64 would find 2 %[.]",
        contest.advice,
    )
    assert "could not be told apart" in str(contest)


def stated(contest: Contest) -> float:
    """The difference, in per cent, that the advice says would be found."""
    return float(re.findall(r"difference of (\S+) %", contest.advice)[0])


def test_power_is_stated_at_the_level_that_is_applied() -> None:
    """Alone, a pair has all of the level; beside others, or on one task of several, it has a share."""
    facts = [task("/made/up/std.64", instances=6), task("/made/other/std.64", instances=6)]
    losses = {
        name: {one.address: draws(name, 1.0, one) for one in facts} for name in ("a", "b", "c", "d", "e")
    }
    made = results(facts, losses)
    (alone,) = compare_methods(made, "a", "b", [facts[0].address])
    both = compare_methods(made, "a", "b", [one.address for one in facts])
    assert (alone.claim.share, both[0].claim.share) == (0.05, 0.025)
    assert alone.claim.place is not None
    pilot = pilot_of(*alone.claim.place)
    assert pilot is not None
    assert (pilot.pairs, pilot.guard, pilot.prior_df) == (1, 0.0, 0.0)
    loss = min(alone.test.mean_first or 0.0, alone.test.mean_second or 0.0)
    expected = 100 * assured_difference(pilot, 0.05) / loss
    assert stated(alone) == pytest.approx(expected, rel=0.05)
    assert stated(both[0]) > stated(alone)
    place = analyse_task(made, facts[0].address).contest("a", "b").claim.place
    assert place is not None
    together = pilot_of(*place)
    assert together is not None
    assert (together.pairs, together.guard) == (10, 2.5)
    assert together.prior_df > 0


def test_folds_and_single_partitions_are_advised_as_far_as_they_go() -> None:
    folded = task(instances=5, scheme="cross-validation")
    losses = {name: {folded.address: draws(name, 1.0, folded)} for name in "ab"}
    (contest,) = analyse_task(results([folded], losses), folded.address).contests
    assert contest.advice.endswith("would be found with power 0.8.")
    single = task(instances=1)
    losses = {name: {single.address: draws(name, 1.0, single)} for name in "ab"}
    (contest,) = analyse_task(results([single], losses), single.address).contests
    assert contest.advice.endswith("more test cases would find 2 %.")


def test_a_clear_difference_needs_no_advice() -> None:
    facts = task(instances=8)
    losses = {"a": {facts.address: draws("a", 1.0, facts)}, "b": {facts.address: draws("b", 3.0, facts)}}
    (contest,) = analyse_task(results([facts], losses), facts.address).contests
    assert contest.winner == "a"
    assert contest.advice == ""
    assert str(contest).startswith("a loses less than b: a − b = −2")


def test_unknown_names_are_told_what_there_is() -> None:
    facts = task()
    made = results([facts], {"a": {facts.address: draws("a", 1.0, facts)}})
    with pytest.raises(StatisticsError, match=r'no losses "Z" on /made/up/std[.]64: it has S'):
        analyse_task(made, facts.address, "Z")
    with pytest.raises(Exception, match=r'no results for task "/x": there are /made/up/std[.]64'):
        analyse_task(made, "/x")
    with pytest.raises(Exception, match='no results of method "z": there are a'):
        compare_methods(made, "z", "a", [facts.address])


def test_nothing_to_analyse_is_said() -> None:
    facts = task(instances=1)
    assert find(results([facts], {"a": {facts.address: [None]}})).tasks == ()
    with pytest.raises(StatisticsError, match="there are no records of jobs"):
        find(results([facts], {"a": {facts.address: []}}))


class TestManyTasks:
    def test_a_prototask_counts_once_at_its_largest_size(self) -> None:
        tasks = [task(f"/d{n}/p/std.{size}") for n in range(4) for size in (64, 128)]
        means = {"a": 1.0, "b": 1.2, "c": 1.4}
        losses = {
            name: {facts.address: draws(name, mean, facts) for facts in tasks} for name, mean in means.items()
        }
        found = find(results(tasks, losses)).across
        assert found is not None
        assert found.tasks == tuple(f"/d{n}/p/std.128" for n in range(4))
        assert [one.method for one in found.methods] == ["a", "b", "c"]
        assert found.methods[0].average == pytest.approx(0.5, abs=0.05)
        assert found.friedman is not None
        assert found.friedman.tasks == 4
        won = found.wins["a", "c"]
        assert won.wins > 0
        assert won.wins + won.ties + won.losses == 4
        assert found.rope["a", "c"].left > 0.9
        assert any("share their cases" in caveat for caveat in found.caveats)

    def test_sizes_of_one_prototask_are_not_many_tasks(self) -> None:
        tasks = [task(f"/d/p/std.{size}") for size in (64, 128, 256)]
        losses = {name: {facts.address: draws(name, 1.0, facts) for facts in tasks} for name in "ab"}
        assert find(results(tasks, losses)).across is None

    def test_a_task_that_some_method_lacks_is_left_out_and_named(self) -> None:
        tasks = [task(f"/d{n}/p/std.64") for n in range(4)]
        losses = {name: {facts.address: draws(name, 1.0, facts) for facts in tasks} for name in "ab"}
        del losses["b"]["/d3/p/std.64"]
        found = find(results(tasks, losses)).across
        assert found is not None
        assert found.tasks == tuple(f"/d{n}/p/std.64" for n in range(3))
        assert any("/d3/p/std.64" in caveat for caveat in found.caveats)

    def test_the_standard_error_of_an_average_is_that_of_the_largest_sizes(self) -> None:
        tasks = [task(f"/d{n}/p/std.{size}") for n in range(2) for size in (64, 128)]
        losses = {name: {facts.address: draws(name, 1.0, facts) for facts in tasks} for name in "ab"}
        found = find(results(tasks, losses))
        errors = [found.task(facts.address).method("a").standardised_error or 0 for facts in tasks[1::2]]
        assert found.across is not None
        assert found.across.methods[0].standard_error == pytest.approx(np.hypot(errors[0], errors[1]) / 2)


class TestCurvesAndCosts:
    def test_a_curve_has_its_sizes_in_order(self) -> None:
        tasks = [task(f"/d/p/std.{size}", instances=8) for size in (256, 64, 128)]
        losses = {"a": {facts.address: draws("a", 2.0, facts) for facts in tasks}}
        (curve,) = find(results(tasks, losses)).curves
        assert [point.training_set_size for point in curve.points] == [64, 128, 256]

    def test_the_front_holds_those_whom_nobody_beats_in_both(self) -> None:
        facts = task(instances=8)
        means = {"a": 3.0, "bb": 1.0, "ccc": 2.0}  # the longer the name, the longer it takes
        losses = {name: {facts.address: draws(name, mean, facts)} for name, mean in means.items()}
        costs = {cost.method: cost for cost in find(results([facts], losses)).costs}
        assert [name for name in means if costs[name].on_front] == ["a", "bb"]
        assert costs["bb"].training_seconds == pytest.approx(0.2)


def test_the_order_of_methods_is_that_of_the_results() -> None:
    facts = task()
    losses = {name: {facts.address: draws(name, 1.0, facts)} for name in ("z", "a")}
    made = results([facts], losses, methods={"z": method("z"), "a": method("a")})
    assert [one.method for one in analyse_task(made, facts.address).methods] == ["z", "a"]


def test_no_interval_of_an_expected_loss_goes_beyond_what_can_be_lost() -> None:
    """Errors on few cases: t intervals that would start below 0 or end above 1 are cut there."""
    kind = Target("kind", "categorical", ("a", "b"))
    facts = task(instances=3, targets=(kind,))
    few, many = np.zeros(50), np.ones(50)
    few[:2], many[:2] = 1.0, 0.0
    losses = {
        "good": {facts.address: [few, np.zeros(50), np.zeros(50)]},
        "bad": {facts.address: [many, np.ones(50), np.ones(50)]},
    }
    found = analyse_task(results([facts], losses, code="Z"), facts.address)
    plain = anova.analyse_hierarchical(losses["good"][facts.address]).interval()
    assert plain is not None
    assert plain[0] < 0 < plain[1]
    assert found.method("good").bounds == (0.0, plain[1])
    low, high = found.method("bad").bounds or (0.0, 0.0)
    assert 0 < low < 1 == high
    assert found.method("good").interval(0.5) == pytest.approx(
        anova.analyse_hierarchical(losses["good"][facts.address]).interval(0.5)
    )


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_the_p_value_of_a_comparison_alone_is_that_of_its_test(scheme: Scheme) -> None:
    facts = task(scheme=scheme)
    losses = {name: {facts.address: draws(name, 1.0, facts)} for name in ("a", "b", "c")}
    for contest in analyse_task(results([facts], losses), facts.address).contests:
        assert contest.claim.own_p_value == pytest.approx(guarded_p_value(contest.test), rel=1e-7)


BOTH = np.array([np.inf, -np.inf, 0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_losses_of_both_infinities_have_no_mean(scheme: Scheme) -> None:
    facts = task(instances=3, cases=6, scheme=scheme)
    losses = {"a": {facts.address: [BOTH] * 3}, "b": {facts.address: [np.arange(6.0)] * 3}}
    assert analyse_task(results([facts], losses), facts.address).method("a").mean is None


@pytest.mark.parametrize(
    ("scheme", "runs"),
    [("cross-validation", 1), ("cross-validation", 2), ("time", 1), ("hierarchical", 2), ("common", 2)],
)
def test_losses_of_both_infinities_are_refused_without_a_warning(scheme: Scheme, runs: int) -> None:
    facts = task(instances=3, cases=6, scheme=scheme)
    losses = {"a": [[BOTH, -BOTH][:runs]] * 3, "b": [[np.arange(6.0)] * runs] * 3}
    found = results([facts], {name: {facts.address: one} for name, one in losses.items()})
    with pytest.raises(StatisticsError, match="not a number"):
        analyse_task(found, facts.address)
