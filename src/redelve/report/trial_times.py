"""Times of trials in words and figures: training and efficiency graphs (Hamey 1992, figures 1 to 4)."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from redelve.data.files import write_atomic
from redelve.data.trial_tables import TimedTrial, read_trials
from redelve.errors import SpecError, StatisticsError
from redelve.report import formatting
from redelve.report.drawing import INK, FigureLook, Picture, label, look_of, new_figure, save, save_all
from redelve.report.formatting import Cell, ReportColumn, ReportTable, tidy
from redelve.stats.mean_squares import FloatArray
from redelve.stats.multiple import compare_all
from redelve.stats.training_time import (
    Efficiency,
    EfficiencyComparison,
    Tail,
    TimesSummary,
    TrialTimes,
    compare_efficiency,
    efficiency_curve,
    estimate_efficiency,
    fit_tail,
    summarise_times,
    trial_times,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 100
POINTS = 1500
"""Points of a curve that are drawn."""

WIDE = 20
"""Where limits are so many times the median success, times are drawn on a logarithmic scale."""


@dataclass(frozen=True)
class Measured:
    """The trials of one algorithm with all that is told of them."""

    name: str
    trials: TrialTimes
    summary: TimesSummary
    efficiency: Efficiency
    tail: Tail


def measure(name: str, trials: TrialTimes) -> Measured:
    """All measures of an algorithm's trials."""
    return Measured(name, trials, summarise_times(trials), estimate_efficiency(trials), fit_tail(trials))


def measure_table(
    path: Path, *, limit: float | None = None, column: str | None = None, group: str | None = None
) -> list[Measured]:
    """All measures of every algorithm in a table of times; `column` has the times, `group` the algorithms."""
    measured = []
    for name, trials in read_trials(path, column, group).items():
        times = [trial.time for trial in trials]
        succeeded = [_succeeded(trial, limit) for trial in trials]
        try:
            measured.append(measure(name, trial_times(times, succeeded, limit=limit)))
        except StatisticsError as error:
            raise StatisticsError(f'{path}, "{name}": {error}') from None
    return measured


def _succeeded(trial: TimedTrial, limit: float | None) -> bool:
    """Whether the trial succeeded within the limit; as in Hamey (1992), a bare time at the limit did not."""
    if limit is None:
        return trial.succeeded is not False
    return trial.time < limit if trial.succeeded is None else trial.succeeded and trial.time <= limit


# --- words -------------------------------------------------------------------------------------------------


def describe(measured: Sequence[Measured]) -> str:
    """All measures of all algorithms, and their comparison if there are several."""
    parts = [_describe_one(one) for one in measured]
    if len(measured) > 1:
        parts.append(_describe_pairs(measured))
    return "\n\n".join(parts)


def _describe_one(one: Measured) -> str:
    limit = f"limit {_time(one.trials.limit)}" if isfinite(one.trials.limit) else "no limit"
    lines = [f"{tidy(one.name)}: {one.trials.trials} trials, {one.trials.failures} failed, {limit}"]
    facts = [*_efficiency_facts(one.efficiency), *_summary_facts(one.summary), *_tail_facts(one.tail)]
    width = max(len(name) for name, _ in facts)
    lines += [f"  {name:{width}}  {text}" for name, text in facts]
    notes = dict.fromkeys((*one.efficiency.caveats, *one.tail.caveats))
    return "\n".join([*lines, *map(_bullet, notes)])


def _efficiency_facts(found: Efficiency) -> list[tuple[str, str]]:
    error = found.standard_error
    span = f"{_time(found.range[0])} to {_time(found.range[1])}"
    return [
        ("efficiency e", f"{formatting.with_error(found.efficiency, error)} successes in 1000 units of time"),
        ("  95 % interval", formatting.interval(found.interval(), error)),
        ("best limit T_E", _time(found.optimal_limit)),
        ("half as efficient", f"{span}{' or beyond' if found.range_is_open else ''}  (T_E1 to T_E2)"),
        ("time per success", formatting.with_error(found.effort, found.effort_error)),
    ]


def _summary_facts(found: TimesSummary) -> list[tuple[str, str]]:
    return [
        ("success rate", formatting.with_error(found.success_rate, found.success_rate_error)),
        ("mean time", f"{formatting.with_error(found.mean, found.mean_error)}  (of those that succeeded)"),
        ("median time", _time(found.median)),
        ("harmonic mean", formatting.with_error(found.harmonic_mean, found.harmonic_mean_error)),
    ]


