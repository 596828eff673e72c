"""What is remembered: who did what, and the states of every entry, each with its time and reason.

The audit log tells of no scores and of no secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from redelve.challenge.server.database_tables import AuditNote, Entry, EntryEvent, User


@dataclass(frozen=True)
class Actor:
    """Who acts: an account or nobody, from an address."""

    user: User | None = None
    address: str = ""
    name: str = ""

    @property
    def shown(self) -> str:
        """The name for the log."""
        return self.user.name if self.user is not None else self.name or "nobody"


SERVER = Actor(name="server")


def note(
    session: Session,
    now: datetime,
    actor: Actor,
    action: str,
    target: str = "",
    details: Mapping[str, object] | None = None,
) -> None:
    """Write a line into the log, in the transaction of what it tells of."""
    session.add(
        AuditNote(
            at=now,
            user_id=actor.user.id if actor.user is not None else None,
            actor=actor.shown[:80],
            action=action,
            target=target[:200],
            details=dict(details or {}),
            address=actor.address[:80],
        )
    )


def latest(session: Session, count: int = 200, before: int | None = None) -> list[AuditNote]:
    """The last lines of the log, the newest first; `before` pages on by the number of a line."""
    query = select(AuditNote).order_by(AuditNote.id.desc()).limit(count)
    if before is not None:
        query = query.where(AuditNote.id < before)
    return list(session.scalars(query))


def enter(session: Session, entry: Entry, state: str, now: datetime, reason: str) -> None:
    """Put the entry into a state."""
    entry.state, entry.state_at, entry.reason = state, now, reason
    session.add(EntryEvent(entry_id=entry.id, at=now, state=state, reason=reason))


def history(session: Session, entry_id: int) -> list[EntryEvent]:
    """The states an entry was in, the first one first."""
    query = select(EntryEvent).where(EntryEvent.entry_id == entry_id).order_by(EntryEvent.id)
    return list(session.scalars(query))
