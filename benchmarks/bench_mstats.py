"""The analysis of 8 × 10⁶ losses on a common test set against one bare NumPy pass over the same sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, best_of
from redelve.stats import analyse_common, compare_common

COMMAND = "python -m benchmarks mstats"


def bare_sums(losses: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Row means, column means and the total sum of squares: what any analysis of variance needs."""
    return losses.mean(axis=1), losses.mean(axis=0), float(np.einsum("ij,ij->", losses, losses))


def run() -> list[Row]:
    random = np.random.default_rng(1)
    first, second = random.gamma(2.0, size=(2, 8, 1_000_000))
    ours, bare = best_of(5, lambda: analyse_common(first), lambda: bare_sums(first))
    both, paired = best_of(5, lambda: compare_common(first, second), lambda: bare_sums(first - second))
    return [
        {
            "name": "mstats: analysis of 8 × 10⁶ losses, common test set",
            "ours": ours,
            "alternative": bare,
            "against": "one bare NumPy pass (row means, column means, sum of squares)",
            "ratio": ours / bare,
            "bound": 3.0,
            "command": COMMAND,
        },
        {
            "name": "mstats -c: comparison of two methods, 8 × 10⁶ losses each",
            "ours": both,
            "alternative": paired,
            "against": "the same NumPy pass over the differences",
            "ratio": both / paired,
            "bound": None,
            "command": COMMAND,
        },
    ]
