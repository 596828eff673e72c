"""The table of cheats in docs/running.md, row by row: each is tried, and what the table says must happen."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from redelve.methods.adapters import launcher
from redelve.methods.adapters.program import Program
from redelve.methods.contract import METHODS, Method
from redelve.run import experiment as experiments
from redelve.run.cells import Limits, asking, confining, let_go, working
from redelve.run.experiment import pack, perform, plan
from redelve.run.results import Record
from tests.run import cheats
from tests.run.cheats import ANSWERS, BREAKS, TRIES, Attempt, Odd
from tests.run.processes_left import sleepers
from tests.run.toys import Toy, content, toy_experiment

PAGE = Path(__file__).parents[2] / "docs" / "running.md"
HERE, CELL, CONFINED = Limits(isolated=False), Limits(isolated=True), Limits(confined=True)
MODES = {"in this process": HERE, "in a cell": CELL, "in a confined cell": CONFINED}
UNPICKLED = Path("/tmp/redelve-was-unpickled")
BREATH = 0.5
"""Seconds after which a method that still runs in this process is said to hang."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="written for Linux's cells")


def rows() -> dict[str, dict[str, str]]:
    """What the page says: the outcome by mode, by the name of the cheat."""
    (table,) = re.findall(r"<!-- cheats -->\n(.*?)<!-- end of cheats -->", PAGE.read_text(), re.DOTALL)
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
    return {line[0]: dict(zip(MODES, line[2:], strict=True)) for line in lines[2:]}


def of_kind(names: Any, modes: tuple[str, ...] = tuple(MODES)) -> list[Any]:
    return [pytest.param(name, mode, id=f"{name}-{mode}") for name in names for mode in modes]


ANSWERING = (*ANSWERS, "pickled code", "an exception with code")


def test_every_cheat_has_a_row_and_every_row_a_cheat() -> None:
    assert list(rows()) == [name.replace("_", " ") for name in (*TRIES, *ANSWERING, *BREAKS)]


