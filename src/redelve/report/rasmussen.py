"""Rasmussen's figure: losses of all methods at all sizes, and who is significantly better than whom.

Rasmussen (1996), as in Neal (1998): a panel per prototask, a box per training-set size; in a box a column per
method with a tick at the expected loss and a line of ± one standard error; below it a square of digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

from redelve.findings import MethodFinding, TaskFindings
from redelve.report import rounding
from redelve.report.drawing import INK, MUTED, RULE, Picture, label, look_of, new_figure
from redelve.report.panels import Panel, better_p
from redelve.report.table_values import Cell, ReportColumn, ReportTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOT = "·"
OFF_SCALE = 3.0
"""A loss this many times as far from the bottom as three quarters of all losses are is off the scale."""
WIDTH, BOX_HEIGHT, ROW = 9.0, 2.0, 0.19
"""Inches: the width to be filled, the height of a box, the height of a row of digits."""
NARROWEST, WIDEST = 0.17, 0.34
"""Inches: of a method's column."""


def digit(p: float | None) -> str:
    """A p-value in units of 0.01, rounded up: 1 to 9, or a dot where it is larger or there is none.

    >>> [digit(p) for p in (0.0, 0.004, 0.01, 0.07, 0.0701, 0.09, 0.2, None)]
    ['1', '1', '1', '7', '8', '9', '·', '·']
    """
    if p is None:
        return DOT
    units = max(ceil(100 * p - 1e-9), 1)
    return str(units) if units <= 9 else DOT


def digits_of(task: TaskFindings, methods: Sequence[str]) -> list[list[str]]:
    """Rows of digits: in the column of A and the row of B, A is better than B by this p-value."""
    return [
        ["" if row == column else digit(better_p(task, column, row)) for column in methods] for row in methods
    ]


@dataclass(frozen=True)
class Scale:
    """From where to where the vertical axis goes; what lies above is shown by an arrow and its number."""

    low: float
    high: float


