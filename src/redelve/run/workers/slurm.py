"""The tasks of a SLURM array as workers: submitted, followed, replaced when they are lost, cancelled.

A task that the user cancels is not replaced as long as there are others.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, InvalidStateError
from pathlib import Path
from typing import Any

from redelve import __version__
from redelve.errors import RedelveError, SpecError
from redelve.run.leases import is_held
from redelve.run.workers.child import ChildDied, search_path
from redelve.run.workers.processes import lost_by, message_of, result_in
from redelve.run.workers.spool import (
    ANSWERS,
    DEAD,
    DESKS,
    DIED,
    HOLDERS,
    JOBS,
    LONGEST,
    LOOKED_EVERY,
    SHORTEST,
    SPOOL,
    Desk,
    new_spool,
    orphans,
    read,
    waiting,
    write,
)
from redelve.run.workers.worker_contract import WorkerLost

OPTIONS = "REDELVE_SBATCH"
"""The variable with the user's options of sbatch."""
USUAL_COUNT = 8
ASKED_EVERY = 10.0
"""Seconds between two calls of squeue."""
SECONDS_FOR_AN_ANSWER = 120
"""Of a command of SLURM's."""
SECONDS_WITHOUT_DISK = 60
"""A disk of the network may be away for a moment."""
IN_VAIN = 2
"""So many arrays in a row that end before a task reports, and it is given up."""
LINGERS = 60.0
"""Seconds for which an array without jobs is kept, unless the program ends: another would have to queue."""
SCRIPT = "script.sh"

QUEUED = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"})
"""A task in such a state is not at work, but will be."""
ENDED = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL"),
        *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
    }
)
GONE = "GONE"
"""The state of a task that SLURM no longer knows."""

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from redelve.run.workers.spool import work; work(*sys.argv[2:])"
)


class Slurm:
    """The tasks of a SLURM array: eight unless told.

    Options of sbatch come from the variable REDELVE_SBATCH, as `--partition=long --time=4:00:00`.
    """

    def __init__(self, count: int | None = None, *, threads: int = 1) -> None:
        self.count = USUAL_COUNT if count is None else count
        if self.count < 1:
            raise SpecError(f"the number of tasks must be 1 or more, not {count}")
        self._threads = threads
        self._array: SlurmArray | None = None
        self._end = threading.Timer(0, self._expire)
        self._lock = threading.Lock()

    @property
    def at_once(self) -> int:
        """Twice as many as there are tasks, so that none has to wait for its next job."""
        return 2 * self.count

    def executor(self) -> SlurmArray:
        """The array, which is submitted with the first job."""
        with self._lock:
            self._end.cancel()
            if self._array is None:
                self._array = SlurmArray(self.count, self._threads)
            return self._array

    def close(self) -> None:
        """Cancel the array: at once if jobs are left; else after a while, as a race goes on with more."""
        self._end.cancel()
        if self._array is not None and self._array.is_idle and LINGERS:
            self._end = threading.Timer(LINGERS, self._expire)
            self._end.daemon = True
            self._end.start()
        elif self._array is not None:
            self._array.shutdown()
            self._array = None

    def _expire(self) -> None:
        with self._lock:
            if self._array is not None and not self._end.finished.is_set():  # it may be wanted again by now
                self._array.shutdown()
                self._array = None


