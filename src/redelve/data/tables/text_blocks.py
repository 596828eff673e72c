"""Text files block by block, whatever their encoding and line ends, so that large ones need little memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from redelve.data.delve.keyed_lines import shown
from redelve.data.files import BYTE_ORDER_MARK, StrPath, open_bytes
from redelve.errors import FormatError, SpecError

BLOCK = 4 * 2**20
UTF8, LATIN1, CP1252, UTF16 = "utf-8", "latin-1", "cp1252", "utf-16"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
FOREIGN = re.compile(rb"[A-Za-z ]*[\x80-\xff]+[A-Za-z ]*")
HIGH = re.compile(rb"[\x80-\xff]+")
TYPOGRAPHIC = frozenset(b"\x80\x85\x8a\x8c\x8e\x91\x92\x93\x94\x95\x96\x97\x99\x9a\x9c\x9e")
"""The bytes from 0x80 to 0x9f that Western texts on Windows have: €, quotes, dashes, Š, Œ, Ž."""
RUNS_LOOKED_AT = 100_000
LONG_RUN, FEW = 3, 0.05


class NotUtf8(Exception):
    """A file that was taken for UTF-8 is not."""


class TextEncoding(NamedTuple):
    """An encoding, and a text that has letters beyond ASCII as an example."""

    name: str
    example: str

    @property
    def note(self) -> str:
        """What must be told of it."""
        return (
            f'the file is not UTF-8 and is read as {self.name} ("{self.example}"): if that looks wrong, name '
            'its encoding (--encoding NAME, encoding="NAME")'
        )


def known_encoding(name: str) -> str:
    """The encoding's usual name; one that is not known is refused."""
    try:
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise SpecError(
            f'unknown encoding "{shown(name)}": give one such as utf-8, latin-1, cp1252, cp1250 or utf-16'
        ) from None


def text_blocks(path: StrPath, limit: int, encoding: str = UTF8, size: int = BLOCK) -> Iterator[bytes]:
    r"""A text file as UTF-8 in large blocks, without a mark at its beginning; every line ends with `\n`.

    `limit` is the largest size accepted, in bytes after decompression.
    """
    recode = _Utf8() if known_encoding(encoding) == UTF8 else _Recoder(path, encoding)
    held, read = b"", 0
    for raw in _raw_blocks(path, size):
        read += len(raw)
        if read > limit:
            raise FormatError(path, None, f"larger than {limit} bytes: raise the limit, or take a sample")
        block = held + recode(raw.removeprefix(BYTE_ORDER_MARK) if read == len(raw) else raw)
        held = b"\r" if block.endswith(b"\r") else b""
        block = _with_plain_ends(block.removesuffix(held))
        if b"\0" in block:
            raise FormatError(path, _first_line(path, _has_nul), "NUL byte: this is not a text file")
        if block:
            yield block
    if last := _with_plain_ends(held + recode(b"", final=True)):
        yield last


def read_whole(path: StrPath, limit: int, encoding: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The whole text of a file, and what must be told of its encoding."""
    supposed = encoding or supposed_encoding(path)
    try:
        return b"".join(text_blocks(path, limit, supposed)).decode(), ()
    except NotUtf8:
        found = other_encoding(path, encoding)
    return b"".join(text_blocks(path, limit, found.name)).decode(), (found.note,)


def supposed_encoding(path: StrPath) -> str:
    """UTF-16 for a file that says so at its beginning, else UTF-8."""
    return UTF16 if next(_raw_blocks(path), b"").startswith(UTF16_MARKS) else UTF8


def other_encoding(path: StrPath, given: str | None) -> TextEncoding:
    """What a file is in that is not UTF-8; an error if it is said to be."""
    if given is not None:
        raise FormatError(path, None, f"is not {given}: give the encoding that it has")
    return guessed_encoding(path)


def _raw_blocks(path: StrPath, size: int = BLOCK) -> Iterator[bytes]:
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


def guessed_encoding(path: StrPath) -> TextEncoding:
    """The encoding of a file that is not UTF-8, if there is no doubt; else an error that asks for it.

    Western letters stand alone among plain ones. Long runs of others are of another alphabet, and runs that
    are UTF-8 by themselves are of a file in UTF-8 that is damaged.
    """
    runs, example, seen = _foreign_runs(path)
    odd = sum(len(run) >= LONG_RUN or (len(run) > 1 and _is_utf8(run)) for run in runs)
    control = {byte for byte in seen if byte < 0xA0}
    if odd > FEW * len(runs) or not control <= TYPOGRAPHIC:
        raise FormatError(
            path,
            _first_line(path, lambda line: not _is_utf8(line)),
            "is not UTF-8, and its encoding can't be told: save the table as UTF-8, or name its encoding "
            '(--encoding NAME, encoding="NAME")',
        )
    name = CP1252 if control else LATIN1
    return TextEncoding(name, shown(example.decode(name).strip(), 40))


def _foreign_runs(path: StrPath) -> tuple[list[bytes], bytes, set[int]]:
    """Runs of bytes beyond ASCII, the first one with its neighbours, and all bytes that are in them."""
    runs: list[bytes] = []
    example, seen = b"", set[int]()
    for block in _raw_blocks(path):
        found = HIGH.findall(block)
        if found and not example:
            match = FOREIGN.search(block)
            example = match[0] if match else b""
        seen.update(*found)
        runs += found[: RUNS_LOOKED_AT - len(runs)]
    return runs, example, seen


def _is_utf8(run: bytes) -> bool:
    try:
        run.decode(UTF8)
    except UnicodeDecodeError:
        return False
    return True


def _has_nul(line: bytes) -> bool:
    return b"\0" in line


def _first_line(path: StrPath, is_meant: Callable[[bytes], bool]) -> int:
    """The number of the first line for which this holds."""
    with open_bytes(path) as stream:
        return next((number for number, line in enumerate(stream, start=1) if is_meant(line)), 1)
