"""The application: `create_app(settings, clock=…)` puts everything together."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from redelve.challenge.server import api, pages, pages_boards, pages_entries, pages_organiser
from redelve.challenge.server.clock import Clock
from redelve.challenge.server.middleware import ORDINARY_BODY, BodyLimit, SecurityHeaders, headers_for
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.services import Services, open_services
from redelve.challenge.server.settings import Settings
from redelve.challenge.server.visible import Boards
from redelve.challenge.server.web import HERE, Visiting, page, templates, visitor
from redelve.challenge.server.worker import start_workers

LOG = logging.getLogger("redelve.challenge.server")
UPLOAD_PATHS = ("/submit", "/submit/form", "/api/v1/entries")
about_api = APIRouter(include_in_schema=False)


def create_app(
    settings: Settings, *, clock: Clock | None = None, services: Services | None = None
) -> FastAPI:
    """The server of a challenge. `clock` tells the time that counts; `services` may be opened before."""
    held = services or open_services(settings, clock)
    app = FastAPI(
        title=held.challenge.title,
        version="1",
        description="Entries, scores and leaderboards of a challenge in predicting performance.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.services, app.state.boards, app.state.templates = held, Boards(held), templates()
    for room in (api, pages, pages_entries, pages_boards, pages_organiser):
        app.include_router(room.router)
    app.include_router(about_api)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    app.add_exception_handler(Refusal, _on_problem)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(OperationalError, _on_busy)
    app.add_exception_handler(Exception, _on_error)
    most = (held.challenge.limits.megabytes << 20) + ORDINARY_BODY
    app.add_middleware(
        BodyLimit,
        uploads=dict.fromkeys(UPLOAD_PATHS, most),
        upload_seconds=settings.upload_seconds,
        seconds=settings.body_seconds,
    )
    app.add_middleware(SecurityHeaders, is_secure=settings.secure)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Workers run as long as the server does."""
    services: Services = app.state.services
    stop = threading.Event()
    threads = start_workers(services, stop)
    yield
    stop.set()
    services.wake.set()
    for thread in threads:
        await run_in_threadpool(thread.join, 10)
    services.close()


@about_api.get("/api")
def describe_api(request: Request, who: Visiting) -> HTMLResponse:
    """A page about the API."""
    operations = [
        (method.upper(), path, operation.get("description", ""))
        for path, methods in request.app.openapi()["paths"].items()
        for method, operation in methods.items()
    ]
    values = {"operations": operations, "base": str(request.base_url).rstrip("/")}
    return page(request, "api.html", who, values)


@about_api.get("/health")
def health(request: Request) -> JSONResponse:
    """Whether the server and its database answer."""
    services: Services = request.app.state.services
    return JSONResponse({"stage": services.stage().name.lower()})


def _answer(request: Request, problem: Refusal) -> Response:
    headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
    if _wants_json(request):
        if problem.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse(problem.document(), problem.status, headers)
    heading = HTTPStatus(problem.status).phrase
    who = visitor(request, request.app.state.services)
    shown = page(request, "error.html", who, {"problem": problem, "heading": heading}, problem.status)
    shown.headers.update(headers)
    return shown


def _wants_json(request: Request) -> bool:
    return request.url.path.startswith("/api/") or "application/json" in request.headers.get("accept", "")


async def _on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return await run_in_threadpool(_answer, request, error)


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, Refusal):  # raised while the body was read
        return await _on_problem(request, error.__cause__)
    words = {404: "There is no such page.", 405: "This cannot be done here."}
    message = words.get(error.status_code, str(error.detail))
    code = HTTPStatus(error.status_code).name.lower()
    response = await run_in_threadpool(_answer, request, Refusal(error.status_code, code, message))
    response.headers.update(error.headers or {})
    return response


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [f"{'.'.join(str(part) for part in each['loc'][1:])}: {each['msg']}" for each in error.errors()]
    problem = Refusal(422, "wrong_field", "The request cannot be understood.", details=details[:20])
    return await run_in_threadpool(_answer, request, problem)


async def _on_busy(request: Request, error: Exception) -> Response:
    """The database is out of reach for a moment."""
    LOG.error("%s %s: the database does not answer: %s", request.method, _place(request), error)
    document = Refusal(503, "busy", "The database does not answer: try again in a moment.").document()
    return JSONResponse(document, 503, {"Retry-After": "5"})


async def _on_error(request: Request, error: Exception) -> Response:
    """An error of our own: the log tells it, the answer does not. No middleware adds headers to it."""
    LOG.error("%s %s failed", request.method, _place(request), exc_info=error)
    document = Refusal(500, "server_error", "The server made a mistake. It is in its log.").document()
    headers = headers_for(request.app.state.services.settings.secure)
    return JSONResponse(document, 500, {**headers, "Cache-Control": "no-store"})


def _place(request: Request) -> str:
    """The path for the log: that of the route, since what stands in its place may be a secret."""
    return str(getattr(request.scope.get("route"), "path", "an unknown path"))
