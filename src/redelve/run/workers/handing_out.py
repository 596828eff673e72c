"""Workers by name and the simplest of them, this process; jobs handed out to them, and what is made taken in.

Jobs of dead workers are handed out again.
"""

from __future__ import annotations

import inspect
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from redelve.errors import ANY_FAULT, ExtensionError, RedelveError, SpecError, blame, place_of
from redelve.registry import value_told
from redelve.run import EXECUTORS
from redelve.run.workers.cluster import Dask
from redelve.run.workers.lent import Lent
from redelve.run.workers.processes import carried_out, dump, usable_cores
from redelve.run.workers.worker_contract import PATIENCE, Given, Made, WorkerLost, Workers


class InProcess:
    """This process, one job after the other."""

    at_once = 1

    def executor(self) -> None:
        """Nobody else."""
        return

    def close(self) -> None:
        """Nothing to let go of."""


def serial(count: int | None = None) -> InProcess:
    """This process; it is one, whatever is asked for."""
    if count not in (None, 1):
        raise SpecError(f'"serial" is one process, not {count}: choose "processes" or leave out the count')
    return InProcess()


SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "ucxx://", "inproc://")
"""How an address of a Dask scheduler begins."""

WorkersLike = int | str | Workers | Executor
"""Workers as a user may put it."""


def workers_for(workers: WorkersLike, *, threads: int = 1) -> Workers:
    """The workers that are meant: a number of processes (1: this one), a name, a scheduler's address.

    Any `concurrent.futures.Executor` will do too; it is lent, and you shut it down yourself.

    >>> type(workers_for(1)).__name__, type(workers_for("tcp://host:8786")).__name__
    ('InProcess', 'Dask')
    """
    if isinstance(workers, int):
        return workers_from("serial" if workers == 1 else "processes", count=workers, threads=threads)
    if isinstance(workers, Executor):
        return Lent(workers, at_once=2 * (getattr(workers, "_max_workers", None) or usable_cores()))
    if isinstance(workers, Workers) and not isinstance(workers, type):
        return workers
    if not isinstance(workers, str):
        raise SpecError(
            f"workers is {value_told(workers)}: give a number of processes, a name ({', '.join(EXECUTORS)}), "
            "a scheduler's address or an executor"
        )
    if workers.startswith(SCHEMES):
        return Dask(workers)
    return workers_from(workers, threads=threads)


def workers_from(
    name: str, *, count: int | None = None, scheduler: str | None = None, threads: int = 1
) -> Workers:
    """The workers of the executor registered under the name; `count` of them, or a scheduler's.

    >>> workers_from("processes", count=2).at_once
    4
    """
    make = EXECUTORS[name]
    wanted: dict[str, Any] = {"count": count, "scheduler": scheduler}
    known = _parameters(make)
    for option, value in wanted.items():
        if value is not None and option not in known:
            raise SpecError(f'the {option} {value} is for {_those_with(option)}, not "{name}"')
    given = {**wanted, "threads": threads}
    try:
        made = make(**{option: value for option, value in given.items() if option in known})
    except ANY_FAULT as error:
        blame(f'executor "{name}"', make, error)
        raise
    if not isinstance(made, Workers):
        told = f"returned {value_told(made)}: return workers, such as Lent(…)"
        raise ExtensionError(f'executor "{name}" ({place_of(make)}) {told}')
    return made


def _parameters(make: Callable[..., Workers]) -> frozenset[str]:
    return frozenset(inspect.signature(make).parameters)


def _those_with(option: str) -> str:
    names = [f'"{name}"' for name, make in EXECUTORS.items() if option in _parameters(make)]
    return f"the executor {' or '.join(names)}"


BREATH = 1.0
"""Seconds after which a wait begins anew, so that no signal is left waiting."""
PATIENCE_ALONE = 2
"""So many deaths more, with no other job under way, and a suspicious job is given up."""


@dataclass(eq=False)
class Errand(Generic[Given]):
    """One thing to do, and the deaths of workers it may have been the cause of."""

    one: Given
    strikes: int = 0
    by: Executor | None = None


class Ongoing(Iterator[Made], Generic[Given, Made]):
    """What is made, as soon as it is made; and what is being worked on meanwhile.

    Like a generator it is closed when it ends, when it fails, by `close`, or when nobody holds it any more.
    """

    def __init__(self, rota: Rota[Given, Any], made: Generator[Made, None, None]) -> None:
        self._rota = rota
        self._made = made

    def __next__(self) -> Made:
        return next(self._made)

    def close(self) -> None:
        """Stop what is under way and let go of the workers."""
        self._made.close()

    @property
    def under_way(self) -> tuple[Given, ...]:
        """What is being worked on at this moment; any thread may ask."""
        return self._rota.under_way


def as_they_end(
    workers: Workers,
    perform: Callable[[Given], Made],
    given: Iterable[Given],
    lost: Callable[[Given, str], Made],
) -> Ongoing[Given, Made]:
    """What is made of each, as soon as it is made; `lost` makes it where workers die of it, for a reason."""
    rota = Rota(workers, perform, given, lost)
    return Ongoing(rota, rota.made())


def batches_as_they_end(
    workers: Workers,
    perform: Callable[[Given], Sequence[Made]],
    given: Iterable[Given],
    lost: Callable[[Given, str], Sequence[Made]],
    parts: Callable[[Given], Sequence[Given]],
) -> Ongoing[Given, Made]:
    """The same where several things are made of each; one that a worker dies with is taken apart."""
    rota = Rota(workers, perform, given, lost, parts)
    return Ongoing(rota, _one_by_one(rota.made()))


