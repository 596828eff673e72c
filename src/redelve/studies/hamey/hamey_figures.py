"""Figures 1 to 4 made anew: training and efficiency graphs of two algorithms, and what is read off them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from redelve.nets import Engine
from redelve.report.drawing import INK, MUTED, PALETTE, Picture, new_figure, spread_out
from redelve.report.trial_times import Measured, measure, pictures
from redelve.stats.training_time import efficiency_curve
from redelve.studies.hamey.batch_trials import ALGORITHMS, Setting, TrialPlan, run_trials
from redelve.studies.hamey.training_problems import exclusive_or

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRIALS, LIMIT = 1000, 10_000
"""N and T of figures 1 and 2."""

FIGURE_RANGE = 1.0
"""r of figures 1 and 2, which is not printed (docs/study-hamey.md has what tells)."""

FIGURE_1 = Setting(FIGURE_RANGE, 0.0, 0.5)
FIGURE_2 = Setting(FIGURE_RANGE, 0.9, 0.3)
DOTTED = (0, (1, 2))
DASHED = (0, (4, 3))
LABEL_GAP = 0.06


@dataclass(frozen=True)
class HameyFigures:
    """What the figures show: both algorithms for 1 and 2, optimised exclusive-or for 3 and 4."""

    first: tuple[Measured, ...]
    second: tuple[Measured, ...]
    optimised: Measured


def run_figures(
    optimised: Measured, *, trials: int = TRIALS, limit: int = LIMIT, engine: Engine | None = None
) -> HameyFigures:
    """Train both algorithms in the settings of figures 1 and 2; `optimised` are table 1's trials."""

    def both(setting: Setting) -> tuple[Measured, ...]:
        plans = [
            TrialPlan(exclusive_or(), replace(setting, algorithm=name), trials, limit, f"figure {name}")
            for name in ALGORITHMS
        ]
        return tuple(
            measure(plan.setting.algorithm.replace("-eps", " eps"), run_trials(plan, engine).times)
            for plan in plans
        )

    return HameyFigures(both(FIGURE_1), both(FIGURE_2), optimised)


def figure_pictures(figures: HameyFigures) -> tuple[Picture, ...]:
    """The four figures."""
    training, efficiency = pictures(figures.first, "epochs")[0], pictures(figures.second, "epochs")[1]
    one = figures.optimised
    found = [
        replace(training, name="figure-1", title=f"Figure 1: training graphs, exclusive-or, {FIGURE_1}"),
        replace(efficiency, name="figure-2", title=f"Figure 2: efficiency graphs, exclusive-or, {FIGURE_2}"),
        Picture(
            "figure-3",
            "Figure 3: efficiency parameters, exclusive-or",
            "Efficiency against the epoch limit with its peak e at T_E, and T_E1 and T_E2 at half of it.",
            "The efficiency graph of table 1's exclusive-or. e is its peak, T_E the limit there; between "
            "T_E1 and T_E2 it is at least half as high.",
            lambda: _draw_efficiency(one),
        ),
    ]
    if one.tail.fits:
        found.append(
            Picture(
                "figure-4",
                "Figure 4: the model of the tail, exclusive-or",
                "Share of trials that have succeeded against epochs, with the model from T_0 on.",
                "The training graph of table 1's exclusive-or. By T_0 the share γ has succeeded, by T the "
                "share λ_T; the model (dashed) tends to λ.",
                lambda: _draw_tail(one),
            )
        )
    return tuple(found)


def _draw_efficiency(one: Measured) -> Figure:
    """Figure 3 of Hamey (1992)."""
    found, right = one.efficiency, min(3 * one.efficiency.range[1], one.trials.limit)
    (first, last), peak = found.range, found.optimal_limit

    def draw(axes: Axes) -> None:
        limits = np.geomspace(one.trials.times[0] / 2, right, 2000)
        limits = np.unique(np.ceil(limits)) if one.trials.is_whole else limits
        axes.plot(limits, efficiency_curve(one.trials).at(limits), color=PALETTE[0], linewidth=1.4)
        for time, height, name in (
            (first, found.efficiency / 2, "T_E1"),
            (peak, found.efficiency, "T_E"),
            (min(last, right), found.efficiency / 2, "T_E2"),
        ):
            axes.plot([time, time], [0, height], color=MUTED, linewidth=0.9, linestyle=DASHED)
            _name(axes, time, 0.03 * found.efficiency, name)
        for height, name in ((found.efficiency, "e"), (found.efficiency / 2, "e/2")):
            axes.axhline(height, color=MUTED, linewidth=0.8, linestyle=DOTTED)
            _name(axes, limits[0], height, name)
        axes.set_ylim(0, 1.12 * found.efficiency)

    return _annotated(draw, "epoch limit (logarithmic)", "successes per 1000 epochs")


def _draw_tail(one: Measured) -> Figure:
    """Figure 4 of Hamey (1992)."""
    model, rate, trials = one.tail.model, one.tail.success_rate, one.trials
    assert model is not None
    assert rate is not None

    def draw(axes: Axes) -> None:
        share = np.concatenate(([0.0], trials.training_graph, trials.training_graph[-1:]))
        times = np.concatenate((trials.times[:1], trials.times, [trials.limit]))
        axes.step(times, share, where="post", color=PALETTE[0], linewidth=1.4)
        later = np.geomspace(model.start + 0.5, 20 * trials.limit, 300)
        before = model.share_before
        fitted = [before + (rate - before) * model.succeeded(float(time)) for time in later]
        axes.plot(later, fitted, color=INK, linewidth=1.0, linestyle=DASHED)
        for time, height, name in (
            (model.start, before, "T_0"),
            (trials.limit, one.summary.success_rate, "T"),
        ):
            axes.plot([time, time], [0, height], color=MUTED, linewidth=0.9, linestyle=DASHED)
            _name(axes, time, 0.02, name)
        heights = {"γ": before, "λ_T": one.summary.success_rate, "λ": rate}
        places = spread_out(list(heights.values()), LABEL_GAP, 0, 1)
        for (name, height), place in zip(heights.items(), places, strict=True):
            axes.axhline(height, color=MUTED, linewidth=0.8, linestyle=DOTTED)
            axes.text(1.01, place, name, transform=axes.get_yaxis_transform(), va="center", color=INK)
        axes.set_ylim(0, 1)

    return _annotated(draw, "epochs (logarithmic)", "share that has succeeded")


def _annotated(draw: Callable[[Axes], None], xlabel: str, ylabel: str) -> Figure:
    from redelve.report import formatting

    figure = new_figure(6.4, 3.6)
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: formatting.plain(value, 1))
    draw(axes)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return figure


def _name(axes: Axes, x: float, y: float, text: str) -> None:
    axes.annotate(text, (x, y), (3, 2), textcoords="offset points", color=INK)
