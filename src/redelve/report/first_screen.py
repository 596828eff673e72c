"""What a report begins with: one picture and one table, of one data set or of all together."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from redelve.findings import Findings, MethodFinding, TaskFindings
from redelve.report import formatting
from redelve.report.drawing import INK, PAPER, RULE, FigureLook, Picture, label, new_figure
from redelve.report.formatting import METHOD, Cell, Mark, ReportColumn, ReportTable, Row, name_cell
from redelve.report.plain_words import LossUnit, unit_of
from redelve.report.sections import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, ROW = 4.6, 0.27
"""Inches, of a picture that a telephone shows at three quarters of its size."""


def losses_picture(panel: Panel) -> Picture | None:
    """Every method's expected loss at the largest size; None where nobody has a finite one."""
    task = panel.largest
    if not any(_is_drawn(one) for one in task.methods):
        return None
    unit = unit_of(task.judged_by)
    best = ", ".join(task.best_group) or "nobody"
    return Picture(
        f"answer-{panel.key}",
        f"Losses on {panel.prototask}",
        f"{unit.title} of {len(task.methods)} methods, the smallest on top; may be the best: {best}. The "
        "table below the figure has the same numbers.",
        f"{unit.title} with {task.task.training_set_size} training cases, the best on top; a line is ± one "
        "standard error. Filled: may be the best; hollow: shown to be worse, or not compared.",
        lambda: _draw(panel),
    )


def _is_drawn(one: MethodFinding) -> bool:
    return one.mean is not None and isfinite(one.mean)


def _draw(panel: Panel) -> Figure:
    count = len(panel.largest.methods)
    longest = max(len(label(one.method)) for one in panel.largest.methods)
    left, height = 0.35 + 0.075 * longest, ROW * count + 0.6
    figure = new_figure(WIDTH, height)
    axes = figure.add_axes((left / WIDTH, 0.5 / height, 1 - (left + 0.15) / WIDTH, ROW * count / height))
    draw_losses(axes, panel.largest, {name: panel.look(name) for name in panel.methods})
    return figure


