"""Which patterns are called positive: what is good for the error rate is poor for the balanced one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold

from redelve.errors import SpecError
from redelve.model.dataset import Numbers

RULES = ("balanced", "own")
CUT_FOLDS = 5
TELLING = ("predict_proba", "decision_function")
WEIGHING = ("balance", "class_weight", "class_prior", "priors", "scale_pos_weight")
"""Hyperparameters by which estimators weigh classes."""


class Ruled(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A two-class classifier whose answers follow a rule; it is copied, never changed.

    "own": what the classifier predicts. "balanced": positive is a pattern whose probability exceeds the
    share of positive training cases, which makes the balanced error rate least where probabilities are
    right. Without probabilities, or where the classifier weighs classes itself, its output is cut where the
    balanced error of training cases held out (five folds) is least. A classifier with a threshold of its own
    is left alone.
    """

    def __init__(self, estimator: Any, rule: str = "balanced") -> None:
        self.estimator = estimator
        self.rule = rule

    def fit(self, X: Any, y: Any) -> Ruled:
        """Train the classifier and find where to cut."""
        if self.rule not in RULES:
            raise SpecError(f'rule is "{self.rule}": choose one of {", ".join(RULES)}')
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = clone(self.estimator).fit(X, y)
        is_free = self.rule == "balanced" and not has_threshold(self.estimator)
        self.cut_ = self._cut(X, y, codes) if is_free else None
        return self

    def _cut(self, X: Any, y: Any, codes: NDArray[np.intp]) -> float | None:
        if hasattr(self.model_, "predict_proba") and not weighs_classes(self.estimator):
            return float(codes.mean())
        fewest = int(np.bincount(codes).min())
        if fewest < 2 or not any(hasattr(self.model_, name) for name in TELLING):
            return None
        scores = np.empty(len(codes))
        for learnt, held in StratifiedKFold(min(CUT_FOLDS, fewest)).split(codes, codes):
            scores[held] = _scores(clone(self.estimator).fit(X[learnt], y[learnt]), X[held])
        return best_cut(scores, codes)

    def told(self, X: Any) -> tuple[NDArray[Any], Numbers | None]:
        """The classes of patterns and, where the classifier tells them, how positive they are."""
        scores = _scores(self.model_, X)
        if scores is None or self.cut_ is None:
            return np.asarray(self.model_.predict(X)), scores
        return self.classes_[(scores > self.cut_).astype(np.intp)], scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes of patterns."""
        return self.told(X)[0]


def _scores(model: Any, X: Any) -> Numbers | None:
    """How positive patterns are: probabilities, else discriminant values, if there are any."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    return None


def weighs_classes(estimator: Any) -> bool:
    """Whether a classifier, or a part of it, weighs classes: its probabilities are then not the cases'."""
    given = estimator.get_params(deep=True).items()
    weights = [value for name, value in given if name.rpartition("__")[2] in WEIGHING]
    return not all(value is None or (isinstance(value, int) and value == 0) for value in weights)


def has_threshold(estimator: Any) -> bool:
    """Whether a classifier, or a part of it, is one of scikit-learn's that set the threshold."""
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    parts = [estimator, *estimator.get_params(deep=True).values()]
    return any(isinstance(part, FixedThresholdClassifier | TunedThresholdClassifierCV) for part in parts)


def best_cut(scores: Numbers, codes: NDArray[np.intp]) -> float:
    """Where to cut so that the balanced error is least: halfway between scores, the first such place.

    >>> best_cut(np.array([0.0, 4.0, 2.0, 9.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    order = np.argsort(scores, kind="stable")
    ordered, positive = scores[order], codes[order] == 1
    missed = np.cumsum(positive) / positive.sum()
    alarmed = 1 - np.cumsum(~positive) / (~positive).sum()
    errors = np.where(np.diff(ordered) > 0, (missed + alarmed)[:-1] / 2, np.inf)
    if errors.min() > 0.5:
        return float(ordered[-1])
    place = int(np.argmin(errors))
    return float((ordered[place] + ordered[place + 1]) / 2)
