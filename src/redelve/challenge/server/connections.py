"""Bounds on connections: time for the headers of a request, connections in all and from one address.

Uvicorn closes connections that are idle after an answer, but waits for ever for the first request. A thousand
clients that never finish their headers would take all file descriptors.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from redelve.challenge.server.rates import holder

MOST, FEWEST, KEPT_BACK = 4000, 50, 200
"""Connections at most and at least, and file descriptors left for the database, files and workers."""
AT_ONCE = 100
"""Connections that are accepted before the first of them is looked at; they need descriptors, too."""


def room_for_connections() -> int:
    """How many connections the limit of open files leaves room for."""
    try:
        import resource
    except ImportError:  # elsewhere than on Unix
        return 400
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(FEWEST, min(MOST, allowed - KEPT_BACK))


@dataclass(frozen=True)
class ConnectionLimits:
    """What one server takes: seconds for headers, connections in all, connections from one address.

    A class behind one address needs some hundreds. Behind a proxy all come from its address: None.
    """

    header_seconds: float = 15.0
    in_all: int = field(default_factory=room_for_connections)
    by_address: int | None = 250


class ConnectionBook:
    """The connections that are open, oldest first, and from where."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._open: dict[BoundedProtocol, str] = {}
        self._count: Counter[str] = Counter()

    def admit(self, new: BoundedProtocol, address: str) -> bool:
        """Take a connection in; where there is no room the oldest that has asked for nothing yet goes."""
        place = holder(address)
        most = self.limits.by_address
        if most is not None and self._count[place] >= most and not self._make_room(place):
            return False
        if len(self._open) >= self.limits.in_all and not self._make_room(None):
            return False
        self._open[new] = place
        self._count[place] += 1
        return True

    def leave(self, gone: BoundedProtocol) -> None:
        """Forget a connection."""
        place = self._open.pop(gone, None)
        if place is not None:
            self._count[place] -= 1
            if not self._count[place]:
                del self._count[place]

    def _make_room(self, place: str | None) -> bool:
        for one, where in self._open.items():
            if one.is_waiting and place in (None, where):
                self.leave(one)
                one.hang_up()
                return True
        return False


class BoundedProtocol(H11Protocol):
    """HTTP by uvicorn, with bounds; `bounded_protocol` gives a class with a book of its own."""

    book: ConnectionBook
    _timer: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether the headers of the next request are not there yet."""
        return self.conn.their_state is h11.IDLE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, if there is room, and wait for its first request, but not for ever."""
        super().connection_made(transport)
        if self.book.admit(self, self.client[0] if self.client else ""):
            self._wait()
        else:
            self.hang_up()

    def data_received(self, data: bytes) -> None:
        """Handle bytes; those that do not finish the headers do not buy more time."""
        super().data_received(data)
        if self.is_waiting:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        self.book.leave(self)
        super().connection_lost(exc)

    def hang_up(self) -> None:
        """Close the connection without a word."""
        self._stop_waiting()
        self.transport.abort()

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.book.limits.header_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self.is_waiting:
            self.hang_up()


def bounded_protocol(limits: ConnectionLimits) -> type[BoundedProtocol]:
    """The protocol of one server, with its own book of connections."""
    return type("ServersProtocol", (BoundedProtocol,), {"book": ConnectionBook(limits)})
