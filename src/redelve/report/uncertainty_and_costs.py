"""Where the uncertainty of a loss comes from, and what a method costs: figures and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from redelve.findings import Findings, MethodCosts, MethodFinding, TaskFindings
from redelve.report import formatting
from redelve.report.drawing import (
    HATCHES,
    INK,
    MUTED,
    PALETTE,
    PAPER,
    FigureLook,
    Picture,
    label,
    new_figure,
    spread_out,
)
from redelve.report.loss_figures import Scale, scale_of
from redelve.report.sections import Panel
from redelve.stats.estimates import Analysis
from redelve.stats.seed_runs import RunsAnalysis, RunsTerms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOURCES = (
    "training sets",
    "seeds",
    "test cases",
    "training set × test case",
    "test cases and residual",
    "residual",
)
SOURCE_COLOURS = dict(zip(SOURCES, (*PALETTE[:4], PALETTE[2], PALETTE[6]), strict=True))
SOURCE_HATCHES = dict(zip(SOURCES, (*HATCHES[:4], HATCHES[2], HATCHES[4]), strict=True))


def variance_shares(finding: MethodFinding) -> dict[str, float]:
    """Which part of the squared standard error each source has; empty where that cannot be told.

    Manual eqs. 3 and 12, with runs as in docs/statistics.md; negative variances count as zero.
    """
    found = finding.estimate
    if isinstance(found, RunsAnalysis):
        parts = _runs_parts(found)
    elif isinstance(found, Analysis):
        parts = _parts(found, "seeds" if finding.is_one_partition else "training sets")
    else:
        parts = {}
    total = sum(parts.values())
    if not isfinite(total) or total <= 0:
        return {}
    return {source: part / total for source, part in parts.items()}


def _square(deviation: float | None) -> float:
    return 0.0 if deviation is None else deviation**2


def _parts(found: Analysis, groups: str) -> dict[str, float]:
    if found.standard_error is None:
        return {}
    sets, cases = found.training_sets, found.effective_test_cases
    parts = {groups: _square(found.sd_training) / sets}
    if found.sd_test_cases is not None:
        parts["test cases"] = _square(found.sd_test_cases) / cases
        return {**parts, "residual": _square(found.sd_residual) / (sets * cases)}
    return {**parts, "test cases and residual": _square(found.sd_residual) / (sets * cases)}


def _runs_parts(found: RunsAnalysis) -> dict[str, float]:
    variances = found.variances
    if variances is None:
        return {}
    sets, cases, runs = found.averaged.training_sets, found.averaged.effective_test_cases, found.runs
    parts = {
        "training sets": max(variances.training_sets, 0.0) / sets,
        "seeds": max(variances.seeds, 0.0) / (sets * runs),
    }
    return {
        **parts,
        **_case_parts(variances, sets, cases),
        "residual": max(variances.residual, 0.0) / (sets * runs * cases),
    }


def _case_parts(variances: RunsTerms, sets: int, cases: float) -> dict[str, float]:
    if variances.interaction is None:
        return {"test cases": max(variances.test_cases, 0.0) / (sets * cases)}
    return {
        "test cases": max(variances.test_cases, 0.0) / cases,
        "training set × test case": max(variances.interaction, 0.0) / (sets * cases),
    }


def variance_table(panel: Panel) -> formatting.ReportTable:
    """Standard deviations by source, and each source's share of the squared standard error."""
    found = [(task, one, variance_shares(one)) for task in reversed(panel.tasks) for one in task.by_loss]
    sources = [source for source in SOURCES if any(source in shares for _, _, shares in found)]
    rows = [_variance_row(task, one, shares, sources) for task, one, shares in found if shares]
    columns = [
        formatting.ReportColumn(f"SD: {source}", (_part("sd", source), _part("share", source)))
        for source in sources
    ]
    return formatting.ReportTable(
        f"variance-{panel.key}",
        f"Where the uncertainty comes from on {panel.prototask}",
        (
            formatting.CASES,
            formatting.METHOD,
            *columns,
            formatting.ReportColumn("SE", ("se",)),
            formatting.ReportColumn("Mostly due to"),
        ),
        tuple(rows),
        "Standard deviation of the loss by source; in brackets the source's share of the squared standard "
        "error (SE). "
        "A variance estimated below zero is given as zero.",
    )


def _part(kind: str, source: str) -> str:
    return f"{kind}_{formatting.slug(source).replace('-', '_')}"


