"""redelve differ, and the columns that redelve compare keeps for it."""

import errno
from pathlib import Path

import pandas as pd
import pytest

import redelve
from redelve.assessment import Assessment
from redelve.cli.main import main
from redelve.errors import LocationError
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
    assert "Part of the difference, in percentage points" in told
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


def test_no_command_writes_over_what_it_reads(
    archive: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive.parent)
    text = Path("scores.csv").read_text()
    for name in ("questions.csv", "old.csv", "page.html", "own.dt"):
        Path(name).write_text(text)
    Path("other.csv").hardlink_to("scores.csv")
    kept = {path: path.read_bytes() for path in Path().rglob("*.*") if path.is_file()}
    compared = ["scores.csv", "-H", "-l", "0,1"]
    gate = ["gate", *compared, "-d", "0.1", "-T", "old.csv"]
    for words in (
        ["predict", "scores.csv", "-t", "score", "-o", "scores.csv"],
        ["predict", "scores.csv", "-t", "score", "-o", "other.csv"],
        ["race", *compared, "-n", "./scores.csv"],
        ["race", *compared, "-Q", "questions.csv", "-n", "questions.csv"],
        [*gate, "--junit", "scores.csv"],
        [*gate, "--markdown", "old.csv"],
        ["compare", "page.html", "-o", "page.html"],
        ["training-time", "scores.csv", "-o", "scores.csv"],
        ["challenge", "verify", "archive", "-n", "old.csv", "-o", "old.csv"],
        ["proben1", "export", "own.dt", "-n", "0", "-o", "own.dt"],
    ):
        assert main(words) in (2, 3), words
        assert f'can\'t write to "{words[-1]}": this command reads it' in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path().rglob("*.*") if path.is_file()} == kept


def test_tables_of_a_command_have_a_name_and_a_folder(
    archive: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive.parent)
    scores, nowhere = str(archive.parent / "scores.csv"), str(archive.parent / "none" / "new.csv")
    for words in (
        ["differ", str(archive), "a", "b", "-o"],
        ["predict", scores, "-t", "score", "-o"],
        ["race", scores, "-H", "-l", "0,1", "-n"],
    ):
        assert main([*words, "new.html"]) in (2, 3)
        assert 'to "new.html": give a name ending in .csv' in capsys.readouterr().err
        assert main([*words, nowhere]) in (2, 3)
        assert f'to "{nowhere}": there is no folder' in capsys.readouterr().err
    Path("folder.csv").mkdir()
    assert main([*words, "folder.csv"]) == 3
    assert "this is a folder" in capsys.readouterr().err
    assert main([*words, "/dev/null"]) in (0, 2)


def test_nothing_else_is_written_into_an_archive(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(archive.parent / "scores.csv")
    compared = [table, "-H", "-l", "0,1"]
    for words in (
        ["report", str(archive), "-o", str(archive)],
        ["report", str(archive), "-o", str(archive / "tables")],
        ["report", str(archive), "-o", str(archive / "page.html")],
        ["differ", str(archive), "a", "b", "-o", str(archive / "cases.csv")],
        ["compare", table, "-a", str(archive / "more")],
        ["compare", table, "-o", str(archive / "page.html")],
        ["predict", table, "-t", "score", "-o", str(archive / "guesses.csv")],
        ["race", *compared, "-n", str(archive / "next.csv")],
        ["gate", *compared, "-d", "0.1", "-T", table, "-w", str(archive / "gate.md")],
        ["training-time", table, "-o", str(archive / "graphs")],
        ["challenge", "pack", str(archive.parent), "-m", "gauss", "-o", str(archive / "answers.zip")],
        ["assess", table, "-t", "score", "-q", "-o", str(archive / "sub")],
    ):
        assert main(words) in (1, 3), words
        assert f"can't be written into the archive {archive}" in capsys.readouterr().err
    assert main(["assess", table, "-t", "score", "-q", "-o", str(archive)]) == 2
    assert "this is an archive; name the folder that is to hold one" in capsys.readouterr().err
    assessment = Assessment(redelve.Archive.open(archive).load())
    with pytest.raises(LocationError, match="which would be damaged"):
        assessment.report(archive)
    assert main(["archive", "verify", str(archive)]) == 0


def test_a_report_may_stand_beside_its_archive(
    archive: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = archive.parent / "assessed"
    folder.mkdir()
    archive.rename(folder / "archive")
    assert main(["report", str(folder), "-o", str(folder)]) == 0
    assert (folder / "index.html").exists()
    assert main(["archive", "verify", str(folder)]) == 0


def test_an_archive_may_be_the_folder_that_one_is_in(
    archive: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive)
    assert main(["compare", str(archive.parent / "scores.csv"), "-a", "."]) == 0
    assert main(["archive", "verify", "."]) == 0


def test_the_gate_refuses_one_file_for_two_summaries(
    archive: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive.parent)
    words = ["gate", "scores.csv", "-H", "-l", "0,1", "-d", "0.1", "-T", "scores.csv"]
    assert main([*words, "--junit", "out.xml", "--markdown", "./out.xml"]) == 3
    told = capsys.readouterr().err
    assert "--junit out.xml and --markdown ./out.xml are one file: give each a name of its own" in told
    assert not Path("out.xml").exists()


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
    assert f'can\'t write cases to "{page}": give a name ending in .csv' in capsys.readouterr().err
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
