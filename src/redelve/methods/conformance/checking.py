"""Does a method keep to the contract? Numbered checks that anyone can run on a method of their own."""

from __future__ import annotations

from typing import Any

from redelve.methods.adapters.adapt import as_method
from redelve.methods.conformance.checks import CHECKS, CheckedMethod
from redelve.model.numbered_checks import CheckReport


def check_method(thing: Any, *, name: str | None = None) -> CheckReport:
    """Try a method, or whatever `as_method` makes one of, on small tasks of every kind."""
    import sklearn  # noqa: F401  (before the limit, which reaches only libraries that are loaded)
    from threadpoolctl import threadpool_limits

    subject = CheckedMethod(as_method(thing, name=name))
    with threadpool_limits(1):  # as in jobs
        return CHECKS.report(name or subject.method.name, subject)
