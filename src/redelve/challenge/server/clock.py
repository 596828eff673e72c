"""The server's clock: the only time that counts. Nothing a client sends can move it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Something that tells the time."""

    def now(self) -> datetime:
        """The time now, in UTC."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """The time now, in UTC."""
        return datetime.now(UTC)


class ManualClock:
    """A clock that stands still until it is moved: for tests and demonstrations.

    >>> clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
    >>> clock.advance(hours=2)
    >>> clock.now().isoformat()
    '2026-03-01T02:00:00+00:00'
    """

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """The time it was moved to last, in UTC."""
        return self._now

    def set(self, moment: datetime) -> None:
        """Move the clock to a moment."""
        self._now = moment.astimezone(UTC)

    def advance(self, **distance: float) -> None:
        """Move the clock by a distance, such as days=1."""
        self._now += timedelta(**distance)
