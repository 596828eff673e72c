"""gp: Gaussian process regression with a length scale for each input (Rasmussen and Williams 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redelve.methods.builtin.learnt import some_of
from redelve.model.dataset import Numbers

CHOICE_CASES = 512
CASES = 2048
MOST_STEPS = 200
LENGTHS, SIGNAL, NOISE = (1e-2, 1e4), (1e-3, 1e4), (1e-6, 1e2)
JITTER = 1e-8


@dataclass(frozen=True, eq=False)
class ConditionedProcess:
    """A process conditioned on cases; `weights` are the inverse covariance times the targets."""

    inputs: Numbers
    logs: Numbers
    weights: Numbers
    factor: Numbers
    mean: float
    scale: float


class GaussianProcess(ConditionedProcess):
    """One with a length for each input."""

    def predict(self, inputs: Numbers) -> tuple[Numbers, Numbers]:
        """Mean and standard deviation, noise included, of each case (equations 2.25 and 2.26)."""
        from scipy.linalg import solve_triangular

        signal, lengths, noise = _parameters(self.logs)
        between = _covariance(inputs / lengths, self.inputs / lengths, signal)
        explained = solve_triangular(self.factor, between.T, lower=True, check_finite=False)
        variance = np.maximum(signal - (explained**2).sum(axis=0), 0.0) + noise
        return self.mean + self.scale * (between @ self.weights), self.scale * np.sqrt(variance)


def gp_numbers(inputs: Numbers, column: Numbers, rng: np.random.Generator) -> GaussianProcess:
    """Signal, length scales and noise by marginal likelihood on some cases; conditioned on more."""
    from scipy.linalg import cho_solve
    from scipy.optimize import minimize

    mean, scale = float(column.mean()), float(column.std())
    targets, width = (column - mean) / scale, inputs.shape[1]
    few = some_of(len(column), CHOICE_CASES, rng)
    bounds = np.log([SIGNAL, *[LENGTHS] * width, NOISE])
    start = np.log([1.0, *[width**0.5] * width, 0.1])
    shown = (inputs[few], targets[few])
    settings = {"maxiter": MOST_STEPS}
    best = minimize(likelihood, start, shown, "L-BFGS-B", jac=True, bounds=bounds, options=settings)
    many = some_of(len(column), CASES, rng)
    factor = _factor(best.x, inputs[many])
    weights = cho_solve((factor, True), targets[many], check_finite=False)
    return GaussianProcess(inputs[many], best.x, weights, factor, mean, scale)


def likelihood(logs: Numbers, inputs: Numbers, targets: Numbers) -> tuple[float, Numbers]:
    """Minus the log marginal likelihood, and its slope in the logs of signal, lengths, noise (5.8, 5.9)."""
    from scipy.linalg import cho_solve

    signal, lengths, noise = _parameters(logs)
    scaled = inputs / lengths
    covariance = _covariance(scaled, scaled, signal)
    try:
        factor = np.linalg.cholesky(covariance + (noise + JITTER) * np.eye(len(targets)))
    except np.linalg.LinAlgError:
        return 1e25, np.zeros_like(logs)
    weights = cho_solve((factor, True), targets, check_finite=False)
    value = 0.5 * targets @ weights + np.log(factor.diagonal()).sum() + 0.5 * len(targets) * np.log(2 * np.pi)
    slope = cho_solve((factor, True), np.eye(len(targets)), check_finite=False) - np.outer(weights, weights)
    pairs = slope * covariance
    by_length = pairs.sum(axis=1) @ scaled**2 - (scaled * (pairs @ scaled)).sum(axis=0)
    gradient = [0.5 * pairs.sum(), *by_length, 0.5 * noise * slope.trace()]
    return float(value), np.array(gradient)


def _parameters(logs: Numbers) -> tuple[float, Numbers, float]:
    values = np.exp(logs)
    return float(values[0]), values[1:-1], float(values[-1])


def _covariance(one: Numbers, other: Numbers, signal: float) -> Numbers:
    from scipy.spatial.distance import cdist

    return np.asarray(signal * np.exp(-0.5 * cdist(one, other, "sqeuclidean")))


def _factor(logs: Numbers, inputs: Numbers) -> Numbers:
    signal, lengths, noise = _parameters(logs)
    scaled = inputs / lengths
    covariance = _covariance(scaled, scaled, signal) + (noise + JITTER) * np.eye(len(inputs))
    return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