def _variance_row(
    task: TaskFindings, finding: MethodFinding, shares: dict[str, float], sources: Sequence[str]
) -> formatting.Row:
    deviations = dict(finding.deviations)
    if "test cases and residual" in shares:
        deviations["test cases and residual"] = deviations.pop("residual")
    cells = []
    for source in sources:
        share, deviation = shares.get(source), deviations.get(source)
        text = (
            formatting.UNKNOWN
            if share is None
            else f"{formatting.plain(deviation, 2)} ({formatting.per_cent(share)})"
        )
        cells.append(formatting.Cell(text, (deviation, share)))
    main = max(shares, key=shares.__getitem__)
    return (
        formatting.count_cell(task.task.known_size),
        formatting.name_cell(finding.method),
        *cells,
        formatting.Cell(formatting.plain(finding.standard_error, 2), (finding.standard_error,)),
        formatting.Cell(f"{main} ({formatting.per_cent(shares[main])})"),
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
        if task.task.known_size is not None:
            axes.set_title(f"{task.task.known_size}", pad=4)
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
        axes.text(1.04, row, formatting.plain(error, 2), va="center_baseline", fontsize=7, color=MUTED)


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


def costs_table(findings: Findings, panel: Panel) -> formatting.ReportTable:
    """Times and memory."""
    addresses = {task.task.address: task for task in panel.tasks}

    def place(one: MethodCosts) -> tuple[int, float]:
        size = addresses[one.task].task.training_set_size
        return -size, inf if one.mean_loss is None else one.mean_loss

    rows = [
        (
            formatting.count_cell(addresses[cost.task].task.known_size),
            formatting.name_cell(cost.method),
            formatting.Cell(formatting.seconds(cost.training_seconds), (cost.training_seconds,)),
            formatting.Cell(formatting.seconds(cost.prediction_seconds), (cost.prediction_seconds,)),
            formatting.Cell(formatting.seconds(cost.cpu_seconds), (cost.cpu_seconds,)),
            formatting.Cell(formatting.size(cost.peak_memory), (cost.peak_memory,)),
            formatting.Cell(formatting.plain(cost.mean_loss, 3), (cost.mean_loss,)),
            formatting.Cell("yes" if cost.on_front else "no", mark="best" if cost.on_front else ""),
            formatting.count_cell(cost.jobs),
        )
        for cost in sorted((one for one in findings.costs if one.task in addresses), key=place)
    ]
    return formatting.ReportTable(
        f"costs-{panel.key}",
        f"Costs on {panel.prototask}",
        (
            formatting.CASES,
            formatting.METHOD,
            formatting.ReportColumn("Training", ("training_seconds",)),
            formatting.ReportColumn("Prediction", ("prediction_seconds",)),
            formatting.ReportColumn("CPU", ("cpu_seconds",)),
            formatting.ReportColumn("Peak memory", ("peak_memory_bytes",)),
            formatting.ReportColumn("Expected loss", ("loss",)),
            formatting.ReportColumn("On the front"),
            formatting.ReportColumn("Jobs", ("jobs",)),
        ),
        tuple(rows),
        "Medians over jobs. On the front: no other method has both a smaller mean loss and a smaller "
        "training time. "
        "Memory includes what Python itself takes.",
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

    figure = new_figure(5.2, 3.0)
    axes = figure.add_axes((0.12, 0.17, 0.62, 0.79))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: formatting.seconds(value))
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
        look = panel.look(cost.method)
        place = cost.training_seconds or 1.0, min(cost.mean_loss or 0.0, scale.high)
        _draw_cost(axes, place, cost, look, markersize=7.5, zorder=3)
    _label_costs(axes, panel, costs, scale)
    return figure


def _draw_front_line(axes: Axes, costs: Sequence[MethodCosts]) -> None:
    front = sorted((c.training_seconds or 0.0, c.mean_loss or 0.0) for c in costs if c.on_front)
    if front:
        x, y = zip(*front, strict=True)
        axes.step(x, y, where="post", color=MUTED, lw=1, linestyle=(0, (4, 2)), zorder=1)


def _draw_cost(
    axes: Axes, place: tuple[float, float], cost: MethodCosts, look: FigureLook, **more: Any
) -> None:
    """A marker, filled for methods on the front."""
    face, edge, width = (look.colour, INK, 0.6) if cost.on_front else (PAPER, look.colour, 1.4)
    style = {"color": face, "markeredgecolor": edge, "markeredgewidth": width, **more}
    axes.plot([place[0]], [place[1]], look.marker, clip_on=False, **style)


def _label_costs(axes: Axes, panel: Panel, costs: Sequence[MethodCosts], scale: Scale) -> None:
    """A key at the right, in the order of the losses."""
    span = scale.high - scale.low
    wished = [min(max(((cost.mean_loss or 0.0) - scale.low) / span, 0.0), 1.0) for cost in costs]
    for cost, y in zip(costs, spread_out(wished, 0.07, 0.0, 1.0), strict=True):
        look = panel.look(cost.method)
        _draw_cost(axes, (1.04, y), cost, look, markersize=6, transform=axes.transAxes)
        loss = cost.mean_loss or 0.0
        beyond = f" ↑ {formatting.plain(loss, 3)}" if loss > scale.high else ""
        axes.text(
            1.07,
            y,
            f"{label(cost.method)}{beyond}",
            va="center_baseline",
            fontsize=8.5,
            weight="bold" if cost.on_front else "normal",
            transform=axes.transAxes,
        )
