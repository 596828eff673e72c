"""redelve differ, and the columns that redelve compare keeps for it."""

import errno
from pathlib import Path

import pandas as pd
import pytest

import redelve
from redelve.cli.main import main
from tests.findings.test_differences import scores


@pytest.fixture
def archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    scores().to_csv(tmp_path / "scores.csv", index=False)
    folder = tmp_path / "archive"
    assert main(["compare", str(tmp_path / "scores.csv"), "-S", "topic", "-a", str(folder)]) == 0
    capsys.readouterr()
    return folder


def test_differ_tells_where(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = archive.parent / "cases.csv"
    assert main(["differ", str(archive), "a", "b", "--by", "topic", "-o", str(cases)]) == 0
    told = capsys.readouterr().out
    assert "b is worse than a where topic is law" in told
    assert "Part of the difference" in told
    assert list(pd.read_csv(cases).columns[:4]) == ["case", "topic", "a", "b"]


def test_what_was_written_before_stays_where_the_disk_is_full(
    archive: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive.parent)
    for name in ("cases.csv", "next.csv", "gate.xml", "gate.md"):
        Path(name).write_text("of before\n")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    compared = ["scores.csv", "-H", "-l", "0,1"]
    for words in (
        ["differ", str(archive), "a", "b", "-o", "cases.csv"],
        ["race", *compared, "-n", "next.csv"],
        ["gate", *compared, "-d", "0.1", "-m", "a", "-o", "b", "-j", "gate.xml"],
        ["gate", *compared, "-d", "0.1", "-m", "a", "-o", "b", "-w", "gate.md"],
    ):
        assert main(words) in (1, 3)
        assert "cannot write: the disk is full: make room" in capsys.readouterr().err
        assert Path(words[-1]).read_text() == "of before\n"


def test_differ_refuses_in_words(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["differ", str(archive), "a", "c"]) == 1
    assert 'no results of method "c": there are a, b' in capsys.readouterr().err
    assert main(["differ", str(archive), "a", "b", "--by", "topics"]) == 1
    told = capsys.readouterr().err
    assert "known are topic" in told
    assert "keep it with the scores, as in slices=['topics'] (redelve compare -S topics)" in told


def test_differ_wants_two_models_and_a_table(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["differ", str(archive), "a", "a"]) == 1
    assert '"a" would be compared with itself: name two models' in capsys.readouterr().err
    page = archive.parent / "x.html"
    assert main(["differ", str(archive), "a", "b", "-o", str(page)]) == 2
    assert f'can\'t write cases to "{page}": they are a table' in capsys.readouterr().err
    assert not page.exists()
    assert main(["differ", str(archive.parent / "nowhere"), "a", "b"]) == 1
    assert "a folder that `assess`, or `compare -a`, has made" in capsys.readouterr().err


def test_differ_says_what_can_be_done_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, several = tmp_path / "one", tmp_path / "several"
    redelve.assess(["constant", "lin-1"], "demo/age", sizes=64, archive=one)
    assert main(["differ", str(one), "constant", "lin-1", "--by", "city"]) == 1
    told = capsys.readouterr().err
    assert "an archive keeps no inputs of its cases, so in Python give the values themselves" in told
    assert 'as in by=frame["city"]' in told
    tasks = pd.concat([scores().assign(task=name) for name in "xy"])
    tasks.to_csv(tmp_path / "scores.csv", index=False)
    assert main(["compare", str(tmp_path / "scores.csv"), "-a", str(several)]) == 0
    capsys.readouterr()
    assert main(["differ", str(several), "a", "b"]) == 1
    assert "name one with task=… (on the command line --task), such as" in capsys.readouterr().err
