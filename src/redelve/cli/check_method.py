"""redelve check-method: does a method keep to the contract?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from redelve.cli import verb_options as of
from redelve.cli.options import FAILURE, Command
from redelve.errors import SpecError


class CheckMethodOptions(of.VerbOptions):
    """What `redelve check-method` is told."""

    program = of.text("p", "a program that follows DELVE's file protocol", "command")


COMMAND = Command(
    "redelve check-method",
    "Try a method on small tasks of every kind and tell where it does not keep to the contract. The method\n"
    "is a built-in one by name, or module:attribute for an estimator, function or method of yours.",
    "method | -p command",
    CheckMethodOptions.declared(),
    least=0,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; the exit code is 1 if a check failed."""
    failed = False

    def check(given: CheckMethodOptions) -> str:
        nonlocal failed
        from redelve.methods.conformance.checking import check_method

        report = check_method(_method(given))
        failed = not report.passed
        return f"{report}\n"

    return of.run_verb(COMMAND, CheckMethodOptions, check, argv) or (FAILURE if failed else 0)


def _method(given: CheckMethodOptions) -> Any:
    if given.program is not None:
        return shlex.split(given.program)
    if not given.arguments:
        raise SpecError("no method is given: name one, or give a program with -p")
    name = given.arguments[0]
    module, separator, attribute = name.partition(":")
    if not separator:
        return name
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SpecError(f'can\'t import "{name}": {error}; give module:attribute') from None
