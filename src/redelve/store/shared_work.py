"""Several processes at work on one archive: each leaves out what the others have done meanwhile."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from redelve.store.layout import AT_WORK

LOOK_AGAIN = 2.0
"""Seconds between two looks at what others have done."""


class DoneByOthers:
    """Whether a job has been done since the beginning, which is looked up every few seconds."""

    def __init__(self, done: Callable[[], frozenset[str]]) -> None:
        self._done, self._known = done, done()
        self._new: frozenset[str] = frozenset()
        self._looked = time.monotonic()

    def __call__(self, digest: str) -> bool:
        """Whether the job of this digest came to a record that was not there at first."""
        if time.monotonic() - self._looked > LOOK_AGAIN:
            self._new = self._done() - self._known
            self._looked = time.monotonic()
        return digest in self._new


@contextlib.contextmanager
def at_work(root: Path) -> Iterator[bool]:
    """Whether we are the first of those at work on an archive; the lock goes when the process does.

    Whoever is not the first begins at the other end, so that two meet in the middle.
    """
    with (root / AT_WORK).open("a+b") as file:
        yield _is_free(file.fileno())


def _is_free(file: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
