"""Ctrl-C and kill -9: no process is left behind, and the same command again does the rest."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from redelve.run.experiment import plan
from tests.run import interrupted, toys

PROJECT = Path(__file__).parent.parent.parent
PATIENCE = 60
"""Seconds, for a busy machine."""
MISCHIEF = "takes_a_moment_or_waits_to_be_stopped"
WAYS = [
    ("serial", "isolated", signal.SIGINT),
    pytest.param("serial", "isolated", signal.SIGKILL, marks=pytest.mark.slow),
    pytest.param("processes", "isolated", signal.SIGINT, marks=pytest.mark.slow),
    ("processes", "isolated", signal.SIGTERM),
    ("processes", "isolated", signal.SIGKILL),
    ("processes", "shared", signal.SIGINT),
    pytest.param("processes", "shared", signal.SIGKILL, marks=pytest.mark.slow),
    pytest.param("dask", "isolated", signal.SIGINT, marks=pytest.mark.slow),
    ("dask", "isolated", signal.SIGKILL),
]
"""Every executor, both ways of isolation and every signal are among the quick ones."""


def started(
    executor: str, mischief: str, isolated: str, notes: Path, *, to_be_stopped: bool = True
) -> tuple[subprocess.Popen[str], str]:
    token = uuid.uuid4().hex
    command = [sys.executable, "-m", "tests.run.interrupted", executor, mischief, isolated, str(notes)]
    environment = {**os.environ, "REDELVE_TEST_TOKEN": token}
    if to_be_stopped:
        environment[toys.NOTES_TO_STOP_AT] = str(notes)
    process = subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    return process, token


def left(token: str) -> list[psutil.Process]:
    """The processes that the program or anyone after it has started and that are still there."""
    found = []
    for one in psutil.process_iter():
        try:
            if one.environ().get("REDELVE_TEST_TOKEN") == token and one.status() != psutil.STATUS_ZOMBIE:
                found.append(one)
        except psutil.Error:
            continue
    return found


def sleeps(token: str) -> bool:
    """Whether one of them is the program `sleep`; any may end while it is looked at."""
    for one in left(token):
        with contextlib.suppress(psutil.Error):
            if one.name() == "sleep":
                return True
    return False


def wait_until_gone(token: str) -> None:
    end = time.monotonic() + PATIENCE
    while (processes := left(token)) and time.monotonic() < end:
        time.sleep(0.1)
    assert processes == []


def wait_for_notes(notes: Path, count: int) -> None:
    end = time.monotonic() + PATIENCE
    while not (notes.exists() and len(notes.read_text().split()) >= count):
        assert time.monotonic() < end, "nothing gets done"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("executor", "isolated", "how"), WAYS, ids=lambda value: getattr(value, "name", value)
)
def test_stopped_and_begun_again(tmp_path: Path, executor: str, isolated: str, how: signal.Signals) -> None:
    notes = tmp_path / "notes"
    process, token = started(executor, MISCHIEF, isolated, notes)
    wait_for_notes(notes, toys.ENOUGH_NOTES)
    process.send_signal(how)
    process.communicate(timeout=PATIENCE)
    wait_until_gone(token)
    known = notes.read_text().split()
    assert toys.ENOUGH_NOTES <= len(known) < interrupted.INSTANCES
    again, token = started("processes", MISCHIEF, isolated, notes, to_be_stopped=False)
    assert again.communicate(timeout=PATIENCE)[0] == "finished\n"
    wait_until_gone(token)
    wanted = interrupted.experiment(MISCHIEF, isolated == "isolated")
    assert sorted(notes.read_text().split()) == sorted(wanted.digest(job) for job in plan(wanted))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=lambda how: how.name)
def test_programs_of_a_hanging_method_end_too(tmp_path: Path, how: signal.Signals) -> None:
    process, token = started("processes", "starts_a_program_and_hangs", "isolated", tmp_path / "notes")
    end = time.monotonic() + PATIENCE
    while not sleeps(token):
        assert time.monotonic() < end
        time.sleep(0.1)
    process.send_signal(how)
    process.communicate(timeout=PATIENCE)
    wait_until_gone(token)
