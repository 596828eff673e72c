"""Any scorer of scikit-learn, and any metric(y_true, y_pred): values without a block of cases at a time.

Where classes are guessed, cases with the same truth and guess are left out alike, so that one call for each
pair of classes is enough; elsewhere the cases make 50 blocks, the same for all methods and training sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses.loss_contract import METRICS, Loss, Units
from redelve.answers.losses.metric_contract import Metric
from redelve.answers.losses.standard_losses import SquaredError, ZeroOne
from redelve.answers.predictions import (
    KINDS,
    ClassProbabilities,
    DecisionValues,
    Guesses,
    Prediction,
    Target,
    Truth,
)
from redelve.errors import SpecError
from redelve.model.dataset import Numbers
from redelve.registry import value_told
from redelve.seeds import generator
from redelve.stats.pseudo_values import LeftOut, called_without, unit_numbers
from redelve.stats.within_folds import values_of_folds
from redelve.text_numbers import parse_number

if TYPE_CHECKING:
    from redelve.answers.answer import Answer

Needs = Literal["guesses", "probabilities", "scores"]
"""What a function is called with: scores are decision values where there are no probabilities."""
BLOCKS = 50
"""So many blocks of cases, or of groups, are left out in turn."""
BETTER = {"score": True, "error": False, "loss": False, "deviance": False}
"""How names of scikit-learn's functions end, and whether more is better."""
ROUGH = ("max_error", "median_absolute_error")
"""They rest on one case: leaving cases out does not show how they vary (Efron 1982, section 3.4)."""
SCORER = re.compile(r"(neg_)?[a-z][a-z0-9]+(_[a-z0-9]+)+")
"""What names of scikit-learn's scorers look like."""


