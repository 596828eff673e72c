"""Datasets from the network: `fetch("openml:61")` brings a verified file, and keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from redelve.data.catalogue.depot import Depot, depot_folder
from redelve.errors import SpecError
from redelve.registry import Registry

LIMIT = 512 << 20
"""Bytes that a download may have unless the caller allows more."""
TIMEOUT = 30.0
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Download:
    """A verified table, or a DELVE dataset's folder, and what its source tells of it."""

    reference: str
    name: str
    kind: Literal["table", "delve"]
    path: Path
    url: str
    sha256: str
    """Of the table, or of the archive that the folder was unpacked from."""
    targets: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    """Columns that are neither inputs nor targets, such as numbers of rows."""
    licence: str | None = None
    citation: str | None = None
    splits: Path | None = None
    """The training and test sets that an OpenML task prescribes, for `read_splits`."""


class DownloadSource(NamedTuple):
    """Where references of one kind lead: a server, and a function of name, depot and checksum."""

    server: str
    load: Callable[[str, Depot, str | None], Download]


SOURCES: Registry[DownloadSource] = Registry("source of datasets")
SOURCES.add("openml", "redelve.data.catalogue.openml:SOURCE")
SOURCES.add("uci", "redelve.data.catalogue.uci:SOURCE")
SOURCES.add("delve", "redelve.data.catalogue.delve_archive:SOURCE")


def fetch(
    reference: str,
    *,
    checksum: str | None = None,
    server: str | None = None,
    offline: bool = False,
    limit: int = LIMIT,
    timeout: float = TIMEOUT,
) -> Download:
    """The dataset that `openml:61`, `openml:task/59`, `uci:iris` or `delve:abalone` names, downloaded once.

    `checksum` is the SHA-256 the file must have. Without it the first download is trusted and its SHA-256
    kept; whatever differs later is refused. `server` is another address to ask, such as that of a mirror.
    """
    kind, separator, name = reference.partition(":")
    if not separator or not name:
        raise SpecError(f'bad reference "{reference}": expected something like openml:61 or delve:abalone')
    if checksum is not None and not SHA256.fullmatch(checksum.lower()):
        raise SpecError(f'bad checksum "{checksum}": a SHA-256 has 64 hexadecimal digits')
    source = SOURCES[kind]
    address = (server or source.server).rstrip("/")
    depot = Depot(depot_folder(), address, limit, timeout, offline)
    return source.load(name, depot, checksum and checksum.lower())
