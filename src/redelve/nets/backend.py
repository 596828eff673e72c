"""Where the arrays live: NumPy by default, torch (CPU or GPU) with the extra `torch`; one code for both."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from redelve.errors import OptionalPackageError, SpecError

T = TypeVar("T")
Array = Any
"""A NumPy array or a torch tensor, whichever the engine works with."""


@dataclass(frozen=True)
class Engine:
    """On what networks are trained. No field changes results beyond rounding, `threads` and `chunk` no bit.

    `threads` workers train chunks of `chunk` runs each (None: as many threads as the linear algebra library
    may use now, and chunks that fit the processor's caches). A torch engine trains all runs as one chunk.
    """

    backend: str = "numpy"
    dtype: str = "float64"
    device: str = "cpu"
    threads: int | None = None
    chunk: int | None = None

    def __post_init__(self) -> None:
        if self.backend not in ("numpy", "torch"):
            raise SpecError(f'backend "{self.backend}": known are numpy, torch')
        if self.dtype not in ("float32", "float64"):
            raise SpecError(f'dtype "{self.dtype}": known are float32, float64')
        if self.backend == "numpy" and self.device != "cpu":
            raise SpecError(f'device "{self.device}" with backend "numpy": use backend="torch" for it')
        for name, value in (("threads", self.threads), ("chunk", self.chunk)):
            if value is not None and value < 1:
                raise SpecError(f"{name}={value}: give 1 or more, or None")

    @cached_property
    def xp(self) -> Any:
        """The array namespace: NumPy, or torch dressed like it; `out=` is used where both have it."""
        if self.is_numpy:
            return np
        try:
            found = import_module("array_api_compat.torch")
        except ImportError as error:
            message = f'backend "torch" needs {error.name}: pip install "redelve[torch]"'
            raise OptionalPackageError(message) from error
        try:
            found.empty(0, device=self.device)
        except (RuntimeError, AssertionError) as error:  # torch raises either
            said = str(error).partition("\n")[0]
            raise SpecError(f'device "{self.device}" cannot be used: {said}; use device="cpu"') from error
        return found

    @property
    def is_numpy(self) -> bool:
        """Whether arrays are NumPy's."""
        return self.backend == "numpy"

    def array(self, values: NDArray[Any]) -> Array:
        """An own, contiguous copy of `values` in this engine's precision and place."""
        own = np.array(values, dtype=self.dtype, order="C")
        return own if self.is_numpy else self.xp.asarray(own, device=self.device)

    def numpy(self, values: Array) -> NDArray[Any]:
        """Back to NumPy."""
        return np.asarray(values if self.is_numpy else values.cpu())

    def empty(self, count: int, size: int) -> list[Array]:
        """`count` vectors to be filled."""
        if self.is_numpy:
            return list(lent_memory(count, size, self.dtype))
        dtype = getattr(self.xp, self.dtype)
        return [self.xp.empty(size, dtype=dtype, **self._place) for _ in range(count)]

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """Zeros."""
        return self.xp.zeros(shape, dtype=getattr(self.xp, self.dtype), **self._place)

    def positions(self, values: NDArray[Any]) -> Array:
        """Positions or flags to choose runs with."""
        return values if self.is_numpy else self.xp.asarray(values, device=self.device)

    def matmul(self, first: Array, second: Array, out: Array) -> None:
        """Matrix products, one for each run, written into `out`."""
        if self.is_numpy:
            np.matmul(first, second, out=out)
            return
        import torch

        runs = len(out)
        torch.bmm(*(each.expand(runs, *each.shape[-2:]) for each in (first, second)), out=out)

    def clamp(self, values: Array, low: float | None, high: float | None) -> None:
        """Bring numbers between bounds (None: there is none), in place."""
        if not self.is_numpy:
            values.clamp_(low, high)
            return
        if low is not None:
            np.maximum(values, low, out=values)
        if high is not None:
            np.minimum(values, high, out=values)

    @property
    def _place(self) -> dict[str, str]:
        return {} if self.is_numpy else {"device": self.device}


SPARE_COUNT, SPARE_BYTES = 4, 1 << 23
"""So much memory, of at most so many bytes each, is kept for later."""

LINE = 64
"""The bytes of a line of the cache, where tables begin."""

_spare: list[NDArray[np.uint8]] = []


def lent_memory(count: int, size: int, dtype: str) -> list[NDArray[Any]]:
    """`count` vectors to be filled, in memory that was used before where there is some.

    New memory makes its first user wait for its pages: four epochs long, for 60 networks as for PROBEN1's
    glass1. When the last view of it is gone, it is given back.
    """
    each = -(-size * np.dtype(dtype).itemsize // LINE) * LINE
    try:
        own = _spare.pop()
    except IndexError:
        own = np.empty(0, dtype=np.uint8)
    if len(own) < count * each + LINE:
        own = np.empty(count * each + LINE, dtype=np.uint8)
    lent: NDArray[np.uint8] = np.frombuffer(own.data, dtype=np.uint8)  # the base of all views; `own` is not
    weakref.finalize(lent, _give_back, own).atexit = False
    first = -lent.ctypes.data % LINE
    starts = range(first, first + count * each, each)
    return [lent[start : start + each].view(dtype)[:size] for start in starts]


def _give_back(own: NDArray[np.uint8]) -> None:
    if len(own) <= SPARE_BYTES + LINE and len(_spare) < SPARE_COUNT:
        _spare.append(own)


class GpuStreams(threading.local):
    """The stream of a thread, to work and to capture on.

    A thread keeps its own: torch deals the same 32 streams again and again, and work on a stream that another
    thread captures on would go into that graph.
    """

    def __init__(self) -> None:
        import torch

        self.own = torch.cuda.Stream()


@cache
def _streams() -> GpuStreams:
    return GpuStreams()


def captured(work: Callable[[], None]) -> Callable[[], None]:
    """Work on the GPU as a graph, captured without being done; calling what is returned does it."""
    import torch

    graph, stream = torch.cuda.CUDAGraph(), _streams().own
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        graph.capture_begin(capture_error_mode="thread_local")
        work()
        graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    replay: Callable[[], None] = graph.replay
    return replay


class Replays:
    """Pieces of work by name: the first time call by call, the second time captured, from then on replayed.

    A graph works on the very arrays that it was captured with, so a piece must find what it needs, and leave
    what it makes, in arrays that stay.
    """

    def __init__(self) -> None:
        self._called: set[object] = set()
        self._graphs: dict[object, Callable[[], None]] = {}

    def do(self, name: object, work: Callable[[], None]) -> None:
        """A piece of work, always the same under its name."""
        if name in self._graphs:
            self._graphs[name]()
        elif name in self._called:
            self._graphs[name] = captured(work)
            self._graphs[name]()
        else:
            work()
            self._called.add(name)

    def forget(self) -> None:
        """Begin anew: arrays are no longer where they were."""
        self._called.clear()
        self._graphs.clear()


class Calls(Replays):
    """The same, call by call every time."""

    def do(self, name: object, work: Callable[[], None]) -> None:
        """A piece of work."""
        work()


def replays_on(engine: Engine) -> Replays:
    """On a GPU work is replayed, elsewhere it is called."""
    return Replays() if engine.device.startswith("cuda") else Calls()


@cache
def _hands() -> ThreadPoolExecutor:
    """Threads for work on the GPU, kept for their streams: with a few callers', fewer than torch's 32."""
    return ThreadPoolExecutor(20)


@cache
def _start_linear_algebra(device: str) -> None:
    """Let torch load its solvers in one thread: it fails where several need them first at the same time."""
    import torch

    torch.linalg.cholesky(torch.eye(1, device=device))


def side_by_side(engine: Engine, works: Sequence[Callable[[], T]]) -> list[T]:
    """Do several pieces of work; on a GPU some of them at a time, each on a stream of its own.

    A small batch leaves most of a GPU idle. What a piece of work computes does not depend on the others.
    """
    if not engine.device.startswith("cuda") or len(works) < 2:
        return [work() for work in works]
    import torch

    _start_linear_algebra(engine.device)

    def on_a_stream(work: Callable[[], T]) -> T:
        with torch.cuda.stream(_streams().own):
            return work()

    return list(_hands().map(on_a_stream, works))
