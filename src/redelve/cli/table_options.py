"""The options of every verb that reads a table."""

from __future__ import annotations

from redelve.cli import options as of


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


CORRECTIONS = ("ignore", "missing", "encoding", "decimal")
"""What these are called in the verbs, and by those who make tasks of a table."""
