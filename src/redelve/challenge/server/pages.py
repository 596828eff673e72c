"""Pages for everybody: home, data, registering, logging in, one's account."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from redelve.challenge.server import visible
from redelve.challenge.server.pages_boards import boards_of
from redelve.challenge.server.public_files import all_files, downloads, one_file
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import Stage
from redelve.challenge.server.web import (
    GENUINE,
    Member,
    Serving,
    Visiting,
    Visitor,
    address_of,
    cookie_name,
    form_page,
    page,
    see,
    set_cookie,
)

router = APIRouter(include_in_schema=False)
Text = Annotated[str, Form(max_length=400)]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.get("/")
def home(request: Request, services: Serving, who: Visiting) -> HTMLResponse:
    """What the challenge is, and what comes next."""
    coming = services.schedule().next_change(services.now())
    distance = _distance(coming[1] - services.now()) if coming else ""
    paragraphs = [each.strip() for each in services.challenge.description.split("\n\n") if each.strip()]
    bound = {} if services.stage() is Stage.BEFORE else visible.commitments_document(services)["hashes"]
    values = {"coming": coming, "distance": distance, "paragraphs": paragraphs, "bound": bound}
    values["is_final"] = boards_of(request).final() is not None
    return page(request, "home.html", who, values)


def _distance(left: timedelta) -> str:
    days, seconds = left.days, left.seconds
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{days} day{'s' if days != 1 else ''} {clock}" if days else clock


# Data


@router.get("/data")
def data(request: Request, services: Serving, who: Visiting) -> HTMLResponse:
    """The files to download."""
    files = downloads(services)
    folders = [(name, [(f, p.stat().st_size) for f, p in held.items()]) for name, held in files.items()]
    stage = services.stage()
    values = {"folders": folders, "is_open": stage > Stage.BEFORE, "has_labels": stage >= Stage.LABELS}
    return page(request, "data.html", who, values)


@router.get("/data/{dataset}/{file}")
def data_file(services: Serving, dataset: str, file: str) -> FileResponse:
    """One of the files."""
    return one_file(services, dataset, file)


@router.get("/data.zip")
def data_zip(services: Serving) -> FileResponse:
    """All files at once."""
    return all_files(services)


# Accounts


def _login_form(is_new: bool, heading: str, problem: Refusal | None = None, name: str = "") -> dict[str, Any]:
    return {"is_new": is_new, "asks_name": True, "heading": heading, "problem": problem, "name": name[:60]}


@router.get("/login")
def login_page(request: Request, who: Visiting) -> HTMLResponse:
    """The form to log in."""
    return form_page(request, "login.html", who, _login_form(False, "Log in"))


@router.post("/login", dependencies=[GENUINE])
def login(request: Request, services: Serving, who: Visiting, name: Text, password: Text) -> Response:
    """Log in; the browser gets a new cookie, whatever it had before."""
    try:
        user, secret = services.accounts.login(services.now(), who.address, name, password)
    except Refusal as problem:
        shown = _login_form(False, "Log in", problem, name)
        return _with_wait(form_page(request, "login.html", who, shown, problem.status), problem)
    response = see("/organiser" if user.is_organiser else "/submit")
    _replace_session(services, who, response, secret)
    return response


def _replace_session(services: Services, who: Visitor, response: Response, secret: str) -> None:
    """End the session that the old cookie may have had, and give the new one."""
    services.accounts.logout(services.now(), who.address, who.cookie)
    set_cookie(response, services, secret)


def _with_wait(response: HTMLResponse, problem: Refusal) -> HTMLResponse:
    if problem.retry_after is not None:
        response.headers["Retry-After"] = str(problem.retry_after)
    return response


@router.get("/register")
def register_page(request: Request, who: Visiting) -> HTMLResponse:
    """The form to register."""
    return form_page(request, "login.html", who, _login_form(True, "Register"))


@router.post("/register", dependencies=[GENUINE])
def register(request: Request, services: Serving, who: Visiting, name: Text, password: Text) -> Response:
    """Make an account and log in."""
    now = services.now()
    try:
        user = services.accounts.register(now, who.address, name, password)
    except Refusal as problem:
        shown = _login_form(True, "Register", problem, name)
        return _with_wait(form_page(request, "login.html", who, shown, problem.status), problem)
    response = see("/submit")
    _replace_session(services, who, response, services.accounts.admit(now, who.address, user))
    return response


@router.post("/logout", dependencies=[GENUINE])
def logout(request: Request, services: Serving, who: Visiting) -> Response:
    """End the session."""
    services.accounts.logout(services.now(), address_of(request), who.cookie)
    response = see("/")
    response.delete_cookie(cookie_name(services), path="/", secure=services.settings.secure, httponly=True)
    return response


@router.get("/link/{secret}")
def link_page(request: Request, services: Serving, who: Visiting, secret: str) -> HTMLResponse:
    """The form behind a link that works once."""
    found = services.accounts.invitation(services.now(), secret)
    return form_page(request, "login.html", who, _link_form(found.user_id is None))


@router.post("/link/{secret}", dependencies=[GENUINE])
def use_link(
    request: Request, services: Serving, who: Visiting, secret: str, password: Text, name: Text = ""
) -> Response:
    """Become an organiser or choose a new password."""
    found = services.accounts.invitation(services.now(), secret)
    try:
        user = services.accounts.use_invitation(services.now(), who.address, secret, name, password)
    except Refusal as problem:
        shown = _link_form(found.user_id is None) | {"problem": problem, "name": name[:60]}
        return form_page(request, "login.html", who, shown, problem.status)
    fresh = services.accounts.admit(services.now(), who.address, user)
    response = see("/organiser" if user.is_organiser else "/account")
    _replace_session(services, who, response, fresh)
    return response


def _link_form(is_organiser: bool) -> dict[str, Any]:
    heading = "Become the organiser" if is_organiser else "Choose a new password"
    return {"is_new": True, "asks_name": is_organiser, "heading": heading, "problem": None, "name": ""}


@router.get("/account")
def account(request: Request, services: Serving, who: Member) -> HTMLResponse:
    """One's account and tokens."""
    assert who.user is not None
    tokens = services.accounts.tokens(who.user)
    return page(request, "account.html", who, {"tokens": tokens, "secret": None})


@router.post("/account/tokens", dependencies=[GENUINE])
def make_token(request: Request, services: Serving, who: Member, label: Text = "") -> HTMLResponse:
    """Make a token; its secret is on this page and nowhere else."""
    assert who.user is not None
    _, secret = services.accounts.make_token(services.now(), who.actor, label)
    tokens = services.accounts.tokens(who.user)
    return page(request, "account.html", who, {"tokens": tokens, "secret": secret})


@router.post("/account/tokens/{token_id}/revoke", dependencies=[GENUINE])
def revoke_token(services: Serving, who: Member, token_id: Number) -> Response:
    """Make a token useless."""
    services.accounts.revoke_token(services.now(), who.actor, token_id)
    return see("/account")
