"""Losses of what is held to be probable: L, Q and, of predictive distributions of numbers, C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from redelve.answers.losses.loss_contract import LOSSES, Loss, check_length, check_targets
from redelve.answers.predictions import (
    KINDS,
    ClassProbabilities,
    Prediction,
    TargetDistributions,
    TargetLogProbabilities,
    Truth,
    first,
)
from redelve.errors import PredictionError
from redelve.model.dataset import Numbers
from redelve.stats import circular, standardise

if TYPE_CHECKING:
    from redelve.answers.answer import Answer

ROUNDING_SLACK = 1e-6  # log probabilities pass through files with nine digits


class NegativeLogProbability(Loss):
    """−ln of the probability, or density, of the true targets; of the allowed interval if censored."""

    letter = "L"
    title = "Negative Log probability"
    takes = "distribution"
    kinds = KINDS
    place, by_default, in_delve = 3, True, True
    is_shift = True

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case: infinite where the truth was held to be impossible."""
        self._check_truths(truths)
        if isinstance(prediction, ClassProbabilities):
            check_targets(truths, prediction)
            check_length(truths, prediction, "class distributions")
            return 0.0 - prediction.log_probability(truths[0])
        if isinstance(prediction, TargetDistributions):
            check_targets(truths, prediction)
            check_length(truths, prediction, "predictive distributions")
            return 0.0 - prediction.log_probability(truths).values
        if isinstance(prediction, TargetLogProbabilities):
            check_length(truths, prediction, "target probabilities")
            _check_at_most_one(truths, prediction.values)
            return 0.0 - prediction.values
        raise self._refusal("class probabilities or the probabilities of the true targets", prediction)

    def best_constant(self, truth: Truth) -> float | None:
        """The entropy of the class shares, or that of the density that fits all numbers."""
        if truth.target.kind in ("categorical", "integer"):
            return -standardise.baseline_log_discrete(truth.values)
        if len(truth) < 2:
            return None
        if truth.target.kind == "angular" and truth.target.unit is not None:
            figure = circular.baseline_log_angular(truth.values, truth.target.unit)
        else:
            figure = standardise.baseline_log_gaussian(truth.values)
        return None if figure is None else -figure


class SquaredProbability(Loss):
    """(1 − p_t)² + Σ_{i≠t} p_i² for the true level t (manual 5.2); at most two."""

    letter = "Q"
    title = "Squared Probability"
    takes = "distribution"
    kinds = ("categorical",)
    one_target = True
    place, by_default, in_delve = 4, True, True
    baseline_kinds = ("categorical", "integer")
    needs_every_level = True

    def part_of(self, answer: Answer) -> Prediction | None:
        """The probabilities of all classes."""
        return answer.probabilities

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""
        self._check_truths(truths)
        if not isinstance(prediction, ClassProbabilities):
            raise self._refusal("class probabilities", prediction)
        check_targets(truths, prediction)
        check_length(truths, prediction, "class distributions")
        surplus = prediction.values.copy()
        surplus[np.arange(len(surplus)), truths[0].level_indexes] -= 1.0
        squares: Numbers = (surplus**2).sum(axis=1)
        return squares

    def best_constant(self, truth: Truth) -> float | None:
        """1 − Σ (class share)²."""
        return standardise.baseline_squared_probability(truth.values)


LOSSES.add("L", NegativeLogProbability)
LOSSES.add("Q", SquaredProbability)


def _check_at_most_one(truths: Sequence[Truth], logs: Numbers) -> None:
    """Where every target is discrete or censored, what is given is a probability and not a density."""
    masses = [(truth.censoring != 0) | (truth.target.kind in ("categorical", "integer")) for truth in truths]
    if (case := first(np.logical_and.reduce(masses) & (logs > ROUNDING_SLACK))) is not None:
        raise PredictionError(
            f"case {case + 1}: log probability {logs[case]} of the true targets is above 0: "
            "categorical, integer and censored targets have probabilities of at most 1, not densities"
        )


class RankedProbability(Loss):
    """The continuous ranked probability score, ∫ (F(x) − 1[x ≥ truth])² dx (Gneiting and Raftery 2007)."""

    letter = "C"
    title = "Continuous ranked probability score"
    takes = "distribution"
    kinds = ("real", "integer")
    place, by_default = 6, True
    allows_censored = False

    def part_of(self, answer: Answer) -> Prediction | None:
        """The predictive distributions."""
        return answer.distributions

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The score of every case, summed over the targets."""
        self._check_truths(truths)
        if not isinstance(prediction, TargetDistributions):
            raise self._refusal("predictive distributions", prediction)
        check_targets(truths, prediction)
        check_length(truths, prediction, "predictive distributions")
        pairs = zip(truths, prediction.distributions, strict=True)
        total: Numbers = np.sum([forecast.crps(truth.values) for truth, forecast in pairs], axis=0)
        return total

    def best_constant(self, truth: Truth) -> float | None:
        """That of answering with the distribution of the test targets: half their mean distance."""
        ordered, count = np.sort(truth.values), len(truth)
        if count < 2:
            return None
        return float((ordered * (2 * np.arange(1, count + 1) - count - 1)).sum() / count**2)


LOSSES.add("C", RankedProbability)
