"""mgendata: generate the data files that a learning method is trained and tested with (manual 7.4, C)."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.options import Command, Given, Option, run
from redelve.cli.progress_lines import QUIET, reporter

COMMAND = Command(
    "mgendata",
    "Write train.n, test.n, targets.n and normalize.n for each instance of a task, or of all below a path.",
    "[ -c file ] [ -n file ] [ -q ] [ path ]",
    (
        Option("c", "encodings that replace the default ones, an attribute a line", "file", long="codings"),
        Option("n", "instances that replace the standard ones, as lists of cases", "file", long="instances"),
        QUIET,
    ),
)


def mgendata(given: Given) -> str:
    """Generate the files; all files of a task appear together or not at all."""
    from redelve.data.delve.task_files import generate

    progress = reporter(is_quiet=given.has("q"))
    generate(given.path(), codings=given.value("c"), instances=given.value("n"), progress=progress)
    return ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, mgendata, argv)
