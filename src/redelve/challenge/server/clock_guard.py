"""Against a clock that jumps forward: what would happen in between waits until an organiser confirms.

The end of a challenge cannot be undone, and a machine whose clock is two months ahead for a few seconds would
bring it about. So the time that counts is compared with the seconds that passed, and with the last time that
the database has seen.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from redelve.challenge import Phases
from redelve.challenge.server.audit import Actor, note
from redelve.challenge.server.clock import Clock
from redelve.challenge.server.database import Database
from redelve.challenge.server.database_tables import Fact
from redelve.challenge.server.standing import schedule

SEEN = "clock"
SLACK = timedelta(minutes=2)
"""By so much a clock may be set, or clocks of several machines differ."""
NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class ClockReading:
    """The time that counts, what the machine's clock says, and whether that is held for wrong."""

    now: datetime
    said: datetime
    is_held: bool


class GuardedClock:
    """A clock whose jumps forward over a date of the challenge do not count before they are confirmed.

    `pause` is how long the server may have been off without a question.
    """

    def __init__(self, clock: Clock, database: Database, phases: Phases, pause: timedelta) -> None:
        self._clock, self._database, self._phases = clock, database, phases
        self._lock = threading.Lock()
        with database.reading() as session:
            seen = last_seen(session)
        now = clock.now()
        was_on = seen is None or now <= seen + pause
        self._anchor = (now if was_on or seen is None else seen), clock.running()
        self._noted: datetime | None = None

    def now(self) -> datetime:
        """The time that counts."""
        return self.reading().now

    def running(self) -> float:
        """Seconds that go on evenly."""
        return self._clock.running()

    def reading(self) -> ClockReading:
        """The time that counts, and whether the machine's clock is held for wrong."""
        with self._lock:
            said, running = self._clock.now(), self._clock.running()
            expected = self._anchor[0] + timedelta(seconds=running - self._anchor[1])
            if said > expected + SLACK and self._needs_word(expected, said):
                return ClockReading(expected, said, True)
            self._anchor = said, running
            return ClockReading(said, said, False)

    def _needs_word(self, expected: datetime, said: datetime) -> bool:
        """Whether a date of the challenge lies in between and nobody has confirmed the new time."""
        with self._database.reading() as session:
            held, seen = schedule(session, self._phases), last_seen(session)
        is_confirmed = seen is not None and said <= seen + SLACK
        return not is_confirmed and held.stage(expected) != held.stage(said)

    def keep(self) -> None:
        """Write down the time now and then, so that a later start knows how long the server was off.

        What was written lately is remembered, so that workers need not ask the database before every job.
        """
        found = self.reading()
        if found.is_held or _is_recent(self._noted, found.now):
            return
        with self._database.reading() as session:
            self._noted = last_seen(session)
        if not _is_recent(self._noted, found.now):
            with self._database.writing() as session:
                _note(session, found.now)
            self._noted = found.now

    def confirm(self, actor: Actor) -> ClockReading:
        """Take the machine's word for the time: an organiser has looked at it."""
        found = self.reading()
        with self._database.writing() as session:
            _note(session, found.said)
            details = {"from": found.now.isoformat(), "to": found.said.isoformat()}
            note(session, found.said, actor, "clock confirmed", "", details)
        return self.reading()


def _is_recent(noted: datetime | None, now: datetime) -> bool:
    return noted is not None and abs(now - noted) < NOTED_EVERY


def last_seen(session: Session) -> datetime | None:
    """The last time that was written down."""
    fact = session.get(Fact, SEEN, populate_existing=True)
    return None if fact is None else datetime.fromisoformat(fact.content["seen"])


def _note(session: Session, now: datetime) -> None:
    session.merge(Fact(name=SEEN, content={"seen": now.isoformat()}))
