"""Entries: taking them in, cancelling them, and counting them against the quota."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from redelve.challenge.server import jobs, rates
from redelve.challenge.server.audit import Actor, enter, note
from redelve.challenge.server.database_tables import (
    CANCELLED,
    RECEIVED,
    SCORED,
    UNCOUNTED,
    Entry,
    QueuedJob,
    User,
)
from redelve.challenge.server.refusals import Refusal, not_found
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import PhaseSchedule, Stage, schedule
from redelve.challenge.server.texts import one_line
from redelve.challenge.server.uploads import StoredUpload


@dataclass(frozen=True)
class Quota:
    """How many entries of a day are used; `limit` is None where any number is allowed."""

    used: int
    limit: int | None
    renewed: datetime

    @property
    def is_used_up(self) -> bool:
        """Whether another entry must wait."""
        return self.limit is not None and self.used >= self.limit


@dataclass(frozen=True)
class Offer:
    """What comes with an upload: the participant's label, and a key that makes sending it again harmless."""

    label: str = ""
    client_key: str | None = None

    def checked(self) -> Offer:
        """The offer with texts that can be kept."""
        key = None if self.client_key is None else one_line(self.client_key, "Idempotency-Key", least=1)
        return Offer(one_line(self.label, "label"), key)


CLOCK_HELD = Refusal(
    503,
    "clock",
    "The server's clock has jumped. Entries are taken again when an organiser has looked at it: try later.",
)


def check_open(held: PhaseSchedule, moment: datetime) -> None:
    """Raise a problem unless an entry received at that time counts."""
    if moment < held.phases.opens:
        opens = held.phases.opens.strftime("%Y-%m-%d %H:%M UTC")
        raise Refusal(403, "not_open", f"The challenge opens on {opens}; no entries are taken before.")
    if moment >= held.deadline:
        raise _ended(held)


def _ended(held: PhaseSchedule) -> Refusal:
    ended = held.deadline.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Refusal(403, "ended", f"The challenge ended on {ended}; no entries are taken any more.")


def check_may_submit(services: Services, actor: Actor) -> None:
    """Raise a problem unless this account may send an entry now; asked before the upload starts."""
    assert actor.user is not None
    user, limits = actor.user, services.settings.rates
    if user.is_organiser:
        raise Refusal(403, "organiser", "An organiser knows the truth and cannot take part.")
    if user.disqualified_at is not None:
        raise Refusal(403, "disqualified", f"You were disqualified: {user.disqualified_reason}")
    if services.clock.reading().is_held:
        raise CLOCK_HELD
    with services.database.writing() as session:
        held = schedule(session, services.challenge.phases)
        check_open(held, services.now())
        if held.closed is not None:  # even if the machine's clock was put back
            raise _ended(held)
        rates.count(session, f"upload:{user.id}", limits.uploads, services.now())
        place = f"uploads:{rates.holder(actor.address)}"
        rates.count(session, place, limits.uploads_by_address, services.now())
        _check_quota(quota(services, session, user.id))


def known(services: Services, user: User, client_key: str | None) -> Entry | None:
    """The entry that was made of this upload before."""
    with services.database.reading() as session:
        return _known(session, user, client_key)


def check_same(before: Entry, sha256: str) -> None:
    """Raise a problem where a key that was used before comes with another file."""
    if before.sha256 != sha256:
        raise Refusal(
            422,
            "key_reused",
            f"This Idempotency-Key belongs to entry {before.id}, which was another file: use a new key.",
        )


def _known(session: Session, user: User, client_key: str | None) -> Entry | None:
    if client_key is None:
        return None
    return session.scalar(select(Entry).where(Entry.user_id == user.id, Entry.client_key == client_key))


def submit(
    services: Services, actor: Actor, stored: StoredUpload, received: datetime, offer: Offer
) -> tuple[Entry, bool]:
    """Make an entry of a file that is safe on the disk; False if there was one of this key already."""
    assert actor.user is not None
    offer = offer.checked()
    with services.database.writing() as session:
        user = session.get_one(User, actor.user.id, with_for_update=True)  # one at a time for each account
        before = _known(session, user, offer.client_key)
        if before is not None:
            check_same(before, stored.sha256)
            return before, False
        entry = _insert(services, session, replace(actor, user=user), (stored, received, offer))
    services.wake.set()
    return entry, True


