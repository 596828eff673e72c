"""Learning with scikit-learn estimators: seeds, regressors for columns of numbers, classifiers for levels."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from redelve.errors import PredictionError
from redelve.methods.views import Labels, ViewPart, not_negative, one_level, without_zeros
from redelve.model.dataset import Numbers

LARGEST_SEED = 2**31 - 1


def copy_for(estimator: Any, rng: np.random.Generator) -> Any:
    """An unfitted copy whose unset `random_state`s, also those of its parts, come from the generator.

    What scikit-learn can't clone (CatBoost with `cat_features`, what has no `get_params`) is copied whole.
    """
    copied = _copied(estimator)
    for owner, name, value in list(random_states(copied)):
        if value is None:
            number = int(rng.integers(LARGEST_SEED))
            if hasattr(owner, "set_params"):
                owner.set_params(**{name: number})
            else:
                setattr(owner, name, number)
    return copied


def _copied(estimator: Any) -> Any:
    from sklearn.base import clone

    try:
        return clone(estimator)
    except (RuntimeError, TypeError):
        return deepcopy(estimator)


@contextmanager
def global_randomness(seed: int) -> Iterator[None]:
    """Numpy's global random state, which estimators may draw from, seeded for now and restored in the end."""
    kept, python = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.seed(seed % 2**32)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(kept)  # noqa: NPY002
        random.setstate(python)


def random_states(estimator: Any) -> Iterator[tuple[Any, str, Any]]:
    """Every `random_state` of an estimator and its parts: the owner, the parameter's name, the value.

    Cross-validation splitters among the parameters are no estimators but have one too.
    """
    parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else vars(estimator)
    for name in sorted(parameters):
        value = parameters[name]
        if name == "random_state" or name.endswith("__random_state"):
            yield estimator, name, value
        elif hasattr(value, "random_state") and hasattr(value, "split"):
            yield value, "random_state", value.random_state


def has_fixed_seeds(estimator: Any) -> bool:
    """Whether some `random_state` was set by the user and so is the same for all instances."""
    return any(value is not None for _, _, value in random_states(estimator))


def gives_deviations(estimator: Any) -> bool:
    """Whether `predict` can tell standard deviations (Gaussian processes, Bayesian linear models)."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    return "return_std" in inspect.signature(last.predict).parameters if hasattr(last, "predict") else False


# Regression


@dataclass(frozen=True, eq=False)
class FittedRegressors:
    """A regressor for all columns at once, or one for each column."""

    models: tuple[Any, ...]
    width: int
    deviations: bool

    def predict(self, inputs: Any) -> tuple[Numbers, Numbers | None]:
        """Predictions, a row for each case; and standard deviations if the regressors tell them."""
        found = [self._one(model, inputs) for model in self.models]
        means = np.column_stack([mean for mean, _ in found])
        told = [deviation for _, deviation in found if deviation is not None]
        return means, np.column_stack(told) if told else None

    def _one(self, model: Any, inputs: Any) -> tuple[Numbers, Numbers | None]:
        columns = self.width // len(self.models)
        if self.deviations:
            mean, deviation = model.predict(inputs, return_std=True)
            return _table(model, mean, len(inputs), columns), _table(model, deviation, len(inputs), columns)
        return _table(model, model.predict(inputs), len(inputs), columns), None


def _table(model: Any, values: Any, count: int, columns: int) -> Numbers:
    array = np.asarray(values, dtype=np.float64)
    if array.size != count * columns:
        raise PredictionError(
            f"{type(model).__name__} predicted an array of shape {array.shape} for {count} test cases: "
            f"expected {count} rows of {columns}"
        )
    return array.reshape(count, columns)


def fit_regressor(
    estimator: Any, inputs: Any, columns: Numbers, rng: np.random.Generator
) -> FittedRegressors:
    """All columns at once if the estimator is made for that, else a copy for each column."""
    from sklearn.utils import get_tags

    deviations, width = gives_deviations(estimator), columns.shape[1]
    if width > 1 and not deviations and get_tags(estimator).target_tags.multi_output:
        return FittedRegressors((copy_for(estimator, rng).fit(inputs, columns),), width, deviations)
    models = tuple(copy_for(estimator, rng).fit(inputs, column) for column in columns.T)
    return FittedRegressors(models, width, deviations)


# Classification


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """A classifier of level indexes; None where the training cases have one level only."""

    model: Any
    labels: Labels
    level_count: int
    guess_by_predict: bool = True

    def predict(self, inputs: Any) -> ViewPart:
        """Guesses, and probabilities of all levels if the classifier tells them."""
        if self.model is None:
            return one_level(self.labels, self.level_count, len(inputs))
        probabilities = None
        if hasattr(self.model, "predict_proba"):
            told = np.asarray(self.model.predict_proba(inputs), dtype=np.float64)
            probabilities = self._probabilities(told)
            if not self.guess_by_predict:
                return ViewPart(probabilities.argmax(axis=1).astype(np.float64), probabilities)
        guesses = _table(self.model, self.model.predict(inputs), len(inputs), 1)[:, 0]
        if probabilities is not None:
            return ViewPart(guesses, probabilities)
        classes = np.asarray(getattr(self.model, "classes_", np.unique(self.labels)), dtype=np.int64)
        scores = decision_values(self.model, inputs, classes, self.level_count)
        return ViewPart(guesses, decision_values=scores)

    def _probabilities(self, told: Numbers) -> Numbers:
        classes = np.asarray(getattr(self.model, "classes_", np.unique(self.labels)), dtype=np.int64)
        if told.ndim != 2 or told.shape[1] != len(classes):
            raise PredictionError(
                f"{type(self.model).__name__} told probabilities of shape {told.shape}: "
                f"expected a column for each of {len(classes)} classes"
            )
        every = np.zeros((len(told), self.level_count))
        every[:, classes] = not_negative(type(self.model).__name__, told)
        return without_zeros(every, len(self.labels))


def decision_values(model: Any, inputs: Any, classes: Labels, level_count: int) -> Numbers | None:
    """What `decision_function` says of every level; None without it, or where it says it of pairs of classes.

    Of two classes it tells one number, which is large for the second and small for the first.
    """
    if not hasattr(model, "decision_function"):
        return None
    told = np.asarray(model.decision_function(inputs), dtype=np.float64)
    columns = np.column_stack([-told, told]) if told.ndim == 1 else told
    if columns.shape[1] != len(classes) or np.isnan(columns).any():
        return None
    every = np.full((len(columns), level_count), -np.inf)
    every[:, classes] = columns
    return every


def fit_classifier(
    estimator: Any, inputs: Any, labels: Labels, level_count: int, rng: np.random.Generator
) -> FittedClassifier:
    """A copy of the classifier, fitted; there is nothing to fit where all cases have the same level."""
    if len(np.unique(labels)) < 2:
        return FittedClassifier(None, labels, level_count)
    return FittedClassifier(copy_for(estimator, rng).fit(inputs, labels), labels, level_count)
