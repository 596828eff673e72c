"""redelve training-time: how efficient are algorithms whose trials may fail, from a table of times?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from redelve.cli import verb_options as of
from redelve.cli.options import Command


class TrainingTimeOptions(of.VerbOptions):
    """What `redelve training-time` is told."""

    complaint = 'the limit must be {wanted}: got "{text}"'

    limit = of.number("T", "the time at which trials without success were stopped", "limit")
    column = of.text("c", "the column with the times", "column")
    group = of.text("g", "the column with the names of the algorithms", "column")
    out = of.text("o", "write the graphs: a .pdf file, or a folder", "file")


COMMAND = Command(
    "redelve training-time",
    "Measure how long trials take that may fail: efficiency, best limit, success rate without a limit, and\n"
    "the comparison of several algorithms. The table is in CSV with a line of names. Its column time has\n"
    "the time of success; a failed trial has nothing there, or failed, or inf, or the limit as >2000. A\n"
    "column success (1 or 0) may tell instead, and a column algorithm or group whose trials they are.",
    "times.csv [ -T limit ] [ -c column ] [ -g column ] [ -o file ]",
    TrainingTimeOptions.declared(),
    least=1,
)


def training_time(given: TrainingTimeOptions) -> str:
    """The measures in words; the graphs are written if they are wanted."""
    from redelve.report.trial_times import describe, measure_table, write_graphs

    path = Path(given.arguments[0])
    measured = measure_table(path, limit=given.limit, column=given.column, group=given.group)
    graphs = "" if given.out is None else f"\nGraphs: {write_graphs(given.out, measured)}\n"
    return f"{describe(measured)}\n{graphs}"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, TrainingTimeOptions, training_time, argv)
