"""The states of an entry: each has a time and a reason, and all of them are remembered."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from redelve.challenge.server.database_tables import Entry, EntryEvent


def enter(session: Session, entry: Entry, state: str, now: datetime, reason: str) -> None:
    """Put the entry into a state."""
    entry.state, entry.state_at, entry.reason = state, now, reason
    session.add(EntryEvent(entry_id=entry.id, at=now, state=state, reason=reason))


def history(session: Session, entry_id: int) -> list[EntryEvent]:
    """The states an entry was in, the first one first."""
    query = select(EntryEvent).where(EntryEvent.entry_id == entry_id).order_by(EntryEvent.id)
    return list(session.scalars(query))
