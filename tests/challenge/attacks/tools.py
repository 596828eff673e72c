"""What attacks need: requests that no decent client sends, all routes of the app, zips that lie."""

from __future__ import annotations

import asyncio
import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

import fastapi.routing
from fastapi import FastAPI
from sqlalchemy import select

from redelve.challenge.server.database_tables import DatabaseTable, RateCount
from redelve.challenge.server.services import Services
from tests.challenge.server.bench import PASSWORD, Bench, Browser, running

FORM = "application/x-www-form-urlencoded"
Headers = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """What the app answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")


@dataclass
class Wire:
    """Speaks to the app as a server does: any path, any header, any pieces of a body."""

    app: FastAPI
    address: str = "192.0.2.1"

    def __call__(
        self,
        method: str,
        path: str,
        headers: Headers | None = None,
        body: bytes | Sequence[bytes] = b"",
    ) -> Answer:
        """Send a request and take the answer; an error of the app that it answered with 500 is dropped."""
        pieces = [body] if isinstance(body, bytes) else list(body)
        return asyncio.run(self._exchange(self._scope(method, path, headers or {}), pieces))

    def form(self, path: str, fields: Mapping[str, str], headers: Headers | None = None) -> Answer:
        """Send a form."""
        held = {"Content-Type": FORM, **(headers or {})}
        return self("POST", path, held, urlencode(fields, errors="surrogatepass").encode())

    def _scope(self, method: str, path: str, headers: Headers) -> dict[str, Any]:
        place, _, query = path.partition("?")
        held = {"host": "testserver", **{name.lower(): value for name, value in headers.items()}}
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(place, errors="replace"),
            "raw_path": place.encode("utf-8", "replace"),
            "query_string": query.encode("utf-8", "replace"),
            "root_path": "",
            "headers": [(name.encode(), value.encode("utf-8", "replace")) for name, value in held.items()],
            "client": (self.address, 50000),
            "server": ("testserver", 80),
            "state": {},
        }

    async def _exchange(self, scope: dict[str, Any], pieces: list[bytes]) -> Answer:
        coming = iter(pieces)
        left = len(pieces)
        started: dict[str, Any] = {}
        body = bytearray()

        async def receive() -> dict[str, Any]:
            nonlocal left
            left -= 1
            piece = next(coming, None)
            if piece is None:
                await asyncio.Event().wait()  # the client stays
            return {"type": "http.request", "body": piece, "more_body": left > 0}

        async def send(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
            body.extend(message.get("body", b""))

        try:
            await self.app(scope, receive, send)
        except Exception:
            assert started.get("status") == 500, "the app failed without an answer"
        names = {name.decode().lower(): value.decode("latin-1") for name, value in started["headers"]}
        return Answer(started["status"], names, bytes(body))


# All routes


@dataclass(frozen=True)
class Operation:
    """A method of a route, and the names of what it takes."""

    method: str
    path: str
    in_path: tuple[str, ...]
    in_query: tuple[str, ...]
    in_header: tuple[str, ...]
    in_body: tuple[str, ...]

    @property
    def is_api(self) -> bool:
        """Whether it is one of the API."""
        return self.path.startswith("/api/")

    def at(self, **values: str) -> str:
        """The path with values in their places; ordinary ones where nothing is said."""
        usual = {"dataset": "ada", "file": "ada.param", "secret": "x" * 43}
        held = {name: values.get(name, usual.get(name, "1")) for name in self.in_path}
        path = self.path
        for name, value in held.items():
            path = path.replace(f"{{{name}}}", value)
        return path

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def operations(app: FastAPI) -> list[Operation]:
    """Every method of every route of the app."""
    walk: Any = getattr(fastapi.routing, "iter_route_contexts", iter)
    found = []
    for route in walk(app.routes):
        if (dependant := getattr(route, "dependant", None)) is not None:
            kinds = ("path_params", "query_params", "header_params", "body_params")
            in_path, in_query, in_header, in_body = (_names(dependant, kind) for kind in kinds)
            for method in sorted(route.methods):
                found.append(Operation(method, str(route.path), in_path, in_query, in_header, in_body))
    assert len(found) > 40, "the routes were not found"
    return found


def _names(dependant: Any, kind: str) -> tuple[str, ...]:
    held = [str(each.alias) for each in getattr(dependant, kind)]
    for deeper in dependant.dependencies:
        held += _names(deeper, kind)
    return tuple(dict.fromkeys(held))


# A server where something has happened


@dataclass
class Scene:
    """Ada has an entry that is scored and one that waits; Bob is a participant, Olga the organiser."""

    bench: Bench
    browsers: dict[str, Browser] = field(default_factory=dict)

    @property
    def wire(self) -> Wire:
        """Raw requests to the app."""
        return Wire(self.bench.app)

    @property
    def services(self) -> Services:
        """What the app works with."""
        return self.bench.services

    def cookie(self, name: str) -> str:
        """The Cookie header of somebody's browser."""
        return f"redelve={self.browsers[name].client.cookies['redelve']}"

    def form_token(self, name: str) -> str:
        """The token in the forms of somebody's pages."""
        return self.browsers[name].token("/account")


