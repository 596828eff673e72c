"""Many small functions minimised side by side: each by its own steps, all evaluated together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Evaluate = Callable[[Floats, Rows], tuple[Floats, Floats]]
"""Values and gradients at points (one for each of these rows of the start); infinite where there is none."""

SUFFICIENT = 1e-4
CURVATURE = 1e-12
LEAST_STEP = 1e-10


@dataclass(frozen=True, eq=False)
class Minima:
    """Where each function is smallest: points, values, and how many evaluations that took."""

    points: Floats
    values: Floats
    evaluations: NDArray[np.int64]


def minimise_together(
    evaluate: Evaluate,
    start: Floats,
    *,
    evaluations: int = 150,
    memory: int = 8,
    longest: float = 2.0,
    tolerance: float = 1e-3,
) -> Minima:
    """Minimise functions by L-BFGS with backtracking (Nocedal and Wright 2006, algorithms 7.4, 7.5 and 3.1).

    Parameters
    ----------
    evaluate
        Called with points and with the rows of `start` that they belong to.
    start
        A row for each function; values there must be finite.
    evaluations
        The most evaluations of each function.
    memory
        How many pairs of steps and changes of the gradient are kept.
    longest
        No coordinate moves by more at once.
    tolerance
        A function is done when no component of its gradient is larger.

    Returns
    -------
    Minima
        The lowest point that each function was evaluated at.

    Notes
    -----
    A row's steps depend on its own values only, so its outcome does not depend on the other rows.

    Examples
    --------
    >>> import numpy as np
    >>> centres = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> def bowls(points, rows):
    ...     away = points - centres[rows]
    ...     return (away**2).sum(axis=1), 2 * away
    >>> minimise_together(bowls, np.zeros((2, 2))).points.round(3).tolist()
    [[1.0, 2.0], [3.0, -1.0]]
    """
    walk = _Walk(evaluate, start, memory, longest)
    while len(walk.active) and walk.rounds < evaluations:
        walk.advance(tolerance)
    return Minima(walk.points, walk.values, walk.counts)


class _Walk:
    """All rows' points, their directions and the steps that are tried along them."""

    def __init__(self, evaluate: Evaluate, start: Floats, memory: int, longest: float) -> None:
        self.evaluate, self.longest, self.rounds = evaluate, longest, 1
        self.points = np.array(start, dtype=np.float64)
        self.active = np.arange(len(start))
        self.values, self.slopes = evaluate(self.points, self.active)
        self.counts = np.ones(len(start), dtype=np.int64)
        self.moves, self.turns = (np.zeros((memory, *start.shape)) for _ in range(2))
        self.curves = np.zeros((memory, len(start)))
        self.steps, self.directions = np.ones(len(start)), np.zeros_like(self.points)
        self._aim(self.active)

    def advance(self, tolerance: float) -> None:
        """One evaluation of every row that is not done."""
        rows = self.active[np.abs(self.slopes[self.active]).max(axis=1) > tolerance]
        if not len(rows):
            self.active = rows
            return
        tried = self.points[rows] + self.steps[rows, None] * self.directions[rows]
        values, slopes = self.evaluate(tried, rows)
        self.counts[rows] += 1
        self.rounds += 1
        downhill = _dots(self.directions[rows], self.slopes[rows])
        with np.errstate(invalid="ignore"):
            good = values <= self.values[rows] + SUFFICIENT * self.steps[rows] * downhill
        self._shorten(rows[~good], values[~good], downhill[~good])
        self._accept(rows[good], tried[good], values[good], slopes[good])
        self.active = rows[self.steps[rows] > LEAST_STEP]

    def _shorten(self, rows: Rows, values: Floats, downhill: Floats) -> None:
        """A shorter step: to the lowest point of a parabola, but between a tenth and half of the last."""
        steps = self.steps[rows]
        with np.errstate(invalid="ignore", over="ignore"):
            lowest = -downhill * steps / (2 * (values - self.values[rows] - downhill * steps))
        factors = np.clip(np.where(np.isfinite(lowest), lowest, 0.1), 0.1, 0.5)
        self.steps[rows] = steps * factors

    def _accept(self, rows: Rows, points: Floats, values: Floats, slopes: Floats) -> None:
        moves, turns = points - self.points[rows], slopes - self.slopes[rows]
        curves = _dots(moves, turns)
        known = curves > CURVATURE * _dots(turns, turns)
        kept, keeping = rows[known], np.flatnonzero(known)
        for held, new in ((self.moves, moves), (self.turns, turns), (self.curves, curves)):
            held[:-1, kept] = held[1:, kept]
            held[-1, kept] = new[keeping]
        self.points[rows], self.values[rows], self.slopes[rows] = points, values, slopes
        self._aim(rows)

    def _aim(self, rows: Rows) -> None:
        """The next direction of each row by the two-loop recursion, and its first step."""
        slopes = self.slopes[rows]
        aimed, shares = slopes.copy(), np.zeros((len(self.curves), len(rows)))
        curves = self.curves[:, rows]
        safe = np.where(curves > 0, curves, np.inf)
        for age in range(len(curves) - 1, -1, -1):
            shares[age] = _dots(self.moves[age, rows], aimed) / safe[age]
            aimed -= shares[age][:, None] * self.turns[age, rows]
        newest = self.turns[-1, rows]
        has_any = curves[-1] > 0
        squares = np.where(has_any, _dots(newest, newest), 1.0)
        first = 1 / np.maximum(np.abs(slopes).max(axis=1), 1.0)
        aimed *= np.where(has_any, curves[-1] / squares, first)[:, None]
        for age in range(len(curves)):
            back = shares[age] - _dots(self.turns[age, rows], aimed) / safe[age]
            aimed += back[:, None] * self.moves[age, rows]
        self.directions[rows] = -aimed
        self.steps[rows] = np.minimum(1.0, self.longest / np.maximum(np.abs(aimed).max(axis=1), 1e-300))


def _dots(one: Floats, other: Floats) -> Floats:
    """The inner products of rows."""
    return np.asarray((one * other).sum(axis=1))
