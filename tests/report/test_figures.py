"""Figures: Rasmussen's digits by hand, nothing squashed, the same bytes every time."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from math import ceil, inf

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import redelve
from redelve.findings import Findings, TaskFindings, find
from redelve.report.drawing import inline, look_of, save, save_all, spread_out
from redelve.report.first_screen import draw_rows, rows_figure
from redelve.report.loss_figures import (
    curves_table,
    digit,
    digits_of,
    digits_table,
    rasmussen_picture,
    scale_of,
)
from redelve.report.page import pictures_of
from redelve.report.sections import panels
from redelve.report.uncertainty_and_costs import variance_shares

from .made import made_findings, made_results, many_tasks, task_facts


@given(st.integers(0, 1000))
def test_digits_are_hundredths_rounded_up(thousandths: int) -> None:
    exact = max(ceil(thousandths / 10), 1)  # thousandths are exact where 100 × 0.07 is not
    assert digit(thousandths / 1000) == (str(exact) if exact <= 9 else "·")


def with_p_values(task: TaskFindings, wanted: dict[tuple[str, str], tuple[float, float]]) -> TaskFindings:
    """The task with differences and p-values put in by hand."""
    contests = []
    for contest in task.contests:
        difference, p = wanted[contest.first, contest.second]
        claim = replace(contest.claim, adjusted_p_value=p)
        contests.append(replace(contest, difference=difference, claim=claim))
    return replace(task, contests=tuple(contests))


def test_a_digit_stands_in_the_column_of_the_better_and_the_row_of_the_worse() -> None:
    task = with_p_values(
        made_findings().tasks[0],
        {
            ("lin", "knn"): (-0.1, 0.034),
            ("lin", "constant"): (-0.5, 0.0001),
            ("knn", "constant"): (0.2, 0.095),
        },
    )
    assert digits_of(task, ["lin", "knn", "constant"]) == [
        ["", "·", "·"],  # nobody beats lin; constant is better than knn, but not by enough
        ["4", "", "·"],  # lin beats knn
        ["1", "·", ""],  # lin beats constant
    ]


def test_with_many_methods_digits_become_squares_and_the_caption_says_so() -> None:
    for methods, texts in ((3, True), (26, False)):
        means = {f"m{number}": 0.3 + 0.2 * number for number in range(methods)}
        (panel,) = panels(find(made_results(means, tasks=[task_facts("/data/proto/std.16", 16)])))
        picture = rasmussen_picture(panel)
        drawn = ET.fromstring(save(picture, "svg"))
        digits = [text for one in drawn.iter() if (text := (one.text or "").strip()) in list("123456789")]
        assert bool(digits) is texts
        assert ("full square" in picture.caption) is not texts
        assert any("1" in [cell.text for cell in row[2:]] for row in digits_table(panel).rows)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e7])
def test_numbers_along_an_axis_do_not_touch(scale: float) -> None:
    figure, axes = rows_figure(["knn-cv-1", "lin-1"])
    values = {"knn-cv-1": (18.8 * scale, 1.2 * scale), "lin-1": (19.6 * scale, 1.1 * scale)}
    draw_rows(axes, values, {name: look_of(number) for number, name in enumerate(values)}, [])
    figure.draw_without_rendering()
    low, high = axes.get_xlim()
    shown = [tick for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert len(shown) >= 2
    boxes = [tick.label1.get_window_extent() for tick in shown]
    assert all(one.x1 + 3 < other.x0 for one, other in pairwise(boxes))


def test_scores_of_folds_have_no_number_of_training_cases_and_are_no_losses() -> None:
    rng = np.random.default_rng(4)
    folds = pd.DataFrame({"model": ["a"] * 3 + ["b"] * 3, "fold": [*range(3)] * 2, "accuracy": rng.random(6)})
    (panel,) = panels(redelve.compare_scores(folds, ratio=0.5).findings)
    picture = rasmussen_picture(panel)
    drawn = ET.fromstring(save(picture, "svg"))
    assert "2" not in {
        (one.text or "").strip() for one in drawn.iter()
    }  # what a ratio of ½ makes of one case
    assert {row[0].text for row in digits_table(panel).rows} == {"–"}
    assert picture.caption.startswith("Ticks: accuracy")
    assert "loss" not in picture.caption


def test_a_loss_far_above_the_others_is_off_the_scale() -> None:
    scale = scale_of([0.1, 0.11, 0.12, 0.13, 50.0], [0.01] * 5, from_zero=True)
    assert 0.13 < scale.high < 1
    assert scale_of([0.1, inf], [0.0, 0.0], from_zero=True).high < 1


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 10)), min_size=1))
def test_a_scale_goes_upwards(pairs: list[tuple[float, float]]) -> None:
    scale = scale_of([value for value, _ in pairs], [error for _, error in pairs], from_zero=True)
    assert scale.low < scale.high


@given(st.lists(st.floats(0, 1), max_size=10))
def test_labels_keep_their_distance_and_their_order(places: list[float]) -> None:
    moved = spread_out(places, 0.05, 0.0, 1.0)
    ordered = sorted(moved)
    assert all(b - a > 0.05 - 1e-6 for a, b in pairwise(ordered))
    for i, a in enumerate(places):
        assert all(moved[i] < moved[j] for j, b in enumerate(places) if a < b)


def test_shares_of_the_squared_standard_error_add_up() -> None:
    for runs in (1, 2):
        for task in made_findings(runs=runs).tasks:
            for finding in task.methods:
                assert sum(variance_shares(finding).values()) == pytest.approx(1)


@pytest.mark.parametrize("runs", [1, 2])
def test_shares_rebuild_the_standard_error(runs: int) -> None:
    common = [task_facts("/data/proto/std.16", 16, scheme="common")]
    for findings in (made_findings(runs=runs), made_findings(runs=runs, tasks=common)):
        finding = findings.tasks[0].methods[0]
        assert finding.standard_error is not None
        found = finding.deviations["training sets"]
        share = variance_shares(finding)["training sets"]
        assert found is not None
        assert share * finding.standard_error**2 == pytest.approx(found**2 / 4)


def findings_of_many_tasks() -> Findings:
    return find(made_results({"a": 0.3, "b": 0.4, "c": 0.9}, tasks=many_tasks()))


def test_every_figure_is_drawn_and_is_the_same_every_time() -> None:
    pictures = pictures_of(findings_of_many_tasks())
    assert {picture.name.partition("-")[0] for picture in pictures} == {
        "rasmussen",
        "curves",
        "variance",
        "front",
        "ranks",
    }
    assert len({picture.name for picture in pictures}) == len(pictures)
    for picture in [*pictures[:4], pictures[-1]]:
        assert save(picture, "svg") == save(picture, "svg")
        ET.fromstring(save(picture, "svg"))
    assert save(pictures[0], "pdf") == save(pictures[0], "pdf")
    assert save_all(pictures[:2]).startswith(b"%PDF")


@pytest.mark.parametrize("name", ["org/模型:v1", "मॉडल"])
def test_letters_that_the_font_lacks_are_drawn_without_a_warning(name: str) -> None:
    """Warnings are errors here."""
    scores = pd.DataFrame({"case": range(60), name: [1, 0, 1] * 20, "b": [0, 1, 1, 1] * 15})
    pictures = pictures_of(redelve.compare_scores(scores, higher_is_better=True).findings)
    assert any(name in save(picture, "svg").decode() for picture in pictures)
    assert all(save(picture, "png") for picture in pictures)


def test_figures_on_a_page_follow_its_colours_and_speak() -> None:
    picture = pictures_of(made_findings())[0]
    svg = inline(picture)
    root = ET.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert [child.tag for child in root][:2] == ["title", "desc"]
    assert "#1c2126" not in svg
    assert "http" not in svg
    names = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(names) == len(set(names))
    assert all(name.startswith("fig-answer-") for name in names)
    assert "lin" in [text.text for text in root.iter("text")]


def test_panels_go_from_small_to_large() -> None:
    (panel,) = panels(made_findings())
    assert [task.task.training_set_size for task in panel.tasks] == [16, 32, 64]
    losses = {one.method: one.mean for one in panel.largest.methods}
    assert list(panel.methods) == sorted(losses, key=lambda name: losses[name] or 0.0)
    assert panel.everybody == ("lin", "knn", "constant")


def test_the_table_of_curves_says_when_it_is_deceived() -> None:
    caption = curves_table(panels(made_findings())[0]).caption
    assert "Curves that turn or break off near the last of them deceive it" in caption
    assert "the interval misses more often" in caption
