"""Metrics of classes by scikit-learn's names: of guessed classes, and of scores.

Definitions are those of scikit-learn. Those of guesses are functions of the counts of true class by guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from redelve.answers.losses.loss_contract import METRICS, Units
from redelve.answers.losses.metric_contract import Metric, few_of_a_class, positive_level
from redelve.answers.losses.standard_losses import ZeroOne
from redelve.answers.predictions import ClassProbabilities, DecisionValues, Guesses, Prediction, Target, Truth
from redelve.model.dataset import Numbers
from redelve.stats.pseudo_values import Flags, LeftOut, area_without, counts_without, precision_without
from redelve.stats.within_folds import in_random_order, values_of_folds

if TYPE_CHECKING:
    from redelve.answers.answer import Answer

Counts = Numbers
"""Cases by true class and guess, on the last two axes."""
OfCounts = Callable[[Counts, int], Numbers]
"""A metric of counts, given the positive class."""


def recalls(counts: Counts) -> Numbers:
    """The share of each class that was recognised; NaN of a class without cases."""
    own = np.diagonal(counts, axis1=-2, axis2=-1)
    return np.asarray(own / counts.sum(axis=-1))


def balanced_accuracy(counts: Counts, positive: int) -> Numbers:
    """The mean of the recalls of the classes that there are (Brodersen et al. 2010)."""
    del positive
    there = _there(counts)
    return np.asarray(recalls(counts)[..., there].mean(axis=-1))


def matthews_corrcoef(counts: Counts, positive: int) -> Numbers:
    """The correlation of truth and guess (Matthews 1975; for several classes Gorodkin 2004)."""
    del positive
    true, guessed, total = counts.sum(axis=-1), counts.sum(axis=-2), counts.sum(axis=(-1, -2))
    right = np.trace(counts, axis1=-2, axis2=-1)
    covariance = right * total - (true * guessed).sum(axis=-1)
    spreads = (total**2 - (guessed**2).sum(axis=-1)) * (total**2 - (true**2).sum(axis=-1))
    found = np.where(spreads > 0, covariance / np.sqrt(spreads), 0.0)
    return _if_all_are_there(found, true, _there(counts))


def cohen_kappa(counts: Counts, positive: int) -> Numbers:
    """Agreement beyond chance (Cohen 1960)."""
    del positive
    true, guessed, total = counts.sum(axis=-1), counts.sum(axis=-2), counts.sum(axis=(-1, -2))
    chance = (true * guessed).sum(axis=-1) / total
    found = (np.trace(counts, axis1=-2, axis2=-1) - chance) / (total - chance)
    return _if_all_are_there(found, true, _there(counts))


Parts = tuple[Numbers, Numbers, Numbers]
"""For each class the cases that were found, those falsely called so, and those missed."""


def _f1(parts: Parts) -> Numbers:
    return _share(2 * parts[0], 2 * parts[0] + parts[1] + parts[2])


def _precision(parts: Parts) -> Numbers:
    return _share(parts[0], parts[0] + parts[1])


def _recall(parts: Parts) -> Numbers:
    return _share(parts[0], parts[0] + parts[2])


def _jaccard(parts: Parts) -> Numbers:
    return _share(parts[0], parts[0] + parts[1] + parts[2])


def _share(part: Numbers, whole: Numbers) -> Numbers:
    """Nothing of nothing is 0, as scikit-learn has it."""
    return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0))


def _parts(counts: Counts) -> Parts:
    found = np.diagonal(counts, axis1=-2, axis2=-1)
    return found, counts.sum(axis=-2) - found, counts.sum(axis=-1) - found


def _of_positive(share: Callable[[Parts], Numbers]) -> OfCounts:
    def found(counts: Counts, positive: int) -> Numbers:
        true = counts.sum(axis=-1)[..., positive]
        return np.asarray(np.where(true > 0, share(_parts(counts))[..., positive], np.nan))

    return found


def _macro(share: Callable[[Parts], Numbers]) -> OfCounts:
    def found(counts: Counts, positive: int) -> Numbers:
        del positive
        seen = _there(counts) | _there(np.swapaxes(counts, -1, -2))
        each = share(_parts(counts))[..., seen].mean(axis=-1)
        return _if_all_are_there(each, counts.sum(axis=-1), _there(counts))

    return found


def _weighted(share: Callable[[Parts], Numbers]) -> OfCounts:
    def found(counts: Counts, positive: int) -> Numbers:
        del positive
        true = counts.sum(axis=-1)
        each = (share(_parts(counts)) * true).sum(axis=-1) / true.sum(axis=-1)
        return _if_all_are_there(each, true, _there(counts))

    return found


def _micro(share: Callable[[Parts], Numbers]) -> OfCounts:
    def found(counts: Counts, positive: int) -> Numbers:
        del positive
        several = tuple(part.sum(axis=-1) for part in _parts(counts))
        return share((several[0], several[1], several[2]))

    return found


def _there(counts: Counts) -> Flags:
    """The classes that have cases in any of these tables."""
    every = counts.reshape(-1, *counts.shape[-2:]).sum(axis=0)
    return np.asarray(every.sum(axis=-1) > 0)


def _if_all_are_there(found: Numbers, true: Numbers, there: Flags) -> Numbers:
    """NaN where a class that has cases elsewhere has none here."""
    return np.asarray(np.where((true[..., there] > 0).all(axis=-1), found, np.nan))


SHARES = {"f1": _f1, "precision": _precision, "recall": _recall, "jaccard": _jaccard}
AVERAGES = {"": _of_positive, "_macro": _macro, "_micro": _micro, "_weighted": _weighted}
COUNTED: dict[str, OfCounts] = {
    "balanced_accuracy": balanced_accuracy,
    "matthews_corrcoef": matthews_corrcoef,
    "cohen_kappa": cohen_kappa,
    **{name + end: made(share) for name, share in SHARES.items() for end, made in AVERAGES.items()},
}
TOLD = {
    "balanced_accuracy": "balanced accuracy",
    "matthews_corrcoef": "Matthews correlation",
    "cohen_kappa": "Cohen's kappa",
    "roc_auc": "AUC",
    "roc_auc_ovr": "AUC (one class against the rest)",
    "roc_auc_ovo": "AUC (class against class)",
    "roc_auc_ovr_weighted": "AUC (one class against the rest, weighted)",
    "roc_auc_ovo_weighted": "AUC (class against class, weighted)",
    "average_precision": "average precision",
}
RAISED_BY_FEW = "average_precision"
"""What few cases have more of than many, on average."""
FROM_MINUS_ONE = ("matthews_corrcoef", "cohen_kappa")
OF_ONE_CLASS = (*SHARES, "roc_auc", RAISED_BY_FEW)
"""The metrics that ask which class is positive."""


@dataclass(frozen=True)
class ClassMetric(Metric):
    """A metric of classes, between 0 (or −1) and 1."""

    kinds = ("categorical",)
    best_value = 1.0
    interval_scale = "share"
    lowest = 0.0

    @property
    def name(self) -> str:
        """What users call it, and of which class it is if that was chosen."""
        told = TOLD.get(self.base_name)
        if told is None:
            told, _, average = self.base_name.partition("_")
            told = f"{told.replace('f1', 'F1')}{f' ({average})' if average else ''}"
        _, separator, level = self.code.partition("@")
        return f"{told} of class {level}" if separator else told

    def positive(self, target: Target) -> int:
        """Which level counts as positive, where the metric asks that."""
        return positive_level(self.code, target)

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """From 0, a perfect answer, to 1, or 2 where a metric may be −1."""
        return 0.0, 2.0 if self.base_name in FROM_MINUS_ONE else 1.0

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """What keeps the metric from these targets, or None."""
        if reason := super().why_not(targets):
            return reason.replace(f"loss {self.code}", self.code)
        levels = targets[0].levels
        if self.base_name in OF_ONE_CLASS and "@" not in self.code and len(levels) != 2:
            others = [name for name in METRICS if name.startswith(f"{self.base_name}_")]
            instead = f"{', '.join(others)}, or " if others else ""
            return (
                f'{self.code} is for two classes, but target "{targets[0].name}" has {len(levels)}: choose '
                f"{instead}{self.code}@{levels[0]} for one class against the rest"
            )
        if "@" in self.code:
            positive_level(self.code, targets[0])
        return None

    def why_undefined(self, truths: Sequence[Truth]) -> str | None:
        """A class with one test case, or none."""
        if "@" in self.code or self.base_name.endswith("_micro"):
            return None
        return few_of_a_class(truths[0], self.code)


@dataclass(frozen=True)
class CountedMetric(ClassMetric):
    """A metric of the counts of true class by guess."""

    takes = "guesses"

    def part_of(self, answer: Answer) -> Prediction | None:
        """The guesses meant for zero-one loss."""
        return ZeroOne("Z").part_of(answer)

    def left_out(self, truth: Truth, prediction: Prediction, units: Units | None) -> LeftOut:
        """From the counts, less one case or one unit."""
        assert isinstance(prediction, Guesses)
        of_counts, positive = COUNTED[self.base_name], positive_level(self.code, truth.target)
        guesses = prediction.values[0].astype(np.int64)
        levels = len(truth.target.levels)
        return counts_without(
            truth.level_indexes, guesses, lambda counts: of_counts(counts, positive), levels, units
        )

    def best_constant(self, truth: Truth) -> float | None:
        """The smallest loss of one class for all cases."""
        counts = np.bincount(truth.level_indexes, minlength=len(truth.target.levels)).astype(np.float64)
        tables = counts[:, None] * np.eye(len(counts))[:, None, :]  # a table for each guess
        with np.errstate(divide="ignore", invalid="ignore"):
            positive = positive_level(self.code, truth.target)
            found = COUNTED[self.base_name](tables, positive)
        return self.loss_of(float(np.nanmax(found))) if np.isfinite(found).any() else None


@dataclass(frozen=True)
class ScoredMetric(ClassMetric):
    """A metric of the order in which the probabilities of a class put the cases."""

    takes = "distribution"
    needs_every_level = True

    @property
    def is_raised_by_few(self) -> bool:  # type: ignore[override]
        """That of average precision: the highest of few cases is positive more often than of many."""
        return self.base_name == RAISED_BY_FEW

    def part_of(self, answer: Answer) -> Prediction | None:
        """The probabilities of all classes or, for one class against others, decision values."""
        if answer.probabilities is None and self.base_name in ("roc_auc", "average_precision"):
            return answer.decision_values
        return answer.probabilities

    @property
    def needs_words(self) -> str:
        """What a method must tell: areas of several classes are means of probabilities, as scikit-learn's."""
        if self.base_name in ("roc_auc", "average_precision"):
            return "predicted probabilities or decision values"
        return super().needs_words

    def left_out(self, truth: Truth, prediction: Prediction, units: Units | None) -> LeftOut:
        """From placements, or from running sums over the order."""
        if not isinstance(prediction, ClassProbabilities | DecisionValues):
            raise self._refusal("class probabilities", prediction)
        true, scores = truth.level_indexes, prediction.values
        if self.base_name in ("roc_auc", "average_precision"):
            positive = positive_level(self.code, truth.target)
            found = area_without if self.base_name == "roc_auc" else precision_without
            return found(true == positive, scores[:, positive], units)
        seen = np.unique(true)
        weighted = self.base_name.endswith("_weighted")
        if "_ovr" in self.base_name:
            return _against_rest(true, scores, seen, units, weighted=weighted)
        return _class_against_class(true, scores, seen, units, weighted=weighted)

    def values_of_folds(
        self, truth: Truth, prediction: Prediction, units: Units | None, folds: Units
    ) -> Numbers:
        """Only cases of the same fold are put in order: scores of different models are on no one scale."""
        if not isinstance(prediction, ClassProbabilities | DecisionValues):
            raise self._refusal("class probabilities", prediction)
        true, scores = truth.level_indexes, prediction.values
        parts = self._parts_of(truth)
        each = [
            values_of_folds(partial(part.left_out, true, scores), partial(part.weight, true), folds, units)
            for part in parts
        ]
        return np.asarray(np.average(each, axis=0, weights=[part.share for part in parts]))

    def _parts_of(self, truth: Truth) -> list[OrderPart]:
        """What the metric is a weighted mean of: one metric of two classes, or areas of several."""
        true, name = truth.level_indexes, self.base_name
        if name in ("roc_auc", "average_precision"):
            return [OrderPart((positive_level(self.code, truth.target),), is_area=name == "roc_auc")]
        seen = np.unique(true).tolist()
        parts = (
            [OrderPart((one,)) for one in seen]
            if "_ovr" in name
            else [OrderPart(both) for both in combinations(seen, 2)]
        )
        if not name.endswith("_weighted"):
            return parts
        return [replace(part, share=float(np.isin(true, part.levels).sum())) for part in parts]

    def why_no_number(
        self, truths: Sequence[Truth], prediction: Prediction, units: Units | None, folds: Units | None = None
    ) -> str | None:
        """No fold has cases of two classes, to be put in order."""
        true = truths[0].level_indexes
        if folds is None or any(np.unique(true[folds == fold]).size > 1 for fold in np.unique(folds)):
            return None
        return (
            f"{self.code} compares cases of the same fold, and each fold has test cases of one class only: "
            "use fewer folds, or a metric of guessed classes"
        )

    def best_constant(self, truth: Truth) -> float | None:
        """Equal scores for all: half of the pairs in order, and the share of positive cases."""
        if self.base_name != "average_precision":
            return 0.5
        positive = positive_level(self.code, truth.target)
        return 1 - float((truth.level_indexes == positive).mean())


