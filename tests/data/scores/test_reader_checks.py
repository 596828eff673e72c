"""Every reader passes the conformance check, and a reader that breaks the contract does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from redelve.data.scores.reader_checks import CHECKS, check_reader
from redelve.data.scores.score_readers import READERS, ScoreReader, ScoreWish
from redelve.data.scores.score_table import ScoreTable
from tests.data.scores.examples import EXAMPLES


def test_there_are_examples_for_every_reader() -> None:
    assert list(READERS) == sorted(EXAMPLES)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_reader_passes(name: str, tmp_path: Path) -> None:
    paths, metric = EXAMPLES[name](tmp_path)
    report = check_reader(name, paths, metric=metric)
    assert report.passed, str(report)
    assert len(report.findings) == len(CHECKS)


class Careless(ScoreReader):
    """Recognises everything, makes up a column, forgets the model, and stumbles over what is damaged."""

    title = "careless files"

    def recognises(self, path: Path) -> bool:
        return True

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        Careless.count += 1
        text = "".join(path.read_text() for path in paths)
        return ScoreTable("it", pd.DataFrame({"score": [float(text)], "made_up": [Careless.count]}))

    count = 0


def test_a_careless_reader_fails_each_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("3.5")
    monkeypatch.setitem(READERS._items, "other", Other)
    monkeypatch.setitem(READERS._items, "careless", Careless)
    report = check_reader(Careless, [path])
    assert {finding.number: finding.status for finding in report.findings} == dict.fromkeys(CHECKS, "failed")
    assert "made_up" in report.of("S003").message
    assert "ValueError" in report.of("S005").message


class Other(Careless):
    """Another one for the same files."""


def test_readers_are_loaded_when_a_file_comes_along() -> None:
    told = "import sys, redelve.data.scores; print([one for one in sys.modules if '.scores.readers.' in one])"
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