def _insert(
    services: Services, session: Session, actor: Actor, what: tuple[StoredUpload, datetime, Offer]
) -> Entry:
    stored, received, offer = what
    assert actor.user is not None
    held = schedule(session, services.challenge.phases)
    check_open(held, received)
    if held.closed is not None and services.now() < held.closed:  # the clock was put back under the upload
        raise _ended(held)
    _check_quota(quota(services, session, actor.user.id))
    entry = Entry(
        user=actor.user,
        client_key=offer.client_key,
        label=offer.label,
        stored=stored.name,
        size=stored.size,
        sha256=stored.sha256,
        received_at=received,
        state=RECEIVED,
        state_at=received,
        reason="",
        problems=[],
    )
    session.add(entry)
    session.flush()
    enter(session, entry, RECEIVED, received, "was received completely; waits for a worker")
    jobs.add(session, jobs.CHECK, services.lease_clock.now(), entry.id, entry.id)
    note(session, services.now(), actor, "entry received", f"entry {entry.id}", {"bytes": stored.size})
    return entry


def quota(services: Services, session: Session, user_id: int) -> Quota:
    """What an account has used today, by the challenge's time zone."""
    start = (
        services.now().astimezone(ZoneInfo(services.zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    )
    tomorrow = (start + timedelta(days=1, hours=2)).replace(hour=0)
    counted = select(func.count()).select_from(Entry)
    counted = counted.where(Entry.user_id == user_id, Entry.received_at >= start.astimezone(UTC))
    used = session.scalar(counted.where(Entry.state.not_in(UNCOUNTED))) or 0
    return Quota(used, services.challenge.limits.submissions_per_day, tomorrow.astimezone(UTC))


def _check_quota(state: Quota) -> None:
    if state.is_used_up:
        again = state.renewed.strftime("%Y-%m-%d %H:%M UTC")
        raise Refusal(
            429,
            "quota",
            f"{state.used} of {state.limit} entries of today are used. You may send the next after {again}.",
        )


def cancel(services: Services, actor: Actor, entry_id: int) -> Entry:
    """Take back an entry that nobody has begun to score; it does not count against the quota."""
    with services.database.writing() as session:
        entry = session.get(Entry, entry_id)
        if entry is None or actor.user is None or entry.user_id != actor.user.id:
            raise not_found("such entry")
        job = session.scalar(
            select(QueuedJob).where(QueuedJob.key == f"{jobs.CHECK}:{entry_id}").with_for_update()
        )
        session.refresh(entry, with_for_update={"of": Entry})  # after the job, as workers do
        if entry.state != RECEIVED or job is None or job.state != jobs.WAITING or job.attempts:
            raise Refusal(
                409, "too_late", f"Entry {entry_id} is {entry.state}; only waiting ones can be cancelled."
            )
        job.state, job.reason, job.changed_at = jobs.DONE, "cancelled", services.lease_clock.now()
        enter(session, entry, CANCELLED, services.now(), "cancelled by the participant")
        note(session, services.now(), actor, "entry cancelled", f"entry {entry_id}")
    return entry


def choose(services: Services, actor: Actor, entry_id: int) -> Entry:
    """Let this entry be the one that the final ranking takes, where the rules leave it to participants."""
    with services.database.writing() as session:
        entry = session.get(Entry, entry_id)
        if entry is None or actor.user is None or entry.user_id != actor.user.id:
            raise not_found("such entry")
        if services.challenge.rules.rank_pool != "chosen":
            raise Refusal(409, "no_choice", "In this challenge participants do not choose what counts.")
        held = schedule(session, services.challenge.phases)
        if held.stage(services.now()) is Stage.ENDED:
            raise _ended(held)
        if entry.state != SCORED or not entry.is_complete:
            raise Refusal(409, "not_complete", f"Entry {entry_id} is not complete: it cannot be ranked.")
        session.get_one(User, actor.user.id).chosen_entry_id = entry_id
        note(session, services.now(), actor, "entry chosen", f"entry {entry_id}")
    return entry


def own(session: Session, user: User, entry_id: int) -> Entry:
    """An entry of one's own; an organiser sees all of them."""
    entry = session.get(Entry, entry_id)
    if entry is None or not (user.is_organiser or entry.user_id == user.id):
        raise not_found("such entry")
    return entry


def of_user(session: Session, user_id: int, limit: int = 500) -> list[Entry]:
    """The entries of an account, the newest first."""
    query = select(Entry).where(Entry.user_id == user_id).order_by(Entry.received_at.desc(), Entry.id.desc())
    return list(session.scalars(query.limit(limit)))
