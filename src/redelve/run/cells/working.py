"""A method at work in this very process."""

from __future__ import annotations

import ctypes
import os
import random
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.random import mtrand

from redelve.answers.answer import Answer
from redelve.errors import PredictionError, kind_told
from redelve.methods.contract import BatchMethod, Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.run.cells.job_and_outcome import CellLesson, Outcome, steady
from redelve.run.results import Costs, Told
from redelve.run.workers.child import THREAD_VARIABLES

STATUS_SIZE = 1 << 14
"""No process's status is longer (Linux: proc(5))."""
_alone = threading.Lock()
"""Global random numbers, warnings, numbers of threads: one job in a process at a time."""


def work(
    method: Method, training: TrainingSet, inputs: TestInputs, seed: int, threads: int | None
) -> Outcome:
    """Learn and answer right here; without `threads` where libraries have been told when they were loaded."""
    with _alone, _few_threads(threads), _global_seeds(seed, threads is None), _heard() as said:
        return _worked(method, training, inputs, seed, said)


def _worked(
    method: Method, training: TrainingSet, inputs: TestInputs, seed: int, said: dict[str, None]
) -> Outcome:
    rng = np.random.Generator(np.random.PCG64(seed))
    clock = CostClock()
    try:
        predictor = method.learn(training, rng)
        clock.learnt = time.perf_counter()
        answer, told = predictor.predict(inputs), told_by(predictor)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a method that ends the program ends only itself
        status = "out of memory" if isinstance(error, MemoryError) else "failed"
        return Outcome(status, message=described(error), costs=clock.costs())  # type: ignore[arg-type]
    return _checked(answer, inputs.cases.count, "; ".join(said), clock.costs(), told)


def work_together(method: BatchMethod, lessons: Sequence[CellLesson], threads: int | None) -> list[Outcome]:
    """Learn from all at once and answer each, right here: an outcome for each, or one that tells why not.

    A batch that warns has failed too: whose warning it is only a job alone can tell.
    """
    seed, is_cell = lessons[0].seed, threads is None
    with _alone, _few_threads(threads), _global_seeds(seed, is_cell), _heard() as said:
        outcomes = _worked_together(method, lessons)
        return [Outcome("failed", message="; ".join(said))] if said else outcomes


def _worked_together(method: BatchMethod, lessons: Sequence[CellLesson]) -> list[Outcome]:
    rngs = [np.random.Generator(np.random.PCG64(lesson.seed)) for lesson in lessons]
    clock = CostClock()
    try:
        predictors = method.learn_many([lesson.training for lesson in lessons], rngs)
        clock.learnt = time.perf_counter()
        pairs = list(zip(predictors, lessons, strict=True))
        answers = [predictor.predict(lesson.inputs) for predictor, lesson in pairs]
        told = [told_by(predictor) for predictor in predictors]
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return [Outcome("failed", message=described(error))]
    costs = clock.costs(shared_by=len(lessons))
    outcomes = [
        _checked(answer, lesson.inputs.cases.count, "", costs, each)
        for answer, lesson, each in zip(answers, lessons, told, strict=True)
    ]
    return next(([one] for one in outcomes if one.status != "done"), outcomes)


def told_by(predictor: object) -> Told:
    """What a predictor tells of its training, if it has `told`: texts, and numbers as floats."""
    given = getattr(predictor, "told", {}).items()
    return {str(name): steady(one) if isinstance(one, str) else float(one) for name, one in given}


def _checked(answer: object, count: int, said: str, costs: Costs, told: Told) -> Outcome:
    if not isinstance(answer, Answer):
        message = f"expected an Answer but got {kind_told(answer)}"
        return Outcome("failed", message=message, costs=costs, told=told)
    if len(answer) != count:
        wrong = PredictionError(f"expected answers for {count} test cases but got {len(answer)}")
        return Outcome("failed", message=str(wrong), costs=costs, told=told)
    return Outcome("done", answer, steady(said) if said else "", costs, told)


def described(error: BaseException) -> str:
    """An error in words, even one that can't say its own."""
    try:
        return steady(f"{type(error).__name__}: {error}")
    except Exception:
        return type(error).__name__


class CostClock:
    """Time and memory from now on."""

    def __init__(self) -> None:
        _forget_peak()
        self._start, self._cpu = time.perf_counter(), time.process_time()
        self.learnt: float | None = None
        """When training was over."""

    def costs(self, shared_by: int = 1) -> Costs:
        """What it took; those who share it have equal parts of the time, and the memory of all."""
        end, cpu = time.perf_counter(), time.process_time() - self._cpu
        learnt = end if self.learnt is None else self.learnt
        training, prediction = learnt - self._start, end - learnt
        return Costs(training / shared_by, prediction / shared_by, cpu / shared_by, _peak())


def _forget_peak() -> None:
    """Let the kernel begin anew to note the highest use of memory (Linux: proc(5), clear_refs)."""
    try:
        file = os.open("/proc/self/clear_refs", os.O_WRONLY)
    except OSError:
        return
    try:
        os.write(file, b"5")
    except OSError:
        pass
    finally:
        os.close(file)