@dataclass(frozen=True)
class CalledMetric(Metric):
    """A metric that is a function of true and predicted values, and what else it is called with."""

    kinds = KINDS
    function: Callable[..., Any] = field(default=lambda true, found: np.nan, repr=False)
    needs: Needs = "guesses"
    more_is_better: bool = True
    options: tuple[tuple[str, Any], ...] = ()
    is_known: bool = False
    """Whether it is known by its name alone."""
    is_shift = True  # nobody knows its zero

    @property
    def name(self) -> str:
        """Its name as words."""
        return self.code.removeprefix("neg_").replace("_", " ")

    @property
    def takes(self) -> Literal["guesses", "distribution"]:  # type: ignore[override]
        """What it is called with."""
        return "guesses" if self.needs == "guesses" else "distribution"

    @property
    def best_value(self) -> float | None:  # type: ignore[override]
        """Of a metric that grows with quality the negative is the loss."""
        return 0.0 if self.more_is_better else None

    @property
    def is_builtin(self) -> bool:
        """Whether whoever reads an archive knows it."""
        return self.is_known

    @property
    def needs_words(self) -> str:
        """What a method must tell."""
        return "predicted probabilities or decision values" if self.needs == "scores" else super().needs_words

    def part_of(self, answer: Answer) -> Prediction | None:
        """The guesses, or the probabilities of all classes."""
        if self.needs == "scores" and answer.probabilities is None and len(answer.targets[0].levels) == 2:
            return answer.decision_values
        if self.needs != "guesses":
            return answer.probabilities
        loss = ZeroOne("Z") if answer.targets[0].kind == "categorical" else SquaredError("S")
        return loss.part_of(answer)

    def left_out(self, truth: Truth, prediction: Prediction, units: Units | None) -> LeftOut:
        """By calls: one for each pair of classes, or for each unit."""
        true, found = self._arguments(truth, prediction)

        def metric(rows: NDArray[np.int64]) -> float:
            return self._called(true[rows], found[rows])

        if units is None and isinstance(prediction, Guesses) and truth.target.kind == "categorical":
            kinds = truth.values * len(truth.target.levels) + prediction.values[0]
            _, firsts, places = np.unique(kinds, return_index=True, return_inverse=True)
            every = np.arange(len(truth))
            each = np.array([metric(np.delete(every, first)) for first in firsts])
            return metric(every), each[places.ravel()]
        return called_without(metric, len(truth), units)

    def values_of_folds(
        self, truth: Truth, prediction: Prediction, units: Units | None, folds: Units
    ) -> Numbers:
        """The mean over folds where the order of answers is all that counts; else of all folds together."""
        true, found = self._arguments(truth, prediction)
        if not self._is_of_order(truth, prediction):
            return self.values(truth, prediction, units)

        def of_rows(rows: Units, own: Units | None) -> LeftOut:
            if rows.size < 2:
                return np.nan, np.full(1, np.nan)  # whatever the function may say of the order of one
            return called_without(
                lambda kept: self._called(true[rows[kept]], found[rows[kept]]), rows.size, own
            )

        return values_of_folds(of_rows, lambda rows: float(rows.size), folds, units)

    def of_units(
        self, truths: Sequence[Truth], prediction: Prediction, units: Units | None, folds: Units | None = None
    ) -> Numbers:
        """The pseudo-values; what a block of units is away from the mean is one unit's."""
        cases = super().of_units(truths, prediction, units, folds)
        labels, own = self.unit_numbers(truths[0], units), super().unit_numbers(truths[0], units)
        if labels is None or (folds is not None and self._is_of_order(truths[0], prediction)):
            return cases
        return one_of_each_block(cases, labels, np.arange(cases.size) if own is None else own)

    def _is_of_order(self, truth: Truth, prediction: Prediction) -> bool:
        """Whether it stays the same where all answers are stretched and shifted, as a correlation does.

        Answers of several trained models then count for how each of them orders its own cases.
        """
        if self.needs == "guesses" and truth.target.kind == "categorical":
            return False
        true, found = self._arguments(truth, prediction)
        before, after = self._called(true, found), self._called(true, _stretched(found, prediction))
        return bool(np.isfinite(before)) and bool(np.isclose(before, after, rtol=1e-9, atol=1e-12))

    def unit_numbers(self, truth: Truth, units: Units | None) -> Units | None:
        """The units as they are, or at most so many blocks of cases, or of units, at random."""
        own = super().unit_numbers(truth, units)
        count = len(truth) if own is None else int(own.max()) + 1
        in_pairs = self.needs == "guesses" and truth.target.kind == "categorical"
        if count <= BLOCKS or (own is None and in_pairs):
            return own
        blocks = generator("blocks", count).permutation(np.arange(count) % BLOCKS)
        return np.asarray(blocks if own is None else unit_numbers(blocks[own]), dtype=np.int64)

    def _called(self, true: NDArray[Any], found: NDArray[Any]) -> float:
        return self._tried(true, found)[0]

    def _tried(self, true: NDArray[Any], found: NDArray[Any]) -> tuple[float, str]:
        """The value or, where the function raises an error or gives no number, NaN and what it did.

        Scikit-learn raises one where a class is missing, as it may be in a fold: all folds together count.
        """
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                given = self.function(true, found, **dict(self.options))
            except Exception as error:  # whatever the user's function may raise
                return np.nan, f"raised {type(error).__name__}: {error}"
        return _one_number(given)

    def why_no_number(
        self, truths: Sequence[Truth], prediction: Prediction, units: Units | None, folds: Units | None = None
    ) -> str | None:
        """What the function did: with all cases, or without the first unit that it cannot do without."""
        true, found = self._arguments(truths[0], prediction)
        if told := self._tried(true, found)[1]:
            return f"the metric {self.code} {told}"
        labels = self.unit_numbers(truths[0], units)
        is_apart = folds is not None and self._is_of_order(truths[0], prediction)
        parts = [folds == fold for fold in np.unique(folds)] if folds is not None and is_apart else []
        of_folds = [self._tried(true[part], found[part])[1] for part in parts]
        if parts and all(of_folds):
            return f"in each fold the metric {self.code} {of_folds[0]}"
        each = np.arange(len(true)) if labels is None else labels
        for unit in np.unique(each):
            if told := self._tried(true[each != unit], found[each != unit])[1]:
                return f"without some test cases, as standard errors need, the metric {self.code} {told}"
        return None

    def _arguments(self, truth: Truth, prediction: Prediction) -> tuple[NDArray[Any], NDArray[Any]]:
        if truth.target.kind != "categorical":
            assert isinstance(prediction, Guesses)
            return truth.values, prediction.values[0]
        names = labels_of(truth.target)
        if isinstance(prediction, ClassProbabilities | DecisionValues):
            values = prediction.values
            return names[truth.level_indexes], values[:, 1] if len(names) == 2 else values
        assert isinstance(prediction, Guesses)
        return names[truth.level_indexes], names[prediction.values[0].astype(np.int64)]


def _one_number(given: object) -> tuple[float, str]:
    """What a metric returned as a number, or NaN and what it was.

    >>> _one_number(0.5), _one_number(None)
    ((0.5, ''), (nan, 'returned None: return one number'))
    """
    try:
        value = float(np.asarray(given).item())
    except (TypeError, ValueError):
        size = np.size(given)  # type: ignore[arg-type]
        told = f"{size} numbers" if size > 1 else value_told(given)
        return np.nan, f"returned {told}: return one number"
    return value, "" if np.isfinite(value) else f"returned {value}: return one number"


