"""redelve challenge demo: a challenge from beginning to end, with three scripted participants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redelve.cli.challenge_serve import at_once, whole
from redelve.cli.options import Command, Given, Option, run

COMMAND = Command(
    "redelve challenge demo",
    "Show a challenge from beginning to end: a server with the example challenge, three scripted\n"
    "participants who download data and submit by HTTP, the end, and the final ranking.",
    "[ -k ] [ -p port ]",
    (
        Option("k", "keep the server running afterwards, to look at; stop it with Control-C", long="keep"),
        Option("p", "the port to listen at (any that is free)", "port", "port"),
    ),
    most=0,
)


def demo(given: Given) -> Iterator[str]:
    """Run the demonstration in a folder that is gone afterwards."""
    from redelve.challenge.server import require

    require()
    import tempfile
    from pathlib import Path

    from redelve.challenge.server.demonstration import demonstrate

    with tempfile.TemporaryDirectory(prefix="redelve-demo-") as folder:
        yield from demonstrate(Path(folder), port=whole(given, "p", 0), keep=given.has("k"))


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, demo, argv, show=at_once)
