"""Somebody who walks through the pages with a browser, and whatever must not happen on the way."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response

DESKTOP = {"width": 1100, "height": 800}
PHONE = {"width": 375, "height": 700}
SECONDS = 60.0
PICTURES = "REDELVE_PICTURES"
"""The variable that names a folder for screenshots, such as docs/images."""
MOST_BYTES = 150_000
MOST_HEIGHT = 1500
DROP = """([name, text]) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], name, { type: "application/zip" }));
    for (const kind of ["dragenter", "dragover", "drop"]) {
        document.querySelector("#drop").dispatchEvent(
            new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
}"""
TOO_WIDE = """() => [...document.querySelectorAll("body *")]
    .filter((each) => !each.closest(".wide, .hidden, .skip, svg"))
    .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((each) => each.outerHTML.slice(0, 80))"""


@dataclass
class Walker:
    """A visitor with cookies of its own. `faults` are errors in the console and requests to other hosts."""

    url: str
    page: Page
    faults: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note what must not happen."""
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.faults.append(f"error of a script: {error}"))
        self.page.on("request", self._on_request)
        self.page.on("response", self._on_response)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text} ({message.location.get('url')})")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self.url + "/", "data:", "blob:")):
            self.faults.append(f"request to another host: {request.url}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 500:
            self.faults.append(f"{response.url} answered {response.status}")

    @contextmanager
    def refused(self, status: int) -> Iterator[None]:
        """The server refuses something here; the browser tells so in the console, and nothing else."""
        before = len(self.faults)
        yield
        told = self.faults[before:]
        assert told, f"nothing was refused with {status}"
        assert all(f"status of {status}" in fault for fault in told), told
        del self.faults[before:]

    def go(self, path: str) -> None:
        """Load a page."""
        answer = self.page.goto(self.url + path)
        assert answer is not None
        assert answer.status == 200, f"{path}: {answer.status}"

    def is_at(self, path: str) -> bool:
        """Whether the browser shows the page of that path."""
        return self.page.url == self.url + path

    def text(self, selector: str = "main") -> str:
        """What can be read."""
        return self.page.locator(selector).first.inner_text()

    def texts(self, selector: str) -> list[str]:
        """What can be read in each of several places."""
        return self.page.locator(selector).all_inner_texts()

    def fill(self, button: str, form: str = "main form", **fields: str) -> None:
        """Fill a form in and send it."""
        place = self.page.locator(form).first
        for name, value in fields.items():
            place.locator(f"[name={name}]:not([type=hidden])").fill(value)
        place.get_by_role("button", name=button).click()
        self.page.wait_for_load_state("load")

    def choose(self, path: Path) -> None:
        """Choose a file with the browser's own window for it."""
        with self.page.expect_file_chooser() as opened:
            self.page.locator("#file").click()
        opened.value.set_files(path)

    def drop(self, path: Path) -> None:
        """Drop a file onto the field."""
        self.page.evaluate(DROP, [path.name, base64.b64encode(path.read_bytes()).decode()])

    def wait_for_state(self, state: str) -> None:
        """Wait on an entry's page, which looks for news by itself."""
        self.page.locator(f"#state.{state}").wait_for(timeout=SECONDS * 1000)

    def check_layout(self) -> None:
        """Nothing but tables that scroll by themselves reaches beyond the window, on a desktop or a phone."""
        for size in (PHONE, DESKTOP):
            self.page.set_viewport_size(size)  # type: ignore[arg-type]
            width = self.page.evaluate("document.documentElement.scrollWidth")
            assert width <= size["width"], (self.page.url, size, width, self.page.evaluate(TOO_WIDE))
            assert self.page.evaluate(TOO_WIDE) == [], (self.page.url, size)

    def _height(self) -> int:
        """How much of the page a picture shows."""
        return min(MOST_HEIGHT, int(self.page.evaluate("document.body.offsetHeight")))

    def look(self, name: str = "", *, phone: bool = False) -> None:
        """Check the layout, and keep a picture of the page where pictures are wanted."""
        self.check_layout()
        folder = os.environ.get(PICTURES)
        if name and folder:
            if phone:
                self.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
            path = Path(folder) / f"challenge-{name}.png"
            size = PHONE if phone else {"width": DESKTOP["width"], "height": self._height()}
            clip = {"x": 0, "y": 0, **size}
            self.page.screenshot(path=path, full_page=True, clip=clip, animations="disabled")  # type: ignore[arg-type]
            self.page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
            shrink(path)


def shrink(path: Path) -> None:
    """Keep 64 colours, which is plenty for text and lines."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size < MOST_BYTES, path


@contextmanager
def walking(browser: Browser, url: str) -> Iterator[Walker]:
    """A walker whose walk went without faults."""
    context = browser.new_context(viewport=DESKTOP, accept_downloads=True)  # type: ignore[arg-type]
    context.set_default_timeout(SECONDS * 1000)
    walker = Walker(url, context.new_page())
    walker.watch()
    try:
        yield walker
    finally:
        context.close()
    assert walker.faults == []