class SlurmArray(Executor):
    """An executor whose jobs are done by the tasks of an array; a thread follows them."""

    def __init__(self, count: int, threads: int = 1) -> None:
        self._count = count
        self._command = _sbatch_command(threads)
        self._spool, self._holder = new_spool()
        for orphan in orphans(self._spool, self._holder):
            _removed(orphan, is_submitted=True)
        self._threads = threads
        self._out: dict[int, Future[Any]] = {}
        self._number = 0
        self._desks: dict[str, Desk] = {}
        self._states = QueueWatch(self._spool.name)
        self._submitted = self._judged = self._looked = 0.0
        self._may_be_queued = self._has_reported = False
        self._in_vain = 0
        self._at_work: set[str] = set()
        self._stopped = threading.Event()
        self._failure: Exception | None = None
        self._follower = threading.Thread(target=self._follow, name="redelve-slurm", daemon=True)
        atexit.register(self.shutdown)

    @property
    def is_idle(self) -> bool:
        """Whether it has done all that it was given, and can do more."""
        return not self._out and self._failure is None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Put a call into the spool."""
        self._number += 1
        self._out[self._number] = future = Future[Any]()
        try:
            write(self._spool / JOBS / f"{self._number:012}.job", message_of(fn, args, kwargs))
        except OSError as error:
            raise self._unusable(error) from None
        if self._number == 1:
            self._follower.start()
        if self._failure is not None:
            _told(future, self._failure)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel the array at once, whatever its tasks are at."""
        atexit.unregister(self.shutdown)
        self._stopped.set()
        self._states.stopped.set()
        if self._follower.is_alive():
            self._follower.join()
        self._tell_all(WorkerLost("the workers were told to stop", 0))
        self._holder.close()
        _removed(self._spool, is_submitted=self._may_be_queued)

    def _follow(self) -> None:
        pause, well = SHORTEST, time.monotonic()
        try:
            self._submit_array(self._count)
            while not self._stopped.wait(pause):
                try:
                    pause = SHORTEST if self._take_in() else min(LONGEST, 2 * pause)
                    self._look()
                    self._judge()
                    well = time.monotonic()
                except OSError:
                    if time.monotonic() - well > SECONDS_WITHOUT_DISK:
                        raise
        except Exception as error:
            self._failure = self._unusable(error) if isinstance(error, OSError) else error
            self._tell_all(self._failure)

    def _take_in(self) -> bool:
        """Whether answers have come."""
        answers = waiting(self._spool / ANSWERS)
        for path in answers:
            answer = read(path)
            path.unlink()
            if (future := self._out.pop(int(path.name), None)) is not None:
                _settle(future, answer)
        return bool(answers)

    def _look(self) -> None:
        """Who has come, who is gone, and what is being worked on."""
        if time.monotonic() - self._looked < LOOKED_EVERY:
            return
        for path in (self._spool / DESKS).iterdir():
            if path.name not in self._desks and (holder := next(path.glob(HOLDERS), None)) is not None:
                self._desks[path.name] = desk = Desk(path, holder)
                self._at_work.add(desk.task)
                self._has_reported = True
        for desk in list(self._desks.values()):
            if not is_held(desk.holder, self._holder.touch):
                self._bury(desk, f"SLURM task {desk.task} gives no sign of life")
            else:
                self._mark(desk.jobs())
        self._looked = time.monotonic()

    def _mark(self, begun: Sequence[int]) -> None:
        for number in begun:
            future = self._out.get(number)
            if future is not None and not future.running() and not future.done():
                future.set_running_or_notify_cancel()

    def _judge(self) -> None:
        """What follows from SLURM's latest word, for tasks and arrays that it can have known of."""
        asked, states = self._states.latest
        if asked == self._judged:
            return
        self._judged = asked
        for desk in list(self._desks.values()):
            state = states.get(desk.task, GONE)
            if desk.since < asked and state in ENDED | QUEUED | {GONE}:
                self._bury(desk, f"SLURM task {desk.task} is {state}")
        fallen = self._fallen(states)
        if self._out and self._submitted < asked and all(state in ENDED for state in states.values()):
            self._submit_another()
        elif wanted := min(fallen, len(self._out)):
            self._submit_array(wanted)

    def _fallen(self, states: Mapping[str, str]) -> int:
        """How many tasks that were at work are lost since it was asked last, though nobody cancelled them."""
        ended = {task: states.get(task, GONE) for task in self._at_work}
        ended = {task: state for task, state in ended.items() if state in {*ENDED, GONE} - {"COMPLETING"}}
        self._at_work -= set(ended)
        return sum(state not in ("CANCELLED", GONE) for state in ended.values())

    def _submit_another(self) -> None:
        """All tasks are gone; if none has worked, it may be no use."""
        self._in_vain = 0 if self._has_reported else self._in_vain + 1
        if self._in_vain == IN_VAIN:
            raise RedelveError(
                f"{IN_VAIN} SLURM arrays in a row ended before any task reported{_last_words(self._spool)}: "
                f"all nodes need {sys.executable} and the folder {self._spool} ({SPOOL} names another)"
            )
        self._has_reported = False
        self._submit_array(self._count)

    def _bury(self, desk: Desk, reason: str) -> None:
        """Take the jobs of a dead task back; if it lives after all, it finds its desk gone, takes another."""
        self._take_in()
        if desk.path.parent.name == DESKS:
            desk.path = desk.path.rename(self._spool / DEAD / desk.path.name)
        for number in desk.jobs():
            if (future := self._out.pop(number, None)) is not None:
                _told(future, WorkerLost(reason))
        del self._desks[desk.path.name]

    def _submit_array(self, count: int) -> None:
        script = self._spool / SCRIPT
        script.write_text(_script(self._spool, self._threads))
        log = self._spool / "task-%A_%a.log"
        ours = [f"--array=1-{count}", f"--job-name={self._spool.name}", f"--output={log}"]
        self._may_be_queued = True
        done = _answer_of([*self._command, *ours, str(script)])
        if done is None or done.returncode:
            told = "it does not answer" if done is None else " ".join(done.stderr.split())
            raise RedelveError(f"sbatch refused the array: {told}; its options are {_chosen()}")
        self._submitted = time.monotonic()
        if not self._states.is_alive():
            self._states.start()

    def _unusable(self, error: OSError) -> RedelveError:
        told = error.strerror or str(error)
        return RedelveError(f"the spool {self._spool} can't be used: {told}; {SPOOL} names another folder")

    def _tell_all(self, error: Exception) -> None:
        while self._out:
            _told(self._out.popitem()[1], error)