def _tail_facts(found: Tail) -> list[tuple[str, str]]:
    if found.model is None:
        return [("asymptotic model", "none (see below)")]
    model, bounds = found.model, found.success_rate_interval
    fit = f"fit {formatting.p_equals(found.fit_p_value)}"
    shape = f"a = {formatting.plain(model.a)}, k = {formatting.plain(model.k)} ({_span(found.k_interval)})"
    facts = [
        ("asymptotic model", f"from {_time(model.start)} on, {shape}; {fit}"),
        ("success rate λ", f"{formatting.plain(found.success_rate)} ({_span(bounds)})"),
        ("corrected mean", "does not exist"),
        ("corrected median", f"{_time(found.corrected_median)} ({_span(found.corrected_median_interval)})"),
    ]  # fmt: skip
    if found.corrected_mean is not None:
        facts[2] = (
            "corrected mean",
            f"{_time(found.corrected_mean)} ({_span(found.corrected_mean_interval)})",
        )
    return facts


def _describe_pairs(measured: Sequence[Measured]) -> str:
    found = compare_all({one.name: one.trials for one in measured}, compare_efficiency)
    adjusted = len(found.pairs) > 1
    lines = ["Differences of efficiency, first less second"]
    for pair in found.pairs:
        test = pair.test
        assert isinstance(test, EfficiencyComparison)
        p = formatting.p_equals(pair.adjusted_p_value) + (" (Holm)" if adjusted else "")
        lines.append(
            f"  {tidy(pair.first)}, {tidy(pair.second)}: "
            f"{formatting.with_error(test.difference, test.standard_error)}, 95 % interval "
            f"{formatting.interval(test.interval(), test.standard_error)}, {p}"
        )
    return "\n".join(lines)


def _time(value: float | None) -> str:
    if value is not None and isfinite(value) and value == int(value) and abs(value) < 1e9:
        return str(int(value))
    return formatting.plain(value, 4)


def _span(bounds: tuple[float, float] | None) -> str:
    return formatting.UNKNOWN if bounds is None else f"{_time(bounds[0])} to {_time(bounds[1])}"


def _bullet(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  * ", subsequent_indent="    ")


# --- figures -----------------------------------------------------------------------------------------------


def pictures(measured: Sequence[Measured], unit: str = "time") -> tuple[Picture, Picture]:
    """The training graph and the efficiency graph; `unit` is what times are counted in, such as epochs."""
    names = ", ".join(tidy(one.name) for one in measured)
    counted = "units of time" if unit == "time" else unit
    return (
        Picture(
            "training",
            f"Training graph: {names}",
            "Share of trials that have succeeded against time, rising in steps. Where a model of the tail "
            "fits, it is drawn with the success rate that it tends to.",
            "Share of trials that have succeeded by a time. Dashed: the model of the tail from T₀ (open "
            "circle) on; dotted: the success rate λ that it tends to.",
            lambda: _draw(measured, _training_graph, unit, "share that has succeeded"),
            _table(measured),
        ),
        Picture(
            "efficiency",
            f"Efficiency graph: {names}",
            "Efficiency against the limit at which trials are stopped, with its peak.",
            f"Successes in 1000 {counted} when trials are stopped at a limit and begun anew. The mark is "
            "the peak (T_E, e) with a 95 % interval; the bar at half its height runs from T_E1 to T_E2.",
            lambda: _draw(measured, _efficiency_graph, unit, f"successes per 1000 {counted}"),
            _table(measured),
        ),
    )


def _table(measured: Sequence[Measured]) -> ReportTable:
    columns = (
        ReportColumn("algorithm"), ReportColumn("e", ("e", "standard_error")), ReportColumn("T_E", ("T_E",)),
        ReportColumn("T_E1", ("T_E1",)), ReportColumn("T_E2", ("T_E2",)),
        ReportColumn("λ_T", ("success_rate",)),
        ReportColumn("λ", ("asymptotic_success_rate",)),
    )  # fmt: skip
    rows = []
    for one in measured:
        found, tail = one.efficiency, one.tail
        times = (found.optimal_limit, *found.range)
        rates = (one.summary.success_rate, tail.success_rate)
        rows.append(
            (
                Cell(one.name),
                Cell(
                    formatting.with_error(found.efficiency, found.standard_error),
                    (found.efficiency, found.standard_error),
                ),
                *(Cell(_time(time), (time,)) for time in times),
                *(Cell(formatting.plain(rate), (rate,)) for rate in rates),
            )
        )
    return ReportTable("training-time", "Efficiency and success rates", columns, tuple(rows))


DrawOne = Callable[["Axes", Measured, FigureLook, FloatArray], None]


def _draw(measured: Sequence[Measured], draw_one: DrawOne, unit: str, ylabel: str) -> Figure:
    figure = new_figure(6.4, 3.6)
    axes = figure.add_subplot()
    wide = any(_end(one) > WIDE * (one.summary.median or inf) for one in measured)
    if wide:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: formatting.plain(value, 1))
    for number, one in enumerate(measured):
        draw_one(axes, one, look_of(number), _grid(one, wide))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(unit + (" (logarithmic)" if wide else ""))
    axes.set_ylabel(ylabel)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    if len(measured) > 1:
        axes.legend(loc="lower right" if draw_one is _training_graph else "upper right")
    else:
        axes.set_title(label(measured[0].name), loc="left")
    return figure


