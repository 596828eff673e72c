"""Figures 1 to 4: drawn, and showing what Hamey says they show."""

from pathlib import Path

import numpy as np
import pytest

from redelve.report.drawing import save
from redelve.report.trial_times import Measured, measure
from redelve.stats.training_time import efficiency_curve
from redelve.studies.hamey import (
    PUBLISHED,
    HameyFigures,
    TrialPlan,
    exclusive_or,
    figure_pictures,
    run_figures,
    run_trials,
)
from redelve.studies.hamey.hamey_page import page_of, write_study


def table_trials(count: int) -> Measured:
    plan = TrialPlan(exclusive_or(), PUBLISHED["xor"].setting, count, 2000)
    return measure("exclusive-or", run_trials(plan).times)


@pytest.fixture(scope="module")
def small() -> HameyFigures:
    return run_figures(table_trials(600), trials=60, limit=3000)


def test_both_algorithms_are_in_figures_1_and_2(small: HameyFigures) -> None:
    for several in (small.first, small.second):
        assert [one.name for one in several] == ["back-propagation", "descending epsilon"]
        assert {one.trials.trials for one in several} == {60}


def test_all_four_are_drawn_alike_every_time(small: HameyFigures) -> None:
    pictures = figure_pictures(small)
    assert [picture.name for picture in pictures] == ["figure-1", "figure-2", "figure-3", "figure-4"]
    drawn = [save(picture, "svg") for picture in pictures]
    assert drawn == [save(picture, "svg") for picture in pictures]
    third, fourth = (one.decode() for one in drawn[2:])
    assert all(f">{name}<" in third for name in ("T_E1", "T_E", "T_E2", "e", "e/2"))
    assert all(f">{name}<" in fourth for name in ("T_0", "T", "γ", "λ", "λ_T"))


def test_no_fourth_figure_without_a_model(small: HameyFigures) -> None:
    few = measure(
        "exclusive-or", run_trials(TrialPlan(exclusive_or(), PUBLISHED["xor"].setting, 40, 200)).times
    )
    assert len(figure_pictures(HameyFigures(small.first, small.second, few))) == 3


def test_the_page_needs_nothing_else(small: HameyFigures, tmp_path: Path) -> None:
    pictures = figure_pictures(small)[:1]
    page = page_of("a < b", pictures=pictures)
    html = page.render()
    assert "a &lt; b" in html
    assert "http" not in html.replace("http://www.w3.org", "").replace("http-equiv", "")
    names = {file.name for file in write_study(tmp_path / "new", page, []).iterdir()}
    assert names == {"study.txt", "study.html", "figure-1.svg", "figure-1.pdf", "figure-1.png"}
    assert (tmp_path / "new" / "figure-1.png").read_bytes().startswith(b"\x89PNG")


def succeeded_by(one: Measured, epochs: int) -> float:
    return float(one.trials.counts[one.trials.times < epochs].sum() / one.trials.trials)


@pytest.mark.slow
def test_figures_1_and_2_show_what_the_paper_says() -> None:
    figures = run_figures(table_trials(600))
    plain, epsilon = figures.first
    # section 3: descending epsilon solves more with T = 10000, back-propagation more with T = 3000
    assert succeeded_by(epsilon, 10_000) > succeeded_by(plain, 10_000) + 0.05
    assert succeeded_by(plain, 3000) > succeeded_by(epsilon, 3000) + 0.05
    # section 4: a strong peak that falls quickly, and an extremely broad one with only a slight drop
    drops = [1 - efficiency_curve(one.trials).at(np.array([10_000.0]))[0] / one.efficiency.efficiency
             for one in figures.second]  # fmt: skip
    assert drops[0] > 0.7
    assert drops[1] < 0.25
    assert figures.second[1].efficiency.range_is_open
    assert figures.second[1].summary.success_rate > 0.98
