"""Where things lie in an archive, and the documents (JSON with a checksum) that describe them.

An archive in a zip file, perhaps made by somebody else, is unpacked with care.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import math
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from redelve.data.decompression import damage, is_zip_folder
from redelve.data.files import check_plain, read_json, write_atomic, write_json_once
from redelve.errors import FormatError, LocationError, SpecError, in_words, reason_of
from redelve.model.dataset import digest

FORMAT = "redelve archive"
VERSION = 1
MARKER, MANIFEST, LOCK = "redelve-archive.json", "manifest.json", "lock"
INSIDE = "archive"
"""What the archive is called in the folder of an assessment."""
LEASES = "leases"
"""Which process does which job."""
AT_WORK = "at-work"
"""A lock of former times, empty."""
FRESH, CONFLICTS = "fresh", "conflicts"
ANALYSES, RACES = "analyses.json", "races"
"""What was looked at before: each analysis with how much there was, each race with its looks."""
DATA = ("losses", "answers", "jobs", "circumstances")
FOLDERS = (*DATA, "truths", "tasks", "methods", "environments", RACES, FRESH, CONFLICTS)
LARGEST_DOCUMENT = 1 << 30
LONGEST_NAME = 180
ABANDONED_AFTER = 3600.0
"""Seconds after which a half-written file is taken to be of a process that has died."""

UPGRADES: dict[int, Callable[[Path], None]] = {}
"""What turns an archive of an older version into one of the next; there is none yet."""

DIGEST = re.compile(r"[0-9A-Za-z_-]{1,64}", re.ASCII)
NAMED_FILE = re.compile(r"(losses|answers)(/(method|task|version)=[^/]+){3}/[0-9a-f]{16}\.parquet", re.ASCII)
PLAIN_FILE = re.compile(r"(jobs|circumstances)/[0-9a-f]{16}\.parquet", re.ASCII)

Document = dict[str, Any]


def segment(name: str) -> str:
    """A name as part of a path: safe on every system, and decoded by everything that knows Hive's layout.

    >>> segment("/demo/age/std.128"), segment(".."), segment("lin-1")
    ('%2Fdemo%2Fage%2Fstd.128', '%2E%2E', 'lin-1')
    """
    coded = quote(name, safe="").replace("~", "%7E")
    if coded.startswith(".") or coded.endswith("."):
        coded = coded.replace(".", "%2E")
    if not coded or len(coded) > LONGEST_NAME:
        raise SpecError(f'"{name[:60]}" is no name for an archive: it must not be empty nor that long')
    return coded


@lru_cache(maxsize=1 << 16)
def version_of(method: str, method_digest: str, task: str, task_digest: str) -> str:
    """What tells work of different versions of a method, or of a task, apart."""
    return "v" + digest([method, method_digest, task, task_digest])[:12]


@lru_cache(maxsize=1 << 16)
def folder_of(kind: str, method: str, task: str, version: str) -> str:
    """Where the rows of a method's work on a task lie."""
    return f"{kind}/method={segment(method)}/task={segment(task)}/version={version}"


def task_path(root: Path, address: str, digest: str) -> Path:
    """The file that describes a task."""
    return root / "tasks" / segment(address) / f"{checked_digest(digest, address)}.json"


# Documents


