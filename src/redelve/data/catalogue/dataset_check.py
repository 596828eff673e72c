"""Is a dataset fit for the catalogue? A check that anyone can run on a dataset of their own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator

from redelve.data.catalogue import CATALOGUE, Files
from redelve.data.catalogue.materialise import write_folder
from redelve.data.delve.check import check
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, Overlay, Root
from redelve.data.tasks import addresses
from redelve.errors import RedelveError

NEEDED = ("Dataset.spec", "Dataset.data", "Summary")


def check_dataset(dataset: str | Callable[[], Files]) -> list[str]:
    """Try whether a dataset's files are the same each time, pass `dcheck`, and make tasks.

    Parameters
    ----------
    dataset
        The name of a dataset of the catalogue, or a function that makes its files as one would register it.

    Returns
    -------
    list of str
        What is wrong, a sentence each; empty if nothing is.

    Examples
    --------
    >>> check_dataset("demo")
    []
    """
    make = CATALOGUE[dataset] if isinstance(dataset, str) else dataset
    files = dict(make())
    found = [*_misplaced(files), *_missing(files)]
    if dict(make()) != files:
        found.append("its files are not the same when they are made again: draw by a seed of its own")
    return found or list(_wrong_inside(files, dataset if isinstance(dataset, str) else "checked"))


def _misplaced(files: Files) -> Iterator[str]:
    for path, text in files.items():
        if path.startswith("/") or ".." in path.split("/"):
            yield f'the path "{path}" leads out of the dataset\'s folder'
        if not isinstance(text, str):
            yield f"{path} is {type(text).__name__}, not text"


def _missing(files: Files) -> Iterator[str]:
    yield from (f"it has no file {name}" for name in NEEDED if name not in files)
    if not any(path.endswith("/Prototask.spec") for path in files):
        yield "it has no prototask: a folder with Prototask.spec and std.prior"


def _wrong_inside(files: Files, name: str) -> Iterator[str]:
    """What dcheck finds, and then whether instances can be drawn."""
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, "delve-check")  # noqa: PTH118
        os.makedirs(os.path.join(root, "methods"))  # noqa: PTH103, PTH118
        write_folder(files, os.path.join(root, "data", name))  # noqa: PTH118
        overlay = Overlay((Root(root),), root)
        library = Library(overlay)
        reports = list(check(library, DataAddress.parse(f"/{name}")))
        problems = [line for report in reports for line in str(report).splitlines()]
        yield from (line.replace(f"{root}/data/", "") for line in problems)
        if not problems:
            yield from _tasks_that_fail(library, name)


def _tasks_that_fail(library: Library, name: str) -> Iterator[str]:
    for address in addresses(library.overlay, name):
        try:
            library.task(address).assignment()
        except RedelveError as error:
            yield f"{address}: no instances can be drawn: {error}"
