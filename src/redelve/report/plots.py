"""Pictures on matplotlib's axes, for notebooks and papers of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redelve.errors import SpecError, StatisticsError
from redelve.findings import Contest, Findings, TaskFindings
from redelve.report.drawing import INK, MUTED, RULE, label
from redelve.report.first_screen import draw_losses
from redelve.report.loss_figures import draw_curves
from redelve.report.sections import Panel, panels
from redelve.report.sections.across_tasks import draw_ranks_on, ranks_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_losses(findings: Findings, task: str | None, ax: Axes | None) -> Axes:
    """Every method's expected loss on a task, or on the largest one."""
    panel, found = chosen_task(findings, task)
    axes = new_axes(ax, (5.6, 0.9 + 0.3 * len(found.methods)))
    draw_losses(axes, found, {name: panel.look(name) for name in panel.methods})
    axes.set_title(found.task.address)
    return axes


def plot_differences(findings: Findings, task: str | None, ax: Axes | None) -> Axes:
    """How much worse each method is than the leader, with the intervals that hold all together."""
    _, found = chosen_task(findings, task)
    pairs = found.contests if found.is_planned else found.pairs.of_method(found.leader)
    rows = [row for one in pairs if (row := _difference(one, found)) is not None]
    if not rows:
        raise StatisticsError(f"nothing was compared on {found.task.address}: there is no difference to plot")
    axes = new_axes(ax, (5.6, 0.9 + 0.3 * len(rows)))
    judge = found.judged_by
    rows.sort(key=lambda row: -row[1] if judge.higher_is_better else row[1])
    for place, (_, difference, (low, high), is_claimed) in enumerate(rows):
        colour = INK if is_claimed else MUTED
        axes.plot([low, high], [place, place], color=colour, lw=1.6)
        axes.plot([difference], [place], "o", color=colour, markerfacecolor=colour if is_claimed else "none")
    axes.axvline(0.0, color=MUTED, lw=0.8)
    _name_rows(axes, [name for name, *_ in rows])
    points = ", in percentage points" if judge.difference_unit else ""
    axes.set_xlabel(f"difference of {judge.shown_name}{points}; 95 % intervals of all together")
    axes.set_title(found.task.address)
    return axes


def _difference(one: Contest, found: TaskFindings) -> tuple[str, float, tuple[float, float], bool] | None:
    """A row: the other minus the leader, or as it was planned."""
    difference, _, bounds = one.shown
    if difference is None or bounds is None:
        return None
    low, high = bounds
    claimed = one.winner is not None
    if one.first == found.leader:
        return f"{label(one.second)} − {label(one.first)}", -difference, (-high, -low), claimed
    return f"{label(one.first)} − {label(one.second)}", difference, (low, high), claimed


def _name_rows(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x", color=RULE)
    axes.set_axisbelow(True)


def plot_curves(findings: Findings, task: str | None, ax: Axes | None) -> Axes:
    """Learning curves of every method on a data set."""
    panel, _ = chosen_task(findings, task)
    if len(panel.tasks) < 2:
        size = panel.largest.task.training_set_size
        raise StatisticsError(
            f"{panel.prototask} has one training-set size ({size}): a learning curve takes two or more"
        )
    axes = new_axes(ax, (6.4, 3.6))
    draw_curves(axes, panel)
    axes.set_title(panel.prototask)
    return axes


def plot_ranks(findings: Findings, ax: Axes | None) -> Axes:
    """The critical-difference diagram over data sets."""
    across = findings.across
    if across is None or across.nemenyi is None:
        raise StatisticsError(
            f"there are no ranks over {len(panels(findings))} data sets: they take three, with every method "
            "on each, and comparisons of all pairs"
        )
    axes = new_axes(ax, (7.2, ranks_height(across) + 0.3))
    draw_ranks_on(axes, across, tuple(findings.results.methods))
    return axes


def chosen_task(findings: Findings, task: str | None) -> tuple[Panel, TaskFindings]:
    """The task of an address, or the largest of a data set's, with all that belongs to the data set."""
    found = panels(findings)
    if task is None:
        if len(found) > 1:
            names = ", ".join(panel.prototask for panel in found[:3])
            raise SpecError(
                f"there are {len(found)} data sets: name one with task=… (on the command line --task), "
                f"such as {names}"
            )
        return found[0], found[0].largest
    address = f"/{task.strip('/')}"
    for panel in found:
        for one in panel.tasks:
            if one.task.address == address:
                return panel, one
        if address in (panel.prototask, panel.prototask.rpartition("/")[0]):
            return panel, panel.largest
    known = ", ".join(panel.prototask for panel in found)
    raise SpecError(f'there are no results on "{task}": there are {known}')


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or new ones of so many inches that a notebook shows."""
    if ax is not None:
        return ax
    from matplotlib.pyplot import subplots

    axes: Axes = subplots(figsize=size, layout="constrained")[1]
    return axes
