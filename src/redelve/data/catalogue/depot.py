"""The depot: downloaded files, kept for good, each with the checksum it had when it was first seen."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from redelve.data.catalogue.transfer import transfer
from redelve.data.files import file_digest, json_value, read_text, write_atomic
from redelve.errors import FormatError, LocationError

LOCK = "downloads.lock.toml"
LOCK_FORMAT = 1
LOCK_HEAD = """\
# SHA-256 of every file as it was first downloaded; redelve refuses another one from the same address.
# To accept a file that has changed: fetch(…, checksum="its SHA-256"), or remove its lines here.
"""
LARGEST_DESCRIPTION = 16 << 20

Locked = dict[str, dict[str, Any]]


def depot_folder() -> Path:
    """Where downloads are kept: in REDELVE_HOME or the user's folder for data."""
    import platformdirs

    home = os.environ.get("REDELVE_HOME") or platformdirs.user_data_dir("redelve", appauthor=False)
    return Path(home).absolute() / "downloads"


@dataclass(frozen=True)
class DepotFile:
    """A file in the depot whose content has been verified."""

    path: Path
    url: str
    sha256: str


@dataclass(frozen=True)
class Depot:
    """Where files are kept, the server they come from, and what is allowed on the way."""

    folder: Path
    server: str
    limit: int
    timeout: float
    offline: bool = False

    def description(self, url: str, place: str, key: str) -> dict[str, Any]:
        """The object under `key` of a JSON document, which is kept but not locked: it may change."""
        path = self.folder / place
        if not path.is_file():
            with self._downloaded(url, path, min(self.limit, LARGEST_DESCRIPTION)) as temporary:
                parse_json(temporary.read_bytes(), key, url)
                temporary.replace(path)
        return parse_json(path.read_bytes(), key, str(path))

    def file(self, url: str, place: str, *, checksum: str | None = None, md5: str | None = None) -> DepotFile:
        """A file whose SHA-256 is the one given, or else that of the first time.

        `md5` is what the server says the file has; it is asked only when a file comes without anything else.
        """
        url, path = self._allowed(url), self.folder / place
        expected = checksum or self._locked().get(url, {}).get("sha256")
        if path.is_file():
            return self._kept(url, path, expected)
        with self._downloaded(url, path, self.limit) as temporary:
            found = file_digest(temporary)
            if expected is not None and found != expected:
                raise LocationError(_differs(url, found, expected, by_user=checksum is not None))
            if expected is None and md5 and file_digest(temporary, _md5) != md5.lower():
                raise LocationError(f"{url}: the file is damaged: its MD5 is not {md5}, as the server says")
            self._lock(url, found, temporary.stat().st_size)
            temporary.replace(path)
        return DepotFile(path, url, found)

    def _kept(self, url: str, path: Path, expected: str | None) -> DepotFile:
        found = file_digest(path)
        if expected is not None and found != expected:
            raise LocationError(
                f"{path}: its SHA-256 is {found}, not {expected}: remove the file to download it again"
            )
        self._lock(url, found, path.stat().st_size)
        return DepotFile(path, url, found)

    @contextlib.contextmanager
    def _downloaded(self, url: str, path: Path, limit: int) -> Iterator[Path]:
        """A temporary file beside `path`, which is gone afterwards unless it was renamed."""
        url = self._allowed(url)
        if self.offline:
            raise LocationError(f"{path} is not there yet, and offline=True forbids to download {url}")
        temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.part")
        make_folder(path.parent)
        try:
            transfer(url, temporary, limit=limit, timeout=self.timeout)
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)

    def _allowed(self, url: str) -> str:
        """The URL, encrypted if the server is; a description may not lead to files of this machine."""
        scheme, own = urlsplit(url).scheme, urlsplit(self.server).scheme
        if scheme == "http" and own == "https":
            return urlunsplit(urlsplit(url)._replace(scheme="https"))
        if scheme in ("http", "https") or (scheme == own == "file"):
            return url
        raise LocationError(f"{self.server} refers to {url}, which redelve does not open: not https or http")

    def _locked(self) -> Locked:
        return read_lock(self.folder / LOCK)

    def _lock(self, url: str, sha256: str, size: int) -> None:
        with _alone(self.folder):
            locked = self._locked()
            entry = {"sha256": sha256, "size": size}
            if locked.get(url) != entry:
                write_atomic(self.folder / LOCK, lock_text(locked | {url: entry}))


def read_lock(path: Path) -> Locked:
    """The addresses in a lock file, and what is known of each file."""
    if not path.is_file():
        return {}
    try:
        document = tomllib.loads(read_text(path))
        files = document["files"]
        if document["format"] > LOCK_FORMAT:
            raise FormatError(
                path, None, f"format {document['format']} is newer than this redelve: update it"
            )
        return {url: {"sha256": entry["sha256"], "size": entry["size"]} for url, entry in files.items()}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as problem:
        raise FormatError(
            path, None, f"damaged ({problem}): mend it, or remove it to trust anew"
        ) from problem


def lock_text(locked: Locked) -> str:
    """A lock file."""
    entries = (
        f'\n[files.{json.dumps(url)}]\nsha256 = "{entry["sha256"]}"\nsize = {entry["size"]}\n'
        for url, entry in sorted(locked.items())
    )
    return f"{LOCK_HEAD}format = {LOCK_FORMAT}\n{''.join(entries)}"


def _md5() -> Any:
    """MD5, which only guards against accidents."""
    return hashlib.md5(usedforsecurity=False)


def make_folder(folder: Path) -> None:
    """Make a folder of the depot, if it is not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise LocationError(
            f'can\'t create "{folder}": {problem.strerror}; '
            "set REDELVE_HOME to a folder that you may write to"
        ) from problem


def parse_json(data: bytes, key: str, where: str) -> dict[str, Any]:
    """The object that a JSON document holds under `key`."""
    try:
        found = json_value(data)[key]
    except (ValueError, LookupError, TypeError):
        found = None
    if not isinstance(found, dict):
        raise LocationError(f'{where}: expected JSON with "{key}" but got {data[:80]!r}')
    return found


def _differs(url: str, found: str, expected: str, *, by_user: bool) -> str:
    if by_user:
        return f"{url}: the file has SHA-256 {found}, not {expected} as asked for: it is not kept"
    return (
        f"{url}: the file has SHA-256 {found}, but had {expected} when it was first downloaded; "
        f'it is not kept: if you know that the new one is right, give checksum="{found}"'
    )


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes out while the lock file is changed, where the system can."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
