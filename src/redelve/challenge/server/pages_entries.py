"""Pages of one's entries: sending one, seeing what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse, Response

from redelve.challenge.server import entries, visible
from redelve.challenge.server.audit import history
from redelve.challenge.server.drawings import figure_1, over_time
from redelve.challenge.server.entries import Offer
from redelve.challenge.server.pages import Number
from redelve.challenge.server.pages_boards import boards_of
from redelve.challenge.server.receiving import pieces, receive_entry
from redelve.challenge.server.web import GENUINE, GENUINE_SCRIPT, Member, Serving, Visiting, page, see

router = APIRouter(include_in_schema=False)


@router.get("/submit")
def submit_page(request: Request, services: Serving, who: Member) -> HTMLResponse:
    """The form to send an entry."""
    assert who.user is not None
    with services.database.reading() as session:
        quota = entries.quota(services, session, who.user.id)
    return page(request, "submit.html", who, {"quota": quota})


@router.post("/submit", dependencies=[GENUINE_SCRIPT])
async def submit(
    request: Request, services: Serving, who: Member, label: Annotated[str, Query(max_length=400)] = ""
) -> JSONResponse:
    """Take an entry from the page's script: the file is the body."""
    entry, _ = await receive_entry(services, who.actor, request.stream(), Offer(label))
    return JSONResponse({"id": entry.id, "state": entry.state}, 201)


@router.post("/submit/form", dependencies=[GENUINE])
async def submit_form(
    services: Serving, who: Member, file: UploadFile, label: Annotated[str, Form(max_length=400)] = ""
) -> Response:
    """Take an entry from a browser without scripts."""
    entry, _ = await receive_entry(services, who.actor, pieces(file), Offer(label))
    return see(f"/entries/{entry.id}")


@router.get("/entries")
def my_entries(request: Request, services: Serving, who: Member) -> HTMLResponse:
    """All of one's entries."""
    assert who.user is not None
    with services.database.reading() as session:
        found = entries.of_user(session, who.user.id)
        scores = visible.validation_bers(services, session, found)
    return page(request, "entries.html", who, {"entries": found, "scores": scores})


@router.get("/entries/{entry_id}")
def entry_page(request: Request, services: Serving, who: Member, entry_id: Number) -> HTMLResponse:
    """An entry of one's own with its scores, figure 1 and history."""
    assert who.user is not None
    with services.database.reading() as session:
        entry = entries.own(session, who.user, entry_id)
        development = visible.development_scores(services, session, entry)
        final = visible.final_scores(services, session, entry)
        events = history(session, entry_id)
    values = {
        "entry": entry,
        "events": events,
        "development": _lines(development, ("train", "valid")),
        "final": _lines(final, ("test",)),
        "is_rounded": not visible.labels_are_out(services),
        "figures": _figures(final, "test") if final else _figures(development, "valid"),
    }
    return page(request, "entry.html", who, values)


def _lines(scores: Mapping[str, Any], parts: tuple[str, ...]) -> list[dict[str, Any]]:
    """A line for each dataset and part."""
    return [
        {"dataset": name, "part": part, **content["parts"][part], **_guesses(content, part)}
        for name, content in sorted(scores.items())
        for part in parts
        if part in content["parts"]
    ]


def _guesses(content: Mapping[str, Any], part: str) -> dict[str, Any]:
    keys = ("guess", "guess_error", "weight", "score")
    return {key: content[key] if part == "test" else None for key in keys}


def _figures(scores: Mapping[str, Any], part: str) -> list[tuple[str, Any]]:
    return [
        (name, figure_1(found["ber"], found["ber_error"], content["guess"]))
        for name, content in sorted(scores.items())
        if (found := content["parts"].get(part)) is not None
    ]


@router.get("/entries/{entry_id}/state")
def entry_state(services: Serving, who: Member, entry_id: Number) -> JSONResponse:
    """The state alone, for the page that waits for it."""
    assert who.user is not None
    with services.database.reading() as session:
        entry = entries.own(session, who.user, entry_id)
    return JSONResponse({"id": entry.id, "state": entry.state})


@router.post("/entries/{entry_id}/cancel", dependencies=[GENUINE])
def cancel(services: Serving, who: Member, entry_id: Number) -> Response:
    """Take back an entry that waits."""
    entries.cancel(services, who.actor, entry_id)
    return see("/entries")


@router.post("/entries/{entry_id}/choose", dependencies=[GENUINE])
def choose(services: Serving, who: Member, entry_id: Number) -> Response:
    """Let an entry be the one that counts."""
    entries.choose(services, who.actor, entry_id)
    return see("/entries")


@router.get("/learning")
def learning_page(request: Request, services: Serving, who: Visiting) -> HTMLResponse:
    """How validation errors came down over time: one's own, and the best of all."""
    with services.database.reading() as session:
        own = visible.learning(services, session, who.user.id) if who.user is not None else {}
    best = boards_of(request).best()
    figures = [
        (name, over_time(own.get(name, []), best.get(name, []), f"Validation BER over time, {name}"))
        for name in services.challenge.names
        if own.get(name) or best.get(name)
    ]
    return page(request, "learning.html", who, {"figures": figures, "has_own": bool(own)})
