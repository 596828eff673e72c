"""How differences of two methods and reliability show themselves: tables, a notebook's view, a plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from redelve.findings.differences import Differences
from redelve.findings.probabilities import MethodReliability
from redelve.findings.slice_tests import NamedSlice
from redelve.report.drawing import look_of
from redelve.report.formatting import (
    MINUS,
    TASK,
    UNKNOWN,
    Cell,
    ReportColumn,
    ReportTable,
    Row,
    count_cell,
    error_cell,
    interval,
    name_cell,
    p_value,
    plain,
    slug,
)
from redelve.report.notebook import NotebookFold, NotebookView
from redelve.report.plots import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CASES = 10
"""So many deciding cases are shown; `cases()` has all."""


def agreement_table(several: Sequence[Differences]) -> ReportTable:
    """How far two methods err alike, a row for every task."""
    return ReportTable(
        "agreement",
        "Agreement of the leader and the next",
        (
            TASK,
            ReportColumn("A"),
            ReportColumn("B"),
            ReportColumn("Both right, both wrong", ("both_right", "both_wrong")),
            ReportColumn("A alone wrong, B alone", ("a_wrong", "b_wrong")),
            ReportColumn("Association", ("association", "low", "high")),
            ReportColumn("Differ on", ("differ",)),
            ReportColumn("Turned by", ("turning",)),
        ),
        tuple(_agreement_row(one) for one in several),
        "A is the leader, B the next. Association: Cohen's κ of right and wrong (95 % interval), or the "
        "correlation of ranks of other losses; 0 means that they err as if neither knew of the other. Turned "
        "by: the fewest cases without which the difference would vanish or turn round.",
    )


def _agreement_row(one: Differences) -> Row:
    errors, tie = one.errors, one.kappa or one.correlation
    alike = None if errors is None else (errors.both_right, errors.both_wrong)
    alone = None if errors is None else (errors.first_wrong, errors.second_wrong)
    bounds = None if tie.low is None or tie.high is None else (tie.low, tie.high)
    told = UNKNOWN if tie.value is None else f"{tie.value:.2f}".replace("-", MINUS)
    within = "" if bounds is None else f" ({bounds[0]:.2f} to {bounds[1]:.2f})".replace("-", MINUS)
    return (
        Cell(one.task.address),
        name_cell(one.first),
        name_cell(one.second),
        *(
            Cell(UNKNOWN, (None, None)) if two is None else Cell(f"{two[0]:,}, {two[1]:,}", two)
            for two in (alike, alone)
        ),
        Cell(f"{told}{within}", (tie.value, *(bounds or (None, None)))),
        count_cell(len(one.pairs.by_part)),
        count_cell(one.turning),
    )


def deciding_table(found: Differences, most: int = MOST_CASES) -> ReportTable:
    """The cases that add most to the difference."""
    pairs, loss = found.pairs, found.judged_by
    difference, error, _ = found.contest.shown
    unit = found.contest.full_unit
    rows: list[Row] = []
    for place in pairs.by_part[:most].tolist():
        part = loss.shown_difference(float(pairs.parts[place]))
        values = [loss.shown_value(float(one[place])) for one in (pairs.first, pairs.second)]
        rows.append(
            (
                Cell(str(pairs.names[place])),
                *(Cell(plain(value), (value,)) for value in values),
                Cell(plain(part), (part,)),
            )
        )
    return ReportTable(
        f"deciding-{slug(found.task.address)}",
        f"Cases that decide between {found.first} and {found.second} on {found.task.address}",
        (
            ReportColumn("Case"),
            ReportColumn(found.first, ("first",)),
            ReportColumn(found.second, ("second",)),
            ReportColumn(f"Part of the difference{', in' * bool(unit)}{unit}", ("part",)),
        ),
        tuple(rows),
        f"The {len(rows)} cases that add most to the difference of {loss.shown_name}, of "
        f"{len(pairs.by_part):,} on which the two differ. All parts add up to the whole difference, "
        f"{found.first} − {found.second} = {error_cell(difference, error).text}{unit}.",
    )


def slices_table(found: Differences) -> ReportTable:
    """Every slice."""
    return ReportTable(
        f"slices-{slug(found.task.address)}",
        f"{found.first} − {found.second} in slices of {found.task.address}",
        (
            ReportColumn("Column"),
            ReportColumn("Slice"),
            ReportColumn("Cases", ("cases",)),
            ReportColumn("Difference ± SE", ("difference", "difference_se")),
            ReportColumn("95 % interval", ("low", "high")),
            ReportColumn("p, adjusted", ("p",)),
            ReportColumn("Worse"),
        ),
        tuple(_slice_row(found, one) for one in found.slices),
        "The intervals hold all together in 95 % of data sets, and the p-values allow for every slice. "
        "Slices with fewer than 20 independent cases are described and not tested.",
    )


def _slice_row(found: Differences, one: NamedSlice) -> Row:
    loss, slice_ = found.judged_by, one.found
    error = None if slice_.standard_error is None else loss.shown_spread(slice_.standard_error)
    bounds = None
    if slice_.low is not None and slice_.high is not None:
        low, high = sorted(map(loss.shown_difference, (slice_.low, slice_.high)))
        bounds = (low, high)
    worse = {1: found.first, -1: found.second}.get(slice_.worse)
    return (
        Cell(one.column),
        Cell(one.value),
        count_cell(slice_.cases),
        error_cell(loss.shown_difference(slice_.difference), error),
        Cell(interval(bounds, error), bounds or (None, None)),
        Cell(p_value(slice_.p_value), (slice_.p_value,)),
        name_cell(worse) if worse else Cell("too few cases" if slice_.p_value is None else "not told apart"),
    )


def differences_text(found: Differences) -> str:
    """All in words, with the slices and the cases that decide as tables."""
    tables = [slices_table(found)] if found.slices else []
    return "\n\n".join([str(found), *map(_text_table, [*tables, deciding_table(found)])])


def _text_table(table: ReportTable) -> str:
    """Columns of texts, as wide as they must be."""
    rows = [[column.title for column in table.columns], *([cell.text for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([f"{table.title}:", *(f"  {line}" for line in lines)])


def differences_html(found: Differences) -> str:
    """For notebooks."""
    cases = NotebookFold("The cases that decide", tables=(deciding_table(found),))
    return NotebookView(
        f"{found.first} and {found.second} on {found.task.address}",
        found.sentences,
        tables=(slices_table(found),) if found.slices else (),
        folds=(cases,),
    ).html()


def plot_reliability(found: Sequence[MethodReliability], everybody: Sequence[str], ax: Axes | None) -> Axes:
    """Curves of all methods; the band of calibrated probabilities where there is one method alone."""
    axes = new_axes(ax, (4.8, 4.6))
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=1)
    for one in found:
        look, diagram = look_of(list(everybody).index(one.method)), one.diagram
        if len(found) == 1 and diagram.band is not None:
            axes.fill_between(*diagram.band, color="0.6", alpha=0.3, linewidth=0)
        axes.plot(
            diagram.probabilities,
            diagram.frequencies,
            color=look.colour,
            marker=look.marker,
            markersize=3,
            label=one.method,
        )
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_xlabel(f"probability of {found[0].outcome}")
    axes.set_ylabel("how often it happened")
    axes.set_title(found[0].task)
    axes.legend(loc="upper left")
    return axes
