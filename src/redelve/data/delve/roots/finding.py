"""Which delve directories are active (manual 1.3, C)."""
# ruff: noqa: PTH100, PTH103, PTH109, PTH111, PTH117, PTH118, PTH120
# Every command imports this, and pathlib alone takes half as long as Python itself to start.

from __future__ import annotations

import os
import sys

from redelve.data.catalogue import CATALOGUE_VERSION
from redelve.data.delve.roots.one_root import PARTS, Root, is_delve_directory
from redelve.data.delve.roots.overlay import Overlay
from redelve.errors import LocationError


def containing_root(directory: str) -> str | None:
    """The nearest delve directory at or above `directory`."""
    while not is_delve_directory(directory):
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return directory


def current_directory() -> str:
    """The working directory as the shell names it, which may go through symbolic links."""
    try:
        actual = os.getcwd()
    except FileNotFoundError as error:
        raise LocationError("the current directory no longer exists: change to another one") from error
    named = os.environ.get("PWD", "")
    is_plain = os.path.isabs(named) and os.path.normpath(named) == named
    return named if is_plain and _same(named, actual) else actual


def builtin_root() -> str:
    """The delve directory that redelve itself keeps, in REDELVE_HOME or the user's folder for data.

    Its name has the version of the catalogue, so that what an older redelve generated is never taken for new.
    """
    home = os.environ.get("REDELVE_HOME") or _user_data_folder()
    return os.path.join(os.path.abspath(home), f"delve-{CATALOGUE_VERSION}")


def make_builtin_root() -> str:
    """The path of the built-in delve directory, which is made if it is not there yet."""
    root = builtin_root()
    try:
        for part in PARTS:
            os.makedirs(os.path.join(root, part), exist_ok=True)
    except OSError as error:
        from redelve.data.catalogue.materialise import cannot_create

        raise cannot_create(root, error) from error
    return root


def _user_data_folder() -> str:
    if sys.platform != "linux":
        import platformdirs

        return platformdirs.user_data_dir("redelve", appauthor=False)
    # What platformdirs answers on Linux; importing it would cost as much time as starting Python.
    shared = os.environ.get("XDG_DATA_HOME", "")
    return os.path.join(shared if os.path.isabs(shared) else os.path.expanduser("~/.local/share"), "redelve")


def active(directory: str | None = None) -> Overlay:
    """The active delve directories as seen from `directory` (the current one if not given).

    They are the one that contains the directory, then those of DELVE_PATH; the built-in one if it is not set.
    """
    cwd = current_directory() if directory is None else os.path.abspath(directory)
    entries = [entry for entry in os.environ.get("DELVE_PATH", "").split(os.pathsep) if entry]
    builtin = builtin_root()
    paths = [_listed_root(entry, cwd, builtin) for entry in entries] or [builtin]
    inside = containing_root(cwd)
    if inside is not None and not any(_same(inside, path) for path in paths):
        paths.insert(0, inside)
    unique: dict[str, str] = {}
    for path in paths:
        unique.setdefault(os.path.realpath(path), path)
    return Overlay(tuple(Root(path, _same(path, builtin)) for path in unique.values()), cwd)


def _listed_root(entry: str, cwd: str, builtin: str) -> str:
    path = os.path.normpath(os.path.join(cwd, entry))
    if not is_delve_directory(path) and not _same(path, builtin):
        raise LocationError(
            f'"{entry}" in DELVE_PATH is not a delve directory: '
            'its name must start with "delve" and it must have sub-directories "data" and "methods"'
        )
    return path


def _same(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)
