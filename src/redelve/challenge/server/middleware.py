"""What every request passes: bounds on bodies, and headers that tell browsers what not to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.uploads import too_large

ORDINARY_BODY = 64 * 1024
MOST_DIGITS = 20  # of a length in bytes; Python refuses to read thousands of them
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
FOR_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}


def headers_for(is_secure: bool) -> dict[str, str]:
    """The headers of every answer."""
    return HEADERS | FOR_HTTPS if is_secure else HEADERS


@dataclass
class SecurityHeaders:
    """Adds headers to every answer; pages are not kept by caches, static files are."""

    app: ASGIApp
    is_secure: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_static = scope["path"].startswith("/static/")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in headers_for(self.is_secure).items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "public, max-age=3600" if is_static else "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers)


@dataclass
class BodyLimit:
    """Refuses bodies that are too large, by their announced length or, while they stream, by their bytes.

    A request with two lengths is refused, too: a proxy may believe the other one (RFC 9112, section 6.1).
    """

    app: ASGIApp
    uploads: Mapping[str, int]
    """The most bytes for the paths that take files."""
    upload_seconds: float = 900.0
    seconds: float = 30.0
    """The time in which other bodies must be there."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            await _two_lengths()(scope, receive, send)
            return
        most = self.uploads.get(scope["path"].rstrip("/"), ORDINARY_BODY)
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        is_too_large = not announced.isdigit() or len(announced) > MOST_DIGITS or int(announced) > most
        taken = most + 1 if is_too_large else 0
        is_upload = scope["path"].rstrip("/") in self.uploads
        until = time.monotonic() + (self.upload_seconds if is_upload else self.seconds)
        is_whole = False

        async def bounded() -> Message:
            nonlocal taken, is_whole
            if taken <= most:
                message = await receive() if is_whole else await _in_time(receive, until)
                taken += len(message.get("body", b""))
                is_whole = is_whole or not message.get("more_body", False)
            if taken > most:
                raise too_large(most)
            return message

        await self.app(scope, bounded, send)


async def _in_time(receive: Receive, until: float) -> Message:
    """The next piece of a body, if it comes before that time."""
    try:
        async with asyncio.timeout(max(until - time.monotonic(), 0.0)):
            return await receive()
    except TimeoutError:
        raise Refusal(408, "too_slow", "The request took too long: try again on a better line.") from None


def _two_lengths() -> Response:
    problem = Refusal(400, "two_lengths", "Send Content-Length or Transfer-Encoding, not both.")
    return JSONResponse(problem.document(), problem.status, {"Connection": "close"})
