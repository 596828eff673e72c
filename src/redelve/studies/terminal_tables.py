"""Tables of studies for a terminal, never wider than WIDTH."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from redelve.report.formatting import ReportTable

WIDTH = 80
GAP = "  "
NARROWEST = 16
"""Characters of a column whose texts are wrapped."""


def table_as_text(table: ReportTable) -> str:
    """Title, columns under each other and caption; long texts are wrapped, columns too many stand below."""
    rows = [[column.title for column in table.columns], *([cell.whole for cell in row] for row in table.rows)]
    widths = [max(map(len, texts)) for texts in zip(*rows, strict=True)]
    sides = ["<" if column.align == "left" else ">" for column in table.columns]
    parts = [
        "\n".join(_lines([[row[one] for one in places] for row in rows], *_chosen(places, widths, sides)))
        for places in _side_by_side(_narrowed(widths, sides))
    ]
    return "\n\n".join([table.title, *parts, textwrap.fill(table.caption, WIDTH)])


def _chosen(
    places: Sequence[int], widths: Sequence[int], sides: Sequence[str]
) -> tuple[list[int], list[str]]:
    """The widths and sides of some columns, which have the whole line."""
    kept = [sides[one] for one in places]
    return _narrowed([widths[one] for one in places], kept), kept


def _narrowed(widths: Sequence[int], sides: Sequence[str]) -> list[int]:
    """The widths, those of texts less while the table is too wide: the widest first."""
    found = list(widths)
    texts = [place for place, side in enumerate(sides) if side == "<"]
    while sum(found) + len(GAP) * (len(found) - 1) > WIDTH:
        widest = max(texts, key=lambda place: found[place], default=None)
        if widest is None or found[widest] <= NARROWEST:
            break
        found[widest] -= 1
    return found


def _side_by_side(widths: Sequence[int]) -> list[list[int]]:
    """The columns that have room beside each other; the first one, which names the rows, is always there."""
    parts = [[0]]
    for place in range(1, len(widths)):
        wanted = [*parts[-1], place]
        has_room = sum(widths[one] + len(GAP) for one in wanted) - len(GAP) <= WIDTH
        if has_room or parts[-1] == [0]:
            parts[-1] = wanted
        else:
            parts.append([0, place])
    return parts


def _lines(rows: Sequence[Sequence[str]], widths: Sequence[int], sides: Sequence[str]) -> list[str]:
    """Each row on as many lines as its longest text needs."""
    found = []
    for row in rows:
        cells = [_wrapped(text, width) for text, width in zip(row, widths, strict=True)]
        for line in zip_longest(*cells, fillvalue=""):
            aligned = zip(line, sides, widths, strict=True)
            found.append(GAP.join(f"{text:{side}{width}}" for text, side, width in aligned).rstrip())
    return found


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]
