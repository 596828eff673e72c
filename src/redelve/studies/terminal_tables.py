"""Tables of studies for a terminal."""

from __future__ import annotations

import textwrap

from redelve.report.formatting import ReportTable

WIDTH = 100


def table_as_text(table: ReportTable, longest: int | None = None) -> str:
    """Title, columns under each other and caption; texts of `longest` characters or more are cut."""
    rows = [[column.title for column in table.columns], *([cell.whole for cell in row] for row in table.rows)]
    if longest is not None:
        rows = [[text if len(text) < longest else f"{text[: longest - 2]}…" for text in row] for row in rows]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.columns))]
    lines = [
        "  ".join(
            f"{text:<{width}}" if column.align == "left" else f"{text:>{width}}"
            for text, width, column in zip(row, widths, table.columns, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([table.title, "", *lines, "", textwrap.fill(table.caption, WIDTH)])
