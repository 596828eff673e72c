"""Two states of the code in turns: rows of both stand in one line, others are left out."""

import sys
from pathlib import Path

import pytest
from benchmarks import before_and_after

ROW = {"name": "a walk (seconds)", "against": "a run", "ours": 2.0, "ratio": 0.5}


def test_rows_of_both_codes_stand_in_one_line_with_the_share_of_the_lowest() -> None:
    before = {("a walk (seconds)", "a run"): [(2.0, 0.5), (4.0, 1.0)], ("a swim", "a run"): [(1.0, 1.0)]}
    after = {("a walk (seconds)", "a run"): [(3.0, 0.75), (1.0, 0.25)]}
    assert before_and_after.table(before, after)[2:] == [
        "| a walk (seconds) | 2 – 4 | 1 – 3 | **0.50** | 0.5 – 1 | 0.25 – 0.75 | a run |"
    ]


def test_a_row_that_has_another_name_now_is_found() -> None:
    old = "assess: 3 methods × 5 tasks × 8 instances (120 fits)"
    after = {
        (f"{old}, in this process", "a bare loop"): [(5.0, 1.0)],
        (f"{old}, a cell each", ""): [(6.0, 1.0)],
    }
    (line,) = before_and_after.table({(old, "a bare loop"): [(4.0, 1.0)]}, after)[2:]
    assert line.startswith(f"| {old}, in this process | 4 | 5 | **1.25** |")


def checkout(folder: Path, body: str) -> Path:
    """A folder with a benchmark called `walk`, and a Python."""
    (folder / "benchmarks").mkdir(parents=True)
    (folder / "benchmarks" / "__init__.py").touch()
    (folder / "benchmarks" / "bench_walk.py").write_text(body)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    return folder


def test_each_checkout_runs_its_own_benchmark_so_often(tmp_path: Path) -> None:
    body = f"def run():\n    print('some noise')\n    return [{ROW!r}]\n"
    one, two = checkout(tmp_path / "one", body), checkout(tmp_path / "two", body.replace("2.0", "1.0"))
    found = before_and_after.run({"before": one, "after": two}, ["walk"], 2)
    key = ROW["name"], ROW["against"]
    assert found == {"before": {key: [(2.0, 0.5)] * 2}, "after": {key: [(1.0, 0.5)] * 2}}


def test_a_benchmark_that_fails_is_told_with_its_error(tmp_path: Path) -> None:
    broken = checkout(tmp_path / "one", "def run():\n    raise ValueError('no legs')\n")
    with pytest.raises(SystemExit, match=r"walk in .*one ended with 1:(.|\n)*no legs"):
        before_and_after.measure(broken, "walk", {})
