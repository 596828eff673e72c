"""Opening files, compressed or not; their text, whole or in blocks, in any encoding; and replacing them so
that a failure leaves the old ones.
"""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import io
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, cast

from redelve.data.compressed_names import ENDINGS
from redelve.data.decompression import Decompressed
from redelve.errors import FormatError, LocationError, SpecError, reason_of

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
TEXT_LIMIT = 64 * 2**20
BLOCK = 4 * 2**20
UTF8, UTF16 = "utf-8", "utf-16"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
StrPath = str | os.PathLike[str]
Data = str | bytes | Iterable[str] | Iterable[bytes]

_BUFFER = 1 << 20
HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""How half a character that takes two escapes begins; most stand beside their other half."""
SYNCED_AT_ONCE = 16
_BZIP2_STARTS = (b"1AY&SY", b"\x17rE8P\x90")  # of a block of data, of the end of an empty file


def find_file(path: StrPath) -> Path | None:
    """The file itself or, when it is missing, its compressed form (`X.gz`, `X.Z` …); None without either.

    >>> find_file("no/such/file") is None
    True
    """
    plain = Path(path)
    candidates = [plain, *(plain.with_name(plain.name + ending) for ending in ENDINGS if plain.name)]
    return next((candidate for candidate in candidates if _is_file(candidate)), None)


def open_bytes(path: StrPath) -> BinaryIO:
    """Open the file (or its compressed form) for reading the decompressed bytes; use it in a `with` block.

    The kind of compression is recognised by the first bytes, whatever the name says.
    """
    found = find_file(path)
    if found is None:
        raise LocationError(f"{os.fspath(path)}: {_why_missing(Path(path))}")
    try:
        stream = found.open("rb")
        kind = _kind(stream.peek(16)[:16])
    except OSError as problem:
        raise _cannot("read", found, problem) from problem
    if kind is None:
        return stream
    return cast(BinaryIO, io.BufferedReader(Decompressed(found, kind, stream), _BUFFER))


def read_text(path: StrPath, limit: int = TEXT_LIMIT) -> str:
    r"""Read a whole text file in ASCII or UTF-8; every line end becomes `\n`.

    `limit` is the largest size accepted, in bytes after decompression.
    """
    with open_bytes(path) as stream:
        data = _read_up_to(stream, limit + 1)
    if len(data) > limit:
        raise FormatError(path, None, f"larger than {limit} bytes, too large for a file of this kind")
    return decoded_text(path, data, "is neither ASCII nor UTF-8")


def decoded_text(path: StrPath, data: bytes, complaint: str) -> str:
    r"""The text of a file in UTF-8, every line end made `\n`; `complaint` tells of a byte that is not."""
    data = data.removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if (nul := data.find(b"\0")) >= 0:
        raise FormatError(path, 1 + data.count(b"\n", 0, nul), "NUL byte: this is not a text file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = 1 + data.count(b"\n", 0, problem.start)
        raise FormatError(path, line, f"byte {data[problem.start]:#04x} {complaint}") from None


def _read_up_to(stream: BinaryIO, most: int) -> bytes:
    """At most so many bytes, taking no more memory than there is to read."""
    pieces, left = [], most
    while left > 0 and (piece := stream.read(min(_BUFFER, left))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def read_blocks(path: StrPath, size: int, cut: Callable[[bytes], int]) -> Iterator[tuple[bytes, range]]:
    """Read in pieces of about `size` bytes; yield blocks with the numbers, from 1, of their lines.

    `cut` tells how much of what was read makes a block; the rest goes with the next one.
    """
    rest, line = b"", 1
    with open_bytes(path) as stream:
        while piece := stream.read(size):
            data = rest + piece
            end = cut(data)
            block, rest = data[:end], data[end:]
            if block:
                lines = range(line, line + block.count(b"\n"))
                yield (block.removeprefix(BYTE_ORDER_MARK) if line == 1 else block), lines
                line = lines.stop
    if rest:
        last = line + rest.count(b"\n") - rest.endswith(b"\n")
        yield (rest.removeprefix(BYTE_ORDER_MARK) if line == 1 else rest), range(line, last + 1)


class NotUtf8(Exception):
    """A file that was taken for UTF-8 is not."""


def supposed_encoding(path: StrPath) -> str:
    """UTF-16 for a file that says so at its beginning, else UTF-8."""
    return UTF16 if next(raw_blocks(path), b"").startswith(UTF16_MARKS) else UTF8


def text_blocks(path: StrPath, limit: int, encoding: str = UTF8, size: int = BLOCK) -> Iterator[bytes]:
    r"""A text file as UTF-8 in large blocks, without a mark at its beginning; every line ends with `\n`.

    `limit` is the largest size accepted, in bytes after decompression.
    """
    recode = _Utf8() if _known_encoding(encoding) == UTF8 else _Recoder(path, encoding)
    held, read = b"", 0
    for raw in raw_blocks(path, size):
        read += len(raw)
        if read > limit:
            raise FormatError(path, None, f"larger than {limit} bytes: raise the limit, or take a sample")
        block = held + recode(raw.removeprefix(BYTE_ORDER_MARK) if read == len(raw) else raw)
        held = b"\r" if block.endswith(b"\r") else b""
        block = _with_plain_ends(block.removesuffix(held))
        if b"\0" in block:
            raise FormatError(path, first_line(path, _has_nul), "NUL byte: this is not a text file")
        if block:
            yield block
    if last := _with_plain_ends(held + recode(b"", final=True)):
        yield last


def _known_encoding(name: str) -> str:
    """The encoding's usual name; one that is not known is refused."""
    try:
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        from redelve.data.delve.keyed_lines import shown  # commands that have no such name start faster

        raise SpecError(
            f'unknown encoding "{shown(name)}": give one such as utf-8, latin-1, cp1252, cp1250 or utf-16'
        ) from None


