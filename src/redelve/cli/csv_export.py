"""redelve csv: a dataset of the active delve directories as a table that other programs read."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.options import Command, Given, run

COMMAND = Command(
    "redelve csv",
    "Write the cases of a dataset to standard output as comma-separated values, with a line of names.",
    "dataset",
    least=1,
)


def csv(given: Given) -> str:
    """The names, then a line for each case; missing values are empty."""
    from redelve.data.delve.dataset_tables import dataset_as_csv

    return dataset_as_csv(given.arguments[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, csv, argv)
