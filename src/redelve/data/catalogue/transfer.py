"""Copying what an address on the network names into a file: urllib, with limits on size and time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from redelve.errors import LocationError

PIECE = 1 << 16
LONGEST = 3600.0
"""Seconds that a download may take in all, however steadily it trickles."""
AGENT = {"User-Agent": "redelve (a benchmark of learning methods)"}


def transfer(url: str, path: Path, *, limit: int, timeout: float) -> None:
    """Copy what is at the URL to a new file; `timeout` is how long the server may be silent, in seconds."""
    try:
        opener = build_opener(SafeRedirects)
        with opener.open(Request(url, headers=AGENT), timeout=timeout) as answer, path.open("xb") as file:
            file.writelines(_pieces(answer, url, limit))
    except HTTPError as problem:
        problem.close()
        raise cannot(url, f"the server answers {problem.code} {problem.reason}") from problem
    except (URLError, HTTPException, OSError, ValueError) as problem:
        reason = getattr(problem, "reason", None) or str(problem) or type(problem).__name__
        raise cannot(url, f"{getattr(reason, 'strerror', None) or reason}") from problem


def cannot(url: str, why: str) -> LocationError:
    """What to tell when nothing, or nothing useful, comes from an address."""
    return LocationError(
        f"can't download {url}: {why}; try again, give another server with server=…, "
        "or download the file elsewhere"
    )


def _pieces(answer: Any, url: str, limit: int) -> Iterator[bytes]:
    announced = _announced(answer)
    if announced is not None and announced > limit:
        raise cannot(url, f"it has {announced} bytes, more than the limit of {limit} (limit=…)")
    received, started = 0, time.monotonic()
    while piece := answer.read(PIECE):
        received += len(piece)
        if received > limit:
            raise cannot(url, f"it has more bytes than the limit of {limit} (limit=…)")
        if time.monotonic() - started > LONGEST:
            raise cannot(url, f"it took more than {LONGEST:.0f} seconds")
        yield piece
    if announced is not None and received != announced:
        raise cannot(url, f"the connection ended after {received} of {announced} bytes")


def _announced(answer: Any) -> int | None:
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() else None


class SafeRedirects(HTTPRedirectHandler):
    """Redirections, but never from an encrypted connection to another kind."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """The request that follows a redirection."""
        if urlsplit(req.full_url).scheme == "https" and urlsplit(newurl).scheme != "https":
            raise cannot(req.full_url, f"it leads to an unencrypted address, {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
