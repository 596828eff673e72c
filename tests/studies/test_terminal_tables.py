"""Tables for a terminal: never wider than it, and nothing of them lost."""

from __future__ import annotations

from redelve.report.formatting import Cell, ReportColumn, ReportTable
from redelve.studies.terminal_tables import WIDTH, table_as_text


def made(*titles: str, cell: str) -> str:
    columns = [ReportColumn(title, () if title.startswith("T") else (title,)) for title in titles]
    rows = [[Cell(f"{cell} {row}", (1.0,) * len(one.parts)) for one in columns] for row in range(2)]
    return table_as_text(ReportTable("t", "Title", tuple(columns), tuple(map(tuple, rows)), "caption " * 30))


def test_a_narrow_table_has_a_line_for_each_row() -> None:
    assert made("Tin", "n", cell="x").splitlines()[2:5] == ["Tin    n", "x 0  x 0", "x 1  x 1"]


def test_long_texts_are_wrapped_within_the_terminal() -> None:
    text = made("Told", "Texts", "n", cell="some-words of a long sentence here")
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.count("some-words") == 2 * 3
    assert text.count("\n\n") == 2


def test_columns_that_have_no_room_stand_below_with_the_first_one() -> None:
    text = made("Told", *("n" * k for k in range(1, 9)), cell="a number of 27 letters, long")
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.count("Told") == 8 // 2
    assert all(f" {'n' * k}" in text for k in range(1, 9))
