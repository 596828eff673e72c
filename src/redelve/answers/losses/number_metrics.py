"""Metrics of numbers by scikit-learn's names: RMSE and R², which are no means of cases, and some that are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from redelve.answers.distributions import Distribution
from redelve.answers.losses.loss_contract import METRICS, Loss, Units
from redelve.answers.losses.metric_contract import Metric
from redelve.answers.losses.renamed_losses import always
from redelve.answers.losses.standard_losses import (
    GuessLoss,
    SquaredError,
    gap,
    least_mean_loss,
)
from redelve.answers.predictions import Guesses, Prediction, TargetKind, Truth
from redelve.errors import SpecError
from redelve.model.dataset import Numbers
from redelve.stats.pseudo_values import LeftOut, sums_without
from redelve.text_numbers import parse_number

if TYPE_CHECKING:
    from redelve.answers.answer import Answer

NUMBERS: tuple[TargetKind, ...] = ("integer", "real")


def root_mean_square(sums: Numbers) -> Numbers:
    """√(Σ e²/n) of n and Σ e²."""
    return np.sqrt(np.maximum(sums[..., 1], 0.0) / sums[..., 0])


def determination(sums: Numbers) -> Numbers:
    """1 − Σ e²/Σ (y − ȳ)² of n, Σ e², Σ y and Σ y²."""
    count, errors, first, second = (sums[..., place] for place in range(4))
    about = second - first**2 / count
    return np.asarray(np.where((about > 0) & (count > 1), 1 - errors / about, np.nan))


@dataclass(frozen=True)
class NumberMetric(Metric):
    """A metric of sums over cases."""

    kinds = NUMBERS
    takes = "guesses"

    def part_of(self, answer: Answer) -> Prediction | None:
        """The guesses meant for squared error."""
        return SquaredError("S").part_of(answer)

    def _squares(self, truth: Truth, prediction: Prediction) -> Numbers:
        assert isinstance(prediction, Guesses)
        return np.square(prediction.values[0] - truth.values)


class RootMeanSquare(NumberMetric):
    """The root of the mean squared error, in the units of the target."""

    in_target_unit = True
    title = "RMSE"
    interval_scale = "log"
    lowest = 0.0

    def left_out(self, truth: Truth, prediction: Prediction, units: Units | None) -> LeftOut:
        """From the sum of squares, less one case or one unit."""
        squares = self._squares(truth, prediction)
        terms = np.stack([np.ones_like(squares), squares], axis=1)
        return sums_without(terms, root_mean_square, units)

    def best_constant(self, truth: Truth) -> float | None:
        """The standard deviation."""
        found = SquaredError("S").best_constant(truth)
        return None if found is None else found**0.5


class Determination(NumberMetric):
    """R², the share of the variance that is explained."""

    title = "R²"
    best_value = 1.0
    lowest = 0.0

    def left_out(self, truth: Truth, prediction: Prediction, units: Units | None) -> LeftOut:
        """From sums of squares, less one case or one unit."""
        squares = self._squares(truth, prediction)
        away = truth.values - truth.values.mean()
        terms = np.stack([np.ones_like(away), squares, away, away**2], axis=1)
        return sums_without(terms, determination, units)

    def best_constant(self, truth: Truth) -> float | None:
        """R² of the mean is 0."""
        return 1.0

    def why_undefined(self, truths: Sequence[Truth]) -> str | None:
        """Targets that do not vary have no variance to explain."""
        same = np.unique(truths[0].values).size < 2
        return "r2 is not defined where all test cases have the same target" if same else None


@dataclass(frozen=True)
class CaseMetric(GuessLoss):
    """A metric of numbers that is a mean of cases."""

    is_metric, one_target = True, True
    kinds = NUMBERS
    lowest = 0.0
    allows_censored = False
    interval_scale = "log"
    way_out = "make a guess"

    @property
    def words(self) -> str:
        """The metric as within a sentence."""
        return self.name

    def no_guess(self, truth: Truth) -> Numbers | None:
        """A guess must be made."""
        return None

    def best_constant(self, truth: Truth) -> float | None:
        """The smallest mean loss of one guess for all cases, found by search."""
        found = least_mean_loss(self.distance, truth)
        return None if found is None or np.isnan(found) else found


class PercentageError(CaseMetric):
    """|guess − truth| over |truth|, in per cent of it; without a value where a truth is 0."""

    title = "mean absolute percentage error"
    in_per_cent = True

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """How far the guess is off, as a share of the truth; NaN where that is 0."""
        size = np.abs(truth.values)
        return np.where(size > 0, gap(truth, guess) / np.where(size > 0, size, 1.0), np.nan)

    def why_undefined(self, truths: Sequence[Truth]) -> str | None:
        """A share of nothing."""
        zeros = int((truths[0].values == 0).sum())
        if not zeros:
            return None
        return (
            f"mape divides by the target, which is 0 in {zeros} of {len(truths[0])} test cases: choose mae "
            "or rmse"
        )


@dataclass(frozen=True)
class Pinball(CaseMetric):
    """α(t − g) where the guess g lies below the truth t, (1 − α)(g − t) above: least for the quantile α."""

    in_target_unit = True
    level: float = 0.5

    @property
    def name(self) -> str:
        """The metric in words."""
        return f"pinball loss at {self.level:g}"

    def best_guess(self, distribution: Distribution) -> Numbers:
        """The quantile."""
        return distribution.quantile(self.level)

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """The loss of every case."""
        ahead = truth.values - guess
        return np.where(ahead >= 0, self.level * ahead, (self.level - 1) * ahead)


def _pinball(code: str) -> Loss:
    """`pinball` is for the median, `pinball@0.9` for the quantile of 90 %."""
    _, separator, text = code.partition("@")
    level = parse_number(text) if separator else 0.5
    if level is None or not 0 < level < 1:
        raise SpecError(f'"{code}": behind the @ comes the level of a quantile between 0 and 1: pinball@0.9')
    return Pinball(f"pinball@{level:g}" if separator else "pinball", level)


NAMES: dict[tuple[str, ...], Callable[[str], Loss]] = {
    ("rmse", "root_mean_squared_error", "neg_root_mean_squared_error"): always(RootMeanSquare, "rmse"),
    ("r2", "r2_score"): always(Determination, "r2"),
    (
        "mape",
        "mean_absolute_percentage_error",
        "neg_mean_absolute_percentage_error",
    ): always(PercentageError, "mape"),
    ("pinball", "mean_pinball_loss", "neg_mean_pinball_loss"): _pinball,
}
for _names, _made in NAMES.items():
    for _name in _names:
        METRICS.add(_name, _made)
