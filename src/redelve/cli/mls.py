"""mls: list contents of DELVE method directories (manual 1.3, C)."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.listing import LONG, listing
from redelve.cli.options import Command, Given, run
from redelve.data.delve.roots import active

COMMAND = Command(
    "mls",
    "List what is in all method directories that an mpath names.",
    "[ -l ] [ mpath ]",
    (LONG,),
)


def mls(given: Given) -> str:
    """The listing that was asked for."""
    overlay = active()
    path = given.path()
    return listing(overlay, "methods", overlay.mpath(path), written=path, long=given.has("l"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, mls, argv)
