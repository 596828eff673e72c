"""Tables as values, and the same table as Markdown, LaTeX and CSV; the page has its own template for them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from redelve.report import rounding

Mark = Literal["", "better", "worse", "open", "best", "invalid", "caution", "note"]
Align = Literal["left", "right"]

SYMBOLS: dict[Mark, str] = {"better": "▼", "worse": "▲", "open": "·", "best": "★"}
"""What a mark looks like without colour: a loss that is lower, higher, not told apart, perhaps the best."""

FORMULA = re.compile(r"^[=+\-@\t\r]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|[\u202a-\u202e\u2066-\u2069]")
BLANKS = re.compile(r"\s+")
MARKDOWN = re.compile(r"([\\`*_\[\]|~$])|^(?=[-+#])|(?<=^\d)[.)]")
LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "±": r"$\pm$", "−": r"$-$", "×": r"$\times$",
    "·": r"$\cdot$", "∞": r"$\infty$", "–": "--", "—": "---", "…": r"\ldots{}", "▼": r"$\blacktriangledown$",
    "▲": r"$\blacktriangle$", "★": r"$\bigstar$", "≤": r"$\leq$", "≥": r"$\geq$", "µ": r"$\mu$", "²": "$^2$",
}  # fmt: skip
POWER = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@dataclass(frozen=True)
class ReportColumn:
    """A column: its title, and for CSV the names of the full numbers behind its cells."""

    title: str
    parts: tuple[str, ...] = ()
    hint: str = ""

    @property
    def align(self) -> Align:
        """Numbers stand to the right."""
        return "right" if self.parts else "left"


@dataclass(frozen=True)
class Cell:
    """What a cell says, the numbers behind it, and what it means (`mark`); `method` gives it a swatch."""

    text: str
    numbers: tuple[float | None, ...] = ()
    mark: Mark = ""
    method: str | None = None
    link: str | None = None
    lines: tuple[str, ...] = ()
    """Smaller lines below the text."""

    @property
    def key(self) -> float | None:
        """What to sort by; None for the text."""
        return self.numbers[0] if self.numbers else None

    @property
    def symbol(self) -> str:
        """The mark as a character."""
        return SYMBOLS.get(self.mark, "")

    @property
    def whole(self) -> str:
        """Everything the cell says, on one line."""
        return "; ".join((" ".join(part for part in (self.symbol, self.text) if part), *self.lines))


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class ReportTable:
    """A table with a name fit for a file, a title and a caption that explains it."""

    name: str
    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    is_matrix: bool = False
    """A row and a column for the same things: not to be sorted."""
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row) == len(self.columns), (
                f"{self.name}: {len(row)} cells, {len(self.columns)} columns"
            )


METHOD = ReportColumn("Method")
CASES = ReportColumn("Training cases", ("training_set_size",))
TASK = ReportColumn("Task")


def name_cell(method: str) -> Cell:
    """A method's name with its swatch."""
    return Cell(method, method=method)


def count_cell(number: int | None) -> Cell:
    """A whole number."""
    return Cell(rounding.UNKNOWN) if number is None else Cell(str(number), (number,))


def error_cell(value: float | None, error: float | None, mark: Mark = "") -> Cell:
    """A number and its standard error."""
    return Cell(rounding.with_error(value, error), (value, error), mark)


def slug(text: str) -> str:
    """A name of letters, digits and hyphens only.

    >>> slug("/kin-8nm/dist/std.64")
    'kin-8nm-dist-std-64'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower() or "x"


def tidy(text: str) -> str:
    """Text on one line without control characters, which no format can hold.

    >>> tidy("two" + chr(10) + "lines" + chr(0))
    'two lines�'
    """
    return CONTROL.sub("�", BLANKS.sub(" ", text)).strip()


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> escape_markdown("a_b <i>|")
    'a\\_b &lt;i&gt;\\|'
    """
    safe = tidy(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return MARKDOWN.sub(lambda found: f"\\{found[0]}", safe)


def escape_latex(text: str) -> str:
    r"""Text that LaTeX shows as it is.

    >>> escape_latex("50 % ± 1_0×10⁻³")
    '50 \\% $\\pm$ 1\\_0$\\times$10$^{-3}$'
    """
    escaped = "".join(LATEX.get(character, character) for character in tidy(text))
    return POWER.sub(lambda power: f"$^{{{power[0].translate(DIGITS)}}}$", escaped)


def markdown(table: ReportTable) -> str:
    """The table with its title and caption in Markdown."""
    marks = [":--" if column.align == "left" else "--:" for column in table.columns]
    lines = [
        _markdown_row([escape_markdown(column.title) for column in table.columns]),
        _markdown_row(marks),
        *(_markdown_row([escape_markdown(cell.whole) for cell in row]) for row in table.rows),
    ]
    below = [escape_markdown(text) for text in (table.caption, *table.notes) if text]
    return "\n\n".join(["\n".join(lines), *below]) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex(table: ReportTable) -> str:
    """The table as a `table` environment; it needs the packages booktabs and amssymb."""
    alignment = "".join("r" if column.align == "right" else "l" for column in table.columns)
    said = (table.title, table.caption, *table.notes)
    caption = escape_latex(". ".join(part.rstrip(".") for part in said if part))
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{caption}.}}",
            rf"\label{{tab:{table.name}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            _latex_row([column.title for column in table.columns]),
            r"\midrule",
            *(_latex_row([cell.whole for cell in row]) for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _latex_row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(escape_latex, cells))} \\\\"


def guard_formula(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    >>> guard_formula("=1+1"), guard_formula("lin-1")
    ("'=1+1", 'lin-1')
    """
    return f"'{text}" if FORMULA.match(text) else text


def to_csv(table: ReportTable) -> str:
    """The table with full numbers: a column for each number, not for each cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [guard_formula(name) for column in table.columns for name in column.parts or (column.title,)]
    )
    for row in table.rows:
        pairs = zip(table.columns, row, strict=True)
        writer.writerow([entry for column, cell in pairs for entry in _entries(column, cell)])
    return out.getvalue()


def _entries(column: ReportColumn, cell: Cell) -> list[str]:
    if not column.parts:
        return [guard_formula(tidy("; ".join((cell.text, *cell.lines))))]
    given = (*cell.numbers, *(None for _ in column.parts))[: len(column.parts)]
    return ["" if number is None else f"{number:.17g}" for number in given]
