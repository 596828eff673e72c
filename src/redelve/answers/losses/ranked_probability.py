"""The loss C of predictive distributions of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from redelve.answers.losses.known_losses import LOSSES
from redelve.answers.losses.loss_contract import Loss, check_length, check_targets
from redelve.answers.predictions import Numbers, Prediction, TargetDistributions, Truth

if TYPE_CHECKING:
    from redelve.answers.answer import Answer


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
