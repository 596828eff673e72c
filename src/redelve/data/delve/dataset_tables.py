"""A dataset of the delve directories as a table that other programs read."""

from __future__ import annotations

import csv
from io import StringIO

from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, active
from redelve.model import is_missing


def dataset_as_csv(name: str) -> str:
    """A line of names, then a line for each case, comma-separated; missing values are empty."""
    address = DataAddress.parse(name if name.startswith("/") else f"/{name}")
    library = Library(active())
    dataset = library.dataset(library.dataset_spec(address.dataset or ""))
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([attribute.name for attribute in dataset.spec.attributes])
    columns = [column.texts().tolist() for column in dataset.cases.columns]
    writer.writerows(["" if is_missing(text) else text for text in row] for row in zip(*columns, strict=True))
    return buffer.getvalue()
