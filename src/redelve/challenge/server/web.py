"""What pages and API share: who asks, from where, with which right; templates; genuine forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from fastapi import Depends, Form, Header, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from redelve.challenge.server.audit import Actor
from redelve.challenge.server.database_tables import User
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.secrets_kept import form_token, new_secret, same
from redelve.challenge.server.services import Services

HERE = Path(__file__).parent


def services_of(request: Request) -> Services:
    """The services of the app that got the request."""
    found: Services = request.app.state.services
    return found


Serving = Annotated[Services, Depends(services_of)]


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client is not None else ""


@dataclass(frozen=True)
class Visitor:
    """Who looks at a page: an account or nobody; the cookie of either."""

    user: User | None
    cookie: str | None
    address: str
    token: str

    @property
    def actor(self) -> Actor:
        """The visitor as the audit log knows them."""
        return Actor(self.user, self.address)


def cookie_name(services: Services) -> str:
    """The name of the cookie; over https one that only this host can have set."""
    return "__Host-redelve" if services.settings.secure else "redelve"


def visitor(request: Request, services: Serving) -> Visitor:
    """Who sent the request, by cookie."""
    cookie = request.cookies.get(cookie_name(services))
    user = services.accounts.session_user(services.now(), cookie)
    return Visitor(user, cookie, address_of(request), form_token(services.key, cookie) if cookie else "")


Visiting = Annotated[Visitor, Depends(visitor)]


def member(who: Visiting) -> Visitor:
    """A visitor who is logged in."""
    if who.user is None:
        raise Refusal(401, "login_needed", "Log in first.")
    return who


def organiser(who: Annotated[Visitor, Depends(member)]) -> Visitor:
    """A visitor who runs the challenge; for others the page does not exist."""
    if who.user is None or not who.user.is_organiser:
        raise Refusal(403, "organiser_needed", "Only an organiser can do this.")
    return who


def check_origin(request: Request) -> None:
    """Refuse what another site makes a browser send."""
    origin = request.headers.get("origin")
    if origin is not None and _host_of(origin) != request.headers.get("host"):
        raise _forged()
    if request.headers.get("sec-fetch-site") == "cross-site":
        raise _forged()


def _host_of(origin: str) -> str:
    """The host in an Origin header; empty where there is none, as in `null` or in `http://[`."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def genuine_form(
    request: Request,
    who: Visiting,
    form_token: Annotated[str, Form(max_length=100)] = "",
) -> None:
    """Refuse a form that was not made by a page of ours for this visitor."""
    check_origin(request)
    if not who.token or not same(form_token, who.token):
        raise _forged()


def genuine_script(
    request: Request, who: Visiting, x_form_token: Annotated[str, Header(max_length=100)] = ""
) -> None:
    """The same for what the page's script sends, which brings the token in a header."""
    check_origin(request)
    if not who.token or not same(x_form_token, who.token):
        raise _forged()


def _forged() -> Refusal:
    return Refusal(403, "form_expired", "This form is out of date: load the page again and repeat.")


Member = Annotated[Visitor, Depends(member)]
Organising = Annotated[Visitor, Depends(organiser)]
GENUINE = Depends(genuine_form)
GENUINE_SCRIPT = Depends(genuine_script)


def templates() -> Environment:
    """The pages; every text is escaped unless it is one of our own drawings."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment


def page(
    request: Request, name: str, who: Visitor, values: Mapping[str, Any] | None = None, status: int = 200
) -> HTMLResponse:
    """A page, with what all pages show."""
    services = services_of(request)
    held, clock = services.schedule(), services.clock.reading()
    now = clock.now
    shared = {
        "challenge": services.challenge,
        "zone": services.zone,
        "visitor": who,
        "user": who.user,
        "now": now,
        "clock": clock,
        "schedule": held,
        "stage": held.stage(now),
        "path": request.url.path,
    }
    template = request.app.state.templates.get_template(name)
    return HTMLResponse(template.render(**shared, **(values or {})), status)


def form_page(
    request: Request, name: str, who: Visitor, values: Mapping[str, Any] | None = None, status: int = 200
) -> HTMLResponse:
    """A page with a form for visitors who may have no cookie yet: they get one."""
    services = services_of(request)
    if who.cookie:
        return page(request, name, who, values, status)
    cookie = new_secret()
    known = Visitor(None, cookie, who.address, form_token(services.key, cookie))
    response = page(request, name, known, values, status)
    set_cookie(response, services, cookie)
    return response


def set_cookie(response: Response, services: Services, cookie: str) -> None:
    """Give the browser its cookie."""
    response.set_cookie(
        cookie_name(services),
        cookie,
        max_age=int(services.settings.session_seconds),
        path="/",
        secure=services.settings.secure,
        httponly=True,
        samesite="lax",
    )


def see(path: str) -> RedirectResponse:
    """Go on to another page, after a form."""
    return RedirectResponse(path, 303)


def moment(value: datetime | None, zone: str = "UTC") -> Markup | str:
    """A time in the challenge's zone and in UTC.

    >>> str(moment(datetime(2026, 3, 1, 11, tzinfo=UTC), "Europe/Zurich"))
    '<time datetime="2026-03-01T11:00:00+00:00">2026-03-01 12:00 Europe/Zurich (11:00 UTC)</time>'
    """
    if value is None:
        return "—"
    there, here = value.astimezone(ZoneInfo(zone)), value.astimezone(UTC)
    shown = there.strftime("%Y-%m-%d %H:%M")
    if zone != "UTC":
        same_day = there.date() == here.date()
        shown += f" {zone} ({here.strftime('%H:%M' if same_day else '%Y-%m-%d %H:%M')} UTC)"
    else:
        shown += " UTC"
    return Markup('<time datetime="{}">{}</time>').format(here.isoformat(timespec="seconds"), shown)


def size(value: int) -> str:
    """A number of bytes.

    >>> size(1536)
    '1.5 KiB'
    """
    amount, unit = float(value), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB"):  # noqa: B007
        if amount < 1024:
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many digits after the point; a dash where there is none."""
    return "—" if value is None else f"{value:.{digits}f}"


FILTERS = {"moment": moment, "size": size, "number": number}
