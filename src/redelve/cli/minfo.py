"""minfo: get information about learning methods and what they were applied to (manual 1.3, C)."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.options import Command, Given, run
from redelve.cli.questions import OPTIONS, VERSION, method_facts
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import MethodAddress, active

COMMAND = Command(
    "minfo",
    "Tell about all methods, a method, or a dataset, prototask or task as a method has used it.",
    "[ -a | -k keys ] [ -q ] [ -t ] [ mpath ]",
    OPTIONS,
)


def minfo(given: Given) -> str:
    """The information that was asked for."""
    if given.has("v"):
        return VERSION
    overlay = active()
    return method_facts(Library(overlay), MethodAddress.parse(overlay.mpath(given.path()))).answer(given)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, minfo, argv)
