"""Show how a run goes: a bar on a terminal, a line now and then elsewhere. Records pass through untouched."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from redelve.run.results import Job, Record

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

SECONDS_BETWEEN_LINES = 30.0
SECONDS_BETWEEN_CELLS = 0.5
MOST_FAILURES_TOLD = 10
MOST_NAMED = 3
LONGEST_REASON = 100


class RecordStream(Iterator[Record], Protocol):
    """RecordStream as they are made; whoever closes them stops the work."""

    def close(self) -> None:
        """Stop what is under way."""


def shown(
    records: Iterator[Record], total: int, console: Console | None = None
) -> Generator[Record, None, None]:
    """The same records, their progress shown on standard error or on the console given.

    Closing this closes `records` too, so that nothing goes on unseen.
    """
    tally = Tally(total, elsewhere=lambda: getattr(records, "elsewhere", 0))
    screen = console or _standard_error()
    draw = _bar(tally, records, screen) if screen.is_terminal else _lines(tally, screen)
    if console is None and in_notebook():
        draw = _cell(tally, records)
    try:
        with draw:
            for record in records:
                tally.add(record)
                _tell_failure(tally, record, screen)
                yield record
    finally:
        if isinstance(records, Generator) or hasattr(records, "close"):
            records.close()
        screen.print(tally.summary(), highlight=False, markup=False, soft_wrap=True)


def tell_aside(line: str) -> None:
    """A line on standard error, beside the progress."""
    _standard_error().print(line, highlight=False, markup=False, soft_wrap=True)


FitsDone = Callable[[str, int, int], None]
"""Is told a model's name, and how many of how many fits of a set of splits are done."""


@contextmanager
def fits_shown(progress: FitsDone | bool | None) -> Iterator[FitsDone | None]:
    """Whom to tell of fits: the function given, what shows them (usual in notebooks), or nobody."""
    if callable(progress):
        yield progress
    elif not (in_notebook() if progress is None else progress):
        yield None
    elif in_notebook():
        with _fits_in_cell() as tell:
            yield tell
    else:
        yield _now_and_then(SECONDS_BETWEEN_LINES, lambda line, done, total: tell_aside(line))


@contextmanager
def _fits_in_cell() -> Iterator[FitsDone]:
    """A bar below a notebook's cell."""
    from IPython.display import HTML, display

    def drawn(line: str, done: int, total: int) -> Any:
        return HTML(f'<progress value="{done}" max="{total}" aria-label="fits"></progress> {escape(line)}')

    handle = display(drawn("", 0, 1), display_id=True)
    try:
        yield _now_and_then(SECONDS_BETWEEN_CELLS, lambda *state: handle.update(drawn(*state)))
    finally:
        handle.update(HTML(""))


