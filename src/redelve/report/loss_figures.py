"""Figures of losses: Rasmussen's, with who is significantly better than whom, and learning curves.

Rasmussen (1996), as in Neal (1998): a panel per prototask, a box per training-set size; in a box a column per
method with a tick at the expected loss and a line of ± one standard error; below it a square of digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

from redelve.answers.losses import Loss
from redelve.findings import LearningCurve, MethodFinding, TaskFindings
from redelve.findings.curves import WORTH
from redelve.report import formatting
from redelve.report.drawing import (
    INK,
    MUTED,
    RULE,
    FigureLook,
    Picture,
    draw_marker,
    label,
    new_figure,
    plain_log_ticks,
    spread_out,
)
from redelve.report.formatting import METHOD, Cell, ReportColumn, ReportTable, error_cell, name_cell
from redelve.report.sections import MOST_COMPARED, Panel, allowed_for, methods_left_out

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
MOST_DIGITS = 25
"""With more methods a square of digits is drawn as one of full and small squares."""


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
    return [[_digit_of(task, column, row) for column in methods] for row in methods]


def _digit_of(task: TaskFindings, first: str, second: str) -> str:
    """The digit of a pair; nothing where there is no p-value, as of a method without results."""
    contest = task.by_pair.get(frozenset((first, second)))
    is_compared = contest is not None and contest.adjusted_p_value is not None
    return digit(better_p(task, first, second)) if is_compared else ""


def better_p(task: TaskFindings, first: str, second: str) -> float | None:
    """The adjusted p-value of a comparison if the first method lost less; else None."""
    contest = task.by_pair.get(frozenset((first, second)))
    if contest is None or contest.difference is None or not isfinite(contest.difference):
        return None
    sign = 1 if contest.first == first else -1
    return contest.adjusted_p_value if sign * contest.difference < 0 else None


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
    drawn = replace(panel, methods=panel.methods[:MOST_COMPARED])
    return Picture(
        f"rasmussen-{panel.key}",
        f"Losses and significance on {panel.prototask}",
        f"One box per training-set size with the {kind} {panel.largest.loss_words} of "
        f"{len(drawn.methods)} methods and their standard errors; below each box a square of p-value digits. "
        "The table below the figure has the same digits.",
        f"Ticks: {_axis_words(panel)}; lines: ± one standard error. Below, the digit in the column of A and "
        "the row of "
        "B is the p-value, in units of 0.01 rounded up, of A being better than B; a dot where it exceeds "
        "0.09. Down a "
        "column: whom a method beats; across a row: who beats it. Unlike in "
        f"Rasmussen's figures, p-values allow for {allowed_for(panel.largest)}; "
        f"{_digits_are(len(drawn.methods))}. "
        "An arrow with a number: a value beyond the scale."
        f"{methods_left_out(len(panel.methods), MOST_COMPARED, f'digits-{panel.key}')}",
        lambda: _draw_boxes(drawn),
        digits_table(panel),
    )


def digits_table(panel: Panel, most: int | None = MOST_COMPARED) -> ReportTable:
    """Rasmussen's digits as a table."""
    rows, methods = [], panel.methods[:most]
    for task in panel.tasks:
        for name, row in zip(methods, digits_of(task, methods), strict=True):
            cells = (Cell(text or " ") for text in row)
            rows.append((formatting.count_cell(task.task.known_size), Cell(name, method=name), *cells))
    return ReportTable(
        f"digits-{panel.key}",
        f"Rasmussen's digits on {panel.prototask}",
        (
            ReportColumn("Training cases", ("training_set_size",)),
            ReportColumn("B"),
            *(ReportColumn(f"A: {m}") for m in methods),
        ),
        tuple(rows),
        "In the column of A and the row of B: the p-value, in units of 0.01 rounded up, of A being better "
        f"than B.{methods_left_out(len(panel.methods), most, f'digits-{panel.key}')}",
        whole=None if len(methods) == len(panel.methods) else partial(digits_table, panel, None),
    )


def _numbers(panel: Panel, finding: MethodFinding) -> tuple[float | None, float | None]:
    if panel.is_standardised:
        return finding.standardised, finding.standardised_error
    return finding.shown


