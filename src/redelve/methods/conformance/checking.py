"""Does a method keep to the contract? Numbered checks that anyone can run on a method of their own."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal

from redelve.methods.adapters.adapt import as_method
from redelve.methods.conformance.checks import (
    CHECKS,
    BrokenError,
    CheckedMethod,
    DoubtfulError,
    NotApplicableError,
)

Status = Literal["passed", "failed", "warned", "skipped"]


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
    """All findings on a method; printed, a line for each."""

    method: str
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
        return "\n".join([f"{self.method}: {told} ({self.seconds:.1f} s)", *lines]) + "\n"


def check_method(thing: Any, *, name: str | None = None) -> CheckReport:
    """Try a method, or whatever `as_method` makes one of, on small tasks of every kind."""
    import sklearn  # noqa: F401  (before the limit, which reaches only libraries that are loaded)
    from threadpoolctl import threadpool_limits

    start = time.perf_counter()
    subject = CheckedMethod(as_method(thing, name=name))
    with threadpool_limits(1):  # as in jobs
        findings = tuple(_finding(number, subject) for number in sorted(CHECKS))
    return CheckReport(name or subject.method.name, findings, time.perf_counter() - start)


def _finding(number: str, subject: CheckedMethod) -> CheckFinding:
    title, explanation, function = CHECKS[number]
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
        except Exception as error:
            status, message = "failed", f"{type(error).__name__}: {error}"
    return CheckFinding(number, title, explanation, status, message)
