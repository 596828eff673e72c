"""Metrics that are no means of cases, by scikit-learn's names: what they have in common.

A metric walks the way of a loss. Inside, smaller is better: what grows with quality is taken from its best
value, 1 − AUC. Users are shown the metric itself, in its own direction and unit. For the loss of every case
it has pseudo-values, whose mean is the metric (`stats.pseudo_values`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

import numpy as np

from redelve.answers.losses.loss_contract import Loss, Units, check_length, check_targets, no_guess_told
from redelve.answers.predictions import ClassProbabilities, DecisionValues, Guesses, Prediction, Target, Truth
from redelve.errors import PredictionError, SpecError, StatisticsError
from redelve.model.dataset import Numbers
from redelve.stats.pseudo_values import LeftOut, pseudo_values, spread_over_cases, unit_numbers


@dataclass(frozen=True)
class Metric(Loss):
    """A metric that is no mean of cases; `code` is its name, perhaps with what follows an @."""

    is_metric, mean_of_cases = True, False
    one_target = True
    allows_censored = False

    @property
    def base_name(self) -> str:
        """The name without what follows an @."""
        return self.code.partition("@")[0]

    @property
    def words(self) -> str:
        """The metric as within a sentence."""
        return self.name

    @abstractmethod
    def left_out(self, truth: Truth, prediction: Prediction, units: Units | None) -> LeftOut:
        """The metric, and its values without each unit; NaN where it is not defined."""

    def values(self, truth: Truth, prediction: Prediction, units: Units | None) -> Numbers:
        """The pseudo-values of all cases in the metric's own direction."""
        found = pseudo_values(self.left_out(truth, prediction, units), self.code)
        return found if units is None else spread_over_cases(found, units)

    def values_of_folds(
        self, truth: Truth, prediction: Prediction, units: Units | None, folds: Units
    ) -> Numbers:
        """The same where a trained model of its own answered each fold: as if one had answered all."""
        del folds
        return self.values(truth, prediction, units)

    def value(self, truth: Truth, prediction: Prediction) -> float:
        """The metric itself, in its own direction, as scikit-learn has it."""
        return self.left_out(truth, prediction, None)[0]

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The pseudo-values of all cases; NaN where the metric is not defined without one of them."""
        return self.of_units(truths, prediction, None)

    def of_units(
        self, truths: Sequence[Truth], prediction: Prediction, units: Units | None, folds: Units | None = None
    ) -> Numbers:
        """The same by leaving out whole units, spread over their cases."""
        self._check(truths, prediction)
        labels = self.unit_numbers(truths[0], units)
        judged = truths[0], prediction, labels
        several = None if folds is None or (np.ptp(folds) == 0 and not self.is_raised_by_few) else folds
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                cases = self.values(*judged) if several is None else self.values_of_folds(*judged, several)
        except StatisticsError:
            return np.full(len(truths[0]), np.nan)
        return cases if self.best_value is None else self.best_value - cases

    def unit_numbers(self, truth: Truth, units: Units | None) -> Units | None:
        """The units, numbered from 0; None where each case is its own."""
        if units is None or np.unique(units).size == len(units):
            return None
        return unit_numbers(units)

    def _check(self, truths: Sequence[Truth], prediction: Prediction) -> None:
        self._check_truths(truths)
        if not isinstance(prediction, Guesses | ClassProbabilities | DecisionValues):
            wanted = "class probabilities" if self.takes == "distribution" else "guesses"
            raise self._refusal(wanted, prediction)
        check_targets(truths, prediction)
        check_length(truths, prediction, "predictions")
        if isinstance(prediction, Guesses) and np.isnan(prediction.values[0]).any():
            case = int(np.argmax(np.isnan(prediction.values[0])))
            raise PredictionError(f"{no_guess_told(truths[0], case, self.code)}: make a guess")

    def loss_of(self, value: float) -> float:
        """A value of the metric as a loss."""
        return value if self.best_value is None else self.best_value - value


def positive_level(code: str, target: Target) -> int:
    """Which level counts as positive: the one behind the @, else the last of two."""
    _, separator, level = code.partition("@")
    if not separator:
        return len(target.levels) - 1
    if unquote(level) not in target.levels:
        raise SpecError(
            f'{code}: target "{target.name}" has no level "{unquote(level)}": it has '
            f"{', '.join(target.levels)}"
        )
    return target.levels.index(unquote(level))


def code_with_positive(name: str, level: str) -> str:
    """The code of a metric with its positive class.

    >>> code_with_positive("f1", "not ill")
    'f1@not%20ill'
    """
    return f"{name}@{quote(level, safe='')}"


def few_of_a_class(truth: Truth, code: str) -> str | None:
    """What keeps a metric of classes from having a standard error on these cases: a class with one case."""
    counts = np.bincount(truth.level_indexes, minlength=len(truth.target.levels))
    seen = np.flatnonzero(counts)
    if seen.size < 2:
        return f'{code} needs cases of two classes, but all test cases are of class "{_levels(truth, seen)}"'
    if single := [int(level) for level in seen if counts[level] == 1]:
        return f'class "{_levels(truth, single)}" has a single test case, without which {code} is not defined'
    return None


def _levels(truth: Truth, levels: Sequence[int] | Units) -> str:
    return '", "'.join(truth.target.levels[int(level)] for level in levels)