def _peak() -> int | None:
    """The highest use of memory so far, in bytes."""
    return highest_memory("self") or _largest_ever()


def highest_memory(process: int | str) -> int | None:
    """The highest use of memory of a process so far, in bytes, where the kernel tells (Linux)."""
    try:
        _, _, found = contents(f"/proc/{process}/status").partition(b"\nVmHWM:")
    except OSError:
        return None
    return int(found.split(maxsplit=1)[0]) * 1024 if found else None


def contents(path: str) -> bytes:
    """What the kernel tells in a short file of /proc; a tenth of the time that a text file takes."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, STATUS_SIZE)
    finally:
        os.close(file)


def _largest_ever() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@contextmanager
def _few_threads(count: int | None) -> Iterator[None]:
    """So many threads for libraries that are loaded, and for those that the method will load."""
    if count is None:
        yield
        return
    wanted = _encoded(str(count))
    before = [(name, value) for name in _VARIABLES if (value := _held.get(name)) != wanted]
    for name, _ in before:
        _put(name, wanted)
    pools = thread_pools(_libraries_loaded()).lib_controllers
    others = [(pool, had) for pool in pools if (had := pool.get_num_threads()) not in (None, count)]
    for pool, _ in others:
        pool.set_num_threads(count)
    try:
        yield
    finally:
        for pool, had in others:
            pool.set_num_threads(had)
        for name, value in before:
            _put(name, value)


def _put(name: Any, value: Any) -> None:
    """Give a variable a value, or None: what `os.environ` does, without encoding anything anew."""
    if value is not None:
        os.putenv(name, value)
        _held[name] = value
    elif name in _held:
        os.unsetenv(name)
        del _held[name]


_environment: Any = getattr(os, "environb", os.environ)
_held: Any = _environment._data
_encoded = os.environ.encodevalue
_VARIABLES = [os.environ.encodekey(name) for name in THREAD_VARIABLES]
"""Names as the system has them: to encode them, and to miss them in `os.environ`, takes most of the time."""


@lru_cache(maxsize=1)
def thread_pools(_loaded: int) -> Any:
    """The libraries with threads that are loaded; looking for them takes a while, so only for new ones."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _LoadedObject(ctypes.Structure):
    """The beginning of what dl_iterate_phdr(3) tells of each shared object."""

    _fields_ = (
        ("address", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("headers", ctypes.c_void_p),
        ("header_count", ctypes.c_uint16),
        ("loads", ctypes.c_ulonglong),
    )


_Told = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_LoadedObject), ctypes.c_size_t, ctypes.py_object)


@cache
def this_process() -> ctypes.CDLL:
    """The functions of libraries that are loaded, C's above all; looking for them anew makes classes."""
    return ctypes.CDLL(None)


def _libraries_loaded() -> int:
    """How many libraries have been loaded so far (glibc), or how many modules where that is not told."""
    if sys.platform == "linux":
        this_process().dl_iterate_phdr(*_asking_for_loads())
    return _loads[0] if _loads else len(sys.modules)


_loads: list[int] = []


@cache
def _asking_for_loads() -> tuple[Any, Any]:
    """What dl_iterate_phdr(3) is given; made once, as each makes code for the processor."""

    def note(told: Any, size: int, _: object) -> int:
        if size >= ctypes.sizeof(_LoadedObject):
            _loads[:] = [told.contents.loads]
        return 1  # enough: the number is the same for all

    return _Told(note), ctypes.py_object(None)


@contextmanager
def _global_seeds(seed: int, is_cell: bool) -> Iterator[None]:
    """Python's and numpy's global random numbers set by the job's seed, for methods that draw on them.

    In a cell nobody draws afterwards. Elsewhere numpy's generator is put aside, which is faster than to copy
    its state, and comes back with the normal number that it may have kept for the next call.
    """
    kept = None if is_cell else (random.getstate(), np.random.get_state(legacy=False))  # noqa: NPY002
    own = mtrand.get_bit_generator()
    mtrand.set_bit_generator(_theirs)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        if kept is not None:
            random.setstate(kept[0])
            mtrand.set_bit_generator(own)
            if kept[1]["has_gauss"]:
                np.random.set_state(kept[1])  # noqa: NPY002


_theirs = np.random.MT19937(0)
"""Numpy's global generator for methods: the one that `np.random` begins with, seeded for each job."""


@contextmanager
def _heard() -> Iterator[dict[str, None]]:
    """The warnings of a method, each text once.

    Not those of an import, which only the first job of a process hears, nor those of the garbage collector.
    """
    said: dict[str, None] = {}

    def note(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if not _is_importing():
            said[f"{category.__name__}: {message}"] = None

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.showwarning = note
        yield said


def _is_importing() -> bool:
    frame, at_work = sys._getframe(), (_worked.__code__, _worked_together.__code__)
    while frame.f_back is not None and frame.f_code not in at_work:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
