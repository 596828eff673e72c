"""dmore: browse or page through DELVE data files (manual 1.3, C)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, run, write
from redelve.data.delve.roots import active
from redelve.errors import LocationError

if TYPE_CHECKING:
    import subprocess

COMMAND = Command(
    "dmore",
    "Show files of the data directories, by screenfuls if on a terminal (through $PAGER, else more).",
    "dpath | mpath ...",
    least=1,
    most=None,
)
PIECE = 1 << 16


def dmore(given: Given) -> Iterator[str]:
    """The contents of the files, one after the other."""
    overlay = active()
    return contents([overlay.locate(overlay.dpath(path)) for path in given.arguments])


def contents(paths: Iterable[str]) -> Iterator[str]:
    """The files' contents in pieces, decompressed; bytes that are no proper text are kept as they are."""
    import io

    from redelve.data.files import open_bytes

    for path in paths:
        with (
            open_bytes(path) as stream,
            io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="") as text,
        ):
            while piece := text.read(PIECE):
                yield piece


def page(pieces: Iterable[str]) -> None:
    """Show text through the pager on a terminal; anywhere else, simply write it."""
    words = pager_words()
    if not sys.stdout.isatty() or not words:
        write(pieces)
        return
    import contextlib
    import subprocess

    try:
        pager = subprocess.Popen(words, stdin=subprocess.PIPE, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise LocationError(
            f'can\'t run the pager "{words[0]}": {error.strerror}; set PAGER to another'
        ) from error
    assert pager.stdin is not None
    try:
        with contextlib.suppress(BrokenPipeError), pager.stdin as stdin:  # the reader may leave early
            stdin.writelines(pieces)
    finally:
        _wait(pager)


def pager_words() -> list[str]:
    """The pager and its arguments, taken apart without a shell; nothing if there is no pager at all."""
    import shlex
    import shutil

    chosen = os.environ.get("PAGER", "").strip()
    if not chosen:
        return ["more"] if shutil.which("more") else []
    try:
        return shlex.split(chosen)
    except ValueError as error:
        raise LocationError(f"can't understand PAGER={chosen}: {error}") from error


def _wait(pager: subprocess.Popen[str]) -> None:
    """Wait for the pager to end; an interrupt is for the pager to deal with."""
    while pager.returncode is None:
        try:
            pager.wait()
        except KeyboardInterrupt:
            continue


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, dmore, argv, show=page)
