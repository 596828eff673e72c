"""mgendir and mgendata: a method's directories and the files in them (manual 7.2, 7.4, C)."""
# ruff: noqa: PTH102, PTH112, PTH117, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from redelve.cli.options import QUIET, Command, Given, Option, reporter, run
from redelve.data.delve.roots import DataAddress, MethodAddress, Overlay, active, join_address, within_root
from redelve.errors import LocationError

MGENDIR = Command(
    "mgendir",
    "Make the directories for a method's work on all datasets, on a dataset, a prototask or a task.",
    "[ -l ] [ -q ] [ path ]",
    (
        Option("l", "local: make no directories inside the one named", long="local"),
        Option("q", "quiet: do not print what is made", long="quiet"),
    ),
)


def _mgendir(given: Given) -> Iterator[str]:
    """Make the directories; their names come as they are made."""
    for name in make_directories(active(), given.path(), local=given.has("l")):
        if not given.has("q"):
            yield f"{name}\n"


def make_directories(overlay: Overlay, path: str, *, local: bool = False) -> Iterator[str]:
    """Make the directory, those it is in and (unless `local`) those inside it; yields the new ones.

    `path` is a true path inside a method's directory; a dpath is taken to be meant for the method that the
    current directory belongs to.
    """
    shown = _shown_path(overlay, path)
    address = MethodAddress.parse(join_address(overlay.method_names(overlay.true_path(shown))))
    _require(overlay, address, shown)
    inside = [] if local else list(_names_inside(overlay, address.data))
    for name in (*_ancestors(shown), shown, *(os.path.join(shown, *names) for names in inside)):
        if _make(overlay.true_path(name), name):
            yield name


def _shown_path(overlay: Overlay, path: str) -> str:
    """The true path, absolute or relative to the current directory, as it is to be printed."""
    overlay.true_path(path)
    if os.path.isabs(path) and within_root(os.path.normpath(path)) is None:
        return _own_path(overlay, DataAddress.parse(path))
    tidy = os.path.normpath(path)
    keeps_dot = path.startswith("./") and not tidy.startswith((".", "/"))
    return f"./{tidy}" if keeps_dot else tidy


def _own_path(overlay: Overlay, address: DataAddress) -> str:
    """Where a dpath belongs in the directory of the method that one is in, seen from where one is."""
    here = overlay.method_names(overlay.cwd)
    if not here:
        raise LocationError(
            f'"{overlay.cwd}" is no method\'s directory: make one with mkdir and change to it'
        )
    up = [os.pardir] * (len(here) - 1)
    return os.path.relpath(os.path.join(overlay.cwd, *up, *address.names), overlay.cwd)


def _require(overlay: Overlay, address: MethodAddress, shown: str) -> None:
    """Raise an error unless the data part has what the directory would be for."""
    method, dataset, prototask, task = address
    if method is None:
        raise LocationError(f'"{shown}" names no method: give a directory inside "methods"')
    if dataset and prototask and task:
        overlay.require_task(dataset, prototask, task)
    elif dataset and prototask:
        overlay.require_prototask(dataset, prototask)
    elif dataset:
        overlay.require_dataset(dataset)


def _names_inside(overlay: Overlay, address: DataAddress) -> Iterator[tuple[str, ...]]:
    """The directories that belong inside the one for this address, outer ones first."""
    for name in _children(overlay, address):
        yield (name,)
        for rest in _names_inside(overlay, address.below(name)):
            yield (name, *rest)


def _children(overlay: Overlay, address: DataAddress) -> list[str]:
    if address.dataset is None:
        return overlay.datasets()
    if address.prototask is None:
        return overlay.prototasks(address.dataset)
    if address.task is None:
        return overlay.tasks(address.dataset, address.prototask)
    return []


def _ancestors(path: str) -> list[str]:
    """The directories that a path leads through, outermost first."""
    parent = os.path.dirname(path)
    return [] if parent in ("", path) else [*_ancestors(parent), parent]


def _make(path: str, shown: str) -> bool:
    """Make a directory; whether it is new."""
    if os.path.isdir(path):
        return False
    try:
        os.mkdir(path)
    except OSError as error:
        if os.path.isdir(path):  # somebody else was quicker
            return False
        raise LocationError(f'can\'t create directory "{shown}": {error.strerror}') from error
    return True


def mgendir(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(MGENDIR, _mgendir, argv)


MGENDATA = Command(
    "mgendata",
    "Write train.n, test.n, targets.n and normalize.n for each instance of a task, or of all below a path.",
    "[ -c file ] [ -n file ] [ -q ] [ path ]",
    (
        Option("c", "encodings that replace the default ones, an attribute a line", "file", long="codings"),
        Option("n", "instances that replace the standard ones, as lists of cases", "file", long="instances"),
        QUIET,
    ),
)


def _mgendata(given: Given) -> str:
    """Generate the files; all files of a task appear together or not at all."""
    from redelve.data.delve.task_files import generate

    progress = reporter(is_quiet=given.has("q"))
    generate(given.path(), codings=given.value("c"), instances=given.value("n"), progress=progress)
    return ""


def mgendata(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(MGENDATA, _mgendata, argv)
