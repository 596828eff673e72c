"""Guesses of performance for notebooks: as HTML, and on matplotlib's axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redelve.errors import SpecError
from redelve.report.formatting import UNKNOWN, Cell, Mark, ReportColumn, ReportTable, plain
from redelve.report.notebook import NotebookFold, NotebookView

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from redelve.performance.guesses import PerformanceGuess, Prediction


def prediction_html(found: Prediction) -> str:
    """The guess to tell, every way in a table, and the notes."""
    best = found.best
    around = f", {100 * found.level:g} % interval {_ends(best)}" if best.interval else ""
    new = "cases" if found.groups is None else "groups"
    lead = f"{found.model}: {found.measure} {plain(best.value, 3)} on new {new}{around}."
    several = [NotebookFold("Notes", found.notes)] if found.notes else []
    if found.chosen is not None:
        several.insert(0, NotebookFold("Every model, cross-validated", tables=(_models(found),)))
    title = f"Guessed from {found.cases} cases, by {best.way}"
    return NotebookView(title, (lead,), tables=(_guesses(found),), folds=tuple(several)).html()


def _guesses(found: Prediction) -> ReportTable:
    columns = (
        ReportColumn("Way"),
        ReportColumn("Guess", ("value",)),
        ReportColumn(f"{100 * found.level:g} % interval", ("low", "high")),
        ReportColumn("Fits", ("fits",)),
        ReportColumn("Interval by"),
    )
    rows = tuple(_row(one, one is found.best) for one in found.guesses)
    return ReportTable("guesses", f"{found.measure.capitalize()} on new cases", columns, rows)


def _row(one: PerformanceGuess, is_told: bool) -> tuple[Cell, ...]:
    mark: Mark = "best" if is_told else ""
    return (
        Cell(one.way, mark=mark),
        Cell(plain(one.value, 3), (one.value,)),
        Cell(_ends(one), (one.low, one.high)),
        Cell(str(one.fits), (one.fits,)),
        Cell(one.source),
    )


def _ends(one: PerformanceGuess) -> str:
    return UNKNOWN if one.interval is None else f"{plain(one.low, 3)} to {plain(one.high, 3)}"


def _models(found: Prediction) -> ReportTable:
    rows = tuple(
        (Cell(name, mark="best" if name == found.chosen else ""), Cell(plain(value, 3), (value,)))
        for name, value in sorted(found.models, key=lambda pair: pair[1])
    )
    columns = (ReportColumn("Model"), ReportColumn(found.measure.capitalize(), ("value",)))
    return ReportTable("models", "Each by itself", columns, rows)


def draw_guesses(found: Prediction, ax: Axes | None) -> Axes:
    """A row for every way that came to a guess."""
    from redelve.report.plots import new_axes

    shown = [one for one in found.guesses if one.value is not None]
    if not shown:
        raise SpecError(f"no way applies to {found.model}: there is nothing to plot")
    axes = new_axes(ax, (5.6, 0.9 + 0.3 * len(shown)))
    for row, one in enumerate(shown):
        if one.interval is not None:
            axes.plot(list(one.interval), [row, row], color="C0", lw=1.6)
        face = "C0" if one is found.best else "none"
        axes.plot([one.value or 0.0], [row], "o", color="C0", markerfacecolor=face)
    axes.set_yticks(range(len(shown)), [one.way for one in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlabel(f"{found.measure}, {100 * found.level:g} % intervals")
    axes.set_title(found.model)
    return axes
