"""redelve challenge submit: send an entry to a server and wait for its score."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from redelve.cli import verb_options as of
from redelve.cli.challenge_serve import at_once
from redelve.cli.options import Command, UsageError
from redelve.errors import LocationError, OptionalPackageError, PredictionError

SERVER, TOKEN = "REDELVE_CHALLENGE_SERVER", "REDELVE_CHALLENGE_TOKEN"


class SubmitOptions(of.VerbOptions):
    """What `redelve challenge submit` is told."""

    server = of.text("s", "the server's address, such as http://127.0.0.1:8000", "address")
    token_file = of.text("t", "a file with the token", "file")
    label = of.text("l", "a label for yourself", "label", "")
    no_wait = of.flag("n", "do not wait for the score")


COMMAND = Command(
    "redelve challenge submit",
    "Send a zip of answers to a challenge's server and wait for its score on the validation cases. The\n"
    f"server is told by -s or {SERVER}; the token, made on the account page, by\n"
    f"{TOKEN} or in a file (-t). A token is never an argument: others could see it.",
    "answers.zip [ -s address ] [ -t file ] [ -l label ] [ -n ]",
    SubmitOptions.declared(),
    least=1,
)


def submit(given: SubmitOptions) -> Iterator[str]:
    """Send, wait, tell."""
    client_of = _client_class()
    path = Path(given.arguments[0])
    if not path.is_file():
        raise LocationError(f"{path}: there is no such file: `redelve challenge pack` makes one")
    server = given.server or os.environ.get(SERVER)
    if not server:
        raise UsageError(f"which server? tell it by -s http://… or in {SERVER}")
    with client_of(server, _token(given)) as client:
        entry = client.submit(path, given.label, _progress)
        yield f"entry {entry['id']} was received at {entry['received_at']}\n"
        if not given.no_wait:
            yield from _told(client.wait(entry["id"]))


def _client_class() -> Any:
    try:
        from redelve.challenge.server.client import Client
    except ModuleNotFoundError as problem:
        raise OptionalPackageError(
            f"submitting needs {problem.name}: pip install 'redelve[challenge]'"
        ) from None
    return Client


def _token(given: SubmitOptions) -> str:
    file = given.token_file
    if file is not None:
        found = Path(file).read_text(encoding="utf-8", errors="replace").strip()
    else:
        found = os.environ.get(TOKEN, "").strip()
    if not found.isascii() or not found or any(character.isspace() for character in found):
        where = f"{file}: this is no token" if file else f"no token: set {TOKEN}, or give a file with -t"
        raise LocationError(f"{where}; make one on the account page")
    return found


def _progress(sent: int, size: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{100 * sent // max(size, 1):3} % sent" + ("\n" if sent >= size else ""))


def _told(entry: dict[str, Any]) -> Iterator[str]:
    if entry["state"] != "scored":
        problems = "".join(f"\n  {problem}" for problem in entry["problems"])
        sys.stderr.write(f"{problems}\n" if problems else "")
        raise PredictionError(f"entry {entry['id']} was {entry['state']}: {entry['reason']}")
    yield f"entry {entry['id']} {entry['reason']}\n"
    for name, scores in entry["development"].items():
        if (valid := scores["parts"].get("valid")) is not None:
            yield f"  {name:12} validation BER {valid['ber']:.4f} ± {valid['ber_error']:.4f}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, SubmitOptions, submit, argv, show=at_once)
