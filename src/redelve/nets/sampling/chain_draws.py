"""Random numbers of chains: every chain has its own stream, drawn in blocks, whatever company it has.

They are drawn by NumPy on the host and brought to the device, so that all backends use the same ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.nets.backend import Array, Engine
from redelve.nets.starting import _keys

BLOCK = 32
"""Updates that are drawn for at a time."""


@dataclass(frozen=True, eq=False)
class DrawSizes:
    """How many numbers of each kind an update of one chain takes; shapes of the Gamma variates."""

    momenta: int
    uniforms: int
    normals: int
    gammas: NDArray[np.float64]
    case_gammas: int = 0
    case_shape: float = 1.0


@dataclass(frozen=True, eq=False)
class UpdateDraws:
    """The random numbers of one update: chains × numbers of each kind."""

    momenta: Array
    uniforms: Array
    normals: Array
    gammas: Array
    case_gammas: Array

    def arrays(self) -> tuple[Array, ...]:
        """All of them."""
        return self.momenta, self.uniforms, self.normals, self.gammas, self.case_gammas


class ChainDraws:
    """Streams of chains, Philox keyed by their seeds; `next` is called once for every update."""

    def __init__(self, seeds: Sequence[int], sizes: DrawSizes, engine: Engine) -> None:
        purpose = zlib.crc32(b"sampling")
        self._streams = [
            np.random.Generator(np.random.Philox(key=np.array([key, purpose], dtype=np.uint64)))
            for key in _keys(seeds)
        ]
        self._sizes, self._engine = sizes, engine
        self._pool = None if engine.device == "cpu" else ThreadPoolExecutor(engine.threads)
        self._ahead: list[Future[None]] = []
        self._rooms = [self._room() for _ in range(1 if self._pool is None else 2)]
        self._place, self._block = BLOCK, 0
        self._here: tuple[Array, ...] = ()
        if self._pool is not None:
            self._draw_ahead(self._rooms[0])

    def next(self) -> UpdateDraws:
        """The numbers of the next update."""
        if self._place == BLOCK:
            self._turn_over()
        found = UpdateDraws(*(each[self._place] for each in self._here))
        self._place += 1
        return found

    def close(self) -> None:
        """Stop drawing ahead."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _turn_over(self) -> None:
        room = self._rooms[self._block % len(self._rooms)]
        if self._pool is None:
            for number in range(len(self._streams)):
                self._fill(room, number)
        else:
            for each in self._ahead:
                each.result()
        self._here = tuple(_brought(self._engine, each) for each in room)
        self._block, self._place = self._block + 1, 0
        if self._pool is not None:
            self._draw_ahead(self._rooms[self._block % 2])

    def _draw_ahead(self, room: tuple[NDArray[Any], ...]) -> None:
        assert self._pool is not None
        numbers = np.array_split(np.arange(len(self._streams)), self._engine.threads or 8)
        self._ahead = [self._pool.submit(self._fill_some, room, each) for each in numbers]

    def _fill_some(self, room: tuple[NDArray[Any], ...], numbers: Iterable[int]) -> None:
        for number in numbers:
            self._fill(room, int(number))

    def _room(self) -> tuple[NDArray[Any], ...]:
        sizes, chains = self._sizes, len(self._streams)
        return (
            np.empty((BLOCK, chains, sizes.momenta), dtype=self._engine.dtype),
            np.empty((BLOCK, chains, sizes.uniforms)),
            np.empty((BLOCK, chains, sizes.normals)),
            np.empty((BLOCK, chains, len(sizes.gammas))),
            np.empty((BLOCK, chains, sizes.case_gammas)),
        )

    def _fill(self, room: tuple[NDArray[Any], ...], number: int) -> None:
        """A block of one chain; the order of draws is part of what a seed means."""
        stream, sizes = self._streams[number], self._sizes
        momenta, uniforms, normals, gammas, case_gammas = room
        normal: Callable[..., NDArray[Any]] = stream.standard_normal
        momenta[:, number] = normal((BLOCK, sizes.momenta), dtype=self._engine.dtype)
        uniforms[:, number] = stream.random((BLOCK, sizes.uniforms))
        normals[:, number] = normal((BLOCK, sizes.normals))
        gammas[:, number] = stream.standard_gamma(sizes.gammas, (BLOCK, len(sizes.gammas)))
        if sizes.case_gammas:
            case_gammas[:, number] = stream.standard_gamma(sizes.case_shape, (BLOCK, sizes.case_gammas))


def _brought(engine: Engine, values: NDArray[Any]) -> Array:
    """A copy on the device in the precision drawn; on the host the numbers themselves."""
    return values if engine.is_numpy else engine.xp.asarray(values.copy(), device=engine.device)
