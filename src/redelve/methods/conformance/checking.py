"""Does a method keep to the contract? Numbered checks that anyone can run on a method of their own."""

from __future__ import annotations

from typing import Any

from redelve.methods.conformance.checks import CHECKS, CheckedMethod
from redelve.methods.contract import as_method
from redelve.model.numbered_checks import CheckReport
from redelve.registry import named_options


@named_options
def check_method(thing: Any, *, name: str | None = None) -> CheckReport:
    """Try whether a method keeps to the contract, on small tasks of every kind.

    Parameters
    ----------
    thing
        A method, or whatever `as_method` makes one of.
    name
        What to call it in the report.

    Returns
    -------
    CheckReport
        A finding for each check, numbered from C001, with an explanation; ``passed`` tells whether
        none failed. Print it.

    Notes
    -----
    The tasks have real, integer, binary and nominal targets, inputs of all types, missing and constant
    ones, more inputs than cases, two training cases, one level only, one test case. The checks also
    look at conduct: the same answer from the same generator, no global random state, nothing changed
    that is not the method's own, each test case answered by itself, fit to be sent to another process.
    The idea is scikit-learn's ``check_estimator`` and mlr3's autotest (Lang et al. 2019, Journal of
    Open Source Software 4(44):1903).

    Examples
    --------
    >>> import redelve
    >>> redelve.check_method("constant").passed
    True
    """
    import sklearn  # noqa: F401  (before the limit, which reaches only libraries that are loaded)
    from threadpoolctl import threadpool_limits

    subject = CheckedMethod(as_method(thing, name=name))
    with threadpool_limits(1):  # as in jobs
        return CHECKS.report(name or subject.method.name, subject)
