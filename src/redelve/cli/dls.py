"""dls: list contents of DELVE data directories (manual 1.3, C)."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.listing import LONG, listing
from redelve.cli.options import Command, Given, run
from redelve.data.delve.roots import active

COMMAND = Command(
    "dls",
    "List what is in all data directories that a dpath names; a method's name in front is ignored.",
    "[ -l ] [ dpath | mpath ]",
    (LONG,),
)


def dls(given: Given) -> str:
    """The listing that was asked for."""
    overlay = active()
    path = given.path()
    return listing(overlay, "data", overlay.dpath(path), written=path, long=given.has("l"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, dls, argv)