def _end(one: Measured) -> float:
    return one.trials.limit if isfinite(one.trials.limit) else float(one.trials.times[-1])


def _grid(one: Measured, wide: bool) -> FloatArray:
    """Times to draw at: evenly spread, and those at which something happens if they are not too many."""
    first, end = float(one.trials.times[0]), _end(one)
    even = np.geomspace(first / 2, end, POINTS) if wide else np.linspace(0, end, POINTS)
    times = one.trials.times
    some = times[:: max(1, len(times) // POINTS)]
    peak = min(one.efficiency.optimal_limit, end)
    return np.unique(np.concatenate((np.minimum(even, end), some, [peak])))


def _training_graph(axes: Axes, one: Measured, look: FigureLook, grid: FloatArray) -> None:
    """Figures 1 and 4 of Hamey (1992)."""
    place = np.searchsorted(one.trials.times, grid, side="right")
    share = np.concatenate(([0.0], one.trials.training_graph))[place]
    axes.step(grid, share, where="post", color=look.colour, linewidth=1.4, label=label(one.name))
    model, rate = one.tail.model, one.tail.success_rate
    if model is None or rate is None:
        return
    later = grid[grid >= model.start][:: max(1, len(grid) // 200)]
    fitted = [model.share_before + (rate - model.share_before) * model.succeeded(float(t)) for t in later]
    axes.plot(later, fitted, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.plot([model.start], [model.share_before], "o", color=look.colour, markerfacecolor="none")
    axes.axhline(rate, color=look.colour, linewidth=0.8, linestyle=(0, (1, 2)))


def _efficiency_graph(axes: Axes, one: Measured, look: FigureLook, grid: FloatArray) -> None:
    """Figures 2 and 3 of Hamey (1992)."""
    found = one.efficiency
    axes.plot(
        grid, efficiency_curve(one.trials).at(grid), color=look.colour, linewidth=1.2, label=label(one.name)
    )
    peak, half = min(found.optimal_limit, _end(one)), found.efficiency / 2
    bounds = found.interval()
    if bounds is not None:
        axes.plot([peak, peak], bounds, color=look.colour, linewidth=1.0)
    axes.plot([peak], [found.efficiency], look.marker, color=look.colour, markersize=5)
    right = min(found.range[1], _end(one))
    axes.plot([found.range[0], right], [half, half], color=look.colour, linewidth=2.6, alpha=0.35)


def write_graphs(out: str, measured: Sequence[Measured]) -> Path:
    """Both graphs as one PDF, or each as SVG and PDF in a folder."""
    target = Path(out)
    if target.suffix.lower() == ".pdf":
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, save_all(pictures(measured)))
        return target
    if target.suffix and not target.is_dir():
        raise SpecError(
            f'can\'t write graphs to "{target}": the name must end in .pdf, or have no ending for a folder'
        )
    target.mkdir(parents=True, exist_ok=True)
    for picture in pictures(measured):
        for kind in ("svg", "pdf"):
            write_atomic(target / f"{picture.name}.{kind}", save(picture, kind))
    return target
