"""Tables in Markdown, LaTeX and CSV: well formed whatever the cells hold."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.report.formatting import (
    Cell,
    ReportColumn,
    ReportTable,
    escape_latex,
    guard_formula,
    latex,
    markdown,
    to_csv,
)

TEXTS = st.text(max_size=30)
HOSTILE = [
    "<script>alert(1)</script>",
    "a|b",
    "=HYPERLINK(1)",
    "+1",
    "-1",
    "@x",
    "\\input{x}",
    "50 %",
    "a\nb",
    "`x`",
    "{",
    "$x$",
]


def table_of(texts: list[str]) -> ReportTable:
    rows = tuple((Cell(text), Cell(text, (-1.5, None))) for text in texts)
    return ReportTable(
        "t", "Title", (ReportColumn("Name"), ReportColumn("Loss ± SE", ("loss", "loss_se"))), rows, "Caption"
    )


@given(st.lists(TEXTS, max_size=5))
def test_markdown_rows_have_as_many_cells_as_columns(texts: list[str]) -> None:
    lines = markdown(table_of(texts)).split("\n\n")[0].split("\n")
    assert len(lines) == 2 + len(texts)
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines} == {3}


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_holds_no_live_html(text: str) -> None:
    assert "<script" not in markdown(table_of([text]))


@given(TEXTS)
def test_latex_has_balanced_braces_and_no_live_command(text: str) -> None:
    escaped = escape_latex(text)
    bare = re.sub(r"\\[{}%$&#_]", "", escaped)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not re.search(r"(?<!\\)[%&#]", escaped)
    known = "textbackslash|textasciitilde|textasciicircum|textbar|textquotedbl|ldots|pm|times|cdot|infty"
    known += "|blacktriangledown|blacktriangle|bigstar|leq|geq|mu"
    assert not re.search(rf"\\(?!(?:{known})\b)[a-zA-Z]", re.sub(r"\\textbackslash\{\}", "", escaped))


@given(st.lists(TEXTS, max_size=5))
def test_csv_reads_back_with_numbers_apart(texts: list[str]) -> None:
    rows = list(csv.reader(io.StringIO(to_csv(table_of(texts)))))
    assert rows[0] == ["Name", "loss", "loss_se"]
    assert [row[1:] for row in rows[1:]] == [["-1.5", ""]] * len(texts)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert guard_formula(text) == f"'{text}"
    cell = next(csv.reader(io.StringIO(to_csv(table_of([text])).partition("\n")[2])))[0]
    assert cell[0] == "'"


def test_latex_tables_name_their_columns_and_rows() -> None:
    text = latex(table_of(["lin_1"]))
    assert r"\begin{tabular}{lr}" in text
    assert r"Name & Loss $\pm$ SE \\" in text
    assert r"lin\_1 & lin\_1 \\" in text
    assert r"\caption{Title. Caption.}" in text


def test_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(AssertionError, match="2 cells, 1 columns"):
        ReportTable("t", "T", (ReportColumn("A"),), ((Cell("x"), Cell("y")),))
