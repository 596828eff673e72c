"""The REST API under /api/v1: the same rights and the same views as the pages, by token."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from redelve.challenge.server import api_models as models
from redelve.challenge.server import entries, visible
from redelve.challenge.server.accounts import Accounts
from redelve.challenge.server.audit import Actor
from redelve.challenge.server.database_tables import User
from redelve.challenge.server.entries import Offer
from redelve.challenge.server.pages_boards import boards_of
from redelve.challenge.server.public_files import all_files, downloads, one_file
from redelve.challenge.server.receiving import receive_entry
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.standing import Stage
from redelve.challenge.server.web import Serving, address_of

bearer = HTTPBearer(auto_error=False, description="A token made on the account page, or by POST /tokens.")
ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": models.ErrorAnswer} for code in (400, 401, 403, 404, 409, 422, 429)
}
UPLOAD_ERRORS: dict[int | str, dict[str, Any]] = {code: {"model": models.ErrorAnswer} for code in (408, 413)}
router = APIRouter(prefix="/api/v1", responses=ERRORS)
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
ZIP_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def account_of(
    request: Request,
    services: Serving,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> Actor:
    """Whose token came with the request; cookies are not looked at."""
    accounts: Accounts = services.accounts
    user = accounts.token_user(credentials.credentials) if credentials is not None else None
    if user is None:
        raise Refusal(401, "token_needed", "Send a valid token: Authorization: Bearer redelve_…")
    return Actor(user, address_of(request))


Acting = Annotated[Actor, Depends(account_of)]


def _user(actor: Actor) -> User:
    assert actor.user is not None
    return actor.user


@router.get("/challenge", response_model=models.ChallengeAnswer)
def challenge(services: Serving) -> dict[str, Any]:
    """The challenge: its datasets, phases, limits, and where it stands."""
    found, held, now = services.challenge, services.schedule(), services.now()
    phases = held.phases
    return {
        "title": found.title,
        "description": found.description,
        "stage": held.stage(now).name.lower(),
        "now": now,
        "time_zone": services.zone,
        "phases": {"opens": phases.opens, "validation_labels": phases.validation_labels, "ends": phases.ends},
        "limits": asdict(found.limits),
        "rules": asdict(found.rules),
        "datasets": [
            {"name": each.name, "kind": each.kind, "features": each.features, "sizes": dict(each.sizes)}
            for each in found.datasets
        ],
    }


@router.get("/commitments", response_model=models.CommitmentsAnswer)
def commitments(services: Serving) -> dict[str, Any]:
    """Salted hashes of the secret labels and of the rules, and, after the end, the salts."""
    return visible.commitments_document(services)


@router.get("/data", response_model=dict[str, list[models.FileAnswer]])
def data(services: Serving) -> dict[str, list[dict[str, Any]]]:
    """The files that can be downloaded now, by dataset."""
    return {
        dataset: [{"name": name, "size": path.stat().st_size} for name, path in files.items()]
        for dataset, files in downloads(services).items()
    }


@router.get("/data/{dataset}/{file}", response_class=FileResponse)
def data_file(services: Serving, dataset: str, file: str) -> FileResponse:
    """One of these files."""
    return one_file(services, dataset, file)


@router.get("/data.zip", response_class=FileResponse)
def data_zip(services: Serving) -> FileResponse:
    """All of these files, as a zip."""
    return all_files(services)


@router.post("/accounts", status_code=201, response_model=models.AccountAnswer)
def register(request: Request, services: Serving, wanted: models.Credentials) -> dict[str, Any]:
    """Register as a participant."""
    user = services.accounts.register(services.now(), address_of(request), wanted.name, wanted.password)
    return {"id": user.id, "name": user.name, "role": user.role}


@router.post("/tokens", status_code=201, response_model=models.TokenAnswer)
def make_token(request: Request, services: Serving, wanted: models.TokenWanted) -> dict[str, Any]:
    """Make a token by name and password; it is shown this once."""
    now, address = services.now(), address_of(request)
    user, secret = services.accounts.login(now, address, wanted.name, wanted.password)
    services.accounts.logout(now, address, secret)
    token, word = services.accounts.make_token(now, Actor(user, address), wanted.label)
    return {"id": token.id, "label": token.label, "token": word}


@router.get("/account", response_model=models.OwnAccountAnswer)
def account(services: Serving, actor: Acting) -> dict[str, Any]:
    """The account of the token, and what is left of today's quota."""
    user = _user(actor)
    with services.database.reading() as session:
        quota = entries.quota(services, session, user.id)
    held = {"used": quota.used, "limit": quota.limit, "renewed": quota.renewed}
    return {"id": user.id, "name": user.name, "role": user.role, "quota": held}


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(services: Serving, actor: Acting, token_id: Number) -> Response:
    """Make one of one's own tokens useless."""
    services.accounts.revoke_token(services.now(), actor, token_id)
    return Response(status_code=204)