def _from_zero(panel: Panel) -> bool:
    """Whether 0 is worth showing: of losses it is, of metrics that grow with quality 1 is."""
    loss = panel.largest.judged_by
    return loss.best_value is None and not loss.is_shift


def _panel_scale(panel: Panel) -> Scale:
    drawn = frozenset(panel.methods)
    found = [_numbers(panel, one) for task in panel.tasks for one in task.methods if one.method in drawn]
    values = [value for value, _ in found if value is not None]
    errors = [error or 0.0 for value, error in found if value is not None]
    return scale_of(values, errors, from_zero=_from_zero(panel))


def _draw_boxes(panel: Panel) -> Figure:
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
        if task.task.known_size is not None:
            box.set_title(f"{task.task.known_size}", fontsize=9.5, pad=5)
        if number == 0:
            box.set_ylabel(_axis_words(panel))
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
        _draw_column(axes, column, (value, error), scale, panel.look(name).colour)
        draw_marker(axes, column, -0.085, panel.look(name), 5.6, transform=axes.get_xaxis_transform())


def _draw_column(
    axes: Axes, column: int, loss: tuple[float | None, float | None], scale: Scale, colour: str
) -> None:
    value, error = loss
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
        _write_upwards(axes, column, 0.84, formatting.plain(value, 3), va="top")
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
    shown = {
        (column, row): text
        for row, texts in enumerate(digits_of(task, panel.methods))
        for column, text in enumerate(texts)
        if panel.methods[row] in known and panel.methods[column] in known
    }
    if count > MOST_DIGITS:
        _draw_squares(axes, shown)
    else:
        for (column, row), text in shown.items():
            _draw_digit(axes, column, row, text)
    if with_names:
        for row, name in enumerate(panel.methods):
            _draw_name(axes, row, name, panel.look(name))


