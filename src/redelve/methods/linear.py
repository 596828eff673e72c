"""lin-1: linear regression that does not mind inputs that are (nearly) linearly dependent.

After Rasmussen's method of the same name (1996): guesses and a Gaussian predictive density.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.distributions import Normal

Numbers = NDArray[np.float64]

SMALLEST_SINGULAR_VALUE = 1e-8


@dataclass(frozen=True, eq=False)
class GaussianPrediction:
    """Mean and variance of the predictive density: a row per test case, a column per target."""

    mean: Numbers
    variance: Numbers

    def normals(self) -> list[Normal]:
        """One predictive distribution per target."""
        scales = np.sqrt(self.variance)
        return [Normal(self.mean[:, k], scales[:, k]) for k in range(self.mean.shape[1])]

    def log_density(self, targets: Numbers) -> Numbers:
        """The log density of each case's targets, taken as independent of each other."""
        with np.errstate(over="ignore"):
            logs = [normal.log_density(targets[:, k]) for k, normal in enumerate(self.normals())]
        total: Numbers = np.sum(logs, axis=0, dtype=np.float64)
        return total


def lin_1(training_inputs: Numbers, training_targets: Numbers, test_inputs: Numbers) -> GaussianPrediction:
    """Least squares with a constant term, by singular values; directions the data do not show are left at 0.

    The predictive variance at x is s² (1 + x'(X'X)⁺x), s² the residual sum of squares over the cases beyond
    the rank; with no case to spare, the variance of the targets (never less than a trifle of it) stands in.
    """
    design = np.column_stack([np.ones(len(training_inputs)), training_inputs])
    left, singular, right = np.linalg.svd(design, full_matrices=False)
    kept = singular > SMALLEST_SINGULAR_VALUE * singular[0]
    left, singular, right = left[:, kept], singular[kept], right[kept]
    weights = right.T @ ((left.T @ training_targets) / singular[:, None])
    probe = np.column_stack([np.ones(len(test_inputs)), test_inputs])
    leverage = ((probe @ right.T / singular) ** 2).sum(axis=1)
    noise = _noise_variance(training_targets - design @ weights, training_targets, int(kept.sum()))
    return GaussianPrediction(probe @ weights, (1 + leverage)[:, None] * noise)


def _noise_variance(residuals: Numbers, targets: Numbers, rank: int) -> Numbers:
    spare = len(targets) - rank
    spread = targets.var(axis=0) if len(targets) > 1 else np.ones(targets.shape[1])
    least: Numbers = np.where(spread > 0, spread, 1.0) * 1e-6
    estimate = (residuals**2).sum(axis=0) / spare if spare > 0 else spread
    return np.maximum(estimate, least)
