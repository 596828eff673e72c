"""Margins over tasks: who is equivalent on average over tasks like these, by shares and by amounts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from benchmarks.calibration.equivalence_over_tasks import (
    MarginTasks,
    bounds_of,
    draw_losses,
    margin_settings,
    rates_over_tasks,
)

from redelve.answers.predictions import Target
from redelve.assessment import Assessment
from redelve.findings import AcrossTasks, PairOverTasks, compare_everywhere, find
from redelve.findings.claims import LEVEL
from redelve.findings.margin import Margin, MarginLike
from redelve.report.sections.across_tasks import margin_sentence, pairs_table
from redelve.report.sections.overview import summarise
from redelve.run.results import Results, TaskFacts

from .made_up import draws, results, task

MEANS = {"a": 1.0, "b": 1.0, "c": 2.0}


def made(
    means: dict[str, float] = MEANS, *, tasks: int = 6, code: str = "S", scheme: str = "hierarchical"
) -> Results:
    facts = [
        task(f"/d{n}/p/std.64", instances=8, cases=200, scheme=scheme, data_digest=f"data {n}")  # type: ignore[arg-type]
        for n in range(tasks)
    ]
    losses = {name: {one.address: draws(name, mean, one) for one in facts} for name, mean in means.items()}
    return results(facts, losses, code=code)


def across(found: Results, margin: MarginLike | None) -> AcrossTasks:
    over = find(found, margin=margin).across
    assert over is not None
    return over


def pair_of(found: AcrossTasks, first: str, second: str) -> PairOverTasks:
    return next(one for one in found.pairs if (one.first, one.second) == (first, second))


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_a_share_is_of_the_geometric_mean_of_ratios(scheme: str) -> None:
    found = made(scheme=scheme)
    over = across(found, "20%")
    same, apart = pair_of(over, "a", "b"), pair_of(over, "a", "c")
    assert same.within is not None
    assert same.within.difference is not None
    means = np.array([[one.mean for one in each.methods] for each in find(found).tasks], dtype=np.float64)
    expected = np.exp(np.log(means[:, 0] / means[:, 1]).mean()) - 1
    assert same.within.difference == pytest.approx(expected, abs=0.01)  # tasks are weighed, nearly alike
    assert same.is_equivalent
    assert same.not_worse == ("a", "b")
    assert not apart.is_equivalent
    assert apart.not_worse == ("a",)
    assert apart.within is not None
    assert apart.within.bounds is not None
    assert apart.within.bounds[0] < -0.5 < apart.within.bounds[1] < 0


def test_the_units_of_tasks_do_not_matter_to_a_share() -> None:
    facts = [task(f"/d{n}/p/std.64", instances=8, cases=200) for n in range(5)]
    losses = {name: {one.address: draws(name, 1.0, one) for one in facts} for name in "ab"}
    scaled = {
        name: {one.address: [10.0**n * row for row in each[one.address]] for n, one in enumerate(facts)}
        for name, each in losses.items()
    }
    plain, other = (pair_of(across(results(facts, given), "5%"), "a", "b") for given in (losses, scaled))
    assert plain.within is not None
    assert other.within is not None
    assert other.within.bounds == pytest.approx(plain.within.bounds)


@pytest.mark.parametrize(("code", "kind"), [("L", "real"), ("Z", "categorical"), ("S", "real")])
def test_an_amount_takes_losses_in_the_same_units(code: str, kind: str) -> None:
    target = Target("c", "categorical", ("x", "y")) if kind == "categorical" else Target("c", "real")
    facts = [
        task(f"/d{n}/p/std.64", targets=(target,), baselines={code: 0.5}, data_digest=f"data {n}")
        for n in range(4)
    ]
    losses = {name: {one.address: draws(name, 1.0, one) for one in facts} for name in "ab"}
    pair = pair_of(across(results(facts, losses, code=code), 0.3), "a", "b")
    assert pair.within is not None
    if code == "S":
        assert pair.within.bounds is None
        assert not pair.is_equivalent
        assert "squared error has other units on other tasks" in pair.margin_words
        assert 'give the margin as a share, as in "2%"' in pair.margin_words
    else:
        assert pair.within.bounds is not None
        assert pair.is_equivalent


def test_an_amount_on_several_prototasks_of_one_target_is_the_same_thing() -> None:
    facts = [task(f"/d/p{n}/std.64", instances=8, cases=200) for n in range(4)]
    losses = {name: {one.address: draws(name, mean, one) for one in facts} for name, mean in MEANS.items()}
    over = across(results(facts, losses), 0.3)
    same = pair_of(over, "a", "b")
    assert same.within is not None
    assert same.within.bounds is not None
    assert same.within.bounds[1] == pytest.approx(2 * (same.claim.bounds or (0, 0))[1])  # baselines are 2
    assert same.is_equivalent


def test_a_method_that_loses_nothing_has_no_shares() -> None:
    facts = [task(f"/d{n}/p/std.64") for n in range(4)]
    losses = {name: {one.address: draws(name, 1.0, one) for one in facts} for name in "ab"}
    losses["a"][facts[2].address] = [np.zeros(50) for _ in range(4)]
    pair = pair_of(across(results(facts, losses), "20%"), "a", "b")
    assert pair.within is not None
    assert pair.within.bounds is None
    assert "loses nothing on some task" in pair.margin_words


def test_report_text_frame_and_comparison_say_the_same() -> None:
    found = made()
    findings = find(found, margin="20%")
    over = across(found, "20%")
    sentence = "On average over tasks a is equivalent to b within the margin of 20 %."  # b lost least
    assert margin_sentence(over) == sentence
    assert margin_sentence(over) in " ".join(summarise(findings).split())
    table = pairs_table(over)
    assert [one.title for one in table.columns[-2:]] == ["A − B, share, 95 %", "Within 20 %"]
    assert [row[-1].text for row in table.rows] == ["equivalent", "a not worse", "b not worse"]
    frame = Assessment(found, margin="20%").over_tasks()
    assert frame["equivalent"].tolist() == [True, False, False]
    assert frame["not_worse"].tolist() == ["a, b", "a", "b"]
    together = Assessment(found).compare("a", "b", margin="20%")
    assert together.over_tasks is not None
    assert together.over_tasks.is_equivalent
    assert "a and b are equivalent within the margin of 20 % on average" in str(together)
    assert Assessment(found).compare("a", "b", "/d0/p/std.64").over_tasks is None


def test_without_a_margin_nothing_is_said_of_one_over_tasks() -> None:
    over = across(made(), None)
    pair = pair_of(over, "a", "b")
    assert (pair.within, pair.is_equivalent, pair.not_worse, pair.margin_words) == (None, False, (), "")
    assert margin_sentence(over) == ""
    assert len(pairs_table(over).columns) == 7


def test_planned_comparisons_say_each_for_itself() -> None:
    over = find(made(), planned=[("a", "b")], margin="20%").across
    assert over is not None
    assert margin_sentence(over) == over.pairs[0].margin_words
    assert over.pairs[0].claim.share == pytest.approx(LEVEL / 7)


@pytest.mark.parametrize("is_share", [False, True])
def test_the_simulation_has_the_intervals_of_a_report(is_share: bool) -> None:
    """Its three pairs share half of the level; a pair by itself has a sixth of it, with five tasks."""
    setting = MarginTasks(3, 5, 4, 10.0, is_share)
    losses = draw_losses(setting, 3, np.random.default_rng(1))
    low, high = bounds_of(setting, losses, level=LEVEL / 2)
    facts: list[TaskFacts] = [task(f"/d/p{n}/std.64", cases=2) for n in range(5)]
    for number in range(3):
        tables = {
            name: {
                one.address: [np.array([mean, mean]) for mean in losses[number, t, :, k]]
                for t, one in enumerate(facts)
            }
            for k, name in enumerate("abc")
        }
        for place, names in enumerate(combinations("abc", 2)):
            _, pair = compare_everywhere(
                results(facts, tables),
                names,
                [one.address for one in facts],
                margin=Margin(np.expm1(setting.size), is_relative=True) if is_share else Margin(setting.size),
            )
            assert pair is not None
            assert pair.within is not None
            assert pair.within.bounds is not None
            assert pair.within.difference is not None
            ends = np.array([low[number, place], high[number, place]])
            ends = np.array([ends.mean(), *ends])
            told = [pair.within.difference, *pair.within.bounds]
            assert told == pytest.approx(np.expm1(ends) if is_share else ends)


def test_over_tasks_the_margin_is_kept() -> None:
    """Wrong in at most 5 %; 2000 data sets have a standard error of half a point."""
    rng = np.random.default_rng(3)
    for setting in (
        MarginTasks(2, 5, 8, 3.0, is_share=True, spread=1.0),
        MarginTasks(5, 20, 4, 10.0, is_share=True, spread=1.0),
        MarginTasks(2, 20, 4, 10.0, is_share=True, noise=0.3, rougher=1 / 3),
        MarginTasks(5, 3, 8, 3.0, is_share=False, spread=1.0),
    ):
        *wrong, all_hold = rates_over_tasks(setting, 2000, rng)
        assert max(wrong) <= 5 + 3 * 0.49, setting
        assert all_hold >= 95 - 3 * 0.49, setting


def test_methods_well_inside_the_margin_are_found_equivalent_over_tasks() -> None:
    setting = MarginTasks(2, 10, 8, 8.0, is_share=True)
    losses = draw_losses(setting, 500, np.random.default_rng(4))
    losses[..., 1] *= np.exp(-setting.size)
    low, high = bounds_of(setting, losses)
    assert np.mean((low > -setting.size) & (high < setting.size)) > 0.9


@pytest.mark.slow
def test_over_tasks_the_margin_is_kept_everywhere() -> None:
    rng = np.random.default_rng(5)
    rates = {one: max(rates_over_tasks(one, 1500, rng)[:2]) for one in margin_settings()}
    assert max(rates.values()) <= 5 + 3 * 100 * np.sqrt(0.05 * 0.95 / 1500)