def _draw_name(axes: Axes, row: int, name: str, look: FigureLook) -> None:
    draw_marker(axes, -0.85, row, look, 5.6)
    axes.annotate(
        label(name),
        (-0.85, row),
        (-6, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=8.5,
        annotation_clip=False,
    )


def _digits_are(methods: int) -> str:
    """How digits are drawn with so many methods."""
    if methods > MOST_DIGITS:
        return "with so many methods a full square stands for a digit up to 5, a small one for 6 to 9"
    return "digits up to 5 are bold"


def _draw_squares(axes: Axes, shown: Mapping[tuple[int, int], str]) -> None:
    """Squares in place of digits, which would be thousands of texts that nobody can read."""
    for digits, colour, size in (("12345", INK, 36), ("6789", MUTED, 9)):
        places = [place for place, text in shown.items() if text and text in digits]
        if places:
            columns, rows = zip(*places, strict=True)
            axes.scatter(columns, rows, s=size, marker="s", color=colour, linewidths=0)


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


def curves_picture(panel: Panel) -> Picture | None:
    """Learning curves; None where there is only one size."""
    if len(panel.tasks) < 2 or not panel.curves:
        return None
    kind = "Standardised" if panel.is_standardised else "Expected"
    return Picture(
        f"curves-{panel.key}",
        f"Learning curves on {panel.prototask}",
        f"{kind} loss of {len(panel.curves)} methods against the number of training cases, with standard "
        "errors. "
        "The table below the figure has the same numbers.",
        f"{kind} loss ± one standard error against the number of training cases, on a scale of doublings.",
        lambda: _draw_curves(panel),
        curves_table(panel),
    )


def _points(panel: Panel, curve: LearningCurve) -> list[tuple[int, float, float]]:
    found = []
    for point in curve.points:
        value, error = (
            (point.standardised, point.standardised_error)
            if panel.is_standardised
            else _shown(panel.largest.judged_by, point.mean, point.standard_error)
        )
        if value is not None and isfinite(value):
            found.append((point.training_set_size, value, error or 0.0))
    return found


def _shown(loss: Loss, mean: float | None, error: float | None) -> tuple[float | None, float | None]:
    """A value and its standard error as users are shown them."""
    if mean is None or not loss.is_metric:
        return mean, error
    return loss.shown_value(mean), None if error is None else loss.shown_spread(error)


def _axis_words(panel: Panel) -> str:
    loss = panel.largest.judged_by
    if loss.is_metric:
        return f"{loss.shown_name}{loss.shown_unit}"
    return "standardised loss" if panel.is_standardised else "expected loss"


def _draw_curves(panel: Panel) -> Figure:
    figure = new_figure(5.2, 3.3)
    draw_curves(figure.add_axes((0.12, 0.15, 0.62, 0.81)), panel)
    return figure


def draw_curves(axes: Axes, panel: Panel) -> None:
    """Learning curves with names at their ends, which stand to the right of the axes."""
    found = {curve.method: _points(panel, curve) for curve in panel.curves}
    every = [point for points in found.values() for point in points]
    scale = scale_of([y for _, y, _ in every], [e for _, _, e in every], from_zero=_from_zero(panel))
    plain_log_ticks(axes, [task.task.training_set_size for task in panel.tasks])
    axes.set_ylim(scale.low, scale.high)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_xlabel("training cases")
    axes.set_ylabel(_axis_words(panel))
    for name in panel.methods:
        if found.get(name):
            _draw_curve(axes, found[name], panel.look(name))
    _label_ends(axes, panel, found, scale)


def _draw_curve(axes: Axes, points: Sequence[tuple[int, float, float]], look: FigureLook) -> None:
    x, y, error = zip(*points, strict=True)
    axes.errorbar(
        x,
        y,
        yerr=error,
        color=look.colour,
        marker=look.marker,
        linestyle=look.dash,
        linewidth=1.4,
        markersize=5.5,
        markeredgecolor=INK,
        markeredgewidth=0.5,
        elinewidth=1.1,
        capsize=2.5,
    )


def _label_ends(
    axes: Axes, panel: Panel, found: dict[str, list[tuple[int, float, float]]], scale: Scale
) -> None:
    """Names at the right, each joined to the end of its curve; those beyond the scale say by how much."""
    names = [name for name in panel.methods if found.get(name)]
    span = scale.high - scale.low
    ends = [found[name][-1][1] for name in names]
    wished = [min(max((end - scale.low) / span, 0.0), 1.0) for end in ends]
    for name, end, old, new in zip(names, ends, wished, spread_out(wished, 0.062, 0.0, 1.0), strict=True):
        look = panel.look(name)
        axes.plot([1.0, 1.035], [old, new], color=MUTED, lw=0.6, transform=axes.transAxes, clip_on=False)
        draw_marker(axes, 1.055, new, look, transform=axes.transAxes)
        beyond = f" ↑ {formatting.plain(end, 3)}" if end > scale.high else ""
        axes.text(
            1.08, new, f"{label(name)}{beyond}", va="center_baseline", fontsize=8.5, transform=axes.transAxes
        )


def curves_table(panel: Panel) -> ReportTable:
    """Losses by size, a row per method, and whether more data would help."""
    sizes = [task.task.training_set_size for task in panel.tasks]
    standardised = panel.is_standardised
    rows = []
    for curve in panel.curves:
        at = {point.training_set_size: point for point in curve.points}
        cells = []
        for size in sizes:
            point = at.get(size)
            if point is None:
                cells.append(Cell(formatting.UNKNOWN))
            elif standardised:
                cells.append(error_cell(point.standardised, point.standardised_error))
            else:
                cells.append(error_cell(*_shown(panel.largest.judged_by, point.mean, point.standard_error)))
        rows.append((name_cell(curve.method), *cells, Cell(curve.would_more_data_help or "cannot be told")))
    kind = "Standardised" if standardised else "Expected"
    return ReportTable(
        f"curves-{panel.key}",
        f"{kind} loss by training-set size on {panel.prototask}",
        (
            METHOD,
            *(ReportColumn(f"{size}", (f"at_{size}", f"at_{size}_se")) for size in sizes),
            ReportColumn("Would more data help?"),
        ),
        tuple(rows),
        "± standard error. Whether more data would help: what learning curves through the last three sizes "
        f"say of twice the data. Yes: over the whole interval it falls by {formatting.per_cent(WORTH)} or "
        "more; no: by less. Curves that turn or break off near the last of them deceive it, and where a few "
        "training sets have far larger losses than all others the interval misses more often.",
    )
