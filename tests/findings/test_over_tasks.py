"""Over tasks: random effects with each task's standard error, one share of the report's level."""

from __future__ import annotations

import numpy as np
import pytest

from redelve import seeds
from redelve.findings import AcrossTasks, Findings, find
from redelve.findings.claims import LEVEL
from redelve.findings.over_tasks import pairs_over_tasks
from redelve.findings.task import comparisons_on
from redelve.run.results import TaskFacts
from redelve.stats.meta import moderated_variances, random_effects

from .made_up import draws, results, task


def findings_of(
    means: dict[str, float], *, tasks: int = 6, sizes: tuple[int, ...] = (64,), scheme: str = "hierarchical"
) -> Findings:
    facts = [
        task(f"/d{n}/p/std.{size}", instances=8, scheme=scheme)  # type: ignore[arg-type]
        for n in range(tasks)
        for size in sizes
    ]
    return find(
        results(
            facts,
            {name: {one.address: draws(name, mean, one) for one in facts} for name, mean in means.items()},
        )
    )


def across(found: Findings) -> AcrossTasks:
    assert found.across is not None
    return found.across


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_a_clear_difference_is_claimed_with_an_interval_and_a_prediction(scheme: str) -> None:
    found = across(findings_of({"a": 1.0, "b": 2.0}, scheme=scheme))
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.tasks) == ("a", "b", 6)
    assert pair.winner == "a"
    assert pair.loser == "b"
    assert pair.difference == pytest.approx(-0.5, abs=0.05)  # standardised: 2 is what a constant loses
    assert pair.claim.bounds is not None
    assert pair.prediction is not None
    assert pair.claim.bounds[0] < -0.5 < pair.claim.bounds[1] < 0
    assert pair.prediction[0] < -0.5 < pair.prediction[1]
    assert found.worse == ("b",)


def test_it_is_the_random_effects_of_the_tasks_differences() -> None:
    made = findings_of({"a": 1.0, "b": 1.1, "c": 1.2})
    contests = [made.task(address).contest("a", "c") for address in across(made).tasks]
    effects = np.array([one.difference or 0.0 for one in contests]) / 2
    errors = np.array([one.standard_error or 0.0 for one in contests]) / 2
    expected = random_effects(effects, moderated_variances(errors**2, 7))
    pair = next(one for one in across(made).pairs if (one.first, one.second) == ("a", "c"))
    assert pair.difference == pytest.approx(float(expected.means))
    assert pair.standard_error == pytest.approx(float(expected.standard_errors))
    assert pair.claim.share == pytest.approx(LEVEL / 7)  # six prototasks and tasks together
    assert pair.claim.adjusted_p_value == pytest.approx(min(1.0, float(expected.p_values()) * 3 * 7))


def test_smaller_sizes_of_a_prototask_add_nothing() -> None:
    once, twice = (findings_of({"a": 1.0, "b": 1.2}, sizes=sizes) for sizes in ((128,), (64, 128)))
    assert across(once).pairs[0].difference == across(twice).pairs[0].difference
    assert across(once).tasks == across(twice).tasks


def test_tasks_together_have_a_share_of_the_level_from_three_prototasks_on() -> None:
    for tasks, parts in ((1, 1), (2, 2), (3, 4), (9, 10)):
        found = findings_of({"a": 1.0, "b": 1.2}, tasks=tasks)
        assert found.tasks[0].contests[0].claim.share == pytest.approx(LEVEL / parts)
    two = findings_of({"a": 1.0, "b": 1.2}, tasks=2)
    assert across(two).pairs == ()


def test_the_comparisons_counted_are_those_of_tasks_and_of_tasks_together() -> None:
    found = findings_of({"a": 1.0, "b": 1.2, "c": 1.1}, tasks=4, sizes=(64, 128))
    assert across(found).pairs[0].claim.family == 3 * 8 + 3
    assert found.tasks[0].contests[0].claim.family == 3 * 8 + 3


def test_methods_that_never_differ_have_no_test() -> None:
    facts = [task(f"/d{n}/p/std.64") for n in range(4)]
    made = {name: {one.address: draws("same", 1.0, one) for one in facts} for name in ("a", "b")}
    made["c"] = {one.address: draws("c", 2.0, one) for one in facts}
    pairs = {(one.first, one.second): one for one in across(find(results(facts, made))).pairs}
    assert pairs["a", "b"].claim.adjusted_p_value is None
    assert pairs["a", "b"].winner is None
    assert pairs["a", "c"].standard_error is not None


def test_planned_pairs_alone_are_compared_over_tasks() -> None:
    facts = [task(f"/d{n}/p/std.64") for n in range(4)]
    made = {name: {one.address: draws(name, 1.0, one) for one in facts} for name in "abc"}
    found = find(results(facts, made), planned=[("a", "b")])
    assert [(one.first, one.second) for one in across(found).pairs] == [("a", "b")]


def noisy(name: str, facts: TaskFacts, tasks_sd: float, number: int) -> list[np.ndarray]:
    """Losses of a method as good as the others, that is better on some tasks and worse on others."""
    rng = seeds.generator("noisy", name, facts.address, str(number))
    mean = 2.0 + tasks_sd * rng.normal()
    return [mean + 0.1 * rng.normal() + 0.3 * rng.normal(size=8) for _ in facts.instances]


def test_equal_methods_are_hardly_ever_told_apart_over_tasks() -> None:
    """At 5 % for these claims alone; 200 reports have a standard error of 1.5 points."""
    facts = [task(f"/d{n}/p/std.64", cases=8) for n in range(5)]
    claims = 0
    for number in range(200):
        made = results(
            facts, {name: {one.address: noisy(name, one, 0.1, number) for one in facts} for name in "abc"}
        )
        compared = [comparisons_on(made.on(one.address)) for one in facts]
        claims += any(pair.winner for pair in pairs_over_tasks(compared, LEVEL, 3))
    assert claims <= 200 * (0.05 + 3 * 0.015)
