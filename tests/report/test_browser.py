"""The page and a notebook's view in a real browser: nothing sticks out, nothing is in anybody's way.

With REDELVE_PICTURES=docs/images in the environment the pictures of the documentation are made anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from redelve.answers.predictions import Target
from redelve.assessment import Assessment, compare_scores
from redelve.report.page import write_report
from redelve.report.sections import ReportContext
from redelve.run.results import Results
from tests.browsers import browser, chromium
from tests.report.made import made_results, task_facts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["browser", "chromium"]
WIDE, PHONE = (1400, 900), (390, 800)
MEANS = {"forest": 0.30, "ridge": 0.31, "nearest neighbours": 0.5, "boosting": 0.33, "constant": 1.0}
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
NOTEBOOK = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Notebook</title></head>
<body data-jp-theme-light="{light}" style="background: {back}; color: {ink}">
<main><h1>A notebook</h1>{views}</main></body>"""
SERIOUS = ("serious", "critical")
READ = ("one", "four", "many models")


def results(datasets: int) -> Results:
    left_out = ('column "sold on" is ignored: these are dates', 'column "id" is ignored: it counts the rows')
    tasks = [
        task_facts(
            f"/houses{number or ''}/price/std.{size}",
            size,
            instances=8,
            target=Target("price", "real"),
            left_out=left_out,
        )
        for number in range(datasets)
        for size in (32, 64, 128)
    ]
    return made_results(MEANS, tasks=tasks)


