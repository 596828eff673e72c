"""Where the challenge stands: by the server's clock, and by what an organiser has moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from redelve.challenge import Phases
from redelve.challenge.server.audit import Actor, note
from redelve.challenge.server.database_tables import Fact, PhaseChange
from redelve.challenge.server.refusals import Refusal, wrong_field

CLOSED = "closed"


class Stage(IntEnum):
    """The stages of a challenge, in their order."""

    BEFORE = 0
    DEVELOPMENT = 1
    LABELS = 2
    ENDED = 3

    @property
    def words(self) -> str:
        """The stage for people."""
        return (
            "not open yet",
            "development",
            "development, validation labels published",
            "ended",
        )[self]


@dataclass(frozen=True)
class PhaseSchedule:
    """The phases that hold, and when the end came, if it did.

    Once the end was acted upon (`closed`) it cannot be undone: test scores may have been seen.
    """

    phases: Phases
    closed: datetime | None = None

    def stage(self, now: datetime) -> Stage:
        """Where the challenge stands at a time."""
        if self.closed is not None or now >= self.phases.ends:
            return Stage.ENDED
        if now >= self.phases.validation_labels:
            return Stage.LABELS
        return Stage.DEVELOPMENT if now >= self.phases.opens else Stage.BEFORE

    @property
    def deadline(self) -> datetime:
        """What an entry must be received before."""
        return self.phases.ends if self.closed is None else min(self.closed, self.phases.ends)

    def next_change(self, now: datetime) -> tuple[str, datetime] | None:
        """What comes next, and when."""
        stage = self.stage(now)
        if stage is Stage.ENDED:
            return None
        names = ("the challenge opens", "validation labels are published", "the challenge ends")
        moments = (self.phases.opens, self.phases.validation_labels, self.phases.ends)
        return names[stage], moments[stage]


def schedule(session: Session, planned: Phases) -> PhaseSchedule:
    """The phases that hold: those of challenge.toml unless an organiser moved them."""
    last = session.scalar(select(PhaseChange).order_by(PhaseChange.id.desc()).limit(1))
    held = planned if last is None else Phases(last.opens, last.validation_labels, last.ends)
    closed = session.get(Fact, CLOSED)
    return PhaseSchedule(held, None if closed is None else datetime.fromisoformat(closed.content["at"]))


def close(session: Session, planned: Phases, now: datetime) -> PhaseSchedule:
    """Act upon the end, if it has come; from then on it is fixed."""
    held = schedule(session, planned)
    if held.closed is None and held.stage(now) is Stage.ENDED:
        fact: dict[str, Any] = {"at": held.phases.ends.astimezone(UTC).isoformat()}
        session.add(Fact(name=CLOSED, content=fact))
        session.flush()
        return schedule(session, planned)
    return held


def move(
    session: Session,
    planned: Phases,
    now: datetime,
    actor: Actor,
    wanted: Mapping[str, datetime],
    reason: str,
) -> PhaseSchedule:
    """Let an organiser move the phases that lie ahead; what has come to pass stays."""
    held = close(session, planned, now)
    if held.stage(now) is Stage.ENDED:
        raise Refusal(409, "ended", "The challenge has ended: its phases cannot be moved any more.")
    before = {name: getattr(held.phases, name) for name in ("opens", "validation_labels", "ends")}
    after = {name: wanted.get(name, moment) for name, moment in before.items()}
    if after == before:
        raise wrong_field("phases", "none of them would change: give a new time for one of them at least.")
    for name, moment in after.items():
        if moment != before[name]:
            _check_ahead(name, before[name], moment, now)
    if not after["opens"] <= after["validation_labels"] <= after["ends"]:
        raise wrong_field(
            "phases",
            "must come in the order opens, validation labels, ends; to end before the labels are published, "
            "move both.",
        )
    assert actor.user is not None
    session.add(PhaseChange(at=now, user_id=actor.user.id, reason=reason, **after))
    changed = {n: [before[n].isoformat(), after[n].isoformat()] for n in before if before[n] != after[n]}
    note(session, now, actor, "phases moved", "", {"changed": changed, "reason": reason})
    session.flush()
    return close(session, planned, now)


def _check_ahead(name: str, before: datetime, after: datetime, now: datetime) -> None:
    if before <= now:
        raise wrong_field(name, f"has come to pass on {before.isoformat()}; that cannot be undone.")
    if after < now:
        raise wrong_field(name, f"{after.isoformat()} lies in the past.")
