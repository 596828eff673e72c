"""Figure 1 of the WCCI 2006 challenge: the ranking score as a function of the guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from redelve.report.drawing import INK, MUTED, PALETTE, Picture, new_figure
from redelve.report.formatting import Cell, ReportColumn, ReportTable
from redelve.stats.balanced_errors import ranking_score, scores_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 401
REACH = 5.0


def score_figure(
    ber: float = 0.2,
    sigma: float = 0.05,
    guess: float | None = None,
    *,
    name: str = "score",
    title: str = "Ranking score and guess",
) -> Picture:
    """R against the guess, for a BER and its σ; those of figure 1 if nothing is given.

    With a guess, its place is marked: what the entry got, and what a better guess would have brought.
    """
    told = f"BER {ber:.4g}, σ {sigma:.2g}"
    caption = (
        "The ranking score R (solid) as a function of the guessed BER, for an actual BER of "
        f"{ber:.4g} with error bar σ = {sigma:.2g}. The dashed line is BER + δ (Guyon et al. 2006, fig. 1)."
    )
    description = (
        f"R is least, {ber:.4g}, where the guess is the BER, and rises to either side towards BER + δ."
    )
    if guess is not None:
        found = ranking_score(ber, sigma, guess)
        description += f" This guess, {guess:.4g}, has R = {found.score:.4g}."
        told += f", guess {guess:.4g}"
    table = _table(ber, sigma, guess, name, title)
    return Picture(name, title, f"{told}. {description}", caption, lambda: _draw(ber, sigma, guess), table)


def _range(ber: float, sigma: float, guess: float | None) -> tuple[float, float]:
    """Some error bars to either side, and the guess in any case."""
    width = max(REACH * sigma, 1e-6)
    ends = [ber - width, ber + width] + ([] if guess is None else [guess - width / 5, guess + width / 5])
    return max(min(ends), 0.0), min(max(ends), 1.0)


def _draw(ber: float, sigma: float, guess: float | None) -> Figure:
    figure = new_figure(4.6, 3.0)
    axes = figure.add_subplot()
    low, high = _range(ber, sigma, guess)
    guesses = np.union1d(np.linspace(low, high, POINTS), [ber])
    axes.plot(guesses, ber + np.abs(guesses - ber), color=MUTED, dashes=(4, 2), linewidth=1.0)
    axes.plot(guesses, scores_at(ber, sigma, guesses), color=PALETTE[1], linewidth=1.6)
    axes.axvline(ber, color=MUTED, linewidth=0.6)
    axes.axvspan(max(ber - sigma, low), min(ber + sigma, high), color=PALETTE[5], alpha=0.18, linewidth=0)
    if guess is not None:
        score = ranking_score(ber, sigma, guess).score
        axes.plot([guess], [score], "o", color=PALETTE[0], markersize=6)
        axes.annotate(f"R = {score:.4f}", (guess, score), (6, -10), textcoords="offset points", color=INK)
    axes.set_xlabel("guessed BER")
    axes.set_ylabel("ranking score R")
    axes.set_xlim(low, high)
    return figure


def _table(ber: float, sigma: float, guess: float | None, name: str, title: str) -> ReportTable:
    """The numbers of the curve at some guesses."""
    low, high = _range(ber, sigma, guess)
    places = np.unique(np.append(np.linspace(low, high, 11), [ber, *([] if guess is None else [guess])]))
    scores = scores_at(ber, sigma, places).tolist()
    rows = tuple(
        tuple(Cell(f"{value:.4f}", (value,)) for value in (place, abs(place - ber), score))
        for place, score in zip(places.tolist(), scores, strict=True)
    )
    columns = ReportColumn("guess", ("guess",)), ReportColumn("δ", ("delta",)), ReportColumn("R", ("score",))
    return ReportTable(name, title, columns, rows)
