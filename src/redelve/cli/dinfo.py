"""dinfo: get information about datasets, prototasks and tasks (manual 3.1, 4.1, C)."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.options import Command, Given, run
from redelve.cli.questions import OPTIONS, VERSION, data_facts
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, active

COMMAND = Command(
    "dinfo",
    "Tell about all data, a dataset, a prototask or a task; a method's name in front is ignored.",
    "[ -a | -k keys ] [ -q ] [ -t ] [ dpath | mpath ]",
    OPTIONS,
)


def dinfo(given: Given) -> str:
    """The information that was asked for."""
    if given.has("v"):
        return VERSION
    overlay = active()
    return data_facts(Library(overlay), DataAddress.parse(overlay.dpath(given.path()))).answer(given)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, dinfo, argv)
