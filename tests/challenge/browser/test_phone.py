"""On a phone the scores are on the screen: names and scores come first, what explains them after."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from redelve.challenge.server.serving import ServingPlace, in_background
from tests.challenge.server.bench import ENDS, PASSWORD, Bench, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONE: Any = {"width": 390, "height": 800}
CELLS = """(name) => {
    const table = document.querySelector("table");
    const heads = [...table.querySelectorAll("thead th")];
    const column = heads.findIndex((each) => each.textContent.trim() === name);
    return [...table.querySelectorAll("tbody tr")].map(
        (row) => [column, row.children[column].getBoundingClientRect().right]);
}"""


BROKEN = """() => [...document.querySelectorAll("tbody th")].flatMap((cell) => {
    const text = cell.firstChild, range = document.createRange();
    return [...text.data.matchAll(/\\p{L}+/gu)].filter((word) => {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return new Set([...range.getClientRects()].map((each) => each.top)).size > 1;
    }).map((word) => word[0]);
})"""
"""The words at the heads of rows that go on in the next line."""
LONG_NAMES = """() => document.querySelectorAll("tbody th").forEach((cell) => {
    cell.textContent = "x".repeat(80);
})"""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[tuple[str, Bench]]:
    """A server with three participants, two of whom have long names."""
    with running(tmp_path_factory.mktemp("phone")) as bench:
        for name, wrong in (("Ada Lovelace of London", 0.1), ("Overconfident Ridge", 0.3), ("Bob", 0.2)):
            bench.join(name)
            for number in range(3):
                bench.send(name, wrong=wrong, seed=number)
                bench.clock.advance(minutes=1)
        bench.work()
        with in_background(bench.app, ServingPlace(port=0)) as url:
            yield url, bench


def edges(page: Page, name: str) -> list[float]:
    found = page.evaluate(CELLS, name)
    assert found
    assert all(column >= 0 for column, _ in found), name
    return [edge for _, edge in found]


def seen(page: Page, url: str, path: str, column: str) -> None:
    page.goto(f"{url}{path}")
    assert max(edges(page, column)) <= PHONE["width"], (path, column)
    if folder := os.environ.get("REDELVE_PHONE_PICTURES"):
        page.screenshot(path=str(Path(folder) / f"{path.strip('/').replace('/', '-')}-{column}.png"))


def log_in(page: Page, url: str, name: str) -> None:
    page.goto(f"{url}/login")
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("form.stack button")


def test_words_are_broken_only_where_they_are_wider_than_a_phone(
    board: tuple[str, Bench], browser: Browser
) -> None:
    url, _ = board
    for width in (PHONE["width"], 320):
        page = browser.new_page(viewport=PHONE | {"width": width})
        for path in ("/", "/leaderboard", "/leaderboard/ada"):
            page.goto(f"{url}{path}")
            assert path != "/" or page.evaluate(BROKEN) == []
            page.evaluate(LONG_NAMES)
            assert page.evaluate("document.documentElement.scrollWidth") == width, path
        page.close()


def test_scores_are_on_the_screen_of_a_phone(board: tuple[str, Bench], browser: Browser) -> None:
    url, bench = board
    page = browser.new_page(viewport=PHONE)
    log_in(page, url, "Ada Lovelace of London")
    seen(page, url, "/leaderboard", "Mean BER")
    seen(page, url, "/leaderboard/ada", "BER")
    for column in ("ada", "nova"):
        seen(page, url, "/entries", column)
    seen(page, url, "/entries/1", "BER")
    bench.clock.set(ENDS)
    bench.work()
    log_in(page, url, "Ada Lovelace of London")
    seen(page, url, "/leaderboard", "Mean R")
    for column in ("R", "BER"):
        seen(page, url, "/leaderboard/ada", column)
    page.close()
