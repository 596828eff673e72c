"""Which task directories a true path stands for: itself, or all that lie below it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from redelve.data.delve.reading import Library, MethodTask
from redelve.data.delve.roots import MethodAddress, TaskName, join_address
from redelve.errors import LocationError


def method_tasks(library: Library, path: str) -> list[tuple[Path, str, MethodTask]]:
    """True directory, name to show and files of every task directory that `path` stands for."""
    overlay = library.overlay
    true_path = Path(overlay.true_path(path))
    names = overlay.method_names(str(true_path))
    if not true_path.is_dir():
        raise LocationError(f'no directory "{path}": make it with mgendir')
    address = MethodAddress.parse(join_address(names))
    if address.method is None:
        raise LocationError(f'"{path}" is not a method\'s directory: change to one inside "methods"')
    found = [
        (directory, os.path.normpath(path) if not parts else str(Path(path, *parts)), parts)
        for directory, parts in _task_directories(true_path, 4 - len(names))
    ]
    if not found:
        raise LocationError(f'there are no task directories below "{path}": make them with mgendir')
    return [
        (
            directory,
            _as_written(path, shown),
            MethodTask(library, MethodAddress.parse(join_address((*names, *parts)))),
        )
        for directory, shown, parts in found
    ]


def _as_written(path: str, shown: str) -> str:
    return f"./{shown}" if path.startswith("./") and not shown.startswith(".") else shown


def _task_directories(directory: Path, depth: int) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The directories exactly `depth` levels down, tasks in the order of their sizes."""
    if depth == 0:
        yield directory, ()
        return
    try:
        inside = [entry for entry in directory.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    except OSError as error:
        raise LocationError(f'can\'t read directory "{directory}": {error.strerror}') from error
    for entry in sorted(inside, key=lambda entry: _order(entry.name)):
        if depth > 1 or TaskName.parse(entry.name) is not None:
            for found, parts in _task_directories(entry, depth - 1):
                yield found, (entry.name, *parts)


def _order(name: str) -> tuple[int, str]:
    parsed = TaskName.parse(name)
    return (0, name) if parsed is None else (parsed.training_set_size, parsed.prior)