@pytest.fixture(scope="module", autouse=True)
def _no_warden_left() -> Iterator[None]:
    yield
    let_go()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What there is to be found."""
    monkeypatch.setenv(cheats.SECRET, "token")
    for module, name in ((experiments, "score"), (np.linalg, "lstsq"), (working.CostClock, "costs")):
        monkeypatch.setattr(module, name, getattr(module, name))
    file, note = tmp_path / "data.csv", uuid.uuid4().hex
    file.write_text("targets")
    hidden = ctypes.create_string_buffer(b"targets")
    (task,) = toy_experiment({"toy": Toy()}, 2).assignments.values()
    targets = [
        task.data.cases.columns[-1].numbers()[one.training][:3].tobytes().hex() for one in task.instances
    ]
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield {
            "file": str(file),
            "port": server.getsockname()[1],
            "pid": os.getpid(),
            "address": ctypes.addressof(hidden),
            "note": note,
            "targets": targets,
        }
    Path(tempfile.gettempdir(), note).unlink(missing_ok=True)


def records(methods: dict[str, Method], limits: Limits, instances: int = 2) -> list[Record]:
    """Records made in order; the wardens stay for the next test."""
    made = toy_experiment(methods, instances, limits=limits)
    return [perform(pack(made, job)) for job in plan(made)]


def skip_unless_possible(mode: str, name: str = "") -> None:
    if mode == "in a confined cell":
        if confining.mechanism() is None:
            pytest.skip("this machine offers neither namespaces nor Landlock")
        if confining.mechanism() == "Landlock" and name in BEYOND_LANDLOCK:
            pytest.skip("this machine has no namespaces, and Landlock does not stop it")


BEYOND_LANDLOCK = ("calls_home_by_udp", "signals_others")
"""Signals are stopped by its newest versions."""


@pytest.mark.parametrize("name", [name for name in TRIES if name not in BEYOND_LANDLOCK])
def test_where_there_are_no_namespaces_landlock_stops_it(
    name: str, place: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if launcher.landlock_version() < TCP_TOO:
        pytest.skip("this machine has no Landlock, or an old one that leaves the network alone")
    monkeypatch.setattr(asking, "mechanism", lambda: "Landlock")
    test_what_a_method_finds_and_changes(name, "in a confined cell", place)


def test_landlock_alone_leaves_udp(place: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    if launcher.landlock_version() < TCP_TOO:
        pytest.skip("this machine has no Landlock")
    monkeypatch.setattr(asking, "mechanism", lambda: "Landlock")
    (record,) = records({"cheat": Attempt(None, "calls_home_by_udp", json.dumps(place))}, CONFINED, 1)
    assert has_cheated(record)


TCP_TOO = 4
"""The version of Landlock from which on connections are stopped."""


def has_cheated(record: Record) -> bool:
    costs = record.costs
    is_forged = costs.training_seconds is None or costs.training_seconds < 0
    return "cheated" in record.message or not any(one.any() for one in record.losses.values()) or is_forged


@pytest.mark.parametrize(("name", "mode"), of_kind(TRIES))
def test_what_a_method_finds_and_changes(name: str, mode: str, place: dict[str, Any]) -> None:
    skip_unless_possible(mode, name)
    promised = rows()[name.replace("_", " ")][mode].partition(":")[0]
    if promised == "by chance":
        pytest.skip("nothing is promised: what is left in memory may be written over")
    limits = MODES[mode]
    rival, _ = records({"rival": Toy()}, limits)
    made = records({"cheat": Attempt(None, name, json.dumps(place)), "rival": Toy()}, limits)
    cheating = [record for record in made if record.job.method == "cheat"]
    after = next(record for record in made if record.job.method == "rival")
    succeeds = any(record.status == "done" and has_cheated(record) for record in cheating)
    succeeds = succeeds or losses_of(after) != losses_of(rival)
    assert ("succeeds" if succeeds else "stopped") == promised


def losses_of(record: Record) -> dict[str, list[float]]:
    return {code: losses.tolist() for code, losses in record.losses.items()}


@pytest.mark.parametrize(("name", "mode"), of_kind(ANSWERING))
def test_answers_that_are_none(name: str, mode: str) -> None:
    skip_unless_possible(mode)
    shutil.rmtree(UNPICKLED, ignore_errors=True)
    (record,) = records({"odd": Odd(None, name)}, MODES[mode], 1)
    assert record.status == "failed"
    assert not record.losses
    assert record.message
    assert not UNPICKLED.exists()
    assert rows()[name][mode] == "one record"


LIMITED = {"ignores_signals_and_hangs": {"seconds": 1.0}, "eats_memory": {"memory": 500_000_000}}
"""What stops those that nothing else stops."""


@pytest.mark.parametrize(("name", "mode"), of_kind(BREAKS, ("in a cell", "in a confined cell")))
def test_what_a_method_breaks_in_a_cell(name: str, mode: str) -> None:
    skip_unless_possible(mode)
    limits = Limits(isolated=True, confined=MODES[mode].confined, **LIMITED.get(name, {}))  # type: ignore[arg-type]
    first, rival = records({"breaks": Toy(BREAKS[name]), "rival": Toy()}, limits, 1)
    assert rival.status == "done"
    assert sleepers() == []
    expected = rows()[name.replace("_", " ")][mode]
    if expected == "harmless":
        assert first.status == "done"
    else:
        assert first.status != "done"
        assert expected == ("one record, with a limit" if name in LIMITED else "one record")


@pytest.mark.parametrize("name", BREAKS)
def test_what_a_method_breaks_in_this_process(name: str) -> None:
    expected = rows()[name.replace("_", " ")]["in this process"]
    if name == "eats_memory":
        assert expected == "takes all there is"
        assert Limits(memory=1, isolated=False).needs_a_cell  # so there is no limit that could be tried
        return
    code = ending_of(lambda: records({"breaks": Toy(BREAKS[name])}, HERE, 1)[0].status)
    left = sleepers()
    for one in left:
        one.kill()
    found = {None: "hangs", b"done": "harmless", b"failed": "one record", b"out of memory": "one record"}.get(
        code, "ends the program"
    )
    assert ("left running" if left else found) == expected


def ending_of(action: Callable[[], str]) -> bytes | None:
    """What an action tells that is done by a process of its own; b"" if that ends first, None if it hangs."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        faulthandler.disable()
        nothing = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        os.write(writing, action().encode())
        os._exit(0)
    os.close(writing)
    os.set_blocking(reading, False)
    told, deadline = None, time.monotonic() + 60 * BREATH
    while told is None and time.monotonic() < deadline:
        time.sleep(BREATH / 10)
        try:
            told = os.read(reading, 100)
        except BlockingIOError:
            if time.monotonic() > deadline - 58 * BREATH and is_asleep(pid):
                break
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reading)
    return told


def is_asleep(pid: int) -> bool:
    return bool(psutil.Process(pid).status() == psutil.STATUS_SLEEPING)


def test_a_confined_method_gives_the_same_answers() -> None:
    skip_unless_possible("in a confined cell")
    plain, shut = records({"toy": Toy()}, CELL), records({"toy": Toy()}, CONFINED)
    assert [content(one) for one in plain] == [content(one) for one in shut]
    assert {one.environment["isolation"] for one in plain} == {"a process of its own"}
    (told,) = {one.environment["isolation"] for one in shut}
    assert told == f"a process of its own, confined by {confining.mechanism()}"


def test_confined_programs_and_networks_work(tmp_path: Path) -> None:
    """A program is confined by its adapter, beside its own files; networks look at /proc/self."""
    skip_unless_possible("in a confined cell")
    script = tmp_path / "guess.sh"
    script.write_text("for case in $(seq $(wc -l < test.0)); do echo 1.0; done > cguess.S.0\n")
    methods = {"program": Program(["/bin/sh", str(script)]), "network": METHODS["mlp-rprop"]}
    found = {one.job.method: one for one in records(methods, CONFINED, 1)}
    assert {name: one.status for name, one in found.items()} == {"program": "done", "network": "done"}
    assert found["program"].environment["isolation"].endswith("for a program that its adapter confines")
