"""Compressed files as streams of what is in them: gzip, compress, bzip2, xz, zstd, and zip with one file."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from redelve.errors import FormatError, RedelveError

if TYPE_CHECKING:
    from zipfile import ZipInfo


class Decompressed(io.RawIOBase):
    """A stream of decompressed bytes whose failures name the file."""

    def __init__(self, path: Path, kind: str, stream: BinaryIO) -> None:
        self._path, self._kind, self._stream = path, kind, stream
        with self._failures_named(), contextlib.ExitStack() as on_failure:
            on_failure.callback(stream.close)
            self._source = _OPENERS[kind](stream)
            on_failure.pop_all()

    @contextlib.contextmanager
    def _failures_named(self) -> Iterator[None]:
        try:
            yield
        except damage() as problem:
            cause = str(problem) or type(problem).__name__
            message = f"truncated or damaged {self._kind} file ({cause})"
            raise FormatError(self._path, None, message) from problem
        except _Unsuitable as problem:
            raise FormatError(self._path, None, str(problem)) from problem

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, as far as there is anything left."""
        with self._failures_named():
            piece = self._source.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the file, too."""
        self._stream.close()
        super().close()


class _Unsuitable(RedelveError):
    """The container is sound but not one compressed file."""


class _Pieces:
    """What an iterator of bytes yields, read like a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._pending = pieces, b""

    def read(self, size: int) -> bytes:
        while not self._pending:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._pending = piece
        head, self._pending = self._pending[:size], self._pending[size:]
        return head


# The packages that decompress are imported when a compressed file comes along, so that commands start fast.


def damage(*further: type[Exception]) -> tuple[type[Exception], ...]:
    """What those packages, and zipfile, raise when a file is truncated or damaged; and what else may be."""
    import lzma
    import struct
    import zipfile
    import zlib

    common = (EOFError, OSError, ValueError, RuntimeError, LookupError, OverflowError, MemoryError)
    return (*further, *common, struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def _open_gzip(stream: BinaryIO) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=stream)


def _open_compress(stream: BinaryIO) -> Any:
    from redelve.data import lzw

    return _Pieces(lzw.decompress(stream))


def _open_bzip2(stream: BinaryIO) -> Any:
    import bz2

    return bz2.BZ2File(stream)


def _open_xz(stream: BinaryIO) -> Any:
    import lzma

    return lzma.LZMAFile(stream)


def _open_zstd(stream: BinaryIO) -> Any:
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, mode="r"), "zstd")


def is_zip_folder(member: ZipInfo) -> bool:
    """Whether a member of a zip file is a folder; Python's own question fails where it has no name."""
    if not member.filename:
        from zipfile import BadZipFile

        raise BadZipFile("a member has no name")
    return member.filename.endswith("/")


def _open_zip(stream: BinaryIO) -> Any:
    import zipfile

    archive = zipfile.ZipFile(stream)
    names = [member.filename for member in archive.infolist() if not is_zip_folder(member)]
    if len(names) != 1:
        listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise _Unsuitable(f"a zip file must hold exactly one file but this one holds {len(names)}: {listed}")
    return archive.open(names[0])


_OPENERS: dict[str, Callable[[BinaryIO], Any]] = {
    "gzip": _open_gzip,
    "compress": _open_compress,
    "bzip2": _open_bzip2,
    "xz": _open_xz,
    "zstd": _open_zstd,
    "zip": _open_zip,
}
