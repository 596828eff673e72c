"""Commands that show what is there: dls, mls, dmore, mmore, redelve root and redelve csv (manual 1.3, C)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, Option, run, write
from redelve.data.catalogue import FAMILIES
from redelve.data.delve.roots import Overlay, Part, active, make_builtin_root
from redelve.errors import LocationError

if TYPE_CHECKING:
    import subprocess

LONG = Option("l", "group by directory, and print the true path of each", long="long")
WIDTH = 80
REPLICAS = f"redelve's own; {', '.join(FAMILIES)} and demo are replicas, not the original data"


def in_columns(names: Sequence[str], width: int = WIDTH) -> str:
    """The names in columns that are filled from the top, as many as fit.

    >>> in_columns(["age", "colour", "income"], 16)
    'age     income\\ncolour'
    """
    if not names:
        return ""
    columns = max(1, width // (max(len(name) for name in names) + 1))
    rows = len(names) // columns + 1
    cell = width // columns
    lines = ["".join(name.ljust(cell) for name in names[row::rows]).rstrip() for row in range(rows)]
    return "\n".join(lines).rstrip()


def listing(overlay: Overlay, part: Part, cpath: str, *, written: str, long: bool) -> str:
    """The merged contents of an address's directories; a file's name is repeated as it was written."""
    kind = overlay.kind(cpath, part)
    if kind is None:
        raise LocationError(f'file "{cpath}" not found in delve path')
    if long:
        return _grouped(overlay, part, cpath, kind == "directory")
    text = in_columns(overlay.listdir(cpath, part)) if kind == "directory" else written
    return f"{text}\n" if text else ""


def _grouped(overlay: Overlay, part: Part, cpath: str, is_directory: bool) -> str:
    if is_directory:
        ending = "/" if cpath == "/" else ""
        groups = [(place + ending, names) for place, names in overlay.listings(cpath, part)]
    else:
        split = (os.path.split(place) for place in overlay.locate_all(cpath, part))
        groups = [(folder, [name]) for folder, name in split]
    return "\n".join(
        f"{place}:{_said(overlay, part, cpath, place)}\n{in_columns(names)}".rstrip() + "\n"
        for place, names in groups
    )


def _said(overlay: Overlay, part: Part, cpath: str, place: str) -> str:
    """What must be said of where datasets come from, to stand behind the name of their folder."""
    if part != "data":
        return ""
    if dataset := cpath.split("/")[1]:
        said = overlay.provenance(dataset)
    else:
        is_ours = any(root.is_builtin and root.folder("data", ("",)) == place for root in overlay.roots)
        said = REPLICAS if is_ours else ""
    return f" ({said})" if said else ""


DLS = Command(
    "dls",
    "List what is in all data directories that a dpath names; a method's name in front is ignored.",
    "[ -l ] [ dpath | mpath ]",
    (LONG,),
)


def _dls(given: Given) -> str:
    """The listing that was asked for."""
    overlay = active()
    path = given.path()
    return listing(overlay, "data", overlay.dpath(path), written=path, long=given.has("l"))


def dls(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(DLS, _dls, argv)


MLS = Command(
    "mls",
    "List what is in all method directories that an mpath names.",
    "[ -l ] [ mpath ]",
    (LONG,),
)


def _mls(given: Given) -> str:
    """The listing that was asked for."""
    overlay = active()
    path = given.path()
    return listing(overlay, "methods", overlay.mpath(path), written=path, long=given.has("l"))


def mls(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(MLS, _mls, argv)


DMORE = Command(
    "dmore",
    "Show files of the data directories, by screenfuls if on a terminal (through $PAGER, else more).",
    "dpath | mpath ...",
    least=1,
    most=None,
)
PIECE = 1 << 16


def _dmore(given: Given) -> Iterator[str]:
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


def dmore(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(DMORE, _dmore, argv, show=page)


MMORE = Command(
    "mmore",
    "Show files of the method directories, by screenfuls if on a terminal (through $PAGER, else more).",
    "mpath ...",
    least=1,
    most=None,
)


def _mmore(given: Given) -> Iterator[str]:
    """The contents of the files, one after the other."""
    overlay = active()
    return contents([overlay.locate(overlay.mpath(path), "methods") for path in given.arguments])


def mmore(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(MMORE, _mmore, argv, show=page)


CSV = Command(
    "redelve csv",
    "Write the cases of a dataset to standard output as comma-separated values, with a line of names.",
    "dataset",
    least=1,
)


def _csv(given: Given) -> str:
    """The names, then a line for each case; missing values are empty."""
    from redelve.data.delve.reading import dataset_as_csv

    return dataset_as_csv(given.arguments[0])


def csv(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(CSV, _csv, argv)


ROOT = Command("redelve root", "Print the path of the built-in delve directory.", "", most=0)


def root(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(ROOT, lambda _: f"{make_builtin_root()}\n", argv)