@contextmanager
def scene(folder: Path, **changes: Any) -> Iterator[Scene]:
    """A server on which participants and an organiser are logged in."""
    with running(folder, **changes) as bench:
        found = Scene(bench)
        for name in ("Ada", "Bob"):
            bench.join(name)
            found.browsers[name] = bench.browser()
            answer = found.browsers[name].fill("/login", name=name, password=PASSWORD)
            assert answer.status_code == 303
        found.browsers["Olga"] = bench.organiser()
        assert bench.send("Ada").status_code == 201
        bench.work()
        assert bench.send("Ada", seed=1).status_code == 201
        yield found


def state_of(services: Services, *, but: Sequence[str] = ()) -> dict[str, str]:
    """A digest of every table, beside the counts of attempts and those named."""
    left_out = {RateCount.__tablename__, *but}
    found = {}
    with services.database.reading() as session:
        for name, table in DatabaseTable.metadata.tables.items():
            if name not in left_out:
                rows = sorted(map(repr, session.execute(select(*table.columns))))
                found[name] = f"{len(rows)} {hashlib.sha256(chr(10).join(rows).encode()).hexdigest()}"
    return found


def files_below(folder: Path) -> set[str]:
    """The paths of all files below a folder, beside those of the database."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("server.sqlite3")
    }


# Zips that lie


@dataclass(frozen=True)
class Member:
    """A file of a crafted zip; what is declared need not be true."""

    name: str
    content: bytes
    declared: int | None = None
    header_at: int | None = None
    """Where the directory says that the member begins, if elsewhere than it does."""


def crafted(members: Sequence[Member]) -> bytes:
    """A zip made byte by byte (APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12 and 4.3.16)."""
    body, directory = bytearray(), bytearray()
    for member in members:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(member.content) + packer.flush()
        size = len(member.content) if member.declared is None else member.declared
        name = member.name.encode()
        facts = struct.pack("<HHHIII", 8, 0, 33, zlib.crc32(member.content), len(packed), size)
        begins = len(body) if member.header_at is None else member.header_at
        body += (
            b"PK\3\4" + struct.pack("<HH", 20, 0) + facts + struct.pack("<HH", len(name), 0) + name + packed
        )
        tail = struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, begins)
        directory += b"PK\1\2" + struct.pack("<HHH", 20, 20, 0) + facts + tail + name
    count = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory) + b"PK\5\6" + end


def outcome(bench: Bench, data: bytes, name: str = "Ada") -> dict[str, Any]:
    """What becomes of an upload, after the worker has looked at it."""
    answer = bench.send(name, data)
    assert answer.status_code == 201, answer.text
    bench.work()
    return bench.entry(name, answer.json()["id"])
