"""Mutated inputs of every kind end well or with a sentence: no traceback, no hang, no half-written file."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path

import pytest

from tests.fuzzing.python_calls import GOOD, call, frame
from tests.fuzzing.trials import forked, half_files, state, wrong

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("count", "seed"), [(14, 1), pytest.param(500, 2, marks=pytest.mark.slow)], ids=["14", "500"]
)
def test_mutated_inputs_are_dealt_with(count: int, seed: int) -> None:
    command = [sys.executable, "-m", "tests.fuzzing", "--count", str(count), "--seed", str(seed)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"seed {seed}: 0 of the {count} inputs found something" in done.stdout


@pytest.mark.parametrize(
    ("code", "told", "finding"),
    [
        (0, "all is well\n", ""),
        (1, "redelve assess: d.csv, line 3: a value is missing\n", ""),
        (1, "redelve assess: warning: odd\nredelve assess: d.csv: no rows\n", ""),
        (2, 'redelve assess: unknown option "-z"\nusage: redelve assess data\n', ""),
        (1, "", "0 sentences"),
        (1, "d.csv: no rows\n", "0 sentences"),
        (1, "redelve assess: one\nredelve assess: two\n", "2 sentences"),
        (1, "redelve assess: KeyError: 'y'\n", "says 'KeyError'"),
        (1, "redelve assess: [Errno 2] No such file\n", "says '[Errno'"),
        (1, f"redelve assess: {'x' * 6000}\n", "a sentence of 6016 characters"),
        (0, "Traceback (most recent call last):\n", "says 'Traceback'"),
        (70, "redelve assess: hm\n", "exit code 70"),
        (-signal.SIGXCPU, "", "hangs or crashes: SIGXCPU"),
    ],
)
def test_the_fuzzer_notices_bad_ends(code: int, told: str, finding: str) -> None:
    found = next(wrong(["redelve", "assess", "d.csv"], code, told), "")
    assert bool(found) == bool(finding)
    assert found.startswith(finding)


@pytest.mark.parametrize("name", GOOD)
def test_what_the_fuzzer_calls_with_nothing_odd_goes_well(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else every call ends at the same refusal, and nothing odd gets any further."""
    monkeypatch.chdir(tmp_path)
    frame().to_csv("d.csv", index=False)
    assert call(name, {}) == 0


def test_the_fuzzer_notices_hangs_and_tracebacks(tmp_path: Path) -> None:
    def hang() -> int:
        deque(itertools.count(), maxlen=0)
        return 0

    assert forked(hang, tmp_path, tmp_path / "told", seconds=1)[0] in (-signal.SIGXCPU, -signal.SIGKILL)
    code, told = forked(lambda: 1 // 0, tmp_path, tmp_path / "told")
    assert code == 70
    assert "ZeroDivisionError" in told


def test_the_fuzzer_notices_half_files(tmp_path: Path) -> None:
    (tmp_path / "was-there.json").write_text("{")
    before = state(tmp_path)
    good = {"a.json": "{}", "a.html": "<html></html>\n", "a.csv": "a\n1\n", "a.txt": "x", "lock": ""}
    bad = {"b.json": "{", "b.html": "<html>", "b.csv": "a\n1", "b.txt": "", ".b.tmp": "x", "b.toml": "a = ["}
    for name, text in {**good, **bad}.items():
        (tmp_path / name).write_text(text)
    assert sorted(half_files(tmp_path, before)) == sorted(f"half-written: {name}" for name in bad)