def many_models() -> Assessment:
    """29 models with long names on 200 cases."""
    rng = np.random.default_rng(5)
    names = [f"Meta-Llama-3.{number}-70B-Instruct" for number in range(29)]
    right = rng.random((200, 29)) < np.linspace(0.8, 0.3, 29)
    return compare_scores(pd.DataFrame(right, columns=names), higher_is_better=True)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report on one data set, one on four, and what a notebook shows, light and dark."""
    folder = tmp_path_factory.mktemp("pages")
    one, four = Assessment(results(1)), Assessment(results(4))
    about = ReportContext(command="redelve assess houses.csv --target price", version="0.1.0")
    made = {"one": write_report(one.findings, folder / "one.html", about=about)}
    made["four"] = write_report(four.findings, folder / "four.html", about=about)
    made["many models"] = write_report(many_models().findings, folder / "many.html", about=about)
    views = one._repr_html_() + one.compare("forest", "boosting")._repr_html_() + four._repr_html_()
    for light, back, ink in (("true", "#fff", "#111"), ("false", "#111", "#fff")):
        made[f"notebook {light}"] = folder / f"notebook-{light}.html"
        made[f"notebook {light}"].write_text(NOTEBOOK.format(light=light, back=back, ink=ink, views=views))
    return made


@pytest.fixture
def opened(browser: Browser, request: pytest.FixtureRequest, pages: dict[str, Path]) -> Iterator[Page]:
    """A page at a width; whatever its scripts complain of fails the test."""
    name, (width, height), scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page, faults = context.new_page(), list[str]()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("request", lambda sent: None if sent.url.startswith("file:") else faults.append(sent.url))
    page.goto(pages[name].as_uri())
    yield page
    context.close()
    assert faults == []


def unfold(page: Page) -> None:
    """Unfold everything, and what appears thereby."""
    for _ in range(2):
        page.evaluate(OPEN)
        page.wait_for_timeout(100)


def take(page: Page, name: str, height: int | None = None) -> None:
    """A picture for the documentation, where a folder for such is named."""
    if folder := os.environ.get("REDELVE_PICTURES"):
        if height is not None and page.viewport_size is not None:
            page.set_viewport_size({"width": page.viewport_size["width"], "height": height})
        page.screenshot(path=Path(folder) / f"{name}.png")


def looks(*names: str) -> list[tuple[str, tuple[int, int], str]]:
    return [(name, size, "light") for name in names for size in (WIDE, PHONE)]


@pytest.mark.parametrize(
    "opened", looks("one", "four", "many models", "notebook true"), indirect=True, ids=str
)
def test_nothing_is_wider_than_the_screen_folded_or_not(opened: Page) -> None:
    assert opened.evaluate(TOO_WIDE) == 0
    unfold(opened)
    assert opened.evaluate(TOO_WIDE) == 0


@pytest.mark.parametrize("opened", [("one", PHONE, "light")], indirect=True, ids=str)
def test_on_a_telephone_the_answer_and_its_figure_come_first_and_fit(opened: Page) -> None:
    take(opened, "report-390")
    answer = opened.locator("#summary .answer").bounding_box()
    figure = opened.locator("#summary svg.figure").first.bounding_box()
    assert answer is not None
    assert figure is not None
    assert answer["y"] + answer["height"] <= figure["y"] <= 800
    assert figure["x"] + figure["width"] <= 390
    size = opened.evaluate(
        "document.querySelector('#summary svg.figure text').getBoundingClientRect().height"
    )
    assert size >= 9  # pixels: it can be read


@pytest.mark.parametrize("opened", [("one", WIDE, "light")], indirect=True, ids=str)
def test_answer_picture_and_table_are_on_one_screen(opened: Page) -> None:
    take(opened, "report-1400")
    for place in ("#summary .answer", "#summary svg.figure", "#summary tbody"):
        box = opened.locator(place).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900
    assert opened.locator("#rules dl").is_hidden()


@pytest.mark.parametrize("opened", [("one", PHONE, "light")], indirect=True, ids=str)
def test_what_is_cut_off_has_a_shadow_at_its_edge(opened: Page) -> None:
    unfold(opened)
    place = ".scroll:has(#table-pairs-houses-price)"
    edge = "one => [one.scrollWidth - one.clientWidth, getComputedStyle(one).backgroundAttachment]"
    hidden, attached = opened.locator(place).first.evaluate(edge)
    assert hidden > 0
    assert attached == "local, local, scroll, scroll"


@pytest.mark.parametrize("opened", [("many models", WIDE, "light")], indirect=True, ids=str)
def test_the_board_of_many_models_shows_all_its_columns(opened: Page) -> None:
    """The places that are open stand in the last one."""
    hidden = "one => one.scrollWidth - one.clientWidth"
    assert opened.locator("#summary .scroll:has(table)").first.evaluate(hidden) == 0
    assert opened.locator("#summary tbody tr").count() >= 29


@pytest.mark.parametrize("opened", looks("one"), indirect=True, ids=str)
def test_a_name_too_long_for_its_column_begins_beside_its_marker(opened: Page) -> None:
    below = """cell => {
        cell.className = "left";
        cell.lastChild.textContent = "mlr.classif.randomForest.filtered.".repeat(3);
        const text = document.createRange();
        text.selectNodeContents(cell.lastChild);
        return text.getClientRects()[0].top - cell.querySelector(".swatch").getBoundingClientRect().bottom;
    }"""
    assert opened.locator("#summary td:has(> .swatch)").first.evaluate(below) < 0


@pytest.mark.parametrize("opened", [("four", WIDE, "light")], indirect=True, ids=str)
def test_details_of_several_data_sets_come_when_they_are_asked_for(opened: Page) -> None:
    take(opened, "report-many-1400")
    assert opened.locator("#houses1-price table").count() == 0
    opened.locator('#table-datasets a[href="#houses1-price"]').click()
    opened.locator("#table-losses-houses1-price").wait_for(state="visible")
    sorter = opened.locator("#table-losses-houses1-price th button").nth(2)
    sorter.click()
    assert opened.locator("#table-losses-houses1-price th").nth(2).get_attribute("aria-sort") == "ascending"
    assert opened.locator("#houses2-price table").count() == 0


@pytest.mark.parametrize("opened", [("four", WIDE, "light")], indirect=True, ids=str)
def test_a_link_into_what_is_folded_unfolds_it(opened: Page) -> None:
    opened.evaluate("location.hash = '#rule-V010'")
    opened.locator("#rule-V010").wait_for(state="visible")


@pytest.mark.parametrize(
    "opened",
    [
        ("one", WIDE, "light"),
        ("one", PHONE, "dark"),
        ("four", WIDE, "light"),
        ("notebook true", WIDE, "light"),
        ("notebook false", WIDE, "light"),
    ],
    indirect=True,
    ids=str,
)
def test_axe_finds_nothing_serious(opened: Page) -> None:
    base = pytest.importorskip("axe_playwright_python.base", reason="needs axe-playwright-python")
    if opened.locator("details.fold > template").count() == 0:  # else it is as of one data set, many times
        unfold(opened)
    opened.evaluate(base.AXE_SCRIPT)
    found = opened.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    told = [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in SERIOUS]
    assert told == []


@pytest.mark.parametrize("opened", [("notebook true", (1000, 900), "light")], indirect=True, ids=str)
def test_a_notebooks_view_has_the_answer_and_needs_no_script(opened: Page) -> None:
    take(opened, "notebook", 830)
    first = opened.locator(".redelve-view").first
    assert "forest" in first.locator(".rv-lead").inner_text()
    assert opened.locator("script").count() == 0
    first.locator("summary").first.click()
    assert first.locator("details[open] p").first.is_visible()


@pytest.mark.parametrize("opened", [("notebook false", (1000, 900), "light")], indirect=True, ids=str)
def test_a_dark_notebook_has_a_dark_view_whatever_the_system_wants(opened: Page) -> None:
    take(opened, "notebook-dark", 830)
    style = "getComputedStyle(document.querySelector('.redelve-view')).backgroundColor"
    red, green, blue = (int(part) for part in opened.evaluate(style).strip("rgb()").split(","))
    assert max(red, green, blue) < 60
