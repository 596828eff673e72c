"""What is predicted of a model: its balanced error rate on new cases, or the mean of any loss of redelve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from redelve.answers.answer import Answer, score
from redelve.answers.losses import ClassMetric, CountedMetric, Loss, LossLike, ZeroOne, as_loss
from redelve.answers.losses.class_metrics import BalancedAccuracy
from redelve.answers.predictions import Prediction, Target, Truth
from redelve.errors import PredictionError, SpecError, StatisticsError
from redelve.findings.by_metric import FEWEST, FEWEST_IN_FOLDS, RARE
from redelve.model.dataset import Numbers, Rows
from redelve.run.pooled_answers import joined_predictions
from redelve.stats.balanced_errors import BalancedErrors
from redelve.stats.estimates import Interval, t_interval
from redelve.stats.pseudo_analyses import MetricInterval
from redelve.stats.pseudo_values import kurtosis_df

BER = "ber"
ERROR = "error"
"""The share of errors by its name instead of its code."""
Judged = tuple[Sequence[Truth], Prediction, Rows | None, Rows | None]
"""What is judged: truths, predictions, the group and the fold of each case."""
SHIFTS = 200
"""So many other cases' predictions are tried for a case, at most, to see what no information would cost."""


@dataclass(frozen=True)
class Measure:
    """A loss of every case and how it is averaged: over all cases, or over classes first (`balanced`)."""

    loss: Loss
    balanced: bool = False
    metric: Loss | None = None
    """The metric that it is shown as, where users know it by that name."""

    @property
    def shown_as(self) -> Loss:
        """What users are shown the values of."""
        return self.loss if self.metric is None else self.metric

    @property
    def of_cases(self) -> bool:
        """Whether every case is judged on its own."""
        return self.loss.mean_of_cases

    @property
    def name(self) -> str:
        """The measure in words."""
        if self.shown_as.is_metric:
            return self.shown_as.shown_name
        if self.balanced:
            return "balanced error rate"
        return "error rate" if self.is_share else self.loss.name.lower()

    @property
    def is_share(self) -> bool:
        """Whether it counts errors, each 0 or 1."""
        return self.loss.is_share

    @property
    def of_probabilities(self) -> bool:
        """Whether it judges predicted probabilities."""
        return self.loss.takes == "distribution"

    def losses(self, truth: Truth, answer: Answer) -> Numbers:
        """The loss of every case."""
        found = score(answer, [truth], [self.loss])
        if self.loss.code not in found:
            raise PredictionError(
                f"{self.loss.name.lower()} needs {self.loss.needs_words}, and the model gives none: choose "
                "another loss, or a model with predict_proba"
            )
        return self._numbers(found[self.loss.code], truth)

    def _numbers(self, values: Numbers, truth: Truth) -> Numbers:
        """The losses, all of which must be numbers."""
        if not np.isnan(values).any():
            return values
        value = truth.values[int(np.argmax(np.isnan(values)))]
        raise StatisticsError(
            self.loss.why_undefined([truth])
            or f"{self.loss.words} is not a number in {int(np.isnan(values).sum())} of {len(truth)} cases, "
            f"first where the target is {value:g}: it must be one in every case"
        )

    def part(self, answer: Answer) -> Prediction:
        """What the measure judges of an answer."""
        found = self.loss.part_of(answer)
        if found is None:
            raise PredictionError(
                f"{self.loss.name} needs {self.loss.needs_words}, and the model gives none: choose another "
                "metric, or a model with predict_proba"
            )
        return found

    def together(
        self, truth: Truth, tested: Sequence[Rows], parts: Sequence[Prediction], groups: Rows | None
    ) -> list[Numbers]:
        """Pseudo-values of the cases of each split, from the predictions of all of them put together."""
        rows = np.concatenate(tested)
        units = None if groups is None else groups[rows]
        folds = np.repeat(np.arange(len(tested)), [len(one) for one in tested])
        judged: Judged = [part_of(truth, rows)], joined_predictions(parts), units, folds
        if self.loss.is_raised_by_few:
            self._check_scale(judged)
            judged = *judged[:3], None
        values = self.loss.of_units(*judged)
        if np.isnan(values).any():
            reason = self.loss.why_undefined(judged[0]) or self.loss.why_no_number(*judged)
            raise StatisticsError(reason or f"{self.loss.name} is not defined without one of the cases")
        return np.split(values, np.cumsum([len(one) for one in tested])[:-1])

    def _check_scale(self, judged: Judged) -> None:
        """Refuse scores of folds that are not on one scale: cases of all folds would be in a wrong order."""
        area = as_loss(self.loss.code.replace("average_precision", "roc_auc"))
        together, within = (area.of_units(*judged[:3], folds) for folds in (None, judged[-1]))
        lost = float(together.mean() - within.mean())
        if lost > float(together.std(ddof=1)) / together.size**0.5:
            raise StatisticsError(
                f"{self.name} puts the cases of all folds in one order, but the scores of the models that "
                f"were trained for them are on different scales: their area under the ROC curve is "
                f"{1 - together.mean():.2f} of all together and {1 - within.mean():.2f} within folds; choose "
                "the way holdout, or roc_auc"
            )

    def groups(self, classes: Rows) -> Rows:
        """The classes that are averaged over: all cases are one where the measure is not balanced."""
        return classes if self.balanced else np.zeros_like(classes)

    def weights(self, classes: Rows) -> Numbers:
        """What each case counts, 1/(K n_c) or 1/n; they sum to one."""
        groups = self.groups(classes)
        _, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
        each: Numbers = 1 / (len(counts) * counts[codes])
        return each

    def value(self, losses: Numbers, classes: Rows) -> float:
        """The measure of these cases."""
        return float(losses @ self.weights(classes))

    def independent_interval(self, losses: Numbers, classes: Rows, level: float) -> Interval | None:
        """The interval where cases are independent of each other and of the model.

        By class Wilson's for errors (see `BalancedErrors.interval`), Student's for other losses.
        """
        if self.is_share:
            return self.errors(losses, classes).interval(level)
        if losses.size < 2 or not np.isfinite(losses).all():
            return None
        error = float(losses.std(ddof=1)) / losses.size**0.5
        if not self.of_cases:
            df = kurtosis_df(losses)
            return self.scale(classes, losses).of(float(losses.mean()), error, df, level)
        return t_interval(float(losses.mean()), error, float(losses.size - 1), level)

    def scale(self, classes: Rows, losses: Numbers | None = None) -> MetricInterval:
        """How the interval of a metric is made, of independent cases if their values are given."""
        fewest = int(np.unique(classes, return_counts=True)[1].min())
        rare = fewest < RARE * classes.size and losses is None and isinstance(self.loss, CountedMetric)
        is_of_classes = classes.max() > classes.min()
        needed = FEWEST_IN_FOLDS if rare else FEWEST
        few = is_of_classes and fewest < needed
        return MetricInterval(
            self.loss.interval_scale,
            by_wilson=losses is not None,
            span=self.loss.limits([])[1] if isinstance(self.loss, ClassMetric) else 1.0,
            smallest=fewest if is_of_classes else None,
            effective=np.inf if losses is None else losses.size / (2 * losses.size / kurtosis_df(losses) + 1),
            why_not=f"{self.loss.name} needs {needed} cases of each class for an interval" if few else None,
        )

    def errors(self, losses: Numbers, classes: Rows) -> BalancedErrors:
        """Errors and cases of each class, or of all together."""
        groups = self.groups(classes)
        names = np.unique(groups)
        counts = [int((groups == one).sum()) for one in names]
        wrong = [round(float(losses[groups == one].sum())) for one in names]
        return BalancedErrors(tuple(names.tolist()), tuple(counts), tuple(wrong))

    def clip(self, value: float, target: Target) -> float:
        """The value within what the measure can be."""
        if not isfinite(value):
            return value
        low, high = self.loss.limits([target])
        return min(max(value, low), high)

    def chance(self, classes: Rows) -> float | None:
        """What the best constant answer costs, where the measure counts errors."""
        if not self.is_share:
            return None
        counts = np.unique(classes, return_counts=True)[1]
        return 1 - 1 / len(counts) if self.balanced else 1 - float(counts.max()) / float(counts.sum())

    def no_information(self, truth: Truth, answer: Answer, classes: Rows) -> float:
        """γ̂: the measure if inputs told nothing, from predictions of other cases (Efron and Tibshirani 1997).

        They average over all pairs of cases; with many cases an even choice of them is enough.
        """
        prediction = answer.for_loss(self.loss)
        assert prediction is not None
        count = len(truth)
        shifts = np.unique(np.linspace(0, count - 1, min(count, SHIFTS)).astype(np.int64))
        values = [
            self.value(self.loss.of([_moved(truth, int(shift))], prediction), np.roll(classes, int(shift)))
            for shift in shifts
        ]
        return float(np.mean(values))