def raw_blocks(path: StrPath, size: int = BLOCK) -> Iterator[bytes]:
    """The bytes of a file in large blocks."""
    with open_bytes(path) as stream:
        while block := stream.read(size):
            yield block


def _with_plain_ends(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


class _Utf8:
    """Lets pass what is UTF-8."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(UTF8)()

    def __call__(self, block: bytes, *, final: bool = False) -> bytes:
        if block.isascii() and not self._decoder.getstate()[0]:
            return block
        try:
            self._decoder.decode(block, final)
        except UnicodeDecodeError:
            raise NotUtf8 from None
        return block


class _Recoder:
    """Makes UTF-8 of another encoding."""

    def __init__(self, path: StrPath, encoding: str) -> None:
        self._path, self._encoding = path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def __call__(self, block: bytes, *, final: bool = False) -> bytes:
        try:
            return self._decoder.decode(block, final).encode()
        except UnicodeError as problem:
            reason = getattr(problem, "reason", problem)
            raise FormatError(
                self._path, None, f"is not {self._encoding} ({reason}): give the encoding that it has"
            ) from None


def _has_nul(line: bytes) -> bool:
    return b"\0" in line


def first_line(path: StrPath, is_meant: Callable[[bytes], bool]) -> int:
    """The number of the first line for which this holds."""
    with open_bytes(path) as stream:
        return next((number for number, line in enumerate(stream, start=1) if is_meant(line)), 1)


def file_digest(path: StrPath, kind: str | Callable[[], Any] = "sha256") -> str:
    """The checksum of a file as it is, compressed or not; `kind` is a name, or makes the hash object.

    >>> file_digest(__file__) == file_digest(Path(__file__), hashlib.sha256)
    True
    """
    check_plain(path)
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, kind).hexdigest()


def check_plain(path: StrPath) -> None:
    """Refuse a pipe, a socket or a device in the place of a file: who reads it may wait for ever."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 (bytes are a path, too)
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FormatError(path, None, "this is a pipe or a device, no file: remove it")


def write_atomic(path: StrPath, data: Data, mode: int = 0o666) -> None:
    """Replace the file at once with `data` (text as UTF-8); after any failure the old file is untouched.

    `mode` is what a file that was not there before may be used for, less what the system's mask takes away.
    """
    with AtomicFiles() as files:
        files.write(path, data, mode)


def write_json_once(path: StrPath, text: str, limit: int = TEXT_LIMIT) -> Any:
    """Write a JSON file unless somebody else did; what it says then, ours or theirs."""
    if find_file(path) is None:
        check_plain(path)
        write_atomic(path, text)
    return read_json(path, limit)


def read_json(path: StrPath, limit: int = TEXT_LIMIT) -> Any:
    """What a JSON file says that nobody vouches for."""
    try:
        return json_value(read_text(path, limit))
    except ValueError as error:
        raise FormatError(path, None, f"no JSON ({error}): restore the file from a copy") from None


def json_value(text: str | bytes, *, is_mended: bool = False) -> Any:
    """What a JSON text in UTF-8 says; ValueError where it is none, too deep, or has half a character.

    Half a character (an escape of a surrogate without the other one) can be neither shown nor written;
    `is_mended` puts a question mark in its place.

    >>> json_value('"\\\\ud83d\\\\ude00"'), json_value('"a\\\\ud83d"', is_mended=True)
    ('😀', 'a?')
    >>> json_value('"a\\\\ud83d"')
    Traceback (most recent call last):
    ValueError: half a character, \\ud83d, in a text
    """
    whole = text if isinstance(text, str) else text.decode()
    try:
        found = json.loads(whole)
        return _without_halves(found, is_mended) if HALF.search(whole) else found
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _without_halves(found: Any, is_mended: bool) -> Any:
    """A value whose texts have no half characters."""
    written = json.dumps(found, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError as error:
        if is_mended:
            return json.loads(written.encode(errors="replace"))
        raise ValueError(f"half a character, {ascii(written[error.start])[1:-1]}, in a text") from None
    return found


class AtomicFiles:
    """Several files that appear together: staged by `write`, renamed into place when the block ends well.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with AtomicFiles() as files:
    ...         files.write(Path(folder, "train.0"), [" 1.0\\n", " 2.0\\n"])
    ...     Path(folder, "train.0").read_text()
    ' 1.0\\n 2.0\\n'
    """

    def __init__(self) -> None:
        self._staged: dict[Path, Path] = {}

    def __enter__(self) -> AtomicFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                _put_in_place(self._staged)
        finally:
            for temporary in self._staged.values():
                temporary.unlink(missing_ok=True)
            self._staged.clear()

    def write(self, path: StrPath, data: Data, mode: int = 0o666) -> None:
        """Stage one file; nothing is seen at `path` yet. Writing a path again replaces what was staged.

        What is no file (/dev/stdout, /dev/null, a pipe) is written to at once and never replaced.
        """
        try:
            target = Path(path).resolve()
            if target.is_dir():
                raise IsADirectoryError(None, "is a directory")
            if is_stream(Path(path)):
                with Path(path).open("wb") as stream:
                    _write_pieces(stream, data)
                return
            temporary = _stage(target, data, mode)
        except (OSError, ValueError) as problem:
            if isinstance(problem, UnicodeError):
                raise
            raise _cannot("write", path, problem) from problem
        if former := self._staged.pop(target, None):
            former.unlink(missing_ok=True)
        self._staged[target] = temporary


def _stage(target: Path, data: Data, mode: int) -> Path:
    """Write `data` to a new file beside `target` and make sure that it is on the disk."""
    temporary = _beside(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, mode), "wb") as stream:
            _write_pieces(stream, data)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def is_stream(path: Path) -> bool:
    """Whether there is something that takes bytes and is no file; /dev/stdout may lead to one.

    /dev/shm holds files in memory, plain ones.
    """
    is_device = path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm")
    return path.exists() and (not path.is_file() or is_device)


def _write_pieces(stream: IO[bytes], data: Data) -> None:
    for piece in [data] if isinstance(data, str | bytes) else data:
        stream.write(piece.encode("utf-8") if isinstance(piece, str) else piece)


def _put_in_place(staged: dict[Path, Path]) -> None:
    """Rename all files; when one fails, those already renamed get their old contents back."""
    done: list[tuple[Path, Path | None]] = []
    target = None
    try:
        for target, temporary in staged.items():
            done.append((target, _second_name(target)))
            temporary.replace(target)
    except BaseException as problem:
        for place, old in reversed(done):
            _restore(place, old, renamed=not staged[place].exists())
        if isinstance(problem, OSError):
            raise _cannot("write", target or "?", problem) from problem
        raise
    for _, old in done:
        if old:
            old.unlink(missing_ok=True)
    sync_all({place.parent for place in staged})


def _second_name(target: Path) -> Path | None:
    """A hard link that keeps the old contents, where there are any and the file system can."""
    second = _beside(target)
    try:
        second.hardlink_to(target)
    except OSError:
        return None
    return second


def _restore(target: Path, old: Path | None, *, renamed: bool) -> None:
    with contextlib.suppress(OSError):
        if renamed and old:
            old.replace(target)
        elif renamed:
            target.unlink(missing_ok=True)
        elif old:
            old.unlink(missing_ok=True)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.tmp")


def sync_all(paths: Collection[StrPath]) -> None:
    """Make files or folders durable, several at once: the disk takes them together, in less time."""
    if len(paths) < 2:
        for path in paths:
            _sync(path)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(SYNCED_AT_ONCE) as pool:
        for _ in pool.map(_sync, paths):
            pass


def _sync(path: StrPath) -> None:
    if Path(path).is_dir():
        sync_folder(path)
    else:
        with Path(path).open("r+b") as stream:
            os.fsync(stream.fileno())


def sync_folder(folder: StrPath) -> None:
    """Make the renaming itself durable, where folders can be synchronised at all."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_named_file(text: str) -> bool:
    """Whether a text, which may be anything, is the path of a file; one too long for a path is not."""
    try:
        return Path(text).is_file()
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as problem:
        raise _cannot("read", path, problem) from problem


def _why_missing(path: Path) -> str:
    if path.is_dir():
        return "is a directory, not a file"
    if path.exists():
        return "is not a regular file"
    return no_such(path, f"file (nor with {', '.join(ENDINGS)})")


def no_such(path: Path, what: str) -> str:
    """That a path is not there; an address on the net is told as one.

    >>> no_such(Path("s3://bucket/scores.csv"), "file")
    'this is an address on the net: download the file, and give its name'
    """
    first = str(path).partition("/")[0]
    if first.endswith(":") and len(first) > len("C:"):
        return "this is an address on the net: download the file, and give its name"
    return f"no such {what}"


def _cannot(verb: str, path: StrPath, problem: BaseException) -> LocationError:
    reason = reason_of(problem) if isinstance(problem, OSError) else str(problem)
    return LocationError(f"{os.fspath(path)}: cannot {verb}: {reason}")


_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x1f\x9d": "compress",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}


def _kind(start: bytes) -> str | None:
    """The kind of compression that a file beginning so has.

    >>> _kind(b"1.0 2.0"), _kind(bytes([31, 139, 8]))
    (None, 'gzip')
    """
    if start[:3] == b"BZh" and start[3:4].isdigit() and any(s.startswith(start[4:10]) for s in _BZIP2_STARTS):
        return "bzip2"
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
