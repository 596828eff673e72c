"""Predictive distributions of numbers as a prediction: a distribution for every target and case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redelve.answers.distributions import Distribution
from redelve.answers.predictions.prediction_kinds import (
    ArrayValue,
    Target,
    TargetLogProbabilities,
    Truth,
    check_target_count,
)
from redelve.errors import PredictionError
from redelve.model.dataset import Numbers


@dataclass(frozen=True, eq=False)
class TargetDistributions(ArrayValue):
    """For each target, real or integer, a predictive distribution of every case's value.

    Parameters
    ----------
    targets
        What is predicted, as in ``TrainingSet.targets``.
    distributions
        One for each target: `Normal`, `Student`, `NormalMixture`, `Quantiles` or `Samples`.

    Raises
    ------
    RedelveError
        A target is categorical or angular, or the distributions are not for equally many cases.

    Notes
    -----
    Log loss (L) and the continuous ranked probability score (C; Gneiting and Raftery 2007, Journal of
    the American Statistical Association 102:359–378) are computed from it, and the best guess for
    other losses where an answer has no guesses.

    Examples
    --------
    >>> import redelve
    >>> from redelve.answers.predictions import Target
    >>> spread = redelve.Normal([30.0, 40.0], [5.0, 6.0])
    >>> len(redelve.TargetDistributions((Target("age", "real"),), (spread,)))
    2
    """

    targets: tuple[Target, ...]
    distributions: tuple[Distribution, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", tuple(self.targets))
        object.__setattr__(self, "distributions", tuple(self.distributions))
        check_target_count(self.targets, len(self.distributions))
        for target, distribution in zip(self.targets, self.distributions, strict=True):
            if target.kind not in ("real", "integer"):
                raise PredictionError(
                    f'target "{target.name}" is {target.kind}: predictive distributions are for real and '
                    "integer targets; give class probabilities or guesses"
                )
            if len(distribution) != len(self):
                raise PredictionError(
                    f"expected {len(self)} predictive distributions for target "
                    f'"{target.name}" but got {len(distribution)}'
                )

    def __len__(self) -> int:
        return len(self.distributions[0])

    def log_probability(self, truths: Sequence[Truth]) -> TargetLogProbabilities:
        """The log density of all true targets together, taken as independent; probabilities where discrete.

        An integer has the probability of the interval of ±½ around it, a censored value that of all that
        it allows.
        """
        with np.errstate(divide="ignore", over="ignore"):
            pairs = zip(truths, self.distributions, strict=True)
            logs = [_log_probability(truth, distribution) for truth, distribution in pairs]
        return TargetLogProbabilities(np.sum(logs, axis=0, dtype=np.float64))


def _log_probability(truth: Truth, distribution: Distribution) -> Numbers:
    half = 0.5 if truth.target.kind == "integer" else 0.0
    above = np.log(distribution.probability_above(truth.values - half))
    below = np.log(distribution.probability_below(truth.values + half))
    exact = _log_mass(truth.values, distribution) if half else distribution.log_density(truth.values)
    return np.where(truth.censoring == 0, exact, np.where(truth.censoring > 0, above, below))


def _log_mass(values: Numbers, distribution: Distribution) -> Numbers:
    """The log probability of ±½ about each value, by the smaller tail, so that small ones do not vanish."""
    low, high = values - 0.5, values + 0.5
    by_lower = distribution.probability_below(high) - distribution.probability_below(low)
    by_upper = distribution.probability_above(low) - distribution.probability_above(high)
    in_lower_tail = distribution.probability_below(values) < 0.5
    return np.asarray(np.log(np.where(in_lower_tail, by_lower, by_upper)))
