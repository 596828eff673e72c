"""redelve apply: a built-in method as a program that follows DELVE's file protocol."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.options import Command, Given, UsageError, run
from redelve.cli.progress_lines import QUIET, reporter
from redelve.methods.builtin.summaries import SUMMARIES

COMMAND = Command(
    "redelve apply",
    "Train a built-in method on every train.n of a task directory and write its predictions beside them.",
    "method [ -q ] [ path ]",
    (QUIET,),
    least=1,
    most=2,
)


def apply(given: Given) -> str:
    """Write predictions for all losses that the method has any for."""
    from redelve.run.task_directories import apply_method

    name, *path = given.arguments
    if name not in SUMMARIES:
        raise UsageError(f'unknown method "{name}": known are {", ".join(SUMMARIES)}')
    apply_method(name, path[0] if path else ".", reporter(is_quiet=given.has("q")))
    return ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, apply, argv)
