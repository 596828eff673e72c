"""Jobs done by the tasks of an array: with commands that pretend to be SLURM's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from redelve import __version__
from redelve.errors import RedelveError, SpecError
from redelve.run.executor_check import check_executor
from redelve.run.leases import LEASE
from redelve.run.workers import Workers, as_they_end, slurm, spool, workers_from
from redelve.run.workers.slurm import Slurm, SlurmArray
from redelve.run.workers.worker_contract import WorkerLost
from tests.run import fake_slurm
from tests.run.slurm_jobs import dies, ends_itself, place

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake SLURM looks into /proc")


class Fake:
    """The fake SLURM's folders and what can be asked of it."""

    def __init__(self, folder: Path) -> None:
        self.state, self.spools, self.commands = (folder / name for name in ("state", "spools", "bin"))
        for each in (self.state, self.spools, self.commands):
            each.mkdir()

    def calls(self, command: str) -> list[str]:
        path = self.state / "commands"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if line.startswith(command)]

    def living(self) -> list[str]:
        return [task for task, pid, _ in fake_slurm.tasks(self.state) if fake_slurm.is_alive(pid)]

    def cancel(self, *chosen: str) -> None:
        fake_slurm.scancel(self.state, {}, list(chosen))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    made = Fake(tmp_path)
    fake_slurm.install(made.commands)
    monkeypatch.setenv("PATH", f"{made.commands}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(made.state))
    monkeypatch.setenv("REDELVE_SPOOL", str(made.spools))
    monkeypatch.delenv("REDELVE_SBATCH", raising=False)
    monkeypatch.setattr(slurm, "ASKED_EVERY", 0.2)
    monkeypatch.setattr(slurm, "LOOKED_EVERY", 0.1)
    monkeypatch.setattr(slurm, "LINGERS", 0.0)
    yield made
    assert list(made.spools.iterdir()) == []
    until(lambda: made.living() == [])


def until(is_so: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def lost(one: object, reason: str) -> str:
    return f"lost {one}: {reason}"


def done_by(workers: Workers, perform: Callable[[Any], Any], given: Any) -> list[Any]:
    return sorted(as_they_end(workers, perform, given, lost), key=str)


def test_tasks_do_each_job_once_with_the_threads_asked_for(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDELVE_SBATCH", "--partition='long ones' --cpus-per-task=4")
    made = done_by(Slurm(2, threads=3), place, range(30))
    assert sorted(one[0] for one in made) == list(range(30))
    assert {one[1:] for one in made} <= {("1", "3", "0"), ("2", "3", "0")}
    (call,) = fake.calls("sbatch")
    options = (
        "--parsable --cpus-per-task=3 --partition=long ones --cpus-per-task=4 --array=1-2 --job-name=redelve-"
    )
    assert call.startswith(f"sbatch {options}")
    assert len(fake.calls("scancel")) == 1


def test_jobs_of_a_cancelled_task_are_done_by_another(fake: Fake, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    executor = Slurm(2).executor()
    future = executor.submit(dies, str(mark))
    until(mark.exists)
    (desk,) = executor._spool.glob("desks/*/*.job")
    fake.cancel(desk.parent.name.partition(".")[0])
    with pytest.raises(WorkerLost, match=r"SLURM task 1_[12] gives no sign of life") as told:
        future.result(20)
    assert told.value.strikes == 1
    assert executor.submit(dies, str(mark)).result(20) == "done"
    assert len(fake.calls("sbatch")) == 1
    executor.shutdown()


def test_another_array_is_submitted_when_all_tasks_are_gone(fake: Fake, tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    def cancel() -> None:
        until(mark.exists)
        fake.cancel("1_1")

    threading.Thread(target=cancel, daemon=True).start()
    assert done_by(Slurm(1), dies, [str(mark)]) == ["done"]
    assert len(fake.calls("sbatch")) == 2


def test_a_job_that_ends_its_process_costs_no_task(fake: Fake) -> None:
    made = done_by(Slurm(1), ends_itself, range(6))
    assert made == [0, 1, 2, 4, 5, "lost 3: its worker process was lost: ended with exit code 4"]
    assert len(fake.calls("sbatch")) == 1


def test_it_keeps_to_the_contract(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "USUAL_COUNT", 1)
    report = check_executor("slurm")
    assert report.passed, str(report)


def test_an_array_without_jobs_is_kept_for_a_while(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "LINGERS", 60.0)
    workers = Slurm(1)
    assert [one[0] for one in done_by(workers, place, [1, 2])] == [1, 2]
    monkeypatch.setattr(slurm, "LINGERS", 0.3)
    assert [one[0] for one in done_by(workers, place, [3])] == [3]
    assert len(fake.calls("sbatch")) == 1
    assert fake.living() == ["1_1"]
    until(lambda: not fake.living() and not list(fake.spools.iterdir()))
    assert [one[0] for one in done_by(workers, place, [4])] == [4]
    assert len(fake.calls("sbatch")) == 2
    until(lambda: not list(fake.spools.iterdir()))


def test_nothing_is_submitted_where_nothing_is_to_do(fake: Fake) -> None:
    assert done_by(Slurm(2), place, []) == []
    assert fake.calls("sbatch") == []


def test_arrays_that_end_at_once_are_given_up(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "PROGRAM", "import sys; sys.exit('no such disk')")
    with pytest.raises(RedelveError, match=r'2 SLURM arrays .* ended .*\(its last words: "no such disk"\)'):
        done_by(Slurm(1), place, range(3))
    assert len(fake.calls("sbatch")) == 2


def test_another_version_on_a_node_is_told(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "__version__", "0.0.9")
    with pytest.raises(RedelveError, match=r"has redelve \S+ but needs 0\.0\.9"):
        done_by(Slurm(1), place, [1])


def test_what_sbatch_refuses_is_told(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDELVE_SBATCH", "--partition=nowhere")
    told = (
        "sbatch refused the array: sbatch: error: invalid partition specified: nowhere; its options are those"
    )
    with pytest.raises(RedelveError, match=told):
        done_by(Slurm(1), place, [1])


def test_what_is_missing_is_told(fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REDELVE_SBATCH", "--partition='x")
    with pytest.raises(SpecError, match=r"REDELVE_SBATCH is .*, which are no options: No closing quotation"):
        Slurm(1).executor()
    monkeypatch.delenv("REDELVE_SBATCH")
    (tmp_path / "file").touch()
    monkeypatch.setenv("REDELVE_SPOOL", str(tmp_path / "file" / "in"))
    with pytest.raises(RedelveError, match=r"no spool can be made in .*: Not a directory; REDELVE_SPOOL"):
        Slurm(1).executor()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        RedelveError, match='the executor "slurm" needs the command sbatch, which is not found'
    ):
        Slurm(1).executor()
    with pytest.raises(SpecError, match="the number of tasks must be 1 or more, not 0"):
        workers_from("slurm", count=0)


def test_spools_are_closed_to_others(fake: Fake) -> None:
    array = SlurmArray(1)
    assert array._spool.stat().st_mode & 0o777 == 0o700
    array._spool.chmod(0o750)
    with pytest.raises(RedelveError, match="is open to others, who could have their code run"):
        spool.work(str(array._spool), "1", __version__)
    array.shutdown()


def test_answers_are_files_of_our_own(fake: Fake, tmp_path: Path) -> None:
    secret = tmp_path / "file"
    secret.write_bytes(b"\x01")
    (tmp_path / "link").symlink_to(secret)
    with pytest.raises(OSError, match="symbolic links"):
        spool.read(tmp_path / "link")
    if os.geteuid() == 0:
        os.chown(secret, 12345, -1)
        with pytest.raises(RedelveError, match="belongs to somebody else"):
            spool.read(secret)


def test_a_task_on_another_machine_that_was_not_heard_of_for_long_is_dead(fake: Fake) -> None:
    array = SlurmArray(1)
    futures = [array._out.setdefault(number, Future()) for number in (1, 2)]
    for name, age in (("7_1.aa", 2 * LEASE), ("7_2.bb", LEASE / 2)):
        desk = array._spool / spool.DESKS / name
        desk.mkdir()
        (desk / "x.holder").write_bytes(b"another machine")
        (desk / f"{name[2]:0>12}.job").touch()
        os.utime(desk / "x.holder", (time.time() - age,) * 2)
    array._look()
    assert list(array._desks) == ["7_2.bb"]
    assert str(futures[0].exception(0)) == "SLURM task 7_1 gives no sign of life"
    assert futures[1].running()
    array._states.latest = (time.monotonic(), {"7_2": "CANCELLED", "7_3": "PENDING"})
    array._judge()
    assert str(futures[1].exception(0)) == "SLURM task 7_2 is CANCELLED"
    assert fake.calls("sbatch") == []
    array.shutdown()


@pytest.mark.parametrize(
    ("states", "jobs", "submitted"),
    [
        (["TIMEOUT", "NODE_FAIL", "RUNNING"], 4, "1-2"),
        (["TIMEOUT", "NODE_FAIL", "RUNNING"], 1, "1-1"),
        (["TIMEOUT", "CANCELLED", "RUNNING"], 4, "1-1"),
        (["CANCELLED", "CANCELLED", "PENDING"], 4, None),
        (["CANCELLED", "CANCELLED", "CANCELLED"], 4, "1-3"),
        (["CANCELLED", "TIMEOUT", "COMPLETING"], 0, None),
    ],
)
def test_tasks_are_replaced_unless_they_were_cancelled(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, states: list[str], jobs: int, submitted: str | None
) -> None:
    """Those that reached their time limit or lost their node; cancelled ones only if none is left."""
    monkeypatch.setattr(slurm, "PROGRAM", "")
    array = SlurmArray(3)
    array._out = {number: Future() for number in range(jobs)}
    array._at_work, array._has_reported = {"7_1", "7_2", "7_3"}, True
    array._states.latest = (time.monotonic(), dict(zip(("7_1", "7_2", "7_3"), states, strict=True)))
    array._judge()
    assert [call.partition("--array=")[2].split()[0] for call in fake.calls("sbatch")] == [submitted][
        : bool(submitted)
    ]
    array._judge()
    assert len(fake.calls("sbatch")) <= 1
    array.shutdown()


SCRIPT = """
import sys, time
from redelve.run.workers import slurm, as_they_end
slurm.ASKED_EVERY = 0.2
def slow(number):
    time.sleep(0.01 if number < 2 else 60)
    return number
for one in as_they_end(slurm.Slurm(2), slow, range(int(sys.argv[1])), lambda *_: None):
    print(one, flush=True)
"""


def test_nothing_is_left_of_a_master_that_is_done(fake: Fake) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, "2"], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == ["0", "1"]
    assert done.stderr == ""


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_nothing_is_left_of_a_master_that_is_stopped(fake: Fake, by: signal.Signals) -> None:
    """After kill -9, the next one clears up; tasks also end by themselves."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "20"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as master:
        assert master.stdout is not None
        master.stdout.readline()
        (one,) = fake.spools.iterdir()
        assert len(fake.living()) == 2
        master.send_signal(by)
        master.wait(20)
    if by == signal.SIGKILL:
        assert list(fake.spools.iterdir()) == [one]
        until(lambda: fake.living() == [])
        Slurm(1).executor().shutdown()
        assert any(f"--name={one.name}" in call for call in fake.calls("scancel"))
