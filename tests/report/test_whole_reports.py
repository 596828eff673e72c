"""Whole reports on equal methods: simulated ones read as those of `assess`, and seldom claim anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import calibration
from benchmarks.calibration.exchangeable import PROBLEMS, Drawn, Problem
from benchmarks.calibration.learning_races import race_on, says_anything
from benchmarks.calibration.sections import Finding, Section
from benchmarks.calibration.simulated_reports import TARGET, frame_of, simulated_results
from benchmarks.calibration.whole_reports import (
    Cell,
    all_words,
    is_claiming,
    measure,
    report_on,
    true_fall,
)

import redelve
from redelve.assessment import Assessment
from redelve.findings import Findings, find
from redelve.findings.by_method import losses_on
from redelve.methods.adapters.callables import callable_method
from redelve.report.sections.overview import summarise
from redelve.stats.anova import compare_common
from redelve.stats.multiple import best_group, compare_all

EQUAL = "regression, nearest neighbour"


def learner(problem: Problem, column: int) -> Callable[..., np.ndarray]:
    """The method that sees a column, as a user would write it."""

    def method(inputs: np.ndarray, targets: np.ndarray, asked: np.ndarray) -> np.ndarray:
        found = problem.learn(inputs[:, column], targets.astype(np.float64), asked[:, column])
        if problem.code == "L":
            return np.column_stack([1 - found, found])
        return found.astype(int) if problem.has_classes else found

    return method


def assessed(problem: Problem, several: list[Drawn], **options: Any) -> Assessment:
    """What `assess` finds on the same data."""
    learners = {f"m{column}": learner(problem, column) for column in range(several[0].inputs.shape[1])}
    methods = {name: callable_method(one, inputs="encoded", name=name) for name, one in learners.items()}
    tasks = [
        redelve.task(frame_of(problem, drawn), TARGET, name=f"data{number}", groups=drawn.groups)
        for number, drawn in enumerate(several)
    ]
    return replace(redelve.assess(methods, tasks, losses=[problem.code], **options), loss=problem.code)


@pytest.mark.parametrize(
    ("name", "cases", "tasks"),
    [
        *((name, 60, 1) for name in PROBLEMS),
        ("0–1 loss", 500, 1),
        ("groups of ten", 1000, 1),
        (EQUAL, 1800, 1),
        (EQUAL, 420, 2),
    ],
)
def test_simulated_reports_read_as_those_of_assess(
    name: str, cases: int, tasks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "redelve.run.experiment.has_known_code", lambda _: True
    )  # no note of where they worked
    problem, rng = PROBLEMS[name], np.random.default_rng(7)
    several = [problem.draw(cases, 3, rng) for _ in range(tasks)]
    simulated = find(simulated_results(problem, several), problem.code)
    assert summarise(simulated) == str(assessed(problem, several))


@pytest.mark.parametrize(("name", "cases"), [(EQUAL, 500), ("log loss", 500), ("groups of ten", 3000)])
def test_simulated_races_read_as_those_of_assess(
    name: str, cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redelve.run.experiment.has_known_code", lambda _: True)
    problem = PROBLEMS[name]
    drawn = problem.draw(cases, 3, np.random.default_rng(8))
    drawn = replace(
        drawn, targets=drawn.targets if problem.has_classes else drawn.targets + drawn.inputs[:, 0]
    )
    simulated = find(race_on(problem, drawn), problem.code)
    assert simulated.tasks[0].race is not None
    raced = assessed(problem, [drawn], until_settled=True, judge_by=problem.code)
    assert summarise(simulated) == str(raced)


def test_a_race_that_drops_the_best_is_counted() -> None:
    problem = PROBLEMS[EQUAL]
    drawn = problem.draw(1000, 2, np.random.default_rng(8))
    assert not says_anything(find(race_on(problem, drawn), problem.code))
    favoured = replace(drawn, targets=3 * drawn.inputs[:, 0])
    assert says_anything(find(race_on(problem, favoured), problem.code))


def of_seed(seed: int) -> Findings:
    """Ten equal methods on a thousand cases."""
    problem = PROBLEMS[EQUAL]
    return find(simulated_results(problem, [problem.draw(1000, 10, np.random.default_rng(seed))]))


def test_ten_equal_methods_of_which_one_was_called_worse() -> None:
    """The audit's example: no adjusted p below 0.05, and yet "m0 was shown to be worse".

    Each method could be thrown out of the group of the best at its own level: of ten, 18 % of tasks.
    """
    findings = of_seed(1)
    largest = findings.tasks[-1]
    losses = losses_on(findings.results, largest.task.address, "S")
    tables = {name: [table[0] for table in one.of(sorted(one.by_instance))] for name, one in losses.items()}
    pairs = compare_all(tables, compare_common)
    assert min(pair.adjusted_p_value or 1.0 for pair in pairs.pairs) > 0.05
    assert "m0" not in best_group(pairs).members
    text = all_words(findings)
    assert not is_claiming(text, findings)
    assert "shown to be worse" not in " ".join(text.split())
    assert sorted(largest.best_group) == [f"m{number}" for number in range(10)]


def test_a_claim_is_found_in_a_text_by_words_and_by_a_star_that_is_missing() -> None:
    problem = PROBLEMS["one method better"]
    drawn = problem.draw(8192, 2, np.random.default_rng(1))
    findings = find(simulated_results(problem, [drawn]))
    text = all_words(findings)
    assert is_claiming(text, findings)
    silent = text
    for claim in ("loses less than", "is the best of", "95 % sure"):
        assert claim in text
        silent = silent.replace(claim, "…")
    assert is_claiming(silent, findings)
    open_question = of_seed(0)
    assert not is_claiming(all_words(open_question), open_question)


@pytest.mark.parametrize(
    ("cell", "most"),
    [(Cell(EQUAL, 60, 2, reports=400), 8.3), (Cell("0–1 loss", 60, 10, reports=300), 8.8)],
)
def test_reports_on_equal_methods_seldom_claim_anything(cell: Cell, most: float) -> None:
    """At most 5 % and three Monte-Carlo standard errors."""
    found = measure(cell)
    assert found.claims <= most
    assert found.differences <= most


def test_an_interval_beside_a_winner_is_judged_by_the_true_difference() -> None:
    cell = Cell("one method better", 1000, 5, reports=40)
    found = measure(cell)
    assert found.quotes > 10
    assert found.wrong_quotes <= found.differences <= 15
    assert found.claims == 0  # a claim of a true difference is not false
    outcome = report_on(PROBLEMS[cell.problem], cell, np.random.default_rng(2))
    assert outcome.differences.shape[1:] == (10, 2)
    assert outcome.falls.shape == (5, 2)


def test_claims_and_intervals_over_tasks_count_as_well() -> None:
    outcome = report_on(PROBLEMS[EQUAL], Cell(EQUAL, 60, 3, tasks=3), np.random.default_rng(2))
    assert outcome.over_tasks.shape == (3, 2)
    assert (outcome.over_tasks[:, 0] < outcome.over_tasks[:, 1]).all()
    found = measure(Cell(EQUAL, 60, 3, tasks=3, reports=40))
    assert max(found.claims, found.differences) <= 15


def test_what_twice_the_data_does_to_a_line_is_known_from_theory() -> None:
    """Expected loss σ²(1 + 1/n)(1 + 1/(n − 3)): the share lost from n to 2n cases, n = 32."""
    before, after = ((1 + 1 / n) * (1 + 1 / (n - 3)) for n in (32, 64))
    fall = true_fall("regression, a line", 32, 2)
    assert fall == pytest.approx([1 - after / before] * 2, abs=0.004)


def test_sections_are_kept_for_pages_that_are_made_later(tmp_path: Path) -> None:
    found = (Finding("t-test", "four sets", 5.1, 400),)
    one, two = (Section("Levels", "Words.", f"| {number} |", found) for number in (1, 2))
    for section in (one, two):
        calibration.keep_section("hierarchical-levels", section, tmp_path)
    assert calibration.kept_section("hierarchical-levels", tmp_path) == two
    assert calibration.kept_section("powers", tmp_path) is None
    text = calibration.page(tmp_path)
    assert text.count("\n## ") == 3  # with the opening and the overview
    assert text.endswith("\n## Levels\n\nWords.\n\n| 2 |\n")
