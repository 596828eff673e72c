"""The queue: jobs are leased, a lease is kept alive, and who loses it has done nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import and_, exists, func, or_, select, update
from sqlalchemy.orm import Session

from redelve.challenge.server.audit import enter
from redelve.challenge.server.database_tables import (
    CHECKING,
    FAILED,
    RECEIVED,
    SCORED,
    Entry,
    Fact,
    QueuedJob,
    RankingMade,
)
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import CLOSED

CHECK, FINAL, RANKING, EXPORT = "check", "final", "ranking", "export"
PRIORITY = {CHECK: 0, FINAL: 10, RANKING: 20, EXPORT: 30}
WAITING, LEASED, DONE, GIVEN_UP = "waiting", "leased", "done", "given up"
OPEN = (WAITING, LEASED)
SCORING = (CHECK, FINAL, RANKING)
"""The kinds of jobs that the final ranking comes of."""


@dataclass(frozen=True)
class Lease:
    """A job that is this worker's, as long as the lease is kept alive."""

    job_id: int
    kind: str
    entry_id: int | None
    key: str
    secret: str
    attempt: int


def add(session: Session, kind: str, now: datetime, number: int, entry_id: int | None = None) -> QueuedJob:
    """Put a job into the queue; its key makes sure that it is there once."""
    job = QueuedJob(
        key=f"{kind}:{number}",
        kind=kind,
        entry_id=entry_id,
        priority=PRIORITY[kind],
        state=WAITING,
        attempts=0,
        created_at=now,
        changed_at=now,
        reason="waits for a worker",
    )
    session.add(job)
    return job


def take(services: Services, owner: str) -> Lease | None:
    """The next job, or one whose worker died; None when there is nothing to do."""
    with services.database.reading() as session:
        if session.scalar(select(QueuedJob.id).where(_free(services)).limit(1)) is None:
            return None
    while True:
        with services.database.writing() as session:
            query = (
                select(QueuedJob).where(_free(services)).order_by(QueuedJob.priority, QueuedJob.id).limit(1)
            )
            job = session.scalar(query.with_for_update(skip_locked=True))
            if job is None:
                return None
            if job.attempts < services.settings.attempts:
                return _lease(services, session, job, owner)
            reason = f"its worker stopped unexpectedly, {job.attempts} times"
            _give_up(services, session, job, reason)


def _free(services: Services):  # type: ignore[no-untyped-def]
    now, span = services.lease_clock.now(), timedelta(seconds=services.settings.lease_seconds)
    is_over = or_(
        QueuedJob.lease_until < now, QueuedJob.lease_until > now + 2 * span
    )  # or the clock was put back
    return or_(QueuedJob.state == WAITING, and_(QueuedJob.state == LEASED, is_over))


def _lease(services: Services, session: Session, job: QueuedJob, owner: str) -> Lease:
    again = f", again: {job.owner} did not finish" if job.state == LEASED else ""
    job.attempts += 1
    job.state, job.owner, job.lease = LEASED, owner[:120], uuid4().hex
    job.lease_until = _until(services)
    job.changed_at = services.lease_clock.now()
    job.reason = f"{owner} works on it (attempt {job.attempts}{again})"
    if job.kind == CHECK:
        told = f"is checked and scored (attempt {job.attempts})"
        enter(session, _entry(session, job), CHECKING, services.now(), told)
    return Lease(job.id, job.kind, job.entry_id, job.key, job.lease, job.attempts)


def _until(services: Services) -> datetime:
    return services.lease_clock.now() + timedelta(seconds=services.settings.lease_seconds)


def _entry(session: Session, job: QueuedJob) -> Entry:
    return session.get_one(Entry, job.entry_id)


def keep_alive(services: Services, lease: Lease) -> bool:
    """Make the lease last longer; False when it is lost."""
    with services.database.writing() as session:
        mine = update(QueuedJob).where(
            QueuedJob.id == lease.job_id, QueuedJob.lease == lease.secret, QueuedJob.state == LEASED
        )
        return session.execute(mine.values(lease_until=_until(services))).rowcount == 1  # type: ignore[attr-defined,no-any-return]


