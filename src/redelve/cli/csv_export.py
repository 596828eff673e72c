"""redelve csv: a dataset of the active delve directories as a table that other programs read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redelve.cli.options import Command, Given, run

COMMAND = Command(
    "redelve csv",
    "Write the cases of a dataset to standard output as comma-separated values, with a line of names.",
    "dataset",
    least=1,
)


def csv(given: Given) -> Iterator[str]:
    """The names, then a line for each case; missing values are empty."""
    import csv as writing
    from io import StringIO

    from redelve.data.delve.reading import Library
    from redelve.data.delve.roots import DataAddress, active
    from redelve.model import is_missing

    name = given.arguments[0]
    address = DataAddress.parse(name if name.startswith("/") else f"/{name}")
    library = Library(active())
    dataset = library.dataset(library.dataset_spec(address.dataset or ""))
    buffer = StringIO()
    writer = writing.writer(buffer, lineterminator="\n")
    writer.writerow([attribute.name for attribute in dataset.spec.attributes])
    columns = [column.texts().tolist() for column in dataset.cases.columns]
    writer.writerows(["" if is_missing(text) else text for text in row] for row in zip(*columns, strict=True))
    yield buffer.getvalue()


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, csv, argv)
