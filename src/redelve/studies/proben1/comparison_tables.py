"""The comparison as tables: for a page, for CSV and Markdown, and as text for a terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from redelve.report import formatting
from redelve.report.formatting import Cell, ReportColumn, ReportTable, Row
from redelve.studies.compared import ComparedCell
from redelve.studies.proben1 import comparison
from redelve.studies.proben1.comparison import Compared, NetworkChoice
from redelve.studies.proben1.printed import MEASURES

MISS = "✗"
NUMBERS = {
    **MEASURES,
    "rho": "ρ",
    "valid_err": "validation error",
    "valid_class_err": "validation classification",
    "test_err": "test error",
    "test_class_err": "test classification",
    "within_5pct": "others within 5 %",
    "within_10pct": "others within 10 %",
    "epochs_range_low": "fewest epochs",
    "epochs_range_high": "most epochs",
    "test_range_low": "lowest test error",
    "test_range_high": "highest test error",
    "connections": "connections",
    "p_percent": "p in %",
}
"""The columns of numbers that tables show, and their titles."""
WORDS = {"best": "best network", "pivot": "pivot architecture", "better": "better"}
SHOWN = {
    "test": "test",
    "class": "classes",
    "epochs": "epochs",
    "valid_err": "validation",
    "test_err": "test",
    "within_5pct": "within 5 %",
    "connections": "connections",
}
"""Those that the text for a terminal has room for, and what it calls them."""
CAPTION = (
    "In each cell ours, then what is printed, then z; numbers after ± are standard deviations of runs. "
    f"{MISS}: more than 3 % and more than two combined standard errors apart."
)
HEAD = ("table", "dataset", "column", "published", "published_error", "ours", "our_error", "z",
        "within_3_percent", "agrees")  # fmt: skip


def as_table(compared: Compared) -> ReportTable:
    """A table of PROBEN1's with three lines in each cell: ours, as printed, z."""
    columns = [ReportColumn("dataset")]
    words = [name for name in WORDS if any(row.choice(name) for row in compared.rows)]
    numbers = [name for name in NUMBERS if any(row.cell(name) for row in compared.rows)]
    columns += [ReportColumn(WORDS[name]) for name in words]
    columns += [ReportColumn(NUMBERS[name], _parts(name)) for name in numbers]
    rows: list[Row] = []
    for row in compared.rows:
        told = [_word(row.choice(name)) for name in words]
        rows.append((Cell(row.dataset), *told, *(_number(row, name) for name in numbers)))
    return ReportTable(
        f"table{compared.number:02d}", compared.title, tuple(columns), tuple(rows), caption=CAPTION
    )


def _parts(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{part}" for part in ("ours", "our_error", "published", "published_error", "z"))


def _word(choice: NetworkChoice | None) -> Cell:
    if choice is None:
        return Cell(formatting.UNKNOWN)
    mark = "" if choice.agrees else f"{MISS} "
    return Cell(f"{mark}{choice.ours}", lines=(f"printed {choice.published}",))


def _number(row: comparison.ComparisonRow, name: str) -> Cell:
    found, spread = row.cell(name), row.cell(f"{name} sd")
    if found is None:
        return Cell(formatting.UNKNOWN, (None,))
    ours = _plain(found.ours, found) + (f" ± {_plain(spread.ours, found)}" if spread else "")
    given = _plain(found.published, found) + (f" ± {_plain(spread.published, found)}" if spread else "")
    mark = "" if found.agrees or name == "p_percent" else f"{MISS} "
    numbers = (found.ours, found.our_error, found.published, found.published_error, found.z)
    lines = (given,) if found.z is None else (given, f"z {_z(found)}")
    return Cell(f"{mark}{ours}", numbers, lines=lines)


def _plain(value: float, found: ComparedCell) -> str:
    """With as many digits as the report has for numbers of this size, or one more where they are small."""
    size = max(abs(found.published), abs(found.ours))
    if found.column.startswith(("epochs", "relevant", "within", "connections")):
        return f"{value:.0f}"
    if found.column == "gl":
        return f"{value:.2f}"
    return f"{value:.{4 if size < 0.1 else 3 if size < 1 else 2}f}".replace("-", formatting.MINUS)


def _z(found: ComparedCell) -> str:
    return formatting.UNKNOWN if found.z is None else f"{found.z:+.1f}".replace("-", formatting.MINUS)


def as_text(compared: Compared) -> str:
    """The main columns for a terminal, as printed and ours; numbers after ± are standard deviations."""
    numbers = [name for name in SHOWN if any(row.cell(name) for row in compared.rows)]
    words = [name for name in WORDS if any(row.choice(name) for row in compared.rows)]
    head = ["dataset", *(title for name in words for title in (WORDS[name], "ours"))]
    lines = [[*head, *(title for name in numbers for title in (SHOWN[name], "ours", "z"))]]
    for row in compared.rows:
        told = [part for name in words for part in _word_parts(row.choice(name))]
        lines.append([row.dataset, *told, *(part for name in numbers for part in _text_parts(row, name))])
    return f"{compared.title}\n{_columns(lines)}"


def _word_parts(choice: NetworkChoice | None) -> tuple[str, str]:
    if choice is None:
        return formatting.UNKNOWN, formatting.UNKNOWN
    return choice.published, choice.ours if choice.agrees else f"{choice.ours} {MISS}"


def _text_parts(row: comparison.ComparisonRow, name: str) -> tuple[str, str, str]:
    found = row.cell(name)
    if found is None:
        return (formatting.UNKNOWN,) * 3
    shown = _number(row, name)
    return shown.lines[0], shown.text.removeprefix(f"{MISS} "), _z(found) + ("" if found.agrees else MISS)


def _columns(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = []
    for line in lines:
        first, *rest = (
            word.ljust(width) if place == 0 else word.rjust(width)
            for place, (word, width) in enumerate(zip(line, widths, strict=True))
        )
        rows.append(f"  {first}  {'  '.join(rest)}".rstrip())
    return "\n".join(rows)


def cells_csv(tables: Iterable[Compared]) -> str:
    """Every cell of every table, a line each, with full numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    for table in tables:
        for row in table.rows:
            writer.writerows((table.number, row.dataset, *_choice_line(choice)) for choice in row.choices)
            writer.writerows((table.number, row.dataset, *_cell_line(cell)) for cell in row.cells)
    return out.getvalue()


def _choice_line(choice: NetworkChoice) -> tuple[object, ...]:
    return choice.column, choice.published, None, choice.ours, None, None, None, choice.agrees


def _cell_line(cell: ComparedCell) -> tuple[object, ...]:
    numbers = (cell.published, cell.published_error, cell.ours, cell.our_error, cell.z)
    return cell.column, *numbers, cell.is_close, cell.agrees
