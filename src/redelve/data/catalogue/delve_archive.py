"""The DELVE archive in Toronto: a dataset's folder (`delve:abalone`), unpacked into a delve directory."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from redelve.data.catalogue import FAMILIES
from redelve.data.catalogue.depot import Depot, make_folder
from redelve.data.catalogue.downloads import Download, DownloadSource
from redelve.data.catalogue.unpacking import folders_with, unpack
from redelve.errors import FormatError, LocationError, SpecError, reason_of

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}", re.ASCII)
SPECIFICATION = "Dataset.spec"


def load(name: str, depot: Depot, checksum: str | None) -> Download:
    """The dataset's folder, in the delve directory `downloads/delve`, which may be put into DELVE_PATH."""
    if not NAME.fullmatch(name):
        raise SpecError(f'bad name "{name}" of a DELVE dataset: expected something like delve:abalone')
    archive = f"{name}.tar.gz"
    url = f"{depot.server}/{_family_folder(name)}{archive}"
    stored = depot.file(url, f"delve-archives/{archive}", checksum=checksum)
    root = depot.folder / "delve"
    make_folder(root / "methods")
    make_folder(root / "data")
    folder = root / "data" / name
    if not folder.is_dir():
        _put_into_place(stored.path, folder)
    return Download(f"delve:{name}", name, "delve", folder, stored.url, stored.sha256)


SOURCE = DownloadSource("https://www.cs.toronto.edu/pub/neuron/delve/data/tarfiles", load)


def _family_folder(name: str) -> str:
    """The members of a family have a folder of their own in the archive."""
    return next((f"{family}-family/" for family, members in FAMILIES.items() if name in members), "")


def _put_into_place(archive: Path, folder: Path) -> None:
    """Unpack into a hidden folder; the dataset in it becomes `folder` in one step."""
    hidden = folder.with_name(f".{folder.name}.{os.urandom(6).hex()}")
    try:
        unpack(archive, hidden)
        found = next(folders_with(hidden, SPECIFICATION), None)
        if found is None:
            raise FormatError(archive, None, f"holds no DELVE dataset: there is no {SPECIFICATION} in it")
        found.rename(folder)
    except OSError as problem:
        if not folder.is_dir():  # else another process was quicker
            raise LocationError(f'can\'t create "{folder}": {reason_of(problem)}') from problem
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
