"""The LZW coding of Unix `compress` (`.Z` files): Welch (1984) with codes of 9 to 16 bits and block mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

MAGIC = b"\x1f\x9d"
_BYTES = [bytes([value]) for value in range(256)]
_CLEAR = 256
_BATCH = 1024  # codes decoded at a time; a multiple of 8, because codes are packed in groups of eight
_READ = 1 << 16


def decompress(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the decompressed bytes in pieces; ValueError when the codes make no sense.

    The coding has neither length nor checksum: a file cut between two codes looks complete. The table never
    holds more bytes than were yielded, so memory stays in proportion to the output.
    """
    decoder = _Decoder(stream.read(3))
    buffer, position, ended = b"", 0, False
    while True:
        wanted = decoder.wanted()
        size = _group_bytes(wanted, decoder.width)
        while len(buffer) - position < size and not ended:
            piece = stream.read(_READ)
            buffer, position, ended = buffer[position:] + piece, 0, not piece
        codes, whole = _unpack(buffer[position : position + size], decoder.width)
        codes = codes[:wanted]
        used = decoder.upto_clear(codes)
        yield decoder.decode(codes[:used])
        if used < len(codes):
            size = _group_bytes(used + 1, decoder.width)
            decoder.reset()
        elif len(codes) < wanted:
            if not whole:
                raise ValueError("ends within a code")
            return
        position += size


class _Decoder:
    """The phrases known so far and the width of the next code."""

    def __init__(self, header: bytes) -> None:
        if len(header) < 3 or header[:2] != MAGIC:
            raise ValueError("incomplete header")
        bits = header[2] & 0x1F
        if not 9 <= bits <= 16:
            raise ValueError(f"codes of {bits} bits")
        # A header that says 9 was always read as 10: the width is compared only after it has grown.
        self.full = 1 << max(bits, 10)
        self.block_mode = bool(header[2] & 0x80)
        self.reset()

    def reset(self) -> None:
        """Forget all phrases but the single bytes (and the place of the clear code)."""
        self.table = _BYTES + [b""] * self.block_mode
        self.width = 9
        self.last = b""

    def wanted(self) -> int:
        """How many codes may be decoded at once: until the width changes, and not too many."""
        if len(self.table) == 1 << self.width < self.full:
            self.width += 1
        room = (1 << self.width) - len(self.table) + (not self.last)
        return min(room, _BATCH) if len(self.table) < self.full else _BATCH

    def upto_clear(self, codes: list[int]) -> int:
        return codes.index(_CLEAR) if self.block_mode and _CLEAR in codes else len(codes)

    def decode(self, codes: list[int]) -> bytes:
        """The bytes of these codes; every code but the first adds a phrase until the table is full."""
        if len(self.table) == self.full:
            return b"".join(map(self.table.__getitem__, codes))
        phrases = []
        table, last = self.table, self.last
        if codes and not last:
            if codes[0] > 255:
                raise ValueError("first code is not a byte")
            last = table[codes[0]]
            phrases.append(last)
            codes = codes[1:]
        for code in codes:
            if code < len(table):
                phrase = table[code]
            elif code == len(table):
                phrase = last + last[:1]
            else:
                raise ValueError(f"code {code} is not known yet")
            table.append(last + phrase[:1])
            phrases.append(phrase)
            last = phrase
        self.last = last
        return b"".join(phrases)


def _group_bytes(codes: int, width: int) -> int:
    """Bytes taken by these codes: always whole groups of eight codes, each of `width` bytes."""
    return -(-codes // 8) * width


def _unpack(packed: bytes, width: int) -> tuple[list[int], bool]:
    """The codes, least significant bit first, and whether what is left over is mere padding."""
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")
    count = len(bits) // width
    cells = np.zeros((count, 16), np.uint8)
    cells[:, :width] = bits[: count * width].reshape(count, width)
    codes = np.packbits(cells, axis=1, bitorder="little").view("<u2").ravel().tolist()
    rest = bits[count * width :]
    return codes, len(rest) < 8 and not rest.any()
