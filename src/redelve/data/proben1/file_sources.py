"""Where PROBEN1's files are: a folder of the user's, or downloaded from a mirror; always verified by content.

The servers that the report names (ftp.ira.uka.de, ftp.cs.cmu.edu) no longer offer them, so a mirror's
address must be given. The files may not be redistributed with redelve. Most can be made anew (`rebuilding`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from redelve.data.catalogue.depot import Depot, depot_folder
from redelve.data.catalogue.downloads import TIMEOUT
from redelve.data.files import StrPath, find_file, open_bytes
from redelve.data.proben1.file_digests import SHA256, digests_of
from redelve.data.proben1.problem_names import Variant, is_name, parse_name
from redelve.errors import LocationError, SpecError

FOLDER = "REDELVE_PROBEN1"
LARGEST = 8 << 20
"""Bytes; the largest file, mushroom, has a little over two million."""


def locate(name: str, *, folder: StrPath | None = None) -> Path:
    """The data file of a variant: in `folder`, in the one that REDELVE_PROBEN1 names, or downloaded before.

    A folder may hold the files side by side or in the directories of PROBEN1's archive, compressed or not.
    A file that has not the content of PROBEN1's is refused.
    """
    variant = parse_name(name)
    found = find_own(variant, folder=folder)
    if found is None:
        raise LocationError(f"{not_in(variant, folder)}: {own_ways_out(variant)}")
    return found


def find_own(variant: Variant, *, folder: StrPath | None = None) -> Path | None:
    """PROBEN1's own file, if it is anywhere."""
    for place in data_folders(folder):
        found = _in_folder(place, variant)
        if found is not None:
            return verified(found, variant)
    return None


def not_in(variant: Variant, folder: StrPath | None = None) -> str:
    """That a file is missing, and where it was looked for."""
    return f"{variant.file}.dt is not in {', '.join(map(str, data_folders(folder)))}"


def own_ways_out(variant: Variant) -> str:
    """How to have PROBEN1's own file."""
    return (
        f"set {FOLDER} to a folder with PROBEN1's files, or give the address of a mirror, as in "
        f'redelve.data.proben1.download("{variant.file}", server="https://…")'
    )


def data_folders(folder: StrPath | None = None) -> tuple[Path, ...]:
    """Where data are looked for: the folder given, or that of REDELVE_PROBEN1 and redelve's own."""
    return tuple(_folders(folder))


def _folders(folder: StrPath | None) -> Iterator[Path]:
    if folder is not None:
        yield Path(folder)
        return
    if given := os.environ.get(FOLDER):
        yield Path(given)
    yield depot_folder() / "proben1"


def _in_folder(folder: Path, variant: Variant) -> Path | None:
    name = f"{variant.file}.dt"
    directory = variant.dataset.directory
    candidates = (folder / name, folder / directory / name, folder / "proben1" / directory / name)
    return next((found for candidate in candidates if (found := find_file(candidate)) is not None), None)


def verified(path: Path, variant: Variant) -> Path:
    """The same path, if its content is that of PROBEN1's file, or its numbers as redelve writes them.

    How lines end does not matter.
    """
    found = _digest(path)
    if found not in digests_of(variant.file):
        raise LocationError(
            f"{path}: its content (SHA-256 {found[:16]}…) is not that of PROBEN1's {variant.file}.dt "
            f"({SHA256[variant.file][:16]}…): get the genuine file, or give the path itself to use it as a "
            "file of your own"
        )
    return path


def genuine(path: StrPath, name: str) -> Variant | None:
    """What a file given by its path is, if it is PROBEN1's own under its own name."""
    if not is_name(name):
        return None
    try:
        variant = parse_name(name)
    except SpecError:
        return None
    is_file = variant.order == "a" and str(variant) == name
    return variant if is_file and _digest(Path(path)) in digests_of(variant.file) else None


def _digest(path: Path) -> str:
    with open_bytes(path) as stream:
        return hashlib.sha256(stream.read(LARGEST + 1).replace(b"\r\n", b"\n")).hexdigest()


def download(name: str, *, server: str, offline: bool = False, timeout: float = TIMEOUT) -> Path:
    """The data file of a variant from a mirror, kept for good; its SHA-256 is that of PROBEN1's own file.

    `server` is the address of PROBEN1's directory there, which holds `glass/glass1.dt`; with other layouts
    give a pattern, as in "https://host/data/{file}.dt" ({directory} stands for glass).
    """
    variant = parse_name(name)
    pattern = server if "{file}" in server else f"{server.rstrip('/')}/{{directory}}/{{file}}.dt"
    url = pattern.replace("{directory}", variant.dataset.directory).replace("{file}", variant.file)
    depot = Depot(depot_folder(), url, LARGEST, timeout, offline)
    return depot.file(url, f"proben1/{variant.file}.dt", checksum=SHA256[variant.file]).path