def draw_losses(axes: Axes, task: TaskFindings, looks: dict[str, FigureLook]) -> None:
    """Every method a row, the smallest loss on top."""
    unit = unit_of(task.judged_by)
    shown = [one for one in task.by_loss if _is_drawn(one)]
    for row, one in enumerate(shown):
        value, error = unit.shown(one.mean, one.standard_error)
        if value is not None:
            _draw_loss(axes, row, (value, error or 0.0), looks[one.method], one.method in task.best_group)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_yticks(range(len(shown)), [label(one.method) for one in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(unit.title)
    axes.grid(axis="x", color=RULE)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _draw_loss(axes: Axes, row: int, loss: tuple[float, float], look: FigureLook, may_be_best: bool) -> None:
    value, error = loss
    axes.plot([value - error, value + error], [row, row], color=look.colour, lw=2, solid_capstyle="butt")
    face, edge = (look.colour, INK) if may_be_best else (PAPER, look.colour)
    axes.plot([value], [row], look.marker, color=face, markersize=7, markeredgecolor=edge, markeredgewidth=1)


def answer_table(findings: Findings, panel: Panel) -> ReportTable:
    """The methods by their loss at the largest size: what they lose, who may be the best, what they cost."""
    task = panel.largest
    unit = unit_of(task.judged_by)
    costs = {one.method: one.training_seconds for one in findings.costs if one.task == task.task.address}
    is_relative = _has_shares(task)
    columns = [METHOD, ReportColumn(f"{unit.title} ± SE", ("shown", "shown_se"))]
    columns += [ReportColumn("Of a constant answer", ("standardised",))] if is_relative else []
    columns += [ReportColumn("May be the best?"), ReportColumn("Time to learn", ("training_seconds",))]
    return ReportTable(
        f"answer-{panel.key}",
        f"The methods with {task.task.training_set_size} training cases",
        tuple(columns),
        tuple(_answer_row(task, one, unit, costs.get(one.method)) for one in task.by_loss),
        _answer_caption(is_relative),
    )


def _answer_caption(is_relative: bool) -> str:
    constant = "Of a constant answer: the loss as a share of what always giving the same answer loses. "
    return (
        "± one standard error, for new training sets and new test cases. "
        f"{constant if is_relative else ''}★: not shown to be worse than another method; with 95 % "
        "confidence the truly best is so marked."
    )


def _answer_row(task: TaskFindings, one: MethodFinding, unit: LossUnit, seconds: float | None) -> Row:
    value, error = unit.shown(one.mean, one.standard_error)
    is_best = one.method in task.best_group
    word = "yes" if is_best else "no" if one.method in task.worse else formatting.UNKNOWN
    share = (_share(one.standardised),) if _has_shares(task) else ()
    return (
        name_cell(one.method),
        formatting.error_cell(value, error),
        *share,
        Cell(word, mark="best" if is_best else ""),
        Cell(formatting.seconds(seconds), (seconds,)),
    )


def _has_shares(task: TaskFindings) -> bool:
    """Whether losses can be told as shares of what a constant answer loses."""
    return not task.judged_by.is_shift and any(one.standardised is not None for one in task.methods)


def _share(standardised: float | None) -> Cell:
    text = formatting.per_cent(standardised) if standardised is not None and isfinite(standardised) else ""
    return Cell(text or formatting.UNKNOWN, (standardised,))


# --- many data sets ----------------------------------------------------------------------------------------


def ordered_methods(findings: Findings, found: Sequence[Panel]) -> tuple[str, ...]:
    """All methods by their average loss, or by their mean place where there is no average."""
    everybody = tuple(findings.results.methods)
    if findings.across is not None:
        first = [one.method for one in findings.across.by_loss]
        return (*first, *(name for name in everybody if name not in first))
    places = {name: [panel.methods.index(name) for panel in found] for name in everybody}
    return tuple(sorted(everybody, key=lambda name: sum(places[name])))


def datasets_table(findings: Findings, found: Sequence[Panel]) -> ReportTable:
    """A row for every data set, a column for every method: losses, and a star where it may be the best."""
    names = ordered_methods(findings, found)
    rows = [_dataset_row(panel, names) for panel in found]
    if findings.across is not None:
        ranked = {one.method: one for one in findings.across.methods}
        cells = [_average(ranked[name].average) if name in ranked else _average(None) for name in names]
        rows.insert(0, (Cell("Average"), Cell(formatting.UNKNOWN), *cells))
    return ReportTable(
        "datasets",
        "Every method on every data set",
        (
            ReportColumn("Data set"),
            ReportColumn("Training cases", ("training_set_size",)),
            *(ReportColumn(name, (name,)) for name in names),
        ),
        tuple(rows),
        f"{_what_is_shown(found)}. ★: may be the best there, not shown to be worse than another. Methods by "
        "their average, in which every data set counts once.",
    )


def _what_is_shown(found: Sequence[Panel]) -> str:
    if not found or not all(panel.is_standardised for panel in found):
        return "At the largest training-set size; losses standardised where that is possible"
    unit = "0" if found[0].largest.judged_by.is_shift else "1"
    return (
        f"Standardised loss at the largest training-set size, where {unit} is what the best constant answer "
        "loses"
    )


def _average(value: float | None) -> Cell:
    return Cell(formatting.plain(value, 3), (value,))


def _dataset_row(panel: Panel, names: Sequence[str]) -> Row:
    task = panel.largest
    return (
        Cell(panel.prototask, link=f"#{panel.key}"),
        formatting.count_cell(task.task.training_set_size),
        *(_dataset_cell(task, name, panel.is_standardised) for name in names),
    )


def _dataset_cell(task: TaskFindings, name: str, is_standardised: bool) -> Cell:
    finding = next((one for one in task.methods if one.method == name), None)
    if finding is None:
        return Cell(formatting.UNKNOWN, (None,))
    mark: Mark = "best" if name in task.best_group else ""
    value, error = unit_of(task.judged_by).shown(finding.mean, finding.standard_error)
    if is_standardised:
        value, error = finding.standardised, finding.standardised_error
    return Cell(formatting.by_error(value, error), (value,), mark)