def finish(services: Services, session: Session, lease: Lease, reason: str) -> bool:
    """Mark the job as done in the transaction of its results; False when another worker has it by now."""
    mine = update(QueuedJob).where(
        QueuedJob.id == lease.job_id, QueuedJob.lease == lease.secret, QueuedJob.state == LEASED
    )
    values = {"state": DONE, "lease_until": None, "changed_at": services.lease_clock.now(), "reason": reason}
    return session.execute(mine.values(**values)).rowcount == 1  # type: ignore[attr-defined,no-any-return]


def fail(services: Services, lease: Lease, reason: str) -> None:
    """The attempt failed: try again later, or give up after some attempts."""
    with services.database.writing() as session:
        query = select(QueuedJob).where(
            QueuedJob.id == lease.job_id, QueuedJob.lease == lease.secret, QueuedJob.state == LEASED
        )
        job = session.scalar(query.with_for_update())
        if job is None:
            return
        if job.attempts >= services.settings.attempts:
            _give_up(services, session, job, reason)
            return
        job.state, job.lease_until, job.reason = WAITING, None, f"attempt {job.attempts}: {reason}"
        job.changed_at = services.lease_clock.now()
        if job.kind == CHECK:
            enter(session, _entry(session, job), RECEIVED, services.now(), "waits for another attempt")


def _give_up(services: Services, session: Session, job: QueuedJob, reason: str) -> None:
    job.state, job.lease_until, job.reason = GIVEN_UP, None, reason
    job.changed_at = services.lease_clock.now()
    if job.kind == CHECK:
        told = (
            f"The server could not score this entry ({reason}). It does not count; the organiser can retry."
        )
        enter(session, _entry(session, job), FAILED, services.now(), told)


def retry(services: Services, session: Session, entry_id: int | None = None) -> int:
    """Put the jobs of an entry, or of all, that were given up back into the queue; how many there were."""
    which = QueuedJob.entry_id.is_not(None) if entry_id is None else QueuedJob.entry_id == entry_id
    found = list(
        session.scalars(select(QueuedJob).where(which, QueuedJob.state == GIVEN_UP).with_for_update())
    )
    for job in found:
        job.state, job.attempts, job.reason = WAITING, 0, "the organiser asked for another attempt"
        job.changed_at = services.lease_clock.now()
        if job.kind == CHECK:
            enter(session, _entry(session, job), RECEIVED, services.now(), job.reason)
    return len(found)


def seed_finals(session: Session, now: datetime) -> int:
    """After the end: a job to score the test cases of every entry that lacks one."""
    there = exists().where(QueuedJob.entry_id == Entry.id, QueuedJob.kind == FINAL)
    wanted = list(session.scalars(select(Entry.id).where(Entry.state == SCORED, ~there).order_by(Entry.id)))
    for entry_id in wanted:
        add(session, FINAL, now, entry_id, entry_id)
    session.flush()
    return len(wanted)


def seed_ranking(session: Session, now: datetime, revision: int) -> bool:
    """When everything is scored: a job to make the final ranking; whether it was needed."""
    if open_jobs(session, *SCORING) or session.get(RankingMade, revision) is not None:
        return False
    if session.scalar(select(QueuedJob.id).where(QueuedJob.key == f"{RANKING}:{revision}")) is not None:
        return False
    add(session, RANKING, now, revision)
    session.flush()
    return True


def lacks_ending(session: Session, revision: int) -> bool:
    """Whether, after the end, there is something to write down: the end itself, or jobs that it brings."""
    if session.get(Fact, CLOSED) is None:
        return True
    there = exists().where(QueuedJob.entry_id == Entry.id, QueuedJob.kind == FINAL)
    if session.scalar(select(Entry.id).where(Entry.state == SCORED, ~there).limit(1)) is not None:
        return True
    is_asked_for = (
        session.scalar(select(QueuedJob.id).where(QueuedJob.key == f"{RANKING}:{revision}")) is not None
    )
    return not is_asked_for and not open_jobs(session, *SCORING)


def open_jobs(session: Session, *kinds: str) -> int:
    """How many jobs are not done yet."""
    query = select(func.count()).select_from(QueuedJob).where(QueuedJob.state.in_(OPEN))
    if kinds:
        query = query.where(QueuedJob.kind.in_(kinds))
    return session.scalar(query) or 0


def given_up(session: Session, kind: str) -> int:
    """How many jobs of a kind nobody tries any more."""
    query = (
        select(func.count()).select_from(QueuedJob).where(QueuedJob.state == GIVEN_UP, QueuedJob.kind == kind)
    )
    return session.scalar(query) or 0