def labels_of(target: Target) -> NDArray[Any]:
    """The classes as the user's metric is given them: numbers where all of them are.

    >>> labels_of(Target("ill", "categorical", ("0", "1"))).tolist()
    [0, 1]
    """
    numbers = [parse_number(level) for level in target.levels]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return np.array(target.levels)
    values = np.array(known)
    return values.astype(np.int64) if (values == values.astype(np.int64)).all() else values


def metric_of(given: Callable[..., Any]) -> Loss:
    """The metric that a scorer of scikit-learn, or a function, stands for."""
    function = getattr(given, "_score_func", given)
    name = str(getattr(function, "__name__", type(function).__name__))
    options: Mapping[str, Any] = getattr(given, "_kwargs", {})
    if function is given:
        ending = name.rpartition("_")[2]
        if ending not in BETTER:
            raise SpecError(
                f"nobody can tell whether more of {name} is better: give "
                f"sklearn.metrics.make_scorer({name}, greater_is_better=True), or False"
            )
        better = BETTER[ending]
    else:
        better = getattr(given, "_sign", 1) > 0
    return _made(name, function, _needs(given), better, options)


def _made(
    name: str, function: Callable[..., Any], needs: Needs, better: bool, options: Mapping[str, Any]
) -> Loss:
    code = re.sub(r"[^0-9A-Za-z_]", "", name) or "metric"
    average = str(options.get("average", "binary"))
    plain = code.removesuffix("_score") + ("" if average == "binary" else f"_{average}")
    if str(function.__module__).partition(".")[0] == "sklearn" and set(options) <= {"average"}:
        for known in (code, plain) if average == "binary" else (plain,):
            if known in METRICS:
                return METRICS[known](known)
    if code in METRICS:
        code = f"{code}_own"
    if code in ROUGH:
        raise SpecError(
            f"{code} rests on one case: leaving cases out does not show how it varies; choose mae or rmse"
        )
    return CalledMetric(code, function, needs, better, tuple(sorted(options.items())))


def _needs(scorer: object) -> Needs:
    response = getattr(scorer, "_response_method", "predict")
    several = (response,) if isinstance(response, str) else tuple(response)
    if several == ("predict",) or response == "default":
        return "guesses"
    return "scores" if "decision_function" in several else "probabilities"


def named_scorer(code: str) -> Loss | None:
    """The metric of a name that scikit-learn knows, as "d2_absolute_error_score"; None for other names."""
    if not SCORER.fullmatch(code):
        return None
    try:
        from sklearn.metrics import get_scorer, get_scorer_names
    except ImportError:
        return None
    for name in (code, f"neg_{code}"):
        if name in get_scorer_names():
            return _known(name, get_scorer(name))
    return None


def _known(code: str, scorer: Any) -> Loss:
    if code.removeprefix("neg_") in ROUGH:
        return metric_of(scorer)
    better = getattr(scorer, "_sign", 1) > 0
    options = tuple(sorted(getattr(scorer, "_kwargs", {}).items()))
    return CalledMetric(code, scorer._score_func, _needs(scorer), better, options, is_known=True)


def _stretched(found: NDArray[Any], prediction: Prediction) -> NDArray[Any]:
    """Answers of the same kind in the same order, of another level and spread: probabilities stay such."""
    if not isinstance(prediction, ClassProbabilities):
        return np.asarray(2 * found + 1)
    return np.asarray((found + (1.0 if found.ndim == 1 else np.eye(found.shape[1])[0])) / 2)


def one_of_each_block(values: Numbers, labels: Units, units: Units) -> Numbers:
    """What a block's pseudo-values are away from the mean, put down to one of its units, drawn at random.

    Blocks tell as much as there are blocks, wherever cases, groups or folds are counted later.

    >>> found = one_of_each_block(np.array([1.0, 1.0, 4.0, 4.0]), np.array([0, 0, 1, 1]), np.arange(4))
    >>> sorted(found.tolist())
    [-0.5, 2.5, 2.5, 5.5]
    """
    count = int(units.max()) + 1
    if int(labels.max()) + 1 >= count:
        return values
    mean, firsts = values.mean(), np.unique(units, return_index=True)[1]
    order = generator("one of each block", count).permutation(count)
    chosen = order[np.unique(labels[firsts][order], return_index=True)[1]]
    place = np.full(count, -1)
    place[chosen] = labels[firsts][chosen]
    found, here = np.full(values.size, mean), place[units]
    sizes, away = np.bincount(units, minlength=count), np.bincount(labels, values - mean)
    found[here >= 0] += (away[here] / sizes[units])[here >= 0]
    return found
