"""Putting a generated folder into the built-in root: all of it or nothing, whoever else is doing the same."""
# ruff: noqa: PTH103, PTH104, PTH112, PTH118, PTH120, PTH123
# Every command imports this, and pathlib alone takes half as long as Python itself to start.

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from redelve.errors import ANY_FAULT, ExtensionError, LocationError, blame, place_of
from redelve.registry import value_told

WITHIN = 'give paths within its folder, such as "Dataset.spec"'


def made_files(name: str, make: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
    """The files that a dataset's function makes; anything else that it does is an error that names it."""
    try:
        files = make()
    except ANY_FAULT as error:
        blame(f'dataset "{name}"', make, error)
        raise
    if not isinstance(files, Mapping):
        raise _wrong_files(name, make, f"returned {value_told(files)}: return a dictionary of texts by path")
    if fault := fault_of(files):
        raise _wrong_files(name, make, fault)
    return files


def _wrong_files(name: str, make: object, told: str) -> ExtensionError:
    return ExtensionError(f'dataset "{name}" ({place_of(make)}) {told}')


def fault_of(files: Mapping[str, str]) -> str:
    """Why the texts can't be written as files within a folder, if anything is wrong with them.

    >>> fault_of({"a/b": "", "a": ""})
    "has files 'a/b' and 'a', but a file is no folder: rename one of them"
    """
    for path, text in files.items():
        told = value_told(path)
        if leads_out(path):
            return f"has a file {told}: {WITHIN}"
        if not isinstance(text, str):
            return f"has {value_told(text)} in {told}: make it a text"
        if half := _half_of(path) or _half_of(text):
            return f"has {half} in {told}, half a character, which can't be written: leave it out"
        folders = (path[:end] for end, sign in enumerate(path) if sign == "/")
        if folder := next(filter(files.__contains__, folders), None):
            clash = f"has files {told} and {value_told(folder)}"
            return f"{clash}, but a file is no folder: rename one of them"
    return ""


def _half_of(text: str) -> str:
    """The first half of a character that stands alone in a text, as a message shows it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return ascii(text[error.start])[1:-1]
    return ""


def leads_out(path: object) -> bool:
    """Whether a path may lead out of the folder that it should be in, or is none.

    >>> [path for path in ("a/b", "/a", "../a", "a/../../b", "", "a\\0") if not leads_out(path)]
    ['a/b']
    """
    return not isinstance(path, str) or "\0" in path or not {"", ".", ".."}.isdisjoint(path.split("/"))


def write_folder(files: Mapping[str, str], folder: str) -> None:
    """Write the files into a hidden sibling, which then becomes `folder` in one step.

    If another process is quicker, its folder stays: both would be the same.
    """
    import shutil

    parent, name = os.path.split(folder)
    for path in filter(leads_out, files):
        raise ExtensionError(f'"{folder}" cannot have a file {value_told(path)}: {WITHIN}')
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
