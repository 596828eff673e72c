"""Clients that never finish what they begin: others are served all the same, and connections end."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from redelve.challenge.server.connections import ConnectionLimits, room_for_connections
from redelve.challenge.server.serving import ServingPlace, in_background
from tests.challenge.server.bench import Bench, running

UNFINISHED = b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "


def is_closed(line: socket.socket) -> bool:
    """Whether the server hangs up, within ten seconds."""
    line.settimeout(10)
    try:
        while line.recv(65536):
            pass  # what is left of an answer
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


@contextmanager
def served(folder: Path, limits: ConnectionLimits, **changes: Any) -> Iterator[tuple[str, int, Bench]]:
    place = ServingPlace(port=0, limits=limits)
    with running(folder, **changes) as bench, in_background(bench.app, place) as address:
        yield address, urlsplit(address).port or 0, bench


@pytest.mark.parametrize(
    "limits",
    [ConnectionLimits(60.0, in_all=100, by_address=None), ConnectionLimits(60.0, by_address=100)],
    ids=["in all", "by address"],
)
def test_pages_come_while_many_requests_stay_unfinished(tmp_path: Path, limits: ConnectionLimits) -> None:
    with served(tmp_path, limits) as (address, port, _), ExitStack() as lines:
        for _ in range(300):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            line.sendall(UNFINISHED)
        for _ in range(5):
            assert httpx.get(f"{address}/health", timeout=10).status_code == 200
        assert httpx.get(address, timeout=10).status_code == 200


def test_headers_have_a_time_limit_that_single_bytes_do_not_lengthen(tmp_path: Path) -> None:
    with (
        served(tmp_path, ConnectionLimits(1.0)) as (_, port, _),
        socket.create_connection(("127.0.0.1", port), timeout=10) as line,
        socket.create_connection(("127.0.0.1", port), timeout=10) as silent,
    ):
        started = time.monotonic()
        line.sendall(UNFINISHED)
        closed = False
        while not closed and time.monotonic() - started < 15:
            time.sleep(0.2)
            try:
                line.sendall(b"a")
            except OSError:
                closed = True
        assert closed
        assert time.monotonic() - started > 0.8
        assert is_closed(silent)


def test_a_second_request_on_a_connection_has_the_limit_too(tmp_path: Path) -> None:
    with (
        served(tmp_path, ConnectionLimits(1.0)) as (_, port, _),
        socket.create_connection(("127.0.0.1", port), timeout=10) as line,
    ):
        line.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert line.recv(65536).startswith(b"HTTP/1.1 200")
        line.sendall(UNFINISHED)
        assert is_closed(line)


def test_a_body_that_dawdles_is_ended_on_every_route(tmp_path: Path) -> None:
    """Uploads have a limit of their own; a form of a few fields has half a minute."""
    kind = b"Content-Type: application/x-www-form-urlencoded\r\n"
    head = b" HTTP/1.1\r\nHost: x\r\n" + kind + b"Content-Length: 500\r\n\r\n"
    with served(tmp_path, ConnectionLimits(), body_seconds=0.5, upload_seconds=0.5) as (_, port, _):
        for path in (b"/login", b"/api/v1/accounts", b"/submit/form"):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
                line.sendall(b"POST " + path + head + b"name=a")
                assert b" 408 " in line.recv(65536).split(b"\r\n")[0]


def test_a_connection_that_works_is_not_hung_up_for_new_ones(tmp_path: Path) -> None:
    """Only connections that have asked for nothing give way; with none of these the new one is refused."""
    data = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n"
    with served(tmp_path, ConnectionLimits(60.0, in_all=3)) as (_, port, _), ExitStack() as lines:
        busy = [lines.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(3)]
        for line in busy:
            line.sendall(data)
        time.sleep(0.3)
        late = lines.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        assert is_closed(late)
        busy[0].sendall(b"name=a" + b"a" * 494)
        busy[0].settimeout(10)
        assert busy[0].recv(65536).startswith(b"HTTP/1.1 403")


def test_open_files_leave_room_for_connections() -> None:
    assert 50 <= room_for_connections() <= 4000
