"""The figure of the study: δ, bias and coverage of every way, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from redelve.report.drawing import INK, MUTED, PALETTE, RULE, Picture, new_figure
from redelve.report.formatting import ReportTable
from redelve.studies.wcci.way_findings import Stratified, Study, WayFinding, WayFindings
from redelve.studies.wcci.way_tables import tables_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Take = Callable[[WayFinding], Stratified | None]
PANELS: tuple[tuple[str, Take, float | None], ...] = (
    ("mean δ", lambda one: one.delta, None),
    ("bias", lambda one: one.bias, 0.0),
    ("coverage of 95 % intervals", lambda one: one.coverage, 0.95),
)
"""Title, what is shown, and where a line stands."""


def pictures_of(study: Study) -> tuple[Picture, ...]:
    """A figure for single classifiers, one for the best of several."""
    tables = {table.name: table for table in tables_of(study)}
    found = []
    if study.single is not None:
        found.append(_picture("ways", "Guessing the performance of a classifier", study.single, tables))
    if study.selection is not None:
        found.append(_picture("selection", "Guessing that of the best of several", study.selection, tables))
    return tuple(found)


def _picture(name: str, title: str, findings: WayFindings, tables: dict[str, ReportTable]) -> Picture:
    order = sorted(findings.ways, key=lambda one: one.delta.mean)
    said = ", ".join(f"{one.way} {one.delta.mean:.3f}" for one in order)
    caption = (
        "Mean distance of the guess from the true BER (δ), mean error (bias) and share of 95 % intervals "
        "that hold the truth, with 95 % intervals by training sets; filled: may be the best."
    )
    return Picture(name, title, f"Mean δ from small to large: {said}.", caption,
                   partial(_draw, order, findings.best.members), tables[name])  # fmt: skip


def _draw(ways: Sequence[WayFinding], best: Sequence[str]) -> Figure:
    figure = new_figure(9.0, 0.8 + 0.24 * len(ways))
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (title, take, line) in zip(panels, PANELS, strict=True):
        _panel(axes, ways, best, take)
        axes.set_title(title, loc="left")
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        if line is not None:
            axes.axvline(line, color=MUTED, linewidth=0.9, linestyle=(0, (4, 2)))
    panels[0].set_yticks(range(len(ways)), [one.way for one in ways])
    panels[0].invert_yaxis()
    figure.subplots_adjust(wspace=0.12)
    return figure


def _panel(axes: Axes, ways: Sequence[WayFinding], best: Sequence[str], take: Take) -> None:
    for place, one in enumerate(ways):
        found = take(one)
        axes.axhline(place, color=RULE, linewidth=0.4)
        if found is None:
            continue
        low, high = found.interval
        axes.plot([low, min(high, 1.0)], [place, place], color=INK, linewidth=1.1)
        face = PALETTE[0] if one.way in best else "none"
        axes.plot([found.mean], [place], marker="o", markersize=5, color=PALETTE[0], markerfacecolor=face)
