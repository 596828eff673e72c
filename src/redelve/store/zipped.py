"""Archives in a zip file, perhaps made by somebody else: unpacked with care."""

from __future__ import annotations

import atexit
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from redelve.errors import FormatError

LARGEST_TOTAL = 64 << 30
LARGEST_RATIO = 100
ALWAYS_ALLOWED = 64 << 20
MOST_FILES = 1_000_000


def unzipped(path: Path) -> Path:
    """The contents of a zip file in a folder that goes when Python ends, for losses are read late."""
    try:
        with zipfile.ZipFile(path) as file:
            members = [_checked(path, member) for member in file.infolist() if not member.is_dir()]
            _check_sizes(path, members)
            folder = Path(tempfile.mkdtemp(prefix="redelve-archive-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            for member in members:
                _unpack(path, file, member, folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise FormatError(path, None, f"neither a folder nor a sound zip file: {error}") from None
    return folder


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
