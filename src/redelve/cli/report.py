"""redelve report: the results of an archive as a page, as tables or as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from redelve.cli import verb_options as of
from redelve.cli.options import Command


class ReportOptions(of.VerbOptions):
    """What `redelve report` is told."""

    out = of.text("o", "the file or folder to write", "file")
    loss = of.text("l", "the loss to judge by: S, A, L, C for numbers, Z, Q, L for classes", "code")
    methods = of.names("m", "only these methods, separated by commas")
    tasks = of.names("t", "only these tasks, separated by commas", "addresses")


COMMAND = Command(
    "redelve report",
    "Analyse what an archive holds and write it to a file: .html, .md or .tex by its name, or a folder with\n"
    "a page, tables and figures. Without -o the summary is printed.",
    "archive [ -o file ] [ -l code ] [ -m names ] [ -t tasks ]",
    ReportOptions.declared(),
    least=1,
)


def report(given: ReportOptions) -> str:
    """The summary; the file is written if one is wanted."""
    from redelve.report.assessed import Assessment
    from redelve.store import Archive

    path = Path(given.arguments[0])
    results = Archive.open(path).load()
    chosen = results.select(methods=given.methods or None, tasks=given.tasks or None)
    assessment = Assessment(chosen, given.loss, path)
    if given.out is None:
        return f"{assessment}\n"
    written = assessment.report(given.out, command=f"redelve report {path} -o {given.out}")
    return f"{assessment}\n\nReport: {written}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, ReportOptions, report, argv)
