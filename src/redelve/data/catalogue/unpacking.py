"""Unpacking archives from elsewhere: plain files below one folder, and not too much of them."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from redelve.data.decompression import damage, is_zip_folder
from redelve.data.files import open_bytes
from redelve.errors import FormatError, RedelveError

PIECE = 1 << 20
LONGEST_NAME = 200
ZIP = b"PK\x03\x04"


class UnpackingLimits(NamedTuple):
    """How much an archive may hold."""

    files: int = 20_000
    size: int = 1 << 30
    """Bytes of all files together, unpacked; of a compressed tar file also that of what it is made of."""


DEFAULT_LIMITS = UnpackingLimits()


def unpack(archive: Path, folder: Path, limits: UnpackingLimits = DEFAULT_LIMITS) -> None:
    """Unpack a tar file (compressed or not) or a zip file into a new folder.

    Links, devices, encrypted files and names that lead out of the folder are refused, not skipped.
    """
    try:
        with archive.open("rb") as file:
            is_zip = file.read(4) == ZIP
        (_unpack_zip if is_zip else _unpack_tar)(_Room(archive, folder, limits))
    except RedelveError:
        raise
    except damage(tarfile.TarError) as problem:
        raise FormatError(archive, None, f"can't be unpacked: {problem}") from problem


class _Room:
    """The folder that is being filled, and how much more may go into it."""

    def __init__(self, archive: Path, folder: Path, limits: UnpackingLimits) -> None:
        self.archive, self.folder, self.limits = archive, folder, limits
        self.count = self.size = 0
        folder.mkdir(parents=True)

    def refuse(self, why: str) -> FormatError:
        return FormatError(self.archive, None, f"{why}: unpack it by hand if you trust it")

    def place(self, name: str) -> Path:
        """Where a member goes."""
        parts = tuple(part for part in name.split("/") if part not in ("", "."))
        is_odd = any(character in name for character in "\\\0:") or not name.isprintable()
        if name.startswith("/") or ".." in parts or is_odd:
            raise self.refuse(f"the name {name!r} may lead out of the folder")
        if len(name) > LONGEST_NAME:
            raise self.refuse(f"the name {name[:40]!r}… has more than {LONGEST_NAME} characters")
        return self.folder.joinpath(*parts)

    def add_folder(self, name: str) -> None:
        self._count()
        self.place(name).mkdir(parents=True, exist_ok=True)

    def add_file(self, name: str, source: IO[bytes]) -> None:
        self._count()
        path = self.place(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            while piece := source.read(PIECE):
                self.size += len(piece)
                if self.size > self.limits.size:
                    raise self.refuse(f"it holds more than {self.limits.size} bytes")
                file.write(piece)

    def _count(self) -> None:
        self.count += 1
        if self.count > self.limits.files:
            raise self.refuse(f"it holds more than {self.limits.files} files")


def _unpack_tar(room: _Room) -> None:
    with (
        open_bytes(room.archive) as stream,
        tarfile.open(fileobj=_Counted(stream, room), mode="r|") as archive,
    ):
        for member in archive:
            source = archive.extractfile(member) if member.isreg() and not member.issparse() else None
            if member.isdir():
                room.add_folder(member.name)
            elif source is None:
                raise room.refuse(f"{member.name!r} is not a plain file (a link, a device or the like)")
            else:
                room.add_file(member.name, source)


def _unpack_zip(room: _Room) -> None:
    with zipfile.ZipFile(room.archive) as archive:
        for member in archive.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.flag_bits & 1 or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise room.refuse(f"{member.filename!r} is encrypted or not a plain file")
            if is_zip_folder(member):
                room.add_folder(member.filename)
            else:
                with archive.open(member) as source:
                    room.add_file(member.filename, source)


class _Counted(io.RawIOBase):
    """A stream that ends in an error when a tiny file turns out to hold far too much."""

    def __init__(self, stream: IO[bytes], room: _Room) -> None:
        self._stream, self._room, self._left = stream, room, room.limits.size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, PIECE) if size >= 0 else PIECE)
        self._left -= len(data)
        if self._left < 0:
            raise self._room.refuse(f"it holds more than {self._room.limits.size} bytes")
        return data


def folders_with(folder: Path, name: str) -> Iterator[Path]:
    """The folders at or below `folder` that hold a file of this name, compressed or not."""
    for path in sorted(folder.rglob(f"{name}*")):
        if path.is_file() and path.name.split(".")[:2] == name.split("."):
            yield path.parent
