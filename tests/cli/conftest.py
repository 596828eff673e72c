"""Fixtures for tests that run commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from redelve.data.catalogue import CATALOGUE
from redelve.data.delve.roots.one_root import BUILT_IN
from redelve.methods.builtin.summaries import SUMMARIES
from tests.cli.workbench import Workbench
from tests.conftest import RunCommand


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One built-in directory for many tests, so that the demo dataset is generated once."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture
def bench(
    tmp_path: Path, run_command: RunCommand, shared_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Workbench:
    """A delve directory of the test's own; what redelve brings along is shared and must not be changed."""
    monkeypatch.setenv("REDELVE_HOME", str(shared_home))
    return Workbench.at(tmp_path, run_command)


@pytest.fixture(autouse=True)
def _only_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue as the manual has it, so that listings do not change when it grows."""
    monkeypatch.setattr(CATALOGUE, "_items", {"demo": "redelve.data.catalogue.demo:files"})
    monkeypatch.setitem(BUILT_IN._items, "methods", {"lin-1": SUMMARIES["lin-1"]})
