"""redelve report: the results of an archive as a page, as tables or as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from redelve.cli.options import Command, Given, Option, run

COMMAND = Command(
    "redelve report",
    "Analyse what an archive holds and write it to a file: .html, .md or .tex by its name, or a folder with\n"
    "a page, tables and figures. Without -o the summary is printed.",
    "archive [ -o file ] [ -l code ] [ -m names ] [ -t tasks ]",
    (
        Option("o", "the file or folder to write", "file", "out"),
        Option("l", "the loss to judge by: S, A, L, C for numbers, Z, Q, L for classes", "code", "loss"),
        Option("m", "only these methods, separated by commas", "names", "methods"),
        Option("t", "only these tasks, separated by commas", "addresses", "tasks"),
    ),
    least=1,
)


def report(given: Given) -> Iterator[str]:
    """The summary, and the file if one is wanted."""
    from redelve.report.assessed import Assessment
    from redelve.store import Archive

    path = Path(given.arguments[0])
    results = Archive.open(path).load()
    chosen = results.select(methods=_listed(given, "m"), tasks=_listed(given, "t"))
    assessment = Assessment(chosen, given.value("l"), path)
    yield f"{assessment}\n"
    if (out := given.value("o")) is not None:
        yield f"\nReport: {assessment.report(out, command=f'redelve report {path} -o {out}')}\n"


def _listed(given: Given, letter: str) -> list[str] | None:
    text = given.value(letter)
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, report, argv)