class QueueWatch(threading.Thread):
    """Asks SLURM now and then how the tasks of a name are; the answer may take long."""

    def __init__(self, name: str) -> None:
        super().__init__(name="redelve-squeue", daemon=True)
        self._name = name
        self.stopped = threading.Event()
        self.latest: tuple[float, dict[str, str]] = (0.0, {})
        """When it was asked, and the states of the tasks; a question without an answer changes nothing."""

    def run(self) -> None:
        """Until told to stop."""
        while not self.stopped.wait(ASKED_EVERY):
            asked = time.monotonic()
            done = _answer_of(
                ["squeue", "--noheader", "--array", "--states=all", "--format=%i %T", *_ours(self._name)]
            )
            if done is not None and done.returncode == 0:
                lines = [line.split() for line in done.stdout.splitlines()]
                self.latest = asked, {line[0]: line[1] for line in lines if len(line) == 2}


def _ours(name: str) -> list[str]:
    """The options that choose what was submitted under a name, which nobody else has."""
    return [f"--name={name}", f"--user={os.geteuid()}"]


def _answer_of(words: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """What a command of SLURM's says; None: nothing, in all that time. Ctrl-C is not for it."""
    try:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_FOR_AN_ANSWER,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise RedelveError(f"{words[0]} can't be run: {error.strerror}") from None


def _sbatch_command(threads: int) -> list[str]:
    """How an array is submitted: the user's options may replace ours before them, not those behind."""
    if missing := [name for name in ("sbatch", "squeue", "scancel") if shutil.which(name) is None]:
        raise RedelveError(
            f'the executor "slurm" needs the command {missing[0]}, which is not found: work where SLURM\'s '
            'commands are, or choose another executor, such as "processes"'
        )
    try:
        chosen = shlex.split(os.environ.get(OPTIONS, ""))
    except ValueError as error:
        raise SpecError(f"{OPTIONS} is {os.environ[OPTIONS]!r}, which are no options: {error}") from None
    return ["sbatch", "--parsable", f"--cpus-per-task={threads}", *chosen]


def _chosen() -> str:
    given = os.environ.get(OPTIONS)
    return f'those of {OPTIONS}="{given}"' if given else f'chosen by {OPTIONS}="--partition=… --time=…"'


def _script(spool: Path, threads: int) -> str:
    words = [sys.executable, "-P", "-c", PROGRAM, search_path(), str(spool), str(threads), __version__]
    return f"#!/bin/sh\nexec {shlex.join(words)}\n"


def _last_words(spool: Path) -> str:
    """What the last task that said anything said last."""
    logs = sorted(spool.glob("task-*.log"), key=lambda path: path.stat().st_mtime)
    lines = [line for path in logs for line in path.read_text(errors="replace").splitlines() if line.strip()]
    return f' (its last words: "{lines[-1].strip()}")' if lines else ""


def _removed(spool: Path, *, is_submitted: bool) -> None:
    """Cancel what was submitted for a spool, and remove it; a task may still write, so several times."""
    if is_submitted:
        with contextlib.suppress(RedelveError):
            _answer_of(["scancel", *_ours(spool.name)])
    for _ in range(5):
        shutil.rmtree(spool, ignore_errors=True)
        if not spool.exists():
            return
        time.sleep(0.1)


def _settle(future: Future[Any], answer: bytes) -> None:
    try:
        if answer[:1] == DIED:
            raise lost_by(ChildDied(int(answer[1:])))
        result = result_in(answer)
    except Exception as error:
        _told(future, error)
    else:
        with contextlib.suppress(InvalidStateError):  # it was cancelled
            future.set_result(result)


def _told(future: Future[Any], error: Exception) -> None:
    with contextlib.suppress(InvalidStateError):
        future.set_exception(error)