def write_document(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file whose last entry is a checksum of the others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    check_plain(path)
    write_atomic(path, _document_text(content))


def _document_text(content: Mapping[str, Any]) -> str:
    plain = plain_value(dict(content))
    text = json.dumps({**plain, "checksum": _checksum(plain)}, indent=1, ensure_ascii=False, allow_nan=False)
    return text + "\n"


def read_document(path: Path) -> Document:
    """What `write_document` wrote; any change to it is found."""
    return _checked_document(path, read_json(path, LARGEST_DOCUMENT))


def _checked_document(path: Path, content: Any) -> Document:
    if not isinstance(content, dict):
        raise FormatError(path, None, f"expected an object but got {content!r:.80}")
    given = content.pop("checksum", None)
    if given != _checksum(content):
        raise FormatError(path, None, "the checksum does not agree: the file was changed or damaged")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def plain_value(value: Any) -> Any:
    """The same in what JSON knows; anything else as text."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if hasattr(value, "tolist"):
        return plain_value(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


class DocumentFields:
    """The entries of a document, each checked for its type when it is taken."""

    def __init__(self, path: Path, content: Any) -> None:
        if not isinstance(content, dict):
            raise FormatError(path, None, f"expected named values but got {content!r:.80}")
        self.path, self.content = path, content

    def take(self, name: str, *types: type) -> Any:
        """The entry, of one of the types."""
        value = self.content.get(name)
        is_flag = isinstance(value, bool) and bool not in types
        if not isinstance(value, types) or is_flag:
            wanted = " or ".join("null" if kind is type(None) else kind.__name__ for kind in types)
            raise FormatError(self.path, None, f'expected "{name}" to be {wanted} but got {value!r:.80}')
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """The entry, which is a list of texts."""
        values = self.take(name, list)
        for value in values:
            if not isinstance(value, str):
                raise FormatError(self.path, None, f'expected texts in "{name}" but got {value!r:.80}')
        return tuple(values)

    def digest(self, name: str) -> str:
        """The entry, which is a digest and so may be part of a file name."""
        value: str = self.take(name, str)
        return checked_digest(value, self.path)


def checked_digest(value: str, place: object) -> str:
    """A digest, or an error that names the place."""
    if DIGEST.fullmatch(value) is None:
        raise FormatError(
            str(place), None, f'"{value[:80]}" is no digest: expected up to 64 letters and digits'
        )
    return value


# The marker: what makes a folder an archive


def root_in(folder: Path) -> Path:
    """The archive's own folder: the one given, or that inside the folder of an assessment."""
    is_around = not (folder / MARKER).exists() and (folder / INSIDE / MARKER).is_file()
    return folder / INSIDE if is_around else folder


def refuse_in_archive(path: Path) -> None:
    """Refuse to write a file where only an archive's own files belong."""
    place = path if "\0" in str(path) else path.resolve()
    if root := next((one for one in (place, *place.parents) if (one / MARKER).is_file()), None):
        raise LocationError(
            f"{path}: can't be written into the archive {root}, which would be damaged: choose another place"
        )


def create(root: Path, made_by: str) -> Document | None:
    """Make an empty archive, in a folder that is empty or not there yet, unless somebody else just did.

    What its marker says; None where somebody was so fast that there is more in the folder.
    """
    try:
        return _created(root, made_by)
    except OSError as error:
        raise no_archive_at(root, error) from None


def _created(root: Path, made_by: str) -> Document | None:
    if root.exists() and not (root.is_dir() and all(_is_of_archive(path) for path in root.iterdir())):
        if (root / MARKER).is_file():
            return None
        raise LocationError(f"{root}: can't become an archive, it is no empty folder: choose another path")
    root.mkdir(parents=True, exist_ok=True)
    (root / FRESH).mkdir(exist_ok=True)
    content = {"format": FORMAT, "version": VERSION, "created by": made_by}
    return _checked_document(root / MARKER, write_json_once(root / MARKER, _document_text(content)))


def no_archive_at(path: Path, error: OSError) -> LocationError:
    """The error that says why the system has no place for an archive there, and the way out."""
    shown = str(path) if len(str(path)) < LONGEST_NAME else f"{str(path)[:60]}…"
    named = "" if error.filename is None else os.fsdecode(error.filename)
    part = f"{named}: " if named and Path(named) in path.parents else ""
    return LocationError(f"{shown}: can't become an archive: {part}{reason_of(error)}")


def _is_of_archive(path: Path) -> bool:
    """Whether somebody who makes the same archive at this moment has made that."""
    return path.name in (FRESH, MARKER) or is_half_written(path.name)


def check_marker(root: Path, marker: Document | None = None) -> None:
    """Raise an error unless the folder is an archive of a version known here; upgrade an older one.

    `marker` is what the marker says, for whoever has read it.
    """
    if not root.is_dir():
        raise LocationError(
            f"{root}: no such archive: give the path of a folder that `assess`, or `compare -a`, has made"
        )
    if not (root / MARKER).is_file():
        raise LocationError(f"{root}: not an archive, it has no file {MARKER}")
    _refuse_links(root)
    given = DocumentFields(root / MARKER, marker or read_document(root / MARKER))
    if given.take("format", str) != FORMAT:
        raise FormatError(given.path, None, f'the format is "{given.content["format"]}", not "{FORMAT}"')
    version = given.take("version", int)
    if version > VERSION:
        raise FormatError(
            given.path,
            None,
            f"format version {version} is newer than {VERSION}, the newest known here: upgrade redelve",
        )
    for older in range(version, VERSION):
        if older not in UPGRADES:
            raise FormatError(given.path, None, f"there is no format version {older}: known is {VERSION}")
        UPGRADES[older](root)


def _refuse_links(folder: Path) -> None:
    """Raise an error for a symbolic link: what is written or removed under it would lie elsewhere."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                raise FormatError(
                    entry.path, None, "a symbolic link leads out of the archive: put a copy in its place"
                )
            if entry.is_dir(follow_symlinks=False):
                _refuse_links(Path(entry.path))


# One at a time


@contextlib.contextmanager
def locked(root: Path) -> Iterator[None]:
    """Wait until nobody else compacts or merges; the lock goes when the process does, however it ends."""
    with (root / LOCK).open("a+b") as file:
        _lock(file)
        yield


def _lock(file: Any) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def is_half_written(name: str) -> bool:
    """Whether a file of this name is still being written, or was when its process died."""
    return name.startswith(".") and name.endswith(".tmp")


def is_abandoned(path: Path) -> bool:
    """Whether a half-written file is so old that nobody can be writing it any more."""
    with contextlib.suppress(OSError):
        return is_half_written(path.name) and time.time() - path.stat().st_mtime > ABANDONED_AFTER
    return False


LARGEST_TOTAL = 64 << 30
LARGEST_RATIO = 100
ALWAYS_ALLOWED = 64 << 20
MOST_FILES = 1_000_000


def unzipped(path: Path) -> Path:
    """The contents of a zip file in a folder that goes when Python ends, for losses are read late."""
    try:
        with zipfile.ZipFile(path) as file:
            folder = Path(tempfile.mkdtemp(prefix="redelve-archive-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            unpack_zip(path, file, folder)
    except damage() as error:
        told = in_words(error) if isinstance(error, OSError) else error
        raise FormatError(path, None, f"neither a folder nor a sound zip file: {told}") from None
    return folder


def unpack_zip(path: Path, file: zipfile.ZipFile, folder: Path, leave_out: tuple[str, ...] = ()) -> None:
    """Put files of a zip that nobody vouches for into a folder, less those whose names begin so."""
    every = [one for one in file.infolist() if not is_zip_folder(one)]
    members = [_checked(path, one) for one in every if not one.filename.startswith(leave_out)]
    _check_sizes(path, members)
    for member in members:
        _unpack(path, file, member, folder)


def _checked(path: Path, member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    parts = PurePosixPath(member.filename)
    is_bad = parts.is_absolute() or ".." in parts.parts or "\\" in member.filename or ":" in member.filename
    if is_bad or stat.S_ISLNK(member.external_attr >> 16):
        raise FormatError(path, None, f'"{member.filename[:80]}" leads out of the archive: do not trust it')
    return member


def _check_sizes(path: Path, members: list[zipfile.ZipInfo]) -> None:
    total = sum(member.file_size for member in members)
    allowed = min(LARGEST_TOTAL, max(ALWAYS_ALLOWED, LARGEST_RATIO * path.stat().st_size))
    if total > allowed or len(members) > MOST_FILES:
        raise FormatError(
            path, None, f"{len(members)} files of {total} bytes in all: unzip it by hand if you trust it"
        )


def _unpack(path: Path, file: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> None:
    target = folder / member.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    with file.open(member) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink, 1 << 20)
        if sink.tell() > member.file_size:
            raise FormatError(path, None, f'"{member.filename[:80]}" is larger than it says: do not trust it')
