"""redelve methods, check-method and apply: the methods that are known, and what they do."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from redelve.cli import FAILURE
from redelve.cli import options as of
from redelve.cli.options import QUIET, Command, Given, UsageError, reporter, run
from redelve.errors import RedelveError, SpecError, hint

LIST_METHODS = Command(
    "redelve methods",
    "List the methods that are known by name, redelve's and those of installed packages, or tell in\n"
    "full what one of them does.",
    "[ method ]",
)


def _methods(given: Given) -> str:
    """Names with the first sentence of each summary, or one whole summary."""
    from redelve.methods.contract import METHODS

    if given.arguments:
        return METHODS[given.arguments[0]].summary.rstrip() + "\n"
    width = max(map(len, METHODS)) + 2
    return "".join(f"{name:{width}}{_about(name)}\n" for name in METHODS)


def _about(name: str) -> str:
    """The first sentence of a method's summary, or why the method cannot be had."""
    from redelve.methods.contract import METHODS

    try:
        return _first_sentence(METHODS[name].summary)
    except RedelveError as error:
        return str(error)


def _first_sentence(summary: str) -> str:
    return " ".join(summary.split()).partition(". ")[0].rstrip(".")


def methods(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(LIST_METHODS, _methods, argv)


class CheckMethodOptions(of.VerbOptions):
    """What `redelve check-method` is told."""

    program = of.text("p", "a program that follows DELVE's file protocol", "command")


CHECK_METHOD = Command(
    "redelve check-method",
    "Try a method on small tasks of every kind and tell where it does not keep to the contract. The method\n"
    "is a built-in one by name, or file.py:attribute or module:attribute for an estimator, function or\n"
    "method of yours.",
    "method | -p command",
    CheckMethodOptions.declared(),
    least=0,
)


def check_method(argv: Sequence[str] | None = None) -> int:
    """Entry point; the exit code is 1 if a check failed."""
    failed = False

    def check(given: CheckMethodOptions) -> str:
        nonlocal failed
        from redelve.methods.conformance.checking import check_method

        report = check_method(_method(given))
        failed = not report.passed
        return f"{report}\n"

    return of.run_verb(CHECK_METHOD, CheckMethodOptions, check, argv) or (FAILURE if failed else 0)


def _method(given: CheckMethodOptions) -> Any:
    if given.program is not None:
        try:
            return shlex.split(given.program)
        except ValueError as error:
            raise of.UsageError(f'option "-p" needs a command, not "{given.program}": {error}') from None
    if not given.arguments:
        raise SpecError("no method is given: name one, or give a program with -p")
    from redelve.cli.own_methods import own_method

    return own_method(given.arguments[0])


APPLY = Command(
    "redelve apply",
    "Train a method that is known by name (`redelve methods` lists them) on every train.n of a task\n"
    "directory and write its predictions beside them.",
    "method [ -q ] [ path ]",
    (QUIET,),
    least=1,
    most=2,
)


def _apply(given: Given) -> str:
    """Write predictions for all losses that the method has any for."""
    from redelve.methods.contract import METHODS
    from redelve.run.task_directories import apply_method

    name, *path = given.arguments
    if name not in METHODS:
        raise UsageError(f'unknown method "{name}": known are {", ".join(METHODS)}{hint(name, METHODS)}')
    apply_method(name, path[0] if path else ".", reporter(is_quiet=given.has("q")))
    return ""


def apply(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(APPLY, _apply, argv)
