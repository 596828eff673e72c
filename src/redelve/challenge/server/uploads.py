"""Receiving files: bounded while they stream, on the disk before anybody hears of them, orphans swept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from starlette.concurrency import run_in_threadpool

from redelve.challenge.server.clock import Clock
from redelve.challenge.server.refusals import Refusal

PART = ".part"


@dataclass(frozen=True)
class StoredUpload:
    """A file that is safe on the disk: its name below the folder of uploads."""

    name: str
    size: int
    sha256: str


class Receiver:
    """Takes a file piece by piece; `keep` makes it last, `drop` leaves nothing behind."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._name = f"{uuid4().hex}.zip"
        self._place = folder / self._name[:2]
        self._place.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._part = self._place / (self._name + PART)
        handle = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file: BinaryIO = os.fdopen(handle, "wb")
        self._size, self._digest = 0, hashlib.sha256()

    def take(self, piece: bytes) -> None:
        """Write a piece; too many bytes are refused at once."""
        self._size += len(piece)
        if self._size > self._most:
            raise too_large(self._most)
        self._digest.update(piece)
        self._file.write(piece)

    def keep(self) -> StoredUpload:
        """Make the file last: its bytes, then its name."""
        if not self._size:
            raise Refusal(422, "empty", "The file is empty: choose the zip file that you packed.")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._part.rename(self._place / self._name)
        for folder in (self._place, self._folder):
            _sync(folder)
        return StoredUpload(f"{self._name[:2]}/{self._name}", self._size, self._digest.hexdigest())

    def drop(self) -> None:
        """Forget the file; on a full disk even closing it may fail."""
        with contextlib.suppress(OSError):
            self._file.close()
        self._part.unlink(missing_ok=True)


async def receive(
    stream: AsyncIterator[bytes], receiver: Receiver, clock: Clock
) -> tuple[StoredUpload, datetime]:
    """Take all that comes and make it last; with it goes the time at which the last byte was there."""
    try:
        async for piece in stream:
            receiver.take(piece)
        received = clock.now()
        return await run_in_threadpool(receiver.keep), received
    except BaseException:
        receiver.drop()
        raise


async def digest_of(stream: AsyncIterator[bytes]) -> str:
    """SHA-256 of what comes, which is not kept."""
    found = hashlib.sha256()
    async for piece in stream:
        found.update(piece)
    return found.hexdigest()


def too_large(most: int) -> Refusal:
    """The file has more bytes than the challenge allows."""
    return Refusal(413, "too_large", f"The file is too large: {most / 2**20:g} MiB are allowed.")


def discard(folder: Path, stored: StoredUpload) -> None:
    """Take away a file that no entry came to refer to."""
    (folder / stored.name).unlink(missing_ok=True)


def files_older(folder: Path, seconds: float) -> list[str]:
    """The names of files that are older than that, finished or not."""
    limit = time.time() - seconds
    found = []
    for path in folder.glob("??/*"):
        try:
            if path.stat().st_mtime < limit:
                found.append(f"{path.parent.name}/{path.name}")
        except FileNotFoundError:
            continue
    return found


def sweep(folder: Path, candidates: Collection[str], known: Collection[str]) -> int:
    """Take away the candidates that no entry refers to; how many there were."""
    orphans = [name for name in candidates if name not in known]
    for name in orphans:
        (folder / name).unlink(missing_ok=True)
    return len(orphans)


def _sync(folder: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a folder cannot be synced
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