@dataclass(frozen=True)
class OrderPart:
    """A metric of the order of scores that is, or is a part of, a metric of classes.

    Its `levels` are one class against all others, or two against each other; `share` is its weight among the
    parts of all folds together.
    """

    levels: tuple[int, ...]
    share: float = 1.0
    is_area: bool = True

    def left_out(self, true: Units, scores: Numbers, rows: Units, units: Units | None) -> LeftOut:
        """The metric of these rows, and without each of their units."""
        here, own = true[rows], scores[rows]
        if len(self.levels) == 2:
            return _class_against_class(here, own, np.array(self.levels), units, weighted=False)
        positive, own = here == self.levels[0], own[:, self.levels[0]]
        if self.is_area:
            return area_without(positive, own, units)
        return in_random_order(partial(precision_without, labels=units), positive, own, int(rows[0]))

    def weight(self, true: Units, rows: Units) -> float:
        """The pairs of an area in these rows, or the positive cases of a precision; none without others."""
        first = np.count_nonzero(true[rows] == self.levels[0])
        others = (
            rows.size - first if len(self.levels) == 1 else np.count_nonzero(true[rows] == self.levels[1])
        )
        return float(first * (others if self.is_area else bool(others)))


def _averaged(found: Sequence[LeftOut], weights: Sequence[LeftOut]) -> LeftOut:
    """The weighted mean of several metrics, of all cases and without each unit."""
    of_all = np.array([weight for weight, _ in weights])
    without = np.array([left for _, left in weights])
    value = float((of_all * [one for one, _ in found]).sum() / of_all.sum())
    values = np.array([left for _, left in found])
    return value, np.asarray((without * values).sum(axis=0) / without.sum(axis=0))


