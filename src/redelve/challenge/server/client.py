"""The participant's side: a small client of the API, as `redelve challenge submit` and the demo use it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from redelve.data.files import json_value
from redelve.errors import LocationError, RedelveError

PIECE = 1 << 16
NUMBER_OF_ERROR = re.compile(r"\[Errno -?\d+\] ")
UNFINISHED = ("received", "checking")
Progress = Callable[[int, int], None]


class ServerRefused(RedelveError):
    """The server said no; `code` names the reason, `details` tell what to mend."""

    def __init__(self, status: int, code: str, message: str, details: tuple[str, ...] = ()) -> None:
        self.status, self.code, self.details = status, code, details
        super().__init__("\n".join([message, *details]))


class _Busy(ServerRefused):
    """The server cannot answer just now."""


class Client:
    """Speaks to a challenge's server; requests that got lost on the way are sent again."""

    def __init__(self, server: str, token: str | None = None, *, attempts: int = 5) -> None:
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            self._http = httpx.Client(base_url=server, headers=headers, timeout=60.0)
        except (httpx.InvalidURL, UnicodeEncodeError):
            raise LocationError(f'"{server}" is no address of a server: write http://host:port') from None
        self._attempts = attempts

    def close(self) -> None:
        """Let the connection go."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, **query: str | int) -> Any:
        """A document of the API."""
        return json_value(self._retried("GET", path, params=query).content)

    def download(self, path: str) -> bytes:
        """A file."""
        return self._retried("GET", path).content

    def post(self, path: str, document: Mapping[str, Any] | None = None) -> Any:
        """Send a document; it is sent once only."""
        return json_value(_checked(self._sent("POST", path, json=document)).content)

    def register(self, name: str, password: str) -> str:
        """Make an account; a token for it."""
        self.post("/api/v1/accounts", {"name": name, "password": password})
        return str(self.post("/api/v1/tokens", {"name": name, "password": password})["token"])

    def submit(self, path: Path, label: str = "", progress: Progress | None = None) -> dict[str, Any]:
        """Send a zip as an entry; sent again if the connection breaks, it is still one entry."""
        size = path.stat().st_size
        headers = {
            "Content-Type": "application/zip",
            "Content-Length": str(size),
            "Idempotency-Key": uuid4().hex,
        }
        options = {"headers": headers, "params": {"label": label}}
        for attempt in range(self._attempts):
            try:
                body = _pieces(path, size, progress)
                answer = self._http.post("/api/v1/entries", content=body, **options)  # type: ignore[arg-type]
                found: dict[str, Any] = json_value(_checked(answer).content)
            except (httpx.RequestError, _Busy) as problem:
                self._pause(attempt, problem)
            else:
                return found
        raise AssertionError

    def wait(self, number: int, seconds: float = 600.0) -> dict[str, Any]:
        """The entry once it is scored or refused."""
        until, pause = time.monotonic() + seconds, 0.1
        while True:
            found: dict[str, Any] = self.get(f"/api/v1/entries/{number}")
            if found["state"] not in UNFINISHED:
                return found
            if time.monotonic() > until:
                raise LocationError(
                    f"entry {number} is still {found['state']} after {seconds:g} s: look later"
                )
            time.sleep(pause)
            pause = min(2.0, pause * 1.5)

    def _retried(self, method: str, path: str, **options: Any) -> httpx.Response:
        for attempt in range(self._attempts):
            try:
                return _checked(self._http.request(method, path, **options))
            except (httpx.RequestError, _Busy) as problem:
                self._pause(attempt, problem)
        raise AssertionError

    def _sent(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **options)
        except httpx.RequestError as problem:
            raise self._unreachable(problem) from None

    def _pause(self, attempt: int, problem: Exception) -> None:
        if attempt + 1 >= self._attempts or isinstance(problem, httpx.UnsupportedProtocol):
            raise self._unreachable(problem) from None
        time.sleep(min(5.0, 0.3 * 2**attempt))

    def _unreachable(self, problem: Exception) -> LocationError:
        why = NUMBER_OF_ERROR.sub("", str(problem))
        return LocationError(f"{self._http.base_url}: the server cannot be reached ({why})")


def _pieces(path: Path, size: int, progress: Progress | None) -> Iterator[bytes]:
    sent = 0
    with path.open("rb") as stream:
        while piece := stream.read(PIECE):
            yield piece
            sent += len(piece)
            if progress is not None:
                progress(sent, size)


def _checked(answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    try:
        error = json_value(answer.content)["error"]
        kind = _Busy if answer.status_code == 503 else ServerRefused
        refused = kind(answer.status_code, error["code"], error["message"], tuple(error["details"]))
    except (ValueError, KeyError, TypeError):
        kind = _Busy if answer.status_code in (502, 503, 504) else ServerRefused
        raise kind(
            answer.status_code, "unknown", f"{answer.url}: the server answered {answer.status_code}"
        ) from None
    raise refused
