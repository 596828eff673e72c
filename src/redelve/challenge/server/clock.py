"""The server's clock: the only time that counts. Nothing a client sends can move it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Something that tells the time."""

    def now(self) -> datetime:
        """The time now, in UTC."""
        ...

    def running(self) -> float:
        """Seconds since some start, which go on evenly even if the clock is set."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """The time now, in UTC."""
        return datetime.now(UTC)

    def running(self) -> float:
        """Seconds since the machine started, sleep included where the system counts it."""
        since_boot = getattr(time, "CLOCK_BOOTTIME", None)
        return time.monotonic() if since_boot is None else time.clock_gettime(since_boot)


class ManualClock:
    """A clock that stands still until it is moved: for tests and demonstrations.

    >>> clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
    >>> clock.advance(hours=2)
    >>> clock.now().isoformat()
    '2026-03-01T02:00:00+00:00'
    """

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)
        self._jumped = timedelta()

    def now(self) -> datetime:
        """The time it was moved to last, in UTC."""
        return self._now

    def running(self) -> float:
        """Seconds that passed: the clock's own, but for jumps."""
        return (self._now - self._jumped).timestamp()

    def jump(self, **distance: float) -> None:
        """Set the clock wrong: it tells another time though none has passed."""
        self._now += timedelta(**distance)
        self._jumped += timedelta(**distance)

    def set(self, moment: datetime) -> None:
        """Move the clock to a moment."""
        self._now = moment.astimezone(UTC)

    def advance(self, **distance: float) -> None:
        """Move the clock by a distance, such as days=1."""
        self._now += timedelta(**distance)
