"""lin-1: linear regression that does not mind inputs that are (nearly) linearly dependent.

After Rasmussen's method of the same name (1996): guesses and a Gaussian predictive density.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.distributions import Normal
from redelve.errors import SpecError
from redelve.methods.contract import BuiltIn
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import View, answer_of, regression_parts
from redelve.model.dataset import Numbers

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


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Least squares with a constant term, by singular values; directions the data do not show are left at 0.

    The predictive variance at x is s² (1 + x'(X'X)⁺x), s² the residual sum of squares over the cases beyond
    the rank; with no case to spare, the variance of the targets (never less than a trifle of it) stands in.
    """

    weights: Numbers
    directions: Numbers
    noise: Numbers

    @staticmethod
    def of(inputs: Numbers, targets: Numbers) -> LeastSquares:
        """The solution for a training set."""
        design = np.column_stack([np.ones(len(inputs)), inputs])
        left, singular, right = np.linalg.svd(design, full_matrices=False)
        kept = singular > SMALLEST_SINGULAR_VALUE * singular[0]
        left, singular, right = left[:, kept], singular[kept], right[kept]
        weights = right.T @ ((left.T @ targets) / singular[:, None])
        noise = _noise_variance(targets - design @ weights, targets, int(kept.sum()))
        return LeastSquares(weights, right.T / singular, noise)

    def predict(self, inputs: Numbers) -> GaussianPrediction:
        """Mean and variance for each test case."""
        probe = np.column_stack([np.ones(len(inputs)), inputs])
        leverage = ((probe @ self.directions) ** 2).sum(axis=1)
        return GaussianPrediction(probe @ self.weights, (1 + leverage)[:, None] * self.noise)


def lin_1(training_inputs: Numbers, training_targets: Numbers, test_inputs: Numbers) -> GaussianPrediction:
    """The predictive density of linear regression for each test case."""
    return LeastSquares.of(training_inputs, training_targets).predict(test_inputs)


def _noise_variance(residuals: Numbers, targets: Numbers, rank: int) -> Numbers:
    spare = len(targets) - rank
    spread = targets.var(axis=0) if len(targets) > 1 else np.ones(targets.shape[1])
    least: Numbers = np.where(spread > 0, spread, 1.0) * 1e-6
    estimate = (residuals**2).sum(axis=0) / spare if spare > 0 else spread
    return np.maximum(estimate, least)


class Lin1(BuiltIn):
    """Linear regression with a Gaussian predictive density."""

    called = "lin-1"
    numbers_only = True

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Lin1Predictor:
        """Nothing random; least squares is solved when the test inputs are there."""
        if (reason := self.why_not(training.targets)) is not None:
            raise SpecError(reason)
        view = View(training)
        columns = np.hstack([view.columns(position) for position in view.numerical])
        return Lin1Predictor(view, LeastSquares.of(view.inputs, columns))


@dataclass(frozen=True, eq=False)
class Lin1Predictor:
    """The solution, and the way back to the original domain."""

    view: View
    solution: LeastSquares

    def predict(self, inputs: TestInputs) -> Answer:
        """Guesses and, for real and integer targets, normal distributions."""
        prediction = self.solution.predict(self.view.test(inputs))
        parts = regression_parts(self.view, prediction.mean, np.sqrt(prediction.variance))
        return answer_of(self.view.targets, parts)


LIN_1 = Lin1()
