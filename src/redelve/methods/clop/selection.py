"""cv, holdout, bootstrap and grid: a model, and a guess of the error it will make."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid, StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if

from redelve.methods.clop.forest import LARGEST_SEED
from redelve.methods.clop.hyperparameters import (
    RANDOM_STATE,
    Hyperparameter,
    HyperparameterRange,
    having,
    number,
    whole,
)
from redelve.methods.clop.objects import Codes, LearningObject, made
from redelve.model.dataset import Numbers

MODEL = Hyperparameter(
    "model", having("classifier", "fit", "predict"), "the model whose error is to be guessed"
)
FOLDS = Hyperparameter("folds", whole(2), "number of folds; no more than the smallest class has patterns")
Splits = Iterator[tuple[Codes, Codes]]


@dataclass(frozen=True)
class Guess:
    """A guess of the balanced error rate, and its standard error by equation 1 (Guyon et al. 2006)."""

    error: float
    standard_error: float


def guess_of(wrong: Numbers, codes: Codes) -> Guess:
    """From how often each held-out pattern was misclassified; patterns never held out are NaN.

    Where no pattern of a class was held out, there is nothing to guess from: the guess is NaN.

    σ² = ¼ (p₊(1 - p₊)/m₊ + p₋(1 - p₋)/m₋), for K classes with 1/K² instead.

    >>> guess = guess_of(np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]), np.array([0, 0, 0, 0, 1, 1]))
    >>> guess.error, round(guess.standard_error, 6)
    (0.375, 0.207289)
    """
    known = ~np.isnan(wrong)
    groups = [wrong[known & (codes == code)] for code in np.unique(codes)]
    if min(len(group) for group in groups) == 0:
        return Guess(np.nan, np.nan)
    rates = np.array([group.mean() for group in groups])
    variances = rates * (1 - rates) / np.array([len(group) for group in groups])
    return Guess(float(rates.mean()), float(np.sqrt(variances.sum()) / len(groups)))


def held_out_errors(model: Any, X: Any, labels: NDArray[Any], splits: Splits) -> tuple[Numbers, list[float]]:
    """How often each pattern was misclassified when held out, and the balanced error rate of each split."""
    wrong, times, rates = np.zeros(len(labels)), np.zeros(len(labels)), []
    for learnt, held in splits:
        missed = clone(model).fit(X[learnt], labels[learnt]).predict(X[held]) != labels[held]
        wrong[held] += missed
        times[held] += 1
        rates.append(
            guess_of(missed.astype(np.float64), np.unique(labels[held], return_inverse=True)[1]).error
        )
    with np.errstate(invalid="ignore"):
        return wrong / np.where(times > 0, times, np.nan), rates


def _model_has(method: str) -> Callable[[Any], bool]:
    return lambda selection: hasattr(getattr(selection, "model_", selection.model), method)


class ModelSelection(ClassifierMixin, LearningObject):  # type: ignore[misc]
    """Trains `model` on all patterns as `model_` and guesses its error from training on some of them.

    `guess_` is NaN where a class has one pattern only, which cannot be both learnt from and held out.
    """

    model: Any
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if MODEL.range.accepts(self.model):
            tags.input_tags.sparse = get_tags(self.model).input_tags.sparse
            tags.classifier_tags = get_tags(self.model).classifier_tags
        return tags

    def fit(self, X: Any, y: Any) -> Any:
        """Guess the error, then train on all patterns."""
        X, codes = self._accept_labelled(X, y)
        labels = self.classes_[codes]
        wrong, self.split_errors_ = held_out_errors(self.model, X, labels, self._splits(codes))
        guess = guess_of(wrong, codes)
        self.guess_, self.standard_error_ = guess.error, guess.standard_error
        self.model_ = clone(self.model).fit(X, labels)
        return self

    @abstractmethod
    def _splits(self, codes: Codes) -> Splits: ...

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(LARGEST_SEED))

    def predict(self, X: Any) -> NDArray[Any]:
        """The model's predictions."""
        X = self._accept_inputs(X)
        predicted: NDArray[Any] = self.model_.predict(X)
        return predicted

    @available_if(_model_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Numbers:
        """The model's probabilities."""
        X = self._accept_inputs(X)
        shares: Numbers = self.model_.predict_proba(X)
        return shares

    @available_if(_model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Numbers:
        """The model's discriminant values."""
        X = self._accept_inputs(X)
        scores: Numbers = self.model_.decision_function(X)
        return scores


def _folds(codes: Codes, folds: int, seed: int) -> Splits:
    """No folds where a class has one pattern only, which cannot be both learnt from and held out."""
    fewest = int(np.bincount(codes).min())
    if fewest > 1:
        yield from StratifiedKFold(min(folds, fewest), shuffle=True, random_state=seed).split(codes, codes)


class CrossValidation(ModelSelection):
    """cv: every pattern is held out once (in each of `repeats`), classes spread evenly over the folds.

    `guess_` is the balanced error rate of all held-out predictions, `split_errors_` that of each fold.
    """

    called = "cv"
    hyperparameters = (
        MODEL,
        FOLDS,
        Hyperparameter("repeats", whole(1), "times with new folds"),
        RANDOM_STATE,
    )

    def __init__(self, model: Any, folds: int = 10, *, repeats: int = 1, random_state: Any = None) -> None:
        self.model = made(model)
        self.folds = folds
        self.repeats = repeats
        self.random_state = random_state

    def _splits(self, codes: Codes) -> Splits:
        random = check_random_state(self.random_state)
        for _ in range(self.repeats):
            yield from _folds(codes, self.folds, random.randint(LARGEST_SEED))


class HoldOut(ModelSelection):
    """holdout: a share of each class is held out, `repeats` times anew."""

    called = "holdout"
    hyperparameters = (
        MODEL,
        Hyperparameter("share", number(above=0, below=1), "of the patterns to hold out"),
        Hyperparameter("repeats", whole(1), "times with new patterns"),
        RANDOM_STATE,
    )

    def __init__(
        self, model: Any, share: float = 1 / 3, *, repeats: int = 1, random_state: Any = None
    ) -> None:
        self.model = made(model)
        self.share = share
        self.repeats = repeats
        self.random_state = random_state

    def _splits(self, codes: Codes) -> Splits:
        if np.bincount(codes).min() > 1:
            draw = StratifiedShuffleSplit(self.repeats, test_size=self.share, random_state=self._seed())
            yield from draw.split(codes, codes)


class Bootstrap(ModelSelection):
    """bootstrap: training sets drawn with replacement, class by class; those not drawn are held out.

    `guess_` is the leave-one-out bootstrap (Efron and Tibshirani 1997), which is somewhat too high.
    """

    called = "bootstrap"
    hyperparameters = (MODEL, Hyperparameter("rounds", whole(1), "training sets to draw"), RANDOM_STATE)

    def __init__(self, model: Any, rounds: int = 50, *, random_state: Any = None) -> None:
        self.model = made(model)
        self.rounds = rounds
        self.random_state = random_state

    def _splits(self, codes: Codes) -> Splits:
        random = check_random_state(self.random_state)
        groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
        for _ in range(self.rounds):
            drawn = np.concatenate([random.choice(group, len(group)) for group in groups])
            held = np.setdiff1d(np.arange(len(codes)), drawn)
            if len(held):
                yield drawn, held


@dataclass(frozen=True)
class Choice:
    """Hyperparameters tried, and the guess of the error with them."""

    hyperparameters: Mapping[str, Any]
    guess: Guess


class GridSelection(ModelSelection):
    """grid: the hyperparameters, of all combinations of those given, with the least cross-validated error.

    All are tried on the same folds; `choices_` has them all, `best_` the first of the best. `guess_` is the
    winner's error, which is too low where many were tried: the guess of `cv(grid(...))` is not.
    """

    called = "grid"
    hyperparameters = (
        MODEL,
        Hyperparameter(
            "values",
            HyperparameterRange("dictionary of lists", lambda value: isinstance(value, Mapping | list)),
            'values to try, as {"kridge__shrinkage": [0.1, 1]}',
        ),
        FOLDS,
        RANDOM_STATE,
    )

    def __init__(
        self,
        model: Any,
        values: Mapping[str, Sequence[Any]] | list[Mapping[str, Sequence[Any]]],
        folds: int = 10,
        *,
        random_state: Any = None,
    ) -> None:
        self.model = made(model)
        self.values = values
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Try all combinations, then train with the best on all patterns."""
        X, codes = self._accept_labelled(X, y)
        labels, splits = self.classes_[codes], list(self._splits(codes))
        self.choices_ = []
        for point in ParameterGrid(self.values):
            wrong, _ = held_out_errors(clone(self.model).set_params(**point), X, labels, iter(splits))
            self.choices_.append(Choice(point, guess_of(wrong, codes)))
        self.best_ = min(self.choices_, key=lambda choice: choice.guess.error)
        self.guess_, self.standard_error_ = self.best_.guess.error, self.best_.guess.standard_error
        self.model_ = clone(self.model).set_params(**self.best_.hyperparameters).fit(X, labels)
        return self

    def _splits(self, codes: Codes) -> Splits:
        yield from _folds(codes, self.folds, self._seed())
