"""Numbered checks of what an extension brings: a title, an explanation, and a function that raises."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from redelve.errors import ANY_FAULT, RedelveError

Subject = TypeVar("Subject")
Check = Callable[[Subject], None]
Status = Literal["passed", "failed", "warned", "skipped"]


class BrokenError(RedelveError):
    """A check found its subject wanting."""


class DoubtfulError(RedelveError):
    """A check found something that is allowed but must be known."""


class NotApplicableError(RedelveError):
    """A check has nothing to look at."""


def must(condition: bool, message: str) -> None:
    """Fail the check with the message unless the condition holds."""
    if not condition:
        raise BrokenError(message)


@dataclass(frozen=True)
class CheckFinding:
    """What came of one check; `message` says why it was not passed."""

    number: str
    title: str
    explanation: str
    status: Status
    message: str = ""

    def __str__(self) -> str:
        line = f"{self.number} {self.status:7} {self.title}"
        return f"{line}: {self.message}" if self.message else line


@dataclass(frozen=True)
class CheckReport:
    """All findings on a subject; printed, a line for each."""

    subject: str
    findings: tuple[CheckFinding, ...]
    seconds: float = field(compare=False)

    @property
    def passed(self) -> bool:
        """Whether no check failed; warnings and skipped checks are no failures."""
        return not any(finding.status == "failed" for finding in self.findings)

    def of(self, number: str) -> CheckFinding:
        """The finding of a check."""
        return next(finding for finding in self.findings if finding.number == number)

    def __str__(self) -> str:
        counts = {
            status: sum(finding.status == status for finding in self.findings)
            for status in ("passed", "failed", "warned", "skipped")
        }
        told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        lines = [str(finding) for finding in self.findings]
        for finding in self.findings:
            if finding.status in ("failed", "warned"):
                lines += ["", f"{finding.number} {finding.title}. {finding.explanation}"]
        return "\n".join([f"{self.subject}: {told} ({self.seconds:.1f} s)", *lines]) + "\n"


class NumberedChecks(dict[str, tuple[str, str, Check[Subject]]]):
    """Title, explanation and the check itself, by number."""

    def check(self, number: str, title: str, explanation: str) -> Callable[[Check[Subject]], Check[Subject]]:
        """Register a check, which raises if its subject does not pass it."""

        def register(function: Check[Subject]) -> Check[Subject]:
            if number in self:
                raise BrokenError(f"check {number} is registered twice")
            self[number] = (title, explanation, function)
            return function

        return register

    def report(self, name: str, subject: Subject) -> CheckReport:
        """What comes of all checks."""
        start = time.perf_counter()
        findings = tuple(self._finding(number, subject) for number in sorted(self))
        return CheckReport(name, findings, time.perf_counter() - start)

    def _finding(self, number: str, subject: Subject) -> CheckFinding:
        title, explanation, function = self[number]
        status: Status = "passed"
        message = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                function(subject)
            except NotApplicableError as error:
                status, message = "skipped", str(error)
            except DoubtfulError as error:
                status, message = "warned", str(error)
            except BrokenError as error:
                status, message = "failed", str(error)
            except ANY_FAULT as error:
                status, message = "failed", f"{type(error).__name__}: {error}"
        return CheckFinding(number, title, explanation, status, message)
