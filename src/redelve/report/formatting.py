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
from math import isfinite, isnan
from typing import Literal

from redelve import text_numbers
from redelve.answers.predictions import Target

MINUS = "−"
UNKNOWN = "–"
SMALLEST_P = 1e-4
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNIT_IN_NAME = re.compile(r"\[([^\[\]]+)\]$")
PLAIN_EXPONENTS = range(-5, 6)
"""Numbers with these powers of ten are written out; others with a power."""


def plain(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits and a true minus sign.

    >>> plain(-0.0017461), plain(1234567.0), plain(None)
    ('−0.00175', '1.23×10⁶', '–')
    """
    if value is None or isnan(value):
        return UNKNOWN
    if not isfinite(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value == 0:
        return "0"
    exponent = _exponent(value, digits)
    if exponent not in PLAIN_EXPONENTS:
        return f"{_fixed(_over_power(value, exponent), digits - 1)}×10{_power(exponent)}"
    return _fixed(value, digits - 1 - exponent)


def with_error(value: float | None, error: float | None) -> str:
    """A number and its standard error, both rounded to two significant digits of the error.

    >>> with_error(0.04647924, 0.00104460), with_error(12346.0, 678.0), with_error(0.5, None)
    ('0.0465 ± 0.0010', '12350 ± 680', '0.5000')
    >>> with_error(1.234e-9, 5.6e-11)
    '(1.234 ± 0.056)×10⁻⁹'
    """
    if value is None or error is None or not isfinite(value) or not isfinite(error) or error <= 0:
        return plain(value, 4)
    exponent = _exponent(max(abs(value), error), 2)
    if exponent not in PLAIN_EXPONENTS:
        both = with_error(_over_power(value, exponent), _over_power(error, exponent))
        return f"({both})×10{_power(exponent)}"
    places = 1 - _exponent(error, 2)
    return f"{_fixed(value, places)} ± {_fixed(error, places)}"


def by_error(value: float | None, error: float | None) -> str:
    """A number alone, rounded as `with_error` does.

    >>> by_error(0.04647924, 0.00104460)
    '0.0465'
    """
    if value is None or error is None or not isfinite(value) or not isfinite(error) or error <= 0:
        return plain(value, 4)
    if _exponent(max(abs(value), error), 2) not in PLAIN_EXPONENTS:
        return plain(value, 3)
    return _fixed(value, 1 - _exponent(error, 2))


def interval(bounds: tuple[float, float] | None, error: float | None) -> str:
    """`low to high`, rounded by the standard error.

    >>> interval((-0.00289, -0.0006), 0.00086)
    '−0.00289 to −0.00060'
    >>> interval((-8.73e-7, 1.57e-8), 1.9e-7)
    '(−8.7 to 0.2)×10⁻⁷'
    """
    if bounds is None:
        return UNKNOWN
    low, high = bounds
    widest = max(abs(low), abs(high))
    if isfinite(widest) and widest > 0 and (exponent := _exponent(widest, 2)) not in PLAIN_EXPONENTS:
        bounds = _over_power(low, exponent), _over_power(high, exponent)
        ends = interval(bounds, None if error is None else _over_power(error, exponent))
        return f"({ends})×10{_power(exponent)}"
    return f"{by_error(low, error)} to {by_error(high, error)}"


def p_value(p: float | None) -> str:
    """A p-value with two significant digits, never finer than 0.0001.

    >>> p_value(0.00864), p_value(0.5), p_value(1e-9), p_value(1.0), p_value(0.996)
    ('0.0086', '0.50', '< 0.0001', '1', '1')
    """
    if p is None or isnan(p):
        return UNKNOWN
    if p < SMALLEST_P:
        return "< 0.0001"
    if p >= 0.995:
        return "1"
    return _fixed(p, max(2, 1 - _exponent(p, 2)))


def p_equals(p: float | None) -> str:
    """`p = 0.0086` or `p < 0.0001`, for running text."""
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


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


def _exponent(value: float, digits: int) -> int:
    """The power of ten after rounding to so many significant digits."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def _over_power(value: float, exponent: int) -> float:
    """The value divided by a power of ten that may itself be out of range."""
    mantissa, _, power = f"{value:.17e}".partition("e")
    return float(f"{mantissa}e{int(power or 0) - exponent}") if power else value


def _fixed(value: float, places: int) -> str:
    rounded = round(value, places)
    return f"{rounded:.{max(places, 0)}f}".replace("-", MINUS)


def _power(exponent: int) -> str:
    return str(exponent).translate(SUPERSCRIPTS)


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
