"""One family of errors: each names the culprit, the value received and the way out."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable


class RedelveError(Exception):
    """Something that you can mend: bad input, a missing file, a request that cannot be met.

    All of redelve's own errors are of this family, and each message names the culprit, the value
    received and the way out.

    Notes
    -----
    Anything else that redelve raises is a bug, but for TypeError where an option is misspelt.

    Examples
    --------
    >>> import redelve
    >>> try:
    ...     redelve.as_method("forrest")
    ... except redelve.RedelveError as error:
    ...     print("did you mean" in str(error))
    True
    """


class FormatError(RedelveError):
    """A file does not follow its format; `line` counts from 1, None when the whole file is meant."""

    def __init__(self, path: str | os.PathLike[str], line: int | None, message: str) -> None:
        self.path = os.fspath(path)
        self.line = line
        self.message = message
        place = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {message}")


class SpecError(RedelveError):
    """A specification (range, prior, task, design, encoding) is wrong or contradicts another one."""


class ExtensionError(SpecError):
    """Code that is not redelve's failed, or returned what it must not."""


class LocationError(RedelveError):
    """An address or a file cannot be found, is ambiguous, or is of the wrong kind."""


class PredictionError(RedelveError):
    """Predictions do not fit the task they were made for."""


class StatisticsError(RedelveError):
    """The losses given cannot be analysed as asked."""


class OptionalPackageError(RedelveError):
    """A feature needs an extra that is not installed; the message tells the install line."""


ANY_FAULT = (Exception, SystemExit)
"""What somebody else's code may raise; if it calls `sys.exit`, redelve must not end as if all were well."""


def place_of(thing: object) -> str:
    """Where a function or class, or that of an object, is written.

    >>> import json
    >>> place_of(json.dumps), place_of(json.JSONEncoder())
    ('json.dumps', 'json.encoder.JSONEncoder')
    """
    written = getattr(thing, "func", thing)  # a partial's
    made = written if hasattr(written, "__qualname__") else type(written)
    return f"{made.__module__}.{made.__qualname__}"


def is_own(thing: object) -> bool:
    """Whether it is of redelve, and not of another package."""
    return place_of(thing).startswith("redelve.")


def fault_told(error: BaseException) -> str:
    """An error of somebody else's code in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")


def blame(culprit: str, thing: object, error: BaseException) -> None:
    """Make an error of ours of one that an extension raised; those of redelve's own parts stay as they are.

    >>> import json
    >>> blame('map "a"', json.dumps, ValueError("no map"))
    Traceback (most recent call last):
    redelve.errors.ExtensionError: map "a" (json.dumps) failed: ValueError: no map: mend it, or do without it
    """
    if not isinstance(error, RedelveError) and not is_own(thing):
        told = f"{culprit} ({place_of(thing)}) failed: {fault_told(error)}: mend it, or do without it"
        raise ExtensionError(told) from error


def kind_told(value: object, article: str = "") -> str:
    """What a value is, in a message that says what was expected; None is no "NoneType" there.

    >>> kind_told(None, "a "), kind_told([1], "a ")
    ('None', 'a list')
    """
    return "None" if value is None else f"{article}{type(value).__name__}"


def near_names(name: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """The known names that are like the one given, the likest first."""
    import difflib  # only for messages: every command imports this module

    return difflib.get_close_matches(name, list(known), n=most, cutoff=cutoff)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like the one given, or the only one that begins with it, if any is."""
    names = list(known)
    near = near_names(
        name, names, 1, cutoff=0.62
    )  # "sise" is like "sizes" (0.67), "long" not like "coding" (0.6)
    longer = [one for one in names if one.startswith((f"{name}_", f"{name}-"))]
    return near[0] if near else longer[0] if len(longer) == 1 else None


def hint(name: str, known: Iterable[str]) -> str:
    """What to add to a message about an unknown name: the one that may be meant, or nothing.

    >>> hint("verfy", ["verify", "merge"]), hint("burn", ["verify", "merge"])
    (' (did you mean "verify"?)', '')
    """
    near = did_you_mean(name, known)
    return f' (did you mean "{near}"?)' if near else ""


WAYS_OUT = {
    errno.EROFS: "the disk can only be read: choose another place",
    errno.ENOSPC: "the disk is full: make room, and give the command again",
    errno.EDQUOT: "your share of the disk is used up: make room, and give the command again",
    errno.EMFILE: "too many files are open: allow more with `ulimit -n 4096`",
    errno.ENFILE: "the machine has too many open files: close some programs",
    errno.ENAMETOOLONG: "the name is too long: choose a shorter one",
    errno.EACCES: "permission denied: ask whom it belongs to, or choose another place",
    errno.EPERM: "permission denied: ask whom it belongs to, or choose another place",
    errno.ENOENT: "no such file or folder: check the name",
    errno.ENOTDIR: "a part of the path is a file, not a folder: check the name",
    errno.EISDIR: "this is a folder, not a file: give the name of a file",
    errno.EEXIST: "exists already: choose another name",
    errno.ENOMEM: "there is no memory left: use less at once",
}
"""What to do about what the system says."""


def in_words(error: OSError) -> str:
    """What the system could not do, where, and the way out.

    >>> in_words(OSError(30, "Read-only file system", "results/lock"))
    'results/lock: the disk can only be read: choose another place'
    """
    place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{place}{reason_of(error)}"


def reason_of(error: OSError) -> str:
    """Why the system could not do it, and the way out, without the place."""
    reason = error.strerror or str(error) or type(error).__name__
    return WAYS_OUT.get(error.errno or 0, reason[:1].lower() + reason[1:])
