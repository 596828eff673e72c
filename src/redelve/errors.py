"""One family of errors: each names the culprit, the value received and the way out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


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


class LocationError(RedelveError):
    """An address or a file cannot be found, is ambiguous, or is of the wrong kind."""


class PredictionError(RedelveError):
    """Predictions do not fit the task they were made for."""


class StatisticsError(RedelveError):
    """The losses given cannot be analysed as asked."""


class OptionalPackageError(RedelveError):
    """A feature needs an extra that is not installed; the message tells the install line."""


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like the one given, if any is."""
    import difflib  # only for messages: every command imports this module

    near = difflib.get_close_matches(name, list(known), n=1)
    return near[0] if near else None


def named_options(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses options that it does not have and tells which one may be meant.

    Python does so itself from 3.13 on. `help` and editors see the function's own parameters.

    >>> @named_options
    ... def assess(methods, *, runs=1): ...
    >>> assess([], run=5)
    Traceback (most recent call last):
    TypeError: assess() has no option 'run': did you mean 'runs'?
    """
    import functools
    import inspect

    parameters = inspect.signature(function).parameters.values()
    known = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        if unknown := [name for name in options if name not in known]:
            raise TypeError("; ".join(_no_option(function.__name__, name, known) for name in unknown))
        return function(*arguments, **options)

    return checked


def _no_option(function: str, name: str, known: Iterable[str]) -> str:
    meant = did_you_mean(name, known)
    hint = f"did you mean {meant!r}?" if meant else f"it has {', '.join(known)}"
    return f"{function}() has no option {name!r}: {hint}"
