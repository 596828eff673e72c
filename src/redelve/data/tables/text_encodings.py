"""The encoding of a table that is not UTF-8: told from its bytes where there is no doubt."""

from __future__ import annotations

import re
import string
from typing import NamedTuple

from redelve.data.delve.keyed_lines import shown
from redelve.data.files import UTF8, NotUtf8, StrPath, first_line, raw_blocks, supposed_encoding, text_blocks
from redelve.errors import FormatError

LATIN1, CP1252 = "latin-1", "cp1252"
PLAIN = string.ascii_letters.encode() + b" "
HIGH = re.compile(rb"[\x80-\xff]+")
TYPOGRAPHIC = frozenset(b"\x80\x85\x8a\x8c\x8e\x91\x92\x93\x94\x95\x96\x97\x99\x9a\x9c\x9e")
"""The bytes from 0x80 to 0x9f that Western texts on Windows have: €, quotes, dashes, Š, Œ, Ž."""
RUNS_LOOKED_AT = 100_000
LONG_RUN, FEW = 3, 0.05


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


def read_whole(path: StrPath, limit: int, encoding: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The whole text of a file, and what must be told of its encoding."""
    supposed = encoding or supposed_encoding(path)
    try:
        return b"".join(text_blocks(path, limit, supposed)).decode(), ()
    except NotUtf8:
        found = other_encoding(path, encoding)
    return b"".join(text_blocks(path, limit, found.name)).decode(), (found.note,)


def other_encoding(path: StrPath, given: str | None) -> TextEncoding:
    """What a file is in that is not UTF-8; an error if it is said to be."""
    if given is not None:
        raise FormatError(path, None, f"is not {given}: give the encoding that it has")
    return guessed_encoding(path)


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
            first_line(path, lambda line: not _is_utf8(line)),
            "is not UTF-8, and its encoding can't be told: save the table as UTF-8, or name its encoding "
            '(--encoding NAME, encoding="NAME")',
        )
    name = CP1252 if control else LATIN1
    return TextEncoding(name, shown(example.decode(name).strip(), 40))


def _foreign_runs(path: StrPath) -> tuple[list[bytes], bytes, set[int]]:
    """Runs of bytes beyond ASCII, the first one with its neighbours, and all bytes that are in them."""
    runs: list[bytes] = []
    example, seen = b"", set[int]()
    for block in raw_blocks(path):
        found = HIGH.findall(block)
        if found and not example:
            example = _with_neighbours(block, found[0])
        seen.update(*found)
        runs += found[: RUNS_LOOKED_AT - len(runs)]
    return runs, example, seen


def _with_neighbours(block: bytes, run: bytes) -> bytes:
    """A run of bytes beyond ASCII with the letters around it; a pattern would be slow."""
    before, _, after = block.partition(run)
    begin, end = len(before.rstrip(PLAIN)), len(after) - len(after.lstrip(PLAIN))
    return before[begin:] + run + after[:end]


def _is_utf8(run: bytes) -> bool:
    try:
        run.decode(UTF8)
    except UnicodeDecodeError:
        return False
    return True
