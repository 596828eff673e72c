"""Numbers as people read them, and tables of them: as values, as Markdown, LaTeX and CSV.

Numbers are rounded by their standard errors, p-values are no finer than they deserve. The page has its own
template for tables.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from redelve import text_numbers
from redelve.answers.predictions import Target

MINUS, UNKNOWN = text_numbers.MINUS, text_numbers.UNKNOWN
UNIT_IN_NAME = re.compile(r"\[([^\[\]]+)\]$")

plain = text_numbers.plain
with_error = text_numbers.with_error
by_error = text_numbers.by_error
interval = text_numbers.interval
p_value = text_numbers.p_value
p_equals = text_numbers.p_equals


def seconds(value: float | None) -> str:
    """A time in the unit that suits it.

    >>> seconds(0.00092), seconds(3.2), seconds(4000.0), seconds(None)
    ('920 µs', '3.2 s', '1.11 h', '–')
    """
    if value is None:
        return UNKNOWN
    for unit, size in (("h", 3600.0), ("min", 120.0), ("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{plain(value / (60.0 if unit == 'min' else size), 3 if value >= 60 else 2)} {unit}"
    return f"{plain(value * 1e6, 2)} µs"


def size(count: float | None) -> str:
    """Bytes in MiB or GiB.

    >>> size(232112128)
    '221 MiB'
    """
    if count is None:
        return UNKNOWN
    return f"{count / 2**20:.0f} MiB" if count < 2**30 else f"{count / 2**30:.1f} GiB"


def per_cent(share: float | None) -> str:
    """A share in per cent, two significant digits or whole numbers.

    >>> per_cent(0.034), per_cent(0.57), per_cent(1.0)
    ('3.4 %', '57 %', '100 %')
    """
    return UNKNOWN if share is None else text_numbers.per_cent(share)


def target_unit(targets: Sequence[Target]) -> str:
    """The unit in square brackets at the end of a target's name, with a blank before it; else nothing.

    >>> target_unit([Target("price_[€]", "real")]), target_unit([Target("price", "real")])
    (' €', '')
    """
    found = UNIT_IN_NAME.search(targets[0].name) if len(targets) == 1 else None
    return f" {found.group(1).replace('_', ' ')}" if found else ""


def listed(names: Sequence[str], last: str = "and") -> str:
    """`a, b and c`.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return f" {last} ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


Mark = Literal["", "better", "worse", "equivalent", "open", "best", "invalid", "caution", "note"]
Align = Literal["left", "right"]

SYMBOLS: dict[Mark, str] = {"better": "▼", "worse": "▲", "equivalent": "≈", "open": "·", "best": "★"}
"""What a mark looks like without colour: lower, higher, the same within a margin, open, perhaps the best."""

FORMULA = re.compile(r"^[=+\-@\t\r]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|[\u202a-\u202e\u2066-\u2069]")
BLANKS = re.compile(r"\s+")
MARKDOWN = re.compile(r"([\\`*_\[\]|~$])|^(?=[-+#])|(?<=^\d)[.)]")
LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "±": r"$\pm$", "−": r"$-$", "×": r"$\times$",
    "·": r"$\cdot$", "∞": r"$\infty$", "–": "--", "—": "---", "…": r"\ldots{}", "▼": r"$\blacktriangledown$",
    "▲": r"$\blacktriangle$", "★": r"$\bigstar$", "≈": r"$\approx$",
    "≤": r"$\leq$", "≥": r"$\geq$", "µ": r"$\mu$", "²": "$^2$",
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
    whole: Callable[[], ReportTable] | None = field(default=None, repr=False, compare=False)
    """Makes the table with everything, where this one shows what somebody can read."""

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row) == len(self.columns), (
                f"{self.name}: {len(row)} cells, {len(self.columns)} columns"
            )


METHOD = ReportColumn("Method")
MOST_NAMES = 8
"""So many names are listed in a sentence; more are counted."""
CASES = ReportColumn("Training cases", ("training_set_size",))
TASK = ReportColumn("Task")


def contender_column(contender: str) -> ReportColumn:
    """The column of what is compared: methods that learn, or models as they are."""
    return ReportColumn(contender.capitalize())


def several_names(names: Sequence[str], noun: str, last: str = "and") -> str:
    """The names where there are few of them, else how many there are.

    >>> several_names(["a", "b"], "models"), several_names(list("abcdefghij"), "models")
    ('a and b', '10 models')
    """
    return listed(names, last) if len(names) <= MOST_NAMES else f"{len(names)} {noun}"


def name_cell(method: str) -> Cell:
    """A method's name with its swatch."""
    return Cell(method, method=method)


def count_cell(number: int | None) -> Cell:
    """A whole number."""
    return Cell(UNKNOWN) if number is None else Cell(str(number), (number,))


def error_cell(value: float | None, error: float | None, mark: Mark = "") -> Cell:
    """A number and its standard error."""
    return Cell(with_error(value, error), (value, error), mark)


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
