"""Processes of this machine, and what they do. One that dies costs only the job that it was at."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from redelve.errors import SpecError
from redelve.run.workers.child import Child, ChildDied, child_environment, read_frame, write_frame
from redelve.run.workers.worker_contract import CERTAIN, FROM_OUTSIDE, WorkerLost

WELL, ILL = b"\x01", b"\x00"


def dump(value: Any) -> bytes:
    """A value as bytes, functions and classes of scripts and notebooks included."""
    import cloudpickle

    dumped: bytes = cloudpickle.dumps(value)
    return dumped


def carried_out(errand: bytes) -> Any:
    """What a dumped function makes of a dumped value."""
    perform, one = pickle.loads(errand)
    return perform(one)


def serve(requests: int, replies: int) -> None:
    """Answer every errand with what came of it."""
    errands: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, errands.put), daemon=True).start()
    while True:
        write_frame(replies, _answer(errands.get()))


def _listen(requests: int, put: Callable[[bytes], None]) -> None:
    while (errand := read_frame(requests)) is not None:
        put(errand)
    os.killpg(0, signal.SIGKILL)  # the master is gone: so is everything that was started for it


def _answer(errand: bytes) -> bytes:
    try:
        return WELL + _dumped_made(carried_out(errand))
    except Exception as error:
        return ILL + dumped_error(error)


def _dumped_made(made: Any) -> bytes:
    """What was made as bytes: most often of classes that are imported there too, in half of the time."""
    try:
        return pickle.dumps(made, pickle.HIGHEST_PROTOCOL)
    except Exception:  # a class of a script or notebook, say
        return dump(made)


def dumped_error(error: Exception) -> bytes:
    """An error as bytes; its text alone where it can't be sent itself."""
    try:
        dumped = dump(error)
        pickle.loads(dumped)
    except Exception:
        return dump(RuntimeError(f"{type(error).__name__}: {error}"))
    return dumped


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """Worker processes of this machine: as many as there are cores unless told."""

    def __init__(self, count: int | None = None, *, threads: int = 1) -> None:
        self.count = usable_cores() if count is None else count
        if self.count < 1:
            raise SpecError(f"the number of processes must be 1 or more, not {count}")
        self._threads = threads
        self._crew: Crew | None = None

    @property
    def at_once(self) -> int:
        """Twice as many as there are processes, so that none has to wait for its next job."""
        return 2 * self.count

    @property
    def pids(self) -> list[int]:
        """The numbers of the worker processes at this moment."""
        return [] if self._crew is None else self._crew.pids

    def executor(self) -> Crew:
        """The processes; one that dies is replaced by itself."""
        if self._crew is None:
            self._crew = Crew(self.count, self._threads)
        return self._crew

    def close(self) -> None:
        """End the processes."""
        if self._crew is not None:
            self._crew.shutdown()
            self._crew = None


Errand = tuple["Future[Any]", bytes]


class Crew(Executor):
    """An executor with a thread for each worker process; so it is known which job a process died of."""

    def __init__(self, count: int, threads: int = 1) -> None:
        self._errands: queue.SimpleQueue[Errand | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._masters: list[Master] = []
        self._count, self._threads, self._given = count, threads, 0
        for _ in range(min(count, usable_cores())):  # they make themselves ready meanwhile
            self._hire()

    @property
    def pids(self) -> list[int]:
        """The numbers of the worker processes at this moment."""
        return [pid for master in self._masters if (pid := master.pid) is not None]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand out a call; beyond the cores, processes begin when calls wait, one for each."""
        future: Future[Any] = Future()
        self._errands.put((future, message_of(fn, args, kwargs)))
        self._given += 1
        if len(self._masters) < min(self._count, self._given) and not self._errands.empty():
            self._hire()
        return future

    def _hire(self) -> None:
        self._masters.append(Master(self._errands, self._stopped, self._threads))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes at once, whatever they are at."""
        self._stopped.set()
        for master in self._masters:
            self._errands.put(None)
            master.stop()
        for master in self._masters:
            master.join()
        while not self._errands.empty():
            if (errand := self._errands.get()) is not None:
                errand[0].cancel()


def message_of(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    """A call as an errand."""
    message: bytes = args[0] if fn is carried_out else dump((_call, (fn, args, kwargs)))
    return message


def _call(what: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]) -> Any:
    function, args, kwargs = what
    return function(*args, **kwargs)


class Master(threading.Thread):
    """A thread that has one worker process at a time and feeds it with errands."""

    def __init__(
        self, errands: queue.SimpleQueue[Errand | None], stopped: threading.Event, threads: int
    ) -> None:
        super().__init__(name="redelve worker", daemon=True)
        self._errands = errands
        self._stopped = stopped
        self._environment = child_environment(threads)
        self._lock = threading.Lock()
        self._child: Child | None = None
        self.start()

    @property
    def pid(self) -> int | None:
        """The number of the worker process at this moment."""
        child = self._child
        return None if child is None else child.pid

    def stop(self) -> None:
        """End the process, from another thread."""
        with self._lock:
            if self._child is not None:
                self._child.stop()

    def run(self) -> None:
        """Until told to stop."""
        try:
            while not self._stopped.is_set() and (errand := self._next()) is not None:
                future, message = errand
                if future.set_running_or_notify_cancel():
                    self._carry_out(future, message)
        finally:
            if self._child is not None:
                self._child.kill()

    def _next(self) -> Errand | None:
        with contextlib.suppress(OSError):  # if no process can be started, the next errand will tell
            self._ensure_child()
        return self._errands.get()

    def _ensure_child(self) -> Child | None:
        with self._lock:
            if self._child is None and not self._stopped.is_set():
                self._child = Child("redelve.run.workers.processes", self._environment)
            return self._child

    def _carry_out(self, future: Future[Any], message: bytes) -> None:
        try:
            child = self._ensure_child()
            if child is None:
                raise WorkerLost("the workers were told to stop", 0)
            future.set_result(result_in(child.ask(message)))
        except ChildDied as death:
            future.set_exception(lost_by(death))
        except BaseException as error:
            future.set_exception(error)
        finally:
            if self._child is not None and not self._child.is_usable:
                self._child = None


def lost_by(death: ChildDied) -> WorkerLost:
    """A child's death as it is told to who handed out its job."""
    return WorkerLost(str(death), 1 if death.code in FROM_OUTSIDE else CERTAIN)


def result_in(answer: bytes) -> Any:
    """What came of an errand: a value, or the error that it ended with."""
    value = pickle.loads(memoryview(answer)[1:])
    if answer[:1] == ILL:
        raise value
    return value
