"""redelve methods: the methods that are known by name, or what one of them does."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.options import Command, Given, run
from redelve.errors import RedelveError

COMMAND = Command(
    "redelve methods",
    "List the methods that are known by name, redelve's and those of installed packages, or tell in\n"
    "full what one of them does.",
    "[ method ]",
)


def methods(given: Given) -> str:
    """Names with the first sentence of each summary, or one whole summary."""
    from redelve.methods.contract import METHODS

    if given.arguments:
        return METHODS[given.arguments[0]].summary.rstrip() + "\n"
    width = max(map(len, METHODS)) + 2
    return "".join(f"{name:{width}}{_about(name)}\n" for name in METHODS)


def _about(name: str) -> str:
    """The first sentence of a method's summary, or why the method cannot be had."""
    from redelve.methods.contract import METHODS

    try:
        return _first_sentence(METHODS[name].summary)
    except RedelveError as error:
        return str(error)


def _first_sentence(summary: str) -> str:
    return " ".join(summary.split()).partition(". ")[0].rstrip(".")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, methods, argv)
