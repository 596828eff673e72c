"""Messages between our own processes: a length, a header in JSON, bytes. Reading them runs no code."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from typing import Any

LENGTH = struct.Struct(">Q")
LARGEST = 1 << 32
"""No honest message is longer."""
CHUNK = 1 << 20


class FrameError(ValueError):
    """Bytes that are no message of ours."""


def packed(header: Mapping[str, Any], blob: bytes | memoryview = b"") -> bytes:
    """A header of plain values and bytes as one message."""
    text = json.dumps(header).encode()
    return b"".join((LENGTH.pack(len(text)), text, blob))


def unpacked(message: bytes | memoryview) -> tuple[dict[str, Any], memoryview]:
    """The header and the bytes of a message."""
    view = memoryview(message)
    if len(view) < LENGTH.size:
        raise FrameError("the message is cut short")
    (count,) = LENGTH.unpack(view[: LENGTH.size])
    try:
        header = json.loads(bytes(view[LENGTH.size : LENGTH.size + count]))
    except (ValueError, RecursionError) as error:
        raise FrameError(f"its header can't be read: {error}") from None
    if not isinstance(header, dict):
        raise FrameError("its header holds no names")
    return header, view[LENGTH.size + count :]


def write_frame(descriptor: int, message: bytes) -> None:
    """Write a whole message."""
    for part in (LENGTH.pack(len(message)), message):
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view[:CHUNK]) :]


def read_frame(descriptor: int) -> bytes | None:
    """Read a whole message; None when the other side is gone."""
    head = _read(descriptor, LENGTH.size)
    if head is None:
        return None
    (count,) = LENGTH.unpack(head)
    if count > LARGEST:
        raise FrameError(f"a message of {count} bytes is too long")
    return _read(descriptor, count)


def _read(descriptor: int, count: int) -> bytes | None:
    parts, missing = [], count
    while missing:
        part = os.read(descriptor, min(missing, CHUNK))
        if not part:
            return None
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
