"""redelve differ: where two methods differ, by what an archive holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from redelve.cli import options as of
from redelve.cli.options import Command
from redelve.cli.outputs import check_file, refuse_inputs


class DifferOptions(of.VerbOptions):
    """What `redelve differ` is told."""

    task = of.text("t", "the task; needed where the archive has several data sets", "address")
    loss = of.text("l", "the loss or metric to judge by", "code")
    by = of.names("b", "what cuts the cases into slices: columns kept by compare -S, the target", "columns")
    out = of.text("o", "a file for the table of cases on which they differ: .csv", "file")


DIFFER = Command(
    "redelve differ",
    "Tell where two methods or models differ: how far they err on the same cases, how many cases decide,\n"
    "and in which slices of the cases one is worse. All slices are tested together at 5 %.\n"
    "docs/where-they-differ.md tells more.",
    "archive first second [ -b columns ] [ -t task ] [ -l code ] [ -o cases.csv ]",
    DifferOptions.declared(),
    least=3,
    most=3,
)


def _differ(given: DifferOptions) -> str:
    """What was found; the table of cases is written if one is wanted."""
    from redelve.assessment import Assessment
    from redelve.data.files import write_atomic
    from redelve.report.difference_views import differences_text
    from redelve.store import Archive

    path, first, second = given.arguments
    refuse_inputs(given.out, [path])
    check_file(given.out, "cases", ".csv")
    assessment = Assessment(Archive.open(Path(path)).load(), given.loss, Path(path))
    found = assessment.differences(first, second, given.task, by=given.by or None)
    if given.out is None:
        return f"{differences_text(found)}\n"
    write_atomic(given.out, found.cases().to_csv(index=False))
    return f"{differences_text(found)}\n\nCases: {given.out}\n"


def differ(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(DIFFER, DifferOptions, _differ, argv)
