"""redelve challenge demo: a challenge from beginning to end, with three scripted participants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redelve.cli import verb_options as of
from redelve.cli.challenge_serve import at_once
from redelve.cli.options import Command


class DemoOptions(of.VerbOptions):
    """What `redelve challenge demo` is told."""

    keep = of.flag("k", "keep the server running afterwards, to look at; stop it with Control-C")
    port = of.whole("p", "the port to listen at (any that is free)", "port", wanted=of.FROM_0, default=0)


COMMAND = Command(
    "redelve challenge demo",
    "Show a challenge from beginning to end: a server with the example challenge, three scripted\n"
    "participants who download data and submit by HTTP, the end, and the final ranking.",
    "[ -k ] [ -p port ]",
    DemoOptions.declared(),
    most=0,
)


def demo(given: DemoOptions) -> Iterator[str]:
    """Run the demonstration in a folder that is gone afterwards."""
    from redelve.challenge.server import require

    require()
    import tempfile
    from pathlib import Path

    from redelve.challenge.server.demonstration import demonstrate

    with tempfile.TemporaryDirectory(prefix="redelve-demo-") as folder:
        yield from demonstrate(Path(folder), port=given.port, keep=given.keep)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, DemoOptions, demo, argv, show=at_once)
