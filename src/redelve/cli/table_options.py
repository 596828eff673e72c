"""The options of every verb that reads a table, and the warnings that none of them may hide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from redelve.cli import options as of

if TYPE_CHECKING:
    from redelve.data.tables import Intake


def ignore() -> of.TypedOption[tuple[str, ...]]:
    """Columns to leave out."""
    return of.texts("x", "a column to leave out; may be given again", "column")


def missing() -> of.TypedOption[tuple[str, ...]]:
    """Codes for missing values."""
    return of.texts("n", "a code for missing values, -999 or column=-999; may be given again", "code")


def encoding() -> of.TypedOption[str | None]:
    """The encoding of a text file."""
    return of.text("E", "the encoding of the table, such as latin-1", "name")


def decimal() -> of.TypedOption[str | None]:
    """The decimal sign of a text file."""
    return of.text("P", "how the table writes decimals: . or ,", "sign")


class Correcting(Protocol):
    """A verb's options that have these four."""

    ignore: Any
    missing: Any
    encoding: Any
    decimal: Any


def corrections(given: Correcting) -> dict[str, Any]:
    """What was said of the table, for those who make tasks of it; None where nothing was."""
    names = ("ignore", "missing", "encoding", "decimal")
    return {name: getattr(given, name) or None for name in names}


def tell_warnings(command: str, made: Intake) -> None:
    """Write to standard error what looks wrong about a table, whether or not the rest is quiet."""
    for warning in made.warnings:
        of.to_stderr(f"{command}: warning: {warning}")
