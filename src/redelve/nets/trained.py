"""What training hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Curves:
    """Errors at the ends of strips: points × runs, NaN after a run has finished.

    `training` is the error measured during the last epoch of the strip; `validation` and `test` are measured
    after it (None where no such cases were given).
    """

    epochs: NDArray[np.int64]
    training: NDArray[np.float64]
    validation: NDArray[np.float64] | None
    test: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Trained:
    """Networks after training, and how it went; every field but `curves` has a row or number for each run.

    `weights` are those of lowest validation error, reached after `relevant_epochs`; without validation cases
    they are `final_weights`, after all `epochs`. `lowest_training` and `lowest_validation` are the smallest
    errors seen at any time, `overfit` is the generalization loss GL at the end (Prechelt 1994, table 3).
    `reasons` tell which rule stopped a run ("diverged": its error was no number any more). `traversals` count
    connections crossed (Prechelt 1994, section 2.9): forward and backward over the training cases, updates,
    and forward over the validation cases. `cpu_seconds` is each run's share, by epochs, of its chunk's time.
    """

    weights: NDArray[Any]
    final_weights: NDArray[Any]
    epochs: NDArray[np.int64]
    relevant_epochs: NDArray[np.int64]
    lowest_training: NDArray[np.float64]
    lowest_validation: NDArray[np.float64]
    overfit: NDArray[np.float64]
    reasons: tuple[str, ...]
    traversals: NDArray[np.int64]
    cpu_seconds: NDArray[np.float64]
    curves: Curves | None = None


class Ledger:
    """Trained, while it is being written; each group of runs writes its own rows."""

    def __init__(self, weights: NDArray[Any], dtype: str) -> None:
        runs = len(weights)
        self.weights = np.array(weights, dtype=dtype)
        self.final_weights = self.weights.copy()
        self.epochs = np.zeros(runs, dtype=np.int64)
        self.relevant_epochs = np.zeros(runs, dtype=np.int64)
        self.lowest_training = np.full(runs, np.inf)
        self.lowest_validation = np.full(runs, np.nan)
        self.overfit = np.full(runs, np.nan)
        self.reasons = np.full(runs, "", dtype=object)
        self.traversals = np.zeros(runs, dtype=np.int64)
        self.cpu_seconds = np.zeros(runs)

    def close(self, curves: Curves | None) -> Trained:
        """The finished value."""
        fields = vars(self) | {"reasons": tuple(self.reasons.tolist()), "curves": curves}
        return Trained(**fields)