def _sizes(here: Flags, units: Units | None, *, counts: bool) -> LeftOut:
    """How many cases there are, of all and without each unit; ones where that does not count."""
    count = here.size if units is None else int(units.max()) + 1
    if not counts:
        return 1.0, np.ones(count)
    lost = here.astype(np.float64) if units is None else np.bincount(units, here, minlength=count)
    return float(here.sum()), np.asarray(here.sum() - lost)


def _against_rest(
    true: Units, scores: Numbers, seen: Units, units: Units | None, *, weighted: bool
) -> LeftOut:
    """The mean area of each class against all others, by its share where that is wanted (Provost 2000)."""
    found = [area_without(true == level, scores[:, level], units) for level in seen]
    return _averaged(found, [_sizes(true == level, units, counts=weighted) for level in seen])


def _class_against_class(
    true: Units, scores: Numbers, seen: Units, units: Units | None, *, weighted: bool
) -> LeftOut:
    """The mean area over pairs of classes, each by both classes' scores (Hand and Till 2001)."""
    found, sizes = [], []
    for place, first in enumerate(seen):
        for second in seen[place + 1 :]:
            both = np.isin(true, (first, second))
            ways = [_area_within(true == one, scores[:, one], both, units) for one in (first, second)]
            found.append((ways[0][0] / 2 + ways[1][0] / 2, (ways[0][1] + ways[1][1]) / 2))
            sizes.append(_sizes(both, units, counts=weighted))
    return _averaged(found, sizes)


def _area_within(
    positive: Flags,
    scores: Numbers,
    both: Flags,
    units: Units | None,
) -> LeftOut:
    """The area among some of the cases, and without each unit of all."""
    labels = np.arange(both.size) if units is None else units
    inside, places = np.unique(labels[both], return_inverse=True)
    value, left = area_without(positive[both], scores[both], places.ravel())
    without = np.full(int(labels.max()) + 1, value)
    without[inside] = left
    return value, without


class BalancedAccuracy(CountedMetric):
    """The mean of the classes' shares of right answers, in per cent."""

    in_per_cent = True


for _name in COUNTED:
    METRICS.add(_name, BalancedAccuracy if _name == "balanced_accuracy" else CountedMetric)
for _name in ("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted"):
    METRICS.add(_name, ScoredMetric)
METRICS.add("average_precision", ScoredMetric)
METRICS.add("mcc", lambda name: CountedMetric("matthews_corrcoef"))
