"""One family of errors: each names the culprit, the value received and the way out."""

from __future__ import annotations

import os


class RedelveError(Exception):
    """Something the user can mend: bad input, a missing file, a request that cannot be met."""


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
