"""Metrics that are a loss under another name: accuracy, Brier score, log loss, MAE and MSE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from redelve.answers.losses.loss_contract import METRICS, Loss, check_length, check_targets
from redelve.answers.losses.standard_losses import (
    AbsoluteError,
    NegativeLogProbability,
    SquaredError,
    SquaredProbability,
    ZeroOne,
)
from redelve.answers.predictions import ClassProbabilities, Prediction, Target, Truth
from redelve.model.dataset import Numbers

if TYPE_CHECKING:
    from redelve.answers.answer import Answer

EPSILON = float(np.finfo(np.float64).eps)
"""scikit-learn takes a smaller probability as this one in its log loss."""


@dataclass(frozen=True)
class RenamedLoss(Loss):
    """A metric that is the mean of a loss of cases, with the user's name, unit and direction for it.

    A subclass says which loss it `renames`; numbers, tests and intervals are those of that loss.
    """

    renames: ClassVar[Loss]
    is_metric = True
    told: ClassVar[str]
    """What users call it."""
    is_equal: ClassVar[bool] = True
    """Whether it is that loss of every case, to the number."""

    @property
    def takes(self) -> Literal["guesses", "distribution"]:  # type: ignore[override]
        """As the loss itself."""
        return self.renames.takes

    @property
    def name(self) -> str:
        """What users call it."""
        return self.told

    @property
    def words(self) -> str:
        """The same within a sentence."""
        return self.told

    @property
    def is_share(self) -> bool:
        """As the loss itself."""
        return self.renames.is_share

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """What keeps the loss itself from these targets."""
        reason = self.renames.why_not(targets)
        return None if reason is None else reason.replace(f"loss {self.renames.code}", self.code)

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """Those of the loss itself."""
        return self.renames.limits(targets)

    def part_of(self, answer: Answer) -> Prediction | None:
        """What the loss itself judges."""
        return self.renames.part_of(answer)

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""
        return self.renames.of(truths, prediction)

    def best_constant(self, truth: Truth) -> float | None:
        """What the best constant answer loses."""
        return self.renames.best_constant(truth)


class Accuracy(RenamedLoss):
    """The share of right answers, in per cent: 1 − zero-one loss."""

    renames, told = ZeroOne("Z"), "accuracy"
    title, kinds = "Accuracy", ZeroOne.kinds
    best_value, in_per_cent = 1.0, True


class BrierScore(RenamedLoss):
    """Squared probability, halved where there are two classes: the mean of (p − y)² of the positive one."""

    renames, told = SquaredProbability("Q"), "Brier score"
    title, kinds = "Brier score", SquaredProbability.kinds
    one_target, needs_every_level, is_equal = True, True, False

    def _part(self, target: Target) -> float:
        return 0.5 if len(target.levels) == 2 else 1.0

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""
        return self.renames.of(truths, prediction) * self._part(truths[0].target)

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """From 0 to 1 or 2."""
        return 0.0, 2 * self._part(targets[0])

    def best_constant(self, truth: Truth) -> float | None:
        """The same of the shares of the classes."""
        found = self.renames.best_constant(truth)
        return None if found is None else found * self._part(truth.target)


class LogLoss(RenamedLoss):
    """−ln of the probability of the true class, a smaller one than 2.2·10⁻¹⁶ taken as that (scikit-learn)."""

    renames, told = NegativeLogProbability("L"), "log loss"
    title, one_target, is_equal = "Log loss", True, False
    kinds = ("categorical",)
    interval_scale = "log"
    lowest, highest = 0.0, -float(np.log(EPSILON))

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """From 0 to what the smallest probability costs."""
        return self.lowest, self.highest

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """It is for one target with classes."""
        return Loss.why_not(self, targets)

    def part_of(self, answer: Answer) -> Prediction | None:
        """The probabilities of all classes."""
        return answer.probabilities

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""
        if not isinstance(prediction, ClassProbabilities):
            raise self._refusal("class probabilities", prediction)
        self._check_truths(truths)
        check_targets(truths, prediction)
        check_length(truths, prediction, "class distributions")
        held = prediction.values[np.arange(len(prediction)), truths[0].level_indexes]
        return -np.log(np.clip(held, EPSILON, 1 - EPSILON))


class MeanAbsoluteError(RenamedLoss):
    """The mean distance from the truth."""

    in_target_unit = True
    renames, told = AbsoluteError("A"), "mean absolute error"
    title, kinds = "Mean absolute error", AbsoluteError.kinds


class MeanSquaredError(RenamedLoss):
    """The mean squared distance from the truth."""

    renames, told = SquaredError("S"), "mean squared error"
    title, kinds = "Mean squared error", SquaredError.kinds


def always(kind: type[Loss], code: str) -> Callable[[str], Loss]:
    """What makes a metric of any of its names: always the one with this code."""
    return lambda name: kind(code)


METRICS.add("accuracy", always(Accuracy, "accuracy"))
for _name in ("mae", "mean_absolute_error", "neg_mean_absolute_error"):
    METRICS.add(_name, always(MeanAbsoluteError, "mae"))
for _name in ("mse", "mean_squared_error", "neg_mean_squared_error"):
    METRICS.add(_name, always(MeanSquaredError, "mse"))
for _name in ("brier", "brier_score_loss", "neg_brier_score"):
    METRICS.add(_name, always(BrierScore, "brier"))
for _name in ("log_loss", "neg_log_loss"):
    METRICS.add(_name, always(LogLoss, "log_loss"))
