"""The organiser's pages: phases, participants, entries, jobs, export, audit log."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from sqlalchemy import ColumnElement, String, cast, func, select
from sqlalchemy.orm import Session

from redelve.challenge.server import audit, exports, organising
from redelve.challenge.server.belonging import lacking_test_labels
from redelve.challenge.server.database_tables import Entry, QueuedJob, User
from redelve.challenge.server.jobs import GIVEN_UP
from redelve.challenge.server.pages import Number, Text
from redelve.challenge.server.pages_boards import table
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import Stage
from redelve.challenge.server.texts import comparable, printable
from redelve.challenge.server.web import GENUINE, Organising, Serving, organiser, page, see

router = APIRouter(prefix="/organiser", include_in_schema=False, dependencies=[Depends(organiser)])
Reason = Annotated[str, Form(max_length=1000)]
Undo = Annotated[bool, Form()]
Earlier = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
LISTED, NOTES = 50, 200


@dataclass(frozen=True)
class Moments:
    """New times for the phases, as they were typed."""

    opens: Text = ""
    validation_labels: Text = ""
    ends: Text = ""


@dataclass(frozen=True)
class FilterChoice:
    """Which accounts and entries the page lists: those found by a text, older than a number."""

    find: Annotated[str, Query(max_length=80)] = ""
    accounts_before: Earlier = None
    entries_before: Earlier = None

    def users(self, session: Session) -> list[tuple[User, int]]:
        """Accounts whose names hold the text, with the number of their entries, the newest first."""
        query = (
            select(User, func.count(Entry.id))
            .outerjoin(Entry, Entry.user_id == User.id)
            .where(_named(self.find))
            .group_by(User.id)
            .order_by(User.id.desc())
        )
        if self.accounts_before is not None:
            query = query.where(User.id < self.accounts_before)
        return [(user, count) for user, count in session.execute(query.limit(LISTED))]

    def entries(self, session: Session) -> list[Entry]:
        """Entries of these participants, or of that number, the newest first."""
        is_wanted = _named(self.find)
        if self.find.strip().isascii() and self.find.strip().isdigit():
            is_wanted = is_wanted | (cast(Entry.id, String) == self.find.strip())
        query = select(Entry).join(User, Entry.user_id == User.id).where(is_wanted).order_by(Entry.id.desc())
        if self.entries_before is not None:
            query = query.where(Entry.id < self.entries_before)
        return list(session.scalars(query.limit(LISTED)))


def _named(text: str) -> ColumnElement[bool]:
    return User.name_key.contains(comparable(printable(text)), autoescape=True)


Chosen = Annotated[FilterChoice, Depends()]


@router.get("")
def overview(request: Request, services: Serving, who: Organising, chosen: Chosen) -> HTMLResponse:
    """Phases, participants, entries and jobs at a glance."""
    return page(request, "organiser.html", who, _values(services, chosen))


def _values(services: Services, chosen: FilterChoice, **more: Any) -> dict[str, Any]:
    with services.database.reading() as session:
        users, entries = chosen.users(session), chosen.entries(session)
        jobs = session.execute(
            select(QueuedJob.kind, QueuedJob.state, func.count()).group_by(QueuedJob.kind, QueuedJob.state)
        ).all()
        given_up = list(session.scalars(select(QueuedJob).where(QueuedJob.state == GIVEN_UP).limit(LISTED)))
        notes = audit.latest(session, 20)
    return {
        "users": users,
        "entries": entries,
        "older_users": users[-1][0].id if len(users) == LISTED else None,
        "older_entries": entries[-1].id if len(entries) == LISTED else None,
        "find": chosen.find,
        "jobs": jobs,
        "given_up": given_up,
        "lacking": lacking_test_labels(services.challenge) if services.stage() is Stage.ENDED else [],
        "notes": notes,
        "exports": exports.exported(services),
        "link": None,
        "problem": None,
        "given": {},
    } | more


@router.post("/phases", dependencies=[GENUINE])
def move_phases(
    request: Request,
    services: Serving,
    who: Organising,
    reason: Reason,
    wanted: Annotated[Moments, Depends()],
) -> Response:
    """Move phases that lie ahead; what cannot be is told beside the form, which keeps what was typed."""
    given = asdict(wanted)
    try:
        organising.move_phases(services, who.actor, given, reason)
    except Refusal as problem:
        values = _values(services, FilterChoice(), problem=problem, given=given | {"reason": reason})
        return page(request, "organiser.html", who, values, problem.status)
    return see("/organiser")


@router.post("/entries/{entry_id}/disqualify", dependencies=[GENUINE])
def disqualify_entry(
    services: Serving, who: Organising, entry_id: Number, reason: Reason, undo: Undo = False
) -> Response:
    """Take an entry out of the boards, or back."""
    organising.disqualify_entry(services, who.actor, entry_id, reason, undo=undo)
    return see("/organiser")


@router.post("/users/{user_id}/disqualify", dependencies=[GENUINE])
def disqualify_user(
    services: Serving, who: Organising, user_id: Number, reason: Reason, undo: Undo = False
) -> Response:
    """Take a participant out of the boards, or back."""
    organising.disqualify_user(services, who.actor, user_id, reason, undo=undo)
    return see("/organiser")


@router.post("/users/{user_id}/link", dependencies=[GENUINE])
def reset_link(request: Request, services: Serving, who: Organising, user_id: Number) -> HTMLResponse:
    """Show a link by which an account gets a new password."""
    path = organising.reset_link(services, who.actor, user_id)
    link = str(request.base_url).rstrip("/") + path
    return page(request, "organiser.html", who, _values(services, FilterChoice(), link=link))


@router.post("/entries/{entry_id}/retry", dependencies=[GENUINE])
def retry(services: Serving, who: Organising, entry_id: Number) -> Response:
    """Let workers try again what they gave up."""
    organising.retry_entry(services, who.actor, entry_id)
    return see("/organiser")


@router.post("/retry", dependencies=[GENUINE])
def retry_all(services: Serving, who: Organising) -> Response:
    """Let workers try again everything they gave up."""
    organising.retry_all(services, who.actor)
    return see("/organiser")


@router.post("/ranking", dependencies=[GENUINE])
def rank_again(services: Serving, who: Organising) -> Response:
    """Make the final ranking anew."""
    organising.rank_again(services, who.actor)
    return see("/organiser")


@router.post("/clock", dependencies=[GENUINE])
def confirm_clock(services: Serving, who: Organising) -> Response:
    """Take the machine's word for the time after a jump."""
    organising.confirm_clock(services, who.actor)
    return see("/organiser")


@router.get("/audit")
def audit_log(
    request: Request,
    services: Serving,
    who: Organising,
    before: Earlier = None,
) -> HTMLResponse:
    """The audit log, page by page."""
    with services.database.reading() as session:
        notes = audit.latest(session, NOTES, before)
    older = notes[-1].id if len(notes) == NOTES else None
    return page(request, "audit.html", who, {"notes": notes, "older": older})


@router.get("/audit.csv")
def audit_table(services: Serving) -> Response:
    """The whole audit log."""
    with services.database.reading() as session:
        notes = audit.latest(session, 10**6)
    rows = [
        [n.id, n.at.isoformat(), n.actor, n.action, n.target, str(n.details or ""), n.address] for n in notes
    ]
    return table(("number", "at", "actor", "action", "target", "details", "address"), rows, "audit.csv")


@router.post("/export", dependencies=[GENUINE])
def export(services: Serving, who: Organising) -> Response:
    """Ask for the archive of all results; sealed until the end."""
    exports.ask(services, who.actor)
    return see("/organiser")


@router.get("/exports/{number}")
def export_file(services: Serving, number: Number) -> FileResponse:
    """The archive of all results."""
    path = exports.file_of(services, number)
    return FileResponse(path, media_type="application/zip", filename=path.name)
