"""What answers at an address need not be a challenge's server, nor tell what one would."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread

import pytest

from redelve.challenge import ChallengeRules
from redelve.challenge.server_documents import as_a_server_writes
from redelve.challenge.verification import verify_server
from redelve.cli.main import main
from redelve.errors import RedelveError
from tests.challenge.server.bench import ENDS, running
from tests.challenge.server.test_commitments import fetch, told
from tests.fuzzing.inside import inner_json


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    """A server that says the same to everybody."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Quietly."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Hello</html>",
        b"",
        b"null",
        b"[]",
        b"{}",
        b"[" * 200_000,
        b"\xff",
        b'{"id": 1, "received_at": "\\ud800", "hashes": {"\\ud800": 1}, "salts": null}',
        b'{"id": 1, "received_at": 1, "state": 5, "salts": {}, "hashes": [], "rules": 3}',
    ],
)
def test_what_is_no_server_of_a_challenge_is_told(
    body: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text("abc")
    (tmp_path / "answers.zip").write_bytes(b"PK")
    with answering(body) as url:
        for words in (
            ["verify", url],
            ["submit", str(tmp_path / "answers.zip"), "-s", url, "-t", str(tmp_path / "token")],
        ):
            assert main(["challenge", *words]) == 1
            assert f"what {url} answers is not as a server writes it" in capsys.readouterr().err


def test_a_servers_words_cannot_command_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text("abc")
    (tmp_path / "answers.zip").write_bytes(b"PK")
    body = (
        b'{"id": 1, "received_at": "\\u001b[31m", "state": "scored", "reason": "\\u0007", "development": {}}'
    )
    with answering(body) as url:
        words = ["submit", str(tmp_path / "answers.zip"), "-s", url, "-t", str(tmp_path / "token")]
        assert main(["challenge", *words]) == 0
    assert capsys.readouterr().out == "entry 1 was received at ?[31m\nentry 1 ?\n"


def test_nobody_is_told_numbers_of_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["challenge", "verify", "http://host.invalid"]) == 1
    said = capsys.readouterr().err
    assert "the server cannot be reached (" in said
    assert "Errno" not in said


@pytest.mark.parametrize("many", [80, pytest.param(300, marks=pytest.mark.slow)])
def test_documents_of_a_server_that_were_changed_are_refused_or_wrong(tmp_path: Path, many: int) -> None:
    """Whatever is changed, the check ends with its points or with a sentence."""
    with running(tmp_path, rules=ChallengeRules(test_labels="published")) as bench:
        noted = told(bench)
        bench.join("Ada")
        bench.send("Ada")
        bench.work()
        bench.clock.set(ENDS)
        bench.work()
        paths = ("commitments", "data", "ranking")
        honest = {path: fetch(bench)(path) for path in paths}
        ends = {_ending(_changed(honest, fetch(bench), Random(seed)), noted) for seed in range(many)}
    assert ends == {"points", "refused"}


def _changed(honest: dict[str, bytes], ask: Callable[[str], bytes], chance: Random) -> Callable[[str], bytes]:
    path = chance.choice(sorted(honest))
    found = {**honest, path: inner_json(chance, honest[path])}
    return lambda asked: found[asked] if asked in found else ask(asked)


def _ending(ask: Callable[[str], bytes], noted: dict[str, object]) -> str:
    try:
        with as_a_server_writes("what it answers", "ask another"), warnings.catch_warnings():
            warnings.simplefilter("error")
            for point in verify_server(ask, noted):
                str(point).encode()
    except RedelveError:
        return "refused"
    return "points"
