"""redelve challenge verify: were labels, rules and ranking of a challenge exchanged?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.cli import options as of
from redelve.cli.options import Command
from redelve.cli.outputs import refuse_inputs
from redelve.errors import LocationError, PredictionError

if TYPE_CHECKING:
    from redelve.challenge.verification import CheckedPoint


class VerifyOptions(of.VerbOptions):
    """What `redelve challenge verify` is told."""

    noted = of.text("n", "hashes that were noted before, to be compared", "file")
    out = of.text("o", "note the hashes that a server tells now, for later", "file")


VERIFY = Command(
    "redelve challenge verify",
    "Check a challenge from outside. When it opens, its server shows salted hashes of the secret labels\n"
    "and of the rules: note them (-o). After the end it shows the salts: compare (-n). Of an export,\n"
    "the zip or its folder, everything is made again: hashes, the scores of every entry, the ranking.\n"
    "Of a server (http://…) what it tells is checked; of a challenge's folder its labels are.",
    "place [ -n noted.json ] [ -o noted.json ]",
    VerifyOptions.declared(),
    least=1,
    most=1,
)


def _verify(given: VerifyOptions) -> Iterator[str]:
    """Look at everything, tell it, and fail where something is wrong."""
    from redelve.challenge.verification import read_noted

    refuse_inputs(given.out, [given.arguments[0], given.noted])
    noted = None if given.noted is None else read_noted(Path(given.noted))
    points = _points(given.arguments[0], noted, given.out)
    yield from (f"{point}\n" for point in points)
    wrong = sum(point.is_right is False for point in points)
    if wrong:
        raise PredictionError(
            f"{wrong} of {len(points)} points are wrong: this is not the challenge that opened"
        )


def _points(place: str, noted: Any, out: str | None) -> list[CheckedPoint]:
    from redelve.challenge.verification import verify_export, verify_folder, verify_server

    if place.startswith(("http://", "https://")):
        from redelve.challenge.server import require

        require()
        from redelve.challenge.server.client import Client
        from redelve.challenge.server_documents import as_a_server_writes
        from redelve.data.files import write_atomic

        way_out = "give the address of a challenge's server"
        with Client(place) as client, as_a_server_writes(f"what {place} answers", way_out):
            if out is not None:
                document = client.get("/api/v1/commitments")
                write_atomic(out, json.dumps(document, indent=1) + "\n")
            return verify_server(lambda path: client.download(f"/api/v1/{path}"), noted)
    found = Path(place)
    if not found.exists():
        raise LocationError(f"{place}: there is no such file or folder: give an export, a folder or http://…")
    is_challenge = (found / "challenge.toml").is_file()
    return verify_folder(found, noted) if is_challenge else verify_export(found, noted)


def verify(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(VERIFY, VerifyOptions, _verify, argv)