def _one_by_one(made: Generator[Sequence[Made], None, None]) -> Generator[Made, None, None]:
    with closing(made):
        for several in made:
            yield from several


class Done(NamedTuple):
    """What was made, marked: an executor that returns something else has not done what it was given."""

    made: Any


def _marked(errand: tuple[Callable[[Given], Made], Given]) -> Done:
    perform, one = errand
    return Done(perform(one))


def _submitted(executor: Executor, message: bytes) -> Future[Any]:
    try:
        return executor.submit(carried_out, message)
    except (BrokenExecutor, OSError):
        raise
    except ANY_FAULT as error:
        blame("the executor", executor, error)
        raise


class Rota(Generic[Given, Made]):
    """The state of handing out: what waits, what is under way, what is suspected of killing its workers."""

    def __init__(
        self,
        workers: Workers,
        perform: Callable[[Given], Made],
        given: Iterable[Given],
        lost: Callable[[Given, str], Made],
        parts: Callable[[Given], Sequence[Given]] | None = None,
    ) -> None:
        self._parts = parts
        self._workers = workers
        self._perform = perform
        self._given = iter(given)
        self._lost = lost
        self._executor: Executor | None = None
        self._again: deque[Errand[Given]] = deque()
        self._suspects: deque[Errand[Given]] = deque()
        self._out: dict[Future[Any], Errand[Given]] = {}
        self._done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._here: tuple[Given, ...] = ()
        self._lock = threading.Lock()

    @property
    def under_way(self) -> tuple[Given, ...]:
        """What is being worked on, as far as the executor tells."""
        with self._lock:
            running = [errand.one for future, errand in self._out.items() if future.running()]
            handed_out = [errand.one for errand in self._out.values()]
        return self._here or tuple(running or handed_out)

    def made(self) -> Generator[Made, None, None]:
        """What is made of each, as soon as it is made."""
        try:
            self._executor = self._workers.executor()
            yield from self._made_here() if self._executor is None else self._made_elsewhere()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        try:
            for future in self._out:
                future.cancel()
            self._workers.close()
        finally:
            if isinstance(self._given, Generator):
                self._given.close()

    def _made_here(self) -> Iterator[Made]:
        """One after the other; what is killed from outside is done again, and suspects come last."""
        while (errand := self._next() or (self._suspects.popleft() if self._suspects else None)) is not None:
            self._here = (errand.one,)
            try:
                made = self._perform(errand.one)
            except WorkerLost as death:
                yield from self._broken(errand, death.strikes, str(death))
            else:
                yield made
        self._here = ()

    def _made_elsewhere(self) -> Iterator[Made]:
        while self._hand_out():
            try:
                future = self._done.get(timeout=BREATH)
            except queue.Empty:
                continue
            with self._lock:
                errand = self._out.pop(future)
            yield from self._taken_in(errand, future)

    def _hand_out(self) -> bool:
        """Keep the workers busy; whether anything is under way. Suspects come last, one at a time."""
        while len(self._out) < self._workers.at_once and (errand := self._next()) is not None:
            self._submit(errand)
        if not self._out and self._suspects:
            self._submit(self._suspects.popleft())
        return bool(self._out)

    def _next(self) -> Errand[Given] | None:
        if self._out and any(errand.strikes >= PATIENCE for errand in self._out.values()):
            return None  # a suspect works alone
        if self._again:
            return self._again.popleft()
        for one in self._given:
            return Errand(one)
        return None

    def _submit(self, errand: Errand[Given]) -> None:
        try:
            message = dump((_marked, (self._perform, errand.one)))
        except Exception as error:
            raise SpecError(
                f"{errand.one} can't be sent to another process: {type(error).__name__}: {error}; "
                'give the method settings that can be pickled, or work "serial"'
            ) from error
        future = self._handed(errand, message)
        with self._lock:
            self._out[future] = errand
        future.add_done_callback(self._done.put)

    def _handed(self, errand: Errand[Given], message: bytes) -> Future[Any]:
        assert self._executor is not None
        try:
            future = _submitted(self._executor, message)
        except BrokenExecutor:  # it broke while nothing was under way
            self._executor = self._renewed()
            future = _submitted(self._executor, message)
        errand.by = self._executor
        return future

    def _renewed(self) -> Executor:
        executor = self._workers.executor()
        assert executor is not None
        return executor

    def _taken_in(self, errand: Errand[Given], future: Future[Any]) -> list[Made]:
        """What was made, if anything was."""
        try:
            made = future.result()
        except WorkerLost as death:
            return self._broken(errand, death.strikes, str(death))
        except BrokenExecutor as death:
            if errand.by is self._executor:
                self._executor = self._renewed()
            return self._broken(errand, 1, str(death))
        except CancelledError:
            raise RedelveError(
                "the executor dropped jobs that were under way: run again for the rest"
            ) from None
        if not isinstance(made, Done):
            told = f"{place_of(errand.by)} returned {value_told(made)}"
            raise ExtensionError(f"the executor {told}: return what the function returns that it is given")
        return [made.made]

    def _broken(self, errand: Errand[Given], strikes: int, reason: str) -> list[Made]:
        if self._parts is not None and len(parts := self._parts(errand.one)) > 1:
            self._again.extend(Errand(part) for part in parts)
            return []
        errand.strikes += strikes
        if errand.strikes >= PATIENCE + PATIENCE_ALONE:
            return [self._lost(errand.one, f"its worker process was lost: {reason}")]
        (self._suspects if errand.strikes >= PATIENCE else self._again).append(errand)
        return []
