"""redelve training-time: a table of trial times from the command line, with errors that name the culprit."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration.times import exclusive_or, settings

from redelve.cli.training_time import training_time as main
from redelve.data.trial_tables import TimedTrial, read_trials


def written(folder: Path, text: str) -> Path:
    path = folder / "times.csv"
    path.write_text(text, encoding="utf-8")
    return path


def table(folder: Path) -> Path:
    """Three algorithms: one like exclusive-or, one that never fails, one with heavy tails."""
    lines = ["algorithm,time"]
    for setting, count in zip(settings()[:3], (600, 60, 100), strict=True):
        times = setting.draw(count, np.random.default_rng(1))
        lines += [
            f"{setting.name},{t:.6g}" if t <= setting.limit else f"{setting.name},>{setting.limit}"
            for t in times
        ]
    return written(folder, "\n".join(lines) + "\n")


def test_several_algorithms_are_measured_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(table(tmp_path))]) == 0
    out = capsys.readouterr().out
    assert "exclusive-or: 600 trials, " in out
    assert "encoder: 60 trials, 0 failed, no limit" in out
    assert "best limit T_E" in out
    assert "no trial failed: there is no tail beyond the limit to be modelled" in out
    assert "exclusive-or, encoder: " in out
    assert out.count("(Holm)") == 3


def test_two_algorithms_need_no_adjustment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(
        f"{name},{t}\n" for name, start in (("a", 10), ("b", 20)) for t in range(start, start + 40)
    )
    assert main([str(written(tmp_path, f"group,time\n{rows}"))]) == 0
    out = capsys.readouterr().out
    assert "a, b: " in out
    assert "Holm" not in out


@pytest.mark.parametrize(
    "text",
    [
        "time\n5\n7\n>20\n>20\n",
        "time;success\n5;1\n7;yes\n20;0\n20;False\n",
        "seed,Epochs\n1,5\n2,7\n3,20\n4,20\n",
        "time,seed\n5,1\n7,2\n,3\nfailed,4\n",
        "\ufefftime\n5\n7\n\n20\n20\n",
    ],
)
def test_failures_are_told_in_several_ways(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(written(tmp_path, text)), "-T", "20"]) == 0
    assert "times: 4 trials, 2 failed, limit 20" in capsys.readouterr().out


def test_a_smaller_limit_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(written(tmp_path, "time,success\n5,1\n7,1\n9,1\n20,0\n")), "-T", "7"]) == 0
    assert "4 trials, 2 failed, limit 7" in capsys.readouterr().out


def test_columns_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "solver,cost\nx,5\nx,6\ny,7\ny,9\n"
    assert main([str(written(tmp_path, text)), "-c", "cost", "-g", "solver"]) == 0
    out = capsys.readouterr().out
    assert "x: 2 trials" in out
    assert "y: 2 trials" in out


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", [], "times.csv: the file is empty"),
        ("time\n", [], "there are no trials under the line of names"),
        ("5\n6\n7\n", [], "line 1: no column has the times"),
        ("a,b\n5,6\n", [], "name one of time, times"),
        ("a,b\n5,6\n", ["-c", "c"], 'there is no column "c": the first line has a, b'),
        ("time,success\n5,1\n6\n", [], "line 3: expected 2 values, as the first line, but got 1"),
        ("time\n5\nNaN\n", [], 'line 3: the time is "NaN": leave the trial out'),
        ("time\n5\nfive\n", [], 'line 3: "five" is not a time'),
        ("time\n5\n-1\n", [], "line 3: a time must be greater than zero and finite: got -1"),
        ("time,success\n5,1\n,1\n", [], 'line 3: a trial that succeeded must have a time: got ""'),
        ("time,success\n5,1\n6,maybe\n", [], 'line 3: success must be 1 or 0, true or false: got "maybe"'),
        ("group,time\na,5\n,6\n", [], "line 3: the name of the algorithm is missing"),
        ("time\n5\n", [], "at least two trials are needed: got 1"),
        ("time\n>9\n>9\n", [], 'times.csv, "times": all 2 trials failed'),
        ("time\n5\n>9\n>8\n", [], "failed trials stopped at different times, from 8 to 9"),
        ("time\n5\n>9\n", ["-T", "12"], "a failed trial stopped at 9, before the limit 12"),
        ("time\n5\nfailed\n", [], "1 trials failed but no limit is given"),
        ("time\n5\n6\n", ["-T", "0"], "the limit must be a positive number: got 0.0"),
        ("time\n5\n6\n", ["-o", "graphs.txt"], "the name must end in .pdf"),
        ('time\n5\n"6\n', [], "can't read this as CSV"),
    ],
)
def test_errors_name_the_culprit(
    tmp_path: Path, text: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(written(tmp_path, text)), *options]) == 1
    assert message in capsys.readouterr().err


def test_a_limit_that_is_no_number_is_a_wrong_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(written(tmp_path, "time\n5\n6\n")), "-T", "soon"]) == 2
    assert 'option "-T" needs a number, not "soon"' in capsys.readouterr().err


def test_bytes_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "times.csv"
    path.write_bytes(b"time\n5\n\xff\xfe\n")
    assert main([str(path)]) == 1
    assert "times.csv, line 3: byte 0xff is neither ASCII nor UTF-8" in capsys.readouterr().err
    assert main([str(tmp_path / "absent.csv")]) == 1


def test_a_device_without_end_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/dev/zero"]) == 1
    assert "/dev/zero: " in capsys.readouterr().err


def test_graphs_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path)
    assert main([str(path), "-o", str(tmp_path / "both.pdf")]) == 0
    assert main([str(path), "-o", str(tmp_path / "graphs")]) == 0
    assert (tmp_path / "both.pdf").read_bytes().startswith(b"%PDF")
    names = sorted(file.name for file in (tmp_path / "graphs").iterdir())
    assert names == ["efficiency.pdf", "efficiency.svg", "training.pdf", "training.svg"]
    assert f"Graphs: {tmp_path / 'graphs'}" in capsys.readouterr().out


def test_reading_keeps_the_order(tmp_path: Path) -> None:
    found = read_trials(written(tmp_path, "time,algorithm\n5,b\n>9,a\n7,b\n"))
    assert list(found) == ["b", "a"]
    assert found["b"] == [TimedTrial(5.0, None), TimedTrial(7.0, None)]
    assert found["a"] == [TimedTrial(9.0, False)]


def test_ten_thousand_trials_like_the_published_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = exclusive_or().draw(10_000, np.random.default_rng(2))
    text = "time\n" + "\n".join(f"{t:g}" if t <= 2000 else "inf" for t in times)
    assert main([str(written(tmp_path, text)), "--limit", "2000"]) == 0
    out = capsys.readouterr().out
    assert "efficiency e" in out
    assert "corrected mean     does not exist" in out
