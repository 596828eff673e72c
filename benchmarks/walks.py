"""How far a datum walks through the house: `python -m benchmarks.walks` traces four walks.

`sys.setprofile` watches one run with all imports warm. A walk is the package's functions in the order of
their first call, those of a thread where it was started; module bodies, comprehensions and lambdas are left
out. A room is the first part of a path below `redelve`; a crossing is a change of room from one function of
the walk to the next. What happens in other processes is not seen. With `--write` the table in
docs/architecture.md is made anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import redelve

SOURCE = str(Path(str(redelve.__file__)).parent) + os.sep
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
BEFORE = {
    "a test case's loss, from CSV to report": (814, 99, 27, 177),
    "`mgendata`": (234, 42, 14, 72),
    "PROBEN1 table 3, one cell": (264, 40, 9, 45),
    "a submission, from upload to board": (120, 36, 4, 11),
}
"""Functions, files, rooms and crossings in the first house (the last row partly by reading)."""
BEGIN, END = "<!-- walks: made by python -m benchmarks.walks --write -->", "<!-- end of walks -->"


@dataclass(frozen=True)
class Walk:
    """The functions of a walk: file and name, in the order of their first call."""

    steps: tuple[tuple[str, str], ...]

    @property
    def rooms(self) -> list[str]:
        return [Path(file).parts[0].removesuffix(".py") for file, _ in self.steps]

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Functions, files, rooms, crossings."""
        rooms = self.rooms
        crossings = sum(one != other for one, other in pairwise(rooms))
        return len(self.steps), len({file for file, _ in self.steps}), len(set(rooms)), crossings


Steps = dict[tuple[str, str], None]
"""Files and functions."""


@dataclass
class ThreadWalk:
    """What one thread called first, and the threads that it started, each behind so many steps of its own."""

    steps: Steps = field(default_factory=dict)
    started: list[tuple[int, threading.Thread]] = field(default_factory=list)


def trace(action: Callable[[], object]) -> Walk:
    """The walk of one call; a thread walks where it was started, since who is first in turns is chance."""
    threads: dict[threading.Thread, ThreadWalk] = defaultdict(ThreadWalk)
    begin = threading.Thread.start

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and not code.co_name.startswith("<"):
            step = code.co_filename.removeprefix(SOURCE), code.co_qualname
            threads[threading.current_thread()].steps.setdefault(step, None)

    def start(thread: threading.Thread) -> None:
        here = threads[threading.current_thread()]
        here.started.append((len(here.steps), thread))
        begin(thread)

    def walked(thread: threading.Thread) -> Iterator[tuple[str, str]]:
        own, place = list(threads[thread].steps), 0
        for count, other in threads[thread].started:
            yield from own[place:count]
            yield from walked(other)
            place = count
        yield from own[place:]

    threading.setprofile(watch)
    threading.Thread.start = start  # type: ignore[assignment, method-assign]
    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.Thread.start = begin  # type: ignore[method-assign]
        threading.setprofile(None)
    return Walk(tuple(dict.fromkeys(walked(threading.current_thread()))))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed; a command that fails says why nevertheless."""
    why = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(why):
            yield
    except SystemExit as stopped:
        raise SystemExit(f"{stopped}:\n{why.getvalue()}") from None


def command(*words: str) -> None:
    from redelve.cli.main import main

    code = main(list(words))
    if code:
        raise SystemExit(f"redelve {' '.join(words)} ended with {code}")


def from_csv_to_report(folder: Path) -> Callable[[], object]:
    """Two methods, one size, serial, `redelve assess people.csv` to the page."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        command("csv", "demo")
    table = folder / "people.csv"
    table.write_text(text.getvalue())
    tries = iter(range(2))

    def walk() -> None:
        out = folder / f"out-{next(tries)}"
        command("assess", str(table), "-t", "AGE", "-m", "constant,lin-1", "-s", "64", "-q", "-o", str(out))

    return walk


def mgendata(folder: Path) -> Callable[[], object]:
    """The data files of one task."""
    from redelve.cli import method_directories

    places = []
    for number in range(2):
        root = folder / str(number) / "delve"
        method = root / "methods" / "mine"
        method.mkdir(parents=True)
        (root / "data").mkdir()
        with contextlib.chdir(method):
            method_directories.mgendir(["-q", "demo/age/std.256"])
        places.append(method / "demo" / "age" / "std.256")
    left = iter(places)

    def walk() -> None:
        with contextlib.chdir(next(left)):
            if code := method_directories.mgendata(["-q"]):
                raise SystemExit(f"mgendata ended with {code}")

    return walk


def proben1_cell(folder: Path) -> Callable[[], object]:
    """Table 3, cancer1: two runs of a linear network; REDELVE_PROBEN1 tells where PROBEN1's files are."""
    tries = iter(range(2))

    def walk() -> None:
        out = str(folder / f"study-{next(tries)}")
        command("study", "proben1", "--table", "3", "-d", "cancer1", "-n", "2", "-j", "1", "-o", out)

    return walk


def submission(folder: Path) -> Callable[[], object]:
    """A worker checks and scores an entry, and the board is made of it."""
    from tests.challenge.server import bench

    tries = iter(range(2))
    stack = contextlib.ExitStack()
    served = stack.enter_context(bench.running(folder / "server"))
    served.join("Ada")

    def walk() -> None:
        number = next(tries)
        content = bench.zipped(served.challenge, seed=number)
        sent = served.send("Ada", content)
        if sent.status_code >= 300:
            raise SystemExit(sent.text)
        served.work()
        served.client.get("/api/v1/leaderboard")
        if number == 1:
            stack.close()

    return walk


WALKS: dict[str, Callable[[Path], Callable[[], object]]] = dict(
    zip(BEFORE, (from_csv_to_report, mgendata, proben1_cell, submission), strict=True)
)


def measure(name: str) -> Walk:
    """One walk, the second time it is gone."""
    with tempfile.TemporaryDirectory() as folder, quiet():
        walk = WALKS[name](Path(folder))
        walk()
        return trace(walk)


def table() -> str:
    """The walks before and after, in Markdown."""
    lines = [
        "| walk of one datum | functions | files | rooms | crossings between rooms |",
        "|---|---|---|---|---|",
    ]
    for name, before in BEFORE.items():
        after = measure(name).counts
        pairs = " | ".join(f"{old} → **{new}**" for old, new in zip(before, after, strict=True))
        lines.append(f"| {name} | {pairs} |")
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Print the table, the steps of one walk (by a part of its name), or write the table into the page."""
    if words and words[0] != "--write":
        (name,) = [one for one in WALKS if words[0] in one]
        walk = measure(name)
        sys.stdout.write("".join(f"{file}: {function}\n" for file, function in walk.steps))
        sys.stdout.write(f"functions, files, rooms, crossings: {walk.counts}\n")
        return 0
    found = table()
    sys.stdout.write(f"{found}\n")
    if words:
        page = PAGE.read_text()
        pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: f"{BEGIN}\n{found}\n{END}", page))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
