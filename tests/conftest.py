"""Fixtures for all tests: no test sees or touches the user's own delve directories."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest
from hypothesis import settings

from redelve.cli.main import main
from redelve.report import drawing
from tests.forks import Forks, forks_running

if TYPE_CHECKING:
    from matplotlib.figure import Figure

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so it is in a shell's background
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("redelve", deadline=None, max_examples=40)  # new ones in every run
settings.register_profile("thorough", deadline=None, max_examples=200)  # make test-all
settings.load_profile("redelve")  # times vary too much between machines to be asserted


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: there is no use in looking for cycles to throw away."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class Result(NamedTuple):
    """What a command printed, and its exit code."""

    out: str
    err: str
    code: int


class RunCommand(Protocol):
    """How the fixture `run_command` is called."""

    def __call__(self, name: str, argv: Sequence[str], cwd: Path | None = None) -> Result: ...


def write_tree(folder: Path, files: Mapping[str, str]) -> Path:
    """Write the files, by their paths inside `folder`; a path that ends in "/" is a directory."""
    for name, text in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder


def make_root(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    """A delve directory with the files given by their paths in it."""
    return write_tree(folder, {"data/": "", "methods/": "", **(files or {})})


@pytest.fixture(scope="session", autouse=True)
def _no_real_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDELVE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.delenv("DELVE_PATH", raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _in_process_unless_told() -> Iterator[None]:
    """Methods of most tests are known to behave: no process of their own has to start for their jobs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("redelve.run.cells.job_and_outcome.ISOLATED_UNLESS_TOLD", False)
        patch.setattr("redelve.cli.assess.ISOLATED", None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _disks_may_take_their_time() -> Iterator[None]:
    """No test outlives a loss of power; what a killed process wrote is there without waiting for a disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # which complains of a bad handle too
        yield


@pytest.fixture
def delve_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty REDELVE_HOME of the test's own, with DELVE_PATH unset."""
    home = tmp_path / "home"
    monkeypatch.setenv("REDELVE_HOME", str(home))
    monkeypatch.delenv("DELVE_PATH", raising=False)
    return home


@pytest.fixture(autouse=True)
def _home_for_commands(request: pytest.FixtureRequest) -> None:
    if "cli" in request.path.parts:
        request.getfixturevalue("delve_home")


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Run one of DELVE's commands in this process, from the directory `cwd`."""

    def run(name: str, argv: Sequence[str], cwd: Path | None = None) -> Result:
        capsys.readouterr()
        with contextlib.chdir(cwd) if cwd else contextlib.nullcontext():
            code = main([name, *argv])
        captured = capsys.readouterr()
        return Result(captured.out, captured.err, code)

    return run


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Runs texts and installed commands without importing the large packages for each."""
    with forks_running() as running:
        yield running


@pytest.fixture
def empty_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures in reports are empty: they are half the work of a command; tests/report draws them."""
    made = {kind: _empty_figure(kind) for kind in ("svg", "pdf", "png")}
    monkeypatch.setattr(drawing, "save_as", lambda picture, kinds: {kind: made[kind] for kind in kinds})


@cache
def _empty_figure(kind: str) -> bytes:
    def draw() -> Figure:
        figure = drawing.new_figure(1, 1)
        figure.add_axes((0, 0, 1, 1))
        return figure

    return drawing.save(drawing.Picture("empty", "Nothing", "No lines.", "Nothing is drawn.", draw), kind)
