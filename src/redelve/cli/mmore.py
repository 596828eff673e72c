"""mmore: browse or page through DELVE method files (manual C)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redelve.cli.dmore import contents, page
from redelve.cli.options import Command, Given, run
from redelve.data.delve.roots import active

COMMAND = Command(
    "mmore",
    "Show files of the method directories, by screenfuls if on a terminal (through $PAGER, else more).",
    "mpath ...",
    least=1,
    most=None,
)


def mmore(given: Given) -> Iterator[str]:
    """The contents of the files, one after the other."""
    overlay = active()
    return contents([overlay.locate(overlay.mpath(path), "methods") for path in given.arguments])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, mmore, argv, show=page)