def scale_of(values: Sequence[float], errors: Sequence[float], from_zero: bool) -> Scale:
    """The scale that shows most losses well; `from_zero` unless all are far from it."""
    pairs = sorted((v, e) for v, e in zip(values, errors, strict=True) if isfinite(v))
    if not pairs:
        return Scale(0.0, 1.0)
    least = pairs[0][0]
    base = 0.0 if from_zero and least >= 0 else least
    third_quarter = pairs[(3 * (len(pairs) - 1)) // 4][0]
    limit = base + OFF_SCALE * (third_quarter - base)
    inside = [(v, e) for v, e in pairs if v <= limit] or pairs
    top, bottom = max(v + e for v, e in inside), min(v - e for v, e in inside)
    if base == 0.0 and from_zero and bottom < 0.5 * top:
        return Scale(0.0, 1.06 * top if top > 0 else 1.0)
    margin = 0.08 * (top - bottom) or abs(top) * 0.1 or 1.0
    return Scale(bottom - margin, top + margin)


def rasmussen_picture(panel: Panel) -> Picture:
    """The panel of one prototask."""
    kind = "standardised" if panel.is_standardised else "expected"
    return Picture(
        f"rasmussen-{panel.key}",
        f"Losses and significance on {panel.prototask}",
        f"One box per training-set size with the {kind} {panel.largest.judged_by.words} of "
        f"{len(panel.methods)} methods and their standard errors; below each box a square of p-value digits. "
        "The table below the figure has the same digits.",
        f"Ticks: {kind} expected loss; lines: ± one standard error. Below, the digit in the column of A and "
        "the row of "
        "B is the p-value, in units of 0.01 rounded up, of A being better than B; a dot where it exceeds "
        "0.09. Down a "
        "column: whom a method beats; across a row: who beats it. As in Rasmussen's figures, p-values are "
        "of single "
        "comparisons (the cautious ones where there are such), not adjusted for their number; digits up to "
        "5 are bold. "
        "An arrow with a number: a loss beyond the scale.",
        lambda: _draw(panel),
        digits_table(panel),
    )


def digits_table(panel: Panel) -> ReportTable:
    """Rasmussen's digits as a table."""
    rows = []
    for task in panel.tasks:
        for name, row in zip(panel.methods, digits_of(task, panel.methods), strict=True):
            size = task.task.training_set_size
            cells = (Cell(text or " ") for text in row)
            rows.append((Cell(str(size), (size,)), Cell(name, method=name), *cells))
    return ReportTable(
        f"digits-{panel.key}",
        f"Rasmussen's digits on {panel.prototask}",
        (
            ReportColumn("Training cases", ("training_set_size",)),
            ReportColumn("B"),
            *(ReportColumn(f"A: {m}") for m in panel.methods),
        ),
        tuple(rows),
        "In the column of A and the row of B: the p-value, in units of 0.01 rounded up, of A being better "
        "than B.",
    )


def _numbers(panel: Panel, finding: MethodFinding) -> tuple[float | None, float | None]:
    if panel.is_standardised:
        return finding.standardised, finding.standardised_error
    return finding.mean, finding.standard_error


def _panel_scale(panel: Panel) -> Scale:
    found = [_numbers(panel, one) for task in panel.tasks for one in task.methods]
    values = [value for value, _ in found if value is not None]
    errors = [error or 0.0 for value, error in found if value is not None]
    return scale_of(values, errors, from_zero=not panel.largest.judged_by.is_shift)


def _draw(panel: Panel) -> Figure:
    """Boxes side by side on one scale; names stand beside the first square of digits."""
    count, boxes = len(panel.methods), len(panel.tasks)
    left, gap, top, between = 0.75 + 0.06 * max(len(label(m)) for m in panel.methods), 0.14, 0.3, 0.32
    column = ((WIDTH - left + gap) / boxes - gap) / count
    width, square = max(count * min(max(column, NARROWEST), WIDEST), 0.8), count * ROW
    total = (left + boxes * width + (boxes - 1) * gap + 0.05, top + BOX_HEIGHT + between + square)
    figure = new_figure(*total)
    scale = _panel_scale(panel)
    for number, task in enumerate(panel.tasks):
        x = (left + number * (width + gap)) / total[0]
        box = figure.add_axes((x, (square + between) / total[1], width / total[0], BOX_HEIGHT / total[1]))
        _draw_box(box, panel, task, scale)
        box.set_title(f"{task.task.training_set_size}", fontsize=9.5, pad=5)
        if number == 0:
            kind = "standardised" if panel.is_standardised else "expected"
            box.set_ylabel(f"{kind} loss")
        else:
            box.tick_params(labelleft=False)
        below = figure.add_axes((x, 0, width / total[0], square / total[1]))
        _draw_digits(below, panel, task, with_names=number == 0)
    return figure


def _draw_box(axes: Axes, panel: Panel, task: TaskFindings, scale: Scale) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.set_xlim(-0.5, len(panel.methods) - 0.5)
    axes.set_ylim(scale.low, scale.high)
    axes.set_xticks([])
    axes.grid(axis="y", zorder=0)
    axes.set_axisbelow(True)
    known = {one.method: one for one in task.methods}
    for column, name in enumerate(panel.methods):
        value, error = _numbers(panel, known[name]) if name in known else (None, None)
        _draw_column(axes, column, value, error, scale)
        axes.plot(
            [column],
            [-0.085],
            look_of(column).marker,
            color=look_of(column).colour,
            markersize=5.6,
            markeredgecolor=INK,
            markeredgewidth=0.5,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
        )


def _draw_column(axes: Axes, column: int, value: float | None, error: float | None, scale: Scale) -> None:
    colour = look_of(column).colour
    if value is None:
        _write_upwards(axes, column, 0.5, "no result", va="center", color=MUTED)
        return
    if value > scale.high:
        axes.annotate(
            "",
            (column, 0.995),
            (column, 0.86),
            xycoords=axes.get_xaxis_transform(),
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4, "shrinkA": 0, "shrinkB": 0},
        )
        _write_upwards(axes, column, 0.84, rounding.plain(value, 3), va="top")
        return
    if error is not None and isfinite(error):
        ends = [value - error, value + error]
        axes.plot([column, column], ends, color=colour, lw=1.5, solid_capstyle="butt")
    tick = [column - 0.36, column + 0.36]
    axes.plot(tick, [value, value], color=colour, lw=2.2, solid_capstyle="butt")


def _write_upwards(axes: Axes, column: int, height: float, text: str, **more: Any) -> None:
    """Text along a column, at a height from 0 to 1."""
    place = axes.get_xaxis_transform()
    axes.text(column, height, text, rotation=90, ha="center", fontsize=6.8, transform=place, **more)


def _draw_digits(axes: Axes, panel: Panel, task: TaskFindings, *, with_names: bool) -> None:
    count = len(panel.methods)
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(True)
        side.set_color(RULE)
    known = {one.method for one in task.methods}
    for row, texts in enumerate(digits_of(task, panel.methods)):
        for column, text in enumerate(texts):
            if panel.methods[row] in known and panel.methods[column] in known:
                _draw_digit(axes, column, row, text)
        if with_names:
            look = look_of(row)
            axes.plot(
                [-0.85],
                [row],
                look.marker,
                color=look.colour,
                markersize=5.6,
                markeredgecolor=INK,
                markeredgewidth=0.5,
                clip_on=False,
            )
            axes.annotate(
                label(panel.methods[row]),
                (-0.85, row),
                (-6, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=8.5,
                annotation_clip=False,
            )


def _draw_digit(axes: Axes, column: int, row: int, text: str) -> None:
    is_strong = text != "" and text in "12345"
    axes.text(
        column,
        row,
        text,
        ha="center",
        va="center_baseline",
        fontsize=9,
        color=INK if is_strong else MUTED,
        weight="bold" if is_strong else "normal",
    )
