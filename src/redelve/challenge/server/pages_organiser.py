"""The organiser's pages: phases, participants, entries, jobs, export, audit log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from sqlalchemy import func, select

from redelve.challenge.server import audit, exports, organising
from redelve.challenge.server.organising import MOMENTS
from redelve.challenge.server.pages import Number, Text
from redelve.challenge.server.pages_boards import table
from redelve.challenge.server.services import Services
from redelve.challenge.server.tables import Entry, Job, User
from redelve.challenge.server.web import GENUINE, Organising, Serving, organiser, page, see

router = APIRouter(prefix="/organiser", include_in_schema=False, dependencies=[Depends(organiser)])
Reason = Annotated[str, Form(max_length=1000)]
Undo = Annotated[bool, Form()]
SHOWN = 200


@router.get("")
def overview(request: Request, services: Serving, who: Organising) -> HTMLResponse:
    """Phases, participants, entries and jobs at a glance."""
    return page(request, "organiser.html", who, _values(services) | {"link": None})


def _values(services: Services) -> dict[str, Any]:
    with services.database.reading() as session:
        users = session.execute(
            select(User, func.count(Entry.id))
            .outerjoin(Entry, Entry.user_id == User.id)
            .group_by(User.id)
            .order_by(User.id.desc())
            .limit(SHOWN)
        ).all()
        newest = list(session.scalars(select(Entry).order_by(Entry.id.desc()).limit(SHOWN)))
        jobs = session.execute(select(Job.kind, Job.state, func.count()).group_by(Job.kind, Job.state)).all()
        given_up = list(session.scalars(select(Job).where(Job.state == "given up").limit(SHOWN)))
        notes = audit.latest(session, 20)
    return {"users": users, "entries": newest, "jobs": jobs, "given_up": given_up, "notes": notes} | {
        "exports": exports.exported(services)
    }


@router.post("/phases", dependencies=[GENUINE])
def move_phases(
    services: Serving,
    who: Organising,
    reason: Reason,
    opens: Text = "",
    validation_labels: Text = "",
    ends: Text = "",
) -> Response:
    """Move phases that lie ahead."""
    given = dict(zip(MOMENTS, (opens, validation_labels, ends), strict=True))
    organising.move_phases(services, who.actor, given, reason)
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
    return page(request, "organiser.html", who, _values(services) | {"link": link})


@router.post("/entries/{entry_id}/retry", dependencies=[GENUINE])
def retry(services: Serving, who: Organising, entry_id: Number) -> Response:
    """Let workers try again what they gave up."""
    organising.retry_entry(services, who.actor, entry_id)
    return see("/organiser")


@router.post("/ranking", dependencies=[GENUINE])
def rank_again(services: Serving, who: Organising) -> Response:
    """Make the final ranking anew."""
    organising.rank_again(services, who.actor)
    return see("/organiser")


@router.get("/audit")
def audit_log(
    request: Request,
    services: Serving,
    who: Organising,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> HTMLResponse:
    """The audit log, page by page."""
    with services.database.reading() as session:
        notes = audit.latest(session, SHOWN, before)
    older = notes[-1].id if len(notes) == SHOWN else None
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
