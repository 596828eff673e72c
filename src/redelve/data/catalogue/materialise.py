"""Putting a generated folder into the built-in root: all of it or nothing, whoever else is doing the same."""
# ruff: noqa: PTH103, PTH104, PTH112, PTH118, PTH120, PTH123
# Every command imports this, and pathlib alone takes half as long as Python itself to start.

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from redelve.errors import ExtensionError, LocationError, blaming, place_of
from redelve.registry import value_told


def made_files(name: str, make: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
    """The files that a dataset's function makes; anything else that it does is an error that names it."""
    with blaming(f'dataset "{name}"', make):
        files = make()
    culprit = f'dataset "{name}" ({place_of(make)})'
    if not isinstance(files, Mapping):
        raise ExtensionError(f"{culprit} returned {value_told(files)}: return a dictionary of texts by path")
    for path, text in files.items():
        if not isinstance(text, str):
            raise ExtensionError(f"{culprit}: {value_told(path)} is {value_told(text)}: make it a text")
    _check_paths(files, culprit)
    return files


def leads_out(path: object) -> bool:
    """Whether a path may lead out of the folder that it should be in, or is none.

    >>> [path for path in ("a/b", "/a", "../a", "a/../../b", "", "a\\0") if not leads_out(path)]
    ['a/b']
    """
    return not isinstance(path, str) or "\0" in path or not {"", ".", ".."}.isdisjoint(path.split("/"))


def _check_paths(files: Mapping[str, str], culprit: str) -> None:
    for path in files:
        if leads_out(path):
            told = 'give paths within its folder, such as "Dataset.spec"'
            raise ExtensionError(f"{culprit} has a file {value_told(path)}: {told}")


def write_folder(files: Mapping[str, str], folder: str) -> None:
    """Write the files into a hidden sibling, which then becomes `folder` in one step.

    If another process is quicker, its folder stays: both would be the same.
    """
    import shutil

    parent, name = os.path.split(folder)
    _check_paths(files, name)
    hidden = os.path.join(parent, f".{name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        os.makedirs(parent, exist_ok=True)
        _write_files(files, hidden)
        os.rename(hidden, folder)
    except OSError as error:
        if not os.path.isdir(folder):
            raise cannot_create(folder, error) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def cannot_create(folder: str, error: OSError) -> LocationError:
    """What to tell a user in whose built-in root nothing can be written."""
    return LocationError(
        f'can\'t create "{folder}": {error.strerror}; set REDELVE_HOME to a folder that you may write to'
    )


def _write_files(files: Mapping[str, str], folder: str) -> None:
    for name, text in files.items():
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