@router.post(
    "/entries",
    status_code=201,
    response_model=models.EntryAnswer,
    responses=UPLOAD_ERRORS | {200: {"model": models.EntryAnswer, "description": "This upload was known."}},
    openapi_extra=ZIP_BODY,
)
async def submit(
    request: Request,
    services: Serving,
    actor: Acting,
    label: Annotated[str, Query(max_length=400)] = "",
    idempotency_key: Annotated[str | None, Header(max_length=80)] = None,
) -> Response:
    """Send an entry: the zip is the body. With an Idempotency-Key, sending it again makes no second one."""
    entry, is_new = await receive_entry(services, actor, request.stream(), Offer(label, idempotency_key))
    document = models.EntryAnswer.model_validate(visible.entry_document(entry))
    return JSONResponse(document.model_dump(mode="json"), 201 if is_new else 200)


@router.get("/entries", response_model=list[models.EntryAnswer])
def my_entries(
    services: Serving, actor: Acting, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> list[dict[str, Any]]:
    """One's entries, the newest first."""
    with services.database.reading() as session:
        found = entries.of_user(session, _user(actor).id, limit)
        return [visible.entry_document(entry) for entry in found]


@router.get("/entries/{entry_id}", response_model=models.DetailedEntryAnswer)
def entry(services: Serving, actor: Acting, entry_id: Number) -> dict[str, Any]:
    """An entry with its history and the scores that may be seen now."""
    with services.database.reading() as session:
        return visible.detailed_document(services, session, entries.own(session, _user(actor), entry_id))


@router.post("/entries/{entry_id}/cancel", response_model=models.EntryAnswer)
def cancel(services: Serving, actor: Acting, entry_id: Number) -> dict[str, Any]:
    """Take back an entry that waits to be scored."""
    return visible.entry_document(entries.cancel(services, actor, entry_id))


@router.post("/entries/{entry_id}/choose", response_model=models.EntryAnswer)
def choose(services: Serving, actor: Acting, entry_id: Number) -> dict[str, Any]:
    """Let a complete entry be the one that counts, where the rules leave that to participants."""
    return visible.entry_document(entries.choose(services, actor, entry_id))


@router.get("/leaderboard", response_model=models.BoardAnswer)
def leaderboard(request: Request) -> dict[str, Any]:
    """The leaderboard by validation cases."""
    return boards_of(request).development()


@router.get("/ranking", response_model=models.BoardAnswer)
def ranking(request: Request, services: Serving) -> dict[str, Any]:
    """The final ranking, once the challenge has ended and everything is scored."""
    if services.stage() is not Stage.ENDED:
        raise Refusal(403, "sealed", "There is no final ranking before the end.")
    found = boards_of(request).final()
    if found is None:
        raise Refusal(409, "in_the_making", "Test cases are being scored: ask again in a moment.")
    return found
