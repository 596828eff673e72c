"""ensemble: members trained on the same data vote, with weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from redelve.methods.clop.forest import LARGEST_SEED
from redelve.methods.clop.hyperparameters import (
    FLAG,
    RANDOM_STATE,
    Hyperparameter,
    HyperparameterRange,
    UnsuitedError,
    number,
    several,
    whole,
)
from redelve.methods.clop.objects import (
    OBJECTS,
    Codes,
    Composition,
    all_sparse,
    as_scores,
    labels_of,
    outputs,
    signed_targets,
)
from redelve.model.dataset import Numbers

Weights = Sequence[float] | Numbers
WeightLearner = Callable[[Numbers, Numbers], Weights]
"""From outputs of members (cases × members) and targets of ±1 (cases) to a weight for each member."""


def stacked(told: Numbers, targets: Numbers) -> Numbers:
    """Weights, none below 0, of least squared error on the targets (Breiman 1996, Stacked regressions).

    They are scaled to have a mean of 1; members that all know nothing get equal weights.

    >>> stacked(np.array([[0.5, 1.0], [-0.5, 1.0]]), np.array([1.0, -1.0])).round(6)
    array([2., 0.])
    """
    weights, _ = nnls(told, targets)
    return weights / weights.mean() if weights.any() else np.ones(told.shape[1])


class Ensemble(ClassifierMixin, Composition):  # type: ignore[misc]
    """ensemble: the weighted sum of the members' outputs decides; weights are one unless told otherwise.

    A member's output is 2p - 1 where it tells probabilities p, else its discriminant value; with
    `signed_output`, +1 for the class it predicts and -1 for others, a vote by heads. `weights` may be a
    function that learns them: it gets outputs for patterns that were not learnt from (`folds` folds) and
    targets of ±1; with more than two classes, a line for each pattern and class.
    """

    called = "ensemble"
    hyperparameters = (
        OBJECTS,
        Hyperparameter(
            "weights",
            several(number(), "a number for each member")
            .or_else(HyperparameterRange("function such as stacked", callable))
            .or_none("one for each"),
            "voting weights, or how to learn them",
        ),
        Hyperparameter("signed_output", FLAG, "members say ±1 and no more"),
        Hyperparameter("folds", whole(2), "folds for the outputs that weights are learnt from"),
        RANDOM_STATE,
    )

    def __init__(
        self,
        objects: Any,
        *,
        weights: Weights | WeightLearner | None = None,
        signed_output: bool = False,
        folds: int = 5,
        random_state: Any = None,
    ) -> None:
        self.objects = self._make_members(objects)
        self.weights = weights
        self.signed_output = signed_output
        self.folds = folds
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if OBJECTS.range.accepts(self.objects):
            tags.input_tags.sparse = all_sparse(self.objects)
        return tags

    def fit(self, X: Any, y: Any) -> Ensemble:
        """Train the members, each on all data, and learn the weights if asked for."""
        X, codes = self._accept_labelled(X, y)
        self._refuse_non_classifiers()
        labels = self.classes_[codes]
        self.weights_ = self._weights(X, codes)
        self.members_ = [clone(each).fit(X, labels) for each in self.objects]
        return self

    def decision_function(self, X: Any) -> Numbers:
        """The weighted sum of the members' outputs."""
        X = self._accept_inputs(X)
        return as_scores(np.tensordot(self._told(self.members_, X), self.weights_, axes=(2, 0)))

    def predict(self, X: Any) -> Any:
        """The class with most votes."""
        return labels_of(self.decision_function(X), self.classes_)

    def _refuse_non_classifiers(self) -> None:
        for name, member in self._named():
            if not hasattr(member, "predict"):
                raise UnsuitedError(
                    f"ensemble: member {name} does not classify: end it with a classifier, "
                    f"as chain([{name}(), kridge()])"
                )

    def _weights(self, X: Any, codes: Codes) -> Numbers:
        if callable(self.weights):
            told = self._told_by_others(X, codes).reshape(-1, len(self.objects))
            found: Weights = self.weights(told, signed_targets(codes, len(self.classes_)).ravel())
        else:
            found = np.ones(len(self.objects)) if self.weights is None else self.weights
        weights = np.asarray(found, dtype=np.float64)
        if weights.shape != (len(self.objects),) or not np.isfinite(weights).all():
            raise UnsuitedError(
                f"ensemble: weights {found} for {len(self.objects)} members: give one for each"
            )
        return weights

    def _told_by_others(self, X: Any, codes: Codes) -> Numbers:
        """Outputs for every pattern by members that have not learnt from it."""
        folds = min(self.folds, int(np.bincount(codes).min()))
        if folds < 2:
            raise UnsuitedError("ensemble: a class with one pattern: weights cannot be learnt; give them")
        seed = check_random_state(self.random_state).randint(LARGEST_SEED)
        labels = self.classes_[codes]
        parts: dict[int, Numbers] = {}
        for learnt, held in StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, codes):
            members = [clone(each).fit(X[learnt], labels[learnt]) for each in self.objects]
            parts.update(zip(held, self._told(members, X[held]), strict=True))
        return np.array([parts[case] for case in range(len(codes))])

    def _told(self, members: Sequence[Any], X: Any) -> Numbers:
        """Patterns × columns × members."""
        for name, member in zip((name for name, _ in self._named()), members, strict=True):
            if len(member.classes_) != len(self.classes_):
                raise UnsuitedError(
                    f"ensemble: member {name} has seen only the classes {list(member.classes_)}"
                )
        told = np.stack([outputs(member, X) for member in members], axis=2)
        if not self.signed_output:
            return told
        if told.shape[1] == 1:
            return np.where(told > 0, 1.0, -1.0)
        return np.where(told == told.max(axis=1, keepdims=True), 1.0, -1.0)