def classes_of(truth: Truth) -> Rows:
    """The class of each case; all the same where numbers are predicted."""
    if truth.target.kind == "categorical":
        return truth.level_indexes
    return np.zeros(len(truth), dtype=np.int64)


def part_of(truth: Truth, rows: Rows) -> Truth:
    """The true targets of these cases."""
    return Truth(truth.target, truth.values[rows], truth.censoring[rows])


def _moved(truth: Truth, shift: int) -> Truth:
    return Truth(truth.target, np.roll(truth.values, shift), np.roll(truth.censoring, shift))


def measure_for(loss: LossLike, targets: Sequence[Target]) -> Measure:
    """The measure of this name: "ber", "error", a code of redelve's losses such as S or Q, or a metric.

    >>> measure_for("ber", [Target("kind", "categorical", ("a", "b"))]).name
    'balanced error rate'
    """
    own = loss.lower() if isinstance(loss, str) else ""
    named = None if own in (BER, ERROR) else as_loss(loss)
    balanced = own == BER or isinstance(named, BalancedAccuracy)
    found = ZeroOne() if balanced or named is None else named
    if (reason := found.why_not(targets)) is not None:
        why = "the balanced error rate is for classes" if balanced else reason
        raise SpecError(f'loss "{loss}" does not fit: {why}; {_way_out(targets)}')
    return Measure(found, balanced, named if balanced else None)


def _way_out(targets: Sequence[Target]) -> str:
    numerical = any(target.kind != "categorical" for target in targets)
    return 'choose "S" or "A" for numbers' if numerical else 'choose "ber", "error", "Q" or "L" for classes'
