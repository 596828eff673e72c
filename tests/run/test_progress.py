"""Progress is shown beside the records and changes nothing about them."""

from __future__ import annotations

import builtins
import io
import sys
import time
from collections.abc import Iterator
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
from rich.console import Console

from redelve.run import progress
from redelve.run.experiment import plan, run
from redelve.run.progress import Tally, in_notebook, shown, under_way
from redelve.run.results import Job, Record
from redelve.run.workers import Processes
from tests.run import toys
from tests.run.toys import Toy, toy_experiment


def record(status: str = "done", number: int = 0) -> Record:
    message = "" if status == "done" else "ValueError: oh\nmore"
    return Record(Job("/toy/y/std.20", "one", number), "d", 0, status, message=message)  # type: ignore[arg-type]


def console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, legacy_windows=False)


def text(screen: Console) -> str:
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_records_pass_through_untouched(terminal: bool) -> None:
    records = [record(), record("failed", 1), record("crashed", 2)]
    screen = console(terminal=terminal)
    assert list(shown(iter(records), 3, screen)) == records
    told = text(screen)
    assert "/one/toy/y/std.20, instance 1: failed: ValueError: oh" in told
    assert "more" not in told
    assert "3 of 3 jobs, 2 without an answer (1 crashed, 1 failed), in 0 s" in told


def test_elsewhere_than_on_a_terminal_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.05)

    def slowly() -> Iterator[Record]:
        for number in range(2):
            time.sleep(0.2)
            yield record(number=number)

    screen = console(terminal=False)
    list(shown(slowly(), 2, screen))
    lines = text(screen).splitlines()
    assert lines[0] == "0 of 2 jobs"
    assert any(line.startswith("1 of 2 jobs, ") and line.endswith(" left") for line in lines)
    assert lines[-1].startswith("2 of 2 jobs, in ")


def test_many_failures_are_only_counted() -> None:
    screen = console(terminal=False)
    list(shown((record("failed", number) for number in range(50)), 50, screen))
    lines = text(screen).splitlines()
    assert len(lines) == progress.MOST_FAILURES_TOLD + 1
    assert lines[-2].endswith("(more failures are only counted)")
    assert lines[-1].startswith("50 of 50 jobs, 50 without an answer (50 failed)")


def test_the_bar_shows_what_is_under_way() -> None:
    experiment = toy_experiment({"slow": Toy(toys.takes_a_moment)}, 4)
    screen = console(terminal=True)
    records = list(shown(run(experiment, plan(experiment), Processes(2)), 4, screen))
    assert [one.status for one in records] == ["done"] * 4
    assert "now: /slow/toy/y/std.20, instance" in text(screen)
    assert "━" in text(screen)


def test_closing_closes_the_run() -> None:
    experiment = toy_experiment({"one": Toy()}, 4)
    records = run(experiment, plan(experiment))
    passing = shown(records, 4, console(terminal=False))
    next(passing)
    passing.close()
    assert list(records) == []


def test_time_left_follows_from_the_speed() -> None:
    tally = Tally(10, started=time.monotonic() - 20)
    for number in range(4):
        tally.add(record(number=number))
    assert tally.state() == "4 of 10 jobs, 0.2 a second, 30 s left"


def test_only_a_few_jobs_are_named() -> None:
    class Source:
        under_way = tuple(Job("/t", "m", number) for number in range(5))

    assert under_way(Source()) == "now: /m/t, instance 0; /m/t, instance 1; /m/t, instance 2; and 2 more"
    assert under_way(iter(())) == ""


def test_a_group_of_jobs_is_told_of_when_its_last_record_has_been_kept() -> None:
    groups = {record(number=number).job: "first" if number < 2 else "second" for number in range(4)}
    records, told, kept = [record(number=number) for number in (2, 0, 3)], list[str](), list[Record]()
    jobs = [one.job for one in records]  # one of the first group is there already
    for one in progress.told_by_groups((each for each in records), jobs, groups, told.append):
        kept.append(one)
        assert len(told) == (len(kept) == 3)
    assert kept == records
    assert [line.partition(" (")[0] for line in told] == [
        "1 of 2: first, runs made: 1",
        "2 of 2: second, runs made: 2",
    ]


class Kernel:
    """What a notebook's kernel puts among the built-ins, and what it displays."""

    config: ClassVar[dict[str, object]] = {"IPKernelApp": {}}

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, content: str, *, display_id: bool) -> Kernel:
        assert display_id
        self.shown.append(content)
        return self

    def update(self, content: str) -> None:
        self.shown.append(content)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel()
    display = ModuleType("IPython.display")
    display.__dict__.update(HTML=str, display=made.display)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(builtins, "get_ipython", lambda: made, raising=False)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_CELLS", 0.02)
    return made


def test_a_notebook_is_known_without_importing_anything(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert in_notebook()
    monkeypatch.setattr(builtins, "get_ipython", object)  # IPython in a terminal
    assert not in_notebook()
    monkeypatch.delitem(sys.modules, "ipykernel")
    assert not in_notebook()


def test_in_a_notebook_a_bar_stands_below_the_cell_and_goes_when_all_is_done(kernel: Kernel) -> None:
    def slowly() -> Iterator[Record]:
        for number in range(2):
            time.sleep(0.1)
            yield record(number=number)

    assert len(list(shown(slowly(), 2))) == 2
    assert any('<progress value="1" max="2"' in content for content in kernel.shown)
    assert kernel.shown[-1] == ""


def test_an_assessment_shows_its_progress_in_notebooks_unless_told_otherwise(kernel: Kernel) -> None:
    import redelve

    options = {"sizes": [512], "losses": ["S"]}
    redelve.assess(["constant"], "demo/age", progress=False, **options)  # type: ignore[arg-type]
    assert kernel.shown == []
    redelve.assess(["constant"], "demo/age", **options)  # type: ignore[arg-type]
    assert kernel.shown[0].startswith('<progress value="0"')


def test_guesses_show_their_fits_in_notebooks_unless_told_otherwise(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.linear_model import LinearRegression

    import redelve

    monkeypatch.setattr("redelve.run.progress.SECONDS_BETWEEN_CELLS", 0.0)
    inputs = np.random.default_rng(0).normal(size=(30, 2))
    given = LinearRegression(), inputs, inputs.sum(axis=1)
    redelve.predict_performance(*given, ways="kfold:3", progress=False)
    assert kernel.shown == []
    told: list[tuple[str, int, int]] = []
    redelve.predict_performance(*given, ways="kfold:3", progress=lambda *state: told.append(state))
    assert kernel.shown == []
    assert told[-1] == ("LinearRegression", 3, 3)
    redelve.predict_performance(*given, ways="kfold:3")
    assert kernel.shown[0].startswith('<progress value="0"')
    assert any("LinearRegression: 3 of 3 fits" in content for content in kernel.shown)
    assert kernel.shown[-1] == ""


def test_guesses_show_their_fits_elsewhere_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    from sklearn.linear_model import LinearRegression

    import redelve

    inputs = np.random.default_rng(0).normal(size=(30, 2))
    for asked, shown_lines in ((None, ""), (True, "LinearRegression: 1 of 3 fits\n")):
        redelve.predict_performance(
            LinearRegression(), inputs, inputs.sum(axis=1), ways="kfold:3", progress=asked
        )
        assert capsys.readouterr().err == shown_lines
