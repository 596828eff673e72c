"""The tables. Scores of development and of the end lie apart: no query for the one touches the other."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

ORGANISER, PARTICIPANT = "organiser", "participant"
RECEIVED, CHECKING, SCORED = "received", "checking", "scored"
REFUSED, CANCELLED, FAILED = "refused", "cancelled", "failed"
UNCOUNTED = (REFUSED, CANCELLED, FAILED)
"""States of entries that do not count against a quota."""


class Moment(TypeDecorator[datetime]):
    """A time in UTC; SQLite has no time zones, so it is added when read."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What the database keeps."""
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What Python sees."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class DatabaseTable(DeclarativeBase):
    """The base of all tables."""

    type_annotation_map = {datetime: Moment, dict[str, Any]: JSON, list[str]: JSON}  # noqa: RUF012


class Fact(DatabaseTable):
    """Something the server must remember, by name."""

    __tablename__ = "facts"
    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    content: Mapped[dict[str, Any]]


class User(DatabaseTable):
    """An account. `name_key` is the name as it is compared: letters of one case, in one form."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    name_key: Mapped[str] = mapped_column(String(320), unique=True)
    password_hash: Mapped[str] = mapped_column(String(200))
    role: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[datetime]
    disqualified_at: Mapped[datetime | None]
    disqualified_reason: Mapped[str | None] = mapped_column(Text)
    chosen_entry_id: Mapped[int | None]
    """The entry to be ranked by, where the rules let participants choose."""

    @property
    def is_organiser(self) -> bool:
        """Whether the account runs the challenge."""
        return self.role == ORGANISER


class Invitation(DatabaseTable):
    """A link that works once: to become an organiser, or to choose a new password."""

    __tablename__ = "invitations"
    id: Mapped[int] = mapped_column(primary_key=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class LoginSession(DatabaseTable):
    """Somebody is logged in; the id in the cookie is kept as a hash only."""

    __tablename__ = "sessions"
    id_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    user: Mapped[User] = relationship(lazy="joined")


class Token(DatabaseTable):
    """A secret for programs, kept as a hash only."""

    __tablename__ = "tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    label: Mapped[str] = mapped_column(String(80))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    user: Mapped[User] = relationship(lazy="joined")


class Entry(DatabaseTable):
    """What a participant sent, and what became of it. It counts by `received_at`."""

    __tablename__ = "entries"
    __table_args__ = (
        UniqueConstraint("user_id", "client_key"),
        Index("entries_by_user", "user_id", "received_at"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    client_key: Mapped[str | None] = mapped_column(String(80))
    """Chosen by the client, so that an upload that is sent again is not an entry of its own."""
    label: Mapped[str] = mapped_column(String(80))
    stored: Mapped[str] = mapped_column(String(80), unique=True)
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    received_at: Mapped[datetime]
    state: Mapped[str] = mapped_column(String(20), index=True)
    state_at: Mapped[datetime]
    reason: Mapped[str] = mapped_column(Text)
    problems: Mapped[list[str]]
    is_complete: Mapped[bool | None]
    disqualified_at: Mapped[datetime | None]
    disqualified_reason: Mapped[str | None] = mapped_column(Text)
    user: Mapped[User] = relationship(lazy="joined")


class EntryEvent(DatabaseTable):
    """A state an entry came into: when and why."""

    __tablename__ = "entry_events"
    id: Mapped[int] = mapped_column(primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("entries.id"), index=True)
    at: Mapped[datetime]
    state: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(Text)


class DevelopmentScore(DatabaseTable):
    """Scores on training and validation cases, and which answers were wrong, as leaderboards compare them."""

    __tablename__ = "development_scores"
    entry_id: Mapped[int] = mapped_column(ForeignKey("entries.id"), primary_key=True)
    dataset: Mapped[str] = mapped_column(String(80), primary_key=True)
    content: Mapped[dict[str, Any]]
    outcomes: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)


class FinalScore(DatabaseTable):
    """Scores on test cases; there are none before the end."""

    __tablename__ = "final_scores"
    entry_id: Mapped[int] = mapped_column(ForeignKey("entries.id"), primary_key=True)
    dataset: Mapped[str] = mapped_column(String(80), primary_key=True)
    content: Mapped[dict[str, Any]]
    outcomes: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)


class RankingMade(DatabaseTable):
    """The final ranking; a later revision (after a disqualification) replaces an earlier one."""

    __tablename__ = "rankings"
    revision: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    computed_at: Mapped[datetime]
    content: Mapped[dict[str, Any]]


class QueuedJob(DatabaseTable):
    """Work for a worker. A lease that ran out means that its worker died: another one takes the job."""

    __tablename__ = "jobs"
    __table_args__ = (Index("jobs_to_take", "state", "priority", "id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(60), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    entry_id: Mapped[int | None] = mapped_column(ForeignKey("entries.id"), index=True)
    priority: Mapped[int]
    state: Mapped[str] = mapped_column(String(20))
    attempts: Mapped[int]
    owner: Mapped[str | None] = mapped_column(String(120))
    lease: Mapped[str | None] = mapped_column(String(40))
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    reason: Mapped[str] = mapped_column(Text)


class RateCount(DatabaseTable):
    """How often something was tried within a stretch of time."""

    __tablename__ = "rate_counts"
    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    window: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    count: Mapped[int]


class PhaseChange(DatabaseTable):
    """Phases as an organiser moved them; the last row holds."""

    __tablename__ = "phase_changes"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    opens: Mapped[datetime]
    validation_labels: Mapped[datetime]
    ends: Mapped[datetime]
    reason: Mapped[str] = mapped_column(Text)


class AuditNote(DatabaseTable):
    """Who did what, when, from where."""

    __tablename__ = "audit_notes"
    __table_args__ = (Index("audit_notes_by_user", "user_id", "action", "address"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    actor: Mapped[str] = mapped_column(String(80))
    action: Mapped[str] = mapped_column(String(60))
    target: Mapped[str] = mapped_column(String(200))
    details: Mapped[dict[str, Any]]
    address: Mapped[str] = mapped_column(String(80))
