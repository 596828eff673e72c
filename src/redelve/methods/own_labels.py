"""Classes by the user's own labels: classifiers learn them, and what they predict becomes levels again."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.answers.predictions import Target
from redelve.errors import PredictionError
from redelve.methods.estimators import copy_for, decision_values
from redelve.methods.views import Labels, ViewPart, not_negative, one_level, without_zeros
from redelve.model.dataset import Numbers
from redelve.registry import value_told

SUMS_TO_ONE = 1e-6
ABOUT_LABELS = re.compile("class|label", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class LabelCodes:
    """The level, counted from 0, that each label of the training cases stands for."""

    target: Target
    known: Mapping[Any, int] = field(repr=False)

    @staticmethod
    def of(target: Target, outputs: Any, codes: Labels) -> LabelCodes:
        """Labels as training cases have them, with the level of each case."""
        import pandas as pd

        places, labels = pd.factorize(_objects(outputs))
        firsts = np.unique(places, return_index=True)[1]
        return LabelCodes(
            target, {_bare(label): int(codes[at]) for label, at in zip(labels, firsts, strict=True)}
        )

    @property
    def classes(self) -> list[Any]:
        """The labels in the order in which numpy and scikit-learn sort them."""
        try:
            return sorted(self.known)
        except TypeError:
            return sorted(self.known, key=str)

    def codes(self, who: str, predicted: Any) -> Labels:
        """The levels of predicted labels; `who` predicted them."""
        import pandas as pd

        places, labels = pd.factorize(_objects(predicted))
        if (places < 0).any():
            raise PredictionError(f"{who} predicted no class for test case {int(np.argmax(places < 0)) + 1}")
        found = np.array([self._code(who, _bare(label)) for label in labels], dtype=np.int64)
        return found[places]

    def _code(self, who: str, label: Any) -> int:
        if label in self.known:
            return self.known[label]
        by_text = {str(one): code for one, code in self.known.items()}  # CatBoost predicts "True" for True
        if str(label) in by_text:
            return by_text[str(label)]
        is_place = isinstance(label, int | float) and label in range(len(self.target.levels))
        if is_place and all(isinstance(one, str) for one in self.known):
            return int(label)
        shown = ", ".join(map(str, self.classes[:12]))
        raise PredictionError(
            f"{who} predicted {value_told(label)}, which is no class of the training cases: {shown}"
        )

    def table(self, who: str, told: Any) -> Numbers:
        """Probabilities of all levels, from columns named by labels or in the order of `classes`."""
        values = np.asarray(told, dtype=np.float64)
        names = list(told.columns) if hasattr(told, "columns") else self.classes
        return self.spread(who, values, names)

    def spread(self, who: str, values: Numbers, names: Any) -> Numbers:
        """Probabilities of all levels, from a column for each of the labels named."""
        if values.ndim != 2 or values.shape[1] != len(names):
            raise PredictionError(
                f"{who} told probabilities of shape {values.shape}: "
                f"expected a column for each of {len(names)} classes"
            )
        every = np.zeros((len(values), len(self.target.levels)))
        for column, code in zip(not_negative(who, values).T, self.codes(who, names).tolist(), strict=True):
            every[:, code] += column
        return every


def _objects(values: Any) -> NDArray[np.object_]:
    return np.asarray(values, dtype=object).ravel()


def _bare(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


@dataclass(frozen=True, eq=False)
class OwnClassifier:
    """A classifier of the user's labels; its model is None where all training cases have one level."""

    model: Any
    labels: LabelCodes
    codes: Labels

    def predict(self, inputs: Any) -> ViewPart:
        """Guesses, and probabilities of all levels if the classifier tells them."""
        if self.model is None:
            return one_level(self.codes, len(self.labels.target.levels), len(inputs))
        told = self._told(inputs) if hasattr(self.model, "predict_proba") else None
        predicted = np.asarray(self.model.predict(inputs), dtype=object)
        if predicted.size != len(inputs):
            raise PredictionError(
                f"{self._name} predicted an array of shape {predicted.shape} for {len(inputs)} test cases: "
                "expected a class for each"
            )
        guesses = self.labels.codes(self._name, predicted).astype(np.float64)
        if told is None:
            return ViewPart(guesses, decision_values=self._decided(inputs))
        return ViewPart(guesses, without_zeros(told, len(self.codes)), told=as_told(self._name, told))

    @property
    def _name(self) -> str:
        return type(self.model).__name__

    def _decided(self, inputs: Any) -> Numbers | None:
        names = getattr(self.model, "classes_", self.labels.classes)
        codes = self.labels.codes(self._name, names)
        return decision_values(self.model, inputs, codes, len(self.labels.target.levels))

    def _told(self, inputs: Any) -> Numbers:
        told = np.asarray(self.model.predict_proba(inputs), dtype=np.float64)
        return self.labels.spread(self._name, told, getattr(self.model, "classes_", self.labels.classes))


def as_told(who: str, told: Numbers) -> Numbers | None:
    """Probabilities to keep as they are; None, with a warning, where they must be made to sum to one."""
    sums = told.sum(axis=1)
    off = np.abs(sums - 1) > SUMS_TO_ONE
    if not off.any():
        return told
    case = int(np.argmax(off))
    warnings.warn(
        f"{who} told probabilities that sum to {sums[case]:.3g} for test case {case + 1}: they are divided "
        "by their sum",
        stacklevel=2,
    )
    return None


def fit_own_classifier(
    estimator: Any, inputs: Any, outputs: Any, codes: Labels, target: Target, rng: np.random.Generator
) -> OwnClassifier:
    """A copy of the classifier, fitted to the user's labels; nothing is fitted if these are all equal."""
    labels = LabelCodes.of(target, outputs, codes)
    if len(np.unique(codes)) < 2:
        return OwnClassifier(None, labels, codes)
    try:
        return OwnClassifier(copy_for(estimator, rng).fit(inputs, outputs), labels, codes)
    except (ValueError, TypeError) as problem:
        if not ABOUT_LABELS.search(str(problem)):
            raise
        return _fitted_to_numbers(estimator, inputs, codes, target, rng, problem)


def _fitted_to_numbers(
    estimator: Any,
    inputs: Any,
    codes: Labels,
    target: Target,
    rng: np.random.Generator,
    problem: Exception,
) -> OwnClassifier:
    """The same by 0, 1, … for the classes there are, which is all that XGBoost takes."""
    present, numbers = np.unique(codes, return_inverse=True)
    try:
        model = copy_for(estimator, rng).fit(inputs, numbers)
    except Exception:
        raise problem from None
    name = type(estimator).__name__
    warnings.warn(
        f"{name} does not take the classes as they are ({problem}): it was given their numbers, 0, 1, …",
        stacklevel=2,
    )
    return OwnClassifier(model, LabelCodes(target, dict(enumerate(present.tolist()))), codes)
