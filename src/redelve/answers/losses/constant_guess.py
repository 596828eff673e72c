"""The best constant guess by any loss, found by search: what a loss without a formula is standardised by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from redelve.answers.predictions import Truth
from redelve.model.dataset import Numbers

CANDIDATES = 101
"""So many of the true values, evenly chosen, are tried as guesses before the search between neighbours."""


def least_mean_loss(distance: Callable[[Truth, Numbers], Numbers], truth: Truth) -> float | None:
    """The mean loss of the best guess that is the same for all cases; None where there are no cases.

    A level or an integer is tried out; between two neighbours of the best of some real values the search goes
    on, which finds the best guess where the mean loss has one valley there.
    """
    if not len(truth):
        return None

    def mean_loss(guess: float) -> float:
        return float(distance(truth, np.full(len(truth), guess)).mean())

    guesses = _candidates(truth)
    losses = [mean_loss(guess) for guess in guesses.tolist()]
    best = int(np.argmin(losses))
    if truth.target.kind == "categorical" or len(guesses) == 1:
        return losses[best]
    from scipy.optimize import minimize_scalar  # slow to import, and few losses need it

    around = guesses[max(best - 1, 0)], guesses[min(best + 1, len(guesses) - 1)]
    found = minimize_scalar(mean_loss, bounds=around, method="bounded", options={"xatol": 1e-9})
    return min(losses[best], float(found.fun))


def _candidates(truth: Truth) -> Numbers:
    if truth.target.kind == "categorical":
        return np.arange(len(truth.target.levels), dtype=np.float64)
    known = np.unique(truth.values)
    return known[np.unique(np.linspace(0, len(known) - 1, CANDIDATES).astype(np.int64))]
