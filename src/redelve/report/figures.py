"""The other figures: learning curves, where uncertainty comes from, loss against time, mean ranks."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from redelve.findings import AcrossTasks, Findings, LearningCurve, MethodCosts
from redelve.report.contents import SOURCES, costs_table, curves_table, variance_table
from redelve.report.drawing import (
    HATCHES,
    INK,
    MUTED,
    PALETTE,
    PAPER,
    FigureLook,
    Picture,
    label,
    look_of,
    new_figure,
    plain_log_ticks,
    spread_out,
)
from redelve.report.panels import Panel, panels, variance_shares
from redelve.report.rasmussen import Scale, rasmussen_picture, scale_of
from redelve.report.rounding import plain, seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOURCE_COLOURS = dict(zip(SOURCES, (*PALETTE[:4], PALETTE[2], PALETTE[6]), strict=True))
SOURCE_HATCHES = dict(zip(SOURCES, (*HATCHES[:4], HATCHES[2], HATCHES[4]), strict=True))


def pictures_of(findings: Findings) -> tuple[Picture, ...]:
    """Every figure of a report."""
    found: list[Picture] = []
    for panel in panels(findings):
        found += panel_pictures(findings, panel)
    if (ranks := ranks_picture(findings)) is not None:
        found.append(ranks)
    return tuple(found)


def panel_pictures(findings: Findings, panel: Panel) -> list[Picture]:
    """The figures of one prototask."""
    several = (
        rasmussen_picture(panel),
        curves_picture(panel),
        variance_picture(panel),
        front_picture(findings, panel),
    )
    return [picture for picture in several if picture is not None]


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
        f"{kind} expected loss ± one standard error against the number of training cases, on a scale of "
        "doublings.",
        lambda: _draw_curves(panel),
        curves_table(panel),
    )


def _points(panel: Panel, curve: LearningCurve) -> list[tuple[int, float, float]]:
    found = []
    for point in curve.points:
        value = point.standardised if panel.is_standardised else point.mean
        error = point.standardised_error if panel.is_standardised else point.standard_error
        if value is not None and isfinite(value):
            found.append((point.training_set_size, value, error or 0.0))
    return found


def _draw_curves(panel: Panel) -> Figure:
    figure = new_figure(6.4, 3.6)
    axes = figure.add_axes((0.1, 0.14, 0.66, 0.82))
    found = {curve.method: _points(panel, curve) for curve in panel.curves}
    every = [point for points in found.values() for point in points]
    scale = scale_of(
        [y for _, y, _ in every], [e for _, _, e in every], from_zero=not panel.largest.judged_by.is_shift
    )
    plain_log_ticks(axes, [task.task.training_set_size for task in panel.tasks])
    axes.set_ylim(scale.low, scale.high)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_xlabel("training cases")
    axes.set_ylabel("standardised loss" if panel.is_standardised else "expected loss")
    for number, name in enumerate(panel.methods):
        if found.get(name):
            _draw_curve(axes, found[name], look_of(number))
    _label_ends(axes, panel, found, scale)
    return figure


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
        look = look_of(panel.methods.index(name))
        axes.plot([1.0, 1.035], [old, new], color=MUTED, lw=0.6, transform=axes.transAxes, clip_on=False)
        axes.plot(
            [1.055],
            [new],
            look.marker,
            color=look.colour,
            markersize=5.5,
            markeredgecolor=INK,
            markeredgewidth=0.5,
            transform=axes.transAxes,
            clip_on=False,
        )
        beyond = f" ↑ {plain(end, 3)}" if end > scale.high else ""
        axes.text(
            1.08, new, f"{label(name)}{beyond}", va="center_baseline", fontsize=8.5, transform=axes.transAxes
        )


def variance_picture(panel: Panel) -> Picture | None:
    """Where the standard errors come from; None where that cannot be told."""
    if not any(variance_shares(one) for task in panel.tasks for one in task.methods):
        return None
    return Picture(
        f"variance-{panel.key}",
        f"Where the uncertainty comes from on {panel.prototask}",
        "For every method and training-set size the shares of the squared standard error that are due to "
        "training "
        "sets, seeds, test cases and the rest. The table below the figure has the same numbers.",
        "Shares of the squared standard error of each expected loss, by source; a column of bars per "
        "training-set size. "
        "The number beside a bar is the standard error.",
        lambda: _draw_variance(panel),
        variance_table(panel),
    )


def _draw_variance(panel: Panel) -> Figure:
    count, boxes = len(panel.methods), len(panel.tasks)
    left, right = 0.3 + 0.075 * max(len(label(m)) for m in panel.methods), 0.5
    width = max(0.75, min(1.7, (7.4 - left) / boxes - right))
    height, top = 0.2 * count, 0.62
    total = (left + boxes * (width + right), height + top)
    figure = new_figure(*total)
    for number, task in enumerate(panel.tasks):
        x = (left + number * (width + right)) / total[0]
        axes = figure.add_axes((x, 0, width / total[0], height / total[1]))
        _draw_bars(axes, panel, number, with_names=number == 0)
        axes.set_title(f"{task.task.training_set_size}", pad=4)
    _source_legend(figure, panel)
    return figure


def _draw_bars(axes: Axes, panel: Panel, number: int, *, with_names: bool) -> None:
    task = panel.tasks[number]
    known = {one.method: one for one in task.methods}
    axes.set_xlim(0, 1)
    axes.set_ylim(len(panel.methods) - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks(range(len(panel.methods)), [label(m) for m in panel.methods] if with_names else [])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    for row, name in enumerate(panel.methods):
        shares = variance_shares(known[name]) if name in known else {}
        start = 0.0
        for source, share in shares.items():
            axes.barh(
                row,
                share,
                0.66,
                left=start,
                color=SOURCE_COLOURS[source],
                hatch=SOURCE_HATCHES[source],
                edgecolor=PAPER,
                linewidth=0.5,
            )
            start += share
        error = known[name].standard_error if shares else None
        axes.text(1.04, row, plain(error, 2), va="center_baseline", fontsize=7, color=MUTED)


def _source_legend(figure: Figure, panel: Panel) -> None:
    from matplotlib.patches import Patch

    panel_is_wide = len(panel.tasks) > 2
    used = {s for task in panel.tasks for one in task.methods for s in variance_shares(one)}
    patches = [
        Patch(facecolor=SOURCE_COLOURS[s], hatch=SOURCE_HATCHES[s], edgecolor=PAPER, label=s)
        for s in SOURCES
        if s in used
    ]
    figure.legend(
        handles=patches,
        loc="upper left",
        ncols=len(patches) if panel_is_wide else 2,
        fontsize=8,
        borderaxespad=0,
        bbox_to_anchor=(0.0, 1.02),
        handlelength=1.6,
        columnspacing=1.4,
    )


def front_picture(findings: Findings, panel: Panel) -> Picture | None:
    """Loss against training time at the largest size; None where no times are known."""
    address = panel.largest.task.address
    costs = [cost for cost in findings.costs if cost.task == address and _can_be_drawn(cost)]
    if not costs:
        return None
    return Picture(
        f"front-{panel.key}",
        f"Loss and training time on {address}",
        f"Expected loss of {len(costs)} methods against their median training time, on a logarithmic scale; "
        "on the "
        f"front are {', '.join(cost.method for cost in costs if cost.on_front)}.",
        "Expected loss against the median time to learn, on a logarithmic scale. The line joins the methods "
        "that no "
        "other one beats in both; it tells nothing of how sure the differences are.",
        lambda: _draw_front(panel, costs),
        costs_table(findings, panel),
    )


def _can_be_drawn(cost: MethodCosts) -> bool:
    time, loss = cost.training_seconds, cost.mean_loss
    return time is not None and time > 0 and loss is not None and isfinite(loss)


def _draw_front(panel: Panel, costs: Sequence[MethodCosts]) -> Figure:
    from matplotlib.ticker import LogLocator, NullLocator

    figure = new_figure(6.4, 3.2)
    axes = figure.add_axes((0.1, 0.16, 0.66, 0.8))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: seconds(value))
    scale = scale_of(
        [cost.mean_loss or 0.0 for cost in costs],
        [0.0] * len(costs),
        from_zero=not panel.largest.judged_by.is_shift,
    )
    axes.set_ylim(scale.low, scale.high)
    times = [cost.training_seconds or 1.0 for cost in costs]
    axes.set_xlim(min(times) / 2.2, max(times) * 2.2)
    axes.set_xlabel("median training time")
    axes.set_ylabel("expected loss")
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    _draw_front_line(axes, costs)
    for cost in costs:
        _draw_cost(axes, cost, look_of(panel.methods.index(cost.method)), scale)
    _label_costs(axes, panel, costs, scale)
    return figure


def _draw_front_line(axes: Axes, costs: Sequence[MethodCosts]) -> None:
    front = sorted((c.training_seconds or 0.0, c.mean_loss or 0.0) for c in costs if c.on_front)
    if front:
        x, y = zip(*front, strict=True)
        axes.step(x, y, where="post", color=MUTED, lw=1, linestyle=(0, (4, 2)), zorder=1)


def _draw_cost(axes: Axes, cost: MethodCosts, look: FigureLook, scale: Scale) -> None:
    loss = cost.mean_loss or 0.0
    face = look.colour if cost.on_front else PAPER
    axes.plot(
        [cost.training_seconds or 1.0],
        [min(loss, scale.high)],
        look.marker,
        markersize=7.5,
        color=face,
        markeredgecolor=INK if cost.on_front else look.colour,
        markeredgewidth=0.6 if cost.on_front else 1.4,
        clip_on=False,
        zorder=3,
    )


def _label_costs(axes: Axes, panel: Panel, costs: Sequence[MethodCosts], scale: Scale) -> None:
    """A key at the right, in the order of the losses."""
    span = scale.high - scale.low
    wished = [min(max(((cost.mean_loss or 0.0) - scale.low) / span, 0.0), 1.0) for cost in costs]
    for cost, y in zip(costs, spread_out(wished, 0.07, 0.0, 1.0), strict=True):
        look = look_of(panel.methods.index(cost.method))
        face = look.colour if cost.on_front else PAPER
        axes.plot(
            [1.04],
            [y],
            look.marker,
            markersize=6,
            color=face,
            markeredgecolor=INK if cost.on_front else look.colour,
            markeredgewidth=0.6 if cost.on_front else 1.4,
            transform=axes.transAxes,
            clip_on=False,
        )
        loss = cost.mean_loss or 0.0
        beyond = f" ↑ {plain(loss, 3)}" if loss > scale.high else ""
        axes.text(
            1.07,
            y,
            f"{label(cost.method)}{beyond}",
            va="center_baseline",
            fontsize=8.5,
            weight="bold" if cost.on_front else "normal",
            transform=axes.transAxes,
        )


def ranks_picture(findings: Findings) -> Picture | None:
    """The critical-difference diagram; None without rank tests."""
    across = findings.across
    if across is None or across.nemenyi is None:
        return None
    tasks = len(across.ranked_tasks)
    return Picture(
        "ranks",
        "Mean ranks over tasks",
        f"Mean ranks of {len(across.methods)} methods over {tasks} tasks; bars join methods whose mean "
        "ranks differ by "
        f"less than the critical difference {across.nemenyi.critical_difference:.2f}.",
        f"Mean ranks over {tasks} tasks, 1 being the smallest loss. A bar joins methods whose mean ranks "
        "differ by less "
        "than the critical difference (CD) of Nemenyi's test at 5 % (Demšar 2006). Mean ranks change when "
        "other "
        "methods join or leave.",
        lambda: _draw_ranks(across),
    )


def _draw_ranks(across: AcrossTasks) -> Figure:
    nemenyi = across.nemenyi
    assert nemenyi is not None
    count = len(across.methods)
    order = sorted(range(count), key=lambda k: nemenyi.mean_ranks[k])
    bars = [group for group in nemenyi.groups if len(group) > 1]
    rows = (count + 1) // 2
    height = 0.75 + 0.16 * len(bars) + 0.24 * rows
    figure = new_figure(6.4, height)
    axes = figure.add_axes((0.24, 0, 0.52, 1))
    axes.set_xlim(1, count)
    axes.set_ylim(-(0.2 + 0.16 * len(bars) + 0.24 * rows), 0.55)
    axes.axis("off")
    axes.plot([1, count], [0, 0], color=INK, lw=1, clip_on=False)
    for rank in range(1, count + 1):
        axes.plot([rank, rank], [0, 0.06], color=INK, lw=1, clip_on=False)
        axes.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize=8)
    _draw_difference(axes, nemenyi.critical_difference, count)
    for level, group in enumerate(bars):
        ends = [nemenyi.mean_ranks[k] for k in group]
        y = -0.1 - 0.16 * level
        axes.plot(
            [min(ends) - 0.02, max(ends) + 0.02],
            [y, y],
            color=INK,
            lw=3.2,
            solid_capstyle="butt",
            clip_on=False,
        )
    for place, k in enumerate(order):
        _draw_rank(axes, (place, rows, len(bars)), nemenyi.mean_ranks[k], k, across.methods[k].method)
    return figure


def _draw_difference(axes: Axes, width: float, count: int) -> None:
    """The critical difference as a length; said in words where it is longer than the axis."""
    if width <= count - 1:
        axes.plot([1, 1 + width], [0.38, 0.38], color=INK, lw=1.2, marker="|", markersize=5, clip_on=False)
    axes.text(1, 0.43, f"CD = {width:.2f}", ha="left", va="bottom", fontsize=8)


def _draw_rank(axes: Axes, place: tuple[int, int, int], rank: float, number: int, name: str) -> None:
    position, rows, bars = place
    is_left = position < rows
    step = position if is_left else 2 * rows - 1 - position
    y = -0.2 - 0.16 * bars - 0.24 * step
    low, high = axes.get_xlim()
    end = low - 0.06 * (high - low) if is_left else high + 0.06 * (high - low)
    axes.plot([rank, rank, end], [0, y, y], color=MUTED, lw=0.7, clip_on=False)
    look = look_of(number)
    axes.plot(
        [end],
        [y],
        look.marker,
        color=look.colour,
        markersize=5.5,
        markeredgecolor=INK,
        markeredgewidth=0.5,
        clip_on=False,
    )
    text = f"{label(name)} {rank:.2f}" if is_left else f"{rank:.2f} {label(name)}"
    axes.annotate(
        text,
        (end, y),
        (-6 if is_left else 6, 0),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="center",
        fontsize=8.5,
        annotation_clip=False,
    )
