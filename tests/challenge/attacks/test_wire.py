"""Requests as bytes on a real connection: lengths that disagree, bodies and headers without end."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from redelve.challenge.server.serving import ServingPlace, in_background
from tests.challenge.server.bench import Bench, running


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, Bench]]:
    """A server on a port of this machine."""
    folder: Path = tmp_path_factory.mktemp("listening")
    with running(folder) as bench, in_background(bench.app, ServingPlace(port=0)) as address:
        parts = urlsplit(address)
        assert parts.port is not None
        yield "127.0.0.1", parts.port, bench


def exchange(listening: tuple[str, int, Bench], *pieces: bytes) -> bytes:
    """Send bytes and read until the server closes or says nothing more."""
    host, port, _ = listening
    with socket.create_connection((host, port), timeout=10) as line:
        try:
            for piece in pieces:
                line.sendall(piece)
        except OSError:
            pass  # the server has hung up: its answer may still be there
        line.settimeout(1.5)
        received = b""
        try:
            while piece := line.recv(65536):
                received += piece
        except OSError:
            pass
        return received


def statuses(received: bytes) -> list[int]:
    return [int(line.split()[1]) for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


HEAD = b"POST /api/v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
SMUGGLED = b"GET /api/v1/challenge HTTP/1.1\r\nHost: x\r\n\r\n"


def test_the_server_answers(listening: tuple[str, int, Bench]) -> None:
    received = exchange(listening, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert statuses(received) == [200]
    assert b"development" in received
    assert b"\r\nserver:" not in received.lower()


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 2\r\nContent-Length: 50\r\n",
        b"Content-Length: +2\r\n",
        b"Content-Length: 2, 50\r\n",
        b"Content-Length: 0x2\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n",
        b"Content-Length : 2\r\n",
    ],
)
def test_a_request_within_a_request_is_not_answered(
    listening: tuple[str, int, Bench], lengths: bytes
) -> None:
    """Whatever the lengths say, what follows the first request does not become a second one that counts."""
    received = exchange(listening, HEAD + lengths + b"\r\n0\r\n\r\n" + SMUGGLED)
    assert len(statuses(received)) <= 1 or statuses(received)[0] >= 400
    assert b'"stage"' not in received
    assert not [code for code in statuses(received) if code >= 500]


def test_a_chunked_body_without_end_is_cut_off(listening: tuple[str, int, Bench]) -> None:
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    received = exchange(listening, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 40)
    assert statuses(received) == [413]


def test_a_chunk_that_claims_to_be_huge_takes_no_memory(listening: tuple[str, int, Bench]) -> None:
    received = exchange(
        listening, HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n" + b" " * 100_000
    )
    assert statuses(received) == [413]


def test_headers_without_end_are_cut_off(listening: tuple[str, int, Bench]) -> None:
    line = b"X-Long: " + b"a" * 8000 + b"\r\n"
    received = exchange(listening, b"GET /health HTTP/1.1\r\nHost: x\r\n", *[line] * 40)
    assert statuses(received) in ([400], [431], [])
    assert b"development" not in received


def test_one_path_without_end_is_cut_off(listening: tuple[str, int, Bench]) -> None:
    received = exchange(listening, b"GET /" + b"a" * 300_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    assert not [code for code in statuses(received) if code in (200, 500)]


def test_garbage_is_refused_and_the_server_goes_on(listening: tuple[str, int, Bench]) -> None:
    for garbage in (b"\x16\x03\x01\x02\x00", b"\0" * 1000, b"GET\r\n\r\n", b"\r\n" * 50, b"GET / HTTP/x\r\n"):
        received = exchange(listening, garbage + b"\r\n\r\n")
        assert not [code for code in statuses(received) if code in (200, 500)]
    test_the_server_answers(listening)


def test_an_upload_that_dawdles_is_ended(tmp_path: Path) -> None:
    """A byte now and then does not keep an upload open for ever, and nothing of it stays."""
    with (
        running(tmp_path, upload_seconds=1.0) as bench,
        in_background(bench.app, ServingPlace(port=0)) as address,
    ):
        bench.join("Ada")
        port = urlsplit(address).port
        token = bench.tokens["Ada"].encode()
        started = time.monotonic()
        with socket.create_connection(("127.0.0.1", port or 0), timeout=20) as line:
            line.sendall(b"POST /api/v1/entries HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n")
            line.sendall(b"Authorization: Bearer " + token + b"\r\n\r\nPK")
            received = line.recv(65536)
        assert statuses(received) == [408]
        assert time.monotonic() - started < 15
        assert not list(bench.settings.uploads.rglob("*.zip*"))
