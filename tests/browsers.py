"""A headless Chromium for tests that look at pages as people do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
)


@pytest.fixture(scope="module")
def chromium() -> str:
    """The path of the system's Chromium."""
    for name in (os.environ.get("REDELVE_CHROMIUM", ""), *NAMES):
        if name and (path := shutil.which(name)):
            return path
    pytest.skip("there is no Chromium: run tests/install_browser.sh or name one in REDELVE_CHROMIUM")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A headless browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, headless=True, args=list(FLAGS))
        yield started
        started.close()