def _now_and_then(seconds: float, tell: Callable[[str, int, int], object]) -> FitsDone:
    """Fits told of in words, the first at once and others when so many seconds have passed."""
    last = -seconds

    def done(name: str, number: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            tell(f"{name}: {number} of {total} fits", number, total)

    return done


def told_by_groups(
    records: RecordStream, jobs: Sequence[Job], groups: Mapping[Job, str], tell: Callable[[str], None]
) -> Generator[Record, None, None]:
    """The same records; a group of jobs is told of when the last of those to do has been kept."""
    total, wanted, began = len(set(groups.values())), Counter(groups[job] for job in jobs), time.monotonic()
    left = Counter(wanted)
    with closing(records):
        for record in records:
            yield record
            group = groups[record.job]
            left[group] -= 1
            if not left[group]:
                seconds = time.monotonic() - began
                complete = total - sum(count > 0 for count in left.values())
                tell(f"{complete} of {total}: {group}, runs made: {wanted[group]} ({seconds:.0f} s)")


@dataclass(eq=False)
class Tally:
    """How many records there are, of how many, and how fast they come."""

    total: int
    started: float = field(default_factory=time.monotonic)
    count: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    elsewhere: Callable[[], int] = field(default=lambda: 0, repr=False)
    """How many jobs other processes do or have done meanwhile."""

    def add(self, record: Record) -> None:
        """One more."""
        self.count += 1
        if record.status != "done":
            self.failures[record.status] += 1

    @property
    def failed(self) -> int:
        """How many jobs came to no answer of their own."""
        return self.failures.total()

    def state(self) -> str:
        """How far it is, how fast it goes, how long it will take."""
        return f"{self._so_far()}{self._speed()}"

    def summary(self) -> str:
        """What came of it all."""
        return f"{self._so_far()}, in {duration(time.monotonic() - self.started)}"

    def _so_far(self) -> str:
        kinds = ", ".join(f"{count} {status}" for status, count in sorted(self.failures.items()))
        failed = "" if not self.failures else f", {self.failed} without an answer ({kinds})"
        shared = f", {others} by other processes" if (others := self.elsewhere()) else ""
        return f"{self.count} of {self.total} jobs{shared}{failed}"

    def _speed(self) -> str:
        seconds = time.monotonic() - self.started
        if not self.count or seconds <= 0:
            return ""
        left = seconds / self.count * max(self.total - self.count - self.elsewhere(), 0)
        return f", {self.count / seconds:.3g} a second, {duration(left)} left"


def duration(seconds: float) -> str:
    """A span of time in the two units that matter.

    >>> duration(4.2), duration(75), duration(3 * 3600 + 125), duration(90_000)
    ('4 s', '1 min 15 s', '3 h 2 min', '1 d 1 h')
    """
    whole = round(seconds)
    for size, unit, part, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // part} {smaller}"
    return f"{whole} s"


def under_way(records: object) -> str:
    """What is being worked on, as far as the records' source tells."""
    jobs = [getattr(one, "job", one) for one in getattr(records, "under_way", ())]
    if not jobs:
        return ""
    named = "; ".join(map(str, jobs[:MOST_NAMED]))
    more = f"; and {len(jobs) - MOST_NAMED} more" if len(jobs) > MOST_NAMED else ""
    return f"now: {named}{more}"


def _standard_error() -> Console:
    from rich.console import Console

    return Console(file=sys.stderr)


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel; nothing is imported for it."""
    import builtins

    if "ipykernel" not in sys.modules:
        return False
    shell = getattr(builtins, "get_ipython", None)
    return shell is not None and "IPKernelApp" in getattr(shell(), "config", {})


def _tell_failure(tally: Tally, record: Record, screen: Console) -> None:
    if record.status == "done" or tally.failed > MOST_FAILURES_TOLD:
        return
    reason = record.message.partition("\n")[0][:LONGEST_REASON]
    more = " (more failures are only counted)" if tally.failed == MOST_FAILURES_TOLD else ""
    screen.print(
        f"{record.job}: {record.status}: {reason}{more}", highlight=False, markup=False, soft_wrap=True
    )


@contextmanager
def _bar(tally: Tally, records: object, screen: Console) -> Iterator[None]:
    """A bar that moves, and below it what is being worked on."""
    from rich.live import Live

    with Live(_Picture(tally, records), console=screen, refresh_per_second=4, transient=True):
        yield


@dataclass(frozen=True)
class _Picture:
    """Drawn anew several times a second."""

    tally: Tally
    records: object

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        bar = ProgressBar(total=self.tally.total, completed=self.tally.count, width=60)
        texts = (self.tally.state(), under_way(self.records))
        return Group(bar, *(Text(text, overflow="ellipsis", no_wrap=True) for text in texts if text))


@contextmanager
def _cell(tally: Tally, records: object) -> Iterator[None]:
    """A bar below a notebook's cell, drawn anew twice a second."""
    from IPython.display import HTML, display

    handle = display(HTML(_cell_html(tally, records)), display_id=True)
    try:
        with _ticking(SECONDS_BETWEEN_CELLS, lambda: handle.update(HTML(_cell_html(tally, records)))):
            yield
    finally:
        handle.update(HTML(""))


def _cell_html(tally: Tally, records: object) -> str:
    text = "; ".join(part for part in (tally.state(), under_way(records)) if part)
    most = max(tally.total, 1)
    return f'<progress value="{tally.count}" max="{most}" aria-label="jobs"></progress> {escape(text)}'


@contextmanager
def _lines(tally: Tally, screen: Console) -> Iterator[None]:
    """A line every half minute."""
    with _ticking(SECONDS_BETWEEN_LINES, lambda: _print_state(tally, screen)):
        yield


def _print_state(tally: Tally, screen: Console) -> None:
    screen.print(tally.state(), highlight=False, markup=False, soft_wrap=True)


@contextmanager
def _ticking(seconds: float, tell: Callable[[], object]) -> Iterator[None]:
    """Tell again and again, from a thread, so that long jobs do not silence it."""
    import threading

    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(seconds):
            tell()

    thread = threading.Thread(target=tick, name="redelve progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
